/*
 * What the checking page says, in the language that respond/words.js speaks, and the figures that
 * only this page has.
 */

import { language, number } from "../respond/words.js";
import ar from "./words/ar.js";
import de from "./words/de.js";
import en from "./words/en.js";
import es from "./words/es.js";
import fr from "./words/fr.js";

export const CATALOGUES = Object.freeze({ __proto__: null, en, de, es, fr, ar });

/* The catalogue in force; a function, because another module changes the language. */
export function words() {
  return CATALOGUES[language];
}

/* A text inside one of ours, which may be in a script of the other direction. */
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

export function rounded(value, most) {
  return number(value, { maximumFractionDigits: most });
}

/* With a sign and as many digits for every row of a column. */
export function signed(value) {
  return number(value, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    signDisplay: "exceptZero",
  });
}

export function percent(share) {
  return number(share, {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
}
