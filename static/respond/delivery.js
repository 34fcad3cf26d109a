/* Delivering reports: the same bytes again and again, until the site accepts or refuses them. */

import * as device from "./device.js";
import { sendReport } from "./protocol.js";

/**
 * @typedef {import("./protocol.js").Report} Report
 * @typedef {import("./protocol.js").Delay} Delay
 *
 * What to do at each turn; `elsewhere`: another tab has sent the report, or someone deleted it there.
 * @typedef {object} Turns
 * @property {() => void} elsewhere
 * @property {() => void} sending
 * @property {(problem: import("./protocol.js").Refusal) => void} refused
 * @property {(stored?: boolean) => void} done
 * @property {(why: Delay) => void} waiting
 */

const FIRST_PAUSE = 5_000; // milliseconds before the first automatic retry; doubled each time
const LONGEST_PAUSE = 60_000;

/**
 * Deliver a report. attempt() tries at once, and quietly if an automatic retry need not change the
 * screen. With `patient` false, the report is left to deliverOthers() after one attempt.
 *
 * @param {Report} report
 * @param {boolean} patient
 * @param {Turns} turns
 */
export function deliver(report, patient, turns) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry;
  /** @type {Delay | undefined} */
  let why;
  let [busy, ended, tries] = [false, false, 0];
  function end() {
    ended = true;
    clearTimeout(retry);
  }
  async function attempt(quiet = false) {
    if (busy || ended) return;
    if (!device.waiting().some(({ id }) => id === report.id)) return turns.elsewhere();
    busy = true;
    clearTimeout(retry);
    if (!quiet) turns.sending();
    const { stored, problem, again, wait } = await sendReport(report);
    if (stored || problem) device.drop(report.id);
    if (ended) return;
    busy = false;
    if (problem) return turns.refused(problem);
    if (stored || !patient) {
      end();
      return turns.done(stored);
    }
    const pause = Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE);
    tries += 1;
    retry = setTimeout(attempt, wait ? wait * 1000 : pause, true);
    if (quiet && why === again) return;
    why = /** @type {Delay} */ (again);
    turns.waiting(why);
  }
  addEventListener("online", () => why && attempt(true));
  return { attempt, end };
}

let busy = false;

/**
 * Send the reports that wait, except those of which `spared` is true.
 * @param {(report: Report) => boolean} spared
 */
export async function deliverOthers(spared) {
  if (busy) return;
  busy = true;
  for (const report of device.waiting()) {
    if (spared(report)) continue;
    const { stored, problem } = await sendReport(report);
    if (!stored && !problem) break;
    device.drop(report.id);
  }
  busy = false;
}
