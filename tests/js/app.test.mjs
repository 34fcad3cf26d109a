// The respondent's page as a whole: the order of questions, what is sent, and what is forgotten.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { describe, it } from "node:test";

import words from "../../static/respond/words/en.js";
import { reply, until } from "../support/dom.mjs";
import { DESIGN, PLAIN, SURVEY, accept, kept, start, vectors, withHash } from "../support/visit.mjs";

const POST = "/api/v1/surveys/small/reports/";

describe("a visit", () => {
  it("asks every question in the order of the design, then the background, and sends once", async (t) => {
    const page = await start(t);
    assert.equal(page.sent[0].path, "/s/small/definition/");
    await page.answerAll();
    assert.equal(page.sent.length, 1); // nothing leaves before the last tap
    const { localStorage, sessionStorage } = kept(page);
    assert.deepEqual([localStorage, Object.keys(sessionStorage)], [{}, ["candor.drawn"]]);
    await page.send();
    await page.see(words.thanks.title);
    const [{ path, body, credentials, redirect, keepalive }] = page.reported();
    assert.equal(page.reported().length, 1);
    assert.deepEqual([path, credentials, redirect, keepalive], [POST, "omit", "error", true]);
    const { id, ...rest } = JSON.parse(body);
    assert.deepEqual(rest, { design: DESIGN.hash, blocks: { b1: [1, 0], g1: [1] } });
    assert.ok(page.$("#page").textContent.includes(id));
    assert.equal(page.$("pre").textContent, body);
    assert.equal(page.window.location.href, "http://candor.test/s/small/"); // one address throughout
  });

  it("sends nothing that was entered, background answers included, when the coins replace it", async (t) => {
    t.mock.method(webcrypto, "randomUUID", () => "00000000-0000-4000-8000-000000000000");
    const bodies = new Set();
    for (const answers of [[0, 0, 0], [1, 0, 1], [0, 1, 2], [1, 1, 0]]) {
      const page = await start(t);
      await page.answerAll(answers);
      const draws = [2 ** 32 - 1, 2, 2 ** 32 - 1, 1]; // for each block a coin that replaces, and a cell
      /** @type {any} */ (crypto.getRandomValues).mock.mockImplementation((array) => array.fill(draws.shift()));
      await page.send();
      await page.see(words.thanks.title);
      assert.deepEqual(draws, []);
      bodies.add(page.reported()[0].body);
    }
    const [body] = bodies;
    assert.equal(bodies.size, 1);
    assert.deepEqual(JSON.parse(body).blocks, { b1: [1, 0], g1: [1] });
  });

  it("asks a background question like any other: nothing is chosen, and it must be answered", async (t) => {
    const page = await start(t);
    await page.press(words.opening.start);
    await page.answer("Question q1?", 1);
    await page.answer("Question q2?", 0);
    await page.see("Age?");
    assert.equal(page.$("input:checked"), null);
    await page.press(words.asking.next);
    assert.equal(page.heading(), "Age?");
    assert.equal(page.$("[role=alert]").textContent, words.asking.missing);
    await page.answer("Age?", 2);
    await page.see(words.review.title);
    await page.send();
    await page.see(words.thanks.title);
    assert.deepEqual(JSON.parse(page.reported()[0].body).blocks.g1, [2]); // “prefer not to say” is an answer
  });

  it("enters the cost of the whole report into the ledger", async (t) => {
    const page = await start(t);
    await page.answerAll();
    await page.send();
    await page.see(words.thanks.title);
    await page.press(words.ledger.title);
    await page.press(words.ledger.keep);
    const [{ epsilon }] = JSON.parse(page.window.localStorage.getItem("candor.ledger"));
    assert.ok(Math.abs(epsilon - (2 + 3)) < 1e-8);
  });

  it("goes back with the browser's Back button and shows the answer given", async (t) => {
    const page = await start(t);
    await page.press(words.opening.start);
    await page.answer("Question q1?", 1);
    await page.see("Question q2?");
    page.window.history.back();
    await until(async () => (await page.clock.pass(0), page.heading() === "Question q1?"));
    assert.equal(page.$("input:checked").value, "1");
    await page.press(words.asking.next);
    await page.see("Question q2?");
    assert.equal(page.$("input:checked"), null);
  });

  it("returns to the review when an answer is changed there", async (t) => {
    const page = await start(t);
    await page.answerAll();
    page.document.querySelectorAll(".answers button")[0].click();
    await page.see("Question q1?");
    page.document.querySelectorAll("input")[0].click();
    page.button(words.asking.done).click();
    await until(async () => (await page.clock.pass(0), page.heading() === words.review.title));
    await page.send();
    await page.see(words.thanks.title);
    assert.deepEqual(JSON.parse(page.reported()[0].body).blocks, { b1: [0, 0], g1: [1] });
  });

  it("treats a double tap as one tap", async (t) => {
    const page = await start(t);
    await page.answerAll();
    await page.clock.pass(10_000);
    page.document.querySelectorAll(".answers button")[0].click();
    await page.see("Question q1?");
    const next = page.button(words.asking.done);
    const echo = page.fire(next, "click", { detail: 2 });
    assert.ok(echo.defaultPrevented);
    await page.clock.pass(401);
    assert.equal(page.fire(next, "click", { detail: 2 }).defaultPrevented, false);
  });
});

