/*
 * The check: what is run, how its reports are counted, and how the tallies are judged.
 *
 * Pure: the randomizer and its chance are arguments, and nothing here has words or a page. The
 * promised probabilities are computed from `keep` alone, not by the code that is checked.
 */

import { LEAST, chiSquareLimit, chiSquareTail, fit, lossAtLeast, power } from "./statistics.js";

/**
 * @typedef {import("../respond/randomizer.js").Design} Design
 * @typedef {import("../respond/randomizer.js").Block} Block
 * @typedef {import("../respond/randomizer.js").Answers} Answers
 * @typedef {Block["questions"][number]} Question
 * @typedef {{ same: number, other: number }} Chances
 *
 * @typedef {object} Table
 * @property {"cells" | "whole" | "together"} kind
 * @property {Question[]} asked
 * @property {number} keep
 * @property {(keep: number) => number[][]} promise
 * @property {number[][]} promised
 * @property {number[][]} counts
 * @property {number} impossible
 * @property {(report: Answers, answers: Answers) => number | undefined} place
 * @property {ReturnType<typeof judge>} [verdict]
 *
 * @typedef {{ block: Block, tables: Table[], seen: number[][] }} CheckedBlock
 * @typedef {{ inputs: Answers[], blocks: CheckedBlock[], joint: Table[], tables: Table[] }} Round
 */

export const RUNS = 100_000; // of one set of blocks; the two inputs take turns
export const ALARM = 0.001; // the chance that any test rejects a right randomizer, at most
export const DOUBT = 0.05; // the chance that any bound on the loss is above the real one, at most
const NEARLY_ALWAYS = 0.99;
const FEW_CELLS = 16; // combinations of answers that are looked at one by one
const FEW_OPTIONS = 32; // options of one question that are

