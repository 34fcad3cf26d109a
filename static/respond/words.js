/*
 * The texts of the page in the reader's language: its own words with figures and plurals, and the
 * survey's texts, translated if possible.
 *
 * All catalogues are loaded, so that no request reveals which language someone reads, but the page
 * waits only for the one it needs.
 */

/**
 * @typedef {typeof import("./words/en.js").default} Catalogue
 * @typedef {"en" | "de" | "es" | "fr" | "ar"} Tag
 * @typedef {string | Record<string, string>} Template
 * @typedef {{ text: string, lang: string }} Text
 * @typedef {import("./protocol.js").Survey} Survey
 * @typedef {Pick<Survey, "title" | "introduction" | "language">} Texts
 * @typedef {Partial<Pick<Survey, "translations">>} Translations
 * @typedef {{ design: Pick<Survey["design"], "disclosures" | "translations"> }} DesignTexts
 * @typedef {ReturnType<typeof contentIn>} Content
 * @typedef {{ text: string, lang?: string }} AnyText
 * @typedef {AnyText & { options: AnyText[], unit?: AnyText }} QuestionTexts
 */

/** @type {Readonly<Record<Tag, { name: string, load: () => Promise<{ default: Catalogue }> }>>} */
export const LANGUAGES = Object.freeze({
  __proto__: null,
  en: { name: "English", load: () => import("./words/en.js") },
  de: { name: "Deutsch", load: () => import("./words/de.js") },
  es: { name: "Español", load: () => import("./words/es.js") },
  fr: { name: "Français", load: () => import("./words/fr.js") },
  ar: { name: "العربية", load: () => import("./words/ar.js") },
});

/** @type {Tag} */
export let language;
/** @type {string} */
let locale; // the reader's variant of the language, such as en-GB, for numbers and dates
/** @type {Catalogue} */
export let words; // the catalogue of that language; undefined before the first speak()

/** @type {Intl.NumberFormat} */
let digits;
/** @type {Intl.PluralRules} */
let plurals;

/*
 * The digits 0 to 9 on every page, because codes, receipts, hashes and most surveys use them, and
 * browsers disagree about the default for Arabic.
 */
const DIGITS = { numberingSystem: "latn" };

/**
 * Change the language. Every importer of `words` sees the change.
 * @param {Tag} tag
 */
export async function speak(tag) {
  const catalogue = await LANGUAGES[tag].load();
  language = tag;
  words = catalogue.default;
  locale = globalThis.navigator?.languages?.find((one) => serves(one, tag)) ?? tag;
  digits = new Intl.NumberFormat(locale, DIGITS);
  plurals = new Intl.PluralRules(tag);
}

/**
 * The first of the reader's languages that has a catalogue, or English.
 * @param {readonly string[]} tags
 * @returns {Tag}
 */
export function preferred(tags) {
  const known = tags.map((tag) => tag.toLowerCase().split("-")[0]);
  return /** @type {Tag} */ (known.find((tag) => tag in LANGUAGES) ?? "en");
}

/**
 * Fill in the {names} in a text: numbers in the language's format, texts unchanged.
 * @param {Template} text
 * @param {Record<string, any>} values
 */
export function fill(text, values) {
  const form = typeof text === "string" ? text : text[plurals.select(values.count)];
  return form.replace(/\{(\w+)\}/g, (_, name) =>
    typeof values[name] === "number" ? number(values[name]) : values[name],
  );
}

/** @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function number(value, options) {
  if (!options) return digits.format(value);
  return new Intl.NumberFormat(locale, { ...DIGITS, ...options }).format(value);
}

/**
 * The name of a language in the current one.
 * @param {string} tag
 */
export function nameOf(tag) {
  return new Intl.DisplayNames([language], { type: "language" }).of(tag);
}

/** @param {string} isoDate */
export function day(isoDate) {
  /** @type {Intl.DateTimeFormatOptions} */
  const options = { ...DIGITS, dateStyle: "medium", timeZone: "UTC" };
  return new Intl.DateTimeFormat(locale, options).format(new Date(isoDate));
}

/* --- Counts out of 100, as odds.js gives them: {count, edge} ----------------------------------- */

/** @param {import("./odds.js").Share} share */
export function exactly({ count, edge }) {
  return edge ? fill(words.share[edge], { count }) : number(count);
}

/** @param {import("./odds.js").Share} share */
export function about(share) {
  return share.edge ? exactly(share) : fill(words.share.about, share);
}

/** @param {import("./odds.js").Share} share */
export function atMost(share) {
  return share.edge ? exactly(share) : fill(words.share.atMost, share);
}

/**
 * @param {import("./odds.js").Share} least
 * @param {import("./odds.js").Share} most
 */
export function between(least, most) {
  if (exactly(least) === exactly(most)) return about(least);
  return fill(words.share.range, { least: about(least), most: exactly(most) });
}

/* --- The survey's texts -------------------------------------------------------------------------
 *
 * Each text comes with its language, so that a page can mark it up for screen readers and say if a
 * translation is missing. A text in de-AT serves a reader of de.
 */

/**
 * {title, introduction, disclosure(name), question(step)}; each text is {text, lang}.
 * @param {string} tag
 * @param {Texts & Translations & DesignTexts} survey
 */
export function contentIn(tag, survey) {
  const { design } = survey;
  const own = serves(survey.language, tag) ? tag : survey.language;
  const texts = find(survey.translations, tag);
  const asked = find(design.translations, tag);
  /**
   * @param {string | undefined} translated
   * @param {string} original
   * @returns {Text}
   */
  const pick = (translated, original) =>
    own === tag || translated === undefined
      ? { text: original, lang: own }
      : { text: translated, lang: tag };
  return {
    title: pick(texts?.title, survey.title),
    introduction: pick(texts?.introduction, survey.introduction),
    /** @param {import("./protocol.js").Disclosure} name */
    disclosure: (name) => pick(asked?.disclosures?.[name], design.disclosures?.[name] ?? ""),
    /** @param {{ question: Pick<import("./protocol.js").Question, "key" | "text" | "options" | "unit"> }} step */
    question({ question }) {
      const translated = asked?.questions?.[question.key];
      return {
        ...pick(translated?.text, question.text),
        options: question.options.map(({ text }, i) => pick(translated?.options?.[i], text)),
        ...(question.unit && { unit: pick(translated?.unit, question.unit) }),
      };
    },
  };
}

/**
 * The attributes of a text of the survey: its language and direction.
 * @param {{ lang?: string }} text
 */
export function said({ lang }) {
  return { lang: lang === language ? null : lang, dir: "auto" };
}

/** @param {string} language @param {string} tag */
function serves(language, tag) {
  return language === tag || language.split("-")[0] === tag;
}

/**
 * @template T
 * @param {Record<string, T> | undefined} translations
 * @param {string} tag
 */
function find(translations = {}, tag) {
  const near = Object.keys(translations).find((one) => serves(one, tag));
  return translations[tag] ?? translations[near ?? tag];
}
