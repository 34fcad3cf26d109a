/*
 * The languages of a draft: its own, and those that it is translated into, of which one at a time is
 * shown beside the original.
 */

import { el } from "../respond/dom.js";
import { byId, nameOf } from "./fields.js";
import { missing, removeLanguage } from "./translations.js";

/** @typedef {import("./types.js").Editor} Editor */

const TAGS = (
  "ar bg bn ca cs da de el en es et eu fa fi fr ga gl he hi hr hu hy id it ja ka ko lt lv mk ms nl " +
  "no pl pt pt-BR ro ru sk sl so sq sr sv sw ta th ti tr uk ur vi zh-Hans zh-Hant"
).split(" ");

/** @param {Editor} ed */
export function showLanguages({ state, other, ours, ...ed }) {
  const known = TAGS.includes(state.language) ? TAGS : [state.language, ...TAGS];
  /** @param {string[]} tags */
  const sorted = (tags) => tags.map((tag) => [nameOf(tag), tag]).sort(([a], [b]) => a.localeCompare(b));
  fillSelect(byId("language"), sorted(known.filter((tag) => !state.tags.includes(tag))), state.language);
  const free = TAGS.filter((tag) => tag !== state.language && !state.tags.includes(tag));
  fillSelect(byId("add-language"), [["Add a language …", ""], ...sorted(free)], "");
  showTags(
    state.tags.map((tag) => ({ tag, gaps: missing(state, tag, ours), shown: tag === other })),
    ed.chooseLanguage,
  );
  byId("remove-language").hidden = !other;
  if (other) byId("remove-language").textContent = `Remove ${nameOf(other)}`;
}

/**
 * Redrawn only when they change, like the next steps.
 * @param {{ tag: string, gaps: number, shown: boolean }[]} found
 * @param {(tag: string) => void} choose
 */
function showTags(found, choose) {
  const key = JSON.stringify(found);
  if (byId("tags").dataset.key === key) return;
  byId("tags").dataset.key = key;
  const chips = found.map(({ tag, gaps, shown }) =>
    el(
      "button",
      { type: "button", id: `language-${tag}`, class: "chip", "aria-pressed": String(shown), click: () => choose(tag) },
      nameOf(tag),
      el("span", { class: gaps ? "gaps" : "quiet" }, gaps ? ` ${gaps} missing` : " complete"),
    ),
  );
  const active = document.activeElement?.id;
  byId("tags").replaceChildren(...chips);
  if (active?.startsWith("language-")) byId(active)?.focus();
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[][]} pairs
 * @param {string} value
 */
function fillSelect(select, pairs, value) {
  const key = JSON.stringify([pairs, value]);
  if (select.dataset.key === key) return;
  select.dataset.key = key;
  select.replaceChildren(...pairs.map(([text, tag]) => el("option", { value: tag }, text)));
  select.value = value;
}

/**
 * Let the author choose, add and remove languages.
 * @param {Editor} ed
 */
export function languageControls(ed) {
  byId("language").addEventListener("change", () => {
    ed.state.language = byId("language").value;
    ed.draw();
    ed.changed("");
  });

  byId("add-language").addEventListener("change", () => {
    const menu = byId("add-language");
    const tag = menu.value;
    if (!tag) return;
    ed.other = tag;
    ed.state.tags.push(tag);
    delete menu.dataset.key;
    ed.draw();
    byId(`title-${tag}`).focus();
    ed.say(`${nameOf(tag)} added, beside the original.`);
    ed.changed("", ed.shortPause);
  });

  byId("remove-language").addEventListener("click", () => {
    const gone = ed.other;
    if (!gone) return;
    removeLanguage(ed.state, gone);
    ed.other = null;
    ed.draw();
    byId("add-language").focus();
    ed.say(`${nameOf(gone)} removed. Undo brings it back.`);
    ed.changed("", ed.shortPause);
  });
}
