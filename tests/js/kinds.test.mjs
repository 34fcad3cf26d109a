// Every kind of question: what a person can enter, what the randomizer gets, and what the page says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { choose, randomize } from "../../static/respond/randomizer.js";
import { openPage } from "../support/dom.mjs";

const vectors = JSON.parse(readFileSync(new URL("../vectors/cells-1.json", import.meta.url), "utf8"));
const DECLINED = { key: "prefer-not-to-say", text: "Prefer not to say" };
const option = (text) => ({ key: text.toLowerCase(), text });
const COLOURS = ["Red", "Green", "Blue", "White"].map(option);
const NUMBER = { kind: "number", options: [DECLINED], least: 0, most: 60, levels: 2, unit: "days" };
const SEVERAL = { kind: "several", options: [...COLOURS, DECLINED], picks: 2 };
/** @type {Record<string, any>} */
const QUESTIONS = {
  yes_no: { kind: "yes_no", options: [option("No"), option("Yes")] },
  choice: { kind: "choice", options: [...COLOURS, DECLINED] },
  scale: { kind: "scale", options: COLOURS },
  number: NUMBER,
  several: SEVERAL,
};

/* A question on the screen, as the survey's author wrote it. */
/** @param {any} t @param {any} asked @param {any} [more] */
async function ask(t, asked, { given, order, language = "en", background, filler } = {}) {
  const page = openPage(t);
  const catalogue = await page.load("respond/words.js");
  await catalogue.speak(language);
  const screens = await page.load("respond/screens/asking.js");
  const { KINDS } = await page.load("respond/kinds/index.js");
  const question = { key: "q", text: "How?", ...asked };
  const block = { key: "b1", epsilon: 2, keep: 2 ** 31, background, questions: [question] };
  const design = { mechanism: "cells/1", scale: 2 ** 32, epsilon: 8, ask: 1, blocks: [{ ...block, epsilon: 8 }] };
  const content = catalogue.contentIn(language, { language, design }).question({ question });
  const chosen = [];
  let moved = 0;
  const form = screens.question({
    step: { question, block, index: 0, order: order ?? question.options.map((_, i) => i), filler },
    content,
    design,
    at: 1,
    of: 1,
    given,
    choose: (answer) => chosen.push(answer),
    moves: { returns: false, back() {}, next: () => (moved += 1) },
  });
  page.document.body.replaceChildren(form);
  const [boxes] = [() => [...form.querySelectorAll("input[type=checkbox], input[type=radio]")]];
  const field = form.querySelector(".number input");
  return {
    ...page,
    words: catalogue.words,
    kind: KINDS.get(question.kind),
    question,
    content,
    form,
    field,
    boxes: boxes(),
    slider: form.querySelector("[type=range]"),
    alert: () => form.querySelector("[role=alert]").textContent,
    answer: () => chosen.at(-1),
    enter: (text) => page.type(field, text),
    /* Whether Next leads on. */
    next() {
      const before = moved;
      page.fire(form, "submit");
      return moved > before;
    },
    /* What the randomizer makes of the answer if the coin keeps it. */
    send() {
      const asks = { ...design, blocks: [{ ...block, background: undefined, epsilon: 8 }] };
      assert.deepEqual(choose(asks, () => 0), ["b1"]);
      return randomize(asks, { b1: [chosen.at(-1)] }, () => 0).b1[0];
    },
  };
}

