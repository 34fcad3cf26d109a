/*
 * The figures that a page may state, computed from a survey's design and from nothing else.
 *
 * Pure: no DOM, no network, no words, and no randomness but what the practice question is given.
 * Everything follows from `keep`, the integer that the randomizer really compares with, so that no
 * figure on a page can be kinder than what happens. No figure here depends on an answer.
 */

import { blanksOf, count, sizeOf } from "./cells.js";
import { loss, randomize } from "./randomizer.js";

export { loss };

/**
 * @typedef {import("./randomizer.js").Block} Block
 * @typedef {import("./randomizer.js").Design} Design
 * @typedef {{ count: number, edge: "above" | "below" | null }} Share
 */

const WEAK = Math.log(19); // above this total, somebody could be more than 95 in 100 sure

/**
 * What one value of a question (an option's position, a number's level), taken alone, goes through:
 * a = P(it is reported | it is true), b = P(it is reported | it is not true).
 *
 * @param {Block} block
 * @param {number} question
 * @param {number} value
 * @param {number} scale
 */
export function channel({ keep, questions }, question, value, scale) {
  const c = keep / scale;
  const b = ((1 - c) * count(questions, question, value)) / count(questions);
  return { a: c / (blanksOf(questions[0]) || 1) + b, b };
}

/**
 * What one respondent spends on the sensitive answers, whichever blocks chance picks: the `ask`
 * largest, summed. Background answers have an epsilon of their own.
 *
 * @param {Design} design
 */
export function total({ ask, blocks }) {
  const losses = blocks.filter(({ background }) => !background).map(loss);
  return sum(losses.sort((a, b) => b - a).slice(0, ask));
}

/**
 * What each background answer costs; everybody is asked for all of them.
 * @param {Design} design
 */
export function backgroundLosses(design) {
  return design.blocks.filter(({ background }) => background).map(loss);
}

/**
 * What a whole report costs: the sensitive answers and every background answer.
 * @param {Design} design
 */
export function reportTotal(design) {
  return total(design) + sum(backgroundLosses(design));
}

/** @param {number[]} losses */
function sum(losses) {
  return losses.reduce((all, one) => all + one, 0);
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
 * The share of reports that show the answer to this question as it was given; where that depends on
 * the answer, the largest.
 *
 * @param {Design} design
 * @param {Block} block
 * @param {number} question
 */
export function kept(design, block, question) {
  const size = sizeOf(block.questions[question]);
  const shares = Array.from({ length: size }, (_, value) => channel(block, question, value, design.scale).a);
  return Math.max(...shares);
}

/**
 * The least and the largest `kept` among the sensitive questions of a design.
 * @param {Design} design
 */
export function keptRange(design) {
  const sensitive = design.blocks.filter(({ background }) => !background);
  const shares = sensitive.flatMap((block) =>
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
 * The real randomizer on an answer that nobody minds, with a coin that costs as much as all the
 * sensitive answers: what such a report says is the most that these can say in a report. Nothing of
 * it is sent or kept.
 */

const TRIES = 100;
const MOST = 8; // what one block may cost

/**
 * A design of one yes/no question that spends what the survey spends on the sensitive answers.
 * @param {Design} design
 */
export function practiceDesign(design) {
  const { mechanism, scale } = design;
  const epsilon = Math.min(total(design), MOST);
  const keep = Math.floor(scale * Math.tanh(epsilon / 2)); // (e^ε - 1) / (e^ε - 1 + 2)
  const options = [{ key: "no" }, { key: "yes" }];
  const block = { key: "practice", epsilon, keep, questions: [{ key: "practice", options }] };
  return { mechanism, scale, epsilon, ask: 1, blocks: [block] };
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
  for (let i = 0; i < TRIES; i++) yes += Number(randomize(design, answers, draw).practice[0]);
  return { yes, no: TRIES - yes };
}