describe("a report that does not arrive", () => {
  it("is sent again automatically, less and less often, with the same bytes", async (t) => {
    const page = await start(t, { reports: () => null });
    await page.answerAll();
    await page.send();
    await page.see(words.waiting.title);
    for (const [count, pause] of [[1, 5_000], [2, 10_000], [3, 20_000], [4, 40_000], [5, 60_000], [6, 60_000]]) {
      await page.clock.pass(pause - 1);
      assert.equal(page.reported().length, count);
      await page.clock.pass(1);
      assert.equal(page.reported().length, count + 1);
    }
    page.server.reports = accept;
    await page.press(words.waiting.again);
    await page.see(words.thanks.title);
    assert.equal(new Set(page.reported().map(({ body }) => body)).size, 1);
    assert.equal(page.window.localStorage.length, 0); // it waits no more
  });

  it("is sent by the next visit with the same bytes, and not shown", async (t) => {
    const page = await start(t, { reports: () => null });
    await page.answerAll();
    await page.send();
    await page.see(words.waiting.title);
    const [{ body }] = page.reported();
    const next = await start(t, { reports: () => null, stored: kept(page) });
    await next.see(words.waiting.title);
    assert.equal(next.$("pre"), null);
    next.server.reports = accept;
    await next.press(words.waiting.again);
    await next.see(words.thanks.resumed);
    assert.deepEqual(next.reported().map((one) => one.body), [body, body]);
    assert.equal(next.$("pre"), null);
  });

  it("waits as long as a busy site says", async (t) => {
    const page = await start(t, { reports: () => reply(503, {}, { "Retry-After": "90" }) });
    await page.answerAll();
    await page.send();
    await page.see(words.waiting.title);
    await page.clock.pass(89_999);
    assert.equal(page.reported().length, 1);
    await page.clock.pass(1);
    assert.equal(page.reported().length, 2);
  });

  it("is not treated as stored because some page answers 200", async (t) => {
    const page = await start(t, { reports: () => reply(200, { welcome: "to the hotel" }) });
    await page.answerAll();
    await page.send();
    await page.see(words.waiting.title);
    assert.equal(JSON.parse(page.window.localStorage.getItem("candor.waiting")).length, 1);
  });

  it("is dropped with an explanation if the site refuses it", async (t) => {
    const page = await start(t, { reports: () => reply(410, {}) });
    await page.answerAll();
    await page.send();
    await page.see(words.problems.closedMeanwhile.title);
    await page.clock.pass(600_000);
    assert.deepEqual([page.reported().length, page.window.localStorage.length], [1, 0]);
  });
});

describe("the page", () => {
  it("forgets everything when it is left, and starts again when it is restored", async (t) => {
    const page = await start(t);
    await page.press(words.opening.start);
    await page.answer("Question q1?", 1);
    page.fire(page.window, "pagehide");
    assert.equal(page.$("#page").childElementCount, 0);
    page.fire(page.window, "pageshow", { persisted: true });
    await page.see("A survey");
    assert.equal(page.$(".reloaded").textContent, words.opening.reloaded);
    await page.press(words.opening.start);
    await page.see("Question q1?");
    assert.equal(page.$("input:checked"), null);
    assert.ok(!JSON.stringify(kept(page)).includes("answer"));
  });

  it("forgets everything after an error of its own, and sends nothing", async (t) => {
    const page = await start(t);
    await page.answerAll();
    /** @type {any} */ (crypto.getRandomValues).mock.mockImplementation(() => {
      throw new Error("no chance");
    });
    await page.send();
    await page.see(words.problems.broken.title);
    assert.equal(page.reported().length, 0);
  });

  it("remembers that this tab has answered, and does not ask again on reload", async (t) => {
    const page = await start(t);
    await page.answerAll();
    await page.send();
    await page.see(words.thanks.title);
    const next = await start(t, { stored: kept(page) });
    await next.see(words.answered.title);
    assert.equal(next.reported().length, 0);
    await next.press(words.answered.other);
    await next.see("A survey");
  });
});

