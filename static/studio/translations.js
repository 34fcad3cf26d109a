/*
 * The translations of a draft: which texts there are to translate, and which are missing. Pure: no
 * page, no network.
 */

import { KINDS } from "./kinds/index.js";
import { ORIGINAL, TEXTS, isOurs } from "./texts.js";

/**
 * @typedef {import("./types.js").Held} Held
 * @typedef {import("./types.js").OptionField} OptionField
 * @typedef {import("./types.js").Ours} Ours
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").TextName} TextName
 */

/* Names and addresses need no translation. */
/** @type {TextName[]} */
const NAMES = ["asked_by", "contact"];

/**
 * How many of Candor's options come before and after a question's own.
 * @param {{ kind: string }} question
 */
export const before = ({ kind }) => KINDS[kind].ourOptions;
/** @param {{ declined: boolean }} question */
export const after = ({ declined }) => (declined ? 1 : 0);

/**
 * The options that the author wrote, if the question has any.
 * @param {Held} question
 */
export const ownOptions = ({ kind, options }) => (KINDS[kind].writesOptions ? options : []);

/**
 * Every question, background questions last. No two have the same key.
 * @param {State} state
 */
export const allQuestions = ({ questions, background }) => [...questions, ...background];

/**
 * The fields for a question's translated options, in order: `holder[at]` and the original text. They
 * include Candor's options if it has no words in the language.
 *
 * @param {Held} question
 * @param {string} tag
 * @param {Ours} ours
 * @returns {OptionField[]}
 */
export function optionFields(question, tag, ours) {
  const own = ownOptions(question).map((option) => ({
    holder: option.text,
    at: tag,
    original: option.text[ORIGINAL],
    option,
  }));
  if (isOurs(tag, ours)) return own;
  const words = ours.en;
  question.ours[tag] ??= ["", "", ""];
  const mine = [0, 1, 2].map((at) => ({ holder: question.ours[tag], at, original: words[at] }));
  return [...mine.slice(0, before(question)), ...own, ...(after(question) ? [mine[2]] : [])];
}

/**
 * Whether a question has a unit to translate.
 * @param {Held} question
 */
export const hasUnit = ({ kind, unit }) => KINDS[kind].members.includes("unit") && Boolean(unit[ORIGINAL]?.trim());

/**
 * How many texts have no translation yet.
 * @param {State} state
 * @param {string} tag
 * @param {Ours} ours
 */
export function missing(state, tag, ours) {
  /** @param {string} original @param {string} [text] */
  const gap = (original, text) => (original.trim() && !text?.trim() ? 1 : 0);
  let count = 0;
  for (const name of TEXTS) {
    if (!NAMES.includes(name)) count += gap(state[name][ORIGINAL], state[name][tag]);
  }
  for (const question of allQuestions(state)) {
    count += gap(question.text[ORIGINAL], question.text[tag]);
    if (hasUnit(question)) count += gap(question.unit[ORIGINAL], question.unit[tag]);
    for (const { holder, at, original } of optionFields(question, tag, ours)) {
      count += gap(original, holder[at]);
    }
  }
  return count;
}

/**
 * Remove a language with all of its texts.
 * @param {State} state
 * @param {string} tag
 */
export function removeLanguage(state, tag) {
  state.tags = state.tags.filter((one) => one !== tag);
  for (const name of TEXTS) delete state[name][tag];
  for (const question of allQuestions(state)) {
    delete question.text[tag];
    delete question.unit[tag];
    delete question.ours[tag];
    for (const option of question.options) delete option.text[tag];
  }
}
