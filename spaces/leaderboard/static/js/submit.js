/* The form: what is sent, and how far it is; nothing is published before its sender says so. */

const AGAIN_SCORED = 500; // ms before asking how far it is
const MOST = 1 << 20; // bytes of a file; submission.py says the same
const form = page.querySelector("#submit form");
let ticket = "";
let sent = 0; // answers to older forms than this are dropped

/* The view opens on the direction of the link, if that can be submitted to. */
function followDirection() {
  const field = form?.elements.direction;
  if (!field || query.view !== "submit" || field.value === query.direction) return;
  if (![...field.options].some(({ value }) => value === query.direction)) return;
  field.value = query.direction;
  chosenDirection();
}

function chosenDirection() {
  const [chosen] = form.elements.direction.selectedOptions;
  form.querySelector("[data-action=sources]").hidden = chosen.dataset.licensed !== undefined;
  confirmFirst(false);
}

/* What was confirmed was another file. */
function confirmFirst(shown) {
  form.querySelector("#confirmed").hidden = !shown;
  if (!shown) form.elements.confirmed.checked = false;
}

function showAnswer({ html, scored, doubtful }) {
  form.querySelector("#preview").innerHTML = html;
  form.querySelector("#publish").disabled = !scored;
  if (doubtful) confirmFirst(true);
}

function refuse(text) {
  form.querySelector("#publish").disabled = true;
  say(text, form.querySelector("#preview"));
}

function lost() {
  refuse("The server did not answer. Is it still running? Try again.");
}

async function send() {
  const mine = ++sent;
  const [file] = form.elements.file.files;
  if (file?.size > MOST) return refuse(`The file has ${(file.size / MOST).toFixed(1)} MiB; the limit is 1 MiB.`);
  form.querySelector("#preview").textContent = ""; // what was said about the file before
  form.querySelector("#publish").disabled = true;
  try {
    const response = await fetch("leaderboard/submit", { method: "POST", body: new FormData(form) });
    let told = await response.json();
    const own = told.ticket;
    while (mine === sent) {
      ticket = own;
      showAnswer(told);
      if (!told.open) return;
      await new Promise((done) => setTimeout(done, AGAIN_SCORED));
      told = await ask("look", { ticket: own });
    }
  } catch (error) {
    if (mine === sent) lost();
  }
}

async function publish() {
  form.querySelector("#publish").disabled = true; // once is enough
  const mine = sent;
  const told = await ask("add", { ticket }).catch(() => null);
  if (mine !== sent) return;
  if (told) showAnswer(told);
  else lost();
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  form.elements.file.addEventListener("change", () => confirmFirst(false));
  form.elements.direction.addEventListener("change", chosenDirection);
  chosenDirection();
}
