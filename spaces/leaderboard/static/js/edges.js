/* A box that scrolls sideways shows a shadow at each edge beyond which there is more. */

const EDGES = ".scroller, nav .links";
const edgeWatcher = new ResizeObserver((entries) => {
  for (const { target } of entries) markEdges(target.matches(EDGES) ? target : target.parentElement);
});

function watchEdges() {
  edgeWatcher.disconnect();
  for (const box of page.querySelectorAll(EDGES)) {
    edgeWatcher.observe(box);
    const content = box.querySelector("table");
    if (content) edgeWatcher.observe(content); // hidden columns make it narrower
    markEdges(box);
  }
}

function markEdges(box) {
  const frame = box.parentElement;
  const left = box.scrollLeft;
  frame.classList.toggle("more-left", left > 1);
  frame.classList.toggle("more-right", left + box.clientWidth < box.scrollWidth - 1);
}

document.addEventListener("scroll", ({ target }) => target.matches?.(EDGES) && markEdges(target), {
  capture: true,
  passive: true,
});
