/*
 * The editor of a draft. It shows the state (document.js) and saves every change (save.js). Typing
 * changes a text in place; any other change redraws the lists and keeps the focus.
 */

import { el } from "../respond/dom.js";
import { byId, dial, fillDial, mark, showFigures, showProblems } from "./dial.js";
import {
  ORIGINAL, TEXTS, allQuestions, cleaned, fromDocument, isKey, isMade, isOurs, keyFor, missing, optionFields,
  toDocument,
} from "./document.js";
import { numberField, problemOf, unkept } from "./numbers.js";
import { sortable } from "./order.js";
import { draftSync } from "./save.js";

/**
 * @typedef {import("./document.js").Held} Held
 * @typedef {import("./document.js").HeldOption} HeldOption
 * @typedef {import("./document.js").Kind} Kind
 * @typedef {import("./document.js").OptionField} OptionField
 * @typedef {import("./document.js").Ours} Ours
 * @typedef {import("./document.js").State} State
 * @typedef {import("./document.js").Texts} Texts
 * @typedef {import("./save.js").DocumentLimits} Limits
 * @typedef {import("./save.js").Figures} Figures
 * @typedef {import("./save.js").Opens} Opens
 * @typedef {import("./save.js").Refused} Refused
 * @typedef {import("./save.js").Saving} Saving
 * @typedef {HTMLInputElement | HTMLTextAreaElement} Field
 *
 * @typedef {object} FieldOptions
 * @property {string} id
 * @property {string} at
 * @property {string} label
 * @property {OptionField["holder"]} holder
 * @property {string | number} name
 * @property {string} tag
 * @property {number} lines
 * @property {number} [most]
 * @property {boolean} [hideLabel]
 * @property {(() => void) | null} [enter]
 */

const page = byId("editor");
const SHORT_PAUSE = 150; // milliseconds: the dial saves sooner than a text

/** @type {Kind[]} */
const KINDS = ["questions", "background"];

const TAGS = (
  "ar bg bn ca cs da de el en es et eu fa fi fr ga gl he hi hr hu hy id it ja ka ko lt lv mk ms nl " +
  "no pl pt pt-BR ro ru sk sl so sq sr sv sw ta th ti tr uk ur vi zh-Hans zh-Hant"
).split(" ");
const RIGHT_TO_LEFT = "ar ckb dv fa he ps sd ug ur yi".split(" ");
const names = new Intl.DisplayNames(["en"], { type: "language" });
/** @param {string} tag */
const nameOf = (tag) => names.of(tag) ?? tag;
/** @param {string} tag */
const directionOf = (tag) => (RIGHT_TO_LEFT.includes(tag.split("-")[0]) ? "rtl" : "ltr");

/** @type {Record<string, string>} */
const NAMES = { questions: "Question", background: "Background question" };

/** @type {State} */
let state;
/** @type {Ours} */
let ours = {}; // Candor's words for yes, no and “prefer not to say”, by language
/** @type {Limits} */
let limits;
/** @type {Record<string, string>} */
let wrong = {}; // by place in the document
/** @type {{ what: string, place: string }[]} */
let blocks = []; // other findings of the checklist that block opening
/** @type {Opens | null} */
let opens = null; // when it opens automatically
/** @type {Refused | null} */
let refused = null;
/** @type {Figures | null} */
let figures = null;
/** @type {string | null} */
let other = null; // the language shown next to the original
/** @type {string | null} */
let menu = null; // the option whose move buttons are shown
/** @type {string} */
let address = page.dataset.slug ?? ""; // the last part of its address
let follows = false; // whether it follows the title
let fresh = 0; // counts the ids made on this page
/** @type {Set<string>} */
const touched = new Set(); // fields whose errors are shown
/** @type {Set<string>} */
const edited = new Set(); // places with changes that the server has not seen
/** @type {Map<string, { input: Field | HTMLButtonElement, error: HTMLElement }>} */
const fields = new Map(); // where → { input, error }

// --- Saving --------------------------------------------------------------------------------------

/** @type {HTMLInputElement | null} */
const token = page.querySelector("[name=csrfmiddlewaretoken]");

const sync = draftSync(page.dataset.draft ?? "", token?.value ?? "", {
  toDocument: () => toDocument(state, ours),
  onStatus: showSaving,
  onServerState(answer) {
    wrong = answer.wrong;
    blocks = answer.blocks;
    figures = answer.figures;
    showOpens(answer.opens);
    refused = null;
    if (!sync.pending()) edited.clear();
    if (answer.document) {
      follows = answer.follows;
      ours = answer.ours;
      limits = answer.limits;
      state = fromDocument(answer.document, ours, state);
      if (other && !state.tags.includes(other)) other = null;
      fillDial(state);
      draw();
    } else {
      showWrong();
    }
    byId("undo").disabled = !answer.undo;
    byId("redo").disabled = !answer.redo;
    if (answer.slug !== address) showAddress(answer.slug);
    showFigures(figures, state);
    showErrorsOfQuestions();
  },
});

