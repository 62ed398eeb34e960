/* Pictures are part of the view, except for those that read every sentence: they are requested when
   they come into sight. */

const sight = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      sight.unobserve(target);
      drawLazily(target);
    }
  },
  { rootMargin: "200px" },
);

function watchPictures() {
  sight.disconnect(); // of the view before
  for (const place of stage.querySelectorAll("[data-lazy]")) sight.observe(place);
}

async function drawLazily(place) {
  const since = Date.now();
  const clock = setInterval(() => {
    const seconds = Math.round((Date.now() - since) / 1000);
    place.querySelector("output")?.replaceChildren(`${seconds} s`);
  }, 1000);
  const answer = await ask(place.dataset.lazy).catch(() => null);
  clearInterval(clock);
  if (!place.isConnected) return; // another view is on the stage
  if (answer) place.innerHTML = answer.html;
  else place.textContent = "This picture could not be drawn: the server did not answer.";
}
