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
  const names = ["before", "asking", "after"];
  const modules = await Promise.all(names.map((name) => page.load(`respond/screens/${name}.js`)));
  const screens = Object.assign({}, ...modules);
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
  const ask = (screens, chosen, size, declined = size - 1) => {
    const called = [];
    const names = Array.from({ length: size }, (_, i) => `Group ${i}`);
    const moves = { back() {}, next: () => called.push("next") };
    const [block] = BACKGROUND;
    const options = names.map((_, i) => ({ key: i === declined ? "prefer-not-to-say" : `o${i}`, text: "" }));
    const question = { ...block.questions[0], options };
    const step = { question, block, index: 0, order: names.map((_, i) => i) };
    const view = { step, content: content(...names), design: DESIGN, at: 1, of: 1, given: chosen, moves };
    const form = screens.put(screens.question({ ...view, choose: (position) => called.push(position) }));
    return { form, called };
  };

  it("says that its answer is randomized too, and begins without one", async (t) => {
    const screens = await start(t);
    const { form, called } = ask(screens, undefined, 3);
    // c + (1 - c) / 3 with c = keep / 2^32 is 0.909
    const note = screens.words.asking.kept.replace("{kept}", "about 91");
    assert.equal(form.querySelector("#note").textContent, note);
    assert.equal(form.querySelector("input:checked"), null);
    screens.fire(form, "submit");
    assert.deepEqual(called, []);
    form.querySelectorAll("input")[2].click();
    screens.fire(form, "submit");
    assert.deepEqual(called, [2, "next"]);
  });

  it("can be skipped, which is to prefer not to say", async (t) => {
    const screens = await start(t);
    const { form, called } = ask(screens, undefined, 3, 1);
    [...form.querySelectorAll("button")].find((one) => one.textContent === screens.words.asking.skip).click();
    assert.deepEqual(called, [1, "next"]);
    const { form: other } = ask(screens, undefined, 3, -1); // where nobody may decline
    assert.ok(!other.textContent.includes(screens.words.asking.skip));
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
    const texts = { title: text(EVIL), introduction: text("Once.\n\nTwice."), disclosure: () => text("") };
    const view = { design, content: texts, steps: [], reloaded: false, open() {}, start() {}, openLedger: null };
    return screens.put(screens.opening({ ...view, ...more }));
  };
  const promise = (screen) => screen.querySelector(".promise").textContent;
  const named = (name) => vectors.designs.find((one) => one.name === name).design;

  it("promises what the design keeps, and warns of weak protection", async (t) => {
    const screens = await start(t);
    const { hardly, guess, nearly: weak } = screens.words.opening;
    for (const [design, said, figure] of [
      [named("one yes/no at ln 3"), hardly],
      [named("2 x 2 at 2"), guess],
      [named("strongest: 2 x 7 at 8"), weak, "more than 99"],
    ]) {
      const screen = opening(screens, design);
      assert.ok(promise(screen).includes(said.replace("{sure}", figure)));
      for (const other of [hardly, guess, weak.slice(0, 20)]) {
        assert.equal(promise(screen).includes(other), said.startsWith(other), other);
      }
      assert.equal(screen.querySelector(".weak") !== null, said === weak);
      assert.equal(promise(screen).includes(screens.words.opening.so), said !== weak);
    }
  });

  it("says if the answers about people are protected less than the others", async (t) => {
    const screens = await start(t);
    const { less } = screens.words.opening;
    const [block] = named("2 x 2 at 2").blocks;
    const [background] = BACKGROUND; // at 3
    const design = { ...DESIGN, ask: 1, blocks: [block, background] };
    const said = less.replace("{sure}", "at most 95");
    assert.ok(promise(opening(screens, design)).includes(said));
    const [beginning] = less.split(":");
    assert.ok(!promise(opening(screens, { ...design, blocks: [block] })).includes(beginning));
    assert.ok(!promise(opening(screens, DESIGN)).includes(beginning)); // 3.3 is weak already
  });

  it("has the figure in the link to the odds, and links that lead to their own screens", async (t) => {
    const screens = await start(t);
    const opened = [];
    const screen = opening(screens, { ...named("2 x 2 at 2"), disclosures: {} }, { open: (name) => opened.push(name) });
    const links = [...screen.querySelectorAll(".links button")];
    assert.equal(links[0].textContent, "How sure could someone be? 88 in 100");
    for (const link of links) link.click();
    screen.querySelector(".how").click();
    assert.deepEqual(opened, ["odds", "unprotected", "contact", "check", "practice"]);
    assert.equal(opening(screens, named("2 x 2 at 2")).querySelectorAll(".links button").length, 3);
    assert.equal(screen.querySelectorAll("a").length, 0);
  });

  it("shows texts as texts, and who is asking", async (t) => {
    const screens = await start(t);
    const texts = {
      title: text(EVIL), introduction: text(""),
      disclosure: (name) => text({ asked_by: EVIL, purpose: "To know." }[name] ?? ""),
    };
    const screen = opening(screens, DESIGN, { content: texts });
    assert.equal(screen.querySelector("h1").textContent, EVIL);
    assert.equal(screen.querySelector(".who bdi").textContent, EVIL);
    assert.equal(screen.querySelector(".introduction").textContent, "To know."); // without an introduction
    assert.equal(screen.querySelector("img"), null);
  });

  it("counts the questions and the minutes, and asks all but invited people to answer once", async (t) => {
    const screens = await start(t);
    const { once, invited } = screens.words.opening;
    const blocks = [BLOCK, DESIGN.blocks[1], ...BACKGROUND];
    const steps = blocks.flatMap((block) =>
      block.questions.map((question, index) => ({ question, block, index, room: block.questions.length })),
    );
    const facts = (design, some = steps) => opening(screens, design, { steps: some }).querySelector(".facts").textContent;
    assert.equal(facts(DESIGN), `5 questions, under a minute. ${once}`);
    const many = Array.from({ length: 6 }, () => ({ ...steps[0], block: { ...BLOCK }, room: 1 }));
    assert.equal(facts({ ...DESIGN, passes: {} }, many), "6 questions, under 2 min.");
    const whole = (design) => opening(screens, design).textContent;
    assert.ok(whole({ ...DESIGN, passes: {} }).includes(invited));
    assert.ok(!whole(DESIGN).includes(invited));
  });

  it("says that answers are not kept if the page was reloaded", async (t) => {
    const screens = await start(t);
    assert.equal(opening(screens, DESIGN).querySelector(".reloaded"), null);
    const screen = opening(screens, DESIGN, { reloaded: true });
    assert.equal(screen.querySelector(".reloaded").textContent, screens.words.opening.reloaded);
  });
});

