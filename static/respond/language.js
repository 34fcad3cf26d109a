/*
 * The language of a page: the menu in its header, and changing the document's language.
 */

import { el } from "./dom.js";
import { LANGUAGES, language, preferred, speak, words } from "./words.js";

const menu = el(
  "select",
  { class: "languages", autocomplete: "off" },
  Object.entries(LANGUAGES).map(([tag, { name }]) => el("option", { value: tag, lang: tag }, name)),
);

/**
 * Start in the reader's language; call `changed` after each change.
 * @param {() => unknown} changed
 */
export async function offerLanguages(changed) {
  menu.addEventListener("change", () => setLanguage(/** @type {import("./words.js").Tag} */ (menu.value)).then(changed));
  await resetLanguage();
  document.querySelector("header")?.append(menu);
}

/* Return to the reader's language. */
export function resetLanguage() {
  return setLanguage(preferred(navigator.languages));
}

/**
 * If the browser refuses the catalogue because its bytes were altered, the old one stays.
 * @param {import("./words.js").Tag} tag
 */
async function setLanguage(tag) {
  try {
    await speak(tag);
  } catch (error) {
    if (!words) throw error;
  }
  document.documentElement.lang = language;
  document.documentElement.dir = words.direction;
  menu.value = language;
  menu.setAttribute("aria-label", words.language);
}
