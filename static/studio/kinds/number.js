/*
 * A whole number between public bounds. Its average can be estimated; for the distribution, the range
 * becomes the options of a scale.
 */

import { el } from "../../respond/dom.js";
import { ORIGINAL } from "../texts.js";
import { byId, numberText, pair } from "../fields.js";

const RANGES = [4, 5, 6]; // how many options a range is offered to be divided into
const MOST_UNIT = 30;

/**
 * @typedef {import("../types.js").Held} Held
 * @typedef {import("../types.js").Editor} Editor
 */

/** @type {import("../types.js").Kind} */
export const number = {
  kind: "number",
  writesOptions: false,
  ourOptions: 0,
  canBeGate: false,
  canFollow: true,
  canShuffle: false,
  members: ["least", "most", "unit"],
  fields: (ed, question, at, name) => [
    el("div", { class: "bounds" }, bound(ed, question, at, "least"), bound(ed, question, at, "most")),
    pair(ed, {
      id: `${question.id}-unit`,
      at: `${at}.unit`,
      label: "Unit, such as days or euros (may be empty)",
      holder: question.unit,
      most: MOST_UNIT,
    }),
    wanted(ed, question, name),
  ],
  showWays(question, { average, ranges = {} }) {
    const given = average !== undefined;
    const chosen = /** @type {HTMLSelectElement | null} */ (byId(`${question.id}-ranges`))?.value ?? "";
    show(`${question.id}-average`, given ? `Expected margin of error: ${average}.` : "");
    show(`${question.id}-distribution`, given && ranges[chosen] ? `Expected margin of error: ${ranges[chosen]}, least precise option.` : "");
  },
};

/** @param {string} id @param {string} text */
function show(id, text) {
  const place = byId(id);
  if (place && place.textContent !== text) place.textContent = text;
}

/**
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} at
 * @param {"least" | "most"} name
 */
function bound(ed, question, at, name) {
  const { bound: most } = ed.limits;
  return numberText(
    ed,
    {
      id: `${question.id}-${name}`,
      at: `${at}.${name}`,
      label: name === "least" ? "Least possible number" : "Greatest possible number",
      least: -most,
      most,
      value: question[name],
    },
    { "data-whole": true },
    (value) => {
      question[name] = value;
      if (question.least === null || question.most === null) return;
      for (const one of ["least", "most"]) ed.touched.add(`${question.id}-${one}`); // they are compared
    },
  );
}

/**
 * What the author wants to know: the average, or the distribution, which needs a scale.
 * @param {Editor} ed
 * @param {Held} question
 * @param {string} name
 */
function wanted(ed, question, name) {
  const select = el(
    "select",
    { id: `${question.id}-ranges`, "aria-label": `Number of options: ${name}`, change: () => ed.showWays() },
    RANGES.map((count) => el("option", { value: count, selected: count === 5 }, String(count))),
  );
  const turn = () => {
    if (question.least === null || question.most === null || question.most <= question.least) {
      ed.say("Give the least and the greatest possible number first.");
      byId(`${question.id}-${question.least === null ? "least" : "most"}`)?.focus();
      return;
    }
    toScale(question, Number(select.value), ed.newId);
    ed.draw();
    byId(`${question.id}-kind`)?.focus();
    ed.say(`${name} is now a scale of ${question.options.length} options. Undo brings the number back.`);
    ed.changed("");
  };
  return el(
    "div",
    { class: "ways" },
    el("p", {}, el("b", {}, "You get the average. "), el("span", { id: `${question.id}-average` })),
    el(
      "p",
      {},
      "For the distribution, ask a scale: divide the range into ",
      select,
      " options. ",
      el("span", { id: `${question.id}-distribution` }),
      " ",
      el("button", { type: "button", class: "plain", id: `${question.id}-divide`, "aria-label": `Turn into a scale: ${name}`, click: turn }, "Turn into a scale"),
    ),
  );
}

/**
 * Divide whole numbers into ranges that are as equal as possible.
 * @param {number} least
 * @param {number} most
 * @param {number} count
 */
export function rangesOf(least, most, count) {
  const numbers = most - least + 1;
  const parts = Math.min(count, numbers);
  const starts = Array.from({ length: parts + 1 }, (_, i) => least + Math.floor((i * numbers) / parts));
  return starts.slice(0, -1).map((start, i) => ({ start, end: starts[i + 1] - 1 }));
}

/**
 * Make a number a scale whose options are ranges and whose scores are their middles.
 * @param {Held} question
 * @param {number} count
 * @param {() => string} newId
 */
export function toScale(question, count, newId) {
  const { least, most, unit } = question;
  if (least === null || most === null) return;
  const ranges = rangesOf(least, most, count);
  const dash = least < 0 ? " to " : "–";
  question.kind = "scale";
  question.scores = ranges.map(({ start, end }) => (start + end) / 2);
  question.options = ranges.map(({ start, end }) => {
    const range = start === end ? `${start}` : `${start}${dash}${end}`;
    const texts = Object.entries(unit).filter(([tag, text]) => tag === ORIGINAL || text);
    return { id: newId(), text: Object.fromEntries(texts.map(([tag, text]) => [tag, `${range} ${text}`.trim()])) };
  });
}
