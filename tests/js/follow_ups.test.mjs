// Follow-ups keep their gate and its options through every change of keys, texts and places, and what
// can no longer hold is kept until the author changes it. And what the kinds of questions do.

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

import { fromDocument, toDocument } from "../../static/studio/document.js";
import {
  addOption, answersOf, changeOptions, dependOn, depthOf, gateOf, gatesFor, isLost, moveOption, removeOption,
  renameQuestion, takenKeys,
} from "../../static/studio/follow_ups.js";
import { rangesOf, toScale } from "../../static/studio/kinds/number.js";
import { scoresOf } from "../../static/studio/kinds/scale.js";
import { optionKeys } from "../../static/studio/keys.js";
import { ORIGINAL } from "../../static/studio/texts.js";

const OURS = { en: ["No", "Yes", "Prefer not to say"] };
const asked = (key, more = {}) => ({ key, text: `Text ${key}`, kind: "yes_no", prefer_not_to_say: false, ...more });
const when = (question, ...options) => ({ only_if: { question, options } });
const DOCUMENT = {
  title: "", introduction: "", language: "en", epsilon: 2, background: [], translations: {},
  questions: [
    asked("gate", { kind: "choice", options: ["Never", "Once", "Often"] }),
    asked("days", { kind: "number", least: 0, most: 10, unit: "days" }),
    asked("more", when("gate", "once", "often")),
    asked("last", when("more", "yes")),
    asked("picks", { kind: "several", options: ["A", "B"], picks: 1 }),
  ],
};

/** @type {any} */
let state, gate, days, more, last, picks;
beforeEach(() => {
  state = fromDocument(DOCUMENT, OURS);
  [gate, days, more, last, picks] = state.questions;
});
const conditions = () => toDocument(state, OURS).questions.map(({ only_if: only }) => only && [only.question, ...only.options]);

describe("a question", () => {
  it("can depend on earlier yes/no, choice and scale questions", () => {
    const keys = (question) => gatesFor(state, question).map(({ key }) => key);
    assert.deepEqual(keys(gate), []);
    assert.deepEqual(keys(last), ["gate", "more"]);
    gate.kind = "scale";
    assert.deepEqual(keys(more), ["gate"]);
    gate.kind = "several";
    assert.deepEqual(keys(more), []);
  });

  it("has a depth in the tree", () => {
    assert.deepEqual(state.questions.map((one) => depthOf(state, one)), [0, 0, 1, 2, 0]);
    state.questions.reverse(); // now nothing depends on an earlier one
    assert.deepEqual(state.questions.map((one) => depthOf(state, one)), [0, 0, 0, 0, 0]);
  });

  it("depends on “yes” if it can, and otherwise on what the author chooses", () => {
    dependOn(picks, more);
    assert.deepEqual(picks.onlyIf, { question: "more", options: ["yes"] });
    dependOn(picks, gate);
    assert.deepEqual(picks.onlyIf, { question: "gate", options: [] });
    dependOn(picks, undefined);
    assert.equal(picks.onlyIf, null);
  });
});

describe("a condition", () => {
  it("follows the key of its gate", () => {
    renameQuestion(state, gate, "how-often");
    renameQuestion(state, more, "again");
    assert.deepEqual(conditions(), [undefined, undefined, ["how-often", "once", "often"], ["again", "yes"], undefined]);
  });

  it("follows the texts of the gate's options", () => {
    const [, once] = gate.options;
    for (const text of ["Onc", "", "Just once", "Never"]) {
      changeOptions(state, gate, () => (once.text[ORIGINAL] = text));
    }
    assert.deepEqual(more.onlyIf.options, ["never-2", "often"]);
    changeOptions(state, gate, () => (gate.options[0].text[ORIGINAL] = "Not at all"));
    assert.deepEqual(more.onlyIf.options, ["never", "often"]);
    assert.deepEqual(answersOf(gate, "en", OURS).map(({ key }) => key), ["not-at-all", "never", "often"]);
  });

  it("follows options that are moved and added, and keys that change with them", () => {
    changeOptions(state, gate, () => (gate.options[1].text[ORIGINAL] = "Often"));
    assert.deepEqual(more.onlyIf.options, ["often", "often-2"]);
    moveOption(state, gate, 2, 0);
    assert.deepEqual(more.onlyIf.options, ["often-2", "often"]);
    addOption(state, gate, "new");
    assert.deepEqual(more.onlyIf.options, ["often-2", "often"]);
  });

  it("names a deleted option under a key that no other option has", () => {
    changeOptions(state, gate, () => (gate.options[2].text[ORIGINAL] = "Once"));
    assert.deepEqual(more.onlyIf.options, ["once", "once-2"]);
    removeOption(state, gate, 1); // the other one now has its key
    assert.deepEqual(more.onlyIf.options, ["once-", "once"]);
    assert.deepEqual(more.onlyIf.options.map((key) => isLost(key, gate)), [true, false]);
  });

  it("stays when its gate is deleted, moved below it, or becomes a number", () => {
    state.questions.splice(0, 1);
    assert.deepEqual(conditions()[1], ["gate", "once", "often"]);
    assert.equal(gateOf(state, more), undefined);
    assert.ok(takenKeys(state).includes("gate")); // so that no new question is taken for it
    state.questions.push(gate);
    assert.equal(gateOf(state, more), undefined);
    state.questions.unshift(state.questions.pop());
    assert.equal(gateOf(state, more), gate);
    gate.kind = "number";
    assert.equal(gateOf(state, more), undefined);
    assert.deepEqual(conditions()[2], ["gate", "once", "often"]);
  });

  it("can name “Prefer not to say” while it is offered", () => {
    assert.equal(isLost("prefer-not-to-say", gate), true);
    gate.declined = true;
    assert.equal(isLost("prefer-not-to-say", gate), false);
    assert.deepEqual(["yes", "no", "maybe"].map((key) => isLost(key, more)), [false, false, true]);
  });
});

