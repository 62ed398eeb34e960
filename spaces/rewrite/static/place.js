// What the address says: the sentence and its styles, so that a link carries them.

/** The sentence and styles in the address; empty where it has none. */
export function placeNow() {
  const query = new URLSearchParams(location.search);
  const read = (name) => query.get(name) ?? "";
  return { text: read("text"), source: read("from"), target: read("to") };
}

/** Put them into the address; the browser's Back then leads to the sentence before. */
export function setPlace({ text, source, target }) {
  const now = placeNow();
  if (now.text === text && now.source === source && now.target === target) return;
  const query = new URLSearchParams(location.search);
  query.set("text", text);
  query.set("from", source);
  query.set("to", target);
  history.pushState({}, "", `?${query}`);
}

/** Call `moved(place)` when the reader goes back or forward. */
export function whenMoved(moved) {
  addEventListener("popstate", () => moved(placeNow()));
}

/** The link to share: without what another site added to the address. */
export function shareLink() {
  const { text, source, target } = placeNow();
  const query = new URLSearchParams({ text, from: source, to: target });
  return `${location.origin}${location.pathname}?${query}`;
}
