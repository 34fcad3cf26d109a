/*
 * The respondent's page, from loading a survey to sending the report.
 *
 * The answers exist only in `visit`, in the memory of this module: no storage, no cookie, no changing
 * address, no request before the last tap. They are dropped as soon as the report is built, and the
 * whole visit when the page is left. Chance acts once: a retry sends the same bytes.
 */

import { entrance, exchange, isOf, readInvitation, solve, takeFragment } from "./access.js";
import * as device from "./device.js";
import { kindOf } from "./kinds/index.js";
import { offerLanguages, resetLanguage } from "./language.js";
import { practiceDesign, reportTotal, tryOut } from "./odds.js";
import { fetchSurvey, newId, reportBody, sendReport } from "./protocol.js";
import { choose, randomize, secureDraw } from "./randomizer.js";
import * as screens from "./screens.js";
import { answersOf, dropUnasked, firstMissing, isKept, planSteps, progressOf, stepsAsked } from "./steps.js";
import { contentIn, language, words } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
const home = new URL("./", import.meta.url).href;
const program = new URL("./randomizer.js", import.meta.url).href;
const slug = location.pathname.match(/\/s\/([\w-]+)\/?$/)?.[1] ?? "";
const kiosk = new URLSearchParams(location.search).has("kiosk"); // a shared device

/**
 * @typedef {import("./protocol.js").Report} Report
 * @typedef {import("./protocol.js").Survey} Survey
 * @typedef {import("./steps.js").Step} Step
 * @typedef {ReturnType<typeof setTimeout> | undefined} Timer
 * @typedef {import("./access.js").Entry} Entry
 * @typedef {{ at: number, depth: number, returns: boolean }} Place
 * @typedef {import("./steps.js").Given} Answers
 * @typedef {import("./access.js").Refused} Refused
 */

const DOUBLE_TAP = 400; // milliseconds, at most, between the two taps of a double tap
const LOADING_DELAY = 400; // milliseconds before the page says that it is loading

/**
 * Everything that this page knows about one visit.
 *
 * @typedef {object} Visit
 * @property {Survey} survey  the definition, as the server gave it
 * @property {boolean} another  whether this person knows that someone else has answered on this
 *   device
 * @property {Step[]} steps  the questions of the blocks that chance picked, then the background ones
 * @property {number} deepest  how many entries of the browser's history belong to this visit
 * @property {number} depth  the entry that was shown last
 * @property {Answers | null} answers  null once the report is built
 * @property {Entry & Refused} entry  by invitation: a code or a pass
 * @property {string} [id]  of the report, if it needs a proof of work
 * @property {ReturnType<typeof solve>} [work]  the promise of its result
 * @property {string | null} [nonce]  its result
 * @property {import("./screens.js").Practice | null} practice  once it was tried
 * @property {Report | null} report  once it is built
 * @property {boolean} [resumed]  whether an earlier visit built the report
 * @property {import("./protocol.js").Delay | null} [again]  why the last attempt failed, while
 *   the report waits
 * @property {boolean} [busy]
 * @property {number} [tries]
 */

/**
 * @typedef {Visit & { answers: Answers }} Asked
 * @typedef {Visit & { report: Report }} Sent
 * @typedef {Sent & { again: import("./protocol.js").Delay }} Waiting
 * @type {Visit | null}
 */
let visit = null;

