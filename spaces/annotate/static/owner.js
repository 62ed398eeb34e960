// The owner's page: progress, agreement, means, remarks, export.

import { byId, call, complain, el, plural, show } from "./dom.js";

const number = (value) => (value === null ? "–" : value.toFixed(2));
const range = (interval) => (interval ? ` [${number(interval.low)}, ${number(interval.high)}]` : "");

export async function showOwner() {
  const study = await call("overview");
  const statistics = el("div", {}, el("p", { class: "muted" }, "Computing…"));
  show(
    el(
      "article",
      { class: "owner" },
      el(
        "div",
        { class: "head" },
        el("div", {}, el("h1", {}, study.study), facts(study)),
        el("button", { type: "button", class: "main", onclick: () => download(study.study).catch(complain) }, "Export judgments (JSONL)"),
      ),
      section("Progress", progress(study.progress)),
      statistics,
      section("Skipped, flagged and commented", remarks(study.remarks)),
    ),
  );
  try {
    statistics.replaceChildren(...statisticsSections(await call("statistics"), study.bounds));
  } catch (error) {
    statistics.replaceChildren(el("p", { class: "notice", role: "alert" }, error.message));
  }
}

function facts(study) {
  const size = `${plural(study.items, "output")} to judge, ${study.per_system} for each of ${plural(study.systems.length, "system")} and ${plural(study.directions.length, "direction")}`;
  const references = study.references_shown ? "raters see the references" : "raters do not see the references";
  return el("p", { class: "facts" }, `${size}; ${references}; seed ${study.seed}; frozen as `, el("code", {}, study.fingerprint.slice(0, 12)));
}

function section(title, content) {
  return el("section", {}, el("h2", {}, title), content);
}

/** `apart` are the rows of bounds, in a block of their own below the others. */
function table(caption, heads, rows, apart = []) {
  const cell = (tag, content, type) => el(tag, { class: type, scope: tag === "th" ? "col" : null }, content);
  const head = heads.map(([text, type]) => cell("th", text, type));
  const body = (some) => some.map((row) => el("tr", {}, row.map((content, i) => cell("td", content, heads[i][1]))));
  const title = el("tr", {}, el("th", { class: "apart", scope: "rowgroup", colspan: heads.length }, "bounds: not ranked"));
  const below = apart.length ? el("tbody", {}, title, body(apart)) : null;
  const node = el("table", {}, el("thead", {}, el("tr", {}, head)), rows.length ? el("tbody", {}, body(rows)) : null, below);
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption || "table" }, node);
  return el("div", {}, caption ? el("p", { class: "caption" }, caption) : null, scroll); // a caption does not scroll
}

function progress(rows) {
  const heads = [["Rater"], ["Exported as"], ["Answered"], ["Skipped", "number"], ["Flagged", "number"], ["Last answer"]];
  const bar = (row) => {
    const fill = el("div", { class: "fill" });
    fill.style.width = `${(100 * row.done) / row.total}%`;
    return [el("span", { class: "track", "aria-hidden": "true" }, fill), ` ${row.done} of ${row.total}`];
  };
  const cells = rows.map((row) => [row.name, row.rater, bar(row), String(row.skipped), String(row.flagged), row.last ? row.last.replace("T", " ").replace("Z", " UTC") : "–"]);
  return table("", heads, cells);
}

function coefficient({ value, interval }) {
  return [number(value), el("span", { class: "range" }, range(interval))];
}

function statisticsSections(statistics, bounds) {
  if (!statistics.agreement.length) return [section("Agreement", el("p", { class: "muted" }, "There are no answers yet."))];
  const heads = [["Aspect"], ["Krippendorff’s α", "number"], ["outputs", "number"], ["Fleiss’ κ", "number"], ["outputs", "number"]];
  const cells = (row) => [statistics.titles[row.aspect], coefficient(row.alpha), String(row.alpha.items), coefficient(row.kappa), String(row.kappa.items)];
  const note = (raters) => `α: outputs scored by two or more raters, at the scale’s level. κ: outputs scored by every rater who has scored any here (${raters}), scores unordered. 95% intervals, from ${statistics.fewest} outputs on: bootstrap over outputs, ${statistics.resamples} resamples.`;
  const directions = [...new Set(statistics.agreement.map((row) => row.direction))];
  const agreement = directions.map((direction) => {
    const here = statistics.agreement.filter((row) => row.direction === direction);
    return section(`Agreement, ${direction ?? "all directions pooled"}`, table(note(Math.max(...here.map((row) => row.raters.length))), heads, here.map(cells)));
  });
  return [...agreement, ...means(statistics, bounds)];
}

function means({ means: rows, titles, fewest }, bounds) {
  const aspects = Object.keys(titles).filter((name) => rows.some((row) => row.aspect === name));
  const directions = [...new Set(rows.map((row) => row.direction))];
  return directions.map((direction) => {
    const here = rows.filter((row) => row.direction === direction);
    const systems = [...new Set(here.map((row) => row.system))].sort();
    const cells = (system) => [
      system,
      ...aspects.map((aspect) => {
        const row = here.find((r) => r.system === system && r.aspect === aspect);
        return row ? [number(row.mean), el("span", { class: "range" }, range(row.interval))] : "–";
      }),
      String(Math.max(...here.filter((r) => r.system === system).map((r) => r.items))),
    ];
    const competing = systems.filter((system) => !bounds.includes(system));
    const apart = systems.filter((system) => bounds.includes(system));
    const heads = [["System"], ...aspects.map((aspect) => [titles[aspect], "number"]), ["outputs", "number"]];
    return section(`Mean scores, ${direction}`, table(`Mean over outputs of the mean over raters; 95% bootstrap interval from ${fewest} outputs on.`, heads, competing.map(cells), apart.map(cells)));
  });
}

function remarks(rows) {
  if (!rows.length) return el("p", { class: "muted" }, "None.");
  const heads = [["Rater"], ["What"], ["Comment", "words"], ["Output", "words"], ["Direction"]];
  return table("", heads, rows.map((row) => [row.rater, row.kind, row.comment || "–", row.output, row.direction]));
}

async function download(name) {
  const jsonl = await call("export");
  const url = URL.createObjectURL(new Blob([jsonl], { type: "application/jsonl" }));
  const link = el("a", { href: url, download: `${name.replace(/[^\w-]+/g, "-")}.jsonl` });
  link.click();
  URL.revokeObjectURL(url);
  byId("status").textContent = "The export has been downloaded.";
}
