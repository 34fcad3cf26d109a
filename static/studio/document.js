/*
 * Converts between a survey file and the editor's state. The state holds every text with its
 * translations by language tag ("" is the survey's own language), so that a moved or removed question
 * takes its translations along.
 *
 * Pure: no page, no network.
 */

import { KINDS } from "./kinds/index.js";
import { DISCLOSURES, ORIGINAL, TEXTS, isOurs } from "./texts.js";
import { allQuestions, before, hasUnit, optionFields, ownOptions } from "./translations.js";

/**
 * @typedef {import("./types.js").Held} Held
 * @typedef {import("./types.js").HeldOption} HeldOption
 * @typedef {import("./types.js").Item} Item
 * @typedef {import("./types.js").ItemTexts} ItemTexts
 * @typedef {import("./types.js").List} List
 * @typedef {import("./types.js").Ours} Ours
 * @typedef {import("./types.js").State} State
 * @typedef {import("./types.js").SurveyDocument} SurveyDocument
 * @typedef {import("./types.js").Texts} Texts
 * @typedef {import("./types.js").Translation} Translation
 */

/**
 * A question without texts.
 * @param {{ id: string, key: string, kind: string, declined: boolean }} given
 * @returns {Held}
 */
export const emptyQuestion = (given) => ({
  ...given,
  epsilon: null,
  blocks: [],
  text: { [ORIGINAL]: "" },
  options: [],
  ours: {},
  shuffled: false,
  onlyIf: null,
  least: null,
  most: null,
  unit: { [ORIGINAL]: "" },
  scores: null,
  picks: null,
});

/**
 * Build the state from a document. Questions and options that are also in `held`, the previous
 * state, keep their ids.
 * @param {SurveyDocument} document
 * @param {Ours} ours
 * @param {State | null} [held]
 * @returns {State}
 */
export function fromDocument(document, ours, held = null) {
  const { language, translations, epsilon, ask, questions, background, blocks, ...rest } = document;
  const tags = Object.keys(translations);
  const asked = held ? allQuestions(held) : [];
  const used = new Set(asked.flatMap(({ id, options }) => [id, ...options.map((one) => one.id)]));
  /** @type {Set<Held | undefined>} */
  const taken = new Set();
  /** @param {string} id */
  const free = (id) => {
    while (used.has(id)) id += "-";
    used.add(id);
    return id;
  };
  /**
   * @param {string} own
   * @param {(translation: Translation) => string | undefined} of
   * @returns {Texts}
   */
  const texts = (own, of) => ({
    [ORIGINAL]: own,
    ...Object.fromEntries(tags.map((tag) => [tag, of(translations[tag]) ?? ""])),
  });
  /** @param {List} list @param {Item} item */
  const read = (list, item) => {
    /** @param {string} tag */
    const translated = (tag) => translations[tag].questions?.[item.key] ?? {};
    const same = sameAs(item, held?.[list].filter((one) => !taken.has(one)) ?? [], document[list]);
    taken.add(same);
    const id = same?.id ?? free(`${list}-${item.key}`);
    const question = {
      ...emptyQuestion({
        id,
        key: item.key,
        kind: list === "background" ? "choice" : (item.kind ?? "yes_no"),
        declined: list === "background" || (item.prefer_not_to_say ?? false),
      }),
      epsilon: item.epsilon ?? null,
      text: texts(item.text, (translation) => translation.questions?.[item.key]?.text),
      shuffled: item.shuffled ?? false,
      onlyIf: item.only_if ? structuredClone(item.only_if) : null,
      least: item.least ?? null,
      most: item.most ?? null,
      unit: texts(item.unit ?? "", (translation) => translation.questions?.[item.key]?.unit),
      scores: item.scores ? [...item.scores] : null,
      picks: item.picks ?? null,
    };
    /** @param {string} tag */
    const shift = (tag) => (isOurs(tag, ours) ? 0 : before(question));
    /** @param {number} place */
    const made = (place) => free(`${id}-${place}`);
    const ids = optionIds(item.options ?? [], same?.options ?? [], made);
    question.options = (item.options ?? []).map((text, place) => ({
      id: ids[place],
      text: {
        [ORIGINAL]: text,
        ...Object.fromEntries(
          tags.map((tag) => [tag, translated(tag).options?.[shift(tag) + place] ?? ""]),
        ),
      },
    }));
    for (const tag of tags.filter((tag) => !isOurs(tag, ours))) {
      const given = translated(tag).options ?? [];
      const last = before(question) + question.options.length;
      question.ours[tag] = [given[0], given[1], given[last]].map((text, place) =>
        place < 2 && before(question) === 0 ? "" : (text ?? ""),
      );
    }
    return question;
  };
  const parts = {
    rest,
    language,
    tags,
    epsilon,
    ask: ask ?? null,
    questions: questions.map((item) => read("questions", item)),
    background: background.map((item) => read("background", item)),
  };
  const state = /** @type {State} */ (parts);
  for (const name of TEXTS) {
    state[name] = texts(rest[name] ?? "", (translation) => translation[name]);
    delete rest[name];
  }
  (blocks ?? []).forEach((keys, i) => {
    for (const { key, blocks } of state.questions) if (keys.includes(key)) blocks.push(i + 1);
  });
  return state;
}