/** @param {boolean} [another] */
async function begin(another = false) {
  forget();
  unwind();
  const mine = (visit = /** @type {Visit} */ ({}));
  if (kiosk) await resetLanguage();
  if (visit !== mine) return; // left or restarted in the meantime
  if (typeof globalThis.crypto?.getRandomValues !== "function") return stop("generator");
  if (!slug) return stop("missing");
  sendOthers();
  if (!kiosk && !another) {
    const report = device.waiting().find((one) => one.slug === slug);
    if (report) return resume(report);
    if (device.answered(slug)) return showAnswered();
  }
  slow = setTimeout(show, LOADING_DELAY, screens.loading);
  const { survey, problem } = await definition();
  if (visit !== mine) return;
  clearTimeout(slow);
  if (problem) return stop(problem);
  const { problem: barred, ...entry } = await entrance(survey, kiosk);
  if (visit !== mine) return;
  if (barred) return stop(barred);
  try {
    const steps = planSteps(survey.design, choose(survey.design, secureDraw), secureDraw);
    /** @type {Answers} */
    const answers = new Map();
    const history = { deepest: 0, depth: 0 };
    visit = { survey, another, steps, ...history, answers, entry, practice: null, report: null };
    if (survey.design.work) beginWork();
    render(null);
  } catch {
    return stop("outdated"); // the randomizer refuses this design
  }
  if (!kiosk && !another) device.askOtherTabs(slug);
}

/** @type {Timer} */
let slow; // the timer of the loading screen
const isTest = /^test-\d+-\d{5}-[0-9a-f]{40}$/.test(slug); // a draft's preview: nothing is kept
/** @type {ReturnType<typeof fetchSurvey> | null} */
let early = fetchSurvey(); // the shell began it; awaited once
/** @type {Survey | null} */
let known = null; // the last definition, for a kiosk without a network

/** @returns {ReturnType<typeof fetchSurvey>} */
async function definition() {
  if (kiosk && known && !navigator.onLine) return { survey: known };
  const answer = await (early ?? fetchSurvey());
  early = null;
  if (kiosk && known && answer.problem === "offline") return { survey: known };
  known = answer.survey ?? null;
  return answer;
}

/* The proof of work is made while the person reads, and does not depend on what they do. */
function beginWork() {
  const mine = /** @type {Visit} */ (visit);
  const { hash, work } = mine.survey.design;
  if (!globalThis.crypto?.subtle) throw new Error("no digest here");
  mine.id = newId();
  mine.work = solve(hash, mine.id, /** @type {number} */ (work), () => visit === mine);
}

/* --- Moving about ------------------------------------------------------------------------------
 *
 * A place is {at, depth, returns}: at is the step (steps.length is the review, -1 the practice
 * question), depth the number of history entries below, and returns whether to go back to the
 * review. Places are history entries under one constant address, so that the browser's Back works.
 * They hold no answer. A follow-up that is not asked has an entry as well, which is passed by, so
 * that no answer decides which entries there are.
 */

const PRACTICE = -1;

history.scrollRestoration = "manual"; // every screen starts at the top

let leaving = false; // going back in the history; a double tap must not go twice

/** @param {number} at @param {boolean} [returns] */
function advance(at, returns = false) {
  const { at: from = at - 1, depth = 0 } = history.state ?? {};
  const entries = returns ? 1 : at - from;
  for (let i = 1; i <= entries; i++) {
    history.pushState({ at: at - entries + i, depth: depth + i, returns }, "");
  }
  if (visit) visit.deepest = depth + entries;
  if (kiosk) idle();
  render(history.state);
}

function retreat() {
  unwind(1);
}

/**
 * Remove history entries that no longer lead anywhere.
 * @param {number} [entries]
 */
function unwind(entries = history.state?.depth ?? 0) {
  if (leaving || !entries) return;
  leaving = true;
  history.go(-entries);
}

addEventListener("popstate", ({ state }) => {
  leaving = false;
  if (!visit?.answers || visit.busy) return;
  // Forward still leads to places of an earlier visit, past questions that are unanswered now.
  const beyond = (state?.depth ?? 0) - visit.deepest;
  if (beyond > 0) unwind(beyond);
  else render(state);
});

