/* What the page is and what it shows. All these files are one module, put together in their order
   by page.py. The server renders every view from the query parameters; sorting and filtering
   of rows happen here, on the rows that are there. Whatever comes from the server is markup that
   it escaped; whatever this script writes is text. */

const SHOWN = 50; // rows of a long table before "show all"; markup.py says the same
const AGAIN = 1500; // ms before asking for ranks that are still being computed

const page = document.querySelector(".page");
const stage = document.querySelector("#stage");
const dialog = document.querySelector("#facts");
let query = readUrl();
let expanded = false;
let turn = 0; // answers to older requests than this are dropped
let known = ""; // the revision of the results that is shown
let dark = chosenTheme();
