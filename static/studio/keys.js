/*
 * The keys of questions and options. Pure: no page, no network.
 */

const KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/;
const LONGEST = 30; // characters of a generated key
const MAX_KEY = 50; // characters of an option's key, before a number is added to make it unique

/** @param {string} text */
export const isKey = (text) => KEY.test(text);

/**
 * Whether a key was made from a text. Otherwise it is a placeholder until there is one.
 * @param {string} key
 */
export const isMade = (key) => !/^[qb]\d+$/.test(key);

/**
 * A free key, made from the text if possible, otherwise numbered.
 * @param {string} text
 * @param {string[]} taken
 * @param {string} [letter]
 */
export function keyFor(text, taken, letter = "q") {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/ß/g, "ss").toLowerCase();
  const words = plain.split(/[^a-z0-9]+/).filter(Boolean);
  let stem = "";
  for (const word of words) {
    if ((stem + word).length > LONGEST) break;
    stem += stem ? `-${word}` : word;
  }
  stem ||= (words[0] ?? "").slice(0, LONGEST);
  if (stem && !isMade(stem)) stem = `item-${stem}`;
  for (let n = 1; ; n++) {
    const key = stem ? (n === 1 ? stem : `${stem}-${n}`) : `${letter}${n}`;
    if (!taken.includes(key)) return key;
  }
}

/**
 * The keys of a question's options, by which follow-ups name them; the same as those that the server
 * makes (options_from_texts in survey/design/questions.py).
 * @param {string[]} texts
 */
export function optionKeys(texts) {
  /** @type {string[]} */
  const keys = [];
  for (const text of texts) {
    const words = trimmed(text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-"));
    const stem = trimmed([...words].slice(0, MAX_KEY).join("")) || "option";
    let key = stem;
    for (let n = 2; keys.includes(key); n++) key = `${stem}-${n}`;
    keys.push(key);
  }
  return keys;
}

/** @param {string} text */
const trimmed = (text) => text.replace(/^-+|-+$/g, "");
