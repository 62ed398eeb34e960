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
