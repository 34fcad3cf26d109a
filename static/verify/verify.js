/*
 * The checking page: runs the shipped randomizer and compares it with what was promised.
 *
 * The address is /verify/ for an example and /verify/#slug for a survey; the fragment is not sent.
 * Everything is fetched before a run begins, and nothing is sent during it. The runs share this thread
 * in short slices, because a worker would load its script without this page's integrity checks.
 */

import { el } from "../respond/dom.js";
import { offerLanguages } from "../respond/language.js";
import { choose, randomize, secureDraw } from "../respond/randomizer.js";
import { contentIn, fill, language } from "../respond/words.js";
import {
  ALARM,
  DOUBT,
  EXAMPLE,
  RUNS,
  judge,
  limitOf,
  plan,
  provenLoss,
  run,
  sharpness,
} from "./check.js";
import { compareFiles, fetchSurvey } from "./files.js";
import * as view from "./view.js";
import { isolated, words } from "./words.js";

/**
 * @typedef {import("../respond/words.js").Survey} Survey
 * @typedef {import("./check.js").Design} Design
 * @typedef {import("./check.js").Round} Round
 * @typedef {{ about: string, back: string | null, textsOf: view.TextsOf }} Texts
 * @typedef {{ found?: view.Found, problem?: () => string }} Outcome
 */

const SLICE = 8; // milliseconds of work per slice
const MAX_RUNS = 500; // per slice, in case the browser's clock is coarse
const BAR_INTERVAL = 100; // milliseconds between updates of the progress bar
const STATUS_INTERVAL = 5_000; // and between updates for screen readers

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
const compared = compareFiles(); // once, because the files do not depend on the survey

/**
 * The state of the page for one address.
 *
 * @typedef {object} Visit
 * @property {Design} design  the design to check: a survey's, or the example
 * @property {AbortController | null} running  stops the current run
 * @property {number} done  how many runs are done
 * @property {Outcome | null} outcome  of the last run; problem() says why there is none
 * @property {ReturnType<typeof view.runner>} runner  the button and the progress
 * @property {() => string} settle  show the outcome and return it as a sentence
 */

/** @type {Visit | null} */
let visit = null;

async function begin() {
  visit?.running?.abort();
  const mine = (visit = /** @type {Visit} */ ({ running: null, done: 0, outcome: null }));
  const slug = decode(location.hash.slice(1));
  const { survey, problem } = slug ? await fetchSurvey(slug) : { survey: null };
  if (mine !== visit) return;
  if (problem) return show(() => view.problem(words()[problem]));
  mine.design = survey ? survey.design : EXAMPLE;
  try {
    choose(mine.design, secureDraw); // throws if the design is not valid
  } catch (error) {
    return show(() => view.problem(refusal(error)));
  }
  show(() => checkingPage(mine, survey ? surveyTexts(survey) : exampleTexts()));
}

/** @param {unknown} error */
function refusal(error) {
  const { message } = /** @type {Error} */ (error);
  return fill(words().refused, { error: isolated(message) });
}

/**
 * The survey or example to check, with the texts of its questions as {text, lang}.
 * @param {Survey} survey
 * @returns {Texts}
 */
function surveyTexts(survey) {
  const { title, question } = contentIn(language, survey);
  return {
    // A new tab has neither the code of an invitation nor a pass.
    back: survey.design.passes ? null : `/s/${survey.slug}/`,
    about: fill(words().survey, { title: isolated(title.text) }),
    textsOf: (asked) => question({ question: asked }),
  };
}

/** @returns {Texts} */
function exampleTexts() {
  return {
    back: null,
    about: words().example,
    textsOf: ({ number, options }) => ({
      text: fill(words().exampleQuestion, { number }),
      options: options.map((/** @type {{ key: "no" | "yes" }} */ { key }) => ({ text: words()[key] })),
    }),
  };
}

/**
 * Redraw the page in another language; a run continues and an outcome stays.
 * @param {Visit} mine
 * @param {Texts} texts
 */
function checkingPage(mine, { about, back, textsOf }) {
  const results = el("div", { class: "results" });
  const files = el("div", { class: "results" });

  /** @param {MouseEvent} event */
  async function click({ detail }) {
    if (mine.running) {
      if (detail < 2) mine.running.abort(); // the second click of a double click does not mean stop
      return;
    }
    mine.running = new AbortController();
    results.replaceChildren();
    mine.runner.start(0);
    mine.outcome = await check(mine);
    mine.running = null;
    const said = mine.settle();
    results.scrollIntoView({ block: "nearest" });
    mine.runner.announce(said);
  }

  mine.runner = view.runner({ runs: RUNS * plan(mine.design).length, click });
  mine.settle = () => {
    const { found, problem } = /** @type {Outcome} */ (mine.outcome);
    if (found) results.replaceChildren(...view.results(found, textsOf));
    mine.runner.end(problem?.());
    return problem?.() ?? results.querySelector("h2")?.textContent ?? "";
  };
  if (mine.running) mine.runner.start(mine.done);
  else if (mine.outcome) mine.settle();
  compared.then((list) => files.replaceChildren(view.files(list)));
  return view.page({ about, back, runner: mine.runner.element, results, files });
}

