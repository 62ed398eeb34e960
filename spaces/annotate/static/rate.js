// The rater's page: one item at a time, usable entirely by keyboard. Texts enter the document only as text.

import { atRisk, drop, find, keep, openDrafts, whenChangedElsewhere } from "./drafts.js";
import { byId, el, plural } from "./el.js";
import { label, question } from "./question.js";

const KEY = new URLSearchParams(location.search).get("key");

let who; // from the server's `enter`
let screen; // the screen shown, from the server
let draft; // { scores, flagged, comment } of the screen shown
let current = 0; // index of the aspect that digits go to
let busy = false; // an answer is on its way
let asked = 0; // screens asked for: only the last one is shown

async function start() {
  who = await call("enter");
  document.title = `${who.study} · TSTBench annotation`;
  const close = el("button", { type: "button", class: "main", onclick: () => byId("help").close() }, el("kbd", {}, "Esc"), "Close");
  byId("help").replaceChildren(el("h2", { id: "help-title" }, "How to judge"), guide(), el("div", { class: "actions" }, close));
  byId("help-button").hidden = false;
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  document.addEventListener("keydown", onKey);
  openDrafts(who.drafts);
  whenChangedElsewhere((position) => screen?.position === position && !busy && refresh().catch(complain));
  addEventListener("popstate", () => (placeNow() === null ? resume() : go(placeNow())).catch(complain));
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
      guide(),
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

function keys() {
  const list = [
    ["1 – 5", "score and go to the next question"],
    ["↑ ↓", "previous, next question"],
    ["← →", "decrease, increase the score"],
    ["Enter", "save and continue"],
    ["B", "previous item"],
    ["N", "next item, if this one is answered"],
    ["S", "skip, with an optional reason"],
    ["F", "flag, with a comment"],
    ["?", "show this help"],
  ];
  return el("dl", {}, list.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
}

function guide() {
  const steps = (anchors) => Object.entries(anchors).reverse();
  const scales = who.scales.map(({ title, anchors }) =>
    el("section", {}, el("h2", {}, title), el("dl", {}, steps(anchors).map(([n, text]) => [el("dt", {}, n), el("dd", {}, text)]))),
  );
  return el(
    "div",
    { class: "guide" },
    who.guide.map((text) => el("p", {}, text)),
    who.references_shown ? el("p", {}, "References are what people wrote for the same source. A good output may differ from all of them.") : null,
    el("div", { class: "scales" }, scales),
    el("section", { class: "keys" }, el("h2", {}, "Keys"), keys()),
  );
}

const WORDS = {
  skip: { title: "Skip this item", effect: "It gets no scores. You can come back to it.", ask: "Why? (optional)", done: "Skip" },
  flag: { title: "Flag this item", effect: "Your scores count; the study's owner sees the flag.", ask: "What is wrong? (optional)", done: "Flag" },
};

/**
 * Ask for a comment.
 *
 * `kind` is "skip" or "flag". `on.done(comment)` is called when it is given, `on.unflag()` when an
 * existing flag is removed (where given), `on.closed()` in any case.
 */
function askRemark(kind, comment, on) {
  const words = WORDS[kind];
  const dialog = byId("remark");
  const input = el("input", { type: "text", maxlength: "1900", autocomplete: "off" });
  input.value = comment;
  const done = (event) => {
    event.preventDefault();
    dialog.close();
    on.done(input.value.trim());
  };
  const unflag = () => {
    dialog.close();
    on.unflag();
  };
  dialog.replaceChildren(
    el(
      "form",
      { onsubmit: done },
      el("h2", { id: "remark-title" }, words.title),
      el("p", { class: "muted" }, words.effect),
      el("label", {}, words.ask, input),
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, el("kbd", {}, "Esc"), "Cancel"),
        on.unflag ? el("button", { type: "button", onclick: unflag }, "Remove the flag") : null,
        el("button", { type: "submit", class: "main" }, el("kbd", {}, "Enter"), words.done),
      ),
    ),
  );
  dialog.onclose = on.closed;
  dialog.showModal();
  input.focus();
}

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
    else byId("help").showModal();
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

/* ---------- the page, its address and its server ---------- */

/** Call an endpoint of the server with its fields; throws an Error with words for people. */
async function call(name, fields = {}) {
  let response, body;
  try {
    response = await fetch(`annotate/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Annotation-Key": KEY },
      body: JSON.stringify(fields),
    });
    body = await response.json();
  } catch {
    throw new Error("The server cannot be reached. Your saved answers are safe; try again.");
  }
  if (!response.ok) throw new Error(body.error ?? "The server could not process this. Try again.");
  return body;
}

/** Replace what the page shows. */
function show(...children) {
  byId("main").replaceChildren(...children);
}

/** Announce a text to screen readers. */
function announce(text) {
  byId("status").textContent = text;
}

/** Show an error above the content. */
function complain(error) {
  byId("main").querySelector(":scope .notice")?.remove();
  const words = error?.message || "Something went wrong on this page. Reload it: what you chose is kept.";
  byId("main").prepend(el("p", { class: "notice", role: "alert" }, words));
  scrollTo(0, 0);
}

function setProgress(done, total) {
  const box = byId("progress");
  box.hidden = false;
  const track = box.querySelector(".track");
  track.setAttribute("aria-valuemax", total);
  track.setAttribute("aria-valuenow", done);
  box.querySelector(".fill").style.width = `${(100 * done) / total}%`;
  box.querySelector(".count").textContent = `${done} of ${total} done`;
}

/* Which item the address names: a reload stays on it, and the browser's Back goes to the one before. */

/** The position in the address, or null. */
function placeNow() {
  const item = new URLSearchParams(location.search).get("item");
  return item === null ? null : Number(item) - 1;
}

/** Name a position in the address, null for none; the first place replaces the link itself. */
function setPlace(position) {
  if (position === placeNow()) return;
  const query = new URLSearchParams(location.search);
  if (position === null) query.delete("item");
  else query.set("item", position + 1);
  const method = history.state?.placed ? "pushState" : "replaceState";
  history[method]({ placed: true }, "", `?${query}`);
}

addEventListener("unhandledrejection", (event) => complain(event.reason));
addEventListener("error", () => complain(null));
start().catch((error) => {
  show(el("section", { class: "sheet" }, el("h1", {}, "Something went wrong"), el("p", {}, error.message)));
  announce(`Something went wrong. ${error.message}`);
});
