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
import { deliver, deliverOthers, fetchSurvey, newId, reportBody } from "./protocol.js";
import { choose, randomize, secureDraw } from "./randomizer.js";
import * as after from "./screens/after.js";
import * as asking from "./screens/asking.js";
import * as before from "./screens/before.js";
import * as stage from "./stage.js";
import { answersOf, dropUnasked, firstMissing, isKept, planSteps, progressOf, stepsAsked } from "./steps.js";
import { contentIn, language, words } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
const header = /** @type {HTMLElement} */ (document.querySelector("header"));
const home = new URL("./", import.meta.url).href;
const program = new URL("./randomizer.js", import.meta.url).href;
const slug = location.pathname.match(/\/s\/([\w-]+)\/?$/)?.[1] ?? "";
const { kiosk } = stage;
const isTest = /^test-\d+-\d{5}-[0-9a-f]{40}$/.test(slug); // a draft's preview: nothing is kept

/**
 * @typedef {import("./protocol.js").Report} Report
 * @typedef {import("./protocol.js").Survey} Survey
 * @typedef {import("./steps.js").Step} Step
 * @typedef {import("./steps.js").Given} Answers
 * @typedef {import("./stage.js").Place} Place
 * @typedef {ReturnType<typeof setTimeout> | undefined} Timer
 * @typedef {import("./access.js").Entry} Entry
 * @typedef {import("./access.js").Refused} Refused
 */

const DOUBLE_TAP = 400; // milliseconds, at most, between the two taps of a double tap
const LOADING_DELAY = 400; // milliseconds before the page says that it is loading
const THANKS_SHOWN = 15_000; // milliseconds after sending at a kiosk
const RESEND = 30_000; // milliseconds between attempts to send what waits at a kiosk

/**
 * Everything that this page knows about one visit.
 *
 * @typedef {object} Visit
 * @property {Survey} survey  the definition, as the server gave it
 * @property {boolean} another  whether this person knows that someone else has answered on this
 *   device
 * @property {number[]} drawn  the random numbers behind `steps`
 * @property {boolean} reloaded  whether they were drawn before a reload
 * @property {Step[]} steps  the questions of the blocks that were drawn, then the background ones
 * @property {Answers | null} answers  null once the report is built
 * @property {Entry & Refused} entry  by invitation: a code or a pass
 * @property {string} [id]  of the report, if it needs a proof of work
 * @property {ReturnType<typeof solve>} [work]  the promise of its result
 * @property {string | null} [nonce]  its result
 * @property {import("./screens/before.js").Practice | null} tried  the practice question
 * @property {Report | null} report  once it is built
 * @property {boolean} [resumed]  whether an earlier visit built the report
 * @property {ReturnType<typeof deliver>} [delivery]  of the report
 * @property {boolean} [busy]
 */

/**
 * @typedef {Visit & { answers: Answers }} Asked
 * @typedef {Visit & { report: Report }} Sent
 * @type {Visit | null}
 */
let visit = null;

/** @param {boolean} [another] */
async function begin(another = false) {
  forget();
  stage.unwind();
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
  slow = setTimeout(show, LOADING_DELAY, after.loading);
  const { survey, problem } = await definition();
  if (visit !== mine) return;
  clearTimeout(slow);
  if (problem) return stop(problem);
  const { problem: barred, ...entry } = await entrance(survey, kiosk);
  if (visit !== mine) return;
  if (barred) return stop(barred);
  try {
    visit = { survey, another, ...plan(survey), answers: new Map(), entry, tried: null, report: null };
    if (survey.design.work) beginWork();
    stage.restart();
    render(null);
  } catch {
    return stop("outdated"); // the randomizer refuses this design
  }
  if (!kiosk && !another) device.askOtherTabs(slug);
}

/**
 * Draw the questions and their order, or repeat what this tab drew before a reload: nobody can reload
 * until they like the questions.
 *
 * @param {Survey} survey
 */
function plan({ design }) {
  const earlier = kiosk ? [] : device.drawn(slug, design.hash);
  /** @type {number[]} */
  const drawn = [];
  const draw = () => {
    drawn.push(earlier[drawn.length] ?? secureDraw());
    return /** @type {number} */ (drawn.at(-1));
  };
  return { steps: planSteps(design, choose(design, draw), draw), drawn, reloaded: earlier.length > 0 };
}

