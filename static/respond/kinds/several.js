/*
 * Multiple choice. The answer is a list of positions in ascending order, and picking none is an
 * answer, too. “Prefer not to say” excludes all others.
 */

import { DECLINED } from "../cells.js";
import { el } from "../dom.js";
import { channel, outOf100 } from "../odds.js";
import { about, fill, words } from "../words.js";
import { card } from "./choice.js";

/** @param {{ picks?: number }} question */
const hint = ({ picks }) => fill(words.asking.picks, { picks });

/** @type {import("./choice.js").Kind} */
export default {
  hint,
  note({ scale }, block, index) {
    const { a, b } = channel(block, index, 0, scale);
    const text = fill(words.asking.picked, { picked: about(outOf100(a)), other: about(outOf100(b)) });
    return { text, how: words.asking.one };
  },
  control({ step: { question, order }, content, given = [], settle, warn }) {
    const { picks = 0, options } = question;
    /** @param {Event} event */
    const change = ({ target }) => {
      const box = /** @type {HTMLInputElement} */ (target);
      if (box.checked) {
        const alone = isDeclined(box);
        for (const one of boxes) if (one !== box && (alone || isDeclined(one))) one.checked = false;
      }
      const picked = boxes.filter(({ checked }) => checked).map(({ value }) => Number(value));
      if (picked.length <= picks) return settle(picked.sort((one, other) => one - other));
      box.checked = false;
      warn(hint(question));
    };
    const cards = order.map((position) =>
      card(content, position, "checkbox", given.includes(position), change),
    );
    const boxes = cards.map(({ control }) => /** @type {HTMLInputElement} */ (control));
    /** @param {HTMLInputElement} box */
    const isDeclined = ({ value }) => options[Number(value)].key === DECLINED;
    settle(given);
    return el("div", { class: "options" }, cards);
  },
  say: (_, { options }, picked) => picked.map((/** @type {number} */ one) => options[one]),
  value: (_, { options }, position) => options[position],
};
