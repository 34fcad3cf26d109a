/*
 * The invitation sheet. Its codes are shown only once, so warn people who leave without printing.
 */

const print = /** @type {HTMLButtonElement} */ (document.querySelector("#print"));
let printed = false;

print.hidden = false;
print.addEventListener("click", () => window.print());
addEventListener("afterprint", () => {
  printed = true;
});
addEventListener("beforeunload", (event) => {
  if (!printed) event.preventDefault();
});