/** @type {Timer} */
let slow; // the timer of the loading screen
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

/* --- Moving about ------------------------------------------------------------------------------- */

/** @param {number | string} at @param {boolean} [returns] */
function advance(at, returns) {
  const place = stage.advance(at, returns);
  if (kiosk) stage.stay();
  render(place);
}

function retreat() {
  stage.unwind(1);
}

stage.onMove(() => Boolean(visit?.answers && !visit.busy), render);

/** @param {Place | null} place */
function render(place) {
  const { survey, steps, answers, entry } = /** @type {Asked} */ (visit);
  const forward = stage.arrive(place);
  if (survey.design.passes && !entry.code && !entry.pass) return showCode();
  if (!place) return showOpening();
  const { at, returns } = place;
  if (typeof at === "string") return explain(at);
  const missing = firstMissing(steps, answers);
  if (missing && steps.indexOf(missing) < at) return ask(missing, true, () => render(place));
  if (at >= steps.length) return showReview();
  if (!stepsAsked(steps, answers).includes(steps[at])) return stage.unwind(forward ? -1 : 1);
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
    asking.question({
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
  const { survey, steps, reloaded } = /** @type {Visit} */ (visit);
  show(() =>
    before.opening({
      design: survey.design,
      content: contentIn(language, survey),
      steps,
      reloaded,
      open: advance,
      start: enter,
      openLedger: !kiosk && device.ledger() && (() => showLedger(showOpening)),
    }),
  );
}

/**
 * A screen behind the opening.
 * @param {string} name
 */
function explain(name) {
  const { survey } = /** @type {Visit} */ (visit);
  const { design } = survey;
  const { odds, unprotected, contact, check } = before;
  const build = { odds, unprotected, contact, check }[name];
  if (!build) return showPractice();
  show(() =>
    build({
      design,
      content: contentIn(language, survey),
      slug,
      program: kiosk || isTest ? null : program, // a kiosk must not open other pages
      back: retreat,
    }),
  );
}

/* Each tap runs the real randomizer once more. Nothing of it is sent or stored. */
function showPractice() {
  const mine = /** @type {Visit} */ (visit);
  const { design } = mine.survey;
  const harmless = practiceDesign(design);
  /** @param {number} answer */
  const tap = (answer) => {
    const report = tryOut(harmless, answer, secureDraw);
    /** @type {[number, number]} */
    const counts = mine.tried?.answer === answer ? [...mine.tried.counts] : [0, 0];
    counts[report] += 1;
    mine.tried = { answer, report, counts };
    return mine.tried;
  };
  show(() => before.practice({ design, tried: mine.tried, tap, back: retreat, start: enter }));
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
    if (entry.wrong === "usedCode") return before.usedCode({ content, another });
    return before.code({ content, why: entry.wrong, typed: entry.typed, keep, enter: enterCode });
  });
}

/* Go to the first question. By invitation, fetch the pass now and not earlier. */
async function enter() {
  const mine = /** @type {Visit} */ (visit);
  const { survey, entry } = mine;
  if (mine.busy) return;
  if (!survey.design.passes || entry.pass?.signature) return askFirst(mine);
  mine.busy = true;
  show(before.fetching);
  const { pass, problem } = await exchange(survey, /** @type {string} */ (entry.code), kiosk);
  if (visit !== mine) return;
  mine.busy = false;
  if (problem === "unknown" || problem === "usedCode") {
    device.dropCode(slug);
    mine.entry = { wrong: problem, typed: entry.typed ?? entry.code ?? undefined };
    stage.unwind();
    return showCode();
  }
  if (problem) return stop(problem);
  mine.entry = { pass };
  askFirst(mine);
}

/** @param {Visit} visit */
function askFirst({ survey, drawn }) {
  if (!kiosk) device.keepDrawn({ slug, design: survey.design.hash, numbers: drawn });
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
      const change = () => advance(steps.indexOf(step), true);
      return { question, answer: said.length ? said : none, change };
    });
    return asking.review({ lines, back: retreat, send });
  });
}

/* --- Sending ------------------------------------------------------------------------------------ */

