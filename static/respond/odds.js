/*
 * The figures on a page, computed only from a survey's design.
 *
 * Pure: no DOM, no network, no words, and no randomness except the practice question's argument.
 * Everything follows from `keep`, the integer that the randomizer uses, so no figure can promise more
 * than what happens. No figure depends on an answer.
 */

import { blanksOf, count, sizeOf } from "./cells.js";
import { loss, randomize } from "./randomizer.js";

export { loss };

/**
 * @typedef {import("./randomizer.js").Block} Block
 * @typedef {import("./randomizer.js").Design} Design
 * @typedef {{ count: number, edge: "above" | "below" | null }} Share
 */

// Up to these counts out of 100, someone can hardly tell an answer, or can guess it; above, the
// protection is weak.
const HARDLY = 75;
const GUESS = 90;

/**
 * The channel of one value of a question (an option's position, a number's level): a is the
 * probability of reporting it if it is true, b if it is not.
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
 * The epsilon of the sensitive answers, whichever blocks chance picks: the sum of the `ask` largest.
 * Background answers have their own.
 *
 * @param {Design} design
 */
export function total({ ask, blocks }) {
  const losses = blocks.filter(({ background }) => !background).map(loss);
  return sum(losses.sort((a, b) => b - a).slice(0, ask));
}

/**
 * The epsilon of each background answer. Everyone is asked all of them.
 * @param {Design} design
 */
export function backgroundLosses(design) {
  return design.blocks.filter(({ background }) => background).map(loss);
}

/**
 * The epsilon of a whole report: the sensitive answers and every background answer.
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
 * How sure someone who guessed 50:50 can become, at most, by seeing a report.
 * @param {number} epsilon
 */
export function sure(epsilon) {
  return 1 / (1 + Math.exp(-epsilon));
}

/**
 * How a page puts into words what a report with this epsilon reveals. It follows the count that the
 * page shows.
 *
 * @param {number} epsilon
 * @returns {"hardly" | "guess" | "nearly"}
 */
export function grade(epsilon) {
  const { count } = outOf100(sure(epsilon));
  if (count <= HARDLY) return "hardly";
  return count <= GUESS ? "guess" : "nearly";
}

/**
 * The share of reports that show the given value of this question, which may depend on the value:
 * the smallest and the largest. A number's values are its levels and its options.
 *
 * @param {Design} design
 * @param {Block} block
 * @param {number} question
 */
export function kept({ scale }, block, question) {
  const size = sizeOf(block.questions[question]);
  const shares = Array.from({ length: size }, (_, value) => channel(block, question, value, scale).a);
  return { least: Math.min(...shares), most: Math.max(...shares) };
}

/**
 * A share as a count out of 100. It is never rounded to 0 or 100: the count stays between 1 and 99,
 * and `edge` says if the share is beyond.
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
 * The rest of the 100, so that the two rounded counts add up.
 * @param {Share} share
 * @returns {Share}
 */
export function rest({ count, edge }) {
  return { count: 100 - count, edge: edge && (edge === "above" ? "below" : "above") };
}

/* --- The practice question ----------------------------------------------------------------------
 *
 * The real randomizer on a harmless answer, with the epsilon of all sensitive answers: its reports
 * say as much as the sensitive answers can. Nothing is sent or stored.
 */

const MAX_EPSILON = 8; // of one block

/**
 * A design of one yes/no question with the epsilon of the survey's sensitive answers.
 * @param {Design} design
 */
export function practiceDesign(design) {
  const { mechanism, scale } = design;
  const epsilon = Math.min(total(design), MAX_EPSILON);
  const keep = Math.floor(scale * Math.tanh(epsilon / 2)); // (e^ε - 1) / (e^ε - 1 + 2)
  const options = [{ key: "no" }, { key: "yes" }];
  const block = { key: "practice", epsilon, keep, questions: [{ key: "practice", options }] };
  return { mechanism, scale, epsilon, ask: 1, blocks: [block] };
}

/**
 * What a report says, 0 no or 1 yes, if this is the answer.
 * @param {Design} design
 * @param {number} answer
 * @param {import("./randomizer.js").Draw} draw
 */
export function tryOut(design, answer, draw) {
  return Number(randomize(design, { practice: [answer] }, draw).practice[0]);
}
