/*
 * The kinds of questions in the editor. To add one, write its module and name it here. A test compares
 * them with those of the server (survey/design/kinds/).
 */

import { choice } from "./choice.js";
import { number } from "./number.js";
import { scale } from "./scale.js";
import { several } from "./several.js";
import { yesNo } from "./yes_no.js";

/** @typedef {import("../types.js").Kind} Kind */

/** @type {Record<string, Kind>} */
export const KINDS = Object.fromEntries(
  [yesNo, choice, scale, number, several].map((one) => [one.kind, one]),
);
