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
  if (SIMPLE.includes(target.dataset.local)) {
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
