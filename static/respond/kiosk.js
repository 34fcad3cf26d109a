/* A shared device: the page starts again when nobody is there. */

import { idleWarning } from "./screens/after.js";

export const kiosk = new URLSearchParams(location.search).has("kiosk");

const WARNING = 40_000; // milliseconds without input before the page asks
const IDLE = 60_000; // and before it forgets everything

/** @type {ReturnType<typeof setTimeout>[]} */
let timers = [];
/** @type {HTMLDialogElement | null} */
let warning = null;
/** @type {() => void} */
let restart = () => {};

/**
 * Call `begin` when a person has left; `taken` says whether there is a visit.
 * @param {() => void} begin
 * @param {() => boolean} taken
 */
export function watchKiosk(begin, taken) {
  restart = begin;
  const signs = ["pointerdown", "touchmove", "wheel", "keydown", "click", "change"];
  for (const sign of signs) addEventListener(sign, stay, { capture: true, passive: true });
  // A sleeping device stops the timers. A page that was left is hidden too, but has already forgotten
  // the visit: restarting it would lead back to it.
  addEventListener("visibilitychange", () => document.hidden && taken() && begin());
}

/**
 * Someone is there. A finger on the screen hides the warning only after the tap.
 * @param {{ type?: string }} [event]
 */
export function stay({ type } = {}) {
  timers.forEach(clearTimeout);
  timers = [setTimeout(warn, WARNING), setTimeout(restart, IDLE)];
  if (type === "click" || type === "keydown") endWarning();
}

function warn() {
  warning = idleWarning({ seconds: (IDLE - WARNING) / 1000 });
  document.body.append(warning);
  warning.showModal();
}

function endWarning() {
  warning?.close();
  warning?.remove();
  warning = null;
}

/**
 * Restart after this time without input.
 * @param {number} [milliseconds]
 */
export function rest(milliseconds = IDLE) {
  timers.forEach(clearTimeout);
  timers = [setTimeout(restart, milliseconds)];
}

export function endTimers() {
  timers.forEach(clearTimeout);
  timers = [];
  endWarning();
}
