// Every path through a survey with every kind: what is asked, what is sent, and that a path leaves
// the same history as any other.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { describe, it } from "node:test";

import words from "../../static/respond/words/en.js";
import { settled, until } from "../support/dom.mjs";
import { PLAIN, SURVEY, option, start, withHash } from "../support/visit.mjs";

const asks = (key, kind, more) => ({ key, kind, text: `${key}?`, options: [], ...more });
const only = (question, ...options) => ({ only_if: { question, options } });
const options = (...keys) => ({ options: keys.map(option) });
const block = (key, ...questions) => ({ key, epsilon: 2, keep: 2 ** 20, questions });
const BLOCKS = [
  block(
    "b1",
    asks("gate", "yes_no", options("no", "yes")),
    asks("who", "choice", { ...options("boss", "other"), ...only("gate", "yes") }),
    asks("days", "number", { least: 0, most: 10, levels: 1, unit: "days", ...only("who", "boss") }),
  ),
  block("b2", asks("mood", "scale", options("bad", "fair", "good"))),
  block("b3", asks("which", "several", { ...options("a", "b", "c"), picks: 2 })),
  { ...block("g1", asks("job", "choice", options("nurse", "doctor"))), background: true },
];
const survey = (more = {}) => ({
  ...SURVEY,
  design: withHash({ ...PLAIN, epsilon: 8, ask: 3, blocks: BLOCKS, ...more }),
});

/* What a person enters on each screen, by its heading. */
const NO = { "gate?": 0 };
const OTHER = { "gate?": 1, "who?": 1 };
const BOSS = { "gate?": 1, "who?": 0, "days?": "10" };
const REST = { "mood?": 2, "which?": [0, 2], "job?": 1 };
const SENT = { b2: [2], b3: [0], g1: [1] };

/* Go to the review; returns the screens: heading and progress. */
async function walk(page, entered, name = words.opening.start) {
  const screens = [];
  await page.press(name);
  for (;;) {
    const heading = page.heading();
    if (heading === words.review.title) return screens;
    screens.push(`${heading} ${page.$("#progress").textContent.match(/\d+/g).join("/")}`);
    enter(page, entered[heading] ?? 0);
    await page.press(words.asking.next);
    await until(() => page.heading() !== heading);
  }
}

function enter(page, what) {
  if (typeof what === "string") return page.type(page.$(".number input"), what);
  const boxes = page.document.querySelectorAll(".option input");
  for (const one of [what].flat()) if (!boxes[one].checked) boxes[one].click();
}

async function change(page, question, what) {
  const name = `${words.review.change}: ${question}`;
  [...page.document.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === name).click();
  await page.see(question);
  enter(page, what);
  await done(page);
}

async function done(page) {
  const before = page.heading();
  page.button(words.asking.done).click();
  await moved(page, () => page.heading() !== before);
}

/* jsdom moves in the history when its timers run. */
const moved = (page, there) => until(async () => (await page.clock.pass(0), there()));

const answers = (page) =>
  Object.fromEntries(
    [...page.document.querySelectorAll("dl > div")].map((one) => [
      one.querySelector("dt").textContent,
      [...one.querySelectorAll("dd:not(.change) span")].map(({ textContent }) => textContent).join(" "),
    ]),
  );

async function report(page) {
  await page.send();
  await page.see(words.thanks.title);
  assert.equal(page.reported().length, 1);
  return page.reported()[0].body;
}

describe("a path", () => {
  const PATHS = [
    [NO, ["gate? 1/6"], [0, null, null], {}],
    [OTHER, ["gate? 1/6", "who? 2/6"], [1, 1, null], { "who?": "other" }],
    [BOSS, ["gate? 1/6", "who? 2/6", "days? 3/6"], [1, 0, 1], { "who?": "boss", "days?": "10 days" }],
  ];

  for (const [entered, asked, sent, shown] of /** @type {any[]} */ (PATHS)) {
    it(`asks ${asked.at(-1)} last and sends null for what it leaves out`, async (t) => {
      const page = await start(t, { survey: survey() });
      const screens = await walk(page, { ...entered, ...REST });
      assert.deepEqual(screens, [...asked, "mood? 4/6", "which? 5/6", "job? 6/6"]);
      const gate = entered["gate?"] ? "yes" : "no";
      assert.deepEqual(answers(page), {
        "gate?": gate, ...shown, "mood?": "good", "which?": "a c", "job?": "doctor",
      });
      assert.deepEqual(JSON.parse(await report(page)).blocks, { b1: sent, ...SENT });
    });
  }

  it("leaves the same history as any other, and a report of the same length", async (t) => {
    t.mock.method(webcrypto, "randomUUID", () => "00000000-0000-4000-8000-000000000000");
    const traces = [];
    for (const entered of [NO, OTHER, BOSS]) {
      const page = await start(t, { survey: survey() });
      await walk(page, { ...entered, ...REST });
      const { length, state } = page.window.history;
      traces.push([length, state, (await report(page)).length]);
    }
    assert.deepEqual(traces[1], traces[0]);
    assert.deepEqual(traces[2], traces[0]);
    assert.deepEqual(traces[0][1], { at: 6, depth: 7, returns: false });
  });

  it("goes back past what was not asked", async (t) => {
    const page = await start(t, { survey: survey() });
    await walk(page, { ...NO, ...REST });
    for (const heading of ["job?", "which?", "mood?", "gate?"]) {
      page.window.history.back();
      await moved(page, () => page.heading() === heading);
    }
    page.window.history.forward();
    await moved(page, () => page.heading() === "mood?");
    page.window.history.back();
    await moved(page, () => page.heading() === "gate?");
    page.window.history.back();
    await moved(page, () => page.heading() === "A survey");
  });

  it("stays where it is if nothing lies beyond", async (t) => {
    const page = await start(t, { survey: survey() });
    await page.press(words.opening.start);
    enter(page, 1);
    await page.press(words.asking.next);
    assert.equal(page.heading(), "who?");
    page.window.history.back();
    await moved(page, () => page.heading() === "gate?");
    enter(page, 0);
    page.window.history.forward(); // to a question that is not asked any more
    for (let i = 0; i < 10; i++) await settled().then(() => page.clock.pass(0));
    assert.deepEqual([page.heading(), page.window.history.state.at], ["gate?", 0]);
    await page.press(words.asking.next);
    assert.equal(page.heading(), "mood?");
  });
});