describe("every kind", () => {
  for (const [kind, asked] of Object.entries(QUESTIONS)) {
    it(`says in a note what chance does: ${kind}`, async (t) => {
      const { form, words } = await ask(t, asked);
      const note = form.querySelector("#note").textContent;
      assert.match(note, /\d/);
      assert.doesNotMatch(note, /[{}]|undefined|NaN/);
      assert.equal(form.querySelector("fieldset").getAttribute("aria-describedby").split(" ")[0], "note");
      assert.notEqual(note, words.asking.filler);
    });

    it(`asks the browser to remember nothing: ${kind}`, async (t) => {
      const { form, field } = await ask(t, asked);
      assert.equal(field?.getAttribute("spellcheck") ?? "false", "false");
      assert.equal(field?.hasAttribute("name") ?? false, false);
      for (const one of [form, ...form.querySelectorAll("input, select")]) {
        assert.equal(one.getAttribute("autocomplete"), "off");
      }
    });

    it(`begins without an answer: ${kind}`, async (t) => {
      const { form, field } = await ask(t, asked);
      assert.equal(form.querySelector("input:checked"), null);
      assert.equal(field?.value ?? "", "");
    });

    it(`puts every value of a report into words: ${kind}`, async (t) => {
      const { kind: module, question, content } = await ask(t, asked);
      const count = question.options.length + (question.levels ? question.levels + 1 : 0);
      const texts = Array.from({ length: count }, (_, value) => module.value(question, content, value).text);
      assert.equal(new Set(texts).size, count);
      assert.ok(texts.every((text) => typeof text === "string" && text));
    });
  }
});

for (const kind of ["yes_no", "choice", "scale"]) {
  describe(`one of several options (${kind})`, () => {
    it("is the option's position, wherever it is shown", async (t) => {
      const size = QUESTIONS[kind].options.length;
      const order = Array.from({ length: size }, (_, i) => size - 1 - i);
      const page = await ask(t, QUESTIONS[kind], { order });
      const shown = [...page.form.querySelectorAll("label")].map((one) => one.textContent);
      assert.deepEqual(shown, QUESTIONS[kind].options.map(({ text }) => text).reverse());
      assert.equal(page.next(), false);
      assert.equal(page.alert(), page.words.asking.missing);
      page.boxes[0].click();
      assert.deepEqual([page.answer(), page.next(), page.send()], [size - 1, true, size - 1]);
      assert.deepEqual(page.kind.say(page.question, page.content, 1), [page.content.options[1]]);
    });

    it("is checked again when the person comes back", async (t) => {
      const { boxes } = await ask(t, QUESTIONS[kind], { given: 0, order: [1, 0] });
      assert.deepEqual(boxes.slice(0, 2).map(({ checked }) => checked), [false, true]);
    });
  });
}

it("a long list of background options is a drop-down list in the order shown", async (t) => {
  const options = Array.from({ length: 9 }, (_, i) => option(`Ward ${i}`));
  const order = [8, 7, 6, 5, 4, 3, 2, 1, 0];
  const page = await ask(t, { kind: "choice", options }, { background: true, order, given: 6 });
  const select = page.form.querySelector("select");
  assert.equal(select.options[select.selectedIndex].text, "Ward 6");
  select.selectedIndex = 1;
  page.fire(select, "change");
  assert.equal(page.answer(), 8);
});

