// The editor's form of a document: nothing is lost, and translations move along.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { fromDocument, toDocument } from "../../static/studio/document.js";
import { isKey, keyFor } from "../../static/studio/keys.js";
import { numberIn, numbersIn } from "../../static/studio/numbers.js";
import { ORIGINAL, cleaned } from "../../static/studio/texts.js";
import { missing } from "../../static/studio/translations.js";

const OURS = { en: ["No", "Yes", "Prefer not to say"], de: ["Nein", "Ja", "Keine Angabe"] };

const DOCUMENT = {
  title: "A survey",
  introduction: "Hello",
  language: "en",
  epsilon: 1.5,
  crowd: 20,
  unknown: "something that the editor does not know", contact: "nina@example.org",
  questions: [
    { key: "q1", text: "Did you?", kind: "yes_no", prefer_not_to_say: true },
    { key: "q2", text: "Which?", kind: "choice", options: ["Red", "Green"], prefer_not_to_say: true },
    { key: "q3", text: "And?", kind: "yes_no", prefer_not_to_say: false },
  ],
  background: [
    { key: "age", text: "Age?", options: ["Young", "Old"], epsilon: 2.5 },
    { key: "job", text: "Job?", options: ["Nurse", "Other"] },
  ],
  blocks: [["q1", "q3"], ["q2"]],
  ask: 1,
  translations: {
    de: {
      title: "Eine Umfrage",
      questions: {
        q1: { text: "Hast du?" },
        q2: { text: "Welche?", options: ["Rot", ""] },
        age: { options: ["Jung", "Alt"] },
      },
    },
    pl: {
      questions: {
        q1: { text: "Czy?", options: ["Nie", "Tak", "Wolę nie mówić"] },
        q2: { options: ["Czerwony", "Zielony", "Wolę nie mówić"] },
        q3: { options: ["Nie", "Tak"] },
        job: { text: "Zawód?", options: ["Pielęgniarka", "Inny", "Wolę nie mówić"] },
      },
    },
    ar: {},
  },
};

/* A survey with every kind of question, as the server sends it. */
const EVERY_KIND = {
  title: "All", introduction: "", language: "en", epsilon: 2, crowd: 20, population: 4000, shuffled: true, fillers: true,
  questions: [
    { key: "harm", text: "Were you?", kind: "yes_no", prefer_not_to_say: false },
    {
      key: "who", text: "By whom?", kind: "choice", options: ["Boss", "Patient"], shuffled: true,
      only_if: { question: "harm", options: ["yes"] }, prefer_not_to_say: true,
    },
    {
      key: "often", text: "How often?", kind: "scale", options: ["Once", "Often"], scores: [0, 2.5],
      only_if: { question: "who", options: ["boss", "prefer-not-to-say"] }, prefer_not_to_say: false,
    },
    { key: "days", text: "Days?", kind: "number", least: -3, most: 60, unit: "days", prefer_not_to_say: true },
    { key: "mood", text: "Mood?", kind: "scale", options: ["Bad", "Good"], prefer_not_to_say: true },
    { key: "pills", text: "Which?", kind: "several", options: ["A", "B", "C"], picks: 2, prefer_not_to_say: false },
    { key: "new", text: "", kind: "number", prefer_not_to_say: false },
  ],
  background: [],
  blocks: [["harm", "who"], ["harm", "often"], ["days", "mood", "new"], ["pills"]],
  translations: {
    de: { questions: { days: { text: "Tage?", unit: "Tage" }, often: { options: ["Einmal", "Oft"] } } },
    pl: { questions: { days: { unit: "dni", options: ["Wolę nie mówić"] } } },
  },
};

