/*
 * The texts of the checking page in the current language of respond/words.js, and its own number
 * formats.
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

/* The current catalogue; a function, because another module changes the language. */
export function words() {
  return CATALOGUES[language];
}

/**
 * Isolate a text inside another, because their directions may differ.
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
 * Format with a sign and the same number of digits in every row.
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
