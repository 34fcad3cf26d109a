// Shows the progress of an analysis and reloads the page when it ends.

import { poll, say } from "../site/polling.js";

const box = /** @type {HTMLElement} */ (document.getElementById("progress"));
const status = /** @type {HTMLElement} */ (document.getElementById("words"));
const bar = /** @type {HTMLProgressElement} */ (box.querySelector("progress"));

poll({
  address: () => /** @type {string} */ (box.dataset.progress),
  status,
  interval: () => 500,
  patience: 120,
  /** @param {{ active: boolean, progress: number, words: string }} now */
  show(now) {
    bar.value = now.progress;
    say(status, now.words);
    if (!now.active) location.reload();
    return now.active;
  },
});
