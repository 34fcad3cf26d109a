/*
 * What is wrong with a draft: beside each field, and as a list of what is left to do.
 */

import { el } from "../respond/dom.js";
import { showProblems } from "./dial.js";
import { byId, nameOf } from "./fields.js";
import { problemOf } from "./numbers.js";
import { allQuestions } from "./translations.js";

/**
 * @typedef {import("./types.js").List} List
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Editor} Editor
 */

/** @type {List[]} */
export const LISTS = ["questions", "background"];
/** @type {Record<string, string>} */
export const NAMES = { questions: "Question", background: "Background question" };

/** @type {Record<string, string>} */
const PLACES = {
  title: "",
  questions: "",
  epsilon: "Privacy dial: ",
  ask: "Blocks: ",
  blocks: "Blocks: ",
  crowd: "Responses before results change: ",
  expected: "People you hope to reach: ",
  population: "Number of people in all: ",
  retention_days: "Days until everything is deleted: ",
};
/** @type {Record<string, string>} */
const PARTS = {
  least: ", least possible number",
  most: ", greatest possible number",
  unit: ", unit",
  picks: ", most picks",
  scores: ", scores",
  only_if: ", ask only if",
};
const TRANSLATED = /^translations\.([^.[]+)\.questions\.([^.[]+)\.?(text|unit|options(?:\[\d+\])?)?$/;

/**
 * Find a question by its key: its list and its place there.
 * @param {State} state
 * @param {string | undefined} key
 * @returns {{ list: List, place: number } | null}
 */
function find(state, key) {
  for (const list of LISTS) {
    const place = state[list].findIndex((one) => one.key === key);
    if (place >= 0) return { list, place };
  }
  return null;
}

/**
 * Describe a place in words.
 * @param {Editor} ed
 * @param {string} where
 */
export function inWords({ state }, where) {
  const asked = /^(questions|background)\[(\d+)\](?:\.(\w+))?/.exec(where);
  if (asked) return `${NAMES[asked[1]]} ${Number(asked[2]) + 1}${PARTS[asked[3]] ?? ""}: `;
  const [, tag, key] = TRANSLATED.exec(where) ?? [];
  const found = find(state, key);
  if (found) return `${NAMES[found.list]} ${found.place + 1}, ${nameOf(tag)}: `;
  return PLACES[where] ?? (where ? `${where}: ` : "");
}

/**
 * Find the field of a place; for a translation, in its language.
 * @param {Editor} ed
 * @param {string} where
 * @returns {{ at: string, tag?: string }}
 */
function fieldOf({ state }, where) {
  const [, tag, key, rest] = TRANSLATED.exec(where) ?? [];
  const found = find(state, key);
  if (!found) return { at: where };
  const text = rest === "options" ? "options[0]" : (rest ?? "text");
  return { at: `${found.list}[${found.place}].${text}:${tag}`, tag };
}

/**
 * Show errors next to the fields that were left, and all of them at the end. A condition is broken by
 * changes elsewhere, so its error is shown at once.
 * @param {Editor} ed
 */
export function showWrong(ed) {
  const { wrong, refused, fields, touched, edited } = ed;
  const known = Object.fromEntries(Object.entries(wrong).map(([at, what]) => [fieldOf(ed, at).at, what]));
  for (const [at, { input, error, atOnce }] of fields) {
    const what = (atOnce || touched.has(input.id)) && !edited.has(at) ? (known[at] ?? "") : "";
    const text = problemOf(input) || (refused?.where === at ? `${refused.what}.` : what);
    if (error.textContent !== text) error.textContent = text;
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
  const found = Object.entries(wrong).map(([where, what]) => {
    const { at, tag } = fieldOf(ed, where);
    const id = fields.get(at)?.input.id ?? (tag ? "languages" : byId(where) && where);
    const go = () => (tag || fields.has(at) ? goTo(ed, at, tag) : goToPlace(ed, where));
    return { before: inWords(ed, where), what, id, go };
  });
  for (const { what, place } of ed.blocks) {
    found.push({ before: "", what: `${what}.`, id: place, go: () => goToPlace(ed, place) });
  }
  showNext(found);
  showProblems((name) => (refused?.where === name ? `${refused.what}.` : (wrong[name] ?? "")));
}

/**
 * Redrawn only when it changes, because leaving a field happens before the click on something here.
 * @param {{ before: string, what: string, id: string | null, go: () => void }[]} found
 */
function showNext(found) {
  const key = JSON.stringify(found);
  if (byId("wrong").dataset.key === key) return;
  byId("wrong").dataset.key = key;
  const list = found.map(({ before, what, id, go }) => {
    /** @param {Event} event */
    const click = (event) => {
      event.preventDefault();
      go();
    };
    return el("li", {}, before, id ? el("a", { href: `#${id}`, click }, what) : what);
  });
  byId("wrong").replaceChildren(...list);
  byId("ready").hidden = list.length > 0;
  byId("unready").hidden = list.length === 0;
}

/** @param {Editor} ed @param {string} at @param {string} [tag] */
function goTo(ed, at, tag) {
  if (tag && tag !== ed.other) {
    ed.other = tag;
    ed.draw();
  }
  const input = ed.fields.get(at)?.input;
  if (!input) return;
  ed.touched.add(input.id);
  showWrong(ed);
  show(input);
}

/**
 * Show the place that the checklist's link names.
 * @param {Editor} ed
 * @param {string} place
 */
export function goToPlace(ed, place) {
  const { state } = ed;
  const [, kind, key] = /^(question|language)-(.+)$/.exec(place) ?? [];
  if (kind === "language" && state.tags.includes(key)) return goToGap(ed, key);
  const asked = kind === "question" && allQuestions(state).find((one) => one.key === key);
  /** @type {Record<string, string>} */
  const parts = { questions: "asked", background: "grouping", blocks: "own-blocks" };
  show(byId(asked ? `${asked.id}-text` : (parts[place] ?? place)));
}

/**
 * Show a language at its first missing text.
 * @param {Editor} ed
 * @param {string} tag
 */
function goToGap(ed, tag) {
  ed.other = tag;
  ed.draw();
  /** @type {import("./types.js").Field[]} */
  const inputs = Array.from(document.querySelectorAll("#editor .work :is(input, textarea)"));
  const its = inputs.filter(({ lang }) => lang === tag);
  const gap = its.find(({ classList }) => classList.contains("gap")) ?? its.find(({ value }) => !value);
  show(gap ?? byId(`language-${tag}`));
}

/** @param {HTMLElement | null} target */
function show(target) {
  if (!target) return;
  const folded = target.closest("details");
  if (folded) folded.open = true;
  if (target.matches("h2")) target.tabIndex = -1;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}
