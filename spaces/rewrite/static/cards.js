// One card for each system: who it is, and what it made of the sentence.

import { el, plural } from "./el.js";

/** The card of a system, before it has answered. */
export function card(system, index) {
  return el(
    "article",
    { class: "card", id: `system-${index}`, "aria-labelledby": `name-${index}` },
    el(
      "header",
      {},
      el("h2", { id: `name-${index}` }, system.name),
      system.family &&
        el("span", { class: `family ${system.family}`, title: system.family_meaning }, system.family_title),
    ),
    el("div", { class: "said" }),
    facts(system),
  );
}

/** The card of what people made of the sentence, which is of a test set. */
export function peopleCard(rewrites, marked) {
  return el(
    "article",
    { class: "card", id: "people", "aria-labelledby": "people-name" },
    el(
      "header",
      {},
      el("h2", { id: "people-name" }, "people"),
      el("span", { class: "family human", title: "written by people" }, "Human"),
    ),
    el("div", { class: "said" }, rewrites.map((one) => text(one, marked))),
    el("p", { class: "below" }, "The sentence is of the test set, and so are these rewrites."),
  );
}

function facts(system) {
  if (system.problem) return null;
  const learned = [`${system.sentences.toLocaleString("en")} sentences`];
  if (system.pairs) learned.push(`${system.pairs.toLocaleString("en")} pairs`);
  const rows = [
    ["Algorithm", system.origin || system.kind],
    ["Learned from", system.trained_on ? `${system.trained_on}; ${learned.join(", ")}` : "nothing"],
    ...Object.entries(system.scores).map(([name, value]) => [name, value.toFixed(3)]),
    ["Hash", `${system.hash}…`],
  ];
  const scored = Object.keys(system.scores).length > 0;
  return el(
    "details",
    {},
    el("summary", {}, scored ? "About it, and its scores in training" : "About it"),
    el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
  );
}

/** Put what a system has said so far into its card. */
export function fill(node, answer, marked) {
  node.dataset.state = answer.state;
  node.querySelector(".said").replaceChildren(...said(answer, marked));
}

function said(answer, marked) {
  if (answer.state === "waiting") {
    const people = answer.ahead > 1 ? `${plural(answer.ahead, "sentence")} before yours` : "Next in line";
    return [el("p", { class: "quiet" }, answer.loading ? "The system is being loaded…" : `${people}…`)];
  }
  if (answer.state === "working") return [el("p", { class: "quiet" }, "Rewriting…")];
  if (answer.state === "failed") return [el("p", { class: "failed" }, answer.error)];
  if (!answer.text) return [el("p", { class: "quiet" }, "It has no rewrite of this sentence."), below(answer)];
  return [text(answer, marked), below(answer)];
}

function text(answer, marked) {
  return el("p", { class: "text", lang: "" }, marked && !answer.rewritten ? pieces(answer) : answer.text);
}

function pieces(answer) {
  const tags = { same: "span", gone: "del", new: "ins" };
  return answer.pieces.map(([kind, text, spaced]) => [spaced ? " " : null, el(tags[kind], {}, text)]);
}

function below(answer) {
  const notes = [];
  if (answer.same && answer.text) notes.push("unchanged");
  else if (answer.rewritten && answer.text) notes.push("rewritten from the ground up");
  if (answer.seconds >= 0.05) notes.push(`${answer.seconds.toFixed(1)} s`);
  return el(
    "p",
    { class: "below" },
    el("span", {}, notes.join(" · ")),
    answer.text && el("button", { class: "link", type: "button", onclick: (e) => copy(e, answer.text) }, "Copy"),
  );
}

async function copy(event, text) {
  const button = event.currentTarget;
  button.textContent = (await toClipboard(text)) ? "Copied" : "Not allowed here";
  setTimeout(() => (button.textContent = "Copy"), 1600);
}

/** Whether the browser let a text into the clipboard. */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
