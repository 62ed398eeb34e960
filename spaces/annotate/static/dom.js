// The page's helpers. Texts enter the document only through textContent: nothing is parsed.

import { byId, el } from "./el.js";

export { byId, el, followTheme, plural } from "./el.js";

const KEY = new URLSearchParams(location.search).get("key") ?? "";

/** Call an endpoint of the server with its fields; throws an Error with words for people. */
export async function call(name, fields = {}) {
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

export const hasKey = KEY !== "";

/** Replace what the page shows. */
export function show(...children) {
  byId("main").replaceChildren(...children);
}

/** Announce a text to screen readers. */
export function announce(text) {
  byId("status").textContent = text;
}

/** Show an error above the content. */
export function complain(error) {
  byId("main").querySelector(":scope .notice")?.remove();
  const words = error?.message || "Something went wrong on this page. Reload it: what you chose is kept.";
  byId("main").prepend(el("p", { class: "notice", role: "alert" }, words));
  scrollTo(0, 0);
}

export function setProgress(done, total) {
  const box = byId("progress");
  box.hidden = false;
  const track = box.querySelector(".track");
  track.setAttribute("aria-valuemax", total);
  track.setAttribute("aria-valuenow", done);
  box.querySelector(".fill").style.width = `${(100 * done) / total}%`;
  box.querySelector(".count").textContent = `${done} of ${total} done`;
}