describe("documents", () => {
  it("with every kind of question survive the round trip, also over an earlier state", () => {
    const state = fromDocument(EVERY_KIND, OURS);
    assert.deepEqual(toDocument(state, OURS), EVERY_KIND);
    assert.deepEqual(toDocument(fromDocument(EVERY_KIND, OURS, state), OURS), EVERY_KIND);
    assert.deepEqual(toDocument(fromDocument(EVERY_KIND, OURS, fromDocument(DOCUMENT, OURS)), OURS), EVERY_KIND);
  });

  it("keep what belongs to a kind only while the question is of this kind", () => {
    const state = fromDocument(EVERY_KIND, OURS);
    const number = state.questions[3];
    number.kind = "yes_no";
    assert.deepEqual(toDocument(state, OURS).questions[3], {
      key: "days", text: "Days?", kind: "yes_no", prefer_not_to_say: true,
    });
    assert.equal(toDocument(state, OURS).translations.de.questions?.days.unit, undefined);
    number.kind = "number";
    assert.deepEqual(toDocument(state, OURS), EVERY_KIND);
  });

  it("count the missing unit of a number, and no options that it does not have", () => {
    const state = fromDocument(EVERY_KIND, OURS);
    const before = missing(state, "de", OURS);
    state.questions[3].unit.de = "";
    assert.equal(missing(state, "de", OURS), before + 1);
    state.questions[3].unit[ORIGINAL] = "";
    assert.equal(missing(state, "de", OURS), before);
    const polish = missing(state, "pl", OURS);
    state.questions[3].declined = false; // nothing of this number is left to translate but its text
    assert.equal(missing(state, "pl", OURS), polish);
    assert.equal(toDocument(state, OURS).translations.pl.questions?.days, undefined);
  });

  it("survive the round trip", () => {
    assert.deepEqual(toDocument(fromDocument(DOCUMENT, OURS), OURS), DOCUMENT);
  });

  it("have no blocks and ask if none were given", () => {
    const { blocks, ask, ...plain } = DOCUMENT;
    assert.deepEqual(toDocument(fromDocument(plain, OURS), OURS), plain);
  });

  it("keep the ids of earlier questions", () => {
    const before = fromDocument(DOCUMENT, OURS);
    before.questions[0].id = "new-1";
    before.questions[1].key = "colour";
    before.questions[2].key = "and";
    before.questions[2].text[ORIGINAL] = "And now?"; // another one: its id is not free for the old key
    before.background[0].options.push({ id: "new-2", text: { [ORIGINAL]: "Older" } });
    const options = ["Old", "Young", "Ancient"];
    const background = [{ ...DOCUMENT.background[0], options }];
    const after = fromDocument({ ...DOCUMENT, background, translations: {} }, OURS, before);
    assert.deepEqual(after.questions.map(({ id }) => id), ["new-1", "questions-q2", "questions-q3-"]);
    assert.deepEqual(
      after.background[0].options.map(({ id }) => id), ["background-age-1", "background-age-0", "new-2"],
    );
  });

  it("move, rename and drop translations with what they translate", () => {
    const state = fromDocument(DOCUMENT, OURS);
    state.questions.reverse();
    state.questions[1].key = "colour";
    state.questions[1].options.reverse();
    state.questions.pop();
    const made = toDocument(state, OURS);
    assert.deepEqual(made.translations.de.questions, {
      colour: { text: "Welche?", options: ["", "Rot"] },
      age: { options: ["Jung", "Alt"] },
    });
    assert.deepEqual(made.translations.pl.questions?.colour.options, [
      "Zielony", "Czerwony", "Wolę nie mówić",
    ]);
    assert.deepEqual(made.blocks, [["q3"], ["colour"]]);
  });

  it("list what is not translated", () => {
    const state = fromDocument(DOCUMENT, OURS);
    // Introduction, an option, the third question, the age, the job with its options; no contact.
    assert.equal(missing(state, "de", OURS), 7);
    // Title, introduction, texts of two questions, the age with its three options.
    assert.equal(missing(state, "pl", OURS), 8);
    state.introduction[ORIGINAL] = "";
    assert.equal(missing(state, "de", OURS), 6);
  });

  it("translate no and yes by themselves in a known language", () => {
    const state = fromDocument(DOCUMENT, { ...OURS, pl: ["Nie", "Tak", "…"] });
    assert.equal(missing(state, "ar", OURS) - missing(state, "ar", { ...OURS, ar: [] }), 8);
    assert.ok(state);
  });
});

describe("keys", () => {
  it("are made from texts", () => {
    assert.equal(keyFor("Did you ever cheat in an exam, or help somebody to?", []), "did-you-ever-cheat-in-an-exam");
    assert.equal(keyFor("Größe & Gewicht", []), "grosse-gewicht");
    assert.equal(keyFor("Did you?", ["did-you", "did-you-2"]), "did-you-3");
    assert.equal(keyFor("你好", ["q1"]), "q2");
    assert.equal(keyFor("", ["b1"], "b"), "b2");
    assert.equal(keyFor("Q1", []), "item-q1");
    assert.equal(keyFor("x".repeat(90), []).length, 30);
  });

  it("are always valid", () => {
    for (const text of ["<script>", "a".repeat(300), "١٢٣", "--", "_", "__proto__", "ﬁ ½"]) {
      assert.ok(isKey(keyFor(text, [])), text);
    }
  });
});

describe("texts", () => {
  it("lose invisible characters, and nothing else", () => {
    assert.equal(cleaned("a\u200bb\ufeffc\u202ed\0e\ud800f\u{e0041}g"), "abcdefg");
    const fine = "👩‍👩‍👧 <b> هل \n\t ‏נ‎ ½";
    assert.equal(cleaned(fine), fine);
    assert.equal(cleaned("a\r\nb\rc"), "a\nb\nc");
  });
});

describe("numbers", () => {
  const epsilon = { least: 0.01, most: 4, required: true, where: " on this site" };
  const people = { least: 1, most: 1_000_000, whole: true };

  it("are read as people write them", () => {
    for (const [text, value] of /** @type {[string, number][]} */ ([["0.5", 0.5], ["0,5", 0.5], [" 2 ", 2], [".5", 0.5], ["4", 4]])) {
      assert.deepEqual(numberIn(text, epsilon), { value }, text);
    }
    for (const [text, value] of /** @type {[string, number | null][]} */ ([["800", 800], ["1,000", 1000], ["12.000", 12000], ["1 000", 1000], ["", null]])) {
      assert.deepEqual(numberIn(text, people), { value }, text);
    }
  });

  it("are read as a list where several are possible", () => {
    const blocks = { least: 1, most: 100, whole: true };
    assert.deepEqual(numbersIn("2, 1", blocks), { value: [1, 2] });
    assert.deepEqual(numbersIn(" 3;3 ", blocks), { value: [3] });
    for (const text of ["", " , ", "0", "1, x", "1.5", "101"]) assert.ok(numbersIn(text, blocks).problem, text);
  });

  it("are explained if they cannot be stored", () => {
    for (const text of ["20", "0", "-3", "−3", "", "x", "1e3", "0,5,0", "NaN", "Infinity"]) {
      assert.ok(numberIn(text, epsilon).problem, text);
    }
    assert.equal(numberIn("20", epsilon).problem, "At most 4 on this site, not 20.");
    for (const text of ["0", "99999999999", "1.5", "0x10", "1,00", "-1,000"]) {
      assert.ok(numberIn(text, people).problem, text);
    }
    assert.equal(numberIn("99999999999", people).problem, "At most 1,000,000, not 99999999999.");
  });
});
