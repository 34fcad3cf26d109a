// The screens: what they call back, and what they must say and must not do, whatever they are given.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { openPage } from "../support/dom.mjs";

const vectors = JSON.parse(readFileSync(new URL("../vectors/replace-1.json", import.meta.url), "utf8"));
const DESIGN = vectors.designs.find(({ name }) => name === "2 of 4 blocks, strata").design;
const [BLOCK] = DESIGN.blocks;
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
    const step = { question: BLOCK.questions[0], block: BLOCK, index: 0 };
    const choose = (position) => called.push(position);
    const form = screens.question({ step, content: given, design: DESIGN, at: 1, of: 3, chosen, choose, moves });
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
  const stratum = (screens, chosen, size) => {
    const called = [];
    const names = Array.from({ length: size }, (_, i) => `Group ${i}`);
    const moves = { back() {}, next: () => called.push("next") };
    const view = { content: content(...names), at: 1, of: 1, chosen, moves };
    const form = screens.put(screens.stratum({ ...view, choose: (position) => called.push(position) }));
    return { form, called };
  };

  it("says that it is sent in clear, and has no answer at first", async (t) => {
    const screens = await start(t);
    const { form, called } = stratum(screens, null, 3);
    assert.ok(form.textContent.includes(screens.words.asking.clear));
    const [none, first] = form.querySelectorAll("input");
    assert.deepEqual([none.checked, first.checked], [true, false]);
    screens.fire(form, "submit");
    first.click();
    none.click();
    assert.deepEqual(called, ["next", 0, null]);
  });

  it("is a drop-down list if it has many groups", async (t) => {
    const screens = await start(t);
    const { form, called } = stratum(screens, 4, 30);
    const select = form.querySelector("select");
    assert.deepEqual([select.options.length, select.selectedIndex], [31, 5]);
    for (const index of [30, 0]) {
      select.selectedIndex = index;
      screens.fire(select, "change");
    }
    assert.deepEqual(called, [29, null]);
  });
});

describe("the opening", () => {
  const opening = (screens, design, more = {}) => {
    const survey = { design, slug: "small", state: "open" };
    const texts = { title: text(EVIL), introduction: text("One.\n\nTwo."), told: () => text("") };
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

  it("warns of background questions, and has no links at a kiosk", async (t) => {
    const screens = await start(t);
    const { background } = screens.words.opening.unprotected;
    assert.ok(opening(screens, DESIGN).textContent.includes(background));
    assert.ok(!opening(screens, { ...DESIGN, strata: [] }).textContent.includes(background));
    assert.ok(opening(screens, DESIGN).querySelectorAll("a").length > 1);
    assert.equal(opening(screens, DESIGN, { program: null }).querySelectorAll("a").length, 0);
  });
});

describe("the review", () => {
  it("separates what is sent in clear, lets every answer be changed, and sends", async (t) => {
    const screens = await start(t);
    const called = [];
    const line = (name, answer, clear) => ({
      question: text(name), answer, clear, change: () => called.push(name),
    });
    const lines = [line("Q1", text("Yes"), false), line("Age", undefined, true)];
    const form = screens.put(screens.review({ lines, back() {}, send: () => called.push("send") }));
    const [hidden, clear] = form.querySelectorAll("section");
    assert.match(hidden.textContent, /Q1.*Yes/);
    assert.ok(!hidden.textContent.includes("Age"));
    assert.ok(clear.textContent.includes("Age") && clear.textContent.includes(screens.words.review.notGiven));
    assert.equal(hidden.querySelector("dd").getAttribute("translate"), "no"); // not to a translator
    for (const button of form.querySelectorAll(".change button")) button.click();
    screens.fire(form, "submit");
    assert.deepEqual(called, ["Q1", "Age", "send"]);
  });
});

describe("the page after sending", () => {
  const body = JSON.stringify({ id: "1", design: "sha256:0", blocks: { b1: [0] }, strata: {} });

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
