// Keeps a dashboard up to date: the waiting count, the progress of a release, new releases, and the
// intervals that the reader chooses. The server computes every figure.

import { showCopyButtons } from "../site/clipboard.js";
import { edited, fetchPage, swap } from "../site/live.js";
import { poll, say } from "../site/polling.js";

/**
 * The server's description of a job and of the dashboard.
 *
 * @typedef {object} Job
 * @property {string} id
 * @property {"queued" | "running" | "done" | "failed" | "cancelled"} state
 * @property {number} progress
 * @property {{ release: number, new: number, crowd: number }} result
 * @property {string} error
 * @typedef {{ state: string, release: number, waiting: string, job: Job | null }} Status
 */

const POLL = 500; // milliseconds between requests during a release
const LOOK = 5_000; // and at other times
const PAUSE = 250; // milliseconds without a change before requesting other intervals

const box = /** @type {HTMLElement} */ (document.getElementById("job"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("choices"));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let asked = 0; // requests for other intervals

// --- Polling -------------------------------------------------------------------------------------

const status = /** @type {HTMLElement} */ (document.getElementById("job-status"));
const bar = /** @type {HTMLProgressElement} */ (document.getElementById("job-progress"));
let job = box?.dataset.job; // the job to follow

/** @param {Status} now */
async function show(now) {
  if (now.state !== box.dataset.state) location.reload(); // opened or closed
  else await update(now);
  return true;
}

/** @param {Status} now */
async function update(now) {
  // Fetch a new release, and figures that were still being computed.
  const later = document.querySelector("[data-later]");
  if (later || String(now.release) !== box.dataset.release) {
    if (!(await refresh())) return;
    box.dataset.release = String(now.release);
  }
  const waiting = document.getElementById("waiting");
  if (waiting) waiting.textContent = now.waiting;
  job = now.job?.id;
  if (!now.job) return;
  bar.value = now.job.progress;
  const active = now.job.state === "queued" || now.job.state === "running";
  bar.hidden = !active;
  const button = box.querySelector("button");
  if (button) button.disabled = active;
  say(status, words(now.job));
  if (!active) job = undefined;
}

/** @param {Job} job */
function words({ state, result, error }) {
  if (state === "queued") return "Waiting for a worker …";
  if (state === "running") return "Making a release …";
  if (state === "failed") return `The release failed. ${error}`;
  const { release, new: added, crowd } = result;
  if (added) return `Release ${release} is out, with ${added.toLocaleString("en")} new reports.`;
  return `Nothing new to release yet. Results change by at least ${crowd} responses at a time. The last ${crowd} or more responses always wait until the survey closes.`;
}

/* Fetch and swap the parts that depend on the release. */
async function refresh() {
  const number = asked;
  const page = await fetchPage(form ? address() : location.href);
  if (!page) return false;
  if (number !== asked) return true; // a newer choice fetches the same parts
  if (!form && page.getElementById("choices")) location.reload(); // the first release
  for (const field of fields("[data-default]")) {
    // The last release changes the default intervals.
    const fresh = page.getElementById(field.id)?.dataset.default ?? "";
    if (field.value === field.dataset.default) field.value = fresh;
    field.dataset.default = fresh;
  }
  swap(page);
  showCopyButtons();
  return true;
}

if (box) {
  poll({
    address: () => `${box.dataset.now}${job ? `?job=${job}` : ""}`,
    status,
    interval: () => (job ? POLL : LOOK),
    resting: () => document.hidden,
    show,
  });
}

// --- Choices -------------------------------------------------------------------------------------

/**
 * @param {string} selector
 * @returns {Iterable<HTMLInputElement | HTMLSelectElement>}
 */
function fields(selector) {
  return form?.querySelectorAll(selector) ?? [];
}

function address() {
  const chosen = new URLSearchParams();
  for (const { name, value, dataset } of fields("[name]")) {
    if (value && value !== dataset.default) chosen.set(name, value);
  }
  return `${form.getAttribute("action")}${chosen.size ? `?${chosen}` : ""}`;
}

async function choose() {
  const number = ++asked;
  const wanted = address();
  const page = await fetchPage(wanted);
  if (number !== asked) return; // a newer request is on its way
  if (page) {
    swap(page);
    showCopyButtons();
    history.replaceState(null, "", wanted);
  } else {
    /** @type {HTMLElement} */ (document.getElementById("why")).textContent = "The server is not responding.";
  }
}

if (form) {
  const range = /** @type {HTMLInputElement} */ (document.getElementById("forged-range"));
  const exact = /** @type {HTMLInputElement} */ (document.getElementById("forged"));
  range.hidden = false;
  /** @type {HTMLElement} */ (form.querySelector("button")).hidden = true; // Enter still works
  form.addEventListener("input", (event) => {
    if (event.target === range) exact.value = range.value;
    if (event.target === exact) range.value = exact.value;
    clearTimeout(timer);
    timer = setTimeout(choose, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    choose();
  });
  if (edited(form)) choose();
}
