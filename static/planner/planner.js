// Updates the plan while numbers are typed: fetches the page for the new address and replaces the
// parts that depend on the numbers. Fields keep their focus.

import { edited } from "../site/live.js";

const PAUSE = 250; // milliseconds without a change before the request

const form = /** @type {HTMLFormElement} */ (document.getElementById("terms"));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let asked = 0;

/** @type {() => NodeListOf<HTMLInputElement>} */
const fields = () => form.querySelectorAll("input[id], textarea[id]");

function address() {
  const terms = /** @type {string[][]} */ ([...new FormData(form)]);
  return `${form.getAttribute("action")}?${new URLSearchParams(terms)}`;
}

async function plan() {
  const number = ++asked;
  const wanted = address();
  const response = await fetch(wanted).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (number !== asked) return; // a newer request is on its way
  if (!response || !text) {
    /** @type {HTMLElement} */ (document.getElementById("answer")).textContent = "The server is not responding.";
  } else if (!response.ok || response.redirected) {
    location.assign(wanted); // probably logged out
  } else {
    show(new DOMParser().parseFromString(text, "text/html"));
    history.replaceState(null, "", wanted);
  }
}

/** @param {Document} page */
function show(page) {
  const nothing = page.getElementById("outcome")?.childElementCount === 0;
  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll("[data-live]");
  for (const old of parts) {
    // Keep the last plan, greyed out, while a number is incomplete.
    if (old.id === "outcome") {
      old.classList.toggle("stale", nothing);
      old.inert = nothing;
      if (nothing) continue;
    }
    const fresh = /** @type {HTMLElement} */ (page.getElementById(old.id));
    // Unchanged parts stay, so that nothing is read aloud twice.
    if (fresh.innerHTML !== old.innerHTML) old.replaceChildren(...fresh.childNodes);
  }
  for (const field of fields()) {
    const fresh = /** @type {HTMLInputElement} */ (page.getElementById(field.id));
    field.toggleAttribute("data-found", "found" in fresh.dataset);
    if ("found" in fresh.dataset) field.value = fresh.value;
    if (fresh.hasAttribute("aria-invalid")) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
  lock();
}

/* The number to find cannot be typed. (Without script it can, for the next plan.) */
function lock() {
  for (const field of fields()) field.readOnly = "found" in field.dataset;
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(plan, PAUSE);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  plan();
});

/** @type {HTMLElement} */ (form.querySelector("button")).hidden = true; // Enter still works
lock();
if (edited(form)) plan();
