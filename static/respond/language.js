/*
 * The language of a page: the menu in its head, and what a choice does to the document.
 */

import { el } from "./dom.js";
import { CATALOGUES, language, preferred, speak, words } from "./words.js";

const menu = el(
  "select",
  { class: "languages", autocomplete: "off" },
  Object.entries(CATALOGUES).map(([tag, { name }]) => el("option", { value: tag, lang: tag }, name)),
);

/* Begin in the reader's own language; `changed` is called after each choice of another. */
export function offerLanguages(changed) {
  menu.addEventListener("change", () => {
    setLanguage(menu.value);
    changed();
  });
  document.querySelector("header").append(menu);
  resetLanguage();
}

/* Back to the reader's own language. */
export function resetLanguage() {
  setLanguage(preferred(navigator.languages));
}

function setLanguage(tag) {
  speak(tag);
  document.documentElement.lang = language;
  document.documentElement.dir = words.direction;
  menu.value = tag;
  menu.setAttribute("aria-label", words.language);
}
