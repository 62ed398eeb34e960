// How to judge, and with which keys: on the first screen, and in a dialog at any time.

import { byId, el } from "./dom.js";

export function openHelp() {
  byId("help").showModal();
}

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

export function guide(who) {
  const scales = who.rated.map(({ title, anchors }) =>
    el("section", {}, el("h2", {}, title), el("dl", {}, [5, 3, 1].map((n) => [el("dt", {}, String(n)), el("dd", {}, anchors[n])]))),
  );
  const has = (task) => who.tasks.includes(task);
  return el(
    "div",
    { class: "guide" },
    has("rating") ? el("p", {}, "Each output should say what its source says, in the target style. Judge the three aspects independently; 2 and 4 are in between. You are not told which system wrote which output.") : null,
    has("rating") && who.references_shown ? el("p", {}, "References are what people wrote for the same source. A good output may differ from all of them.") : null,
    has("rating") ? el("div", { class: "scales" }, scales) : null,
    has("rating") ? el("p", {}, "Overall is computed: the mean of the three. Where the output only repeats its source, it is that mean times 0.6, because no style was transferred.") : null,
    has("naturalness") ? el("p", {}, "In pairs, choose the text that a person is more likely to have written.") : null,
    has("content_masked") ? el("p", {}, "Where style words are masked, compare the meaning of what is left, from 1 to 5.") : null,
    el("section", { class: "keys" }, el("h2", {}, "Keys"), keys()),
  );
}

export function fillHelp(who) {
  const close = el("button", { type: "button", class: "main", onclick: () => byId("help").close() }, el("kbd", {}, "Esc"), "Close");
  byId("help").replaceChildren(el("h2", { id: "help-title" }, "How to judge"), guide(who), el("div", { class: "actions" }, close));
}
