/*
 * The options of a question: their texts, their order, and their translations.
 */

import { el } from "../../respond/dom.js";
import { action, byId, field, handle, languages, nameOf } from "../fields.js";
import { addOption, changeOptions, moveOption, removeOption } from "../follow_ups.js";
import { KINDS } from "../kinds/index.js";
import { sortable } from "../order.js";
import { isOurs } from "../texts.js";
import { optionFields } from "../translations.js";

/**
 * @typedef {import("../types.js").Held} Held
 * @typedef {import("../types.js").HeldOption} HeldOption
 * @typedef {import("../types.js").Editor} Editor
 */

/**
 * A question without options of the author's has some to write only in languages for which Candor has
 * no words.
 * @param {Editor} ed
 * @param {Held} question
 */
export function translationsOfOurs(ed, question) {
  const tag = ed.other;
  if (!tag || isOurs(tag, ed.ours)) return null;
  const rows = optionFields(question, tag, ed.ours);
  if (!rows.length) return null;
  return el(
    "div",
    { class: "pair options" },
    el("p", { class: "quiet small" }, `Please translate these into ${nameOf(tag)}.`),
    el("div", {}, rows.map((row) => translatedOption(ed, question, row, tag))),
  );
}

/** @param {Editor} ed @param {Held} question @param {import("../types.js").OptionField} field @param {string} tag */
function translatedOption(ed, question, { holder, at, original }, tag) {
  return field(ed, {
    id: `${question.id}-ours-${at}-${tag}`,
    at: `${question.id}:${at}:${tag}`,
    label: `“${original}”, ${nameOf(tag)}`,
    holder,
    name: at,
    tag,
    lines: 1,
  });
}

/**
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} at
 * @param {string} name
 */
export function optionList(ed, question, at, name) {
  const rows = question.options.map((option, j) => optionRow(ed, question, option, j, at, name));
  const list = el("ol", { class: "options" }, rows);
  sortable(list, (from, to) => move(ed, question, from, to, name));
  const error = el("p", { class: "error", id: `${question.id}-options-error` });
  const add = el(
    "button",
    {
      type: "button",
      class: "small-action",
      id: `${question.id}-add`,
      "aria-label": `Add an option: ${name}`,
      "aria-describedby": `${question.id}-options-error`,
      disabled: question.options.length >= ed.limits.options,
      click() {
        addOption(ed.state, question, ed.newId());
        ed.draw();
        byId(question.options[question.options.length - 1].id).focus();
        ed.changed("", ed.shortPause);
      },
    },
    "+ Option",
  );
  ed.fields.set(`${at}.options`, { input: add, error });
  const shown = ed.other && !isOurs(ed.other, ed.ours) && question.declined ? ed.other : "";
  const declined = shown && optionFields(question, shown, ed.ours).at(-1);
  return el(
    "div",
    {},
    KINDS[question.kind].optionField && el("p", { class: "quiet small scores", "aria-hidden": "true" }, "Score"),
    list,
    declined && el("div", { class: "pair options" }, el("span"), translatedOption(ed, question, declined, shown)),
    add,
    error,
  );
}

/**
 * @param {Editor} ed
 * @param {Held} question
 * @param {HeldOption} option
 * @param {number} j
 * @param {string} at
 * @param {string} name
 */
function optionRow(ed, question, option, j, at, name) {
  const where = `Option ${j + 1}`;
  const open = ed.menu === option.id;
  /** @param {number} by */
  const step = (by) => {
    move(ed, question, j, j + by, name);
    byId(`${option.id}-handle`).focus();
  };
  const grip = handle(`${option.id}-handle`, `Move ${where.toLowerCase()} of ${name.toLowerCase()}`, {
    "aria-expanded": String(open),
    click() {
      ed.menu = open ? null : option.id;
      ed.draw();
    },
  });
  const remove = el(
    "button",
    {
      type: "button",
      class: "small-action",
      id: `${option.id}-delete`,
      "aria-label": `Remove ${where.toLowerCase()}: ${name}`,
      title: "Remove",
      click() {
        removeOption(ed.state, question, j);
        ed.draw();
        (byId(question.options[Math.min(j, question.options.length - 1)]?.id) ?? byId(`${question.id}-add`)).focus();
        ed.say(`${where} removed. Undo brings it back.`);
        ed.changed("", ed.shortPause);
      },
    },
    "✕",
  );
  const { optionField } = KINDS[question.kind];
  return el(
    "li",
    { "data-item": true },
    el(
      "div",
      { class: optionField ? "option scored" : "option" },
      grip,
      el(
        "div",
        { class: ed.other ? "pair" : "single" },
        languages(ed).map((tag) =>
          field(ed, {
            id: tag ? `${option.id}-${tag}` : option.id,
            at: tag ? `${at}.options[${j}]:${tag}` : `${at}.options[${j}]`,
            label: tag ? `${where}, ${nameOf(tag)}` : where,
            holder: option.text,
            name: tag,
            tag: tag || ed.state.language,
            lines: 1,
            hideLabel: true,
            enter: () => nextOption(ed, question, j, tag),
            within: tag ? null : (change) => changeOptions(ed.state, question, change),
          }),
        ),
      ),
      optionField?.(ed, question, j, at, name),
      remove,
    ),
    open &&
      el(
        "div",
        { class: "moves" },
        action("Move up", `${option.id}-up`, where, j === 0, () => step(-1)),
        action("Move down", `${option.id}-down`, where, j === question.options.length - 1, () => step(1)),
      ),
  );
}

/**
 * Enter moves to the next option, and after the last one of the original adds another.
 * @param {Editor} ed
 * @param {Held} question
 * @param {number} j
 * @param {string} tag
 */
function nextOption(ed, question, j, tag) {
  const last = j === question.options.length - 1;
  if (last && (tag || question.options.length >= ed.limits.options)) return;
  if (last) {
    addOption(ed.state, question, ed.newId());
    ed.draw();
    ed.changed("", ed.shortPause);
  }
  const { id } = question.options[j + 1];
  byId(tag ? `${id}-${tag}` : id).focus();
}

/**
 * @param {Editor} ed
 * @param {Held} question
 * @param {number} from
 * @param {number} to
 * @param {string} name
 */
function move(ed, question, from, to, name) {
  const option = question.options[from];
  moveOption(ed.state, question, from, to);
  ed.draw();
  byId(`${option.id}-handle`).focus();
  if (from === to) return;
  ed.say(`Moved: option ${to + 1} of ${question.options.length}, ${name.toLowerCase()}.`);
  ed.changed("", ed.shortPause);
}