describe("an answer changed on the review", () => {
  it("asks the follow-ups that it leads to, and then shows the review again", async (t) => {
    const page = await start(t, { survey: survey() });
    await walk(page, { ...NO, ...REST });
    const { length } = page.window.history;
    await change(page, "gate?", 1);
    assert.equal(page.heading(), "who?");
    enter(page, 0);
    await done(page);
    assert.equal(page.heading(), "days?");
    enter(page, "4");
    await done(page);
    assert.equal(page.heading(), words.review.title);
    assert.equal(answers(page)["days?"], "4 days");
    assert.equal(page.window.history.length, length + 1); // as for any other answer
    assert.deepEqual(JSON.parse(await report(page)).blocks.b1, [1, 0, 1]);
  });

  it("drops the follow-ups that it no longer leads to", async (t) => {
    const page = await start(t, { survey: survey() });
    await walk(page, { ...BOSS, ...REST });
    await change(page, "gate?", 0);
    assert.deepEqual(Object.keys(answers(page)), ["gate?", "mood?", "which?", "job?"]);
    await change(page, "gate?", 1);
    assert.equal(page.heading(), "who?"); // the earlier answer is forgotten
    assert.equal(page.$("input:checked"), null);
    enter(page, 1);
    await done(page);
    assert.deepEqual(JSON.parse(await report(page)).blocks.b1, [1, 1, null]);
  });

  it("must be complete before anything can be sent", async (t) => {
    const page = await start(t, { survey: survey() });
    await walk(page, { ...BOSS, ...REST });
    const name = `${words.review.change}: days?`;
    [...page.document.querySelectorAll("button")].find((one) => one.getAttribute("aria-label") === name).click();
    enter(page, "11");
    page.button(words.asking.done).click();
    assert.match(page.$("[role=alert]").textContent, /from 0 to 10/);
    page.window.history.back(); // with the browser's button
    await moved(page, () => page.window.history.state.at === 6);
    assert.equal(page.heading(), "days?");
    enter(page, "2");
    await page.press(words.asking.done);
    assert.equal(answers(page)["days?"], "2 days");
  });
});

it("picking nothing is shown as none and sent as null", async (t) => {
  const page = await start(t, { survey: survey() });
  await walk(page, { ...NO, ...REST, "which?": [] });
  assert.equal(answers(page)["which?"], words.asking.none);
  assert.deepEqual(JSON.parse(await report(page)).blocks.b3, [null]);
});

describe("fillers", () => {
  it("make all paths equally long, and are neither shown on the review nor sent", async (t) => {
    const lengths = [];
    for (const [entered, count, sent] of /** @type {any[]} */ ([[NO, 2, [0, null, null]], [OTHER, 1, [1, 1, null]], [BOSS, 0, [1, 0, 1]]])) {
      const page = await start(t, { survey: survey({ fillers: true }) });
      const screens = await walk(page, { ...entered, ...REST });
      const fillers = screens.filter((one) => words.asking.fillers.some((text) => one.startsWith(text)));
      assert.equal(fillers.length, count);
      assert.deepEqual(screens.map((one) => one.match(/\d.*/)[0]), ["1/6", "2/6", "3/6", "4/6", "5/6", "6/6"]);
      assert.equal(Object.keys(answers(page)).length, 6 - count);
      lengths.push(page.window.history.length);
      assert.deepEqual(JSON.parse(await report(page)).blocks, { b1: sent, ...SENT });
    }
    assert.equal(new Set(lengths).size, 1);
  });

  it("are not asked again when an answer is changed", async (t) => {
    const page = await start(t, { survey: survey({ fillers: true }) });
    await walk(page, { ...BOSS, ...REST });
    await change(page, "gate?", 0);
    assert.equal(page.heading(), words.review.title);
  });
});

describe("the order that was drawn", () => {
  it("stays while the person goes back and forth, and is not sent", async (t) => {
    const shuffled = BLOCKS.map((one) => ({ ...one, questions: one.questions.map((q) => ({ ...q, shuffled: true })) }));
    const page = await start(t, { survey: survey({ shuffled: true, blocks: shuffled }) });
    // Draws from here on must not change what was drawn at the beginning.
    await page.press(words.opening.start);
    const order = () => [...page.document.querySelectorAll(".option")].map(({ textContent }) => textContent);
    const first = order();
    /** @type {any} */ (crypto.getRandomValues).mock.mockImplementation((array) => array.fill(2 ** 31));
    enter(page, 0);
    await page.press(words.asking.next);
    page.window.history.back();
    await moved(page, () => page.heading() === "gate?");
    assert.deepEqual(order(), first);
    await settled();
    assert.equal(page.reported().length, 0);
  });
});
