// Polling: when requests are sent, how replies are shown, and the message without a reply.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { poll, say, NO_ANSWER } from "../../static/site/polling.js";

/*
 * Poll a server that gives these answers one after the other: JSON, a Response, or null where there is
 * no network. Polling ends with the last answer at the latest.
 */
async function run(answers, more = {}) {
  const asked = [];
  const shown = [];
  const waits = [];
  const said = [];
  const status = { textContent: "All is quiet." };
  const left = [...answers];
  /** @type {any} */
  const get = async (address, options) => {
    asked.push([address, options.headers.Accept]);
    const answer = left.shift();
    if (answer === null) throw new TypeError("Failed to fetch");
    return answer instanceof Response ? answer : new Response(JSON.stringify(answer));
  };
  await poll({
    address: () => `/now/${asked.length}`,
    status,
    interval: () => 100 * (waits.length + 1),
    show(answer) {
      shown.push(answer);
      return left.length > 0;
    },
    get,
    async wait(milliseconds) {
      waits.push(milliseconds);
      said.push(status.textContent);
    },
    ...more,
  });
  return { asked: asked.map(([address]) => address), accepts: asked.map(([, type]) => type), shown, waits, said, status };
}

const redirected = () => Object.defineProperty(new Response("{}"), "redirected", { value: true });

describe("polling", () => {
  it("asks at once, then after each interval, at the address of the moment", async () => {
    const { asked, accepts, shown, waits } = await run([{ at: 1 }, { at: 2 }, { at: 3 }]);
    assert.deepEqual(asked, ["/now/0", "/now/1", "/now/2"]);
    assert.deepEqual(new Set(accepts), new Set(["application/json"]));
    assert.deepEqual(shown, [{ at: 1 }, { at: 2 }, { at: 3 }]);
    assert.deepEqual(waits, [100, 200]);
  });

  it("ends when an answer is enough", async () => {
    const { asked } = await run([{}, {}, {}], { show: () => false });
    assert.equal(asked.length, 1);
  });

  it("waits until an answer is shown", async () => {
    const order = [];
    const show = async () => {
      await null;
      order.push("shown");
      return order.length < 3;
    };
    await run([{}, {}], { show, wait: async () => void order.push("wait") });
    assert.deepEqual(order, ["shown", "wait", "shown"]);
  });

  /** @type {Record<string, () => Response | null>} */
  const silences = {
    "no network": () => null,
    "an error": () => new Response("{}", { status: 503 }),
    "a page that leads elsewhere": redirected,
    "what is no JSON": () => new Response("<html>"),
  };
  for (const [what, answer] of Object.entries(silences)) {
    it(`says that the server is silent, with ${what}, and goes on`, async () => {
      const { shown, said, status } = await run([answer(), answer(), { at: 3 }]);
      assert.deepEqual(said, [NO_ANSWER, NO_ANSWER]);
      assert.deepEqual(shown, [{ at: 3 }]);
      assert.equal(status.textContent, "All is quiet."); // what was said before
    });
  }

  it("leaves what an answer says after a silence", async () => {
    const status = { textContent: "Waiting." };
    const show = ({ words }) => {
      say(status, words);
      return words !== "Done.";
    };
    await run([null, { words: "Running." }, null, { words: "Done." }], { status, show });
    assert.equal(status.textContent, "Done.");
  });

  it("goes on when an answer cannot be shown", async () => {
    let times = 0;
    const show = () => {
      if (++times === 1) throw new Error("half a page");
      return false;
    };
    const { said } = await run([{}, {}], { show });
    assert.deepEqual([times, said], [2, [NO_ANSWER]]);
  });

  it("gives up after so many failures in a row, and an answer sets the count back", async () => {
    const { asked } = await run([null, null, {}, null, null, null, {}], { patience: 3 });
    assert.equal(asked.length, 6);
  });

  it("asks nothing while it rests", async () => {
    let looks = 0;
    const { asked, waits } = await run([{}, {}], { resting: () => looks++ === 1 });
    assert.equal(asked.length, 2);
    assert.deepEqual(waits, [100, 200]);
  });
});

describe("say", () => {
  it("changes a text only if it is another", () => {
    let set = 0;
    let text = "\n  Ready.\n";
    const status = {
      get textContent() {
        return text;
      },
      set textContent(value) {
        set++;
        text = value;
      },
    };
    say(status, "Ready.");
    assert.equal(set, 0);
    say(status, "Failed.");
    assert.deepEqual([set, text], [1, "Failed."]);
  });
});
