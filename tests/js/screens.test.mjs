// The screens: their callbacks, and what they must and must not show.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { openPage } from "../support/dom.mjs";

const vectors = JSON.parse(readFileSync(new URL("../vectors/cells-1.json", import.meta.url), "utf8"));
const DESIGN = vectors.designs.find(({ name }) => name === "2 of 4 blocks, and background").design;
const [BLOCK] = DESIGN.blocks;
const BACKGROUND = DESIGN.blocks.filter(({ background }) => background);
const BARE = { ...DESIGN, blocks: DESIGN.blocks.filter(({ background }) => !background) };
const EVIL = '<img src=x onerror="alert(1)">';

async function start(t) {
  const page = openPage(t);
  const catalogue = await page.load("respond/words.js");
  await catalogue.speak("en");
  const screens = await page.load("respond/screens.js");
  /* A screen on the page, as app.js puts it there. */
  const put = (screen) => {
    page.document.body.replaceChildren(screen);
    return screen;
  };
  return { ...page, ...screens, words: catalogue.words, put };
}

const text = (value, lang = "en") => ({ text: value, lang });
const content = (...options) => ({ ...text("Which?"), options: options.map((one) => text(one)) });

describe("a question", () => {
  function ask(screens, chosen, given = content("No", "Yes")) {
    const called = [];
    const moves = {
      returns: false,
      back: () => called.push("back"),
      next: () => called.push("next"),
    };
    const step = { question: BLOCK.questions[0], block: BLOCK, index: 0, order: given.options.map((_, i) => i) };
    const choose = (position) => called.push(position);
    const view = { step, content: given, design: DESIGN, at: 1, of: 3, given: chosen, choose, moves };
    const form = screens.question(view);
    return { form: screens.put(form), called };
  }

  it("asks for an answer before going on, and focuses the first option", async (t) => {
    const screens = await start(t);
    const { form, called } = ask(screens, undefined);
    assert.ok(screens.fire(form, "submit").defaultPrevented);
    assert.deepEqual(called, []);
    const alert = form.querySelector("[role=alert]");
    assert.equal(alert.textContent, screens.words.asking.missing);
    assert.equal(screens.document.activeElement, form.querySelector("input"));
    form.querySelectorAll("input")[1].click();
    assert.equal(alert.textContent, "");
    screens.fire(form, "submit");
    assert.deepEqual(called, [1, "next"]);
  });

  it("shows the answer given before, and asks the browser to remember none", async (t) => {
    const { form } = ask(await start(t), 0);
    const inputs = [...form.querySelectorAll("input")];
    assert.deepEqual(inputs.map(({ checked }) => checked), [true, false]);
    for (const one of [form, ...inputs]) assert.equal(one.getAttribute("autocomplete"), "off");
  });

  it("shows texts as texts", async (t) => {
    const screens = await start(t);
    const { form } = ask(screens, undefined, { ...text(EVIL), options: [text(EVIL), text("Yes", "ar")] });
    assert.equal(form.querySelector("img"), null);
    assert.equal(form.querySelector("h1").textContent, EVIL);
    const [, arabic] = form.querySelectorAll("label");
    assert.deepEqual([arabic.lang, arabic.dir], ["ar", "auto"]);
    assert.match(form.querySelector(".untranslated").textContent, /Arabic/);
  });
});

