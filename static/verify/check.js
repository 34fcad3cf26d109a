/*
 * The check: what to run, how to count the reports, and how to judge the tallies.
 *
 * Pure: the randomizer and its randomness are arguments, and there are no texts or pages here. The
 * promised probabilities come from the design alone, not from the code that is checked.
 */

import { blanksOf, count, sizeOf } from "../respond/cells.js";
import { cameOut, everyCell, inputsOf, isCell, range, valuesOf } from "./inputs.js";
import { SMALLEST_EXPECTED, chiSquareLimit, chiSquareTail, fit, lossAtLeast, power } from "./statistics.js";

/**
 * @typedef {import("../respond/randomizer.js").Design} Design
 * @typedef {import("../respond/randomizer.js").Block} Block
 * @typedef {import("../respond/randomizer.js").Question} Question
 * @typedef {import("../respond/randomizer.js").Answer} Answer
 * @typedef {import("../respond/randomizer.js").Value} Value
 * @typedef {{ [block: string]: Answer[] }} Answers
 * @typedef {{ [block: string]: Value[] }} Report
 * @typedef {import("./inputs.js").Input} Input
 *
 * @typedef {object} Table
 * @property {"cells" | "whole" | "together"} kind
 * @property {Question[]} asked
 * @property {Answer[][]} given  the input: answers to the questions asked, by row
 * @property {Value[][]} values  of the questions asked, by category; none for other kinds
 * @property {number} keep
 * @property {(keep: number) => number[][]} promise
 * @property {number[][]} promised
 * @property {number[][]} counts
 * @property {number[]} runs
 * @property {number} impossible
 * @property {(report: Report, row: number) => number | undefined} place
 * @property {ReturnType<typeof judge>} [verdict]
 *
 * @typedef {{ block: Block, tables: Table[], inputs: Input[], runs: number[], seen: number[][] }} CheckedBlock
 * @typedef {{ inputs: Answers[], blocks: CheckedBlock[], joint: Table[], tables: Table[] }} Round
 */

export const RUNS = 100_000; // per set of blocks; its inputs take turns
export const ALARM = 0.001; // at most, the chance that any test rejects a correct randomizer
export const DOUBT = 0.05; // at most, the chance that any bound on the loss exceeds the real one
const NEARLY_ALWAYS = 0.99;
const FEW_CELLS = 16; // blocks with more combinations of answers get a table for each question
const FEW_VALUES = 32; // questions with more values get no table of their own

/* The example without a survey: a block of one question and a block of two. */
const LN3 = 1.0986122886681098; // browsers compute Math.log(3) with differing last digits
export const EXAMPLE = Object.freeze({
  mechanism: "cells/1",
  scale: 2 ** 32,
  epsilon: LN3 + 2,
  ask: 2,
  blocks: [
    { key: "b1", epsilon: LN3, keep: 2147483648, questions: [yesNo(1)] },
    { key: "b2", epsilon: 2, keep: 2641316663, questions: [yesNo(2), yesNo(3)] },
  ],
});

/** @param {number} number */
function yesNo(number) {
  return { number, kind: "yes_no", options: [{ key: "no" }, { key: "yes" }] };
}

/* --- What is run ------------------------------------------------------------------------------ */

/**
 * Plan the rounds of a check, with empty tallies, for a design that the randomizer accepts. Each round
 * runs `ask` blocks and every background question, as for a respondent; the last set is filled up with
 * blocks that were run before.
 *   inputs  the inputs, in turn
 *   blocks  {block, tables, inputs, runs, seen}: the tables to compare, how many runs each of the
 *           block's inputs gets, and how often each came out, for the bound on the loss
 *   joint   tables about several blocks
 *   tables  all tables
 *
 * @param {Design} design
 * @returns {Round[]}
 */
export function plan(design) {
  const { ask, blocks } = design;
  const background = blocks.filter((block) => block.background);
  const others = blocks.filter((block) => !block.background);
  return range(Math.ceil(others.length / ask)).map((round) => {
    const from = Math.min(round * ask, others.length - ask);
    const asked = [...others.slice(from, from + ask), ...background].map((block) => ({
      block,
      inputs: inputsOf(block),
    }));
    const turns = Math.max(...asked.map(({ inputs }) => inputs.length));
    const fresh = [...others.slice(round * ask, (round + 1) * ask), ...(round === 0 ? background : [])];
    const checked = asked
      .filter(({ block }) => fresh.includes(block))
      .map(({ block, inputs }) => {
        const runs = runsOf(turns, inputs.length);
        const seen = inputs.map(() => inputs.map(() => 0));
        return { block, tables: tablesOf(design, block, inputs, runs), inputs, runs, seen };
      });
    const joint = asked.length > 1 ? [together(design, asked, turns)] : [];
    return {
      inputs: range(turns).map((turn) =>
        Object.fromEntries(
          asked.map(({ block, inputs }) => [block.key, inputs[turn % inputs.length].answers]),
        ),
      ),
      blocks: checked,
      joint,
      tables: [...checked.flatMap(({ tables }) => tables), ...joint],
    };
  });
}