/** @param {Place | null} place */
function render(place) {
  const mine = /** @type {Asked} */ (visit);
  const { survey, steps, answers, entry } = mine;
  const depth = place?.depth ?? 0;
  const forward = depth > mine.depth && depth < mine.deepest;
  mine.depth = depth;
  if (!place && survey.design.passes && !entry.code && !entry.pass) return showCode();
  if (!place) return showOpening();
  const { at, returns } = place;
  if (at === PRACTICE) return showPractice();
  const missing = firstMissing(steps, answers);
  if (missing && steps.indexOf(missing) < at) return ask(missing, true, () => render(place));
  if (at >= steps.length) return showReview();
  if (!stepsAsked(steps, answers).includes(steps[at])) return unwind(forward ? -1 : 1);
  ask(steps[at], returns, returns ? retreat : () => advance(nextStep(at)));
}

/**
 * The place of the next question that is asked, or of the review.
 * @param {number} at
 */
function nextStep(at) {
  const { steps, answers } = /** @type {Asked} */ (visit);
  const next = stepsAsked(steps, answers).find((step) => steps.indexOf(step) > at);
  return next ? steps.indexOf(next) : steps.length;
}

/** @param {Step} step @param {boolean} returns @param {() => void} next */
function ask(step, returns, next) {
  const { survey, steps, answers } = /** @type {Asked} */ (visit);
  show(() =>
    screens.question({
      step,
      content: isKept(step) ? contentIn(language, survey).question(step) : fillerTexts(step),
      design: survey.design,
      ...progressOf(steps, answers, step),
      given: answers.get(step),
      choose(answer) {
        if (answer === undefined) answers.delete(step);
        else if (isKept(step)) answers.set(step, answer);
      },
      moves: {
        returns,
        back: retreat,
        next() {
          dropUnasked(steps, answers);
          next();
        },
      },
    }),
  );
}

/** @param {Step} step */
function fillerTexts({ filler = 0 }) {
  const { fillers } = words.asking;
  const [text, ...options] = [fillers[filler % fillers.length], words.no, words.yes];
  return { text, lang: language, options: options.map((one) => ({ text: one, lang: language })) };
}

function showOpening() {
  const { survey, steps } = /** @type {Visit} */ (visit);
  show(() =>
    screens.opening({
      survey,
      content: contentIn(language, survey),
      steps,
      program: kiosk ? null : program, // a kiosk must not open other pages
      start: enter,
      practise: () => advance(PRACTICE),
      openLedger: !kiosk && device.ledger() && (() => showLedger(showOpening)),
    }),
  );
}

/* Each tap runs the real randomizer a hundred times. Nothing of it is sent or stored. */
function showPractice() {
  const mine = /** @type {Visit} */ (visit);
  const { survey } = mine;
  const design = practiceDesign(survey.design);
  /** @param {number} answer */
  const tap = (answer) => {
    const [own, theirs] = [answer, 1 - answer].map((one) => tryOut(design, one, secureDraw));
    mine.practice = { answer, mine: own, theirs };
    draw(false);
    const outcome = /** @type {HTMLElement} */ (root.querySelector(".tries"));
    outcome.focus({ preventScroll: true });
    outcome.scrollIntoView({ block: "nearest" });
  };
  show(() =>
    screens.practice({
      design: survey.design,
      tapped: mine.practice,
      tap,
      back: retreat,
      start: enter,
    }),
  );
}

/* Without a link, people type their code or paste the link. entry.wrong is the problem with the last. */
function showCode() {
  const mine = /** @type {Visit} */ (visit);
  const { survey, entry } = mine;
  /** @param {string} typed */
  const keep = (typed) => {
    entry.typed = typed;
  };
  /** @param {string} typed */
  const enterCode = (typed) => {
    const found = readInvitation(typed);
    mine.entry = { ...found, typed };
    if ("wrong" in found) return showCode();
    if (!isOf(survey.design, found.design)) return stop("otherDesign");
    if (!kiosk) device.noteCode({ slug, ...found });
    showOpening();
  };
  const another = () => {
    mine.entry = { typed: entry.typed };
    showCode();
  };
  show(() => {
    const content = contentIn(language, survey);
    if (entry.wrong === "usedCode") return screens.usedCode({ content, another });
    return screens.code({ content, why: entry.wrong, typed: entry.typed, keep, enter: enterCode });
  });
}

