/*
 * The kinds of questions. To add one, write its module and name it here and in
 * survey/design/kinds/.
 */

import choice from "./choice.js";
import number from "./number.js";
import scale from "./scale.js";
import several from "./several.js";
import yes_no from "./yes_no.js";

/** @type {Map<string | undefined, import("./choice.js").Kind>} */
export const KINDS = new Map(Object.entries({ yes_no, choice, scale, number, several }));

/**
 * Throws for a kind that this page does not know.
 * @param {{ kind?: string }} question
 */
export function kindOf({ kind }) {
  const found = KINDS.get(kind);
  if (!found) throw new TypeError("question.kind: not known here");
  return found;
}
