/*
 * What few authors need of a question: its key, and its block if the author chooses the blocks.
 */

import { el } from "../../respond/dom.js";
import { byId } from "../fields.js";
import { followUpsOf, renameQuestion, takenKeys } from "../follow_ups.js";
import { isKey } from "../keys.js";
import { numbersField } from "../numbers.js";

/**
 * @typedef {import("../types.js").Held} Held
 * @typedef {import("../types.js").List} List
 * @typedef {import("../types.js").Editor} Editor
 */

/** @param {Editor} ed @param {List} list @param {Held} question */
export function details(ed, list, question) {
  const id = `${question.id}-key`;
  const error = el("p", { class: "error", id: `${id}-error` });
  /** @type {HTMLInputElement} */
  const input = el("input", {
    id,
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 50,
    "aria-describedby": `${id}-error`,
    change() {
      error.textContent = !isKey(input.value)
        ? "1 to 50 letters, digits, hyphens or underscores. The old key stays."
        : takenKeys(ed.state, question).includes(input.value)
          ? "Another question has this key. The old key stays."
          : "";
      if (error.textContent) return;
      renameQuestion(ed.state, question, input.value);
      ed.changed("");
    },
  });
  input.value = question.key;
  const open = byId(`${question.id}-details`)?.hasAttribute("open") ?? false;
  return el(
    "details",
    { id: `${question.id}-details`, open },
    el("summary", {}, "Details"),
    el("div", { class: "text" }, el("label", { for: id }, "Key in files and tables"), input, error),
    list === "questions" && question.blocks.length > 0 && blocksOf(ed, question),
  );
}

/**
 * The field for the numbers of a question's blocks. Only a question with follow-ups can be in several.
 * @param {Editor} ed
 * @param {Held} question
 */
function blocksOf(ed, question) {
  const id = `${question.id}-block`;
  const several = question.blocks.length > 1 || followUpsOf(ed.state, question).length > 1;
  const input = el("input", {
    id,
    type: "text",
    inputmode: several ? null : "numeric",
    required: true,
    "data-least": 1,
    "data-most": ed.limits.questions,
    autocomplete: "off",
    "aria-describedby": `${id}-error`,
  });
  const error = el("p", { class: "error", id: `${id}-error` });
  ed.fields.set(id, { input, error });
  numbersField(input, (numbers) => {
    ed.showWrong();
    if (!numbers) return ed.showSaving();
    question.blocks = numbers;
    ed.changed(id, ed.shortPause);
  });
  input.value = question.blocks.join(", ");
  const label = several ? "Blocks, such as 1, 2" : "Block";
  return el("div", { class: "text short" }, el("label", { for: id }, label), input, error);
}
