/*
 * The editor of a draft. It shows the state (document.js) and saves every change (save.js). Typing
 * changes a text in place; any other change redraws the lists and keeps the focus.
 */

import { byId, pair } from "./fields.js";
import { dial, fillDial, mark, showFigures } from "./dial.js";
import { fromDocument, toDocument } from "./document.js";
import { renameQuestion, takenKeys } from "./follow_ups.js";
import { isMade, keyFor } from "./keys.js";
import { languageControls, showLanguages } from "./languages.js";
import { unkept } from "./numbers.js";
import { sortable } from "./order.js";
import { LISTS, goToPlace, inWords, showWrong } from "./problems.js";
import { LETTERS, add, adders, card, full, move, showFound } from "./questions/cards.js";
import { refreshConditions } from "./questions/condition.js";
import { draftSync } from "./save.js";
import { ORIGINAL } from "./texts.js";

/**
 * @typedef {import("./types.js").Editor} Editor
 * @typedef {import("./types.js").Field} Field
 * @typedef {import("./types.js").List} List
 * @typedef {import("./types.js").Opens} Opens
 * @typedef {import("./types.js").Refused} Refused
 * @typedef {import("./types.js").Saving} Saving
 */

const page = byId("editor");
let fresh = 0; // counts the ids made on this page

/** @type {Editor} */
const ed = {
  state: /** @type {any} */ (null), // until it is loaded
  ours: {},
  limits: /** @type {any} */ (null),
  kinds: {},
  wrong: {},
  blocks: [],
  refused: null,
  figures: null,
  ways: {},
  other: null,
  menu: null,
  fields: new Map(),
  touched: new Set(),
  edited: new Set(),
  pressed: false,
  shortPause: 150,
  draw,
  changed(step, pause) {
    sync.changed(step, pause);
    showLanguages(ed);
  },
  say(text) {
    byId("said").textContent = text;
  },
  showWrong: () => showWrong(ed),
  showSaving: () => showSaving(saving),
  showWays: () => showFound(ed),
  chooseLanguage(tag) {
    ed.other = tag === ed.other ? null : tag;
    draw();
  },
  newId: () => `new-${++fresh}`,
};

/** @type {Opens | null} */
let opens = null; // when it opens automatically
/** @type {string} */
let address = page.dataset.slug ?? ""; // the last part of its address
let follows = false; // whether it follows the title

// --- Saving --------------------------------------------------------------------------------------

/** @type {HTMLInputElement | null} */
const token = page.querySelector("[name=csrfmiddlewaretoken]");

