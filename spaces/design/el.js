// What all pages build their elements with. Texts enter the document only as text: nothing is parsed.

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

export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

/** Light or dark as Hugging Face's pages ask for; otherwise the reader's own choice holds. */
export function followTheme() {
  const theme = new URLSearchParams(location.search).get("__theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}
