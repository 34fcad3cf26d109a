/*
 * The kinds of questions. To add one, write its module, unless it is asked like another one, and name it
 * here and in survey/design/kinds/.
 */

import choice from "./choice.js";
import number from "./number.js";
import several from "./several.js";

/** @type {Map<string | undefined, import("./choice.js").Kind>} */
export const KINDS = new Map([
  ["yes_no", choice],
  ["choice", choice],
  ["scale", { ...choice, ordered: true }],
  ["number", number],
  ["several", several],
]);

/**
 * Throws for a kind that this page does not know.
 * @param {{ kind?: string }} question
 */
export function kindOf({ kind }) {
  const found = KINDS.get(kind);
  if (!found) throw new TypeError("question.kind: not known here");
  return found;
}
