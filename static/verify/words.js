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

/**
 * A text with a large {count} has one form in English and several in some other languages.
 *
 * @typedef {"run" | "fitsAll"} Counted
 * @typedef {Omit<typeof en, Counted> & Record<Counted, import("../respond/words.js").Template>} Catalogue
 */

/** @type {Readonly<Record<import("../respond/words.js").Tag, Catalogue>>} */
export const CATALOGUES = Object.freeze({ __proto__: null, en, de, es, fr, ar });

/* The catalogue in force; a function, because another module changes the language. */
export function words() {
  return CATALOGUES[language];
}

/**
 * A text inside one of ours, which may be in a script of the other direction.
 * @param {string} text
 */
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

/** @param {number} value @param {number} most */
export function rounded(value, most) {
  return number(value, { maximumFractionDigits: most });
}

/**
 * With a sign and as many digits for every row of a column.
 * @param {number} value
 */
export function signed(value) {
  return number(value, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
    signDisplay: "exceptZero",
  });
}

/** @param {number} share */
export function percent(share) {
  return number(share, {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
}
