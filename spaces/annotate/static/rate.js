// The rater's screens: one item at a time, all of it by keyboard.

import { announce, byId, call, complain, el, plural, setProgress, show } from "./dom.js";

const MASK = "⟨style⟩";
const ROLE = { source: "Source", reference: "Reference", first: "First text", second: "Second text" };
const drafts = new Map(); // position -> what was chosen and not saved yet

let who; // from the server's `enter`
let screen; // the screen shown, from the server
let draft; // { scores, flagged, comment } of the screen shown
let current = 0; // index of the aspect that digits go to
let busy = false;

export async function startRating(entered) {
  who = entered;
  fillHelp();
  byId("help-button").hidden = false;
  byId("help-button").addEventListener("click", openHelp);
  document.addEventListener("keydown", onKey);
  if (who.next_open === null) await finished();
  else if (who.started) await go(who.next_open);
  else welcome();
}

/* ---------- what is shown ---------- */

function welcome() {
  screen = null;
  setProgress(0, who.total);
  const start = el("button", { class: "main", type: "button", onclick: () => go(0) }, el("kbd", {}, "Enter"), "Start");
  show(
    el(
      "section",
      { class: "sheet" },
      el("h1", {}, who.study),
      el("p", {}, `${plural(who.total, "item")}, one a screen. You can stop at any time: this link brings you back to where you were.`),
      guide(),
      el("div", { class: "actions" }, start),
    ),
  );
  start.focus();
}

async function finished() {
  const last = await call("screen", who.total - 1);
  screen = null;
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
  screen = await call("screen", position);
  draft = drafts.get(position) ?? {
    scores: { ...(screen.answer?.scores ?? {}) },
    flagged: screen.answer?.flagged ?? false,
    comment: screen.answer?.comment ?? "",
  };
  drafts.set(position, draft);
  render();
}

function render() {
  setProgress(screen.done, screen.total);
  const body = screen.task === "naturalness" ? pairForm() : ratingForm();
  show(el("article", { class: "screen", "aria-labelledby": "question" }, heading(), ...body, remarkLine(), actions()));
  scrollTo(0, 0);
  const open = screen.aspects.findIndex((aspect) => !(aspect.name in draft.scores));
  setCurrent(open === -1 ? 0 : open);
  update();
  const texts = screen.texts.map((text) => `${label(text)}: ${text.text || "empty"}`).join(". ");
  announce(`Item ${screen.position + 1} of ${screen.total}. ${texts}`);
}

function heading() {
  const where = `Item ${screen.position + 1} of ${screen.total}`;
  const several = screen.of > 1 ? ` · output ${screen.number} of ${screen.of} for this source` : "";
  let title = screen.aspects[0].question;
  if (screen.task === "rating") {
    const target = el("span", { class: "target" }, screen.target_style);
    title = el("span", { class: "styles" }, screen.source_style, el("span", { "aria-label": "to" }, "→"), target);
  }
  const dataset = screen.dataset ? `${screen.dataset} · ` : "";
  return el(
    "header",
    { class: "task" },
    el("h1", { id: "question" }, title),
    el("p", { class: "muted" }, dataset + where + several),
  );
}

function label(text) {
  if (text.role === "output") return "Output to judge";
  if (text.role === "source") return `Source, ${screen.source_style}`;
  if (text.role === "reference") return `Reference, ${screen.target_style}`;
  return ROLE[text.role];
}

function words(text) {
  if (text.trim() === "") return [el("span", { class: "empty" }, "(empty)")];
  return text.split(MASK).flatMap((part, i) => (i ? [el("span", { class: "mask" }, "style word"), part] : [part]));
}

function block(text, judged) {
  return el("section", { class: judged ? "text judged" : "text" }, el("h2", {}, label(text)), el("p", { dir: "auto" }, words(text.text)));
}

function textsShown() {
  if (screen.task !== "rating") return screen.texts.map((text) => block(text, false));
  const references = screen.texts.filter((text) => text.role === "reference");
  const given = [block(screen.texts[0], false)];
  if (references.length) {
    const title = `${references.length > 1 ? "References" : "Reference"}, ${screen.target_style}, by people`;
    const list = references.map((text) => el("li", { dir: "auto" }, words(text.text)));
    given.push(el("section", { class: "text" }, el("h2", {}, title), el("ul", {}, list)));
  }
  return [el("div", { class: "given" }, given), block(screen.texts.at(-1), true)];
}

function ratingForm() {
  const rows = screen.aspects.map((aspect, index) => {
    const anchors = [1, 3, 5].filter((n) => n in aspect.anchors).map((n) => el("span", {}, `${n} ${aspect.anchors[n]}`));
    return el(
      "div",
      { class: "aspect", role: "radiogroup", "aria-labelledby": `ask-${index}`, "data-aspect": aspect.name, onfocusin: () => setCurrent(index, false) },
      el("div", { class: "ask", id: `ask-${index}` }, el("p", { class: "title" }, aspect.title), el("p", { class: screen.task === "rating" ? "question" : "unseen" }, aspect.question)),
      el("div", { class: "scale" }, el("div", { class: "choices" }, aspect.choices.map((n) => choice(aspect, index, n, [String(n)]))), el("div", { class: "anchors" }, anchors)),
    );
  });
  const layout = screen.task === "rating" ? "layout" : "layout even";
  return [el("div", { class: layout }, textsShown(), el("div", { class: "ratings" }, rows, overallRow()))];
}

