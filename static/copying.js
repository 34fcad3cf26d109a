// Follows the job that makes a large file, and offers the file when it is there.

const POLL = 1000; // milliseconds between two looks

const box = /** @type {HTMLElement} */ (document.getElementById("copy"));
/** @param {string} name */
const part = (name) => /** @type {HTMLElement} */ (document.getElementById(`copy-${name}`));
const bar = /** @type {HTMLProgressElement} */ (part("progress"));
/** @param {number} time */
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

async function follow() {
  part("again").hidden = true;
  for (;;) {
    const response = await fetch(/** @type {string} */ (box.dataset.job)).catch(() => null);
    const job = response?.ok ? await response.json().catch(() => null) : null;
    if (!job) say("The server does not answer just now; still trying …");
    else if (job.state === "failed" || job.state === "cancelled") return location.reload();
    else if (job.state === "done") return offer(job.result);
    else {
      bar.value = job.progress;
      say(job.state === "queued" ? "Waiting for a worker …" : "Being made …");
    }
    await pause(POLL);
  }
}

/**
 * Only what is new, so that nothing is read aloud twice.
 * @param {string} text
 */
function say(text) {
  if (part("status").textContent !== text) part("status").textContent = text;
}

/** @param {{ bytes: number }} result */
function offer({ bytes }) {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`;
  say(`Ready: ${size}.`);
  bar.hidden = true;
  part("cancel").hidden = true;
  part("file").hidden = false;
}

if (box) follow();