describe("the screens behind the opening", () => {
  const view = (design, more = {}) => ({
    design, slug: "small", program: "/p.js", back() {}, content: { disclosure: () => text("") }, ...more,
  });
  const rows = (screen) => [...screen.querySelectorAll("dd")].map(({ textContent }) => textContent);

  it("state the odds of sensitive answers, background answers and the whole report", async (t) => {
    const screens = await start(t);
    const times = (figure) => screens.words.odds.times.replace("{sure}", figure);
    assert.deepEqual(rows(screens.odds(view(DESIGN))), [
      times("at most 96"), // at 3.3
      times("at most 95"), // at 3, the largest
      times("more than 99"), // at 3.3 + 3 + 2
    ]);
    assert.deepEqual(rows(screens.odds(view(BARE))), [times("at most 96")]);
  });

  it("draw the dots that they state in words, and let the changed ones stand out", async (t) => {
    const screens = await start(t);
    const ln3 = vectors.designs.find(({ name }) => name === "one yes/no at ln 3").design;
    const [yes, no] = screens.odds(view(ln3)).querySelectorAll("figure");
    const count = (figure, selector) => figure.querySelectorAll(`svg ${selector}`).length;
    assert.deepEqual([count(yes, ".filled"), count(yes, ".changed"), count(yes, ".empty.changed")], [75, 25, 25]);
    assert.deepEqual([count(no, ".filled"), count(no, ".changed"), count(no, ".filled.changed")], [25, 25, 25]);
    const { ofYes, ofNo } = screens.words.odds;
    const said = (words, yes, no) => words.replace("{yes}", yes).replace("{no}", no);
    assert.equal(yes.querySelector("figcaption").textContent, said(ofYes, "75", "25"));
    assert.equal(no.querySelector("figcaption").textContent, said(ofNo, "25", "75"));
  });

  it("say what an invitation tells only to those who were invited", async (t) => {
    const screens = await start(t);
    const { invited, others } = screens.words.unprotected;
    const points = (design) => screens.unprotected(view(design)).textContent;
    assert.ok(points({ ...DESIGN, passes: {} }).includes(invited) && !points(DESIGN).includes(invited));
    assert.ok(points(DESIGN).includes(others));
  });

  it("have no links at a kiosk", async (t) => {
    const screens = await start(t);
    assert.equal(screens.check(view(DESIGN)).querySelectorAll("a").length, 3);
    assert.equal(screens.check(view(DESIGN, { program: null })).querySelectorAll("a").length, 0);
  });
});

