// The dialog for skipping or flagging an item, with a comment.

import { byId, el } from "./dom.js";

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
export function askRemark(kind, comment, on) {
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
