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

/* What a mark is: shown beside it on hover, on focus and on touch; Escape hides it. Arrow keys go from
   mark to mark, so that a picture is one stop of the Tab key. */

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
page.append(tip);

function tell(mark) {
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const at = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const middle = at.left + at.width / 2 - own.width / 2;
  const left = Math.max(8, Math.min(middle, document.documentElement.clientWidth - own.width - 8));
  const above = at.top - own.height - 6;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : at.bottom + 6}px`;
}

function hush() {
  tip.hidden = true;
}

document.addEventListener("pointerover", ({ target }) => {
  const mark = target.closest?.("[data-tip]");
  if (mark) tell(mark);
  else hush();
});
document.addEventListener("focusin", ({ target }) => {
  if (target.dataset?.tip && target.matches(":focus-visible")) tell(target);
});
document.addEventListener("focusout", hush);
document.addEventListener("scroll", hush, { capture: true, passive: true });

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return hush();
  const mark = event.target.closest?.("[tabindex][data-tip]");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!mark || !step) return;
  event.preventDefault();
  const marks = [...mark.closest(".plot").querySelectorAll("[tabindex][data-tip]")];
  const seen = marks.filter((one) => one.checkVisibility());
  const next = seen[(seen.indexOf(mark) + step + seen.length) % seen.length];
  mark.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});

/* A signature in a dialog. */

function openFacts(title, lead, facts) {
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = lead;
  const entries = facts.filter(([, value]) => value);
  dialog.querySelector("dl").replaceChildren(
    ...entries.flatMap(([name, value]) => {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }),
  );
  dialog.showModal();
}

function showSignature(th) {
  const signature = th.dataset.signature;
  const [metric, ...fields] = signature.split("|");
  const facts = fields.map((field) => {
    const at = field.indexOf(":");
    return [field.slice(0, at), field.slice(at + 1)];
  });
  const title = th.querySelector(".sort span").textContent;
  const lead = th.dataset.meaning ? `${th.dataset.meaning}.` : "";
  const madeWith = (th.dataset.madeWith || "").split("\n").filter(Boolean);
  openFacts(`${title}: signature`, lead, [
    ["metric", metric],
    ...facts,
    ["as one line", signature],
    ...madeWith.map((versions) => ["made with", versions.replaceAll("|", ", ").replaceAll(":", " ")]),
  ]);
}