/* Go to the first question. By invitation, fetch the pass now and not earlier. */
async function enter() {
  const mine = /** @type {Visit} */ (visit);
  const { survey, entry } = mine;
  if (mine.busy) return;
  if (!survey.design.passes || entry.pass?.signature) return advance(0);
  mine.busy = true;
  show(screens.fetching);
  const { pass, problem } = await exchange(survey, /** @type {string} */ (entry.code), kiosk);
  if (visit !== mine) return;
  mine.busy = false;
  if (problem === "unknown" || problem === "usedCode") {
    device.dropCode(slug);
    mine.entry = { wrong: problem, typed: entry.typed ?? entry.code ?? undefined };
    unwind();
    return showCode();
  }
  if (problem) return stop(problem);
  mine.entry = { pass };
  advance(0);
}

function showReview() {
  const { survey, steps, answers } = /** @type {Asked} */ (visit);
  show(() => {
    const content = contentIn(language, survey);
    const none = [{ text: words.asking.none }];
    const lines = stepsAsked(steps, answers).filter(isKept).map((step) => {
      const question = content.question(step);
      const said = kindOf(step.question).say(step.question, question, answers.get(step));
      const { background } = step.block;
      const change = () => advance(steps.indexOf(step), true);
      return { question, answer: said.length ? said : none, background, change };
    });
    return screens.review({ lines, back: retreat, send });
  });
}

/* --- Sending ---------------------------------------------------------------------------------- */

const FIRST_PAUSE = 5_000; // milliseconds before the first automatic retry; doubled each time
const LONGEST_PAUSE = 60_000;

async function send() {
  const mine = /** @type {Visit} */ (visit);
  if (mine.report || mine.busy) return;
  if (mine.work) {
    mine.busy = true;
    show(() => screens.sending({ work: true }));
    mine.nonce = await mine.work;
    if (visit !== mine) return;
    mine.busy = false;
  }
  try {
    mine.report = buildReport(/** @type {Asked} */ (mine));
  } catch {
    return stop("broken"); // the generator failed, so nothing may be sent
  }
  mine.answers?.clear();
  mine.answers = mine.practice = null;
  device.keep(mine.report);
  if (mine.entry.pass) device.dropPass(mine.entry.pass.prepared);
  device.dropCode(slug);
  if (!kiosk) {
    device.noteAnswered(slug);
    if (device.ledger() && !isTest) device.enter(ledgerEntry(mine.survey));
  }
  deliver();
}

/**
 * Build the report. Only here does chance meet the answers.
 * @param {Asked} visit
 */
function buildReport({ survey: { design }, steps, answers, entry: { pass }, id: chosen, nonce }) {
  const given = answersOf(steps, answers);
  const id = pass?.id ?? chosen ?? newId();
  const spent = pass && { pass: { message: pass.prepared, signature: pass.signature } };
  const more = spent || (nonce ? { work: nonce } : null);
  const body = reportBody(design, id, randomize(design, given, secureDraw), more);
  return { slug, id, body };
}

/**
 * Resume a report that an earlier visit left unsent or unacknowledged: send the same bytes again.
 * @param {Report} report
 */
function resume(report) {
  visit = /** @type {Visit} */ ({ report, resumed: true });
  deliver();
}

/** @type {Timer} */
let retry; // the timer of the next attempt

/**
 * Send the visit's report. An automatic retry does not change the screen.
 * @param {boolean} [quiet]
 */
