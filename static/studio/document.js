/*
 * Converts between a survey file and the editor's state. The state holds every text with its
 * translations by language tag ("" is the survey's own language), so that a moved or removed question
 * takes its translations along.
 *
 * Pure: no page, no network.
 */

/**
 * @typedef {Record<string, string>} Texts  by language tag
 * @typedef {Record<string, string[]>} Ours  Candor's words for no, yes and “prefer not to say”, by tag
 * @typedef {"questions" | "background"} Kind
 * @typedef {"title" | "introduction" | "asked_by" | "purpose" | "contact"} TextName
 *
 * A survey file: its questions, their translations, and the whole.
 * @typedef {{ key: string, text: string, kind?: string, options?: string[], prefer_not_to_say?: boolean, epsilon?: number }} Item
 * @typedef {{ text?: string, options?: string[] }} ItemTexts
 * @typedef {{ [name in TextName]?: string } & { questions?: Record<string, ItemTexts> }} Translation
 * @typedef {object} SurveyParts
 * @property {string} language
 * @property {Record<string, Translation>} translations
 * @property {number} epsilon
 * @property {number | null} [ask]
 * @property {Item[]} questions
 * @property {Item[]} background
 * @property {string[][]} [blocks]
 * @typedef {SurveyParts & Record<string, any>} SurveyDocument  including members that the editor does not know
 *
 * The editor's state.
 * @typedef {{ id: string, text: Texts }} HeldOption
 * @typedef {object} Held  a question
 * @property {string} id
 * @property {string} key
 * @property {string} [kind]
 * @property {boolean} declined  always true for a background question
 * @property {number | null} epsilon  of a background question; null: the default
 * @property {number | null} block
 * @property {Texts} text
 * @property {HeldOption[]} options
 * @property {Ours} ours
 * @typedef {object} StateParts
 * @property {Record<string, any>} rest
 * @property {string} language
 * @property {string[]} tags
 * @property {number} epsilon
 * @property {number | null} ask
 * @property {Held[]} questions
 * @property {Held[]} background
 * @typedef {StateParts & Record<TextName, Texts>} State
 * @typedef {{ holder: any, at: string | number, original: string, option?: HeldOption }} OptionField
 */

export const ORIGINAL = "";

/* The texts that respondents read besides the questions. DISCLOSURES are optional. */
/** @type {TextName[]} */
const DISCLOSURES = ["asked_by", "purpose", "contact"];
/** @type {TextName[]} */
export const TEXTS = ["title", "introduction", ...DISCLOSURES];

/* Characters that databases refuse or that disguise a text; the same as in survey/design/. */
const NO_TEXT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  /[\u0000-\u0008\u000b-\u001f\u0080-\u009f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/**
 * Remove invisible characters, and make every line break one character.
 * @param {string} text
 */
export function cleaned(text) {
  return text.replace(/\r\n?/g, "\n").replace(NO_TEXT, "");
}

/**
 * Whether Candor has words for yes, no and “prefer not to say” in a language.
 * @param {string} tag
 * @param {Ours} ours
 */
export const isOurs = (tag, ours) => tag.split("-")[0] in ours;

/**
 * Every question, background questions last. No two have the same key.
 * @param {State} state
 */
export const allQuestions = ({ questions, background }) => [...questions, ...background];

/**
 * How many of Candor's options come before and after a question's own.
 * @param {{ kind?: string }} question
 */
const before = ({ kind }) => (kind === "yes_no" ? 2 : 0);
/** @param {{ declined: boolean }} question */
const after = ({ declined }) => (declined ? 1 : 0);

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
  /** @param {Kind} kind @param {Item} item */
  const read = (kind, item) => {
    /** @param {string} tag */
    const translated = (tag) => translations[tag].questions?.[item.key] ?? {};
    const same = sameAs(item, held?.[kind].filter((one) => !taken.has(one)) ?? [], document[kind]);
    taken.add(same);
    const id = same?.id ?? free(`${kind}-${item.key}`);
    /** @type {Held} */
    const question = {
      id,
      key: item.key,
      kind: kind === "background" ? "choice" : item.kind,
      declined: kind === "background" || (item.prefer_not_to_say ?? false),
      epsilon: item.epsilon ?? null,
      block: null,
      text: texts(item.text, (translation) => translation.questions?.[item.key]?.text),
      options: [],
      ours: {},
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
        place < 2 && question.kind !== "yes_no" ? "" : (text ?? ""),
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
    for (const question of state.questions) if (keys.includes(question.key)) question.block = i + 1;
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
      ...(question.kind === "choice" && { options: question.options.map((one) => one.text[ORIGINAL]) }),
      prefer_not_to_say: question.declined,
    })),
    background: background.map((question) => ({
      key: question.key,
      text: question.text[ORIGINAL],
      options: question.options.map((one) => one.text[ORIGINAL]),
      ...(question.epsilon !== null && { epsilon: question.epsilon }),
    })),
    translations: Object.fromEntries(
      state.tags.map((tag) => [tag, translation(state, tag, ours)]),
    ),
  };
  const numbers = [...new Set(questions.map(({ block }) => block))].filter((n) => n !== null);
  if (numbers.length) {
    document.blocks = numbers
      .sort((a, b) => a - b)
      .map((n) => questions.filter(({ block }) => block === n).map(({ key }) => key));
  }
  if (ask !== null) document.ask = ask;
  return document;
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
    const options = optionFields(question, tag, ours).map(({ holder, at }) => holder[at] ?? "");
    if (options.some((text) => text.trim())) texts.options = options;
    if (Object.keys(texts).length) found[question.key] = texts;
  }
  if (Object.keys(found).length) given.questions = found;
  return given;
}

