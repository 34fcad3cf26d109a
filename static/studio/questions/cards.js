/*
 * The lists of questions: each in a card with the fields of its kind. Cards can be added, moved,
 * duplicated and deleted.
 */

import { el } from "../../respond/dom.js";
import { action, byId, handle, numberText, pair, tickBox } from "../fields.js";
import { addOption, depthOf, takenKeys } from "../follow_ups.js";
import { emptyQuestion } from "../document.js";
import { KINDS } from "../kinds/index.js";
import { keyFor } from "../keys.js";
import { NAMES } from "../problems.js";
import { wordsIn } from "../texts.js";
import { allQuestions } from "../translations.js";
import { condition, showBranch } from "./condition.js";
import { details } from "./details.js";
import { optionList, translationsOfOurs } from "./options.js";

/**
 * @typedef {import("../types.js").Held} Held
 * @typedef {import("../types.js").List} List
 * @typedef {import("../types.js").Editor} Editor
 */

const DEEPEST = 4; // deeper follow-ups are not indented further

/** @type {Record<List, string>} */
export const LETTERS = { questions: "q", background: "b" }; // begin the keys of questions without a text

/** @returns {NodeListOf<HTMLButtonElement>} */
export const adders = () => document.querySelectorAll("[data-add]");

/**
 * Whether the survey has as many questions as allowed.
 * @param {Editor} ed
 */
export const full = ({ state, limits }) => allQuestions(state).length >= limits.questions;

/** @param {Editor} ed @param {List} list @param {Held} question @param {number} i */
export function card(ed, list, question, i) {
  const { id } = question;
  const at = `${list}[${i}]`;
  const name = `${NAMES[list]} ${i + 1}`;
  const all = ed.state[list];
  const sensitive = list === "questions";
  const kind = KINDS[question.kind];
  const error = el("p", { class: "error", id: `${id}-error` });
  const head = handle(`${id}-handle`, `Move ${name.toLowerCase()}`, { "aria-describedby": `${id}-error` });
  ed.fields.set(at, { input: head, error, atOnce: true });
  return el(
    "li",
    {
      class: "card asked-one",
      "data-item": true,
      "data-depth": sensitive ? Math.min(depthOf(ed.state, question), DEEPEST) : null,
      "aria-labelledby": `${id}-name`,
    },
    el(
      "div",
      { class: "head" },
      head,
      el("h3", { id: `${id}-name` }, name),
      sensitive && kindOf(ed, question, name),
      sensitive && el("span", { class: "found quiet", id: `${id}-found` }),
    ),
    sensitive && condition(ed, question, at, name),
    pair(ed, { id: `${id}-text`, at: `${at}.text`, label: "Text", holder: question.text, lines: 2 }),
    kind.writesOptions ? optionList(ed, question, at, name) : translationsOfOurs(ed, question),
    kind.members.includes("scores") && scoresError(ed, question, at),
    kind.fields(ed, question, at, name),
    sensitive ? switches(ed, question) : alwaysDeclinable(ed),
    sensitive ? el("p", { class: "branch quiet small", id: `${id}-branch` }) : costOf(ed, question, at),
    error,
    el(
      "div",
      { class: "foot" },
      action("Move up", `${id}-up`, name, i === 0, () => move(ed, list, i, i - 1, `${id}-up`)),
      action("Move down", `${id}-down`, name, i === all.length - 1, () => move(ed, list, i, i + 1, `${id}-down`)),
      action("Duplicate", `${id}-again`, name, full(ed), () => duplicate(ed, list, i)),
      action("Delete", `${id}-delete`, name, false, () => remove(ed, list, i)),
      details(ed, list, question),
    ),
  );
}

/** @param {Editor} ed @param {Held} question @param {string} name */
function kindOf(ed, question, name) {
  /** @type {HTMLSelectElement} */
  const select = el(
    "select",
    {
      id: `${question.id}-kind`,
      "aria-label": `${name}: kind`,
      change() {
        question.kind = select.value;
        fillOptions(ed, question);
        ed.draw();
        ed.changed("", ed.shortPause);
      },
    },
    Object.entries(ed.kinds).map(([kind, label]) => el("option", { value: kind, selected: question.kind === kind }, label)),
  );
  return select;
}

/**
 * Begin a list of options.
 * @param {Editor} ed
 * @param {Held} question
 */
function fillOptions(ed, question) {
  if (!KINDS[question.kind].writesOptions || question.options.length) return;
  for (let i = 0; i < 2; i++) addOption(ed.state, question, ed.newId());
}

/**
 * The place for what is wrong with all scores of a scale together.
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} at
 */
function scoresError(ed, question, at) {
  const error = el("p", { class: "error", id: `${question.id}-scores-error` });
  const first = question.options[0];
  const input = first && ed.fields.get(`${at}.scores[0]`)?.input;
  if (input) ed.fields.set(`${at}.scores`, { input, error, atOnce: true });
  return error;
}

/**
 * “Prefer not to say” in the survey's own language.
 * @param {Editor} ed
 */
const declining = ({ state, ours }) => wordsIn(state.language, ours)[2];