async function deliver(quiet = false) {
  const mine = /** @type {Sent} */ (visit);
  const { report } = mine;
  if (mine.busy) return;
  // Another tab has sent it, or someone deleted it there.
  if (!device.waiting().some(({ id }) => id === report.id)) return leaveToOthers();
  mine.busy = true;
  clearTimeout(retry);
  if (!quiet) show(() => screens.sending({}));
  const { stored, problem, again, wait } = await sendReport(report);
  if (stored || problem) device.drop(report.id);
  if (visit !== mine) return;
  mine.busy = false;
  if (problem) return stop(problem);
  if (stored || kiosk) return finish(stored);
  mine.tries = (mine.tries ?? 0) + 1;
  const pause = Math.min(FIRST_PAUSE * 2 ** (mine.tries - 1), LONGEST_PAUSE);
  retry = setTimeout(deliver, wait ? wait * 1000 : pause, true);
  const news = !quiet || mine.again !== again;
  mine.again = again;
  if (news) showWaiting();
}

function showWaiting() {
  const { report, resumed, again: why } = /** @type {Waiting} */ (visit);
  show(() =>
    screens.waiting({
      why,
      lasts: device.waitingLasts(),
      body: resumed ? null : report.body, // not shown to the next person
      again: () => deliver(),
      drop: () => {
        device.drop(report.id);
        device.noteAnswered(slug); // it may have arrived anyway
        stop("dropped");
      },
    }),
  );
}

/** @param {boolean} [stored] */
function finish(stored) {
  const mine = /** @type {Sent} */ (visit);
  const { survey, report, resumed } = mine;
  mine.again = null;
  unwind();
  if (kiosk) {
    rest(THANKS_SHOWN);
    return show(() => screens.kioskThanks({ stored, finish: () => begin() }));
  }
  device.noteAnswered(slug);
  const thanks = () => {
    show(() =>
      screens.thanks({
        resumed, // then show nothing of it: this may be another person
        id: report.id,
        body: report.body,
        other: answerAnew,
        ledger: device.ledger(),
        enter: () => {
          device.enter(ledgerEntry(survey));
          thanks();
        },
        openLedger: () => showLedger(thanks),
      }),
    );
  };
  thanks();
}

function showAnswered() {
  show(() => screens.answered({ other: answerAnew }));
}

/* Someone else wants to answer on this device. */
function answerAnew() {
  device.forgetAnswered(slug);
  begin(true);
}

device.onAnsweredElsewhere((other) => {
  if (kiosk || other !== slug || !visit?.answers || visit.another) return;
  leaveToOthers();
});

/* Another tab has answered or is answering. */
function leaveToOthers() {
  forget();
  unwind();
  showAnswered();
}

/* Send waiting reports of other surveys, or of earlier people at this kiosk. */
let busy = false;

async function sendOthers() {
  if (busy) return;
  busy = true;
  for (const report of device.waiting()) {
    if (report.id === visit?.report?.id || (report.slug === slug && !kiosk)) continue;
    const { stored, problem } = await sendReport(report);
    if (!stored && !problem) break;
    device.drop(report.id);
  }
  busy = false;
}

addEventListener("online", () => {
  if (visit?.again) deliver(true);
  sendOthers();
});

/* --- The ledger ------------------------------------------------------------------------------- */

/** @param {Survey} survey */
function ledgerEntry(survey) {
  return { title: contentIn(language, survey).title.text, epsilon: reportTotal(survey.design) };
}

/** @param {() => void} back */
function showLedger(back) {
  show(() =>
    screens.ledger({
      entries: device.ledger() ?? [],
      strike: (position) => {
        device.strike(position);
        draw();
      },
      end: () => {
        device.endLedger();
        back();
      },
      back,
    }),
  );
}

/* --- A kiosk ---------------------------------------------------------------------------------- */

const WARNING = 40_000; // milliseconds without input before the page asks
const IDLE = 60_000; // and before it forgets everything
const THANKS_SHOWN = 15_000; // milliseconds after sending
const RESEND = 30_000;