/**
 * The fields for a question's translated options, in order: `holder[at]` and the original text. They
 * include Candor's options if it has no words in the language.
 *
 * @param {Held} question
 * @param {string} tag
 * @param {Ours} ours
 * @returns {OptionField[]}
 */
export function optionFields(question, tag, ours) {
  const own = (question.kind === "yes_no" ? [] : question.options).map((option) => ({
    holder: option.text,
    at: tag,
    original: option.text[ORIGINAL],
    option,
  }));
  if (isOurs(tag, ours)) return own;
  const words = ours.en;
  question.ours[tag] ??= ["", "", ""];
  const mine = [0, 1, 2].map((at) => ({ holder: question.ours[tag], at, original: words[at] }));
  return [...mine.slice(0, before(question)), ...own, ...(after(question) ? [mine[2]] : [])];
}

/* Names and addresses need no translation. */
/** @type {TextName[]} */
const NAMES = ["asked_by", "contact"];

/**
 * How many texts have no translation yet.
 * @param {State} state
 * @param {string} tag
 * @param {Ours} ours
 */
export function missing(state, tag, ours) {
  /** @param {string} original @param {string} [text] */
  const gap = (original, text) => (original.trim() && !text?.trim() ? 1 : 0);
  let count = 0;
  for (const name of TEXTS) {
    if (!NAMES.includes(name)) count += gap(state[name][ORIGINAL], state[name][tag]);
  }
  for (const question of allQuestions(state)) {
    count += gap(question.text[ORIGINAL], question.text[tag]);
    for (const { holder, at, original } of optionFields(question, tag, ours)) {
      count += gap(original, holder[at]);
    }
  }
  return count;
}

/* --- Keys ------------------------------------------------------------------------------------ */

const KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/;
const LONGEST = 30; // characters of a generated key

/** @param {string} text */
export const isKey = (text) => KEY.test(text);

/**
 * Whether a key is a placeholder until there is a text to make one from.
 * @param {string} key
 */
export const isMade = (key) => !/^[qb]\d+$/.test(key);

/**
 * A free key, made from the text if possible, otherwise numbered.
 * @param {string} text
 * @param {string[]} taken
 * @param {string} [letter]
 */
export function keyFor(text, taken, letter = "q") {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/ß/g, "ss").toLowerCase();
  const words = plain.split(/[^a-z0-9]+/).filter(Boolean);
  let stem = "";
  for (const word of words) {
    if ((stem + word).length > LONGEST) break;
    stem += stem ? `-${word}` : word;
  }
  stem ||= (words[0] ?? "").slice(0, LONGEST);
  if (stem && !isMade(stem)) stem = `item-${stem}`;
  for (let n = 1; ; n++) {
    const key = stem ? (n === 1 ? stem : `${stem}-${n}`) : `${letter}${n}`;
    if (!taken.includes(key)) return key;
  }
}
