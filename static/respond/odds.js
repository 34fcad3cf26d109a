/*
 * The figures that a page may state, computed from a survey's design and from nothing else.
 *
 * Pure: no DOM, no network, no words, and no randomness but what the practice question is given.
 * Everything follows from `keep`, the integer that the randomizer really compares with, so that no
 * figure on a page can be kinder than what happens. No figure here depends on an answer.
 */

import { MECHANISMS, randomize } from "./randomizer.js";

/**
 * @typedef {import("./randomizer.js").Block} Block
 * @typedef {import("./randomizer.js").Design} Design
 * @typedef {{ count: number, edge: "above" | "below" | null }} Share
 */

const WEAK = Math.log(19); // above this total, somebody could be more than 95 in 100 sure

/**
 * What one question of a block, taken alone, goes through: a = P(an option is reported | it is
 * true), b = P(it is reported | it is not true). One entry for each of the randomizer's mechanisms.
 *
 * @type {Readonly<Record<Design["mechanism"], (block: Block, question: number, scale: number) => { a: number, b: number }>>}
 */
export const CHANNELS = Object.freeze({
  __proto__: null,
  "replace/1": ({ keep, questions }, question, scale) => {
    const c = keep / scale;
    const b = (1 - c) / questions[question].options.length;
    return { a: c + b, b };
  },
});

/**
 * What one block spends.
 * @param {Design} design
 * @param {Block} block
 */
export function loss(design, block) {
  const cells = block.questions.reduce((product, { options }) => product * options.length, 1);
  return MECHANISMS[design.mechanism].loss(block, cells, block.key);
}

/**
 * What one respondent spends in all, whichever blocks chance picks: the `ask` largest, summed.
 * @param {Design} design
 */
export function total(design) {
  const losses = design.blocks.map((block) => loss(design, block)).sort((a, b) => b - a);
  return losses.slice(0, design.ask).reduce((sum, one) => sum + one, 0);
}

/**
 * How sure somebody can be at most after seeing a report, who thought it 50:50 before.
 * @param {number} epsilon
 */
export function sure(epsilon) {
  return 1 / (1 + Math.exp(-epsilon));
}

/**
 * Whether a page has to call the protection weak.
 * @param {number} epsilon
 */
export function isWeak(epsilon) {
  return epsilon > WEAK;
}

/**
 * The share of reports that show the answer to this question as it was given.
 * @param {Design} design
 * @param {Block} block
 * @param {number} question
 */
export function kept(design, block, question) {
  return CHANNELS[design.mechanism](block, question, design.scale).a;
}

/**
 * The least and the largest `kept` among all questions of a design.
 * @param {Design} design
 */
export function keptRange(design) {
  const shares = design.blocks.flatMap((block) =>
    block.questions.map((_, question) => kept(design, block, question)),
  );
  return { least: Math.min(...shares), most: Math.max(...shares) };
}

/**
 * A share as a count out of 100, for people. Chance is never rounded to "never" or "always": the
 * count stays within 1 and 99, and `edge` says so where the share is beyond.
 *
 * @param {number} share
 * @returns {Share}
 */
export function outOf100(share) {
  const count = Math.round(100 * share);
  if (count < 1) return { count: 1, edge: "below" };
  if (count > 99) return { count: 99, edge: "above" };
  return { count, edge: null };
}

/**
 * What is left of the 100: the two always add up, though both are rounded.
 * @param {Share} share
 * @returns {Share}
 */
export function rest({ count, edge }) {
  return { count: 100 - count, edge: edge && (edge === "above" ? "below" : "above") };
}

/* --- The practice question ----------------------------------------------------------------------
 *
 * The real randomizer on an answer that nobody minds, with a coin that costs as much as the whole
 * survey: what such a report says is the most that a whole report of the survey can say. Nothing of
 * it is sent or kept.
 */

const TRIES = 100;
const MOST = 8; // what one block may cost

/**
 * A design of one yes/no question that spends what the survey spends in all.
 * @param {Design} design
 */
export function practiceDesign(design) {
  const { mechanism, scale } = design;
  const epsilon = Math.min(total(design), MOST);
  const keep = Math.floor(scale * Math.tanh(epsilon / 2)); // (e^ε - 1) / (e^ε - 1 + 2)
  const options = [{ key: "no" }, { key: "yes" }];
  const block = { key: "practice", epsilon, keep, questions: [{ key: "practice", options }] };
  return { mechanism, scale, epsilon, ask: 1, blocks: [block], strata: [] };
}

/**
 * How many of 100 reports say “yes” when this is the answer: 0 no, 1 yes.
 * @param {Design} design
 * @param {number} answer
 * @param {import("./randomizer.js").Draw} draw
 */
export function tryOut(design, answer, draw) {
  const answers = { practice: [answer] };
  let yes = 0;
  for (let i = 0; i < TRIES; i++) yes += randomize(design, answers, draw).practice[0];
  return { yes, no: TRIES - yes };
}