describe("a number", () => {
  it("is sent to the randomizer as it was typed", async (t) => {
    const page = await ask(t, NUMBER);
    const cases = /** @type {[string, number, number][]} */ ([["0", 0, 0], ["60", 60, 2], ["30", 30, 1], [" 7 ", 7, 1], ["+8", 8, 1]]);
    for (const [typed, wanted, level] of cases) {
      page.enter(typed);
      assert.deepEqual([page.answer(), page.next(), page.send()], [wanted, true, level], typed);
    }
  });

  it("is never corrected: outside the range or not whole, it is no answer", async (t) => {
    const page = await ask(t, NUMBER);
    const problem = page.words.asking.range.replace("{least}", "0").replace("{most}", "60");
    assert.equal(page.form.querySelector("#hint").textContent, problem);
    for (const typed of ["", "61", "-1", "6.5", "6,5", "1e1", "six", "0x1", "1 2", "1 2 3", "--1", "1.0", "0.500", "1,00", "Infinity"]) {
      page.enter(typed);
      assert.equal(page.answer(), undefined, typed);
      assert.equal(page.next(), false, typed);
      assert.equal(page.alert(), problem);
      assert.equal(page.field.value, typed);
      assert.equal(page.document.activeElement, page.field);
    }
    page.enter("6");
    assert.equal(page.alert(), "");
    assert.equal(page.next(), true);
  });

  it("can be typed with separators and in the digits of Arabic and Persian", async (t) => {
    const page = await ask(t, { ...NUMBER, least: -2_000_000, most: 2_000_000 });
    const same = { 1500000: ["1,500,000", "1.500.000", "1 500 000", "1’500’000", "١٥٠٠٠٠٠", "۱۵۰۰۰۰۰", "١٬٥٠٠٬٠٠٠"] };
    for (const typed of same[1500000]) {
      page.enter(typed);
      assert.equal(page.answer(), 1_500_000, typed);
    }
    for (const typed of ["-12", "−12", "\u200e-12"]) {
      page.enter(typed);
      assert.equal(page.answer(), -12);
    }
    for (const typed of ["0.500", "1,234.567", "1.23", "12 34"]) {
      page.enter(typed);
      assert.equal(page.answer(), undefined, typed);
    }
    assert.equal(page.field.getAttribute("inputmode"), "text"); // a minus can be typed
  });

  it("is changed by the buttons and the arrow keys, and not past the bounds", async (t) => {
    const page = await ask(t, { ...NUMBER, most: 2 });
    const [less, more] = page.form.querySelectorAll(".number button");
    const seen = [];
    for (const button of [more, more, more, more]) {
      button.click();
      seen.push(page.answer());
    }
    assert.deepEqual(seen, [0, 1, 2, 2]);
    assert.ok(page.alert());
    less.click();
    assert.deepEqual([page.answer(), page.alert()], [1, ""]);
    const key = (name) => page.fire(page.field, "keydown", { key: name });
    assert.ok(key("ArrowUp").defaultPrevented);
    assert.equal(page.answer(), 2);
    key("ArrowDown");
    key("ArrowDown");
    key("ArrowDown");
    assert.equal(page.answer(), 0);
    assert.equal(key("7").defaultPrevented, false);
  });

  it("begins at the number that is nearest to 0", async (t) => {
    for (const [least, most, first] of [[18, 100, 18], [-9, -3, -3], [-5, 5, 0]]) {
      const page = await ask(t, { ...NUMBER, least, most });
      page.form.querySelectorAll(".number button")[1].click();
      assert.equal(page.answer(), first);
    }
  });

  it("has a slider for a short range, which shows no answer until there is one", async (t) => {
    assert.equal((await ask(t, NUMBER)).slider, null);
    const page = await ask(t, { ...NUMBER, most: 20 });
    assert.ok(page.slider.classList.contains("unset"));
    assert.equal(page.answer(), undefined);
    page.slider.value = "15";
    page.fire(page.slider, "input");
    assert.deepEqual([page.answer(), page.field.value, page.slider.classList.contains("unset")], [15, "15", false]);
    page.enter("4");
    assert.equal(page.slider.value, "4");
    page.enter("40");
    assert.ok(page.slider.classList.contains("unset"));
  });

  it("or the option instead of it is the answer, never both", async (t) => {
    const page = await ask(t, NUMBER);
    const [box] = page.boxes;
    page.enter("12");
    box.click();
    assert.deepEqual([page.answer(), page.field.value, page.next(), page.send()], [[0], "", true, 3]);
    page.enter("12");
    assert.deepEqual([page.answer(), box.checked], [12, false]);
    box.click();
    box.click();
    assert.deepEqual([page.answer(), page.next()], [undefined, false]);
  });

  it("is shown again when the person comes back", async (t) => {
    assert.equal((await ask(t, NUMBER, { given: 12 })).field.value, "12");
    const { field, boxes } = await ask(t, NUMBER, { given: [0] });
    assert.deepEqual([field.value, boxes[0].checked], ["", true]);
  });

  it("is said with its unit, and a level as the number that it stands for", async (t) => {
    const { kind, question, content, form } = await ask(t, NUMBER);
    assert.equal(kind.say(question, content, 12)[0].text, "12 days");
    assert.equal(kind.say(question, content, [0])[0].text, DECLINED.text);
    const values = [0, 1, 2, 3].map((value) => kind.value(question, content, value).text);
    assert.deepEqual(values, ["0 days", "30 days", "60 days", DECLINED.text]);
    assert.match(form.querySelector(".number").textContent, /days/);
    assert.match(form.querySelector(".note p").textContent, /one of 3 values from 0 to 60/);
    const wide = await ask(t, { ...NUMBER, least: 1900, most: 20_000, unit: undefined });
    assert.equal(wide.kind.say(wide.question, wide.content, 1984)[0].text, "1984");
    assert.equal(wide.kind.say(wide.question, wide.content, 20_000)[0].text, "20,000");
  });
});

