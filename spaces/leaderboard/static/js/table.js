/* Tables: sort, filter, columns. */

function table() {
  return stage.querySelector("table.board");
}

function headers() {
  return [...(table()?.tHead.rows[1]?.cells ?? [])];
}

/* The rows of systems, and of the bounds below them; not the heading between them. */
function rows() {
  return [...table().querySelectorAll("tbody tr[data-name]")];
}

const SIMPLE = ["q", "parallel", "from", "to"]; // the fields whose value is the parameter's

function applyLocal() {
  if (!table()) return;
  for (const field of stage.querySelectorAll("[data-local]")) {
    const kind = field.dataset.local;
    if (SIMPLE.includes(kind)) field.value = query[kind] || "";
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
  const first = all.find((th) => th.dataset.kind === "number"); // joint, as a rule
  const named = all.find((th) => th.dataset.key === key);
  if (!named && rows()[0]?.dataset.place !== undefined) return applyPlaces(all);
  const chosen = named || first || all[0];
  if (!chosen) return;
  const worst = wanted.startsWith("-") && chosen.dataset.key === key;
  const numeric = chosen.dataset.kind === "number";
  const ascending = (numeric ? chosen.dataset.higher !== "1" : true) !== worst;
  for (const th of all) {
    if (!th.dataset.key) continue;
    th.setAttribute("aria-sort", th === chosen ? (ascending ? "ascending" : "descending") : "none");
  }
  for (const button of stage.querySelectorAll("[data-action=rank]"))
    button.setAttribute("aria-pressed", String(button.value === chosen.dataset.key));
  const value = reader(chosen, numeric);
  arrange((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null) - (b === null) || byName(one, other);
    const order = numeric ? a - b : a.localeCompare(b);
    return (ascending ? order : -order) || byName(one, other);
  });
  showRanks(numeric && chosen.dataset.tested ? chosen : first);
}

/* The server's own order, which has more than the column that says it: ties. */
function applyPlaces(all) {
  for (const th of all)
    if (th.dataset.key) th.setAttribute("aria-sort", th.dataset.key === "won" ? "descending" : "none");
  arrange((one, other) => one.dataset.place - other.dataset.place);
}

/* Bounds stay below the systems. */
function arrange(order) {
  for (const body of table().tBodies) {
    body.append(...[...body.rows].filter((row) => row.dataset.name).sort(order));
  }
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
    ? "A range of ranks: the paired bootstrap at the 5% level cannot decide between them"
    : "By value alone: there is no significance test for this column";
  for (const row of rows()) {
    row.cells[0].textContent = row.cells[index].dataset.rank ?? "\u2013";
  }
}

function applyFilter() {
  const words = (query.q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const families = list("family");
  const parallel = query.parallel || "";
  const [from, to] = [date("from"), date("to")];
  const count = stage.querySelector(".count");
  if (table().dataset.window) {
    if (count) count.textContent = table().dataset.window; // the server has filtered
    return;
  }
  const all = rows();
  let [kept, bounds] = [0, 0];
  for (const row of all) {
    const { name, family, parallel: own, bound } = row.dataset;
    const fits = words.every((word) => name.includes(word)) && (!families.length || families.includes(family));
    if (bound !== undefined) {
      bounds += fits; // nothing was trained, and no date orders them
      row.hidden = !fits;
      continue;
    }
    const shown = fits && (!parallel || parallel === own) && within(row, from, to);
    kept += shown;
    row.hidden = !shown || (!expanded && kept > SHOWN);
  }
  const heading = table().querySelector(".heading");
  if (heading) heading.hidden = bounds === 0;
  const more = stage.querySelector(".more");
  if (table().dataset.leftOut !== undefined) {
    // The others are on their way: nothing can be counted yet.
    if (expanded && more) more.textContent = "Loading\u2026";
    if (count) count.textContent = "Loading\u2026";
    return;
  }
  if (more) {
    more.hidden = expanded || kept <= SHOWN;
    more.textContent = `Show all ${kept} systems`;
  }
  stage.querySelector(".nothing").hidden = kept + bounds > 0;
  if (count) {
    const systems = all.filter((row) => row.dataset.bound === undefined).length;
    const [some, below] = [plural(systems, "system"), bounds ? `, ${plural(bounds, "bound")}` : ""];
    count.textContent = (kept === systems ? some : `${kept} of ${some}`) + below;
  }
}

function plural(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/* A year, month or day; anything else is marked as wrong and filters nothing. */
function date(name) {
  const value = (query[name] || "").trim();
  const right = /^\d{4}(-\d{2}){0,2}$/.test(value);
  const field = stage.querySelector(`[data-local=${name}]`);
  field?.setAttribute("aria-invalid", String(Boolean(value) && !right));
  return right ? value : "";
}

/* Dates are compared as far as both are known: 2018 is within 2018-03 and 2018-05. */
function within(row, from, to) {
  if (!from && !to) return true;
  const own = row.querySelector("td.date")?.dataset.value;
  if (!own) return false;
  const common = (date) => Math.min(date.length, own.length);
  const after = !from || own.slice(0, common(from)) >= from.slice(0, common(from));
  return after && (!to || own.slice(0, common(to)) <= to.slice(0, common(to)));
}

function applyColumns() {
  const hidden = list("hide");
  const all = headers();
  const off = all.filter((th) => th.dataset.key && hidden.includes(th.dataset.key));
  for (const row of [table().tHead.rows[1], ...rows()]) {
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
