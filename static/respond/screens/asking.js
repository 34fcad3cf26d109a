/* A question, and the review of all answers. */

import { DECLINED } from "../cells.js";
import { el } from "../dom.js";
import { kindOf } from "../kinds/index.js";
import { fill, said, words } from "../words.js";
import { backLink, button, screen, untranslated } from "./parts.js";

/**
 * @typedef {import("../randomizer.js").Answer} Answer
 * @typedef {import("../words.js").AnyText} AnyText
 * @typedef {import("../words.js").QuestionTexts} QuestionTexts
 *
 * @typedef {object} Asking
 * @property {import("../steps.js").Step} step
 * @property {QuestionTexts} content
 * @property {import("../protocol.js").Design} design
 * @property {number} at
 * @property {number} of
 * @property {Answer | undefined} given
 * @property {(answer: Answer | undefined) => void} choose
 * @property {{ returns: boolean, back: () => void, next: () => void }} moves  where the buttons lead
 *
 * @typedef {{ question: QuestionTexts, answer: AnyText[], change: () => void }} Line
 */

/** @param {Asking} view */
export function question({ step, content, design, at, of, given, choose, moves }) {
  const { question: asked, block, index, filler } = step;
  const kind = kindOf(asked);
  const hint = kind.hint?.(asked);
  const alert = el("p", { class: "alert", role: "alert" });
  const next = el(
    "button",
    { class: "primary", type: "submit" },
    moves.returns ? words.asking.done : words.asking.next,
  );
  let [ready, missing] = [given !== undefined, words.asking.missing];
  /** @param {Answer | undefined} answer */
  const settle = (answer, problem = missing) => {
    [ready, missing] = [answer !== undefined, problem];
    alert.replaceChildren();
    next.classList.toggle("idle", !ready);
    choose(answer);
  };
  next.classList.toggle("idle", !ready);
  const submit = () => {
    if (ready) return moves.next();
    alert.replaceChildren(missing);
    /** @type {HTMLElement} */ (form.querySelector("input, select")).focus();
  };
  /** @param {string} problem */
  const warn = (problem) => alert.replaceChildren(problem);
  const declined = block.background ? asked.options.findIndex(({ key }) => key === DECLINED) : -1;
  const skip = () => {
    settle(declined);
    moves.next();
  };
  const about = { id: "question", "aria-describedby": "progress" };
  const form = screen(
    { class: "asking", submit },
    [
      el(
        "div",
        { class: "progress" },
        !moves.returns && backLink(moves.back),
        el("p", { class: "unseen", id: "progress" }, fill(words.asking.progress, { at, of })),
        el("progress", { value: at / (of + 1), "aria-hidden": "true" }),
      ),
      el(
        "fieldset",
        { "aria-describedby": hint ? "note hint" : "note" },
        el("legend", {}, el("h1", { ...said(content), ...about }, content.text)),
        untranslated(content, ...content.options),
        hint && el("p", { class: "hint", id: "hint" }, hint),
        kind.control({ step, content, given, settle, warn }),
      ),
      filler === undefined
        ? note(kind.note(design, block, index))
        : el("p", { class: "note", id: "note" }, words.asking.filler),
    ],
    alert,
    declined >= 0 && button("secondary", words.asking.skip, skip),
    next,
  );
  return form;
}

/**
 * What the device does to the answer; how it does that unfolds.
 * @param {import("../kinds/choice.js").Note} note
 */
function note({ text, how }) {
  return el(
    "details",
    { class: "note" },
    el("summary", {}, el("span", { id: "note" }, text), " ", el("u", {}, words.asking.how)),
    el("p", {}, how),
  );
}

/**
 * `lines` are the answers in the order asked.
 * @param {{ lines: Line[], back: () => void, send: () => void }} view
 */
export function review({ lines, back, send }) {
  const text = words.review;
  /** @param {Line} line */
  const row = ({ question: asked, answer, change }) =>
    el(
      "div",
      {},
      el("dt", said(asked), asked.text),
      // A browser that translates pages would send the answers to its service.
      el("dd", { translate: "no" }, answer.map((one) => el("span", said(one), one.text))),
      el(
        "dd",
        {},
        el(
          "button",
          {
            class: "link",
            type: "button",
            "aria-label": `${text.change}: ${asked.text}`,
            click: change,
          },
          text.change,
        ),
      ),
    );
  return screen(
    { class: "review", submit: send },
    [
      backLink(back),
      el("h1", {}, text.title),
      el("dl", { class: "answers" }, lines.map(row)),
      el("p", { class: "lead" }, text.lead),
    ],
    el("button", { class: "primary", type: "submit" }, text.send),
  );
}
