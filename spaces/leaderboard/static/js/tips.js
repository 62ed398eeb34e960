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