async function send() {
  const mine = /** @type {Visit} */ (visit);
  if (mine.report || mine.busy) return;
  if (mine.work) {
    mine.busy = true;
    show(() => after.sending({ work: true }));
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
  mine.answers = mine.tried = null;
  device.keep(mine.report);
  if (mine.entry.pass) device.dropPass(mine.entry.pass.prepared);
  device.dropCode(slug);
  device.dropDrawn(slug);
  if (!kiosk) {
    device.noteAnswered(slug);
    if (device.ledger() && !isTest) device.enter(ledgerEntry(mine.survey));
  }
  dispatch(mine.report);
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
  dispatch(report);
}

/** @param {Report} report */
function dispatch(report) {
  const mine = /** @type {Visit} */ (visit);
  const delivery = deliver(report, !kiosk, {
    elsewhere: leaveToOthers,
    sending: () => show(() => after.sending({})),
    refused: stop,
    done: finish,
    waiting: (why) =>
      show(() =>
        after.waiting({
          why,
          lasts: device.waitingLasts(),
          body: mine.resumed ? null : report.body, // not shown to the next person
          again: () => delivery.attempt(),
          drop: () => {
            device.drop(report.id);
            device.noteAnswered(slug); // it may have arrived anyway
            stop("dropped");
          },
        }),
      ),
  });
  mine.delivery = delivery;
  delivery.attempt();
}

/** @param {boolean} [stored] */
function finish(stored) {
  const { survey, report, resumed } = /** @type {Sent} */ (visit);
  stage.unwind();
  if (kiosk) {
    stage.rest(THANKS_SHOWN);
    return show(() => after.kioskThanks({ stored, finish: () => begin() }));
  }
  device.noteAnswered(slug);
  const thanks = () => {
    show(() =>
      after.thanks({
        resumed, // then show nothing of it: this may be another person
        survey,
        content: survey && contentIn(language, survey),
        id: report.id,
        body: report.body,
        openLedger: () =>
          showLedger(thanks, () => device.enter(ledgerEntry(survey))),
        other: answerAnew,
      }),
    );
  };
  thanks();
}

function showAnswered() {
  show(() => after.answered({ other: answerAnew }));
}

/* Someone else wants to answer on this device. */
function answerAnew() {
  device.forgetAnswered(slug);
  device.dropDrawn(slug);
  begin(true);
}

device.onAnsweredElsewhere((other) => {
  if (kiosk || other !== slug || !visit?.answers || visit.another) return;
  leaveToOthers();
});

/* Another tab has answered or is answering. */
function leaveToOthers() {
  forget();
  stage.unwind();
  device.dropDrawn(slug);
  showAnswered();
}

/* Send waiting reports of other surveys, or of earlier people at this kiosk. */
function sendOthers() {
  deliverOthers((one) => one.id === visit?.report?.id || (one.slug === slug && !kiosk));
}

addEventListener("online", sendOthers);

/* --- The ledger --------------------------------------------------------------------------------- */

/** @param {Survey} survey */
function ledgerEntry(survey) {
  return { title: contentIn(language, survey).title.text, epsilon: reportTotal(survey.design) };
}

/** @param {() => void} back @param {() => void} [keep] */
function showLedger(back, keep = () => {}) {
  show(() =>
    after.ledger({
      entries: device.ledger(),
      keep: () => {
        keep();
        draw();
      },
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

/* --- The page ----------------------------------------------------------------------------------- */

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
  header.hidden = screen.classList.contains("asking");
  root.replaceChildren(...(isTest ? [before.testing()] : []), screen);
  if (!moveFocus) return;
  const heading = /** @type {HTMLElement} */ (screen.querySelector("h1"));
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
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

/** @param {after.Problem} name */
function stop(name) {
  forget();
  stage.unwind();
  if (kiosk) stage.rest();
  show(() => after.problem({ name, again: () => begin() }));
}

function forget() {
  visit?.answers?.clear();
  visit?.delivery?.end();
  visit = null;
  current = null;
  clearTimeout(slow);
  stage.endTimers();
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
  if (persisted) begin();
});

// Only errors of this page's modules, not those of browser extensions.
addEventListener("error", ({ filename }) => {
  if (filename.startsWith(home)) stop("broken");
});
addEventListener("unhandledrejection", ({ reason }) => {
  if (String(reason?.stack).includes(home)) stop("broken");
});

if (kiosk) {
  stage.watchKiosk(begin, () => Boolean(visit), after.idleWarning);
  setInterval(sendOthers, RESEND);
}

takeFragment(slug, kiosk);

// Without words, the shell's text stays: the survey is not starting.
offerLanguages(() => current && draw(false)).then(() => begin(), () => {});