describe("keys of options", () => {
  it("are made from their texts and differ", () => {
    assert.deepEqual(optionKeys(["Yes, often", "yes often", "", "?"]), ["yes-often", "yes-often-2", "option", "option-2"]);
  });
});

describe("a scale", () => {
  it("has the scores 1, 2, 3 … until others are given", () => {
    gate.kind = "scale";
    assert.deepEqual(scoresOf(gate), [1, 2, 3]);
    addOption(state, gate, "new");
    assert.deepEqual([scoresOf(gate), gate.scores], [[1, 2, 3, 4], null]);
  });

  it("keeps its scores in order when options are moved, added and removed", () => {
    gate.kind = "scale";
    gate.scores = [0, 10, 20];
    moveOption(state, gate, 2, 0);
    assert.deepEqual(gate.options.map(({ text }) => text[ORIGINAL]), ["Often", "Never", "Once"]);
    assert.deepEqual(gate.scores, [0, 10, 20]);
    addOption(state, gate, "new");
    assert.deepEqual(gate.scores, [0, 10, 20, 30]);
    removeOption(state, gate, 1);
    assert.deepEqual(gate.scores, [0, 20, 30]);
  });
});

describe("a number", () => {
  it("is divided into ranges that are about equal and leave nothing out", () => {
    assert.deepEqual(rangesOf(0, 60, 5), [
      { start: 0, end: 11 }, { start: 12, end: 23 }, { start: 24, end: 35 }, { start: 36, end: 47 }, { start: 48, end: 60 },
    ]);
    assert.deepEqual(rangesOf(3, 5, 6), [{ start: 3, end: 3 }, { start: 4, end: 4 }, { start: 5, end: 5 }]);
    for (const [least, most, count] of [[-7, 40, 4], [0, 1, 4], [20_000, 200_000, 6]]) {
      const ranges = rangesOf(least, most, count);
      assert.deepEqual([ranges[0].start, ranges.at(-1)?.end], [least, most]);
      const next = ranges.slice(1).map(({ start }) => start - 1);
      assert.deepEqual(next, ranges.slice(0, -1).map(({ end }) => end));
      const widths = ranges.map(({ start, end }) => end - start);
      assert.ok(Math.max(...widths) - Math.min(...widths) <= 1, `${widths}`);
    }
  });

  it("becomes a scale of these ranges with their middles as scores, in every language", () => {
    days.unit.de = "Tage";
    let id = 0;
    toScale(days, 4, () => `new-${++id}`);
    assert.deepEqual(days.options.map(({ text }) => text), [
      { [ORIGINAL]: "0–1 days", de: "0–1 Tage" }, { [ORIGINAL]: "2–4 days", de: "2–4 Tage" },
      { [ORIGINAL]: "5–7 days", de: "5–7 Tage" }, { [ORIGINAL]: "8–10 days", de: "8–10 Tage" },
    ]);
    assert.deepEqual(days.scores, [0.5, 3, 6, 9]);
    assert.equal(toDocument(state, OURS).questions[1].least, undefined);
  });
});
