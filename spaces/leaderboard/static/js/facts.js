/* A signature in a dialog. */

function openFacts(title, lead, facts) {
  dialog.querySelector("h2").textContent = title;
  dialog.querySelector("p").textContent = lead;
  const entries = facts.filter(([, value]) => value);
  dialog.querySelector("dl").replaceChildren(
    ...entries.flatMap(([name, value]) => {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      return [term, text];
    }),
  );
  dialog.showModal();
}

function showSignature(th) {
  const signature = th.dataset.signature;
  const [metric, ...fields] = signature.split("|");
  const facts = fields.map((field) => {
    const at = field.indexOf(":");
    return [field.slice(0, at), field.slice(at + 1)];
  });
  const title = th.querySelector(".sort span").textContent;
  const lead = th.dataset.meaning ? `${th.dataset.meaning}.` : "";
  const madeWith = (th.dataset.madeWith || "").split("\n").filter(Boolean);
  openFacts(`${title}: signature`, lead, [
    ["metric", metric],
    ...facts,
    ["as one line", signature],
    ...madeWith.map((versions) => ["made with", versions.replaceAll("|", ", ").replaceAll(":", " ")]),
  ]);
}
