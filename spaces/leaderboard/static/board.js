/* The page's behaviour. The server renders every view from the query parameters; sorting and
   filtering of rows happen here, on the rows that are there. Whatever comes from the server is
   markup that it escaped; whatever this script writes is text. */

(() => {
"use strict";

const SHOWN = 50; // rows of a long table before "show all"; table_parts.py says the same
const AGAIN = 1500; // ms before asking for ranks that are still being computed

const page = document.querySelector(".page");
const stage = document.querySelector("#stage");
const dialog = document.querySelector("#facts");
const root = (window.gradio_config?.root || location.origin).replace(/\/$/, "");
let query = readUrl();
let expanded = false;
let turn = 0; // answers to older questions than this are dropped
let plotly = null;
let title = document.title;
let dark = chosenTheme();

/* -- the server -------------------------------------------------------------------------------- */

async function ask(name) {
  const answer = await fetch(`${root}/gradio_api/run/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ data: [query] }),
  });
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return (await answer.json()).data[0];
}

/* -- the link ---------------------------------------------------------------------------------- */

function readUrl() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

function writeUrl(push) {
  const filled = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const url = `${location.pathname}?${new URLSearchParams(filled)}`;
  if (push) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

function set(changes, { push = false } = {}) {
  query = { ...query, ...changes };
  writeUrl(push);
}

/* -- views ------------------------------------------------------------------------------------- */

async function show({ focus = false, quiet = false } = {}) {
  const mine = ++turn;
  const view = query.view || "ranking";
  page.dataset.view = document.body.dataset.view = view;
  for (const link of page.querySelectorAll("nav [data-link]")) {
    if (link.dataset.link === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  revealLink();
  if (!quiet) stage.setAttribute("aria-busy", "true");
  let answer;
  try {
    answer = await ask("view");
  } catch (error) {
    if (mine !== turn) return;
    stage.setAttribute("aria-busy", "false");
    return say("The server did not answer. Is it still running? Reload to try again.");
  }
  if (mine !== turn) return;
  const typing = keepTyping();
  purge();
  stage.innerHTML = answer.html;
  stage.setAttribute("aria-busy", "false");
  settle(answer);
  typing();
  if (focus) stage.focus({ preventScroll: true });
  draw(answer.figures);
  drawLazily();
}

/* On a phone not all links fit: scroll the row, not the page, to the one of this view. */
function revealLink() {
  const link = page.querySelector("nav [aria-current]");
  const row = link.parentElement;
  row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
}

/* What follows once a view is on the stage, whoever put it there. */
function settle({ title: name, pending }) {
  const mine = turn;
  title = document.title = `${name} \u2013 TSTBench`;
  applyLocal();
  if (pending) setTimeout(() => mine === turn && show({ quiet: true }), AGAIN);
}

/* The field that somebody types in is replaced with the view: put the cursor back. */
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

function say(text) {
  const box = document.createElement("div");
  box.className = "notice warning";
  box.setAttribute("role", "alert");
  box.textContent = text;
  stage.replaceChildren(box);
}

/* -- tables: sort, filter, columns ------------------------------------------------------------- */

function table() {
  return stage.querySelector("table.board");
}

function headers() {
  return [...(table()?.tHead.rows[1]?.cells ?? [])];
}

function applyLocal() {
  if (!table()) return;
  for (const field of stage.querySelectorAll("[data-local]")) {
    const kind = field.dataset.local;
    if (kind === "q" || kind === "parallel") field.value = query[kind] || "";
    if (kind === "family") field.setAttribute("aria-pressed", String(list("family").includes(field.value)));
    if (kind === "columns") field.checked = !list("hide").includes(field.value);
  }
  applyColumns();
  applySort();
  applyFilter();
}

function list(name) {
  return (query[name] || "").split(",").filter(Boolean);
}

function applySort() {
  const all = headers();
  const wanted = query.sort || "";
  const key = wanted.replace(/^-/, "");
  const first = all.find((th) => th.dataset.kind === "number"); // joint, or the mean
  const chosen = all.find((th) => th.dataset.key === key) || first || all[0];
  if (!chosen) return;
  const worst = wanted.startsWith("-") && chosen.dataset.key === key;
  const numeric = chosen.dataset.kind === "number";
  const ascending = (numeric ? chosen.dataset.higher !== "1" : true) !== worst;
  for (const th of all) {
    if (!th.dataset.key) continue;
    th.setAttribute("aria-sort", th === chosen ? (ascending ? "ascending" : "descending") : "none");
  }
  const value = reader(chosen, numeric);
  const rows = [...table().tBodies[0].rows].map((row) => [value(row), row]);
  rows.sort(([a, first], [b, second]) => {
    if (a === null || b === null) return (a === null) - (b === null) || byName(first, second);
    const order = numeric ? a - b : a.localeCompare(b);
    return (ascending ? order : -order) || byName(first, second);
  });
  table().tBodies[0].append(...rows.map(([, row]) => row));
  showRanks(numeric && chosen.dataset.tested ? chosen : first);
}

function byName(first, second) {
  return first.dataset.name.localeCompare(second.dataset.name);
}

function reader(th, numeric) {
  const index = th.cellIndex;
  if (th.dataset.key === "system") return (row) => row.dataset.name;
  return (row) => {
    const value = row.cells[index].dataset.value;
    if (value === undefined) return null;
    return numeric ? Number(value) : value;
  };
}

/* The rank column follows the column that the rows are sorted by. */
function showRanks(th) {
  const head = stage.querySelector("[data-ranked-by]");
  if (!head || !th) return;
  const index = th.cellIndex;
  const title = th.querySelector(".sort span").textContent;
  const tested = th.dataset.tested !== "untested";
  head.textContent = tested ? `by ${title}` : `by ${title}\nuntested`;
  head.title = tested
    ? "A range of places: what paired bootstrap leaves open at the 5% level"
    : "By value alone: no significance test is at hand for this column";
  for (const row of table().tBodies[0].rows) {
    row.cells[0].textContent = row.cells[index].dataset.rank ?? "\u2013";
  }
}

function applyFilter() {
  const words = (query.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const families = list("family");
  const parallel = query.parallel || "";
  let kept = 0;
  const rows = table().tBodies[0].rows;
  for (const row of rows) {
    const { name, family, parallel: own } = row.dataset;
    const fits =
      words.every((word) => name.includes(word)) &&
      (!families.length || families.includes(family)) &&
      (!parallel || parallel === own);
    if (fits) kept += 1;
    row.hidden = !fits || (!expanded && kept > SHOWN);
  }
  const more = stage.querySelector(".more");
  if (more) {
    more.hidden = expanded || kept <= SHOWN;
    more.textContent = `Show all ${kept} systems`;
  }
  stage.querySelector(".nothing").hidden = kept > 0;
  const count = stage.querySelector(".count");
  if (count) {
    const all = `${rows.length} system${rows.length === 1 ? "" : "s"}`;
    count.textContent = kept === rows.length ? all : `${kept} of ${all}`;
  }
}

function applyColumns() {
  const hidden = list("hide");
  const all = headers();
  const off = all.filter((th) => th.dataset.key && hidden.includes(th.dataset.key));
  for (const row of [table().tHead.rows[1], ...table().tBodies[0].rows]) {
    for (const th of all) row.cells[th.cellIndex].classList.toggle("off", off.includes(th));
  }
  let next = all.findIndex((th) => th.dataset.column !== undefined);
  for (const group of table().tHead.rows[0].querySelectorAll(".group")) {
    group.dataset.size ??= group.colSpan;
    const own = all.slice(next, next + Number(group.dataset.size));
    const left = own.filter((th) => !off.includes(th)).length;
    group.colSpan = Math.max(1, left);
    group.classList.toggle("off", left === 0);
    next += own.length;
  }
}

/* -- pictures ---------------------------------------------------------------------------------- */

function loadPlotly() {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = root + page.dataset.plotly;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("plotly.js is not there"));
    document.head.append(script);
  });
  return plotly;
}

async function draw(figures) {
  const keys = Object.keys(figures || {});
  if (!keys.length) return;
  for (const key of keys) {
    const place = stage.querySelector(`[data-figure="${key}"]`);
    if (place) place.style.minHeight = `${figures[key].layout.height}px`; // nothing jumps later
  }
  let library;
  try {
    library = await loadPlotly();
  } catch (error) {
    plotly = null;
    for (const key of keys) failed(key);
    return;
  }
  for (const key of keys) {
    const place = stage.querySelector(`[data-figure="${key}"]`);
    if (!place) continue;
    const { data, layout } = figures[key];
    place.replaceChildren();
    await library.newPlot(place, data, layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toggleSpikelines"],
    });
  }
}

async function drawLazily() {
  const place = stage.querySelector("[data-lazy=map]");
  if (!place) return;
  const mine = turn;
  const answer = await ask("style_map").catch(() => null);
  if (mine !== turn) return;
  if (!answer) failed("map");
  else if (answer.figures.map) draw(answer.figures);
  else place.innerHTML = answer.html;
}

function failed(key) {
  const place = stage.querySelector(`[data-figure="${key}"]`);
  if (place) place.textContent = "This picture could not be drawn.";
}

function purge() {
  if (!window.Plotly) return;
  for (const plot of stage.querySelectorAll(".js-plotly-plot")) window.Plotly.purge(plot);
}

/* -- facts in a dialog ------------------------------------------------------------------------- */

function openFacts(title, lead, facts) {
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = lead;
  const entries = facts.filter(([, value]) => value);
  dialog.querySelector("dl").replaceChildren(
    ...entries.flatMap(([name, value]) => {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }),
  );
  dialog.showModal();
}

function showSignature(th) {
  const signature = th.dataset.signature;
  const [metric, ...fields] = signature.split("|");
  const facts = fields.map((field) => {
    const at = field.indexOf(":");
    return [field.slice(0, at), field.slice(at + 1)];
  });
  const title = th.querySelector(".sort span").textContent;
  const lead = th.dataset.meaning ? `${th.dataset.meaning}.` : "";
  openFacts(`${title}: signature`, lead, [["metric", metric], ...facts, ["as one line", signature]]);
}

function showSystem(row) {
  const { origin, outputs, profile, version, sentences } = row.dataset;
  const cells = headers()
    .filter((th) => th.dataset.column !== undefined)
    .map((th) => {
      const cell = row.cells[th.cellIndex];
      const value = cell.querySelector("b, span:not(.none)")?.textContent;
      const bounds = cell.querySelector("small")?.textContent;
      return [th.querySelector(".sort span").textContent, value && (bounds ? `${value}  (${bounds})` : value)];
    });
  openFacts(row.querySelector(".name").textContent, origin || "The report does not say where the outputs come from.", [
    ...cells,
    ["needs parallel data", { yes: "yes", no: "no" }[row.dataset.parallel]],
    ["profile", profile],
    ["sentences", sentences],
    ["tstbench", version],
    ["outputs SHA-256", outputs && `${outputs}\u2026`],
  ]);
}

/* -- events ------------------------------------------------------------------------------------ */

function afterTyping(action) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), 250);
  };
}

const showSoon = afterTyping(() => show());

function follow(link) {
  const to = new URLSearchParams(new URL(link.href).search);
  const keep = query.direction && !to.has("direction") ? { direction: query.direction } : {};
  query = { ...keep, ...Object.fromEntries(to) };
  expanded = false;
  writeUrl(true);
  show({ focus: true });
}

/* Choices that depend on another choice go with it. */
const DEPENDENT = {
  direction: ["setting", "systems", "system", "page", "hide"],
  setting: ["systems", "system", "page", "hide"],
  metric: ["protocol", "page"],
  order: ["page"],
  text: ["page"],
};

function change(param, value) {
  const dropped = Object.fromEntries((DEPENDENT[param] ?? []).map((name) => [name, ""]));
  set({ ...dropped, [param]: value }, { push: param === "direction" || param === "page" });
}

const ACTIONS = {
  sort(button) {
    const th = button.closest("th");
    const key = th.dataset.key;
    const now = th.getAttribute("aria-sort");
    const best = th.dataset.kind === "number" && th.dataset.higher === "1" ? "descending" : "ascending";
    set({ sort: now === best ? `-${key}` : key });
    applySort();
    applyFilter();
  },
  signature: (button) => showSignature(button.closest("th")),
  system: (button) => showSystem(button.closest("tr")),
  close: () => dialog.close(),
  more() {
    expanded = true;
    applyFilter();
  },
  clear() {
    set({ q: "", family: "", parallel: "" });
    applyLocal();
  },
  theme() {
    dark = !document.body.classList.contains("dark");
    document.body.classList.toggle("dark", dark);
    localStorage.setItem("tstbench-theme", dark ? "dark" : "light");
  },
  async copy(button) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch (error) {
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => (button.textContent = before), 2000);
  },
};

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-action], [data-link], [data-page], button[data-local]");
  for (const menu of stage.querySelectorAll("details.columns[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  if (event.target === dialog) dialog.close();
  if (!target) return;
  if (target.dataset.action) return ACTIONS[target.dataset.action]?.(target);
  if (target.dataset.page) {
    change("page", target.dataset.page);
    show({ focus: true });
    return stage.scrollIntoView({ block: "start" });
  }
  if (target.dataset.local === "family") {
    const chosen = new Set(list("family"));
    if (!chosen.delete(target.value)) chosen.add(target.value);
    set({ family: [...chosen].join(",") });
    return applyLocal();
  }
  if (target.dataset.link !== undefined) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    follow(target);
  }
});

document.addEventListener("input", ({ target }) => {
  if (target.dataset.local === "q" || target.dataset.local === "parallel") {
    set({ [target.dataset.local]: target.value });
    applyFilter();
  } else if (target.dataset.local === "columns") {
    const hidden = new Set(list("hide"));
    if (target.checked) hidden.delete(target.value);
    else hidden.add(target.value);
    set({ hide: [...hidden].join(",") });
    applyColumns();
  } else if (target.dataset.paramList) {
    const name = target.dataset.paramList;
    const boxes = stage.querySelectorAll(`[data-param-list="${name}"]:checked`);
    set({ [name]: [...boxes].map((box) => box.value).join("|"), page: "" });
    reopen();
  } else if (target.dataset.param) {
    change(target.dataset.param, target.value);
    if (target.type === "search") showSoon();
    else show();
  }
});

/* A menu stays open while several of its boxes are ticked. */
async function reopen() {
  await show();
  const menu = stage.querySelector("details.columns");
  if (menu) menu.open = true;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of stage.querySelectorAll("details.columns[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

window.addEventListener("popstate", () => {
  query = readUrl();
  show();
});

/* -- start ------------------------------------------------------------------------------------- */

function chosenTheme() {
  const stored = localStorage.getItem("tstbench-theme");
  return stored ? stored === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

document.documentElement.lang = "en";
document.body.dataset.view = page.dataset.view;
document.body.classList.toggle("dark", dark);

/* Gradio, when it arrives, sets theme and title by its own lights. */
new MutationObserver(() => {
  if (document.body.classList.contains("dark") !== dark) document.body.classList.toggle("dark", dark);
}).observe(document.body, { attributeFilter: ["class"] });
new MutationObserver(() => {
  if (document.title !== title) document.title = title;
}).observe(document.head, { subtree: true, childList: true, characterData: true });

revealLink();
const first = JSON.parse(document.querySelector("#first").textContent);
if (first) settle(first);
else show();
})();
