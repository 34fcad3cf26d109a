/*
 * The sheet of invitations: its codes are shown once, so nobody should leave it by accident.
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
