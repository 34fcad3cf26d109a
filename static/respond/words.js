/*
 * What the page says, in the reader's language: the catalogue in force, and how figures and plurals
 * go into its texts.
 *
 * All catalogues come with the page, so that no request tells which language somebody reads.
 */

import ar from "./words/ar.js";
import de from "./words/de.js";
import en from "./words/en.js";
import es from "./words/es.js";
import fr from "./words/fr.js";

export const CATALOGUES = Object.freeze({ __proto__: null, en, de, es, fr, ar });

export let language = "en";
export let words = en;

let digits, plurals;

/* Change the language; every importer of `words` sees it. */
export function speak(tag) {
  language = tag;
  words = CATALOGUES[tag];
  digits = new Intl.NumberFormat(tag);
  plurals = new Intl.PluralRules(tag);
}
speak("en");

/* The first of a reader's languages that there is a catalogue for, or English. */
export function preferred(tags) {
  const known = tags.map((tag) => tag.toLowerCase().split("-")[0]);
  return known.find((tag) => tag in CATALOGUES) ?? "en";
}

/* A text with its {names} filled in: numbers as this language writes them, texts as they are. */
export function fill(text, values) {
  const form = typeof text === "string" ? text : text[plurals.select(values.count)];
  return form.replace(/\{(\w+)\}/g, (_, name) =>
    typeof values[name] === "number" ? number(values[name]) : values[name],
  );
}

export function number(value, options) {
  return options ? new Intl.NumberFormat(language, options).format(value) : digits.format(value);
}

/* What this language calls another one. */
export function nameOf(tag) {
  return new Intl.DisplayNames([language], { type: "language" }).of(tag);
}

export function day(isoDate) {
  const options = { dateStyle: "medium", timeZone: "UTC" };
  return new Intl.DateTimeFormat(language, options).format(new Date(isoDate));
}

/* --- Counts out of 100, as odds.js gives them: {count, edge} ------------------------------------ */

export function exactly({ count, edge }) {
  return edge ? fill(words.share[edge], { count }) : number(count);
}

export function about(share) {
  return share.edge ? exactly(share) : fill(words.share.about, share);
}

export function atMost(share) {
  return share.edge ? exactly(share) : fill(words.share.atMost, share);
}

export function between(least, most) {
  if (exactly(least) === exactly(most)) return about(least);
  return fill(words.share.range, { least: about(least), most: exactly(most) });
}