describe("a background question", () => {
  const ask = (screens, chosen, size) => {
    const called = [];
    const names = Array.from({ length: size }, (_, i) => `Group ${i}`);
    const moves = { back() {}, next: () => called.push("next") };
    const [block] = BACKGROUND;
    const step = { question: block.questions[0], block, index: 0, order: names.map((_, i) => i) };
    const view = { step, content: content(...names), design: DESIGN, at: 1, of: 1, given: chosen, moves };
    const form = screens.put(screens.question({ ...view, choose: (position) => called.push(position) }));
    return { form, called };
  };

  it("says that its answer is randomized too, and begins without one", async (t) => {
    const screens = await start(t);
    const { form, called } = ask(screens, undefined, 3);
    assert.equal(form.querySelector("#about-you").textContent, screens.words.asking.aboutYou);
    // c + (1 - c) / 3 with c = keep / 2^32 is 0.909
    const note = screens.words.asking.note.replace("{kept}", "about 91");
    assert.equal(form.querySelector("#note").textContent, note);
    assert.equal(form.querySelector("input:checked"), null);
    screens.fire(form, "submit");
    assert.deepEqual(called, []);
    form.querySelectorAll("input")[2].click();
    screens.fire(form, "submit");
    assert.deepEqual(called, [2, "next"]);
  });

  it("is a drop-down list if it has many groups, and begins with none of them", async (t) => {
    const screens = await start(t);
    const { form, called } = ask(screens, undefined, 30);
    const select = form.querySelector("select");
    assert.deepEqual([select.options.length, select.selectedIndex], [31, 0]);
    assert.ok(select.options[0].disabled);
    screens.fire(form, "submit");
    assert.equal(screens.document.activeElement, select);
    for (const index of [1, 30]) {
      select.selectedIndex = index;
      screens.fire(select, "change");
    }
    screens.fire(form, "submit");
    assert.deepEqual(called, [0, 29, "next"]);
    assert.equal(ask(screens, 29, 30).form.querySelector("select").selectedIndex, 30);
  });
});

describe("the opening", () => {
  const opening = (screens, design, more = {}) => {
    const survey = { design, slug: "small", state: "open" };
    const texts = { title: text(EVIL), introduction: text("One.\n\nTwo."), disclosure: () => text("") };
    return screens.put(
      screens.opening({ survey, content: texts, steps: [], program: "/p.js", start() {}, practise() {}, ...more }),
    );
  };

  it("promises what the design keeps, and calls a weak one weak", async (t) => {
    const screens = await start(t);
    const { promise, weakPromise } = screens.words.opening;
    const strong = opening(screens, { ...DESIGN, blocks: [BLOCK], ask: 1 }).textContent;
    assert.ok(strong.includes(promise.label) && !strong.includes(weakPromise.label));
    const eight = vectors.designs.find(({ name }) => name === "strongest: 2 x 7 at 8").design;
    const weak = opening(screens, eight);
    assert.ok(weak.textContent.includes(weakPromise.label) && !weak.textContent.includes(promise.label));
    assert.equal(weak.querySelector("h1").textContent, EVIL);
    assert.equal(weak.querySelectorAll(".introduction").length, 2);
  });

  it("draws the number of filled dots that it states in words", async (t) => {
    const screens = await start(t);
    const ln3 = vectors.designs.find(({ name }) => name === "one yes/no at ln 3").design;
    const screen = opening(screens, ln3);
    assert.equal(screen.querySelectorAll(".dots .filled").length, 75);
    assert.match(screen.querySelector(".dots").getAttribute("aria-label"), /\b75\b.*\b25\b/);
  });

  it("states the odds of background answers, and of the whole report", async (t) => {
    const screens = await start(t);
    const { weakAboutYou, aboutYou, detail } = screens.words.opening;
    const stated = (words, figure) => words.replace("{sure}", figure);
    const screen = opening(screens, DESIGN).textContent;
    assert.ok(screen.includes("they can be at most about 96 in 100 sure")); // at 3.3
    assert.ok(screen.includes(stated(weakAboutYou, "at most about 95"))); // at 3, the largest
    assert.ok(screen.includes(stated(detail.together, "more than 99"))); // at 3.3 + 3 + 2
    assert.ok(screen.includes(stated(detail.sensitive, "at most about 96")));
    const blocks = DESIGN.blocks.filter((block) => block !== BACKGROUND[0]);
    const better = opening(screens, { ...DESIGN, blocks }).textContent;
    assert.ok(better.includes(stated(aboutYou, "at most about 88"))); // at 2
  });

  it("says nothing of background questions where there are none", async (t) => {
    const screens = await start(t);
    const screen = opening(screens, BARE).textContent;
    assert.ok(!screen.includes("About you"));
    assert.ok(screen.includes(screens.words.opening.detail.together.replace("{sure}", "at most about 96")));
  });

  it("counts the questions about you apart from the others", async (t) => {
    const screens = await start(t);
    const blocks = [BLOCK, DESIGN.blocks[1], ...BACKGROUND];
    const steps = blocks.flatMap((block) =>
      block.questions.map((question, index) => ({ question, block, index, room: block.questions.length })),
    );
    const facts = opening(screens, DESIGN, { steps }).querySelector(".facts").textContent;
    assert.match(facts, /^3 questions\. Picked by chance out of 6\. Then 2 questions about you\./);
  });

  it("has no links at a kiosk", async (t) => {
    const screens = await start(t);
    assert.ok(opening(screens, DESIGN).querySelectorAll("a").length > 1);
    assert.equal(opening(screens, DESIGN, { program: null }).querySelectorAll("a").length, 0);
  });
});