/** @type {Timer[]} */
let timers = [];
/** @type {HTMLDialogElement | null} */
let warning = null;

/**
 * Someone is there. A finger on the screen hides the warning only after the tap.
 * @param {{ type?: string }} [event]
 */
function idle({ type } = {}) {
  timers.forEach(clearTimeout);
  timers = [setTimeout(warn, WARNING), setTimeout(begin, IDLE)];
  if (type === "click" || type === "keydown") endWarning();
}

function warn() {
  warning = screens.idleWarning({ seconds: (IDLE - WARNING) / 1000 });
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
 * @param {number} milliseconds
 */
function rest(milliseconds) {
  timers.forEach(clearTimeout);
  timers = [setTimeout(begin, milliseconds)];
}

function endTimers() {
  timers.forEach(clearTimeout);
  timers = [];
  endWarning();
}

if (kiosk) {
  const signs = ["pointerdown", "touchmove", "wheel", "keydown", "click", "change"];
  for (const sign of signs) addEventListener(sign, idle, { capture: true, passive: true });
  // A sleeping device stops the timers. A page that was left is hidden too, but has already forgotten
  // the visit: restarting it would lead back to it.
  addEventListener("visibilitychange", () => document.hidden && visit && begin());
  setInterval(sendOthers, RESEND);
}

/* --- The page --------------------------------------------------------------------------------- */

/** @type {(() => HTMLElement) | null} */
let current = null; // builds the current screen in the current language

/** @param {() => HTMLElement} build */
function show(build) {
  current = build;
  draw();
}

/** @param {boolean} [moveFocus] */
function draw(moveFocus = true) {
  document.title = words.title;
  const screen = /** @type {() => HTMLElement} */ (current)();
  root.replaceChildren(...(isTest ? [screens.testing()] : []), screen);
  if (!moveFocus) return;
  const heading = /** @type {HTMLElement} */ (screen.querySelector("h1"));
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

let tapped = -Infinity; // when a button was last tapped
/** @type {Element | null} */
let last = null; // and which

/**
 * Ignore the second tap of a double tap: it was meant for the previous screen and must not send.
 * @param {PointerEvent} event
 */
function isEcho({ target, detail, pointerType }) {
  const now = performance.now();
  const button = /** @type {Element} */ (target).closest("button");
  const other = button && button !== last; // the same one is still there, as plus and minus are
  const echo = other && now - tapped < DOUBLE_TAP && (detail > 1 || pointerType === "touch");
  if (!echo) tapped = button ? now : -Infinity; // or a series of quick taps would all be ignored
  last = button;
  return echo;
}

/** @param {screens.Problem} name */
function stop(name) {
  forget();
  unwind();
  if (kiosk) rest(IDLE);
  show(() => screens.problem({ name, again: () => begin() }));
}

function forget() {
  visit?.answers?.clear();
  visit = null;
  current = null;
  clearTimeout(retry);
  clearTimeout(slow);
  endTimers();
  root.replaceChildren();
}

root.addEventListener(
  "click",
  (event) => {
    if (!isEcho(event)) return;
    event.preventDefault();
    event.stopPropagation();
  },
  { capture: true },
);

// Another link to the same page has a new code, so start again.
addEventListener("hashchange", () => {
  if (takeFragment(slug, kiosk)) begin();
});

// A page that is left keeps nothing, and one that the browser restores starts again.
addEventListener("pagehide", forget);
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  leaving = false;
  begin();
});

// Only errors of this page's modules, not those of browser extensions.
addEventListener("error", ({ filename }) => {
  if (filename.startsWith(home)) stop("broken");
});
addEventListener("unhandledrejection", ({ reason }) => {
  if (String(reason?.stack).includes(home)) stop("broken");
});

takeFragment(slug, kiosk);

// Without words, the shell's text stays: the survey is not starting.
offerLanguages(() => current && draw(false)).then(() => begin(), () => {});