describe("a reload", () => {
  const four = vectors.designs.find(({ name }) => name === "2 of 4 blocks, and background").design;
  const blocks = four.blocks.map((block) => ({
    ...block,
    questions: block.questions.map((question) => ({
      kind: "choice", ...question, text: question.key, shuffled: true,
      options: question.options.map((one) => ({ text: one.key, ...one })),
    })),
  }));
  const { hash: _, ...design } = four;
  const survey = { ...SURVEY, design: withHash({ ...design, blocks, shuffled: true }) };
  const seen = async (page) => {
    await page.press(words.opening.start);
    const screens = [];
    while (page.$(".asking")) {
      screens.push(page.$(".asking").textContent);
      page.$("input").click();
      const before = page.$(".screen");
      await page.press(words.asking.next);
      await until(() => page.$(".screen") !== before);
    }
    return screens;
  };
  /* Not only zeros: the words 0, c, 2c, … */
  const draw = (t, c) => {
    let last = 0;
    t.mock.method(webcrypto, "getRandomValues", (array) => array.fill((last = (last + c) % 2 ** 32)));
  };

  it("asks the same questions in the same order, but another tab or person draws anew", async (t) => {
    const first = await start(t, { survey });
    draw(t, 0x9e3779b9);
    first.fire(first.window, "pageshow", { persisted: true }); // draws with these words
    await first.see("A survey");
    const asked = await seen(first);
    assert.ok(asked.length > 3);
    const stored = kept(first);
    assert.deepEqual(Object.keys(stored.sessionStorage), ["candor.drawn"]);
    draw(t, 0x12345677);
    const again = await start(t, { survey, stored });
    draw(t, 0x12345677);
    again.fire(again.window, "pageshow", { persisted: true });
    await again.see("A survey");
    assert.ok(again.$(".reloaded"));
    assert.deepEqual(await seen(again), asked);
    await again.send();
    await again.see(words.thanks.title);
    assert.deepEqual(Object.keys(kept(again).sessionStorage), ["candor.answered"]); // it goes with the report
    await until(async () => (await again.clock.pass(0), again.window.history.state === null));
    await again.press(words.answered.other);
    await again.see("A survey");
    assert.equal(again.$(".reloaded"), null);
    assert.notDeepEqual(await seen(again), asked);
  });

  it("draws anew if the questions are others", async (t) => {
    const first = await start(t, { survey });
    await first.press(words.opening.start);
    const next = await start(t, { stored: kept(first) });
    assert.equal(next.$(".reloaded"), null);
  });

  it("draws anew at a kiosk, where nothing is stored", async (t) => {
    const page = await start(t, { survey, search: "?kiosk" });
    await page.press(words.opening.start);
    assert.deepEqual(kept(page), { localStorage: {}, sessionStorage: {} });
  });
});

describe("a survey that cannot be asked", () => {
  for (const [name, given, problem] of [
    ["is not there", { status: 404 }, "missing"],
    ["is closed", { survey: { ...SURVEY, state: "closed" } }, "closed"],
    ["speaks another protocol", { survey: { ...SURVEY, protocol: 2 } }, "outdated"],
    ["is not what its hash says", { survey: { ...SURVEY, design: { ...DESIGN, epsilon: 1.9 } } }, "outdated"],
    [
      "keeps more than it says",
      { survey: { ...SURVEY, design: withHash({ ...PLAIN, blocks: [{ ...PLAIN.blocks[0], keep: 4e9 }] }) } },
      "outdated",
    ],
    ["has a server with an error", { status: 500 }, "offline"],
  ]) {
    it(`is explained if it ${name}`, async (t) => {
      const page = await start(t, given);
      assert.equal(page.heading(), words.problems[problem].title);
      assert.equal(page.sent.length, 1);
    });
  }
});

describe("a kiosk", () => {
  const kiosk = (t, more) => start(t, { search: "?kiosk", ...more });

  it("asks who is there after 40 seconds and forgets everything after 60", async (t) => {
    const page = await kiosk(t);
    await page.press(words.opening.start);
    await page.answer("Question q1?", 1);
    await page.clock.pass(39_999);
    assert.equal(page.$("dialog"), null);
    await page.clock.pass(1);
    assert.ok(page.$("dialog").open);
    page.fire(page.document.body, "keydown", { key: "Tab" });
    assert.equal(page.$("dialog"), null); // somebody is there
    await page.clock.pass(59_999);
    assert.equal(page.heading(), "Question q2?");
    await page.clock.pass(1);
    await page.see("A survey");
    await page.press(words.opening.start);
    await page.see("Question q1?");
    assert.equal(page.$("input:checked"), null);
  });

  it("says thanks without a network, starts again by itself and sends later", async (t) => {
    const page = await kiosk(t, { reports: () => null });
    await page.answerAll();
    await page.send();
    await page.see(words.kiosk.waits);
    await page.clock.pass(15_000);
    await page.see("A survey");
    assert.equal(page.$("pre"), null);
    assert.equal(page.window.sessionStorage.length, 0); // the next person may answer
    page.server.reports = accept;
    await page.clock.pass(30_000);
    await until(() => page.window.localStorage.length === 0);
    assert.equal(new Set(page.reported().map(({ body }) => body)).size, 1);
  });
});