const sync = draftSync(page.dataset.draft ?? "", token?.value ?? "", {
  toDocument: () => toDocument(ed.state, ed.ours),
  onStatus: showSaving,
  onServerState(answer) {
    ed.wrong = answer.wrong;
    ed.blocks = answer.blocks;
    ed.figures = answer.figures;
    ed.ways = answer.ways;
    showOpens(answer.opens);
    ed.refused = null;
    if (!sync.pending()) ed.edited.clear();
    if (answer.document) {
      follows = answer.follows;
      ed.ours = answer.ours;
      ed.limits = answer.limits;
      ed.kinds = answer.kinds;
      ed.state = fromDocument(answer.document, ed.ours, ed.state);
      if (ed.other && !ed.state.tags.includes(ed.other)) ed.other = null;
      fillDial(ed.state);
      draw();
    } else {
      showWrong(ed);
    }
    byId("undo").disabled = !answer.undo;
    byId("redo").disabled = !answer.redo;
    if (answer.slug !== address) showAddress(answer.slug);
    showFigures(answer.figures, ed.state);
    showFound(ed);
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
  ed.refused = problem ?? null;
  const number = what === "saved" || what === "saving" ? unkept() : null;
  const calm = !number && (what === "saved" || what === "saving" || what === "conflict");
  const said = ed.refused
    ? `Not saved. ${inWords(ed, ed.refused.where)}${ed.refused.what}`
    : number
      ? `Not saved: ${number.what}`
      : (SAID[what] ?? "");
  byId("saved").textContent = calm ? said : "";
  byId("saved").dataset.state = what;
  if (byId("unsaved").textContent !== (calm ? "" : said)) byId("unsaved").textContent = calm ? "" : said;
  byId("conflict").hidden = what !== "conflict";
  if (ed.refused) showWrong(ed);
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

/* Move nothing while the mouse is down, or the click would miss its target. */
addEventListener("pointerdown", () => (ed.pressed = true), true);
for (const name of ["pointerup", "pointercancel"]) {
  addEventListener(
    name,
    () => {
      ed.pressed = false;
      setTimeout(() => ed.state && showWrong(ed));
    },
    true,
  );
}

// --- Showing the draft ---------------------------------------------------------------------------

/* Redraw everything from the state. */
function draw() {
  const { state, limits } = ed;
  const active = /** @type {Field | null} */ (document.activeElement);
  const focus = active?.id;
  const { selectionStart = null, selectionEnd = null } = active ?? {}; // null for a box to tick
  ed.fields.clear();
  byId("texts").replaceChildren(
    pair(ed, { id: "title", at: "title", label: "Title", holder: state.title, most: limits.title }),
    pair(ed, { id: "introduction", at: "introduction", label: "Introduction", holder: state.introduction, lines: 3 }),
  );
  byId("disclosures").replaceChildren(
    pair(ed, { id: "asked_by", at: "asked_by", label: "Who asks", holder: state.asked_by, most: limits.disclosure }),
    pair(ed, { id: "purpose", at: "purpose", label: "Why, and what becomes of the results", holder: state.purpose, lines: 2 }),
    pair(ed, { id: "contact", at: "contact", label: "How people reach you with questions", holder: state.contact, most: limits.disclosure }),
  );
  for (const list of LISTS) {
    byId(list).replaceChildren(...state[list].map((one, i) => card(ed, list, one, i)));
  }
  for (const button of adders()) button.disabled = full(ed);
  showLanguages(ed);
  showWrong(ed);
  showFound(ed);
  if (focus && focus !== document.activeElement?.id) {
    const again = /** @type {Field | null} */ (byId(focus));
    again?.focus({ preventScroll: true });
    if (selectionStart !== null) again?.setSelectionRange?.(selectionStart, selectionEnd);
  }
}

/**
 * Replace a placeholder key once there is a text to make one from; after that, the key stays.
 * @param {FocusEvent} event
 */
function nameKeys(event) {
  const left = /** @type {Element} */ (event.target).id;
  const { state } = ed;
  for (const list of LISTS) {
    const found = state?.[list].find(({ id }) => left === `${id}-text`);
    if (!found || isMade(found.key) || !found.text[ORIGINAL].trim()) continue;
    renameQuestion(state, found, keyFor(found.text[ORIGINAL], takenKeys(state, found), LETTERS[list]));
    const shown = /** @type {HTMLInputElement | null} */ (byId(`${found.id}-key`));
    if (shown) shown.value = found.key;
    ed.changed(left);
  }
  if (state) refreshConditions(ed);
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

// --- The rest of the page ------------------------------------------------------------------------

dial((name, value) => {
  const { state } = ed;
  if (value === undefined) {
    showWrong(ed);
    return showSaving(saving);
  }
  if (name === "blocks") {
    for (const question of state.questions) {
      question.blocks = value ? [...(ed.ways[question.key]?.blocks ?? [1])] : [];
    }
    draw();
    for (const { id } of state.questions) if (value) byId(`${id}-details`).setAttribute("open", "");
  } else if (name === "epsilon") state.epsilon = Number(value);
  else if (name === "ask") state.ask = value === null ? null : Number(value);
  else if (value === null || value === false) delete state.rest[name];
  else state.rest[name] = value;
  if (name === "access" && value === "invited") delete state.rest.work;
  if (name === "epsilon") mark(state.epsilon);
  if (name === "access") fillDial(state);
  showWrong(ed);
  ed.changed(name, ed.shortPause);
});

for (const list of LISTS) sortable(byId(list), (from, to) => move(ed, list, from, to));
for (const button of adders()) {
  const { add: list, kind = "" } = button.dataset;
  button.addEventListener("click", () => add(ed, /** @type {List} */ (list), kind));
}
languageControls(ed);
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
  ed.say("");
  if (!(await sync.go(by))) return;
  ed.say(by < 0 ? "Undone." : "Done again.");
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
  slug.value = keyFor(ed.state.title[ORIGINAL], []).slice(0, 50);
  slug.focus();
});

sync.load().then(
  () => {
    page.hidden = false;
    byId("loading").hidden = true;
    goToPlace(ed, decodeURIComponent(location.hash.slice(1)));
  },
  () => {
    byId("loading").textContent = "The draft could not be loaded. Reload the page.";
  },
);
