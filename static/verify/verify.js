/*
 * The checking page: the shipped randomizer, run here, against what was promised.
 *
 * The address is /verify/ for an example, /verify/#slug for a survey: a fragment is not sent. What
 * is fetched is fetched before a run begins, and nothing is sent while it goes on. The runs share
 * this thread in short slices: a worker would load its script apart from the integrity checks that
 * hold for this page's modules.
 */

import { el } from "../respond/dom.js";
import { randomize, secureDraw } from "../respond/randomizer.js";
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
import { isolated, say } from "./say.js";
import * as view from "./view.js";
import { words } from "./words.js";

const SLICE = 8; // milliseconds of work at a time
const MOST = 500; // and runs, in case the browser's clock is coarse
const DRAWN = 100; // milliseconds between two moves of the bar
const SPOKEN = 5_000; // and between two messages of a screen reader

const root = document.getElementById("page");
const compared = compareFiles(); // once: the files do not depend on the survey

let visit = 0; // counts the addresses that this page was asked for
let running = null; // what stops the run that is going on

async function begin() {
  const mine = ++visit;
  running?.abort();
  const slug = decode(location.hash.slice(1));
  const { survey, problem } = slug ? await fetchSurvey(slug) : { survey: null };
  if (mine !== visit) return;
  if (problem) return show(view.problem(say(words[problem])));
  const design = survey?.design ?? example();
  try {
    const [{ inputs }] = plan(design);
    randomize(design, inputs[0], secureDraw);
  } catch (error) {
    return show(view.problem(say(words.refused, { error: error.message })));
  }
  const about = survey ? say(words.survey, { title: isolated(survey.title) }) : words.example;
  show(checkingPage(design, about));
}

/* The example with the texts that a survey's design has. */
function example() {
  let asked = 0;
  const option = ({ key }) => ({ key, text: words[key] });
  const question = ({ options }) => ({
    text: say(words.exampleQuestion, { number: ++asked }),
    options: options.map(option),
  });
  const named = (block) => ({ ...block, questions: block.questions.map(question) });
  return { ...EXAMPLE, blocks: EXAMPLE.blocks.map(named) };
}

function checkingPage(design, about) {
  const runs = RUNS * plan(design).length;
  const results = el("div", { class: "results" });
  const files = el("div", { class: "results" });

  async function click({ detail }) {
    if (running) {
      if (detail < 2) running.abort(); // the second half of a double click is no wish to stop
      return;
    }
    running = new AbortController();
    results.replaceChildren();
    runner.start();
    const problem = await check(running.signal);
    running = null;
    runner.end(problem);
    runner.announce(problem ?? results.querySelector("h2").textContent);
  }

  /* Shows what a whole check finds, or returns why there is none. */
  async function check(signal) {
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    const progress = teller(runner);
    progress(0);
    try {
      await Promise.race([compared, stopped]);
      const rounds = plan(design);
      if (!(await runAll(design, rounds, progress, signal))) return words.stopped;
      results.replaceChildren(...view.results({ runs, ...(await judgeAll(design, rounds)) }));
      return null;
    } catch (error) {
      return say(words.refused, { error: error.message });
    }
  }

  const runner = view.runner({ runs, click });
  compared.then((list) => files.replaceChildren(view.files(list)));
  return view.page({ about, runner: runner.element, results, files });
}

/* Shows how far it is, and says it at intervals that a listener can bear. */
function teller(runner) {
  let drawn = -Infinity;
  let spoken = -Infinity;
  return (done) => {
    const now = performance.now();
    if (now - drawn < DRAWN) return;
    drawn = now;
    const text = runner.move(done);
    if (now - spoken < SPOKEN) return;
    spoken = now;
    runner.announce(text);
  };
}

/* --- The work --------------------------------------------------------------------------------- */

/* Fills the tallies; false if it was stopped. */
async function runAll(design, rounds, progress, signal) {
  const work = run(design, rounds, randomize, secureDraw);
  let done = 0;
  for (let more = true; more; await pause()) {
    if (signal.aborted) return false;
    progress(done);
    const end = performance.now() + SLICE;
    for (let i = 0; more && i < MOST && performance.now() < end; i++) {
      more = !work.next().done;
      done += more;
    }
  }
  return true;
}

/* The verdicts, with a pause after each: what they are made of takes milliseconds, too. */
async function judgeAll(design, rounds) {
  const limit = limitOf(rounds);
  for (const table of rounds.flatMap(({ tables }) => tables)) table.verdict = judge(table, limit);
  const blocks = [];
  for (const { block, tables, seen } of rounds.flatMap((round) => round.blocks)) {
    await pause();
    const loss = { promised: block.epsilon, seen: provenLoss(seen, design.blocks.length) };
    await pause();
    blocks.push({ block, tables, loss, ...sharpness(design, tables, limit) });
  }
  const fit = rounds.every(({ tables }) => tables.every(({ verdict }) => verdict.fits));
  const within = blocks.every(({ loss }) => loss.seen <= loss.promised);
  const weakest = {
    slightly: Math.min(...blocks.map(({ slightly }) => slightly)),
    surely: Math.max(...blocks.map(({ surely }) => surely)),
  };
  return {
    fits: fit && within,
    byChance: fit ? DOUBT : ALARM,
    limit,
    blocks,
    joint: rounds.flatMap(({ joint }) => joint),
    sharpness: weakest,
  };
}

/* Lets the page do what waits. Unlike a timer, a message is not held back in a background tab. */
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

function show(screen) {
  root.replaceChildren(screen);
}

/* A fragment as text; one that is badly written is no survey's. */
function decode(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

begin();
addEventListener("hashchange", begin);
