// One question as shown: texts, scales, pairs. The choices are kept in rate.js.

import { el } from "./el.js";

const MASK = "⟨style⟩";
const ROLE = { first: "First text", second: "Second text", text: "Text" };

/**
 * The nodes of a screen: its heading, then its form.
 *
 * `scores` are those chosen so far, by aspect; `on.choose(index, value)` is called for a choice,
 * `on.focus(index)` of the aspect that was entered.
 */
export function question(screen, scores, on) {
  const form = screen.layout === "pair" ? pairForm : ratingForm;
  return [heading(screen), ...form(screen, scores, on)];
}

function heading(screen) {
  const where = `Item ${screen.position + 1} of ${screen.total}`;
  const several = screen.of > 1 ? ` · output ${screen.number} of ${screen.of}` : "";
  let title = screen.aspects[0].question;
  if (screen.layout === "rewrite") {
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

export function label(screen, text) {
  if (text.role === "output") return "Output to judge";
  if (text.role === "source") return `Source, ${screen.source_style}`;
  if (text.role === "reference") return `Reference, ${screen.target_style}`;
  return ROLE[text.role];
}

function words(text) {
  if (text.trim() === "") return [el("span", { class: "empty" }, "(empty)")];
  return text.split(MASK).flatMap((part, i) => (i ? [el("span", { class: "mask" }, "style word"), part] : [part]));
}

function block(screen, text, judged) {
  return el("section", { class: judged ? "text judged" : "text" }, el("h2", {}, label(screen, text)), el("p", { dir: "auto" }, words(text.text)));
}

function textsShown(screen) {
  if (screen.layout !== "rewrite") return screen.texts.map((text) => block(screen, text, false));
  const references = screen.texts.filter((text) => text.role === "reference");
  const given = [block(screen, screen.texts[0], false)];
  if (references.length) {
    const title = `${references.length > 1 ? "References" : "Reference"}, ${screen.target_style}, by people`;
    const list = references.map((text) => el("li", { dir: "auto" }, words(text.text)));
    given.push(el("section", { class: "text" }, el("h2", {}, title), el("ul", {}, list)));
  }
  return [el("div", { class: "given" }, given), block(screen, screen.texts.at(-1), true)];
}

function ratingForm(screen, scores, on) {
  const rows = screen.aspects.map((aspect, index) => {
    const anchors = Object.entries(aspect.anchors).map(([n, text]) => el("span", {}, `${n} ${text}`));
    return el(
      "div",
      { class: "aspect", role: "radiogroup", "aria-labelledby": `ask-${index}`, "data-aspect": aspect.name, onfocusin: () => on.focus(index) },
      el("div", { class: "ask", id: `ask-${index}` }, el("p", { class: "title" }, aspect.title), el("p", { class: screen.layout === "rewrite" ? "question" : "unseen" }, aspect.question)),
      el("div", { class: "scale" }, el("div", { class: "choices" }, aspect.choices.map((n) => choice(aspect, index, n, [String(n)], { scores, on }))), anchors.length ? el("div", { class: "anchors" }, anchors) : null),
    );
  });
  const layout = screen.layout === "rewrite" ? "layout" : "layout even";
  return [el("div", { class: layout }, textsShown(screen), el("div", { class: "ratings" }, rows, overallRow(screen)))];
}

function choice(aspect, index, value, content, { scores, on, card = false }) {
  const anchor = aspect.anchors[value];
  return el(
    "label",
    { class: "choice" },
    el("input", {
      type: "radio",
      name: aspect.name,
      value,
      checked: scores[aspect.name] === value,
      "aria-label": card ? null : `${value}${anchor ? `, ${anchor}` : ""}`,
      onchange: () => on.choose(index, value),
    }),
    el("span", { class: card ? "card" : null }, content),
  );
}

function pairForm(screen, scores, on) {
  const aspect = screen.aspects[0];
  const cards = screen.texts.map((text, i) =>
    choice(aspect, 0, i + 1, [el("b", {}, el("kbd", {}, String(i + 1)), " ", label(screen, text)), el("bdi", {}, words(text.text))], { scores, on, card: true }),
  );
  return [el("div", { class: "pair", role: "radiogroup", "aria-labelledby": "question", "data-aspect": aspect.name }, cards)];
}

function overallRow(screen) {
  if (screen.overall_factor === null) return null;
  return el(
    "div",
    { class: "overall" },
    el("span", { class: "title" }, "Derived overall"),
    el("output", { id: "overall" }, "–"),
    el("span", { class: "why" }, screen.overall_factor === 1 ? "the mean of the three" : `the mean of the three, times ${screen.overall_factor}: the output equals the source`),
  );
}
