// The rater's screens: one item at a time, usable entirely by keyboard.

import { atRisk, drop, find, keep, openDrafts, whenChangedElsewhere } from "./drafts.js";
import { fillHelp, guide, openHelp } from "./guide.js";
import { label, question } from "./question.js";
import { announce, byId, call, complain, el, plural, setProgress, show } from "./dom.js";
import { placeNow, setPlace, whenMoved } from "./place.js";
import { askRemark } from "./remark.js";

let who; // from the server's `enter`
let screen; // the screen shown, from the server
let draft; // { scores, flagged, comment } of the screen shown
let current = 0; // index of the aspect that digits go to
let busy = false; // an answer is on its way
let asked = 0; // screens asked for: only the last one is shown

export async function startRating(entered) {
  who = entered;
  fillHelp(who);
  byId("help-button").hidden = false;
  byId("help-button").addEventListener("click", openHelp);
  document.addEventListener("keydown", onKey);
  openDrafts(who.drafts);
  whenChangedElsewhere((position) => screen?.position === position && !busy && refresh().catch(complain));
  whenMoved((position) => (position === null ? resume() : go(position)).catch(complain));
  addEventListener("beforeunload", (event) => atRisk() && event.preventDefault());
  await (placeNow() === null ? resume() : go(placeNow()));
}

async function resume() {
  who = await call("enter");
  if (who.next_open === null) await finished();
  else if (who.started) await go(who.next_open);
  else welcome();
}

/* ---------- what is shown ---------- */

function welcome() {
  screen = null;
  setPlace(null);
  setProgress(0, who.total);
  const start = el("button", { class: "main", type: "button", onclick: () => go(0) }, el("kbd", {}, "Enter"), "Start");
  show(
    el(
      "section",
      { class: "sheet" },
      el("h1", {}, who.study),
      el("p", {}, `${plural(who.total, "item")}, one per screen. You can stop at any time: this link brings you back to where you were.`),
      guide(who),
      el("div", { class: "actions" }, start),
    ),
  );
  start.focus();
}

async function finished() {
  const last = await call("screen", { position: who.total - 1 });
  screen = null;
  setPlace(null);
  setProgress(last.done, last.total);
  const back = el("button", { type: "button", onclick: () => go(last.total - 1) }, "Back to the last item");
  const review = last.skipped.length
    ? el("button", { type: "button", onclick: () => go(last.skipped[0]) }, `Review ${plural(last.skipped.length, "skipped item")}`)
    : null;
  show(
    el(
      "section",
      { class: "sheet" },
      el("h1", { tabindex: "-1" }, "All done. Thank you."),
      el("p", {}, `All ${plural(last.total, "item")} are answered and saved. You can still go back and change an answer.`),
      el("div", { class: "actions" }, back, review),
    ),
  );
  byId("main").querySelector("h1").focus();
  announce("All items are answered and saved.");
}

async function go(position) {
  const wanted = await ask(position);
  if (wanted !== null) open(wanted);
}

/** Show the item again where another tab changed it; where nothing changed, the rater is not disturbed. */
async function refresh() {
  const wanted = await ask(screen.position);
  if (wanted === null) return;
  const same = asText(wanted.answer) === asText(screen.answer) && sameChoices(find(wanted) ?? saved(wanted), draft);
  if (!same) open(wanted);
}

/** The screen at a position, or null if another one was asked for meanwhile. */
async function ask(position) {
  const turn = ++asked;
  const wanted = await call("screen", { position });
  return turn === asked ? wanted : null;
}

function open(wanted) {
  byId("remark").close();
  screen = wanted;
  const unsaved = find(screen);
  draft = unsaved ?? saved(screen);
  setPlace(screen.position);
  render();
  byId("unsaved").hidden = unsaved === null;
}

const asText = (value) => JSON.stringify(value);

const saved = ({ answer }) => ({
  scores: { ...(answer?.scores ?? {}) },
  flagged: answer?.flagged ?? false,
  comment: answer?.comment ?? "",
});

function sameChoices(one, other) {
  const inOrder = ({ scores, flagged, comment }) => asText([screen.aspects.map(({ name }) => scores[name]), flagged, comment]);
  return inOrder(one) === inOrder(other);
}

function render() {
  setProgress(screen.done, screen.total);
  const on = { choose: (index, value) => choose(index, value, false), focus: (index) => setCurrent(index, false) };
  const shown = question(screen, draft.scores, on);
  show(el("article", { class: "screen", "aria-labelledby": "question" }, shown, unsavedLine(), remarkLine(), actions()));
  scrollTo(0, 0);
  const unscored = screen.aspects.findIndex((aspect) => !(aspect.name in draft.scores));
  setCurrent(unscored === -1 ? 0 : unscored);
  update();
  const texts = screen.texts.map((text) => `${label(screen, text)}: ${text.text || "empty"}`).join(". ");
  announce(`Item ${screen.position + 1} of ${screen.total}. ${texts}`);
}

function unsavedLine() {
  return el("p", { id: "unsaved", class: "unsaved", role: "status", hidden: true }, "What you chose before is back. It is not saved yet.");
}

function remarkLine() {
  return el("p", { id: "remark-shown", class: "remark-shown", hidden: true });
}

