// Shows the progress of a large file and the link to it once it is ready.

import { poll, say } from "../site/polling.js";

/**
 * The server's description of the job.
 *
 * @typedef {object} Job
 * @property {"queued" | "running" | "done" | "failed" | "cancelled"} state
 * @property {number} progress
 * @property {{ bytes: number }} result
 */

/** @param {string} name */
const part = (name) => /** @type {HTMLElement} */ (document.getElementById(`copy-${name}`));
const box = document.getElementById("copy");
const bar = /** @type {HTMLProgressElement} */ (part("progress"));

/** @param {Job} job */
function show({ state, progress, result }) {
  if (state === "failed" || state === "cancelled") location.reload();
  else if (state === "done") offer(result);
  else {
    bar.value = progress;
    say(part("status"), state === "queued" ? "Waiting for a worker …" : "Preparing …");
    return true;
  }
  return false;
}

/** @param {{ bytes: number }} result */
function offer({ bytes }) {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`;
  say(part("status"), `Ready: ${size}.`);
  bar.hidden = true;
  part("cancel").hidden = true;
  part("file").hidden = false;
}

if (box) {
  part("again").hidden = true;
  poll({
    address: () => /** @type {string} */ (box.dataset.job),
    status: part("status"),
    interval: () => 1000,
    show,
  });
}