/* A block of one question and a block of two, for whoever has no survey to check. */
const LN3 = 1.0986122886681098; // browsers compute Math.log(3) with differing last digits
export const EXAMPLE = Object.freeze({
  mechanism: "replace/1",
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
  return { number, options: [{ key: "no" }, { key: "yes" }] };
}

/**
 * What a mechanism promises for some of a block's questions, with so many combinations of answers:
 * the probability that all of them are reported as they are, and of any one other combination.
 *
 * @type {Readonly<Record<Design["mechanism"], (keep: number, scale: number, cells: number) => Chances>>}
 */
export const CHANCES = Object.freeze({
  __proto__: null,
  "replace/1": (keep, scale, cells) => {
    const other = (scale - keep) / scale / cells;
    return { same: keep / scale + other, other };
  },
});

/* --- What is run ------------------------------------------------------------------------------ */

/**
 * The rounds of a check, with empty tallies. A respondent is asked `ask` blocks, so that many are
 * run together; a last set that would be smaller is filled up with blocks that had their turn.
 *   inputs  two answers to every question: the first options everywhere, the last ones everywhere
 *   blocks  {block, tables, seen}: what is compared with its probabilities, and how often the one
 *           and the other input came out, for the bound on the loss
 *   joint   tables that look at several blocks
 *   tables  all of them
 *
 * @param {Design} design
 * @returns {Round[]}
 */
export function plan(design) {
  const { ask, blocks } = design;
  /** @type {Round[]} */
  const rounds = [];
  // A design that the randomizer will refuse may ask for none.
  for (let start = 0; start < blocks.length; start += Math.max(1, ask)) {
    const from = Math.min(start, blocks.length - ask);
    const asked = blocks.slice(from, from + ask);
    /** @type {((question: Question) => number)[]} */
    const ends = [() => 0, ({ options }) => options.length - 1];
    const fresh = blocks.slice(start, start + ask).map((block) => ({
      block,
      tables: tablesOf(design, block),
      seen: [[0, 0], [0, 0]],
    }));
    const joint = ask > 1 ? [together(design, asked)] : [];
    rounds.push({
      inputs: ends.map((end) =>
        Object.fromEntries(asked.map(({ key, questions }) => [key, questions.map(end)])),
      ),
      blocks: fresh,
      joint,
      tables: [...fresh.flatMap(({ tables }) => tables), ...joint],
    });
  }
  return rounds;
}

/** @param {Design} design @param {Block} block */
function tablesOf(design, block) {
  const all = block.questions.map((_, i) => i);
  if (cellsOf(block, all) <= FEW_CELLS) return [cellByCell(design, block, all)];
  const few = all.filter((i) => block.questions[i].options.length <= FEW_OPTIONS);
  const each = few.map((i) => cellByCell(design, block, [i]));
  const whole = asPutIn(design, block, all);
  return whole.promised[0][0] * (RUNS / 2) >= LEAST ? [whole, ...each] : each;
}

/**
 * A table: the probabilities of a report's categories and their counts, both by input; `asked` are
 * the questions it looks at. promise() has the probabilities for another `keep`; place() finds the
 * category of a report, given the answers that were put in, undefined if it is no report at all.
 *
 * @param {Table["kind"]} kind
 * @param {Question[]} asked
 * @param {number} keep
 * @param {Table["promise"]} promise
 * @param {Table["place"]} place
 * @returns {Table}
 */
function table(kind, asked, keep, promise, place) {
  const promised = promise(keep);
  const counts = promised.map((row) => row.map(() => 0));
  return { kind, asked, keep, promise, promised, counts, impossible: 0, place };
}

/**
 * Every combination of answers to these questions is a category.
 * @param {Design} design
 * @param {Block} block
 * @param {number[]} questions
 */
function cellByCell(design, block, questions) {
  const cells = cellsOf(block, questions);
  /** @param {number} keep */
  const promise = (keep) => {
    const { same, other } = CHANCES[design.mechanism](keep, design.scale, cells);
    return [0, cells - 1].map((input) =>
      Array.from({ length: cells }, (_, cell) => (cell === input ? same : other)),
    );
  };
  /** @param {Answers} report */
  const place = (report) => cellOf(block, questions, report[block.key]);
  return table("cells", questions.map((i) => block.questions[i]), block.keep, promise, place);
}

/**
 * Two categories, for blocks with many combinations: as it was put in, or otherwise.
 * @param {Design} design
 * @param {Block} block
 * @param {number[]} questions
 */
function asPutIn(design, block, questions) {
  /** @param {number} keep */
  const promise = (keep) => {
    const { same } = CHANCES[design.mechanism](keep, design.scale, cellsOf(block, questions));
    return [[same, 1 - same], [same, 1 - same]];
  };
  /** @param {Answers} report @param {Answers} answers */
  const place = (report, answers) => {
    const cell = cellOf(block, questions, report[block.key]);
    if (cell === undefined) return undefined;
    return cell === cellOf(block, questions, answers[block.key]) ? 0 : 1;
  };
  return table("whole", block.questions, block.keep, promise, place);
}

/**
 * How many of the blocks asked come out as they were put in: each needs chance of its own.
 * @param {Design} design
 * @param {Block[]} blocks
 */
function together(design, blocks) {
  const each = blocks.map((block) => asPutIn(design, block, block.questions.map((_, i) => i)));
  const law = each.reduce(
    (before, { promised: [[same]] }) =>
      [...before, 0].map((chance, i) => chance * (1 - same) + (before[i - 1] ?? 0) * same),
    [1],
  );
  /** @param {Answers} report @param {Answers} answers */
  const place = (report, answers) => {
    const places = each.map((one) => one.place(report, answers));
    return places.includes(undefined) ? undefined : places.filter((place) => place === 0).length;
  };
  const asked = blocks.flatMap(({ questions }) => questions);
  return table("together", asked, 0, () => [law, law], place);
}

/** @param {Block} block @param {number[]} some */
function cellsOf({ questions }, some) {
  return some.reduce((product, i) => product * questions[i].options.length, 1);
}

/**
 * The number of a combination, the last question running fastest; undefined if it is none.
 * @param {Block} block
 * @param {number[]} some
 * @param {unknown} report
 */
function cellOf({ questions }, some, report) {
  if (!Array.isArray(report) || report.length !== questions.length) return undefined;
  let cell = 0;
  for (const i of some) {
    const { length } = questions[i].options;
    if (!Number.isInteger(report[i]) || report[i] < 0 || report[i] >= length) return undefined;
    cell = cell * length + report[i];
  }
  return cell;
}

/**
 * The option positions of a combination: the way back.
 * @param {{ options: unknown[] }[]} questions
 * @param {number} cell
 * @returns {number[]}
 */
export function positionsOf(questions, cell) {
  return questions.reduceRight((found, { options }) => {
    found.unshift(cell % options.length);
    cell = Math.floor(cell / options.length);
    return found;
  }, /** @type {number[]} */ ([]));
}

/**
 * Runs a plan and fills its tallies; yields after every run, so that a page can breathe.
 * @param {Design} design
 * @param {Round[]} rounds
 * @param {typeof import("../respond/randomizer.js").randomize} randomize
 * @param {import("../respond/randomizer.js").Draw} draw
 */
export function* run(design, rounds, randomize, draw) {
  for (const { inputs, tables, blocks } of rounds) {
    for (let i = 0; i < RUNS; i++) {
      const input = i % 2;
      const report = randomize(design, { ...inputs[input] }, draw) ?? {};
      for (const one of tables) {
        const category = one.place(report, inputs[input]);
        if (category === undefined) one.impossible += 1;
        else one.counts[input][category] += 1;
      }
      for (const { block, seen } of blocks) {
        const given = report[block.key];
        seen.forEach((row, which) => {
          const answers = inputs[which][block.key];
          if (answers.every((answer, k) => answer === given?.[k])) row[input] += 1;
        });
      }
      yield;
    }
  }
}

/* --- How it is judged ------------------------------------------------------------------------- */

/**
 * Below this, the p of one table speaks against the randomizer.
 * @param {Round[]} rounds
 */
export function limitOf(rounds) {
  return ALARM / rounds.reduce((count, { tables }) => count + tables.length, 0);
}

/**
 * Both inputs of a table together decide: {p, fits, inputs}, where an input has a p of its own, the
 * deviation of every category in standard errors, and the largest of them.
 *
 * @param {Pick<Table, "promised" | "counts" | "impossible">} table
 * @param {number} limit
 */
export function judge({ promised, counts, impossible }, limit) {
  const tests = counts.map((row, input) => fit(row, promised[input]));
  const runs = RUNS / 2;
  const inputs = tests.map(({ statistic, freedom }, input) => {
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
 * The loss that the runs prove for a block, for all blocks together with 95 % confidence. Two
 * events are looked at, that the one input comes out and that the other does.
 *
 * @param {number[][]} seen
 * @param {number} blocks
 */
export function provenLoss(seen, blocks) {
  const each = RUNS / 2;
  const alpha = DOUBT / blocks / seen.length;
  const proofs = seen.map((row, which) =>
    lossAtLeast(row[which], each, row[1 - which], each, alpha),
  );
  return Math.max(...proofs);
}

/**
 * What the tests of a block would notice: `slightly` is how likely they find that the chance to
 * keep is off by 0.01, up or down; from `surely` on they find it in 99 of 100 checks.
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
 * How likely a table's test rejects a randomizer whose chance to keep is off by `shift`.
 * @param {Design} design
 * @param {Pick<Table, "keep" | "promise" | "promised">} table
 * @param {number} limit
 * @param {number} shift
 */
export function noticed(design, { keep, promise, promised }, limit, shift) {
  const moved = promise(keep + shift * design.scale);
  const terms = promised.flatMap((row, input) =>
    row.map((chance, i) => ((RUNS / 2) * (moved[input][i] - chance) ** 2) / chance),
  );
  const freedom = terms.length - promised.length;
  const distance = terms.reduce((sum, term) => sum + term, 0);
  return power(chiSquareLimit(limit, freedom), freedom, distance);
}