describe("the practice question", () => {
  it("shows a single report first, and then counts them beside the two squares", async (t) => {
    const screens = await start(t);
    const reports = [1, 1, 0];
    const tried = [];
    const counts = [0, 0];
    const tap = (answer) => {
      tried.push(answer);
      const report = Number(reports.pop());
      counts[report] += 1;
      return { answer, report, counts };
    };
    const screen = screens.put(screens.practice({ design: DESIGN, tried: null, tap, back() {}, start() {} }));
    const [no, yes] = screen.querySelectorAll("input");
    assert.deepEqual([no, yes].map((one) => one.closest("label").textContent), ["No", "Yes"]);
    const outcome = screen.querySelector(".tries");
    assert.ok(outcome.hidden);
    yes.click();
    assert.ok(outcome.textContent.includes("You said: Yes. This time your device would send: No."));
    assert.ok(!outcome.hidden && outcome.querySelector(".squares").hidden);
    const again = outcome.querySelector("button");
    again.click();
    again.click();
    assert.deepEqual(tried, [1, 1, 1]);
    assert.ok(!outcome.querySelector(".squares").hidden);
    assert.ok(outcome.textContent.includes("So far: 2 × yes, 1 × no."));
  });
});

describe("the review", () => {
  it("lists every answer, lets it be changed, and sends", async (t) => {
    const screens = await start(t);
    const called = [];
    const line = (name, answer) => ({ question: text(name), answer: [answer], change: () => called.push(name) });
    const lines = [line("Q1", text("Yes")), line("Age", text("Under 30"))];
    const form = screens.put(screens.review({ lines, back() {}, send: () => called.push("send") }));
    assert.match(form.querySelector(".answers").textContent, /Q1.*Yes.*Age.*Under 30/);
    for (const answer of form.querySelectorAll("dt + dd")) {
      assert.equal(answer.getAttribute("translate"), "no"); // not to a translator
    }
    const changes = [...form.querySelectorAll(".answers button")];
    assert.deepEqual(changes.map((one) => one.getAttribute("aria-label")), ["Change: Q1", "Change: Age"]);
    for (const button of changes) button.click();
    screens.fire(form, "submit");
    assert.deepEqual(called, ["Q1", "Age", "send"]);
  });
});

