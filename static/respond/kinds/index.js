/*
 * The kinds of questions. To add one, write its module and name it here and in
 * survey/design/kinds/.
 */

import choice from "./choice.js";
import number from "./number.js";
import scale from "./scale.js";
import several from "./several.js";
import yes_no from "./yes_no.js";

/**
 * @typedef {import("../protocol.js").Question} Question
 * @typedef {import("../randomizer.js").Answer} Answer
 * @typedef {import("../words.js").AnyText} Text
 * @typedef {import("../words.js").QuestionTexts} QuestionTexts
 * @typedef {Pick<import("../randomizer.js").Question, "least" | "most" | "levels" | "picks">} Parts
 *
 * A question on the screen. settle() takes the answer as randomize() wants it, or undefined and the
 * problem with what was entered; warn() shows a problem at once.
 * @typedef {object} Asked
 * @property {import("../steps.js").Step} step
 * @property {QuestionTexts} content
 * @property {any} given  the answer, or undefined
 * @property {(answer: Answer | undefined, problem?: string) => void} settle
 * @property {(problem: string) => void} warn
 *
 * @typedef {object} Kind
 * @property {boolean} [ordered]  whether the options have an order, which no shuffling may change
 * @property {(question: Question) => string} [hint]  how to answer
 * @property {(design: import("../odds.js").Design, block: import("../odds.js").Block, index: number) => string} note
 *   what chance does to the answer
 * @property {(asked: Asked) => import("../dom.js").Child} control
 * @property {(question: Parts, texts: QuestionTexts, answer: any) => Text[]} say  an answer in words
 * @property {(question: Parts, texts: QuestionTexts, value: number) => Text} value  a report's value
 *   in words
 */

/** @type {Map<string | undefined, Kind>} */
export const KINDS = new Map(Object.entries({ yes_no, choice, scale, number, several }));

/**
 * Throws for a kind that this page does not know.
 * @param {{ kind?: string }} question
 */
export function kindOf({ kind }) {
  const found = KINDS.get(kind);
  if (!found) throw new TypeError("question.kind: not known here");
  return found;
}
