// The steps of a visit: which follow-ups are asked, in which order, and what is sent for the others.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import {
  answersOf,
  dropUnasked,
  firstMissing,
  isKept,
  longestPath,
  planSteps,
  progressOf,
  roomOf,
  stepsAsked,
} from "../../static/respond/steps.js";

const options = (...keys) => keys.map((key) => ({ key, text: key }));
const question = (key, more = {}) => ({ key, kind: "choice", text: `${key}?`, options: options("a", "b", "c"), ...more });
const only = (gate, ...keys) => ({ only_if: { question: gate, options: keys } });
const block = (key, ...questions) => ({ key, epsilon: 1, keep: 1, questions });

const GATED = block(
  "b1",
  question("gate", { kind: "yes_no", options: options("no", "yes") }),
  question("who", only("gate", "yes")),
  question("why", only("who", "a", "b")),
  question("never", only("gate", "no")),
);
const PLAIN = block("b2", question("plain"));
const JOB = { ...block("g1", question("job")), background: /** @type {const} */ (true) };
const DESIGN = { blocks: [GATED, PLAIN, JOB] };
const ALL = ["b1", "b2", "g1"];
const FIRST = () => 0; // every draw alike changes no order

/** @param {Record<string, any>} given @param {object} [more] */
function visit(given, more = {}, draw = FIRST) {
  const steps = planSteps({ ...DESIGN, ...more }, ALL, draw);
  const answers = new Map();
  for (const step of steps) {
    if (isKept(step) && step.question.key in given) answers.set(step, given[step.question.key]);
  }
  return { steps, answers };
}

const names = (steps) => steps.map((step) => (isKept(step) ? step.question.key : `filler ${step.filler}`));
const asked = (given, more) => {
  const { steps, answers } = visit(given, more);
  return names(stepsAsked(steps, answers));
};

/* Answers a path as a person would: a position for everything that is asked. */
/** @type {[Record<string, number>, string[]][]} */
const PATHS = [
  [{ gate: 0, never: 2 }, ["gate", "never"]],
  [{ gate: 1, who: 2 }, ["gate", "who"]],
  [{ gate: 1, who: 0, why: 1 }, ["gate", "who", "why"]],
];

describe("follow-ups", () => {
  it("are asked after the answers that lead to them, at any depth", () => {
    for (const [given, path] of PATHS) assert.deepEqual(asked(given), [...path, "plain", "job"]);
    assert.deepEqual(asked({}), ["gate", "plain", "job"]);
  });

  it("are null in the report if they are not asked, whatever was answered before", () => {
    for (const [given, path] of PATHS) {
      // every question has an answer from an earlier path
      const { steps, answers } = visit({ who: 0, why: 0, never: 0, ...given, plain: 1, job: 2 });
      const report = answersOf(steps, answers);
      const wanted = ["gate", "who", "why", "never"].map((key) => (path.includes(key) ? given[key] : null));
      assert.deepEqual({ ...report }, { b1: wanted, b2: [1], g1: [2] });
    }
  });

  it("are not asked because of a question that is not asked itself", () => {
    assert.deepEqual(asked({ gate: 0, who: 0 }), ["gate", "never", "plain", "job"]);
  });

  it("are forgotten when the gate is answered otherwise", () => {
    const { steps, answers } = visit({ gate: 1, who: 0, why: 1, plain: 0, job: 0 });
    const [gate] = steps;
    answers.set(gate, 0);
    dropUnasked(steps, answers);
    assert.deepEqual(names([...answers.keys()]), ["gate", "plain", "job"]);
    assert.equal(firstMissing(steps, answers)?.question.key, "never");
    answers.set(gate, 1);
    assert.equal(firstMissing(steps, answers)?.question.key, "who");
  });

  it("are complete when nothing is missing", () => {
    const { steps, answers } = visit({ gate: 1, who: 2, plain: 0, job: 0 });
    assert.equal(firstMissing(steps, answers), undefined);
  });
});

describe("the progress", () => {
  it("counts the longest path, so that it says the same after every path", () => {
    assert.equal(longestPath(GATED.questions), 3);
    for (const [given] of PATHS) {
      const { steps, answers } = visit(given);
      const plain = steps.find((step) => step.question.key === "plain");
      assert.deepEqual(progressOf(steps, answers, /** @type {any} */ (plain)), { at: 4, of: 5 });
    }
  });

  it("adds the longest branch of every gate", () => {
    const two = [
      question("g"),
      question("x", only("g", "a")),
      question("y", only("g", "a", "b")),
      question("h"),
      question("z", only("h", "c")),
    ];
    assert.equal(longestPath(two), 5);
    assert.equal(longestPath([two[0], two[1], question("w", only("g", "b"))]), 2);
    assert.equal(longestPath([question("n", { kind: "number", options: [] })]), 1);
  });
});

