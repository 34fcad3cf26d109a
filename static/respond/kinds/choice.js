/* One of several options. The answer is its position. */

import { el } from "../dom.js";
import { kept, outOf100 } from "../odds.js";
import { between, fill, said, words } from "../words.js";

/**
 * What every kind has in common, too.
 *
 * @typedef {import("../protocol.js").Question} Question
 * @typedef {import("../protocol.js").Block} Block
 * @typedef {import("../randomizer.js").Answer} Answer
 * @typedef {import("../words.js").AnyText} Text
 * @typedef {import("../words.js").QuestionTexts} QuestionTexts
 * @typedef {Pick<Question, "least" | "most" | "levels" | "picks">} Parts
 *
 * A question on the screen. `order` has the options' positions as they are shown. settle() takes the
 * answer as randomize() wants it, or undefined and the problem with what was entered; warn() shows a
 * problem at once.
 * @typedef {object} Asked
 * @property {{ question: Question, block: Block, order: number[] }} step
 * @property {QuestionTexts} content
 * @property {any} given  the answer, or undefined
 * @property {(answer: Answer | undefined, problem?: string) => void} settle
 * @property {(problem: string) => void} warn
 *
 * @typedef {{ text: string, how: string }} Note
 *
 * @typedef {object} Kind
 * @property {boolean} [ordered]  whether the options have an order, which no shuffling may change
 * @property {(question: Question) => string} [hint]  how to answer
 * @property {(design: import("../odds.js").Design, block: import("../odds.js").Block, index: number) => Note} note
 *   what the device does to the answer
 * @property {(asked: Asked) => import("../dom.js").Child} control
 * @property {(question: Parts, texts: QuestionTexts, answer: any) => Text[]} say  an answer in words
 * @property {(question: Parts, texts: QuestionTexts, value: number) => Text} value  a report's value
 *   in words
 */

const LONG_LIST = 8; // with more options than this, a background question is a drop-down list

/** @type {Kind} */
export default {
  note(design, block, index) {
    const { least, most } = kept(design, block, index);
    const text = fill(words.asking.kept, { kept: between(outOf100(least), outOf100(most)) });
    return { text, how: words.asking.replaced };
  },
  control(asked) {
    const { step, content, given, settle } = asked;
    if (step.block.background && content.options.length > LONG_LIST) return dropDown(asked);
    return el(
      "div",
      { class: "options" },
      step.order.map((position) =>
        card(content, position, "radio", position === given, () => settle(position)),
      ),
    );
  },
  say: (_, { options }, position) => [options[position]],
  value: (_, { options }, position) => options[position],
};

/**
 * One option.
 * @param {QuestionTexts} content
 * @param {number} position
 * @param {"radio" | "checkbox"} type
 * @param {boolean} checked
 * @param {(event: Event) => void} change
 */
export function card({ options }, position, type, checked, change) {
  const { text, lang } = options[position];
  const input = el("input", { type, name: "answer", value: position, autocomplete: "off", change });
  input.checked = checked;
  return el("label", { class: "option", ...said({ lang }) }, input, el("span", {}, text));
}

/**
 * A drop-down list. Its first line is not an answer, so that nothing is chosen in advance.
 * @param {Asked} asked
 */
function dropDown({ step: { order }, content: { options }, given, settle }) {
  /** @type {HTMLSelectElement} */
  const select = el(
    "select",
    {
      autocomplete: "off",
      "aria-labelledby": "question",
      change: () => settle(order[select.selectedIndex - 1]),
    },
    el("option", { disabled: true }, words.asking.missing),
    order.map((position) => el("option", said(options[position]), options[position].text)),
  );
  select.selectedIndex = order.indexOf(given) + 1;
  return select;
}