/**
 * Find the question with this key or, because undo can change a key, an unmatched one with the same text.
 * @param {Item} item
 * @param {Held[]} held
 * @param {Item[]} all
 */
function sameAs({ key, text }, held, all) {
  /** @param {Held} one */
  const free = (one) => one.text[ORIGINAL] === text && !all.some((other) => other.key === one.key);
  return held.find((one) => one.key === key) ?? held.find(free);
}

/**
 * Options have no keys: match them by text, then by place.
 * @param {string[]} texts
 * @param {HeldOption[]} before
 * @param {(place: number) => string} made
 */
function optionIds(texts, before, made) {
  const left = [...before];
  /** @param {number} found */
  const take = (found) => (found < 0 ? null : left.splice(found, 1)[0].id);
  const same = texts.map((text) => take(left.findIndex((one) => one.text[ORIGINAL] === text)));
  return same.map((id, place) => id ?? take(left.indexOf(before[place])) ?? made(place));
}

/** @param {State} state @param {Ours} ours */
export function toDocument(state, ours) {
  const { rest, language, epsilon, ask, questions, background } = state;
  /** @type {SurveyDocument} */
  const document = {
    ...rest,
    title: state.title[ORIGINAL],
    introduction: state.introduction[ORIGINAL],
    ...Object.fromEntries(
      DISCLOSURES.filter((name) => state[name][ORIGINAL]).map((name) => [name, state[name][ORIGINAL]]),
    ),
    language,
    epsilon,
    questions: questions.map((question) => ({
      key: question.key,
      text: question.text[ORIGINAL],
      kind: question.kind,
      ...(KINDS[question.kind].writesOptions && { options: textsOf(question) }),
      ...membersOf(question),
      ...(question.onlyIf && { only_if: structuredClone(question.onlyIf) }),
      ...(question.shuffled && { shuffled: true }),
      prefer_not_to_say: question.declined,
    })),
    background: background.map((question) => ({
      key: question.key,
      text: question.text[ORIGINAL],
      options: textsOf(question),
      ...(question.epsilon !== null && { epsilon: question.epsilon }),
    })),
    translations: Object.fromEntries(
      state.tags.map((tag) => [tag, translation(state, tag, ours)]),
    ),
  };
  const numbers = [...new Set(questions.flatMap(({ blocks }) => blocks))].sort((a, b) => a - b);
  if (numbers.length) {
    document.blocks = numbers.map((n) =>
      questions.filter(({ blocks }) => blocks.includes(n)).map(({ key }) => key),
    );
  }
  if (ask !== null) document.ask = ask;
  return document;
}

/**
 * The texts of a question's own options, in the survey's language.
 * @param {Held} question
 */
export const textsOf = (question) => ownOptions(question).map((option) => option.text[ORIGINAL]);

/**
 * What the kind adds to a question in a survey file, without what is empty.
 * @param {Held} question
 */
function membersOf(question) {
  const values = { ...question, unit: question.unit[ORIGINAL] };
  const found = KINDS[question.kind].members.map((name) => [name, values[name]]);
  return Object.fromEntries(found.filter(([, value]) => value !== null && value !== ""));
}

/** @param {State} state @param {string} tag @param {Ours} ours */
function translation(state, tag, ours) {
  /** @type {Translation} */
  const given = {};
  for (const name of TEXTS) {
    if (state[name][tag]?.trim()) given[name] = state[name][tag];
  }
  /** @type {Record<string, ItemTexts>} */
  const found = {};
  for (const question of allQuestions(state)) {
    /** @type {ItemTexts} */
    const texts = {};
    if (question.text[tag]?.trim()) texts.text = question.text[tag];
    if (hasUnit(question) && question.unit[tag]?.trim()) texts.unit = question.unit[tag];
    const options = optionFields(question, tag, ours).map(({ holder, at }) => holder[at] ?? "");
    if (options.some((text) => text.trim())) texts.options = options;
    if (Object.keys(texts).length) found[question.key] = texts;
  }
  if (Object.keys(found).length) given.questions = found;
  return given;
}
