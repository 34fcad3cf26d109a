/*
 * The fields of the editor: texts in one or two languages, and numbers. Every field is registered with
 * its place in the document, so that a problem can be shown beside it.
 */

import { el } from "../respond/dom.js";
import { numberField } from "./numbers.js";
import { ORIGINAL, cleaned } from "./texts.js";

/**
 * @typedef {import("./types.js").Editor} Editor
 * @typedef {import("./types.js").Field} Field
 * @typedef {import("./types.js").Texts} Texts
 *
 * @typedef {"epsilon" | "ask" | "crowd" | "expected" | "population" | "retention_days"} NumberName
 * @typedef {"shuffled" | "fillers"} SwitchName
 * @typedef {Record<NumberName | SwitchName | "epsilon-range" | "slug" | "own-blocks", HTMLInputElement>} Inputs
 * @typedef {Record<"work" | "language" | "add-language", HTMLSelectElement>} Selects
 * @typedef {Inputs & Selects & Record<"undo" | "redo", HTMLButtonElement>} Parts
 *
 * @typedef {object} FieldOptions
 * @property {string} id
 * @property {string} at
 * @property {string} label
 * @property {any} holder
 * @property {string | number} name
 * @property {string} tag
 * @property {number} lines
 * @property {number} [most]
 * @property {boolean} [hideLabel]
 * @property {(() => void) | null} [enter]
 * @property {((change: () => void) => void) | null} [within]  makes the change
 */

/**
 * The element with this id, which must exist.
 * @template {string} I
 * @param {I} id
 * @returns {I extends keyof Parts ? Parts[I] : HTMLElement}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

const RIGHT_TO_LEFT = "ar ckb dv fa he ps sd ug ur yi".split(" ");
const names = new Intl.DisplayNames(["en"], { type: "language" });
/** @param {string} tag */
export const nameOf = (tag) => names.of(tag) ?? tag;
/** @param {string} tag */
const directionOf = (tag) => (RIGHT_TO_LEFT.includes(tag.split("-")[0]) ? "rtl" : "ltr");

/**
 * A text in the original language and, if one is chosen, in another language next to it.
 * @param {Editor} ed
 * @param {{ id: string, at: string, label: string, holder: Texts, lines?: number, most?: number }} pair
 */
export function pair(ed, { id, at, label, holder, lines = 1, most }) {
  const columns = languages(ed).map((tag) =>
    field(ed, {
      id: tag ? `${id}-${tag}` : id,
      at: tag ? `${at}:${tag}` : at,
      label: tag ? `${label}, ${nameOf(tag)}` : label,
      holder,
      name: tag,
      tag: tag || ed.state.language,
      lines,
      most,
    }),
  );
  return el("div", { class: ed.other ? "pair" : "single" }, columns);
}

/**
 * The languages that are shown: the original, and the other one if there is one.
 * @param {Editor} ed
 */
export const languages = ({ other }) => [ORIGINAL, ...(other ? [other] : [])];

/** @param {Editor} ed @param {FieldOptions} field */
export function field(ed, { id, at, label, holder, name, tag, lines, most, hideLabel = false, enter = null, within = null }) {
  const gap = name !== ORIGINAL && typeof name === "string" && holder[ORIGINAL]?.trim() && !holder[name]?.trim();
  /** @type {Field} */
  const input = el(lines > 1 ? "textarea" : "input", {
    id,
    lang: tag,
    dir: directionOf(tag),
    rows: lines > 1 ? lines : null,
    type: lines > 1 ? null : "text",
    maxlength: most,
    autocomplete: "off",
    "aria-describedby": `${id}-error`,
    class: gap ? "gap" : null,
    input() {
      const text = cleaned(input.value);
      if (text !== input.value) {
        const place = (input.selectionStart ?? 0) - (input.value.length - text.length);
        input.value = text;
        input.setSelectionRange(place, place);
        ed.say("An invisible character was removed.");
      }
      const keep = () => {
        holder[name] = text;
      };
      if (within) within(keep);
      else keep();
      ed.edited.add(at);
      if (error.textContent) ed.showWrong();
      input.classList.toggle("gap", Boolean(name && !text.trim()));
      ed.changed(id);
    },
    blur() {
      ed.touched.add(id);
      if (!ed.pressed) ed.showWrong();
    },
    /** @param {KeyboardEvent} event */
    keydown(event) {
      if (!enter || event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      enter();
    },
  });
  input.value = holder[name] ?? "";
  const error = el("p", { class: "error", id: `${id}-error` });
  ed.fields.set(at, { input, error });
  const labelled = el("label", { for: id, class: hideLabel ? "visually-hidden" : null }, label);
  return el("div", { class: "text" }, labelled, input, error);
}

/**
 * A number of a question. `keep` gets valid numbers, and null for an empty field. A `short` label is
 * shown instead of the whole one.
 * @param {Editor} ed
 * @param {{ id: string, at: string, label: string, short?: string, least: number, most: number, value: number | null }} field
 * @param {import("../respond/dom.js").Attributes} more
 * @param {(value: number | null) => void} keep
 */
export function numberText(ed, { id, at, label, short, least, most, value }, more, keep) {
  const input = el("input", {
    id,
    type: "text",
    "data-least": least,
    "data-most": most,
    autocomplete: "off",
    "aria-label": short ? label : null,
    "aria-describedby": `${id}-error`,
    blur() {
      ed.touched.add(id);
      if (!ed.pressed) ed.showWrong();
    },
    ...more,
  });
  const error = el("p", { class: "error", id: `${id}-error` });
  ed.fields.set(at, { input, error });
  numberField(input, (number) => {
    ed.edited.add(at);
    ed.showWrong();
    if (number === undefined) return ed.showSaving();
    keep(number);
    ed.changed(id, ed.shortPause);
  });
  input.value = value === null ? "" : String(value);
  return el("div", { class: "text short" }, el("label", { for: id }, short ?? label), input, error);
}

/**
 * A box to tick.
 * @param {Editor} ed
 * @param {{ id: string, text: string, checked: boolean }} box
 * @param {(checked: boolean) => void} keep
 */
export function tickBox(ed, { id, text, checked }, keep) {
  /** @type {HTMLInputElement} */
  const input = el("input", {
    type: "checkbox",
    id,
    checked,
    change() {
      keep(input.checked);
      ed.draw();
      ed.changed("", ed.shortPause);
    },
  });
  return el("label", { class: "check" }, input, el("span", { dir: "auto" }, text));
}

/**
 * @param {string} text
 * @param {string} id
 * @param {string} name
 * @param {boolean} disabled
 * @param {() => void} click
 */
export const action = (text, id, name, disabled, click) =>
  el("button", { type: "button", class: "small-action", id, "aria-label": `${text}: ${name}`, disabled, click }, text);

/**
 * @param {string} id
 * @param {string} label
 * @param {import("../respond/dom.js").Attributes} [more]
 */
export function handle(id, label, more = {}) {
  return el(
    "button",
    { type: "button", class: "handle", id, "aria-label": `${label}: drag, or use the arrow keys`, title: "Drag, or use the arrow keys", ...more },
    el("span", { "aria-hidden": "true" }, "⠿"),
  );
}
