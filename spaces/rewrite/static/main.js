// The form, and the sentence on its way: asked once, looked after until every system has answered.

import { card, fill, peopleCard, toClipboard } from "./cards.js";
import { byId, el, followTheme, plural } from "./el.js";

const QUICK = 250; // milliseconds between questions to the server, at first
const SLOW = 1500; // and when systems take long
let page = { systems: [], styles: [], most_characters: 300 };
let asked = 0; // a newer sentence lets the older ones be
let last = []; // what is on the cards
let people = []; // what people made of the sentence, if a test set has it
let tried = 0; // examples

followTheme();

async function call(name, fields = {}) {
  let response, body;
  try {
    response = await fetch(`rewrite/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(fields),
    });
    body = await response.json();
  } catch {
    throw new Error("The server cannot be reached. Try again.");
  }
  if (!response.ok) throw new Error(body.error ?? "The server could not process this. Try again.");
  return body;
}

const sentence = () => byId("sentence").value.trim();

function chosen() {
  const index = document.querySelector('input[name="style"]:checked')?.value ?? 0;
  return page.styles[Number(index)];
}

function choose({ source, target }) {
  const fits = (style) => style.target === target && (!source || style.source === source);
  const index = Math.max(0, page.styles.findIndex(fits));
  const radio = byId(`style-${index}`);
  if (radio) radio.checked = true;
  showExample();
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

function showLength() {
  const room = page.most_characters - sentence().length;
  byId("length").textContent = room < 60 ? `${plural(Math.abs(room), "character")} ${room < 0 ? "too many" : "left"}` : "";
  byId("length").classList.toggle("over", room < 0);
}

function showExample() {
  byId("example").hidden = !chosen()?.examples.length;
}

async function rewrite() {
  const style = chosen();
  const mine = ++asked;
  if (!sentence()) {
    notice("Write a sentence first.");
    byId("sentence").focus();
    return;
  }
  notice("");
  try {
    const first = await call("ask", { text: sentence(), source: style.source, target: style.target });
    if (mine !== asked) return;
    setPlace({ text: first.text, source: style.source, target: style.target });
    byId("share").hidden = false;
    people = first.people;
    show(first, style);
    showPeople();
    await follow(first, style, mine);
  } catch (error) {
    if (mine === asked) {
      notice(error.message);
      byId("status").textContent = "";
    }
  }
}

async function follow(told, style, mine) {
  let pause = QUICK;
  while (told.open > 0) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (mine !== asked) return;
    const newer = await call("look", { ticket: told.ticket });
    if (mine !== asked) return;
    told = { ...newer, ticket: told.ticket };
    show(told, style);
    pause = Math.min(SLOW, pause * 1.2);
  }
}

/** The cards of the systems that have the styles; they stay in place while answers come. */
function show(told, style) {
  const ids = told.answers.map((answer) => `system-${answer.system}`);
  const broken = page.systems.map((system, index) => [system, index]).filter(([one]) => one.problem);
  const wanted = [...ids, ...broken.map(([, index]) => `system-${index}`)].join();
  const box = byId("answers");
  if (box.dataset.shown !== wanted) {
    box.dataset.shown = wanted;
    box.replaceChildren(
      ...told.answers.map((answer) => card(page.systems[answer.system], answer.system)),
      ...broken.map(([system, index]) => card(system, index)),
    );
    for (const [system, index] of broken) {
      fill(byId(`system-${index}`), { state: "failed", error: system.problem }, false);
    }
  }
  const marked = byId("marks").checked;
  for (const answer of told.answers) {
    const before = last.find((one) => one.system === answer.system);
    const node = byId(`system-${answer.system}`);
    const same = node.dataset.state && JSON.stringify(before) === JSON.stringify(answer);
    if (!same) fill(node, answer, marked);
  }
  last = told.answers;
  const done = told.answers.length - told.open;
  const other = page.systems.length - told.answers.length - broken.length;
  const rest = other ? ` ${plural(other, "system")} here ${other === 1 ? "does" : "do"} other styles.` : "";
  const count = `${done} of ${plural(told.answers.length, "system")}`;
  byId("status").textContent = told.open
    ? `${style.source} → ${style.target}: ${count} answered…`
    : `${style.source} → ${style.target}: all ${told.answers.length} answered.${rest}`;
  if (told.answers.length === 1 && !told.open) {
    byId("status").textContent = `${style.source} → ${style.target}: 1 system answered.${rest}`;
  }
}

function showPeople() {
  byId("people")?.remove();
  if (people.length) byId("answers").append(peopleCard(people, byId("marks").checked));
}

/** The sentence and styles in the address; empty where it has none. */
function placeNow() {
  const query = new URLSearchParams(location.search);
  const read = (name) => query.get(name) ?? "";
  return { text: read("text"), source: read("from"), target: read("to") };
}

/** Put them into the address; the browser's Back then leads to the sentence before. */
function setPlace({ text, source, target }) {
  const now = placeNow();
  if (now.text === text && now.source === source && now.target === target) return;
  const query = new URLSearchParams(location.search);
  query.set("text", text);
  query.set("from", source);
  query.set("to", target);
  history.pushState({}, "", `?${query}`);
}

/** The link to share: without what another site added to the address. */
function shareLink() {
  const { text, source, target } = placeNow();
  const query = new URLSearchParams({ text, from: source, to: target });
  return `${location.origin}${location.pathname}?${query}`;
}

function styleChoices() {
  const several = (style) => page.styles.filter((one) => one.target === style.target).length > 1;
  byId("styles").replaceChildren(
    ...page.styles.map((style, index) =>
      el(
        "label",
        { class: "choice" },
        el("input", { type: "radio", name: "style", id: `style-${index}`, value: index, checked: index === 0, onchange: showExample }),
        el("span", {}, el("b", {}, style.target), el("small", {}, `${several(style) ? "only " : ""}from ${style.source}`)),
      ),
    ),
  );
}

async function share() {
  const link = shareLink();
  if (await toClipboard(link)) {
    byId("share").textContent = "Link copied";
    setTimeout(() => (byId("share").textContent = "Copy link"), 1600);
  } else {
    notice(`Copy this link: ${link}`);
  }
}

function listen() {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    rewrite();
  });
  byId("sentence").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    rewrite();
  });
  byId("sentence").addEventListener("input", showLength);
  byId("example").addEventListener("click", () => {
    const { examples } = chosen();
    byId("sentence").value = examples[tried++ % examples.length];
    showLength();
    rewrite();
  });
  byId("share").addEventListener("click", share);
  byId("marks").addEventListener("change", () => {
    for (const answer of last) fill(byId(`system-${answer.system}`), answer, byId("marks").checked);
    showPeople();
  });
  addEventListener("popstate", () => go(placeNow()));
}

/** Go where the address leads: its sentence, if it has one, is rewritten. */
function go(place) {
  byId("sentence").value = place.text;
  choose(place);
  showLength();
  if (place.text) rewrite();
}

async function begin() {
  try {
    page = await call("systems");
  } catch (error) {
    notice(error.message);
    return;
  } finally {
    byId("loading").hidden = true;
  }
  if (!page.styles.length) {
    const why = page.systems.length
      ? "None of this page's systems could be opened. Its owner finds the reasons in the log."
      : "No systems are offered here yet. The owner of a Space names them in TSTBENCH_SYSTEMS, with spaces between them: folders, or Hub ids.";
    notice(why);
    return;
  }
  styleChoices();
  byId("form").hidden = false;
  listen();
  const place = placeNow();
  go(place);
  if (!place.text) byId("sentence").focus();
}

begin();
