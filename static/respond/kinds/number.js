/*
 * A whole number between public bounds, or an option instead of it. The answer is the number, or the
 * option's position in a list. What is outside the bounds is no answer, and never corrected.
 */

import { el } from "../dom.js";
import { kept, outOf100 } from "../odds.js";
import { between, fill, number, said, words } from "../words.js";
import { card } from "./choice.js";

/**
 * @typedef {import("./choice.js").Parts} Parts
 * @typedef {import("./choice.js").QuestionTexts} QuestionTexts
 */

const SHORT_RANGE = 20; // with as many steps or fewer, there is a slider, too
const BY_KEY = { ArrowUp: 1, ArrowDown: -1 };

/** @type {import("./choice.js").Kind} */
export default {
  hint: rangeOf,
  note(design, block, index) {
    const question = block.questions[index];
    const { least, most } = kept(design, block, index);
    const stay = between(outOf100(least), outOf100(most));
    const count = Number(question.levels) + 1;
    return {
      text: fill(words.asking.roundedKept, { kept: stay }),
      how: fill(words.asking.rounded, { ...bounds(question), count }),
    };
  },
  control({ step: { question }, content, given, settle, warn }) {
    const { least = 0, most = 0 } = question;
    const problem = rangeOf(question);
    /** @param {number} entered */
    const allowed = (entered) => entered >= least && entered <= most;

    /** @type {HTMLInputElement} */
    const field = el("input", {
      type: "text",
      inputmode: least < 0 ? "text" : "numeric", // some keyboards for digits have no minus
      autocomplete: "off",
      spellcheck: "false", // some browsers would send it to a service
      maxlength: 20,
      dir: "ltr",
      "aria-labelledby": "question",
      "aria-describedby": "hint",
      input: () => set(field.value),
      keydown(event) {
        const by = BY_KEY[/** @type {keyof typeof BY_KEY} */ (/** @type {any} */ (event).key)];
        if (!by) return;
        event.preventDefault();
        move(by);
      },
    });
    const slide = () => set(slider.value);
    /** @type {HTMLInputElement} */
    const slider = el("input", {
      min: least,
      max: most,
      type: "range", // after the bounds, so that it stands in the middle
      autocomplete: "off",
      tabindex: -1, // for keyboards and screen readers, the field does the same
      "aria-hidden": "true",
      input: slide,
      click: slide, // where it stands already
    });
    const instead = content.options.map((_, position) =>
      card(content, position, "checkbox", false, ({ target }) =>
        set("", /** @type {HTMLInputElement} */ (target).checked ? position : undefined),
      ),
    );
    /** @param {string} text @param {number} [option] */
    function set(text, option) {
      if (field.value !== text) field.value = text;
      instead.forEach(({ control }, i) => Object.assign(control ?? {}, { checked: i === option }));
      const entered = parse(text);
      slider.classList.toggle("unset", !allowed(entered));
      if (allowed(entered)) slider.value = String(entered);
      settle(option === undefined ? (allowed(entered) ? entered : undefined) : [option], problem);
    }
    /** @param {number} by */
    function move(by) {
      const entered = parse(field.value);
      const next = Number.isNaN(entered) ? Math.min(Math.max(0, least), most) : entered + by;
      if (allowed(next)) set(String(next));
      else warn(problem);
    }
    /** @param {number} by @param {string} sign @param {string} label */
    const button = (by, sign, label) =>
      el("button", { class: "secondary", type: "button", "aria-label": label, click: () => move(by) }, sign);

    const { unit } = content;
    set(typeof given === "number" ? String(given) : "", given?.[0]);
    return [
      el(
        "div",
        { class: "number" },
        button(-1, "−", words.asking.less),
        field,
        button(1, "+", words.asking.more),
        unit && el("span", said(unit), unit.text),
      ),
      most - least <= SHORT_RANGE && slider,
      el("div", { class: "options" }, instead),
    ];
  },
  say: (_, texts, answer) => [Array.isArray(answer) ? texts.options[answer[0]] : inUnit(answer, texts)],
  value({ least = 0, most = 0, levels = 1 }, texts, value) {
    if (value > levels) return texts.options[value - levels - 1];
    return inUnit(least + ((most - least) * value) / levels, texts);
  },
};

/** @param {Parts} question */
function rangeOf(question) {
  return fill(words.asking.range, bounds(question));
}

/** @param {Parts} question */
function bounds({ least = 0, most = 0 }) {
  return { least: inWords(least), most: inWords(most) };
}

/** @param {number} value @param {QuestionTexts} texts */
function inUnit(value, { unit }) {
  return unit ? { text: `${inWords(value)} ${unit.text}`, lang: unit.lang } : { text: inWords(value) };
}

/**
 * Years and other numbers of four digits have no separator.
 * @param {number} value
 */
function inWords(value) {
  return number(value, { maximumFractionDigits: 2, useGrouping: Math.abs(value) >= 10_000 });
}

/**
 * A whole number in the digits of any reader, with or without separators of thousands; NaN for
 * anything else.
 *
 * @param {string} text
 */
function parse(text) {
  const plain = text
    .replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) % 16))
    .replace(/\u2212/g, "-")
    .replace(/[\u200e\u200f\u061c]/g, "")
    .trim();
  const grouped = /^[-+]?[1-9]\d{0,2}([.,'’٬\s])\d{3}(\1\d{3})*$/.test(plain);
  const whole = grouped ? plain.replace(/[.,'’٬\s]/g, "") : plain;
  return /^[-+]?\d+$/.test(whole) ? Number(whole) : NaN;
}