describe("multiple choice", () => {
  it("is a list of positions in ascending order, however they were picked and shown", async (t) => {
    const page = await ask(t, SEVERAL, { order: [3, 2, 1, 0, 4] });
    page.boxes[0].click();
    page.boxes[3].click();
    assert.deepEqual(page.answer(), [0, 3]);
    assert.equal(page.send(), 0);
    page.boxes[0].click();
    assert.deepEqual(page.answer(), [0]);
    assert.deepEqual(page.kind.say(page.question, page.content, [0, 3]).map(({ text }) => text), ["Red", "White"]);
  });

  it("may be none, without any tap", async (t) => {
    const page = await ask(t, SEVERAL);
    assert.match(page.form.querySelector("#hint").textContent, /up to 2.*none/);
    assert.deepEqual([page.answer(), page.next(), page.send()], [[], true, null]);
    assert.deepEqual(page.kind.say(page.question, page.content, []), []);
  });

  it("stops at the number of picks and says so", async (t) => {
    const page = await ask(t, SEVERAL);
    for (const box of page.boxes.slice(0, 3)) box.click();
    assert.deepEqual(page.boxes.map(({ checked }) => checked), [true, true, false, false, false]);
    assert.deepEqual(page.answer(), [0, 1]);
    assert.match(page.alert(), /up to 2/);
    page.boxes[0].click();
    assert.equal(page.alert(), "");
    page.boxes[2].click();
    assert.deepEqual(page.answer(), [1, 2]);
  });

  it("does not combine “prefer not to say” with anything", async (t) => {
    const page = await ask(t, SEVERAL);
    for (const box of [0, 1, 4]) page.boxes[box].click();
    assert.deepEqual(page.answer(), [4]);
    page.boxes[2].click();
    assert.deepEqual([page.answer(), page.boxes[4].checked, page.alert()], [[2], false, ""]);
  });

  it("states the odds of a picked option and of another", async (t) => {
    const known = vectors.designs.find(({ name }) => name === "up to 3 of 10 at 2").design.blocks[0];
    const { kind, words } = await ask(t, SEVERAL);
    const note = kind.note({ scale: 2 ** 32 }, known, 0); // a is 0.2297, b is 0.0311
    assert.equal(note.text, words.asking.picked.replace("{picked}", "about 23").replace("{other}", "about 3"));
  });
});

it("a filler says that its answer is not kept, in place of the odds", async (t) => {
  const { form, words } = await ask(t, QUESTIONS.yes_no, { filler: 0 });
  assert.equal(form.querySelector("#note").textContent, words.asking.filler);
});

it("every control speaks every language", async (t) => {
  for (const language of ["de", "es", "fr", "ar"]) {
    for (const asked of [NUMBER, SEVERAL]) {
      const { form } = await ask(t, asked, { language });
      assert.doesNotMatch(form.textContent, /[{}]|undefined/);
    }
  }
});
