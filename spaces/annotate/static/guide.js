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

export function fillHelp(who) {
  const close = el("button", { type: "button", class: "main", onclick: () => byId("help").close() }, el("kbd", {}, "Esc"), "Close");
  byId("help").replaceChildren(el("h2", { id: "help-title" }, "How to judge"), guide(who), el("div", { class: "actions" }, close));
}
