/* The start: the first view is already on the stage. */

/* As was chosen here, or as Hugging Face's pages ask for, or as the system is. */
function chosenTheme() {
  const theme = localStorage.getItem("tstbench-theme") ?? new URLSearchParams(location.search).get("__theme");
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

showTheme();
if (query.view && query.view !== page.dataset.view) {
  delete query.view; // there is no such view
  writeUrl(false);
}
revealLink();
const { pending, revision } = stage.dataset;
settle({ title: "", pending: pending !== undefined, revision });