/** @type {Partial<Record<Saving, string>>} */
const SAID = {
  saved: "Saved",
  saving: "Saving …",
  waiting: "Not saved yet. The server cannot be reached. Trying again …",
  offline: "The server cannot be reached right now.",
  conflict: "Not saved yet",
  out: "Not saved. You are logged out or no longer have access to this survey. Log in in another window, then come back: your changes will be saved.",
  opened: "This survey has been opened, so it can no longer be changed. Reload the page.",
};

/** @type {Saving} */
let saving = "saved";

/**
 * Show the state of saving. An invalid number is reported until it is fixed.
 * @param {Saving} what
 * @param {Refused} [problem]
 */
function showSaving(what, problem) {
  saving = what;
  refused = problem ?? null;
  const number = what === "saved" || what === "saving" ? unkept() : null;
  const calm = !number && (what === "saved" || what === "saving" || what === "conflict");
  const said = refused
    ? `Not saved. ${placeOf(refused.where)}${refused.what}`
    : number
      ? `Not saved: ${number.what}`
      : (SAID[what] ?? "");
  byId("saved").textContent = calm ? said : "";
  byId("saved").dataset.state = what;
  if (byId("unsaved").textContent !== (calm ? "" : said)) byId("unsaved").textContent = calm ? "" : said;
  byId("conflict").hidden = what !== "conflict";
  if (refused) showWrong();
}