describe("fillers", () => {
  const fillers = true;

  it("make every path as long as the longest", () => {
    const lengths = PATHS.map(([given]) => asked(given, { fillers }).length);
    assert.deepEqual(lengths, [5, 5, 5]);
    assert.deepEqual(asked(PATHS[0][0], { fillers }), ["gate", "never", "filler 0", "plain", "job"]);
    assert.deepEqual(asked(PATHS[2][0], { fillers }), ["gate", "who", "why", "plain", "job"]);
    assert.equal(roomOf(visit({}, { fillers }).steps), 5);
  });

  it("have a number of their own and go on where the block ends", () => {
    const { steps, answers } = visit({ gate: 0, never: 0 }, { fillers });
    const found = stepsAsked(steps, answers).map((step) => progressOf(steps, answers, step).at);
    assert.deepEqual(found, [1, 2, 3, 4, 5]);
  });

  it("are never in the report and never missing", () => {
    const { steps, answers } = visit({ gate: 0, never: 0, plain: 0, job: 0 }, { fillers });
    assert.deepEqual({ ...answersOf(steps, answers) }, { b1: [0, null, null, 0], b2: [0], g1: [0] });
    assert.equal(firstMissing(steps, answers), undefined);
  });

  it("exist only where the author wants them", () => {
    assert.ok(visit({}).steps.every(isKept));
    assert.ok(visit({}, { blocks: [PLAIN, JOB], fillers }).steps.every(isKept));
  });
});

describe("the order", () => {
  const drawFrom = (...words) => () => words.shift() ?? 0;
  const keys = (steps) => steps.map(({ block: { key }, question: asks }) => `${key} ${asks.key}`);

  it("is that of the design, then the background, unless it is drawn", () => {
    const steps = planSteps({ blocks: [JOB, PLAIN, GATED] }, ALL, drawFrom(9, 8, 7, 6));
    assert.deepEqual(keys(steps).at(-1), "g1 job");
    assert.deepEqual(keys(steps)[0], "b2 plain");
  });

  it("of blocks is drawn, never within a block, and the background stays last", () => {
    const steps = planSteps({ ...DESIGN, shuffled: true }, ALL, drawFrom(2, 1));
    assert.deepEqual(keys(steps), ["b2 plain", "b1 gate", "b1 who", "b1 why", "b1 never", "g1 job"]);
    assert.equal(roomOf(steps), 5);
    assert.deepEqual(steps[1].from, 1);
  });

  const orderOf = (more, ...words) => {
    const asks = question("q", { shuffled: true, ...more });
    return planSteps({ blocks: [block("b1", asks)] }, ["b1"], drawFrom(...words))[0].order;
  };

  it("of options is drawn, with “prefer not to say” at the end", () => {
    assert.deepEqual(orderOf({}, 3, 1, 2), [1, 2, 0]);
    const declinable = { options: options("prefer-not-to-say", "a", "b") };
    assert.deepEqual(orderOf(declinable, 2, 1), [2, 1, 0]);
    assert.deepEqual(orderOf({ shuffled: undefined }, 3, 1, 2), [0, 1, 2]);
  });

  it("of a scale stays, from either end", () => {
    assert.deepEqual(orderOf({ kind: "scale" }, 2), [0, 1, 2]);
    assert.deepEqual(orderOf({ kind: "scale" }, 1), [2, 1, 0]);
    assert.deepEqual(orderOf({ kind: "scale", options: options("a", "b", "prefer-not-to-say") }, 1), [1, 0, 2]);
  });

  it("is uniform", () => {
    // 6,000 draws of 6 orders, 1,000 expected each; 5 degrees of freedom, alpha = 0.001
    let [x, y] = [123456789, 362436069];
    const draw = () => {
      const t = x ^ (x << 11);
      x = y;
      y = (y ^ (y >>> 19) ^ t ^ (t >>> 8)) >>> 0;
      return y;
    };
    const counts = new Map();
    for (let i = 0; i < 6000; i++) {
      const asks = question("q", { shuffled: true });
      const [{ order }] = planSteps({ blocks: [block("b1", asks)] }, ["b1"], draw);
      counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1);
    }
    const statistic = [...counts.values()].reduce((sum, one) => sum + (one - 1000) ** 2 / 1000, 0);
    assert.equal(counts.size, 6);
    assert.ok(statistic < 20.5, `${statistic}`);
  });
});

it("a kind that this page does not know is refused before anything is asked", () => {
  for (const kind of ["essay", "constructor", undefined]) {
    const design = { blocks: [block("b1", question("q", { kind }))] };
    assert.throws(() => planSteps(design, ["b1"], FIRST), /question\.kind/);
  }
});
