// The page's few tools. Texts reach the document through textContent only: nothing is parsed.

const KEY = new URLSearchParams(location.search).get("key") ?? "";

/** Call an endpoint of the server; throws an Error whose message is written for people. */
export async function call(name, ...inputs) {
  let response, body;
  try {
    response = await fetch(`gradio_api/run/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Annotation-Key": KEY },
      body: JSON.stringify({ data: inputs }),
    });
    body = await response.json();
  } catch {
    throw new Error("The server cannot be reached. Your saved answers are safe; try again.");
  }
  if (!response.ok) throw new Error(body.error ?? "The server could not do this. Try again.");
  return body.data[0];
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

/** Tell it to screen readers. */
export function announce(text) {
  byId("status").textContent = text;
}

/** Tell that something failed, above what is shown. */
export function complain(error) {
  byId("main").querySelector(":scope .notice")?.remove();
  byId("main").prepend(el("p", { class: "notice", role: "alert" }, error.message));
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
