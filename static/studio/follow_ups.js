/*
 * Follow-ups: which question decides whether another one is asked. A follow-up names its gate and the
 * gate's options by their keys, as in a survey file, so every change of these keys goes through here.
 *
 * A condition that can no longer hold, because its gate was moved below it or deleted, stays as it is
 * until the author changes it, and the server says what to fix. Pure: no page, no network.
 */

import { KINDS } from "./kinds/index.js";
import { optionKeys } from "./keys.js";
import { scoreAdded } from "./kinds/scale.js";
import { ORIGINAL, wordsIn } from "./texts.js";
import { allQuestions, before, ownOptions } from "./translations.js";

/**
 * @typedef {import("./types.js").Held} Held
 * @typedef {import("./types.js").HeldOption} HeldOption
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Ours} Ours
 * @typedef {{ id: string, key: string, text: string }} Answer
 */

const NO_YES = ["no", "yes"]; // the keys of Candor's options
const DECLINED = "prefer-not-to-say";

/**
 * The answers of a question that a follow-up can depend on.
 * @param {Held} question
 * @param {string} language
 * @param {Ours} ours
 * @returns {Answer[]}
 */
export function answersOf(question, language, ours) {
  const words = wordsIn(language, ours);
  const mine = NO_YES.slice(0, before(question)).map((key, i) => ({ id: key, key, text: words[i] }));
  return [...mine, ...ownAnswers(question)];
}

/**
 * @param {Held} question
 * @returns {Answer[]}
 */
function ownAnswers(question) {
  const texts = ownOptions(question).map(({ text }) => text[ORIGINAL]);
  const keys = optionKeys([...NO_YES.slice(0, before(question)), ...texts]).slice(before(question));
  return ownOptions(question).map(({ id }, i) => ({ id, key: keys[i], text: texts[i] }));
}

/**
 * The answer that a condition names but that the question does not have, or no longer.
 * @param {string} key
 * @param {Held} gate
 */
export const isLost = (key, gate) =>
  !NO_YES.slice(0, before(gate)).includes(key) &&
  !ownAnswers(gate).some((answer) => answer.key === key) &&
  !(gate.declined && key === DECLINED);

/**
 * The questions that this one can depend on.
 * @param {State} state
 * @param {Held} question
 */
export function gatesFor({ questions }, question) {
  const earlier = questions.slice(0, questions.indexOf(question));
  return earlier.filter(({ kind }) => KINDS[kind].canBeGate);
}

/**
 * The question that decides whether this one is asked, if it can.
 * @param {State} state
 * @param {Held} question
 */
export const gateOf = (state, question) =>
  gatesFor(state, question).find(({ key }) => key === question.onlyIf?.question);

/**
 * How many questions decide, one after the other, whether this one is asked.
 * @param {State} state
 * @param {Held} question
 */
export function depthOf(state, question) {
  let depth = 0;
  for (let gate = gateOf(state, question); gate; gate = gateOf(state, gate)) depth++;
  return depth;
}

/**
 * The questions that depend directly on this one.
 * @param {State} state
 * @param {Held} question
 */
export const followUpsOf = (state, question) =>
  state.questions.filter((one) => one.onlyIf?.question === question.key);

/**
 * Let a question depend on another; on “yes” if that is one of its answers.
 * @param {Held} question
 * @param {Held | undefined} gate
 */
export function dependOn(question, gate) {
  const options = gate && before(gate) ? ["yes"] : [];
  question.onlyIf = gate ? { question: gate.key, options } : null;
}

/**
 * Give a question another key, also in the conditions of its follow-ups.
 * @param {State} state
 * @param {Held} question
 * @param {string} key
 */
export function renameQuestion(state, question, key) {
  for (const { onlyIf } of followUpsOf(state, question)) if (onlyIf) onlyIf.question = key;
  question.key = key;
}

/**
 * Change a question's options, and keep the conditions of its follow-ups. An option that is gone stays
 * in them under a key that no other has.
 * @param {State} state
 * @param {Held} question
 * @param {() => void} change
 */
export function changeOptions(state, question, change) {
  const old = new Map(ownAnswers(question).map(({ id, key }) => [key, id]));
  change();
  const now = new Map(ownAnswers(question).map(({ id, key }) => [id, key]));
  const keys = new Set(now.values());
  /** @param {string} key */
  const renamed = (key) => {
    const id = old.get(key);
    if (id === undefined) return key;
    let to = now.get(id) ?? key;
    if (!now.has(id)) while (keys.has(to)) to += "-";
    return to;
  };
  for (const { onlyIf } of followUpsOf(state, question)) {
    if (onlyIf) onlyIf.options = onlyIf.options.map(renamed);
  }
}

/**
 * Add an option without a text at the end.
 * @param {State} state
 * @param {Held} question
 * @param {string} id
 */
export function addOption(state, question, id) {
  changeOptions(state, question, () => question.options.push({ id, text: { [ORIGINAL]: "" } }));
  scoreAdded(question);
}

/**
 * @param {State} state
 * @param {Held} question
 * @param {number} place
 */
export function removeOption(state, question, place) {
  changeOptions(state, question, () => question.options.splice(place, 1));
  question.scores?.splice(place, 1);
}

/**
 * Move an option. The scores of a scale stay where they are.
 * @param {State} state
 * @param {Held} question
 * @param {number} from
 * @param {number} to
 */
export function moveOption(state, question, from, to) {
  changeOptions(state, question, () => {
    const [option] = question.options.splice(from, 1);
    question.options.splice(to, 0, option);
  });
}

/**
 * The keys that another question cannot get: those of all others, and those that conditions name.
 * @param {State} state
 * @param {Held} [but]
 */
export function takenKeys(state, but) {
  const others = allQuestions(state).filter((one) => one !== but);
  const named = others.flatMap(({ onlyIf }) => (onlyIf ? [onlyIf.question] : []));
  return [...others.map(({ key }) => key), ...named.filter((key) => key !== but?.key)];
}
