// Who is here? Shows the rater's screens or the owner's page.

import { announce, call, complain, el, followTheme, hasKey, show } from "./dom.js";
import { startRating } from "./rate.js";
import { showOwner } from "./owner.js";

followTheme();

function message(title, text) {
  show(el("section", { class: "sheet" }, el("h1", {}, title), el("p", {}, text)));
  announce(`${title}. ${text}`);
}

async function start() {
  if (!hasKey) {
    try {
      await call("enter");
    } catch (error) {
      const unset = error.message.startsWith("No study");
      const link = "You need a personal link to open this page. Ask the study's owner for yours.";
      message(unset ? "No study here yet" : "You need your link", unset ? error.message : link);
    }
    return;
  }
  try {
    const who = await call("enter");
    document.title = `${who.study} · TSTBench annotation`;
    if (who.role === "owner") await showOwner();
    else await startRating(who);
  } catch (error) {
    message("Something went wrong", error.message);
  }
}

addEventListener("unhandledrejection", (event) => complain(event.reason));
addEventListener("error", () => complain(null));
start();
