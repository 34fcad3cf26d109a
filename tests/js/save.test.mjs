// Saving a draft on the server: one request at a time, and nothing is lost.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { openPage, reply, settled } from "../support/dom.mjs";

/* A page that saves its draft to a server that answers when told to. */
async function start(t) {
  const held = []; // what the server has not answered yet
  const serve = () => new Promise((answer) => held.push(answer));
  const page = openPage(t, { url: "http://candor.test/studio/draft/", serve });
  const { draftSync } = await page.load("studio/save.js");
  /** @type {any[][]} */
  const [said, replies] = [[], []];
  let document = "first";
  const kept = draftSync("/draft", "token", {
    toDocument: () => document,
    onStatus: (...what) => said.push(what.join(" ").trim()),
    onServerState: (answer) => replies.push(answer),
  });
  const answer = async (status, given) => {
    await settled();
    held.shift()(status && reply(status, given));
    await settled();
  };
  const loading = kept.load();
  await answer(200, { number: 1 });
  await loading;
  page.sent.length = said.length = replies.length = 0;
  return {
    ...page, kept, said, replies, answer,
    bodies: () => page.sent.map(({ body }) => JSON.parse(body)),
    change(text, ...more) {
      document = text;
      kept.changed("title", ...more);
    },
  };
}

