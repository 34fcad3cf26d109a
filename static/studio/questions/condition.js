/*
 * “Ask only if”: the earlier question that decides whether a question is asked, and its answers.
 */

import { el } from "../../respond/dom.js";
import { byId, tickBox } from "../fields.js";
import { answersOf, dependOn, gateOf, gatesFor, isLost } from "../follow_ups.js";
import { KINDS } from "../kinds/index.js";
import { ORIGINAL, wordsIn } from "../texts.js";

/**
 * @typedef {import("../types.js").Held} Held
 * @typedef {import("../types.js").Editor} Editor
 */

const LONGEST = 60; // characters of a question in the list of gates

/**
 * A question in a list or a sentence.
 * @param {Editor} ed
 * @param {Held} question
 */
function titled({ state }, question) {
  const number = state.questions.indexOf(question) + 1;
  const text = question.text[ORIGINAL].trim();
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return short ? `${number}. ${short}` : `Question ${number}`;
}

/**
 * The fields for a question's condition. There are none if it cannot have one.
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} at
 * @param {string} name
 */
export function condition(ed, question, at, name) {
  const { onlyIf, id } = question;
  const gates = KINDS[question.kind].canFollow ? gatesFor(ed.state, question) : [];
  if (!onlyIf && !gates.length) return null;
  const gate = gateOf(ed.state, question);
  const error = el("p", { class: "error", id: `${id}-gate-error` });
  /** @type {HTMLSelectElement} */
  const select = el(
    "select",
    {
      id: `${id}-gate`,
      "aria-describedby": `${id}-gate-error`,
      "aria-label": `Ask only if: ${name}`,
      change() {
        dependOn(question, gates.find(({ id }) => id === select.value));
        ed.draw();
        ed.changed("", ed.shortPause);
      },
    },
    el("option", { value: "", selected: !onlyIf }, "No condition"),
    gates.map((one) => el("option", { value: one.id, selected: one === gate }, titled(ed, one))),
    onlyIf && !gates.some((one) => one === gate) && lostGate(ed, onlyIf.question),
  );
  ed.fields.set(`${at}.only_if`, { input: select, error, atOnce: true });
  const answers = gate && onlyIf ? answerBoxes(ed, question, onlyIf, gate) : null;
  return el(
    "div",
    { class: onlyIf ? "condition" : "condition none" },
    el("div", { class: "text" }, el("label", { for: `${id}-gate` }, "Ask only if"), select),
    answers,
    error,
  );
}

/**
 * A gate that the question can no longer depend on.
 * @param {Editor} ed
 * @param {string} key
 */
function lostGate(ed, key) {
  const gate = ed.state.questions.find((one) => one.key === key);
  return el("option", { value: "lost", selected: true }, gate ? titled(ed, gate) : "A deleted question");
}

/**
 * @param {Editor} ed
 * @param {Held} question
 * @param {import("../types.js").Condition} onlyIf
 * @param {Held} gate
 */
function answerBoxes(ed, question, onlyIf, gate) {
  const answers = () => answersOf(gate, ed.state.language, ed.ours); // their keys follow their texts
  const known = answers().map(({ id, key, text }, i) => ({ id, key, text: text || `Option ${i + 1}` }));
  const others = onlyIf.options.filter((key) => !known.some((one) => one.key === key));
  const lost = others.map((key) => ({
    id: key,
    key,
    text: isLost(key, gate) ? `A deleted option (${key.replace(/-+$/, "")})` : wordsIn(ed.state.language, ed.ours)[2],
  }));
  return el(
    "fieldset",
    { class: "answers" },
    el("legend", {}, "is answered with"),
    [...known, ...lost].map(({ id, key, text }, i) =>
      tickBox(ed, { id: `${question.id}-answer-${i}`, text, checked: onlyIf.options.includes(key) }, (checked) => {
        const keys = answers().map((one) => one.key);
        const own = answers().find((one) => one.id === id)?.key ?? key;
        const left = onlyIf.options.filter((one) => one !== own);
        onlyIf.options = checked ? [...left, own].sort((one, two) => keys.indexOf(one) - keys.indexOf(two)) : left;
      }),
    ),
  );
}

/**
 * Show the texts of gates and their answers as they are now, in place, so that no focus is lost.
 * @param {Editor} ed
 */
export function refreshConditions(ed) {
  const { questions, language } = ed.state;
  for (const question of questions) {
    const select = /** @type {HTMLSelectElement | null} */ (byId(`${question.id}-gate`));
    for (const option of select?.options ?? []) {
      const gate = questions.find(({ id }) => id === option.value);
      if (gate && option.textContent !== titled(ed, gate)) option.textContent = titled(ed, gate);
    }
    const gate = gateOf(ed.state, question);
    if (!gate) continue;
    answersOf(gate, language, ed.ours).forEach(({ text }, i) => {
      const label = byId(`${question.id}-answer-${i}`)?.nextElementSibling;
      if (label && text) label.textContent = text;
    });
  }
}

/**
 * Say below a gate what its follow-ups cost.
 * @param {Held} question
 * @param {string} text
 */
export function showBranch(question, text) {
  const place = byId(`${question.id}-branch`);
  if (place && place.textContent !== text) place.textContent = text;
}
