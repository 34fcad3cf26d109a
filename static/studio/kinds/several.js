/*
 * Multiple choice: up to so many of the options. Only one pick, drawn at random, is in a report, so
 * every pick that is allowed makes the results less precise.
 */

import { el } from "../../respond/dom.js";
import { byId, numberText } from "../fields.js";

/** @type {import("../types.js").Kind} */
export const several = {
  kind: "several",
  writesOptions: true,
  ourOptions: 0,
  canBeGate: false,
  canFollow: false,
  canShuffle: true,
  members: ["picks"],
  fields: (ed, question, at) => [
    numberText(
      ed,
      {
        id: `${question.id}-picks`,
        at: `${at}.picks`,
        label: "Most picks",
        least: 1,
        most: ed.limits.options,
        value: question.picks,
      },
      { inputmode: "numeric" },
      (value) => {
        question.picks = value;
      },
    ),
    el("p", { class: "quiet small" }, "Respondents read “Pick up to …”. Picking nothing is an answer, too."),
    el("dl", { class: "ways", id: `${question.id}-ways` }),
    el(
      "details",
      {},
      el("summary", {}, "Do you want to know what is picked together?"),
      el(
        "p",
        { class: "quiet small" },
        "Then ask a yes/no question for each option instead, and put them into one block. A report has only one of a person’s picks, so it cannot show which go together. The answers of a block are sent together. Do this for a few options only: each one doubles the number of combinations.",
      ),
    ),
  ],
  showWays(question, { picks = [] }) {
    const place = byId(`${question.id}-ways`);
    const rows = picks.map(({ picks: count, what, error, people }) =>
      el(
        "div",
        { "aria-current": count === question.picks ? "true" : null },
        el("dt", {}, what),
        el("dd", {}, people ? `${error}, needs ${people} times as many people` : error),
      ),
    );
    place?.replaceChildren(...rows);
  },
};
