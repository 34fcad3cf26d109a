/*
 * The privacy dial: set the ε of the sensitive answers by preset, slider or number, and see what
 * follows. The server computes every figure.
 */

import { dots, el } from "../respond/dom.js";
import { byId } from "./fields.js";
import { forget, numberField, problemOf } from "./numbers.js";
import { ORIGINAL } from "./texts.js";

/**
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").Figures} Figures
 */

const range = byId("epsilon-range");
const exact = byId("epsilon");
/** @type {HTMLElement[]} */
const presets = Array.from(document.querySelectorAll("[data-epsilon]"));

/* The number fields, by their place in the document. */
const NUMBERS = /** @type {const} */ (["epsilon", "ask", "crowd", "expected", "population", "retention_days"]);

/* The boxes to tick, by their place in the document. */
const SWITCHES = /** @type {const} */ (["shuffled", "fillers"]);

/** @returns {Iterable<HTMLInputElement>} */
const accesses = () => document.querySelectorAll("input[name=access]");

/**
 * Call `changed(name, value)` for every change; null for an empty field. Without a value, the field
 * holds no valid number.
 *
 * @param {(name: string, value?: number | string | boolean | null) => void} changed
 */
export function dial(changed) {
  for (const name of NUMBERS) numberField(byId(name), (value) => changed(name, value));
  /** @param {string} value */
  const turn = (value) => {
    exact.value = value;
    exact.dispatchEvent(new Event("input"));
  };
  range.addEventListener("input", () => turn(range.value));
  for (const button of presets) {
    button.addEventListener("click", () => turn(button.dataset.epsilon ?? ""));
  }
  for (const choice of accesses()) {
    choice.addEventListener("change", () => changed("access", choice.value));
  }
  for (const name of SWITCHES) {
    byId(name).addEventListener("change", () => changed(name, byId(name).checked));
  }
  byId("work").addEventListener("change", () => changed("work", Number(byId("work").value)));
  byId("own-blocks").addEventListener("change", () => changed("blocks", byId("own-blocks").checked));
}

/**
 * Fill in the document's values, except in the field that has the focus.
 * @param {State} state
 */
export function fillDial({ epsilon, ask, rest, questions }) {
  /**
   * @param {HTMLInputElement | HTMLSelectElement} field
   * @param {string | number | null | undefined} value
   */
  const fill = (field, value) => {
    if (document.activeElement === field) return;
    field.value = String(value ?? "");
    forget(field);
  };
  fill(exact, epsilon);
  fill(byId("ask"), ask);
  fill(byId("crowd"), rest.crowd);
  fill(byId("expected"), rest.expected);
  fill(byId("population"), rest.population);
  fill(byId("retention_days"), rest.retention_days);
  for (const name of SWITCHES) byId(name).checked = rest[name] ?? false;
  const access = rest.access ?? "open";
  for (const choice of accesses()) choice.checked = choice.value === access;
  const work = String(rest.work ?? 0);
  if (![...byId("work").options].some(({ value }) => value === work)) {
    byId("work").add(new Option(`${work} bits`, work)); // from a file
  }
  fill(byId("work"), work);
  byId("open-access").hidden = access !== "open";
  byId("own-blocks").checked = questions.some(({ blocks }) => blocks.length);
  mark(epsilon);
}

/**
 * Show the problem of each field: its own, or what the server reported.
 * @param {(name: string) => string} said
 */
export function showProblems(said) {
  for (const name of NUMBERS) {
    const text = problemOf(byId(name)) || said(name);
    if (byId(`${name}-error`).textContent !== text) byId(`${name}-error`).textContent = text;
    if (text) byId(name).setAttribute("aria-invalid", "true");
    else byId(name).removeAttribute("aria-invalid");
  }
}

/** @param {number} epsilon */
export function mark(epsilon) {
  if (document.activeElement !== range) range.value = String(epsilon);
  for (const button of presets) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.epsilon) === epsilon));
  }
}

/** @param {Figures} figures @param {State} state */
export function showFigures(figures, state) {
  const { problem, by_group: byGroup = [] } = figures;
  const asked = state.questions.length > 0;
  const filled = figures.dots;
  const text = `A square of 100 dots. ${filled} are filled: how sure they can be. ${100 - filled} are empty: the remaining doubt.`;
  byId("dots").replaceChildren(dots(filled, text));
  byId("sure").textContent = figures.sure;
  byId("weak").hidden = !figures.weak;
  byId("dial-problem").textContent = problem && asked ? problem.what : "";
  byId("everybody").textContent = problem ? "–" : (figures.everybody ?? "");
  byId("by-group").replaceChildren(
    ...byGroup.map(({ groups, error }, i) => found(`In one of ${groups} groups by ${called(state, i)}`, error)),
  );
  byId("blocks").textContent = figures.blocks ?? (asked ? "" : "Add a question to see how.");
  showCosts(figures, state);
}

/**
 * The cost of each part of a report, if it has more than one.
 * @param {Figures} figures
 * @param {State} state
 */
function showCosts({ sure, costs, report }, state) {
  byId("costs").hidden = !costs.length;
  const rows = [
    { name: "Sensitive answers", epsilon: String(state.epsilon), sure },
    ...costs.map((cost, i) => ({ name: called(state, i), ...cost })),
    { name: "Whole report", ...report },
  ];
  byId("cost-rows").replaceChildren(
    ...rows.map((row) =>
      el(
        "tr",
        {},
        el("th", { scope: "row", dir: "auto" }, row.name),
        el("td", {}, row.epsilon),
        el("td", {}, row.sure),
      ),
    ),
  );
}

/**
 * A background question in a list of figures.
 * @param {State} state
 * @param {number} i
 */
function called({ background }, i) {
  const text = background[i]?.text[ORIGINAL].trim();
  return text ? `“${text}”` : `background question ${i + 1}`;
}

/** @param {string} what @param {string} figure */
const found = (what, figure) =>
  el("div", {}, el("dt", { dir: "auto" }, what), el("dd", {}, figure));
