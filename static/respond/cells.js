/*
 * The cells of a block: the combinations of answers that a person can have.
 *
 * Pure, and separate from the randomizer, so that a page checks that file with other code. Only for
 * designs that the randomizer accepts.
 */

/**
 * @typedef {import("./randomizer.js").Question} Question
 * @typedef {import("./randomizer.js").Answer} Answer
 * @typedef {import("./randomizer.js").Value} Value
 */

export const DECLINED = "prefer-not-to-say"; // the key of an option instead of an answer

/**
 * The number of values of a question that is asked: the levels of a number, then the options.
 * @param {Question} question
 */
export function sizeOf(question) {
  return levelsOf(question) + question.options.length;
}

/**
 * The number of levels of a number; 0 for any other kind.
 * @param {Question} question
 */
export function levelsOf({ kind, levels = 0 }) {
  return kind === "number" ? levels + 1 : 0;
}

/**
 * The number of different blanks of multiple choice; 0 for any other kind.
 * @param {Question} question
 */
export function blanksOf({ kind, picks = 0 }) {
  return kind === "several" ? picks : 0;
}

/**
 * Whether someone who gave these answers is asked the next question.
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
 * The number of cells of a block, or of those with a given value for a question.
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
  if (!decides) return values.length && values.length * rest(values[0]); // no later question depends on it, so count one value
  return values.map(rest).reduce((sum, one) => sum + one, 0);
}
