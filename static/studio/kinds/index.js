/*
 * The kinds of questions in the editor. To add one, write its module and name it here. A test compares
 * them with those of the server (survey/design/kinds/).
 */

import { choice } from "./choice.js";
import { number } from "./number.js";
import { scale } from "./scale.js";
import { several } from "./several.js";
import { yesNo } from "./yes_no.js";

/**
 * @typedef {import("../document.js").Held} Held
 * @typedef {import("../editor.js").Editor} Editor
 * @typedef {"scores" | "least" | "most" | "unit" | "picks"} Member
 *
 * @typedef {object} Kind
 * @property {string} kind
 * @property {boolean} writesOptions  whether the author writes options
 * @property {number} ourOptions  how many are Candor's, before the author's
 * @property {boolean} canBeGate  whether follow-ups can depend on it
 * @property {boolean} canFollow  whether it can be a follow-up
 * @property {boolean} canShuffle  whether a random order of its options is offered
 * @property {Member[]} members  what it adds to a question in a survey file
 * @property {(ed: Editor, question: Held, at: string, name: string) => Node[]} fields
 * @property {(ed: Editor, question: Held, j: number, at: string, name: string) => Node} [optionField]
 * @property {(question: Held, ways: import("../save.js").Ways) => void} [showWays]
 */

/** @type {Record<string, Kind>} */
export const KINDS = Object.fromEntries(
  [yesNo, choice, scale, number, several].map((one) => [one.kind, one]),
);
