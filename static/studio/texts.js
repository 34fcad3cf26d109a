/*
 * The texts of a draft, and the words that Candor adds. Pure: no page, no network.
 */

/**
 * @typedef {import("./types.js").Ours} Ours
 * @typedef {import("./types.js").TextName} TextName
 */

export const ORIGINAL = "";

/* The texts that respondents read besides the questions. DISCLOSURES are optional. */
/** @type {TextName[]} */
export const DISCLOSURES = ["asked_by", "purpose", "contact"];
/** @type {TextName[]} */
export const TEXTS = ["title", "introduction", ...DISCLOSURES];

/* Characters that databases refuse or that disguise a text; the same as in survey/design/. */
const NO_TEXT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  /[\u0000-\u0008\u000b-\u001f\u0080-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/**
 * Remove invisible characters, and make every line break one character.
 * @param {string} text
 */
export function cleaned(text) {
  return text.replace(/\r\n?/g, "\n").replace(NO_TEXT, "");
}

/**
 * Whether Candor has words for yes, no and “prefer not to say” in a language.
 * @param {string} tag
 * @param {Ours} ours
 */
export const isOurs = (tag, ours) => tag.split("-")[0] in ours;

/**
 * Candor's words in a language, or in English.
 * @param {string} tag
 * @param {Ours} ours
 */
export const wordsIn = (tag, ours) => ours[tag.split("-")[0]] ?? ours.en;
