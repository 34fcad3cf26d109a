/*
 * Options in order, each with a score: never … always, disagree … agree. The scores belong to the
 * places, so that they stay in order when options are moved.
 */

import { numberText } from "../fields.js";

const MOST_SCORE = 1_000_000;

/** @type {import("../types.js").Kind} */
export const scale = {
  kind: "scale",
  writesOptions: true,
  ourOptions: 0,
  canBeGate: true,
  canFollow: true,
  canShuffle: false,
  members: ["scores"],
  fields: () => [],
  optionField: (ed, question, j, at, name) =>
    numberText(
      ed,
      {
        id: `${question.options[j].id}-score`,
        at: `${at}.scores[${j}]`,
        label: `Score of option ${j + 1}: ${name}`,
        short: "Score",
        least: -MOST_SCORE,
        most: MOST_SCORE,
        value: scoresOf(question)[j] ?? null,
      },
      { inputmode: "text" },
      (score) => {
        question.scores = scoresOf(question).slice(0, question.options.length);
        question.scores[j] = score;
      },
    ),
};

/**
 * The scores of a scale's options: those that were given, or 1, 2, 3 …
 * @param {import("../types.js").Held} question
 * @returns {(number | null)[]}
 */
export function scoresOf({ scores, options }) {
  return options.map((_, j) => (scores ? (scores[j] ?? null) : j + 1));
}

/**
 * Give the last option, which was added, the next score.
 * @param {import("../types.js").Held} question
 */
export function scoreAdded({ scores, options }) {
  if (!scores || scores.length >= options.length) return;
  const [before, last] = [scores.at(-2), scores.at(-1)];
  const step = typeof before === "number" && typeof last === "number" ? last - before : 1;
  scores.push(typeof last === "number" ? last + step : null);
}