/**
 * Run the whole check; returns the outcome, or why there is none.
 * @param {Visit} mine
 * @returns {Promise<Outcome>}
 */
async function check(mine) {
  const { signal } = /** @type {AbortController} */ (mine.running);
  const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
  const progress = teller(mine);
  progress(0);
  try {
    await Promise.race([compared, stopped]);
    const rounds = plan(mine.design);
    if (!(await runAll(mine.design, rounds, progress, signal))) {
      return { problem: () => words().stopped };
    }
    return { found: await judgeAll(mine.design, rounds) };
  } catch (error) {
    return { problem: () => refusal(error) };
  }
}

/**
 * Show the progress, and announce it at intervals that are bearable for listeners.
 * @param {Visit} mine
 */
function teller(mine) {
  let drawn = -Infinity;
  let spoken = -Infinity;
  /** @param {number} done */
  return (done) => {
    const now = performance.now();
    if (now - drawn < BAR_INTERVAL) return;
    drawn = now;
    mine.done = done;
    const text = mine.runner.move(done);
    if (now - spoken < STATUS_INTERVAL) return;
    spoken = now;
    mine.runner.announce(text);
  };
}

/* --- The work --------------------------------------------------------------------------------- */

/**
 * Fill the tallies; false if the run was stopped.
 * @param {Design} design
 * @param {Round[]} rounds
 * @param {(done: number) => void} progress
 * @param {AbortSignal} signal
 */
async function runAll(design, rounds, progress, signal) {
  const work = run(design, rounds, randomize, secureDraw);
  let done = 0;
  for (let more = true; more; await pause()) {
    if (signal.aborted) return false;
    progress(done);
    const end = performance.now() + SLICE;
    for (let i = 0; more && i < MAX_RUNS && performance.now() < end; i++) {
      more = !work.next().done;
      done += Number(more);
    }
  }
  return true;
}

/**
 * Compute the verdicts, with a pause after each, because each takes milliseconds.
 * @param {Design} design
 * @param {Round[]} rounds
 */
async function judgeAll(design, rounds) {
  const limit = limitOf(rounds);
  for (const table of rounds.flatMap(({ tables }) => tables)) table.verdict = judge(table, limit);
  /** @type {view.JudgedBlock[]} */
  const blocks = [];
  for (const checked of rounds.flatMap((round) => round.blocks)) {
    const { block, tables } = checked;
    await pause();
    const loss = { promised: block.epsilon, seen: provenLoss(checked, design.blocks.length) };
    await pause();
    blocks.push({ block, tables: /** @type {view.Table[]} */ (tables), loss, ...sharpness(design, tables, limit) });
  }
  const fit = rounds.every(({ tables }) => tables.every(({ verdict }) => verdict?.fits));
  const within = blocks.every(({ loss }) => loss.seen <= loss.promised);
  const weakest = {
    slightly: Math.min(...blocks.map(({ slightly }) => slightly)),
    surely: Math.max(...blocks.map(({ surely }) => surely)),
  };
  return {
    runs: RUNS * rounds.length,
    fits: fit && within,
    byChance: fit ? DOUBT : ALARM,
    limit,
    blocks,
    joint: /** @type {view.Table[]} */ (rounds.flatMap(({ joint }) => joint)),
    sharpness: weakest,
  };
}

/**
 * Give the page a turn. Unlike timers, messages are not delayed in background tabs.
 * @returns {Promise<void>}
 */
function pause() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** @type {(() => HTMLElement) | null} */
let current = null; // builds the current screen in the current language

/** @param {() => HTMLElement} build */
function show(build) {
  current = build;
  draw();
}

function draw() {
  document.title = words().title;
  root.replaceChildren(/** @type {() => HTMLElement} */ (current)());
}

/**
 * Decode the fragment; a malformed one belongs to no survey.
 * @param {string} fragment
 */
function decode(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

// Without words, the shell's text stays: the check is not starting.
offerLanguages(() => current && draw()).then(
  () => {
    begin();
    addEventListener("hashchange", begin);
  },
  () => {},
);