/** @param {Editor} ed */
const alwaysDeclinable = (ed) =>
  el("p", { class: "quiet small" }, `The last option is always “${declining(ed)}”.`);

/**
 * The field for the ε of a background question; empty means the default.
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} at
 */
function costOf(ed, question, at) {
  const cost = numberText(
    ed,
    {
      id: `${question.id}-epsilon`,
      at: `${at}.epsilon`,
      label: "ε of this answer",
      least: 0.01,
      most: ed.limits.background_epsilon,
      value: question.epsilon,
    },
    { inputmode: "decimal", "data-where": "on this site", placeholder: ed.limits.usual_background_epsilon },
    (value) => {
      question.epsilon = value;
    },
  );
  const said = el("p", { class: "quiet small", id: `${question.id}-sure` });
  return el("div", { class: "cost" }, cost, said);
}

/** @param {Editor} ed @param {Held} question */
function switches(ed, question) {
  const declined = `May be declined: adds “${declining(ed)}”, randomized like the others`;
  const shuffles = KINDS[question.kind].canShuffle || question.shuffled;
  return el(
    "div",
    {},
    tickBox(ed, { id: `${question.id}-declined`, text: declined, checked: question.declined }, (checked) => {
      question.declined = checked;
    }),
    shuffles &&
      tickBox(ed, { id: `${question.id}-shuffled`, text: "Options in random order", checked: question.shuffled }, (checked) => {
        question.shuffled = checked;
      }),
  );
}

/**
 * Show each question's expected error or protection, which others share its block, and what other
 * ways to ask would cost.
 * @param {Editor} ed
 */
export function showFound({ state, figures, ways }) {
  state.background.forEach((question, i) => {
    const cost = figures?.costs[i];
    const place = byId(`${question.id}-sure`);
    if (cost && place) place.textContent = `Someone guessing 50:50 becomes at most ${cost.sure} sure of this answer.`;
  });
  const errors = figures?.problem ? null : figures?.questions;
  state.questions.forEach((question, i) => {
    const its = ways[question.key] ?? {};
    const found = errors?.[i];
    const place = byId(`${question.id}-found`);
    if (place) place.textContent = found ? [its.average ?? found.error, blocksIn(its.blocks)].filter(Boolean).join(" · ") : "";
    KINDS[question.kind].showWays?.(question, its);
    showBranch(question, its.follow_ups ?? "");
  });
}

/** @param {number[]} [blocks] */
const blocksIn = (blocks = []) =>
  blocks.length > 1 ? `blocks ${blocks.join(", ")}` : blocks.length ? `block ${blocks[0]}` : "";

// --- Changing the lists ---------------------------------------------------------------------------

/**
 * @param {Editor} ed
 * @param {List} list
 * @param {number} from
 * @param {number} to
 * @param {string} [focus]
 */
export function move(ed, list, from, to, focus) {
  const all = ed.state[list];
  const [question] = all.splice(from, 1);
  all.splice(to, 0, question);
  ed.draw();
  const there = byId(focus ?? `${question.id}-handle`);
  (there?.matches(":disabled") ? byId(`${question.id}-handle`) : there)?.focus();
  if (from === to) return;
  ed.say(`Moved: ${NAMES[list].toLowerCase()} ${to + 1} of ${all.length}.`);
  ed.changed("", ed.shortPause);
}

/** @param {Editor} ed @param {List} list @param {string} kind */
export function add(ed, list, kind) {
  const all = ed.state[list];
  const key = keyFor("", takenKeys(ed.state), LETTERS[list]);
  const question = emptyQuestion({ id: ed.newId(), key, kind, declined: list === "background" });
  const chosen = all.flatMap(({ blocks }) => blocks);
  if (chosen.length) question.blocks = [Math.max(...chosen)];
  fillOptions(ed, question);
  all.push(question);
  ed.draw();
  byId(`${question.id}-text`).focus();
  ed.say(`${NAMES[list]} ${all.length} added.`);
  ed.changed("", ed.shortPause);
}

/** @param {Editor} ed @param {List} list @param {number} i */
function duplicate(ed, list, i) {
  const all = ed.state[list];
  const copy = structuredClone(all[i]);
  copy.id = ed.newId();
  copy.key = keyFor(all[i].key, takenKeys(ed.state));
  for (const option of copy.options) option.id = ed.newId();
  all.splice(i + 1, 0, copy);
  ed.draw();
  byId(`${copy.id}-text`).focus();
  ed.say(`Duplicated: ${NAMES[list].toLowerCase()} ${i + 2} of ${all.length}.`);
  ed.changed("", ed.shortPause);
}

/** @param {Editor} ed @param {List} list @param {number} i */
function remove(ed, list, i) {
  const all = ed.state[list];
  all.splice(i, 1);
  ed.draw();
  const next = all[Math.min(i, all.length - 1)];
  const adder = [...adders()].find((button) => button.dataset.add === list);
  (next ? byId(`${next.id}-handle`) : adder)?.focus();
  ed.say(`${NAMES[list]} ${i + 1} deleted. Undo brings it back.`);
  ed.changed("", ed.shortPause);
}
