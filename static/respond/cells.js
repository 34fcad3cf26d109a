/*
 * The cells of a block: which combinations of answers a person can have, and how many.
 *
 * Pure, and apart from the randomizer: what a page states or checks about that file does not come
 * out of it. A design that it has not accepted has no place here.
 */

/**
 * @typedef {import("./randomizer.js").Question} Question
 * @typedef {import("./randomizer.js").Answer} Answer
 * @typedef {import("./randomizer.js").Value} Value
 */

/**
 * How many values a question can have when it is asked: options, or the levels of a number.
 * @param {Question} question
 */
export function sizeOf({ kind, options, levels = 0 }) {
  return kind === "number" ? levels + 1 : options.length;
}

/**
 * How many blanks multiple choice has among its cells, told apart; 0 for any other kind.
 * @param {Question} question
 */
export function blanksOf({ kind, picks = 0 }) {
  return kind === "several" ? picks : 0;
}

/**
 * Whether the next question is asked of somebody who gave these answers to those before it.
 * @param {Question[]} questions
 * @param {Answer[]} before
 */
export function isAsked(questions, before) {
  const only = questions[before.length].only_if;
  if (!only) return true;
  const gate = questions.findIndex(({ key }) => key === only.question);
  return questions[gate].options.some(
    ({ key }, position) => position === before[gate] && only.options.includes(String(key)),
  );
}

/**
 * How many cells a block has; with a question and a value, how many of them have that.
 * @param {Question[]} questions
 * @param {number} [fixed]
 * @param {Value} [value]
 * @param {Value[]} [before]
 * @returns {number}
 */
export function count(questions, fixed, value = null, before = []) {
  if (before.length === questions.length) return 1;
  const here = questions[before.length];
  const asked = isAsked(questions, before);
  const length = asked ? sizeOf(here) + blanksOf(here) : 1;
  const all = Array.from({ length }, (_, i) => (asked ? i : null));
  const values = before.length === fixed ? all.filter((one) => one === value) : all;
  /** @param {Value} one */
  const rest = (one) => count(questions, fixed, value, [...before, one]);
  const decides = questions.some(({ only_if }) => only_if && only_if.question === here.key);
  if (!decides) return values.length && values.length * rest(values[0]); // later it is the same
  return values.map(rest).reduce((sum, one) => sum + one, 0);
}
