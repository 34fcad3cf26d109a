/*
 * Texts with their places filled in, and numbers, as the page's language writes them.
 */

const language = globalThis.document?.documentElement.lang || "en";
const plurals = new Intl.PluralRules(language);

/* A text, or one of several by {count}. Numbers are formatted; a text that is put in stays so. */
export function say(text, values = {}) {
  const one = typeof text === "string" ? text : (text[plurals.select(values.count)] ?? text.other);
  return one.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

/* A survey's text inside one of ours, which may be in a script of the other direction. */
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

export function number(value, digits = 3) {
  return new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
}

/* With a sign and as many digits for every row of a column. */
export function signed(value, digits = 2) {
  return new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: "exceptZero",
  }).format(value);
}

export function percent(share) {
  return new Intl.NumberFormat(language, {
    style: "percent",
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(share);
}
