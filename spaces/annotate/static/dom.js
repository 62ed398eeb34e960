// The page's helpers. Texts enter the document only through textContent: nothing is parsed.

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

/** An element with attributes, `on...` listeners, and children: elements, or text. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

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

export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
