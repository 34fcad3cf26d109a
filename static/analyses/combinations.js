// Greys out what cannot be combined with the other choices of a form. The server checks it again.

/**
 * ask: how many blocks each person is asked; blocks: those of each question, none if everybody is
 * asked it. For regressions: pairs that are kept apart, how many places each question has, and the
 * most combinations of places; by what is explained.
 * @typedef {"mean" | "option"} Explained
 * @typedef {{
 *   ask: number, blocks: Record<string, string[]>, apart?: Record<Explained, string[][]>,
 *   places?: Record<string, number>, most?: Record<Explained, number>,
 * }} Rules
 */

const form = /** @type {HTMLFormElement} */ (document.getElementById("ask"));
const rules = /** @type {Rules} */ (JSON.parse(form.dataset.rules ?? "{}"));
const outcome = /** @type {HTMLSelectElement | null} */ (form.querySelector("[data-outcome]"));
const boxes = /** @type {(HTMLSelectElement | HTMLInputElement)[]} */ (
  [...form.querySelectorAll("[data-outcome], [data-combine]")]
);

/** @param {string} value */
const question = (value) => value.split(":")[0];

/** Returns whether somebody is asked all of these questions. @param {string[]} keys */
function together(keys) {
  const asked = keys.map((key) => rules.blocks[key]).filter((blocks) => blocks.length);
  if (asked.some((blocks) => blocks.length > 1)) {
    return asked[0].some((block) => asked.every((blocks) => blocks.includes(block)));
  }
  return new Set(asked.flat()).size <= rules.ask;
}

/** Returns in how many groups a regression splits people. @param {string} value */
function groups(value) {
  const places = rules.places?.[question(value)] ?? 2;
  return value.endsWith(":from") ? Math.min(places, 4) : value.includes(":") ? 2 : places;
}

/**
 * Returns whether these choices can be made together. `explained` is "" outside of regressions, and
 * before it is chosen.
 * @param {string} explained @param {string[]} values
 */
function canCombine(explained, values) {
  const keys = [explained, ...values].filter(Boolean).map(question);
  if (new Set(keys).size < keys.length || !together(keys)) return false;
  if (!explained || !rules.apart || !rules.most || !rules.places) return true;
  const places = rules.places;
  const what = explained.includes(":") ? "option" : "mean";
  if (rules.apart[what].some((pair) => pair.every((key) => keys.includes(key)))) return false;
  const cells = what === "mean"
    ? keys.reduce((all, key) => all * places[key], 1)
    : values.reduce((all, value) => all * groups(value), 2);
  return cells <= rules.most[what];
}

/** Returns what is chosen in all boxes but one. @param {Element} box */
const others = (box) =>
  boxes
    .filter((one) => one !== box && (one instanceof HTMLSelectElement ? one.value : one.checked))
    .map((one) => one.value);

function update() {
  for (const box of boxes) {
    const rest = others(box);
    if (box instanceof HTMLInputElement) {
      box.disabled = !box.checked && !canCombine("", [...rest, box.value]);
      continue;
    }
    const explained = box !== outcome && outcome ? outcome.value : "";
    const predictors = explained ? rest.slice(1) : rest;
    for (const option of box.options) {
      const possible = box === outcome
        ? canCombine(option.value, predictors)
        : canCombine(explained, [...predictors, option.value]);
      option.disabled = Boolean(option.value) && !option.selected && !possible;
    }
  }
}

form.addEventListener("change", update);
update();