describe("the review", () => {
  it("lists the answers about you apart, lets every answer be changed, and sends", async (t) => {
    const screens = await start(t);
    const called = [];
    const line = (name, answer, background) => ({
      question: text(name), answer: [answer], background, change: () => called.push(name),
    });
    const lines = [line("Q1", text("Yes")), line("Age", text("Under 30"), true)];
    const form = screens.put(screens.review({ lines, back() {}, send: () => called.push("send") }));
    const [others, about] = form.querySelectorAll("section");
    assert.match(others.textContent, /Q1.*Yes/);
    assert.ok(!others.textContent.includes("Age"));
    assert.match(about.textContent, /^About you.*Age.*Under 30/);
    for (const answer of form.querySelectorAll("dt + dd")) {
      assert.equal(answer.getAttribute("translate"), "no"); // not to a translator
    }
    for (const button of form.querySelectorAll(".change button")) button.click();
    screens.fire(form, "submit");
    assert.deepEqual(called, ["Q1", "Age", "send"]);
  });
});

describe("the page after sending", () => {
  const body = JSON.stringify({ id: "1", design: "sha256:0", blocks: { b1: [0], g1: [2] } });

  it("shows the exact bytes and the number of the report", async (t) => {
    const screens = await start(t);
    const screen = screens.put(screens.thanks({ id: "number-1", body: `${body}   `, enter() {} }));
    assert.equal(screen.querySelector("pre").textContent, `${body}   `);
    assert.ok(screen.textContent.includes("number-1"));
  });

  it("shows nothing of a report to a later visitor", async (t) => {
    const screens = await start(t);
    const screen = screens.put(screens.thanks({ resumed: true, id: "number-1", body, other() {} }));
    assert.equal(screen.querySelector("pre"), null);
    assert.ok(!screen.textContent.includes("number-1"));
    const waiting = screens.put(screens.waiting({ why: "offline", lasts: true, body: null, again() {}, drop() {} }));
    assert.equal(waiting.querySelector("pre"), null);
  });
});

it("the ledger adds up what was spent and deletes the entry that was tapped", async (t) => {
  const screens = await start(t);
  const struck = [];
  const entries = [
    { title: EVIL, day: "2026-01-05", epsilon: 1.25 },
    { title: "B", day: "2026-02-05", epsilon: 0.5 },
  ];
  const screen = screens.put(
    screens.ledger({ entries, strike: (position) => struck.push(position), end() {}, back() {} }),
  );
  assert.match(screen.querySelector("tfoot").textContent, /1\.75/);
  assert.equal(screen.querySelector("img"), null);
  for (const button of screen.querySelectorAll("button.remove")) button.click();
  assert.deepEqual(struck, [0, 1]);
});

it("every problem has a screen with a heading, and a button only if it can help", async (t) => {
  const screens = await start(t);
  for (const [name, { again }] of Object.entries(screens.words.problems)) {
    let pressed = 0;
    const screen = screens.put(screens.problem({ name, again: () => (pressed += 1) }));
    assert.ok(screen.querySelector("h1").textContent, name);
    screen.querySelector("button")?.click();
    assert.equal(pressed, again ? 1 : 0, name);
  }
});
