/* What a click or a key changes. */

function afterTyping(action) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...args), 250);
  };
}

const showSoon = afterTyping(() => show());

/* Sorting and filtering happen here, on all rows; those of a table in windows are at the server. */
function rearrange(changes, here, { typed = false } = {}) {
  if (!table()?.dataset.window) {
    set(changes);
    return here();
  }
  set({ ...changes, p: "" });
  if (typed) showSoon();
  else show();
}

function arranged() {
  applySort();
  applyFilter();
}

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
  direction: ["setting", "systems", "system", "first", "second", "p", "hide"],
  setting: ["systems", "system", "first", "second", "p", "hide"],
  dataset: ["p"],
  metric: ["protocol", "p"],
  first: ["p"],
  second: ["p"],
  order: ["p"],
  text: ["p"],
};

function change(param, value) {
  const dropped = Object.fromEntries((DEPENDENT[param] ?? []).map((name) => [name, ""]));
  set({ ...dropped, [param]: value }, { push: ["direction", "first", "second", "p"].includes(param) });
}

/* A button says for a moment what became of it. */
function answer(button, text) {
  button.dataset.says ??= button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = button.dataset.says), 2000);
}

const ACTIONS = {
  fold(button) {
    button.setAttribute("aria-expanded", String(stage.classList.toggle("unfolded")));
  },
  sort(button) {
    const th = button.closest("th");
    const key = th.dataset.key;
    const now = th.getAttribute("aria-sort");
    const best = th.dataset.kind === "number" && th.dataset.higher === "1" ? "descending" : "ascending";
    rearrange({ sort: now === best ? `-${key}` : key }, arranged);
  },
  rank(button) {
    rearrange({ sort: button.value }, arranged);
  },
  signature: (button) => showSignature(button.closest("th")),
  close: () => dialog.close(),
  more() {
    expanded = true;
    applyFilter();
  },
  clear() {
    rearrange({ q: "", family: "", parallel: "", from: "", to: "" }, applyLocal);
  },
  theme() {
    dark = !dark;
    showTheme();
    localStorage.setItem("tstbench-theme", dark ? "dark" : "light");
  },
  async copy(button) {
    completeUrl();
    try {
      await navigator.clipboard.writeText(location.href);
      answer(button, "Copied");
    } catch (error) {
      answer(button, "Copy it from the address bar");
    }
  },
  download: (button) => save(button, () => ask("download", { query, form: button.value })),
  sources: (button) => save(button, () => ask("sources", { direction: form.elements.direction.value })),
  publish,
};

/* Save a file that the server makes: its name and text. */
async function save(button, made) {
  let file;
  try {
    file = await made();
  } catch (error) {
    return answer(button, error instanceof TypeError ? "The server did not answer" : "It is not here");
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: "text/plain" }));
  link.download = file.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/* The events: everything on the stage is replaced with each view, so the document listens. */

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-action], [data-link], [data-page], button[data-local]");
  for (const menu of stage.querySelectorAll("details.columns[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  if (event.target === dialog) dialog.close();
  if (!target) return;
  if (target.dataset.action) return ACTIONS[target.dataset.action]?.(target);
  if (target.dataset.page) {
    change("p", target.dataset.page);
    show({ focus: true });
    return stage.scrollIntoView({ block: "start" });
  }
  if (target.dataset.local === "family") {
    const chosen = new Set(list("family"));
    if (!chosen.delete(target.value)) chosen.add(target.value);
    return rearrange({ family: [...chosen].join(",") }, applyLocal);
  }
  if (target.dataset.link !== undefined) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    follow(target);
  }
});

document.addEventListener("input", ({ target }) => {
  if (SIMPLE.includes(target.dataset.local)) {
    rearrange({ [target.dataset.local]: target.value }, applyFilter, { typed: true });
  } else if (target.dataset.local === "columns") {
    const hidden = new Set(list("hide"));
    if (target.checked) hidden.delete(target.value);
    else hidden.add(target.value);
    set({ hide: [...hidden].join(",") });
    applyColumns();
  } else if (target.dataset.paramList) {
    const name = target.dataset.paramList;
    const boxes = stage.querySelectorAll(`[data-param-list="${name}"]:checked`);
    set({ [name]: [...boxes].map((box) => box.value).join("|"), p: "" });
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