function actions() {
  const button = (key, text, onclick, more = {}) => el("button", { type: "button", onclick, ...more }, el("kbd", {}, key), text);
  return el(
    "div",
    { class: "actions" },
    screen.position > 0 ? button("B", "Back", back, { class: "quiet" }) : null,
    button("S", "Skip", () => openRemark("skip"), { class: "quiet" }),
    button("F", "Flag", () => openRemark("flag"), { class: "quiet", id: "flag", "aria-pressed": "false" }),
    button("Enter", "Save and next", save, { class: "main", id: "save" }),
  );
}

/* ---------- choosing and saving ---------- */

const row = (index) => byId("main").querySelectorAll("[data-aspect]")[index];
const complete = () => screen.aspects.every((aspect) => aspect.name in draft.scores);

function setCurrent(index, focus = true) {
  current = index;
  byId("main").querySelectorAll(".aspect").forEach((node, i) => node.classList.toggle("current", i === index));
  if (!focus) return;
  const target = row(index).querySelector("input:checked") ?? row(index).querySelector("input");
  target.focus({ preventScroll: screen.layout !== "rewrite" || index === 0 });
}

function choose(index, value, advance) {
  const aspect = screen.aspects[index];
  if (!aspect.choices.includes(value)) return;
  draft.scores[aspect.name] = value;
  row(index).querySelectorAll("input").forEach((input) => (input.checked = Number(input.value) === value));
  changed();
  if (!advance) return;
  if (index + 1 < screen.aspects.length) setCurrent(index + 1);
  else if (complete()) byId("save").focus();
  else setCurrent(screen.aspects.findIndex((a) => !(a.name in draft.scores)));
}

/** Keep what was chosen, unless it is what is saved already. */
function changed() {
  if (sameChoices(draft, saved(screen))) drop(screen.position);
  else keep(screen.position, { ...draft, from: screen.answer });
  update();
}

function update() {
  byId("save").setAttribute("aria-disabled", String(!complete()));
  byId("flag").setAttribute("aria-pressed", String(draft.flagged));
  const line = byId("remark-shown");
  const skipped = screen.answer?.skipped && !complete();
  line.hidden = !(draft.flagged || skipped);
  line.textContent = (skipped ? "Skipped" : "Flagged") + (draft.comment ? `: ${draft.comment}` : "");
  const overall = byId("overall");
  if (!overall) return;
  const scores = Object.values(draft.scores);
  const mean = scores.reduce((a, b) => a + b, 0) / screen.aspects.length;
  overall.textContent = complete() ? (mean * screen.overall_factor).toFixed(2) : "–";
}

async function save() {
  if (!complete()) {
    const missing = screen.aspects.findIndex((aspect) => !(aspect.name in draft.scores));
    setCurrent(missing);
    announce(`${screen.aspects[missing].title} has no score yet.`);
    return;
  }
  await submit({ scores: draft.scores, flagged: draft.flagged, comment: draft.comment });
}

async function submit(answer) {
  if (busy) return;
  const { position, answer: before } = screen;
  wait(true);
  try {
    const { next_open: next } = await call("save", { position, answer });
    drop(position);
    if (screen?.position !== position) return; // gone elsewhere by the browser's Back
    const changing = before !== null && position + 1 < screen.total; // walking through old answers
    if (changing) await go(position + 1);
    else if (next === null) await finished();
    else await go(next);
  } catch (error) {
    complain(error);
  } finally {
    wait(false);
  }
}

/** While an answer is on its way nothing can be chosen: it would be lost when the next item comes. */
function wait(whether) {
  busy = whether;
  const article = byId("main").querySelector(".screen");
  if (!article) return;
  article.inert = whether;
  if (!whether && screen && document.activeElement === document.body) setCurrent(current);
}

function back() {
  if (!busy && screen.position > 0) go(screen.position - 1).catch(complain);
}

function forward() {
  if (!busy && screen.answer !== null && screen.position + 1 < screen.total) go(screen.position + 1).catch(complain);
}

/* ---------- dialogs ---------- */

function openRemark(kind) {
  if (busy) return;
  const closed = () => screen && row(current)?.querySelector("input").focus();
  const remark = (flagged, comment) => {
    draft = { ...draft, flagged, comment };
    changed();
  };
  if (kind === "flag") {
    const unflag = draft.flagged ? () => remark(false, "") : null;
    askRemark(kind, draft.comment, { done: (comment) => remark(true, comment), unflag, closed });
    return;
  }
  const done = (comment) => {
    remark(draft.flagged, comment); // kept, should the server not be reached
    submit({ skipped: true, comment });
  };
  askRemark(kind, draft.comment, { done, unflag: null, closed });
}

/* ---------- keyboard ---------- */

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const dialog = document.querySelector("dialog[open]");
  if (event.key === "?" && dialog?.id !== "remark") {
    event.preventDefault();
    if (dialog) dialog.close();
    else openHelp();
    return;
  }
  if (dialog || !screen || busy) return;
  const action = {
    Enter: () => (event.target.closest("button") ? null : save),
    ArrowUp: () => () => setCurrent(Math.max(0, current - 1)),
    ArrowDown: () => () => setCurrent(Math.min(screen.aspects.length - 1, current + 1)),
    b: () => back,
    n: () => forward,
    s: () => () => openRemark("skip"),
    f: () => () => openRemark("flag"),
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key]?.();
  if (action) {
    event.preventDefault();
    action();
  } else if (/^[1-9]$/.test(event.key)) {
    event.preventDefault();
    choose(current, Number(event.key), true);
  }
}
