/*
 * Fields for numbers. A value that is not a number, or too small or too large, is not saved; the
 * problem is shown next to the field and returned by `unkept`.
 */

/**
 * @typedef {{ least: number, most: number, whole?: boolean, required?: boolean, where?: string }} Limits
 */

/** @type {Map<HTMLInputElement | HTMLSelectElement, string>} */
const problems = new Map(); // fields with an invalid value, and what is wrong

/**
 * Read a number with a decimal point or a comma, or return the problem. Pure.
 * @param {string} text
 * @param {Limits} limits
 * @returns {{ value: number | null, problem?: undefined } | { value?: undefined, problem: string }}
 */
export function numberIn(text, { least, most, whole = false, required = false, where = "" }) {
  const plain = text.replace(/\s/gu, "").replace("\u2212", "-");
  if (!plain) return required ? { problem: "Enter a number." } : { value: null };
  const grouped = /^\d{1,3}([.,'’]\d{3})+$/.test(plain);
  const digits = whole ? (grouped ? plain.replace(/[.,'’]/g, "") : plain) : plain.replace(",", ".");
  const form = whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/;
  if (!form.test(digits)) {
    return { problem: whole ? "Enter a whole number." : "Enter a number, such as 0.5." };
  }
  const value = Number(digits);
  if (value < least) return { problem: `At least ${least.toLocaleString("en")}, not ${text.trim()}.` };
  if (value > most) return { problem: `At most ${most.toLocaleString("en")}${where}, not ${text.trim()}.` };
  return { value };
}

/**
 * Read numbers that are separated by commas or spaces, or return the problem. Pure.
 * @param {string} text
 * @param {Limits} limits
 * @returns {{ value: number[], problem?: undefined } | { value?: undefined, problem: string }}
 */
export function numbersIn(text, limits) {
  const found = text.split(/[\s,;]+/).filter(Boolean).map((part) => numberIn(part, limits));
  if (!found.length) return { problem: "Give a number, or several such as 1, 2." };
  const problem = found.find((one) => one.problem)?.problem;
  const value = found.flatMap((one) => (typeof one.value === "number" ? [one.value] : []));
  return problem ? { problem } : { value: [...new Set(value)].sort((a, b) => a - b) };
}

/**
 * Watch a field whose attributes state its limits; its error has its id and “-error”. `changed` gets
 * the number, null for an empty field, or undefined for an invalid one.
 *
 * @param {HTMLInputElement} input
 * @param {(value: number | null | undefined) => void} changed
 */
export function numberField(input, changed) {
  input.addEventListener("input", () => {
    const limits = limitsOf(input);
    const whole = input.inputMode === "numeric" || "whole" in input.dataset;
    const { value, problem } = numberIn(input.value, { ...limits, whole, required: input.required });
    if (problem) problems.set(input, problem);
    else problems.delete(input);
    changed(value);
  });
}

/** @param {HTMLInputElement} input @returns {Limits} */
function limitsOf({ dataset: { least, most, where = "" } }) {
  return { least: Number(least), most: Number(most), where: where && ` ${where}` };
}

/**
 * Watch a field for one or more whole numbers. `changed` gets them, or undefined for an invalid text.
 * @param {HTMLInputElement} input
 * @param {(value: number[] | undefined) => void} changed
 */
export function numbersField(input, changed) {
  input.addEventListener("input", () => {
    const { value, problem } = numbersIn(input.value, { ...limitsOf(input), whole: true });
    if (problem) problems.set(input, problem);
    else problems.delete(input);
    changed(value);
  });
}

/**
 * The problem of a field, if any.
 * @param {HTMLElement} field
 */
export const problemOf = (field) => problems.get(/** @type {HTMLInputElement} */ (field)) ?? "";

/**
 * Forget the problem of a field that the page filled in or removed.
 * @param {HTMLInputElement | HTMLSelectElement} input
 */
export const forget = (input) => problems.delete(input);

/* The first field with an invalid value that is still on the page: { input, what }. */
export function unkept() {
  for (const [input, problem] of problems) {
    if (input.isConnected) return { input, what: `${input.getAttribute("aria-label") ?? input.labels?.[0].textContent}: ${problem}` };
    problems.delete(input);
  }
  return null;
}