/**
 * How many runs each of a block's inputs gets in a round with this many turns.
 * @param {number} turns
 * @param {number} inputs
 */
function runsOf(turns, inputs) {
  const runs = Array(inputs).fill(0);
  for (const turn of range(turns)) runs[turn % inputs] += Math.ceil((RUNS - turn) / turns);
  return runs;
}

/** @param {Design} design @param {Block} block @param {Input[]} inputs @param {number[]} runs */
function tablesOf(design, block, inputs, runs) {
  const { questions } = block;
  const all = range(questions.length);
  const sent = count(questions) - Math.max(0, blanksOf(questions[0]) - 1);
  if (sent <= FEW_CELLS) return [byValues(design, block, inputs, runs, all)];
  const few = all.filter((i) => sizeOf(questions[i]) <= FEW_VALUES);
  const each = few.map((i) => byValues(design, block, inputs, runs, [i]));
  const whole = asPutIn(design, block, inputs, runs);
  return whole.promised.every(([same], row) => same * runs[row] >= SMALLEST_EXPECTED) ? [whole, ...each] : each;
}

/**
 * A table: the probabilities and counts of a report's categories, by input. `asked` are its questions.
 * promise() gives the probabilities for another `keep`; place() finds the category of a report,
 * undefined if it is not a valid report.
 *
 * @param {Pick<Table, "kind" | "asked" | "given" | "values" | "keep" | "runs" | "promise" | "place">} parts
 * @returns {Table}
 */
function table(parts) {
  const promised = parts.promise(parts.keep);
  return { ...parts, promised, counts: promised.map((row) => row.map(() => 0)), impossible: 0 };
}

/**
 * Every combination of values of these questions is a category.
 * @param {Design} design
 * @param {Block} block
 * @param {Input[]} inputs
 * @param {number[]} runs
 * @param {number[]} some
 */
function byValues({ scale }, { key, keep, questions }, inputs, runs, some) {
  const cells = count(questions);
  const all = some.length === questions.length;
  const values = all ? everyCell(questions) : valuesOf(questions, some[0]).map((value) => [value]);
  const shares = values.map((one) => {
    if (one[0] === null && blanksOf(questions[0])) return blanksOf(questions[0]) / cells;
    return (all ? 1 : count(questions, some[0], one[0])) / cells;
  });
  const places = new Map(values.map((one, category) => [one.join(), category]));
  /** @param {Value[]} cell */
  const placeOf = (cell) => places.get(some.map((i) => cell[i]).join());
  const owns = inputs.map(({ own }) => {
    const row = values.map(() => 0);
    for (const { cell, chance } of own) row[Number(placeOf(cell))] += chance;
    return row;
  });
  return table({
    kind: "cells",
    asked: some.map((i) => questions[i]),
    given: inputs.map(({ answers }) => some.map((i) => answers[i])),
    values,
    keep,
    runs,
    promise: (other) =>
      owns.map((row) => row.map((own, i) => mixed(other / scale, own, shares[i]))),
    place: (report) => (isCell(questions, report[key]) ? placeOf(report[key]) : undefined),
  });
}

/**
 * Two categories for blocks with many combinations: unchanged or changed.
 * @param {Design} design
 * @param {Block} block
 * @param {Input[]} inputs
 * @param {number[]} runs
 */
function asPutIn({ scale }, { key, keep, questions }, inputs, runs) {
  const cells = count(questions);
  const shares = inputs.map(({ own }) => {
    const each = own.map(({ cell }) => (cell[0] === null && blanksOf(questions[0])) || 1);
    return each.reduce((sum, one) => sum + one, 0) / cells;
  });
  return table({
    kind: "whole",
    asked: questions,
    given: inputs.map(({ answers }) => answers),
    values: [],
    keep,
    runs,
    promise: (other) =>
      shares.map((share) => {
        const same = mixed(other / scale, 1, share);
        return [same, 1 - same];
      }),
    place: (report, row) => {
      if (!isCell(questions, report[key])) return undefined;
      return cameOut(inputs[row], report[key]) ? 0 : 1;
    },
  });
}

/**
 * How many of the blocks come out unchanged together: each needs a coin of its own.
 * @param {Design} design
 * @param {{ block: Block, inputs: Input[] }[]} asked
 * @param {number} turns
 */
function together(design, asked, turns) {
  const each = asked.map(({ block, inputs }) => asPutIn(design, block, inputs, []));
  /** @param {number} turn */
  const law = (turn) =>
    each.reduce(
      (before, { promised }) => {
        const [same] = promised[turn % promised.length];
        return [...before, 0].map((chance, i) => chance * (1 - same) + (before[i - 1] ?? 0) * same);
      },
      [1],
    );
  return table({
    kind: "together",
    asked: each.flatMap((one) => one.asked),
    given: range(turns).map((turn) => each.flatMap(({ given }) => given[turn % given.length])),
    values: [],
    keep: 0,
    runs: runsOf(turns, turns),
    promise: () => range(turns).map(law),
    place: (report, turn) => {
      const places = each.map((one) => one.place(report, turn % one.given.length));
      return places.includes(undefined) ? undefined : places.filter((place) => place === 0).length;
    },
  });
}

