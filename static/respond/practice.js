/*
 * The practice question: the real randomizer with the odds of the real survey, on an answer that
 * nobody minds. Nothing of it is sent or kept.
 */

import { randomize } from "./randomizer.js";

const TRIES = 100;

/* A design of one yes/no question with the same coin as the survey's first block. */
export function practiceDesign(design) {
  const { epsilon, keep } = design.blocks[0];
  const options = [{ key: "no" }, { key: "yes" }];
  const block = { key: "practice", epsilon, keep, questions: [{ key: "practice", options }] };
  const { mechanism, scale } = design;
  return { mechanism, scale, epsilon, ask: 1, blocks: [block], strata: [] };
}

/* How many of 100 reports say “yes” when this is the answer: 0 no, 1 yes. */
export function tryOut(design, answer, draw) {
  let yes = 0;
  for (let i = 0; i < TRIES; i++) yes += randomize(design, { practice: [answer] }, draw).practice[0];
  return { yes, no: TRIES - yes };
}
