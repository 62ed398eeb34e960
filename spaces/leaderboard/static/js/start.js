/* The start: the first view is already on the stage. */

function chosenTheme() {
  const stored = localStorage.getItem("tstbench-theme");
  return stored ? stored === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

document.documentElement.lang = "en";
document.body.dataset.view = page.dataset.view;
document.body.classList.toggle("dark", dark);

/* Gradio, once loaded, sets its own theme and title. */
new MutationObserver(() => {
  if (document.body.classList.contains("dark") !== dark) document.body.classList.toggle("dark", dark);
}).observe(document.body, { attributeFilter: ["class"] });
new MutationObserver(() => {
  if (document.title !== title) document.title = title;
}).observe(document.head, { subtree: true, childList: true, characterData: true });

/* Gradio reads the address too, later: it must not find its own names in old or mistyped links. */
const given = new URLSearchParams(location.search);
const unknown = query.view && query.view !== page.dataset.view;
if (unknown) delete query.view;
if (unknown || given.has("page") || given.has("deep_link")) writeUrl(false);

revealLink();
settle(JSON.parse(document.querySelector("#first").textContent));