function choice(aspect, index, value, content, card = false) {
  const anchor = aspect.anchors[value];
  return el(
    "label",
    { class: "choice" },
    el("input", {
      type: "radio",
      name: aspect.name,
      value,
      checked: draft.scores[aspect.name] === value,
      "aria-label": card ? null : `${value}${anchor ? `, ${anchor}` : ""}`,
      onchange: () => choose(index, value, false),
    }),
    el("span", { class: card ? "card" : null }, content),
  );
}

function pairForm() {
  const aspect = screen.aspects[0];
  const cards = screen.texts.map((text, i) =>
    choice(aspect, 0, i + 1, [el("b", {}, el("kbd", {}, String(i + 1)), " ", label(text)), el("bdi", {}, words(text.text))], true),
  );
  return [el("div", { class: "pair", role: "radiogroup", "aria-labelledby": "question", "data-aspect": aspect.name }, cards)];
}

function overallRow() {
  if (screen.overall_factor === null) return null;
  return el(
    "div",
    { class: "overall" },
    el("span", { class: "title" }, "Overall"),
    el("output", { id: "overall" }, "–"),
    el("span", { class: "why" }, screen.overall_factor === 1 ? "the mean of the three" : `the mean of the three, times ${screen.overall_factor}: the output equals the source`),
  );
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
  target.focus({ preventScroll: screen.task !== "rating" || index === 0 });
}

function choose(index, value, advance) {
  const aspect = screen.aspects[index];
  if (!aspect.choices.includes(value)) return;
  draft.scores[aspect.name] = value;
  row(index).querySelectorAll("input").forEach((input) => (input.checked = Number(input.value) === value));
  update();
  if (!advance) return;
  if (index + 1 < screen.aspects.length) setCurrent(index + 1);
  else if (complete()) byId("save").focus();
  else setCurrent(screen.aspects.findIndex((a) => !(a.name in draft.scores)));
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
  busy = true;
  try {
    const { next_open: open } = await call("save", screen.position, answer);
    drafts.delete(screen.position);
    const following = screen.position + 1;
    const changing = screen.answer !== null && following < screen.total; // walking through old answers
    if (changing) await go(following);
    else if (open === null) await finished();
    else await go(open);
  } catch (error) {
    complain(error);
  } finally {
    busy = false;
  }
}

function back() {
  if (screen.position > 0) go(screen.position - 1).catch(complain);
}

function forward() {
  if (screen.answer !== null && screen.position + 1 < screen.total) go(screen.position + 1).catch(complain);
}

/* ---------- dialogs ---------- */

function openRemark(kind) {
  const skip = kind === "skip";
  const input = el("input", { type: "text", maxlength: "1900", autocomplete: "off" });
  input.value = draft.comment;
  const done = (event) => {
    event.preventDefault();
    dialog.close();
    const comment = input.value.trim();
    if (skip) {
      submit({ skipped: true, comment });
      return;
    }
    draft.flagged = true;
    draft.comment = comment;
    update();
  };
  const unflag = () => {
    dialog.close();
    draft.flagged = false;
    draft.comment = "";
    update();
  };
  const dialog = byId("remark");
  dialog.replaceChildren(
    el(
      "form",
      { onsubmit: done },
      el("h2", { id: "remark-title" }, skip ? "Skip this item" : "Flag this item"),
      el("p", { class: "muted" }, skip ? "It gets no scores. You can come back to it." : "Your scores count; the study's owner sees the flag."),
      el("label", {}, skip ? "Why? (optional)" : "What is odd? (optional)", input),
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, el("kbd", {}, "Esc"), "Cancel"),
        !skip && draft.flagged ? el("button", { type: "button", onclick: unflag }, "Remove the flag") : null,
        el("button", { type: "submit", class: "main" }, el("kbd", {}, "Enter"), skip ? "Skip" : "Flag"),
      ),
    ),
  );
  dialog.onclose = () => screen && row(current)?.querySelector("input").focus();
  dialog.showModal();
  input.focus();
}

function openHelp() {
  byId("help").showModal();
}

function keys() {
  const list = [
    ["1 – 5", "score, and on to the next question"],
    ["↑ ↓", "question above, below"],
    ["← →", "score one less, one more"],
    ["Enter", "save and next"],
    ["B", "back to the item before"],
    ["N", "next item, where this one is answered"],
    ["S", "skip, with or without a reason"],
    ["F", "flag, with a comment"],
    ["?", "this help"],
  ];
  return el("dl", {}, list.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
}

function guide() {
  const scales = who.rated.map(({ title, anchors }) =>
    el("section", {}, el("h2", {}, title), el("dl", {}, [5, 3, 1].map((n) => [el("dt", {}, String(n)), el("dd", {}, anchors[n])]))),
  );
  const has = (task) => who.tasks.includes(task);
  return el(
    "div",
    { class: "guide" },
    has("rating") ? el("p", {}, "Each output should say what its source says, in the target style. Judge the three aspects apart from one another; 2 and 4 lie between. You are not told which system wrote what.") : null,
    has("rating") ? el("div", { class: "scales" }, scales) : null,
    has("naturalness") ? el("p", {}, "In pairs, choose the text that a person is more likely to have written.") : null,
    has("content_masked") ? el("p", {}, "Where style words are masked, compare the meaning of what is left, from 1 to 5.") : null,
    el("section", {}, el("h2", {}, "Keys"), keys()),
  );
}

function fillHelp() {
  const close = el("button", { type: "button", class: "main", onclick: () => byId("help").close() }, el("kbd", {}, "Esc"), "Close");
  byId("help").replaceChildren(el("h2", { id: "help-title" }, "How to judge"), guide(), el("div", { class: "actions" }, close));
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
