/* What a click or a key changes. */

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
    set({ sort: now === best ? `-${key}` : key });
    applySort();
    applyFilter();
  },
  rank(button) {
    set({ sort: button.value });
    applySort();
    applyFilter();
  },
  signature: (button) => showSignature(button.closest("th")),
  close: () => dialog.close(),
  more() {
    expanded = true;
    applyFilter();
  },
  clear() {
    set({ q: "", family: "", parallel: "", from: "", to: "" });
    applyLocal();
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