/**
 * The probability of a category: the person's own with c, otherwise a share of all cells.
 * @param {number} c
 * @param {number} own
 * @param {number} share
 */
function mixed(c, own, share) {
  return c * own + (1 - c) * share;
}

/**
 * Run a plan and fill its tallies. Yields after every run, so that the page stays responsive.
 * @param {Design} design
 * @param {Round[]} rounds
 * @param {typeof import("../respond/randomizer.js").randomize} randomize
 * @param {import("../respond/randomizer.js").Draw} draw
 */
export function* run(design, rounds, randomize, draw) {
  for (const { inputs, tables, blocks } of rounds) {
    for (let i = 0; i < RUNS; i++) {
      const turn = i % inputs.length;
      const report = randomize(design, { ...inputs[turn] }, draw) ?? {};
      for (const one of tables) {
        const row = turn % one.counts.length;
        const category = one.place(report, row);
        if (category === undefined) one.impossible += 1;
        else one.counts[row][category] += 1;
      }
      for (const { block, inputs: own, seen } of blocks) {
        seen.forEach((row, which) => {
          if (cameOut(own[which], report[block.key])) row[turn % own.length] += 1;
        });
      }
      yield;
    }
  }
}

/* --- How it is judged ------------------------------------------------------------------------- */

/**
 * Below this p-value, a table rejects the randomizer.
 * @param {Round[]} rounds
 */
export function limitOf(rounds) {
  return ALARM / rounds.reduce((count, { tables }) => count + tables.length, 0);
}

/**
 * Judge a table by all its inputs together: {p, fits, inputs}. Each input has its own p, the deviation
 * of every category in standard errors, and the largest one.
 *
 * @param {Pick<Table, "promised" | "counts" | "runs" | "impossible">} table
 * @param {number} limit
 */
export function judge({ promised, counts, runs: all, impossible }, limit) {
  const tests = counts.map((row, input) => fit(row, promised[input]));
  const inputs = tests.map(({ statistic, freedom }, input) => {
    const runs = all[input];
    const deviations = counts[input].map((count, category) => {
      const chance = promised[input][category];
      return (count - runs * chance) / Math.sqrt(runs * chance * (1 - chance));
    });
    const largest = Math.max(...deviations.map(Math.abs));
    return { p: chiSquareTail(statistic, freedom), runs, deviations, largest };
  });
  const [statistic, freedom] = /** @type {const} */ (["statistic", "freedom"]).map((what) =>
    tests.reduce((sum, test) => sum + test[what], 0),
  );
  const p = impossible ? 0 : chiSquareTail(statistic, freedom);
  return { p, fits: p >= limit, inputs };
}

/**
 * The loss that the runs prove for a block, with 95 % confidence for all blocks together. Compares
 * every pair of inputs.
 *
 * @param {Pick<CheckedBlock, "seen" | "runs">} block
 * @param {number} blocks
 */
export function provenLoss({ seen, runs }, blocks) {
  const pairs = seen.flatMap((row, which) =>
    row.map((_, other) => ({ row, which, other })).filter(({ other }) => other !== which),
  );
  const alpha = DOUBT / blocks / pairs.length;
  const proofs = pairs.map(({ row, which, other }) =>
    lossAtLeast(row[which], runs[which], row[other], runs[other], alpha),
  );
  return Math.max(...proofs);
}

/**
 * What the tests of a block would find: `slightly` is their power if the keep probability is off by
 * 0.01, up or down; from `surely` on they find it in 99 of 100 checks.
 *
 * @param {Design} design
 * @param {Table[]} tables
 * @param {number} limit
 */
export function sharpness(design, tables, limit) {
  /** @param {number} shift */
  const finds = (shift) => Math.max(0, ...tables.map((one) => noticed(design, one, limit, shift)));
  let step = 1;
  while (finds(step / 1000) < NEARLY_ALWAYS && step < 1000) step += 1;
  return { slightly: finds(0.01), surely: step / 1000 };
}

/**
 * The power of a table's test if the keep probability is off by `shift`.
 * @param {Design} design
 * @param {Pick<Table, "keep" | "promise" | "promised" | "runs">} table
 * @param {number} limit
 * @param {number} shift
 */
export function noticed(design, { keep, promise, promised, runs }, limit, shift) {
  const moved = promise(keep + shift * design.scale);
  const terms = promised.flatMap((row, input) =>
    row.map((chance, i) => (runs[input] * (moved[input][i] - chance) ** 2) / chance),
  );
  const freedom = terms.length - promised.length;
  const distance = terms.reduce((sum, term) => sum + term, 0);
  return power(chiSquareLimit(limit, freedom), freedom, distance);
}
