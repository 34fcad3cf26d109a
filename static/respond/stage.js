/*
 * Where a visit is: its places in the browser's history, and whether anybody is still there.
 *
 * The history has one constant address, so that the Back button works, and holds no answer. A place is
 * {at, depth, returns}: at is a step (as many as there are steps is the review) or the name of a
 * screen behind the opening, depth the number of history entries below, and returns whether to go
 * back to the review. The opening is null. A follow-up that is not asked has an entry as well, which
 * is passed by, so that no answer decides which entries there are.
 */

/** @typedef {{ at: number | string, depth: number, returns: boolean }} Place */

history.scrollRestoration = "manual"; // every screen starts at the top

let leaving = false; // going back in the history; a double tap must not go twice
let deepest = 0; // how many entries belong to this visit
let shown = 0; // the entry that was shown last

/* A new visit: entries of earlier ones lead nowhere any more. */
export function restart() {
  deepest = shown = 0;
}

/**
 * Make the place, and those on the way to it, and return it.
 * @param {number | string} at
 * @param {boolean} [returns]
 * @returns {Place}
 */
export function advance(at, returns = false) {
  const { at: from, depth = 0 } = history.state ?? {};
  const entries = returns || Number.isNaN(Number(at) - from) ? 1 : Number(at) - from;
  for (let i = 1; i <= entries; i++) {
    const place = i < entries ? Number(at) - entries + i : at;
    history.pushState({ at: place, depth: depth + i, returns }, "");
  }
  deepest = depth + entries;
  return history.state;
}

/**
 * Note that a place is shown. Returns whether the person came to it by going forward.
 * @param {Place | null} place
 */
export function arrive(place) {
  const depth = place?.depth ?? 0;
  const forward = depth > shown && depth < deepest;
  shown = depth;
  return forward;
}

/**
 * Remove history entries that no longer lead anywhere.
 * @param {number} [entries]
 */
export function unwind(entries = history.state?.depth ?? 0) {
  if (leaving || !entries) return;
  leaving = true;
  history.go(-entries);
}

/**
 * Call `show` with the place that the browser's buttons lead to, while there are answers.
 * @param {() => boolean} ready
 * @param {(place: Place | null) => void} show
 */
export function onMove(ready, show) {
  addEventListener("popstate", ({ state }) => {
    leaving = false;
    if (!ready()) return;
    // Forward still leads to places of an earlier visit, past questions that are unanswered now.
    const beyond = (state?.depth ?? 0) - deepest;
    if (beyond > 0) unwind(beyond);
    else show(state);
  });
  addEventListener("pageshow", () => {
    leaving = false;
  });
}

/* --- A kiosk: a shared device, where the page starts again when nobody is there -------------------- */

export const kiosk = new URLSearchParams(location.search).has("kiosk");

const WARNING = 40_000; // milliseconds without input before the page asks
const IDLE = 60_000; // and before it forgets everything

/** @type {ReturnType<typeof setTimeout>[]} */
let timers = [];
/** @type {HTMLDialogElement | null} */
let warning = null;
/** @type {() => void} */
let leave = () => {};
/** @type {(view: { seconds: number }) => HTMLDialogElement} */
let ask;

/**
 * Call `begin` when a person has left, after `dialog` has asked; `taken` says whether there is a
 * visit.
 *
 * @param {() => void} begin
 * @param {() => boolean} taken
 * @param {(view: { seconds: number }) => HTMLDialogElement} dialog
 */
export function watchKiosk(begin, taken, dialog) {
  [leave, ask] = [begin, dialog];
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
  timers = [setTimeout(warn, WARNING), setTimeout(leave, IDLE)];
  if (type === "click" || type === "keydown") endWarning();
}

function warn() {
  warning = ask({ seconds: (IDLE - WARNING) / 1000 });
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
  timers = [setTimeout(leave, milliseconds)];
}

export function endTimers() {
  timers.forEach(clearTimeout);
  timers = [];
  endWarning();
}
