/*
 * What the screens are made of.
 *
 * A screen function builds one screen, with one h1, and returns its element. It holds no state: it
 * shows its arguments and calls back to app.js. Texts of the survey come as {text, lang} and get
 * dir="auto", so that every script reads correctly.
 */

import { el, svg } from "../dom.js";
import { fill, language, nameOf, words } from "../words.js";

/**
 * @typedef {import("../dom.js").Attributes} Attributes
 * @typedef {import("../dom.js").Child} Child
 * @typedef {import("../words.js").AnyText} AnyText
 */

/**
 * A screen: content that scrolls, and below it the buttons, which are always in view and never cover
 * the content. With `submit`, the screen is a form.
 *
 * @param {Attributes & { submit?: () => void }} attributes
 * @param {Child[]} content
 * @param {...Child} bar
 */
export function screen({ class: name, submit, ...attributes }, content, ...bar) {
  /** @param {Event} event */
  const listen = (event) => {
    event.preventDefault();
    /** @type {() => void} */ (submit)();
  };
  const form = submit && { novalidate: true, autocomplete: "off", submit: listen };
  return el(
    submit ? "form" : "div",
    { class: `screen fit ${name}`, ...form, ...attributes },
    el("div", { class: "scroll" }, ...content),
    bar.length > 0 && el("div", { class: "actions" }, ...bar),
  );
}

/**
 * A short message with a picture.
 * @param {string} picture
 * @param {string} title
 * @param {Child[]} content
 * @param {...Child} bar
 */
export function notice(picture, title, content, ...bar) {
  return screen({ class: "notice" }, [icon(picture), el("h1", {}, title), ...content], ...bar);
}

/**
 * @param {string} name
 * @param {string} text
 * @param {() => void} click
 */
export function button(name, text, click) {
  return el("button", { class: name, type: "button", click }, text);
}

/** @param {() => void} back */
export function backLink(back) {
  return button("link back", words.asking.back, back);
}

/** @param {string} href @param {string} text */
export function linkTo(href, text) {
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, text);
}

/**
 * A list of labels with what belongs to each.
 * @param {[string, Child][]} rows
 */
export function pairs(rows) {
  return el("dl", {}, rows.map(([label, text]) => el("div", {}, el("dt", {}, label), el("dd", {}, text))));
}

/**
 * A note if texts of the survey are in another language than the page.
 * @param {...AnyText} texts
 */
export function untranslated(...texts) {
  const other = texts.find(({ text, lang }) => text && lang !== language)?.lang;
  if (!other) return null;
  const note = fill(words.untranslated, { language: nameOf(other) });
  return el("p", { class: "untranslated" }, note);
}

/* Three dots, while the person waits. */
export function pulse() {
  return el("div", { class: "pulse", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
}

/** @type {Record<string, [keyof SVGElementTagNameMap, Attributes][]>} */
const ICONS = {
  filled: [["circle", { class: "filled", cx: 12, cy: 12, r: 8 }]],
  empty: [["circle", { class: "empty", cx: 12, cy: 12, r: 7 }]],
  changed: [
    ["circle", { class: "filled changed", cx: 6, cy: 12, r: 5 }],
    ["circle", { class: "empty changed", cx: 18, cy: 12, r: 4 }],
  ],
  waiting: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M12 7v5l3.5 2" }],
  ],
  done: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M7.8 12.4l2.9 2.8 5.6-6" }],
  ],
  remove: [["path", { d: "M7 7l10 10M17 7L7 17" }]],
  stop: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M8.5 12h7" }],
  ],
};

/**
 * A small picture next to words that say the same.
 * @param {string} name
 */
export function icon(name) {
  const parts = ICONS[name].map(([shape, attributes]) => svg(shape, attributes));
  return svg("svg", { class: `icon ${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, parts);
}
