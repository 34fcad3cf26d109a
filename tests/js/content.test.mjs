// The survey's own texts in the reader's language, and openly in another where they are missing.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { contentIn } from "../../static/respond/words.js";

const options = ["No", "Yes"].map((text) => ({ key: text.toLowerCase(), text }));
const asked = { key: "q1", text: "Did you?", options };
const age = { key: "age", text: "Age?", options };
const survey = {
  title: "Title",
  introduction: "Hello",
  language: "en",
  translations: { de: { title: "Titel" } },
  design: {
    blocks: [{ questions: [asked] }, { background: true, questions: [age] }],
    translations: {
      de: { questions: { q1: { text: "Haben Sie?" }, age: { options: ["Nein", "Ja"] } } },
    },
  },
};

describe("texts of a survey", () => {
  it("are its own in its own language", () => {
    const content = contentIn("en", survey);
    assert.deepEqual(content.title, { text: "Title", lang: "en" });
    assert.deepEqual(content.question({ question: asked }), {
      text: "Did you?",
      lang: "en",
      options: [
        { text: "No", lang: "en" },
        { text: "Yes", lang: "en" },
      ],
    });
  });

  it("are translated where a translation exists, and name their language elsewhere", () => {
    const content = contentIn("de", survey);
    assert.deepEqual(content.title, { text: "Titel", lang: "de" });
    assert.deepEqual(content.introduction, { text: "Hello", lang: "en" });
    const question = content.question({ question: asked });
    assert.deepEqual([question.text, question.lang], ["Haben Sie?", "de"]);
    assert.deepEqual(question.options[1], { text: "Yes", lang: "en" });
  });

  it("say who asks if the survey does", () => {
    const disclosures = { asked_by: "The council", purpose: "To know." };
    const translations = { de: { disclosures: { asked_by: "Der Rat" } } };
    const content = contentIn("de", { ...survey, design: { ...survey.design, disclosures, translations } });
    assert.deepEqual(content.disclosure("asked_by"), { text: "Der Rat", lang: "de" });
    assert.deepEqual(content.disclosure("purpose"), { text: "To know.", lang: "en" });
    assert.deepEqual(content.disclosure("contact"), { text: "", lang: "en" });
    assert.deepEqual(contentIn("de", survey).disclosure("asked_by"), { text: "", lang: "en" });
  });

  it("are found in the same place for a background question", () => {
    const question = contentIn("de", survey).question({ question: age });
    assert.deepEqual([question.text, question.lang], ["Age?", "en"]);
    assert.deepEqual(question.options[1], { text: "Ja", lang: "de" });
  });

  it("fit readers of the language that a regional one belongs to", () => {
    const austrian = { ...survey, translations: { "de-AT": { title: "Servus" } } };
    assert.deepEqual(contentIn("de", austrian).title, { text: "Servus", lang: "de" });
    const british = { ...survey, language: "en-GB" };
    assert.deepEqual(contentIn("en", british).title, { text: "Title", lang: "en" });
    assert.deepEqual(contentIn("fr", british).title, { text: "Title", lang: "en-GB" });
  });

  it("stay in the survey's language if there is no translation", () => {
    const bare = { ...survey, translations: {}, design: { ...survey.design, translations: undefined } };
    assert.equal(contentIn("fr", survey).title.lang, "en");
    assert.equal(contentIn("ar", bare).question({ question: asked }).lang, "en");
  });
});