describe("the page after sending", () => {
  const blocks = { b1: [0], g1: [2] };
  const body = JSON.stringify({ id: "1", design: "sha256:0", blocks });
  const questions = {
    b1: { key: "q1", kind: "choice", text: "How often?", options: ["Never", "Sometimes"].map((one) => ({ text: one })) },
    g1: { key: "q2", kind: "several", text: "Which?", options: ["A", "B", "C"].map((one) => ({ text: one })), picks: 2 },
    g2: { key: "q3", kind: "choice", text: "Who?", options: [{ text: "Boss" }], only_if: {} },
  };
  const design = { blocks: Object.entries(questions).map(([key, one]) => ({ key, questions: [one] })) };
  const content = {
    disclosure: (name) => text({ contact: "council@example.org" }[name] ?? ""),
    question: ({ question }) => ({ ...text(question.text), options: question.options }),
  };
  const survey = { slug: "small", crowd: 20, results_public: true, state: "open", design };
  const thanks = (screens, more = {}, sent = body) =>
    screens.put(screens.thanks({ survey, content, id: "number-1", body: sent, openLedger() {}, other() {}, ...more }));

  it("says what happens next, and how to reach the people asking", async (t) => {
    const screens = await start(t);
    const { results, unpublished, once } = screens.words.thanks;
    const said = thanks(screens);
    assert.ok(said.textContent.includes(results.replace("{count}", "40"))); // a crowd stays behind
    assert.equal(said.querySelector("a").getAttribute("href"), "/results/small/");
    assert.ok(said.textContent.includes("council@example.org") && said.textContent.includes(once));
    const hidden = thanks(screens, { survey: { ...survey, results_public: false } });
    assert.ok(hidden.textContent.includes(unpublished.replace("{count}", "40")));
    assert.equal(hidden.querySelector("a"), null);
    const invited = thanks(screens, { survey: { ...survey, design: { ...design, passes: {} } } });
    assert.ok(!invited.textContent.includes(once));
  });

  it("shows the report in words, then its exact bytes and its number", async (t) => {
    const screens = await start(t);
    const screen = thanks(screens, {}, `${body}   `);
    const details = screen.querySelector("details");
    assert.ok(!details.open);
    assert.equal(details.querySelector("pre").textContent, `${body}   `);
    assert.ok(details.textContent.includes("number-1"));
    const lines = (given) => [...given.querySelectorAll("details dl > div")].map((one) => one.textContent);
    assert.deepEqual(lines(screen), ["How often?Never", "Which?C"]);
    const other = JSON.stringify({ blocks: { b1: [1], g1: [null], g2: [null] } });
    assert.deepEqual(lines(thanks(screens, {}, other)), ["How often?Sometimes", `Which?${screens.words.asking.none}`]);
  });

  it("shows nothing of a report to a later visitor", async (t) => {
    const screens = await start(t);
    const screen = thanks(screens, { resumed: true, survey: undefined, content: undefined });
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
  const view = { keep() {}, strike: (position) => struck.push(position), end() {}, back() {} };
  const screen = screens.put(screens.ledger({ entries, ...view }));
  assert.match(screen.querySelector("tfoot").textContent, /1\.75/);
  assert.equal(screen.querySelector("img"), null);
  for (const button of screen.querySelectorAll("button.remove")) button.click();
  assert.deepEqual(struck, [0, 1]);
  const { offer, keep } = screens.words.ledger;
  const none = screens.put(screens.ledger({ entries: null, ...view })).textContent;
  assert.ok(none.includes(offer) && none.includes(keep));
});

it("every problem has a screen with a heading, and a button only if it can help", async (t) => {
  const screens = await start(t);
  const helps = [];
  for (const name of Object.keys(screens.words.problems)) {
    const screen = screens.put(screens.problem({ name, again: () => helps.push(name) }));
    assert.ok(screen.querySelector("h1").textContent, name);
    screen.querySelector("button")?.click();
  }
  assert.deepEqual(helps, ["offline", "outdated", "broken", "noPass"]);
});
