/* What the page is and what it shows. These files are one module, put together by page.py in
   their order. The server renders every view from the query parameters; sorting and filtering
   of rows happen here, on the rows that are there, unless a table comes in windows. Whatever
   comes from the server is markup that it escaped; whatever this script writes is text. */

const SHOWN = 50; // rows of a long table before "show all"; markup.py says the same
const AGAIN = 1500; // ms before asking for ranks that are still being computed

const page = document.querySelector(".page");
const stage = document.querySelector("#stage");
const dialog = document.querySelector("#facts");
let query = readUrl();
let expanded = false;
let turn = 0; // answers to older requests than this are dropped
let known = ""; // the revision of the results that is shown
let dark = chosenTheme();

/* The link: every choice is in the address, so that a view can be shared. */

function readUrl() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

function writeUrl(push) {
  const filled = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const url = `${location.pathname}?${new URLSearchParams(filled)}`;
  if (push) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

/* Everything that is shown by default goes into the address, so that it shows the same for ever. */
function completeUrl() {
  const shown = { view: query.view || "ranking" };
  for (const field of stage.querySelectorAll("[data-param]")) {
    if (field.value) shown[field.dataset.param] = field.value;
  }
  query = { ...query, ...shown };
  writeUrl(false);
}

function set(changes, { push = false } = {}) {
  query = { ...query, ...changes };
  writeUrl(push);
}

/* A box that scrolls sideways shows a shadow at each edge beyond which there is more. */

const EDGES = ".scroller, nav .links";
const edgeWatcher = new ResizeObserver((entries) => {
  for (const { target } of entries) markEdges(target.matches(EDGES) ? target : target.parentElement);
});

function watchEdges() {
  edgeWatcher.disconnect();
  for (const box of page.querySelectorAll(EDGES)) {
    edgeWatcher.observe(box);
    const content = box.querySelector("table");
    if (content) edgeWatcher.observe(content); // hidden columns make it narrower
    markEdges(box);
  }
}

function markEdges(box) {
  const frame = box.parentElement;
  const left = box.scrollLeft;
  frame.classList.toggle("more-left", left > 1);
  frame.classList.toggle("more-right", left + box.clientWidth < box.scrollWidth - 1);
}

document.addEventListener("scroll", ({ target }) => target.matches?.(EDGES) && markEdges(target), {
  capture: true,
  passive: true,
});

/* Views: requested from the server, put on the stage. */

async function ask(name, fields = { query }) {
  const answer = await fetch(`leaderboard/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  });
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.json();
}

/* What is asked for, with all rows of a long table. */
function whole() {
  return { ...query, rows: "all" };
}

async function show({ focus = false, quiet = false } = {}) {
  const mine = ++turn;
  const view = query.view || "ranking";
  page.dataset.view = view;
  for (const link of page.querySelectorAll("nav [data-link]")) {
    if (link.dataset.link === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  revealLink();
  if (!quiet) stage.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await ask("view", { query: quiet ? { ...whole(), known } : query }); // what was there stays there
  } catch (error) {
    if (mine !== turn) return;
    stage.setAttribute("aria-busy", "false");
    return say("The server did not answer. Is it still running? Reload to try again.");
  }
  if (mine !== turn) return;
  if (quiet && !answer.html) return later();
  const [typing, place] = [keepTyping(), keepPlace()];
  stage.innerHTML = answer.html;
  stage.setAttribute("aria-busy", "false");
  settle(answer);
  typing();
  place();
  if (focus) stage.focus({ preventScroll: true });
}

/* On a phone not all links fit: scroll the row, not the page, to this view's link. */
function revealLink() {
  const link = page.querySelector("nav [aria-current]");
  if (!link) return; // a system's page has no place in the row
  const row = link.parentElement;
  row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  markEdges(row);
}

/* What to do once a view is on the stage, whoever put it there. */
async function settle({ title: name, pending, revision }) {
  const mine = turn;
  known = revision;
  if (name) document.title = `${name} \u2013 TSTBench`;
  followDirection();
  applyLocal();
  watchEdges();
  hush();
  watchPictures();
  if (table()?.dataset.leftOut !== undefined) await addRows();
  if (pending && mine === turn) later();
}

/* Ask again; what still waits is sent only where the results changed. */
function later() {
  const mine = turn;
  setTimeout(() => mine === turn && show({ quiet: true }), AGAIN);
}

/* The rows that a first answer leaves out; if the results changed meanwhile, the view as it is now. */
async function addRows() {
  const mine = turn;
  if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
  const answer = await ask("view", { query: whole() }).catch(() => null);
  if (mine !== turn) return;
  const box = document.createElement("template");
  box.innerHTML = answer?.html ?? "";
  const all = box.content.querySelector("table.board");
  if (!all) {
    for (const place of stage.querySelectorAll(".more, .count"))
      place.textContent = "The other systems did not arrive: reload the page";
    return;
  }
  const columns = (one) => [...one.tHead.rows[1].cells].map((th) => th.dataset.key + th.dataset.signature).join();
  if (columns(all) !== columns(table())) return show({ quiet: true });
  const there = new Set(rows().map((row) => row.dataset.name));
  [...table().tBodies].forEach((body, i) => {
    body.append(...[...(all.tBodies[i]?.rows ?? [])].filter(({ dataset }) => dataset.name && !there.has(dataset.name)));
  });
  delete table().dataset.leftOut;
  applyLocal();
}

/* The field being typed in is replaced with the view: put the cursor back. */
function keepTyping() {
  const field = document.activeElement;
  const param = field?.dataset?.param || field?.dataset?.local;
  if (!param || !stage.contains(field)) return () => {};
  const [start, end, value] = [field.selectionStart, field.selectionEnd, field.value];
  const attribute = field.dataset.param ? "data-param" : "data-local";
  return () => {
    const again = stage.querySelector(`[${attribute}="${param}"]`);
    if (!again) return;
    again.focus({ preventScroll: true });
    if (field.type === "search") {
      again.value = value;
      again.setSelectionRange(start, end);
    }
  };
}

/* The next window of a long table is as far aside as this one, and the header that was pressed is in focus. */
function keepPlace() {
  const left = table()?.dataset.window && table().closest(".scroller").scrollLeft;
  const key = document.activeElement?.closest?.("th[data-key]")?.dataset.key;
  return () => {
    if (!left && !key) return;
    if (table()?.dataset.window) table().closest(".scroller").scrollLeft = left;
    headers().find((th) => th.dataset.key === key)?.querySelector(".sort")?.focus({ preventScroll: true });
  };
}

function say(text, place = stage) {
  const box = document.createElement("div");
  box.className = "notice warning";
  box.setAttribute("role", "alert");
  box.textContent = text;
  place.replaceChildren(box);
}
