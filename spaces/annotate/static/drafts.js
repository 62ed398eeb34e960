// What a rater chose and has not saved yet, kept in this browser: a reload or a crash loses nothing.
// Each rater of each study has drafts of their own, so two can share a browser.

let scope = "";
const memory = new Map(); // for a browser that refuses to store anything

const keyOf = (position) => `tstbench annotation ${scope} ${position}`;

/** Use the drafts with this name, which the server gave. */
export function openDrafts(name) {
  scope = name;
}

/** Whether something would be lost with this page, because the browser stores nothing. */
export const atRisk = () => memory.size > 0;

export function keep(position, draft) {
  const text = JSON.stringify(draft);
  try {
    localStorage.setItem(keyOf(position), text);
    memory.delete(position);
  } catch {
    memory.set(position, text);
  }
}

export function drop(position) {
  memory.delete(position);
  try {
    localStorage.removeItem(keyOf(position));
  } catch {
    // Nothing can be stored, so nothing is.
  }
}

/**
 * The draft of a screen, or null. A draft that began from another answer than the one saved now is
 * out of date: the item was saved since, in another tab or on another machine.
 */
export function find(screen) {
  const draft = read(screen.position);
  if (draft === null) return null;
  if (JSON.stringify(draft.from) === JSON.stringify(screen.answer)) {
    const known = ({ name, choices }) => choices.includes(draft.scores?.[name]);
    const scores = screen.aspects.filter(known).map(({ name }) => [name, draft.scores[name]]);
    return { scores: Object.fromEntries(scores), flagged: draft.flagged === true, comment: String(draft.comment ?? "") };
  }
  drop(screen.position);
  return null;
}

function read(position) {
  try {
    return JSON.parse(memory.get(position) ?? localStorage.getItem(keyOf(position)));
  } catch {
    return null;
  }
}

/** Call `changed(position)` when another tab changes or saves a draft. */
export function whenChangedElsewhere(changed) {
  addEventListener("storage", ({ key }) => {
    const position = key?.split(" ").at(-1);
    if (key !== null && key === keyOf(position)) changed(Number(position));
  });
}