describe("a draft that changes", () => {
  it("is saved once, as a whole, after a pause", async (t) => {
    const { change, clock, sent, bodies, answer, said } = await start(t);
    document.cookie = "csrftoken=newer";
    change("a");
    await clock.pass(499);
    change("ab");
    await clock.pass(499);
    assert.equal(sent.length, 0);
    await clock.pass(1);
    assert.equal(sent.length, 1);
    assert.equal(sent[0].method, "POST");
    assert.equal(sent[0].headers["X-CSRFToken"], "newer");
    const [{ step, ...body }] = bodies();
    assert.deepEqual(body, { number: 1, document: "ab" });
    assert.match(step, /^title \w+-\d+$/);
    await answer(200, { number: 2 });
    assert.equal(said.at(-1), "saved");
    assert.equal(clock.waiting, 0);
  });

  it("is saved again after a save that is running, not beside it", async (t) => {
    const { kept, change, clock, bodies, answer, said } = await start(t);
    change("a");
    await clock.pass(500);
    change("b");
    await clock.pass(5_000);
    const flushed = [kept.flush(), kept.flush()];
    await settled();
    assert.equal(bodies().length, 1);
    await answer(200, { number: 2 });
    assert.ok(!said.includes("saved"));
    assert.deepEqual(bodies().map(({ number, document }) => [number, document]), [[1, "a"], [2, "b"]]);
    await answer(200, { number: 3 });
    assert.deepEqual(await Promise.all(flushed), [true, true]);
    assert.deepEqual([bodies().length, said.at(-1)], [2, "saved"]);
  });

  it("includes what was added while a save was running", async (t) => {
    const { change, clock, bodies, answer } = await start(t);
    change("a", 0, { one: 1 });
    await clock.pass(0);
    change("b", 0, { follow: "draft" });
    await answer(200, { number: 2 });
    await clock.pass(0);
    assert.deepEqual(bodies().map(({ one, follow }) => [one, follow]), [[1, undefined], [undefined, "draft"]]);
  });

  it("is tried again without a network, less and less often, with all its changes", async (t) => {
    const { change, clock, bodies, answer, said, kept, fire, window } = await start(t);
    change("a", 0, { follow: "draft" });
    for (const pause of [0, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
      const tries = bodies().length;
      await clock.pass(pause - 1);
      assert.equal(bodies().length, tries);
      await clock.pass(1);
      assert.equal(bodies().length, tries + 1);
      await answer(0);
      assert.equal(said.at(-1), "waiting");
      assert.ok(kept.pending());
    }
    fire(window, "online");
    await answer(200, { number: 2 });
    assert.equal(said.at(-1), "saved");
    for (const body of bodies()) assert.equal(JSON.stringify(body), JSON.stringify(bodies()[0]));
    assert.equal(bodies()[0].follow, "draft");
  });
});

describe("undo and redo", () => {
  it("happen one after the other when asked for quickly, and none is lost", async (t) => {
    const { kept, bodies, answer, sent } = await start(t);
    const all = Promise.all([kept.go(1), kept.go(1), kept.go(1)]);
    for (const number of [2, 3, 4]) {
      await settled();
      assert.equal(sent.length, number - 1);
      await answer(200, { number });
    }
    assert.deepEqual(await all, [true, true, true]);
    assert.deepEqual(bodies(), [1, 2, 3].map((number) => ({ number, go: 1 })));
  });

  it("come after a change that is not saved yet", async (t) => {
    const { kept, change, bodies, answer } = await start(t);
    change("a");
    const done = kept.go(-1);
    await answer(200, { number: 2 });
    await answer(200, { number: 3 });
    assert.equal(await done, true);
    assert.deepEqual(bodies().map(({ number, go }) => [number, go]), [[1, undefined], [2, -1]]);
  });

  it("are not done if the change before them cannot be saved", async (t) => {
    const { kept, change, bodies, answer, said } = await start(t);
    change("a");
    const done = kept.go(-1);
    await answer(0);
    assert.equal(await done, false);
    assert.deepEqual([bodies().length, said.at(-1)], [1, "waiting"]);
  });
});

describe("a draft that somebody else has saved", () => {
  async function conflict(t) {
    const all = await start(t);
    all.change("mine", 0);
    await all.clock.pass(0);
    await all.answer(409, { number: 7, document: "theirs" });
    assert.equal(all.said.at(-1), "conflict");
    all.change("mine, more");
    await all.clock.pass(60_000);
    assert.equal(await all.kept.flush(), false);
    assert.equal(all.sent.length, 1); // nothing is sent until the conflict is resolved
    return all;
  }

  it("can be taken, and mine is dropped", async (t) => {
    const { kept, replies, clock, sent, said } = await conflict(t);
    kept.theirs();
    assert.deepEqual(replies, [{ number: 7, document: "theirs" }]);
    await clock.pass(60_000);
    assert.deepEqual([sent.length, kept.pending(), said.at(-1)], [1, false, "saved"]);
  });

  it("can be replaced by mine, as its own step in the history", async (t) => {
    const { kept, bodies, answer } = await conflict(t);
    const done = kept.mine();
    await answer(200, { number: 8 });
    assert.equal(await done, true);
    assert.deepEqual(bodies()[1], { number: 7, document: "mine, more", step: "" });
  });
});

describe("a page that is left", () => {
  it("asks first while something is not saved", async (t) => {
    const page = await start(t);
    const asks = () => page.fire(page.window, "beforeunload").defaultPrevented;
    assert.equal(asks(), false);
    page.change("a");
    assert.equal(asks(), true);
    await page.clock.pass(500);
    assert.equal(asks(), true); // on its way
    await page.answer(200, { number: 2 });
    assert.equal(asks(), false);
  });

  it("sends what is not saved, but nothing in an undecided conflict", async (t) => {
    const page = await start(t);
    page.fire(page.window, "pagehide");
    assert.equal(page.sent.length, 0);
    page.change("a");
    page.fire(page.window, "pagehide");
    assert.equal(page.sent[0].keepalive, true);
    assert.equal(page.bodies()[0].document, "a");
    await page.answer(409, { number: 3 });
    await page.clock.pass(500);
    await page.answer(409, { number: 3 });
    page.fire(page.window, "pagehide");
    assert.equal(page.sent.length, 2);
  });

  it("is saved when its reader comes back from logging in", async (t) => {
    const { change, clock, answer, said, sent, fire, window } = await start(t);
    change("a", 0);
    await clock.pass(0);
    await answer(403, {});
    await clock.pass(60_000);
    assert.deepEqual([said.at(-1), sent.length], ["out", 1]);
    fire(window, "focus");
    await answer(200, { number: 2 });
    assert.deepEqual([said.at(-1), sent.length], ["saved", 2]);
  });
});

it("a refused draft is explained, and sent again with the next change", async (t) => {
  const { change, clock, answer, sent, said } = await start(t);
  change("a", 0);
  await clock.pass(0);
  await answer(400, { refused: "title" });
  await clock.pass(60_000);
  assert.deepEqual([said.at(-1), sent.length], ["refused title", 1]);
  change("b", 0);
  await clock.pass(0);
  assert.equal(sent.length, 2);
});