/** @type {Record<string, string>} */
const PLACES = {
  title: "",
  questions: "",
  epsilon: "Privacy dial: ",
  ask: "Blocks: ",
  blocks: "Blocks: ",
  crowd: "Responses before results change: ",
  expected: "People you hope to reach: ",
  retention_days: "Days until everything is deleted: ",
};
const TRANSLATED = /^translations\.([^.[]+)\.questions\.([^.[]+)\.?(text|options(?:\[\d+\])?)?$/;

/**
 * Find a question by its key: its list and its place there.
 * @param {string | undefined} key
 * @returns {{ kind: Kind, place: number } | null}
 */
function find(key) {
  for (const kind of KINDS) {
    const place = state[kind].findIndex((one) => one.key === key);
    if (place >= 0) return { kind, place };
  }
  return null;
}

/**
 * Describe a place in words.
 * @param {string} where
 */
function placeOf(where) {
  const asked = /^(questions|background)\[(\d+)\]/.exec(where);
  if (asked) return `${NAMES[asked[1]]} ${Number(asked[2]) + 1}: `;
  const [, tag, key] = TRANSLATED.exec(where) ?? [];
  const found = find(key);
  if (found) return `${NAMES[found.kind]} ${found.place + 1}, ${nameOf(tag)}: `;
  return PLACES[where] ?? (where ? `${where}: ` : "");
}

/**
 * Find the field of a place; for a translation, in its language.
 * @param {string} where
 * @returns {{ at: string, tag?: string }}
 */
function fieldOf(where) {
  const [, tag, key, rest] = TRANSLATED.exec(where) ?? [];
  const found = find(key);
  if (!found) return { at: where };
  const text = rest === "options" ? "options[0]" : (rest ?? "text");
  return { at: `${found.kind}[${found.place}].${text}:${tag}`, tag };
}

/** @param {string} step @param {number} [pause] */
function changed(step, pause) {
  sync.changed(step, pause);
  showLanguages();
}

/** @param {string} text */
const say = (text) => {
  byId("said").textContent = text;
};

// --- Fields --------------------------------------------------------------------------------------

/**
 * A text in the original language and, if one is chosen, in another language next to it.
 * @param {{ id: string, at: string, label: string, holder: Texts, lines?: number, most?: number, languageLabel?: boolean }} pair
 */
function pair({ id, at, label, holder, lines = 1, most, languageLabel = true }) {
  const columns = [ORIGINAL, ...(other ? [other] : [])].map((tag) =>
    field({
      id: tag ? `${id}-${tag}` : id,
      at: tag ? `${at}:${tag}` : at,
      label: tag && languageLabel ? `${label}, ${nameOf(tag)}` : label,
      holder,
      name: tag,
      tag: tag || state.language,
      lines,
      most,
    }),
  );
  return el("div", { class: other ? "pair" : "single" }, columns);
}

/** @param {FieldOptions} field */
function field({ id, at, label, holder, name, tag, lines, most, hideLabel = false, enter = null }) {
  const gap = name !== ORIGINAL && typeof name === "string" && holder[ORIGINAL]?.trim() && !holder[name]?.trim();
  /** @type {Field} */
  const input = el(lines > 1 ? "textarea" : "input", {
    id,
    lang: tag,
    dir: directionOf(tag),
    rows: lines > 1 ? lines : null,
    type: lines > 1 ? null : "text",
    maxlength: most,
    autocomplete: "off",
    "aria-describedby": `${id}-error`,
    class: gap ? "gap" : null,
    input() {
      const text = cleaned(input.value);
      if (text !== input.value) {
        const place = (input.selectionStart ?? 0) - (input.value.length - text.length);
        input.value = text;
        input.setSelectionRange(place, place);
        say("An invisible character was removed.");
      }
      holder[name] = text;
      edited.add(at);
      if (error.textContent) showWrong();
      input.classList.toggle("gap", Boolean(name && !text.trim()));
      changed(id);
    },
    blur() {
      touched.add(id);
      if (!pressed) showWrong();
    },
    /** @param {KeyboardEvent} event */
    keydown(event) {
      if (!enter || event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      enter();
    },
  });
  input.value = holder[name] ?? "";
  const error = el("p", { class: "error", id: `${id}-error` });
  fields.set(at, { input, error });
  const labelled = el("label", { for: id, class: hideLabel ? "visually-hidden" : null }, label);
  return el("div", { class: "text" }, labelled, input, error);
}

/* Move nothing while the mouse is down, or the click would miss its target. */
let pressed = false;
addEventListener("pointerdown", () => (pressed = true), true);
for (const name of ["pointerup", "pointercancel"]) {
  addEventListener(
    name,
    () => {
      pressed = false;
      setTimeout(() => state && showWrong());
    },
    true,
  );
}

/* Show errors next to the fields that were edited, and all of them at the end. */
function showWrong() {
  const known = Object.fromEntries(Object.entries(wrong).map(([at, what]) => [fieldOf(at).at, what]));
  for (const [at, { input, error }] of fields) {
    const what = touched.has(input.id) && !edited.has(at) ? (known[at] ?? "") : "";
    const text = problemOf(input) || (refused?.where === at ? `${refused.what}.` : what);
    if (error.textContent !== text) error.textContent = text;
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
  const found = Object.entries(wrong).map(([where, what]) => {
    const { at, tag } = fieldOf(where);
    const id = fields.get(at)?.input.id ?? (tag ? "languages" : byId(where) && where);
    const go = () => (tag || fields.has(at) ? goTo(at, tag) : goToPlace(where));
    return { before: placeOf(where), what, id, go };
  });
  for (const { what, place } of blocks) {
    found.push({ before: "", what: `${what}.`, id: place, go: () => goToPlace(place) });
  }
  showNext(found);
  showProblems((name) => (refused?.where === name ? `${refused.what}.` : (wrong[name] ?? "")));
}

/**
 * Redrawn only when it changes, because leaving a field happens before the click on something here.
 * @param {{ before: string, what: string, id: string | null, go: () => void }[]} found
 */
function showNext(found) {
  const key = JSON.stringify(found);
  if (byId("wrong").dataset.key === key) return;
  byId("wrong").dataset.key = key;
  const list = found.map(({ before, what, id, go }) => {
    /** @param {Event} event */
    const click = (event) => {
      event.preventDefault();
      go();
    };
    return el("li", {}, before, id ? el("a", { href: `#${id}`, click }, what) : what);
  });
  byId("wrong").replaceChildren(...list);
  byId("ready").hidden = list.length > 0;
  byId("unready").hidden = list.length === 0;
}

/**
 * A change cancels a scheduled opening; undoing the change restores it.
 * @param {Opens | null} now
 */
function showOpens(now) {
  const [at, holds] = [(now ?? opens)?.at, now?.holds];
  opens = now ?? (opens && { ...opens, holds: false });
  byId("opens").hidden = !opens;
  const text = holds
    ? `Opens automatically on ${at}. Any change cancels this.`
    : `It was scheduled to open on ${at}, but it has changed, so it will not open. Undo the change, or set the time again under “Check and open”.`;
  if (opens && byId("opens").textContent !== text) byId("opens").textContent = text;
}

/** @param {string} at @param {string} [tag] */
function goTo(at, tag) {
  if (tag && tag !== other) {
    other = tag;
    draw();
  }
  const input = fields.get(at)?.input;
  if (!input) return;
  touched.add(input.id);
  showWrong();
  input.focus();
}

// --- Lists ---------------------------------------------------------------------------------------

/** @returns {NodeListOf<HTMLButtonElement>} */
const adders = () => document.querySelectorAll("[data-add]");

/* Redraw everything from the state. */
function draw() {
  const active = /** @type {Field | null} */ (document.activeElement);
  const focus = active?.id;
  const selection = focus && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  fields.clear();
  byId("texts").replaceChildren(
    pair({ id: "title", at: "title", label: "Title", holder: state.title, most: limits.title }),
    pair({ id: "introduction", at: "introduction", label: "Introduction", holder: state.introduction, lines: 3 }),
  );
  byId("disclosures").replaceChildren(
    pair({ id: "asked_by", at: "asked_by", label: "Who asks", holder: state.asked_by, most: limits.disclosure }),
    pair({ id: "purpose", at: "purpose", label: "Why, and what becomes of the results", holder: state.purpose, lines: 2 }),
    pair({ id: "contact", at: "contact", label: "How people reach you with questions", holder: state.contact, most: limits.disclosure }),
  );
  for (const kind of KINDS) {
    byId(kind).replaceChildren(...state[kind].map((one, i) => card(kind, one, i)));
  }
  for (const button of adders()) button.disabled = full();
  showLanguages();
  showWrong();
  showErrorsOfQuestions();
  if (focus && focus !== document.activeElement?.id) {
    const again = /** @type {Field | null} */ (byId(focus));
    again?.focus({ preventScroll: true });
    if (selection && again?.setSelectionRange && again.type !== "number") {
      again.setSelectionRange(selection[0], selection[1]);
    }
  }
}

/* Whether the survey has as many questions as allowed. */
const full = () => allQuestions(state).length >= limits.questions;

/** @param {Kind} kind @param {Held} question @param {number} i */
function card(kind, question, i) {
  const { id } = question;
  const at = `${kind}[${i}]`;
  const name = `${NAMES[kind]} ${i + 1}`;
  const list = state[kind];
  return el(
    "li",
    { class: "card asked-one", "data-item": true, "aria-labelledby": `${id}-name` },
    el(
      "div",
      { class: "head" },
      handle(`${id}-handle`, `Move ${name.toLowerCase()}`),
      el("h3", { id: `${id}-name` }, name),
      kind === "questions" && kindOf(question, name),
      kind === "questions" && el("span", { class: "found quiet", id: `${id}-found` }),
    ),
    pair({ id: `${id}-text`, at: `${at}.text`, label: "Text", holder: question.text, lines: 2 }),
    question.kind === "yes_no" ? oursOf(question) : options(question, at, name),
    kind === "questions" ? declinable(question) : alwaysDeclinable(),
    kind === "background" && costOf(question, at),
    el(
      "div",
      { class: "foot" },
      action("Move up", `${id}-up`, name, i === 0, () => move(kind, i, i - 1, `${id}-up`)),
      action("Move down", `${id}-down`, name, i === list.length - 1, () => move(kind, i, i + 1, `${id}-down`)),
      action("Duplicate", `${id}-again`, name, full(), () => duplicate(kind, i)),
      action("Delete", `${id}-delete`, name, false, () => remove(kind, i)),
      details(kind, question),
    ),
  );
}

/**
 * @param {string} text
 * @param {string} id
 * @param {string} name
 * @param {boolean} disabled
 * @param {() => void} click
 */
const action = (text, id, name, disabled, click) =>
  el("button", { type: "button", class: "small-action", id, "aria-label": `${text}: ${name}`, disabled, click }, text);

/**
 * @param {string} id
 * @param {string} label
 * @param {import("../respond/dom.js").Attributes} [more]
 */
function handle(id, label, more = {}) {
  return el(
    "button",
    { type: "button", class: "handle", id, "aria-label": `${label}: drag, or use the arrow keys`, title: "Drag, or use the arrow keys", ...more },
    el("span", { "aria-hidden": "true" }, "⠿"),
  );
}

/** @param {Held} question @param {string} name */
function kindOf(question, name) {
  /** @type {HTMLSelectElement} */
  const select = el(
    "select",
    {
      id: `${question.id}-kind`,
      "aria-label": `${name}: kind`,
      change() {
        question.kind = select.value;
        if (question.kind === "choice" && !question.options.length) addOptions(question, 2);
        draw();
        changed("", SHORT_PAUSE);
      },
    },
    el("option", { value: "yes_no", selected: question.kind === "yes_no" }, "Yes or no"),
    el("option", { value: "choice", selected: question.kind === "choice" }, "One of several options"),
  );
  return select;
}

/* “Prefer not to say” in the survey's own language. */
const declining = () => (ours[state.language.split("-")[0]] ?? ours.en)[2];

const alwaysDeclinable = () =>
  el("p", { class: "quiet small" }, `The last option is always “${declining()}”.`);

/**
 * The field for the ε of a background question; empty means the default.
 * @param {Held} question
 * @param {string} at
 */
function costOf(question, at) {
  const cost = numberText(
    {
      id: `${question.id}-epsilon`,
      at: `${at}.epsilon`,
      label: "ε of this answer",
      least: 0.01,
      most: limits.background_epsilon,
      value: question.epsilon,
    },
    { inputmode: "decimal", "data-where": "on this site", placeholder: limits.usual_background_epsilon },
    (value) => {
      question.epsilon = value;
    },
  );
  const said = el("p", { class: "quiet small", id: `${question.id}-sure` });
  return el("div", { class: "cost" }, cost, said);
}

/** @param {Held} question */
function declinable(question) {
  /** @type {HTMLInputElement} */
  const box = el("input", {
    type: "checkbox",
    id: `${question.id}-declined`,
    checked: question.declined,
    change() {
      question.declined = box.checked;
      draw();
      changed("", SHORT_PAUSE);
    },
  });
  return el("label", { class: "check" }, box, el("span", {}, `May be declined: adds “${declining()}”, randomized like the others`));
}

/**
 * A yes/no question has no options to write, except in languages for which Candor has no words.
 * @param {Held} question
 */
function oursOf(question) {
  const tag = other;
  if (!tag || isOurs(tag, ours)) return null;
  const rows = optionFields(question, tag, ours);
  return el(
    "div",
    { class: "pair options" },
    el("p", { class: "quiet small" }, `Please translate these into ${nameOf(tag)}.`),
    el("div", {}, rows.map((row) => translatedOption(question, row, tag))),
  );
}

/** @param {Held} question @param {OptionField} field @param {string} tag */
function translatedOption(question, { holder, at, original }, tag) {
  return field({
    id: `${question.id}-ours-${at}-${tag}`,
    at: `${question.id}:${at}:${tag}`,
    label: `“${original}”, ${nameOf(tag)}`,
    holder,
    name: at,
    tag,
    lines: 1,
  });
}

/**
 * @param {Held} question
 * @param {string} at
 * @param {string} name
 */
function options(question, at, name) {
  const rows = question.options.map((option, j) => optionRow(question, option, j, at, name));
  const list = el("ol", { class: "options" }, rows);
  sortable(list, (from, to) => moveOption(question, from, to, name));
  const error = el("p", { class: "error", id: `${question.id}-options-error` });
  const add = el(
    "button",
    {
      type: "button",
      class: "small-action",
      id: `${question.id}-add`,
      "aria-label": `Add an option: ${name}`,
      "aria-describedby": `${question.id}-options-error`,
      disabled: question.options.length >= limits.options,
      click() {
        addOptions(question, 1);
        draw();
        byId(question.options[question.options.length - 1].id).focus();
        changed("", SHORT_PAUSE);
      },
    },
    "+ Option",
  );
  fields.set(`${at}.options`, { input: add, error });
  const shown = other && !isOurs(other, ours) && question.declined ? other : "";
  const declined = shown && optionFields(question, shown, ours).at(-1);
  return el(
    "div",
    {},
    list,
    declined && el("div", { class: "pair options" }, el("span"), translatedOption(question, declined, shown)),
    add,
    error,
  );
}

/**
 * @param {Held} question
 * @param {HeldOption} option
 * @param {number} j
 * @param {string} at
 * @param {string} name
 */
function optionRow(question, option, j, at, name) {
  const where = `Option ${j + 1}`;
  const open = menu === option.id;
  /** @param {number} by */
  const step = (by) => {
    moveOption(question, j, j + by, name);
    byId(`${option.id}-handle`).focus();
  };
  const grip = handle(`${option.id}-handle`, `Move ${where.toLowerCase()} of ${name.toLowerCase()}`, {
    "aria-expanded": String(open),
    click() {
      menu = open ? null : option.id;
      draw();
    },
  });
  return el(
    "li",
    { "data-item": true },
    el(
      "div",
      { class: "option" },
      grip,
      el(
        "div",
        { class: other ? "pair" : "single" },
        [ORIGINAL, ...(other ? [other] : [])].map((tag) =>
          field({
            id: tag ? `${option.id}-${tag}` : option.id,
            at: tag ? `${at}.options[${j}]:${tag}` : `${at}.options[${j}]`,
            label: tag ? `${where}, ${nameOf(tag)}` : where,
            holder: option.text,
            name: tag,
            tag: tag || state.language,
            lines: 1,
            hideLabel: true,
            enter: () => nextOption(question, j, tag),
          }),
        ),
      ),
      el(
        "button",
        {
          type: "button",
          class: "small-action",
          id: `${option.id}-delete`,
          "aria-label": `Remove ${where.toLowerCase()}: ${name}`,
          title: "Remove",
          click() {
            question.options.splice(j, 1);
            draw();
            (byId(question.options[Math.min(j, question.options.length - 1)]?.id) ?? byId(`${question.id}-add`)).focus();
            say(`${where} removed. Undo brings it back.`);
            changed("", SHORT_PAUSE);
          },
        },
        "✕",
      ),
    ),
    open &&
      el(
        "div",
        { class: "moves" },
        action("Move up", `${option.id}-up`, where, j === 0, () => step(-1)),
        action("Move down", `${option.id}-down`, where, j === question.options.length - 1, () => step(1)),
      ),
  );
}

/**
 * Enter moves to the next option, and after the last one of the original adds another.
 * @param {Held} question
 * @param {number} j
 * @param {string} tag
 */
function nextOption(question, j, tag) {
  const last = j === question.options.length - 1;
  if (last && (tag || question.options.length >= limits.options)) return;
  if (last) {
    addOptions(question, 1);
    draw();
    changed("", SHORT_PAUSE);
  }
  const { id } = question.options[j + 1];
  byId(tag ? `${id}-${tag}` : id).focus();
}

/** @param {Held} question @param {number} count */
function addOptions(question, count) {
  for (let i = 0; i < count; i++) question.options.push({ id: `new-${++fresh}`, text: { [ORIGINAL]: "" } });
}

/** @param {Kind} kind @param {Held} question */
function details(kind, question) {
  const id = `${question.id}-key`;
  const error = el("p", { class: "error", id: `${id}-error` });
  /** @type {HTMLInputElement} */
  const input = el("input", {
    id,
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 50,
    "aria-describedby": `${id}-error`,
    change() {
      error.textContent = !isKey(input.value)
        ? "1 to 50 letters, digits, hyphens or underscores. The old key stays."
        : takenKeys(question).includes(input.value)
          ? "Another question has this key. The old key stays."
          : "";
      if (error.textContent) return;
      question.key = input.value;
      changed("");
    },
  });
  input.value = question.key;
  const block = kind === "questions" && question.block !== null && blockOf(question);
  const open = byId(`${question.id}-details`)?.hasAttribute("open") ?? false;
  return el(
    "details",
    { id: `${question.id}-details`, open },
    el("summary", {}, "Details"),
    el("div", { class: "text" }, el("label", { for: id }, "Key in files and tables"), input, error),
    block,
  );
}

/** @param {Held} question */
function blockOf(question) {
  const id = `${question.id}-block`;
  return numberText(
    { id, at: id, label: "Block", least: 1, most: limits.questions, value: question.block },
    { inputmode: "numeric", required: true },
    (value) => {
      question.block = value;
    },
  );
}

/**
 * A number of a question. `keep` gets valid numbers, and null for an empty field.
 * @param {{ id: string, at: string, label: string, least: number, most: number, value: number | null }} field
 * @param {import("../respond/dom.js").Attributes} more
 * @param {(value: number | null) => void} keep
 */
function numberText({ id, at, label, least, most, value }, more, keep) {
  const input = el("input", {
    id,
    type: "text",
    "data-least": least,
    "data-most": most,
    autocomplete: "off",
    "aria-describedby": `${id}-error`,
    ...more,
  });
  const error = el("p", { class: "error", id: `${id}-error` });
  fields.set(at, { input, error });
  numberField(input, (number) => {
    edited.add(at);
    showWrong();
    if (number === undefined) return showSaving(saving);
    keep(number);
    changed(id, SHORT_PAUSE);
  });
  input.value = value === null ? "" : String(value);
  return el("div", { class: "text short" }, el("label", { for: id }, label), input, error);
}

/* Show each question's expected error or protection, and which others share its block. */
function showErrorsOfQuestions() {
  state.background.forEach((question, i) => {
    const cost = figures?.costs[i];
    const place = byId(`${question.id}-sure`);
    if (cost && place) place.textContent = `Someone guessing 50:50 becomes at most ${cost.sure} sure of this answer.`;
  });
  const errors = figures?.problem ? null : figures?.questions;
  if (!errors) return;
  state.questions.forEach((question, i) => {
    const found = errors[i];
    const place = byId(`${question.id}-found`);
    if (found && place) place.textContent = `${found.error} points · block ${found.block}`;
  });
}

// --- Changing the lists ---------------------------------------------------------------------------

/**
 * @param {Kind} kind
 * @param {number} from
 * @param {number} to
 * @param {string} [focus]
 */
function move(kind, from, to, focus) {
  const list = state[kind];
  const [question] = list.splice(from, 1);
  list.splice(to, 0, question);
  draw();
  const there = byId(focus ?? `${question.id}-handle`);
  (there?.matches(":disabled") ? byId(`${question.id}-handle`) : there)?.focus();
  if (from === to) return;
  say(`Moved: ${NAMES[kind].toLowerCase()} ${to + 1} of ${list.length}.`);
  changed("", SHORT_PAUSE);
}

/**
 * @param {Held} question
 * @param {number} from
 * @param {number} to
 * @param {string} name
 */
function moveOption(question, from, to, name) {
  const [option] = question.options.splice(from, 1);
  question.options.splice(to, 0, option);
  draw();
  byId(`${option.id}-handle`).focus();
  if (from === to) return;
  say(`Moved: option ${to + 1} of ${question.options.length}, ${name.toLowerCase()}.`);
  changed("", SHORT_PAUSE);
}

/** @type {Record<Kind, string>} */
const LETTERS = { questions: "q", background: "b" }; // begin the keys of questions without a text

/**
 * The keys of all questions, or of all others.
 * @param {Held} [but]
 */
const takenKeys = (but) =>
  allQuestions(state)
    .filter((one) => one !== but)
    .map(({ key }) => key);

/** @param {Kind} kind @param {string | undefined} asked */
function add(kind, asked) {
  const list = state[kind];
  /** @type {Held} */
  const question = {
    id: `new-${++fresh}`,
    key: keyFor("", takenKeys(), LETTERS[kind]),
    kind: asked,
    declined: kind === "background",
    epsilon: null,
    block: list.some(({ block }) => block !== null) ? Math.max(...list.map(({ block }) => block ?? 1)) : null,
    text: { [ORIGINAL]: "" },
    options: [],
    ours: {},
  };
  if (asked === "choice") addOptions(question, 2);
  list.push(question);
  draw();
  byId(`${question.id}-text`).focus();
  say(`${NAMES[kind]} ${list.length} added.`);
  changed("", SHORT_PAUSE);
}

/** @param {Kind} kind @param {number} i */
function duplicate(kind, i) {
  const list = state[kind];
  const copy = structuredClone(list[i]);
  copy.id = `new-${++fresh}`;
  copy.key = keyFor(list[i].key, takenKeys());
  for (const option of copy.options) option.id = `new-${++fresh}`;
  list.splice(i + 1, 0, copy);
  draw();
  byId(`${copy.id}-text`).focus();
  say(`Duplicated: ${NAMES[kind].toLowerCase()} ${i + 2} of ${list.length}.`);
  changed("", SHORT_PAUSE);
}

/** @param {Kind} kind @param {number} i */
function remove(kind, i) {
  const list = state[kind];
  list.splice(i, 1);
  draw();
  const next = list[Math.min(i, list.length - 1)];
  const adder = [...adders()].find((button) => button.dataset.add === kind);
  (next ? byId(`${next.id}-handle`) : adder)?.focus();
  say(`${NAMES[kind]} ${i + 1} deleted. Undo brings it back.`);
  changed("", SHORT_PAUSE);
}

/**
 * Replace a placeholder key once there is a text to make one from; after that, the key stays.
 * @param {FocusEvent} event
 */
function nameKeys(event) {
  const left = /** @type {Element} */ (event.target).id;
  for (const kind of KINDS) {
    const found = state?.[kind].find(({ id }) => left === `${id}-text`);
    if (!found || isMade(found.key) || !found.text[ORIGINAL].trim()) continue;
    found.key = keyFor(found.text[ORIGINAL], takenKeys(found), LETTERS[kind]);
    const shown = /** @type {HTMLInputElement | null} */ (byId(`${found.id}-key`));
    if (shown) shown.value = found.key;
    changed(left);
  }
}

/**
 * The address follows the title until someone chooses one.
 * @param {Event} event
 */
function nameAddress(event) {
  const target = /** @type {HTMLInputElement} */ (event.target);
  if (target.id === "title" && follows && target.value.trim()) sync.changed("title", 0, { follow: address });
}

page.addEventListener("change", nameAddress);

/** @param {string} slug */
function showAddress(slug) {
  for (const name of ["href", "action"]) {
    for (const node of document.querySelectorAll(`[${name}^="/studio/${address}/"]`)) {
      node.setAttribute(name, (node.getAttribute(name) ?? "").replace(`/studio/${address}/`, `/studio/${slug}/`));
    }
  }
  history.replaceState(null, "", `/studio/${slug}/${location.hash}`);
  byId("address").textContent = `/s/${slug}/`;
  byId("slug").value = address = slug;
}

// --- Languages -----------------------------------------------------------------------------------

function showLanguages() {
  const own = byId("language");
  const known = TAGS.includes(state.language) ? TAGS : [state.language, ...TAGS];
  /** @param {string[]} tags */
  const sorted = (tags) => tags.map((tag) => [nameOf(tag), tag]).sort(([a], [b]) => a.localeCompare(b));
  fillSelect(own, sorted(known.filter((tag) => !state.tags.includes(tag))), state.language);
  const free = TAGS.filter((tag) => tag !== state.language && !state.tags.includes(tag));
  fillSelect(byId("add-language"), [["Add a language …", ""], ...sorted(free)], "");
  showTags(state.tags.map((tag) => ({ tag, gaps: missing(state, tag, ours), shown: tag === other })));
  byId("remove-language").hidden = !other;
  if (other) byId("remove-language").textContent = `Remove ${nameOf(other)}`;
}

/**
 * Redrawn only when they change, like the next steps.
 * @param {{ tag: string, gaps: number, shown: boolean }[]} found
 */
function showTags(found) {
  const key = JSON.stringify(found);
  if (byId("tags").dataset.key === key) return;
  byId("tags").dataset.key = key;
  const chips = found.map(({ tag, gaps, shown }) =>
    el(
      "button",
      {
        type: "button",
        id: `language-${tag}`,
        class: "chip",
        "aria-pressed": String(shown),
        click() {
          other = tag === other ? null : tag;
          draw();
        },
      },
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

byId("language").addEventListener("change", () => {
  state.language = byId("language").value;
  draw();
  changed("");
});

byId("add-language").addEventListener("change", () => {
  const menu = byId("add-language");
  const tag = menu.value;
  if (!tag) return;
  other = tag;
  state.tags.push(tag);
  delete menu.dataset.key;
  draw();
  byId(`title-${tag}`).focus();
  say(`${nameOf(tag)} added, beside the original.`);
  changed("", SHORT_PAUSE);
});

byId("remove-language").addEventListener("click", () => {
  const gone = other;
  if (!gone) return;
  state.tags = state.tags.filter((tag) => tag !== gone);
  for (const name of TEXTS) delete state[name][gone];
  for (const question of allQuestions(state)) {
    delete question.text[gone];
    delete question.ours[gone];
    for (const option of question.options) delete option.text[gone];
  }
  other = null;
  draw();
  byId("add-language").focus();
  say(`${nameOf(gone)} removed. Undo brings it back.`);
  changed("", SHORT_PAUSE);
});

// --- The rest of the page ------------------------------------------------------------------------

dial((name, value) => {
  if (value === undefined) {
    showWrong();
    return showSaving(saving);
  }
  if (name === "blocks") {
    state.questions.forEach((question, i) => {
      question.block = value ? (figures?.questions?.[i]?.block ?? 1) : null;
    });
    draw();
    for (const { id } of state.questions) if (value) byId(`${id}-details`).setAttribute("open", "");
  } else if (name === "epsilon") state.epsilon = Number(value);
  else if (name === "ask") state.ask = value === null ? null : Number(value);
  else if (value === null) delete state.rest[name];
  else state.rest[name] = value;
  if (name === "access" && value === "invited") delete state.rest.work;
  if (name === "epsilon") mark(state.epsilon);
  if (name === "access") fillDial(state);
  showWrong();
  changed(name, SHORT_PAUSE);
});

for (const kind of KINDS) sortable(byId(kind), (from, to) => move(kind, from, to));
for (const button of adders()) {
  button.addEventListener("click", () => add(/** @type {Kind} */ (button.dataset.add), button.dataset.kind));
}
page.addEventListener("focusout", nameKeys);
byId("undo").addEventListener("click", () => go(-1));
byId("redo").addEventListener("click", () => go(1));
byId("theirs").addEventListener("click", () => sync.theirs());
byId("mine").addEventListener("click", () => sync.mine());

/* In a field, the browser undoes typing; everywhere else, the draft is undone. */
addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  const typing = /** @type {Element} */ (event.target).matches?.("textarea, input:not([type=range], [type=checkbox])");
  if (!(event.ctrlKey || event.metaKey) || event.altKey || typing) return;
  const back = key === "z" && !event.shiftKey;
  if (!back && !(key === "y" || (key === "z" && event.shiftKey))) return;
  event.preventDefault();
  go(back ? -1 : 1);
});

/**
 * Undo (-1) or redo (1). Keep the focus if its element is still there.
 * @param {-1 | 1} by
 */
async function go(by) {
  say("");
  if (!(await sync.go(by))) return;
  say(by < 0 ? "Undone." : "Done again.");
  if (document.activeElement !== document.body) return;
  const button = byId(by < 0 ? "undo" : "redo");
  (button.disabled ? byId(by < 0 ? "redo" : "undo") : button).focus();
}

/* Save before following any link or button that leads away. */
document.addEventListener("click", async (event) => {
  /** @type {HTMLAnchorElement | null | undefined} */
  const link = /** @type {Element} */ (event.target).closest?.("a[data-after-saving]");
  if (!link) return;
  event.preventDefault();
  if (await ready()) location.assign(link.href);
});

page.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await ready()) /** @type {HTMLFormElement} */ (event.target).submit();
});

/* Whether everything is saved; if not, show the field that is not. */
async function ready() {
  const { input } = unkept() ?? {};
  input?.focus();
  return !input && (await sync.flush());
}

addEventListener("beforeunload", (event) => {
  if (unkept()) event.preventDefault();
});

const slug = byId("slug");
slug.addEventListener("input", () => {
  const odd = slug.validity.patternMismatch;
  slug.setCustomValidity(odd ? "Use only letters, digits, hyphens and underscores." : "");
});
byId("from-title")?.addEventListener("click", () => {
  slug.value = keyFor(state.title[ORIGINAL], []).slice(0, 50);
  slug.focus();
});

/**
 * Show the place that the checklist's link names.
 * @param {string} place
 */
function goToPlace(place) {
  const [, kind, key] = /^(question|language)-(.+)$/.exec(place) ?? [];
  if (kind === "language" && state.tags.includes(key)) return goToGap(key);
  const asked = kind === "question" && allQuestions(state).find((one) => one.key === key);
  /** @type {Record<string, string>} */
  const parts = { questions: "asked", background: "grouping", blocks: "own-blocks" };
  show(byId(asked ? `${asked.id}-text` : (parts[place] ?? place)));
}

/**
 * Show a language at its first missing text.
 * @param {string} tag
 */
function goToGap(tag) {
  other = tag;
  draw();
  /** @type {Field[]} */
  const inputs = Array.from(page.querySelectorAll("#editor .work :is(input, textarea)"));
  const its = inputs.filter(({ lang }) => lang === tag);
  const gap = its.find(({ classList }) => classList.contains("gap")) ?? its.find(({ value }) => !value);
  show(gap ?? byId(`language-${tag}`));
}

/** @param {HTMLElement | null} target */
function show(target) {
  if (!target) return;
  const folded = target.closest("details");
  if (folded) folded.open = true;
  if (target.matches("h2")) target.tabIndex = -1;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}

sync.load().then(
  () => {
    page.hidden = false;
    byId("loading").hidden = true;
    goToPlace(decodeURIComponent(location.hash.slice(1)));
  },
  () => {
    byId("loading").textContent = "The draft could not be loaded. Reload the page.";
  },
);
