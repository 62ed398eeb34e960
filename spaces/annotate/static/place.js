// Which item the address names: a reload stays on it, and the browser's Back goes to the one before.

/** The position in the address, or null. */
export function placeNow() {
  const item = new URLSearchParams(location.search).get("item");
  return item === null ? null : Number(item) - 1;
}

/** Name a position in the address, null for none; the first place replaces the link itself. */
export function setPlace(position) {
  if (position === placeNow()) return;
  const query = new URLSearchParams(location.search);
  if (position === null) query.delete("item");
  else query.set("item", position + 1);
  const method = history.state?.placed ? "pushState" : "replaceState";
  history[method]({ placed: true }, "", `?${query}`);
}

/** Call `moved(position)` when the reader goes back or forward in the browser. */
export function whenMoved(moved) {
  addEventListener("popstate", () => moved(placeNow()));
}
