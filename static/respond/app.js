/*
 * The respondent's page: from the address to a report that has arrived.
 *
 * The answers live in `visit`, in the memory of this module, and nowhere else: no storage, no
 * cookie, no address that changes, no request before the last tap. They are dropped as soon as the
 * report is built, and the whole visit is when the page is left. Chance acts once: a second try
 * sends the same bytes.
 */

import { choose, randomize, secureDraw } from "./randomizer.js";
import { newId, reportBody } from "./report.js";
import * as screens from "./screens.js";
import { fetchSurvey, sendReport } from "./server.js";

const root = document.getElementById("page");
const home = new URL("./", import.meta.url).href;
const program = new URL("./randomizer.js", import.meta.url).href;

const ECHO = 400; // milliseconds between the two halves of a double tap, at most

/*
 * Everything that this page knows about one visit, or null.
 *   survey   the definition, as the server gave it
 *   steps    the questions of the blocks that chance picked, then the strata
 *   answers  step → position; a stratum that is not given is null; null once the report is built
 *   outbox   {id, body, busy} once the report is built
 */
let visit = null;

async function begin() {
  forget();
  unwind();
  show(screens.loading());
  if (typeof globalThis.crypto?.getRandomValues !== "function") return stop("generator");
  const slug = location.pathname.match(/\/s\/([\w-]+)\/?$/)?.[1];
  if (!slug) return stop("missing");
  const mine = (visit = {});
  const { survey, problem } = await fetchSurvey(slug);
  if (visit !== mine) return; // left, or started again, in the meantime
  if (problem) return stop(problem);
  try {
    const steps = stepsOf(survey.design, choose(survey.design, secureDraw));
    visit = { slug, survey, steps, answers: new Map(), outbox: null };
    for (const step of steps) if (step.clear) visit.answers.set(step, null);
    render(null);
  } catch {
    stop("outdated"); // the randomizer refuses this design
  }
}

function stepsOf(design, chosen) {
  const blocks = design.blocks.filter((block) => chosen.includes(block.key));
  return [
    ...blocks.flatMap((block) =>
      block.questions.map((question, index) => ({ question, block, index, clear: false })),
    ),
    ...design.strata.map((question) => ({ question, clear: true })),
  ];
}

/* --- Moving about ------------------------------------------------------------------------------
 *
 * A place is {at, depth, returns}: at = the step (steps.length is the review), depth = how many
 * entries of the browser's history are below, returns = came from the review and goes back there.
 * Places are entries of the history under one constant address, so that the browser's own Back is
 * the page's Back. They hold no answer, and no answer decides which place comes next.
 */

history.scrollRestoration = "manual"; // every screen begins at its top

let leaving = false; // the history is on its way back: a double tap must not go twice

function advance(at, returns = false) {
  const place = { at, depth: (history.state?.depth ?? 0) + 1, returns };
  history.pushState(place, "");
  render(place);
}

function retreat() {
  if (leaving) return;
  leaving = true;
  history.back();
}

/* Once there is nothing to go back to, leave no entries that lead nowhere. */
function unwind() {
  const depth = history.state?.depth ?? 0;
  if (leaving || !depth) return;
  leaving = true;
  history.go(-depth);
}

addEventListener("popstate", ({ state }) => {
  leaving = false;
  if (visit?.answers) render(state);
});

function render(place) {
  const { survey, steps, answers } = visit;
  if (!place) {
    return show(screens.opening({ survey, steps, program, start: () => advance(0) }));
  }
  const { at, returns } = place;
  if (at >= steps.length) return show(reviewScreen());
  const step = steps[at];
  const screen = step.clear ? screens.stratum : screens.question;
  const view = {
    step,
    design: survey.design,
    at: at + 1,
    of: steps.length,
    chosen: answers.get(step),
    choose: (position) => answers.set(step, position),
    moves: { returns, back: retreat, next: returns ? retreat : () => advance(at + 1) },
  };
  return show(screen(view));
}

function reviewScreen() {
  const { steps, answers } = visit;
  const lines = steps.map((step, at) => ({
    question: step.question.text,
    answer: step.question.options[answers.get(step)]?.text,
    clear: step.clear,
    change: () => advance(at, true),
  }));
  return screens.review({ lines, back: retreat, send });
}

/* --- Sending ---------------------------------------------------------------------------------- */

function send() {
  if (visit.outbox) return;
  try {
    visit.outbox = buildReport(visit);
  } catch {
    return stop("broken"); // the generator failed: nothing may be sent
  }
  visit.answers.clear();
  visit.answers = null;
  deliver();
}

/* The only place where chance meets the answers. */
function buildReport({ survey: { design }, steps, answers }) {
  const given = {};
  const strata = {};
  for (const step of steps) {
    const position = answers.get(step);
    if (step.clear) strata[step.question.key] = position;
    else (given[step.block.key] ??= [])[step.index] = position;
  }
  const id = newId();
  const body = reportBody(design, id, randomize(design, given, secureDraw), strata);
  return { id, body, busy: false };
}

async function deliver() {
  const mine = visit;
  const { id, body, busy } = mine.outbox;
  if (busy) return;
  mine.outbox.busy = true;
  show(screens.sending());
  const { stored, problem, wait } = await sendReport(mine.slug, id, body);
  if (visit !== mine) return;
  mine.outbox.busy = false;
  if (problem) return stop(problem);
  if (!stored) return show(screens.unsent({ body, wait, again: deliver }));
  unwind();
  show(screens.thanks({ id, body }));
}

/* --- The page --------------------------------------------------------------------------------- */

function show(screen) {
  root.replaceChildren(screen);
  const heading = screen.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

let tapped = -Infinity; // when a button was last tapped, with no other tap since

/* The second half of a double tap was meant for the screen before: it must not send. */
function isEcho({ target, detail, pointerType }) {
  const now = performance.now();
  const button = target.closest("button") !== null;
  const echo = button && now - tapped < ECHO && (detail > 1 || pointerType === "touch");
  tapped = button ? now : -Infinity;
  return echo;
}

function stop(name) {
  forget();
  unwind();
  show(screens.problem({ name, again: begin }));
}

function forget() {
  visit?.answers?.clear();
  visit = null;
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

// A page that is left keeps nothing; one that the browser brings back starts again.
addEventListener("pagehide", forget);
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  leaving = false;
  begin();
});

// An error of this page's own modules; those of a browser's extensions are none of our business.
addEventListener("error", ({ filename }) => {
  if (filename.startsWith(home)) stop("broken");
});

begin();
