// What the page stores on the device, with and without a browser's storage.

import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";

class Storage {
  #kept = new Map();
  getItem = (key) => this.#kept.get(key) ?? null;
  setItem = (key, value) => void this.#kept.set(key, String(value));
  removeItem = (key) => void this.#kept.delete(key);
  get length() {
    return this.#kept.size;
  }
}

const REPORT = { slug: "small", id: "1", body: "{}" };

let device;
let load = 0;

beforeEach(async () => {
  const storages = { localStorage: new Storage(), sessionStorage: new Storage() };
  Object.assign(globalThis, { ...storages, BroadcastChannel: undefined });
  device = await import(`../../static/respond/device.js?${load++}`);
});

describe("codes and passes", () => {
  const PASS = { slug: "small", design: "sha256:0", of: "x", prepared: "p" };

  it("are kept by survey until they are dropped, and leave nothing", () => {
    device.noteCode({ slug: "small", code: "A", design: "" });
    device.noteCode({ slug: "small", code: "B", design: "h", answers: "never" });
    assert.deepEqual(device.code("small"), { slug: "small", code: "B", design: "h" });
    assert.equal(device.code("other"), null);
    device.keepPass(PASS, false);
    device.keepPass({ ...PASS, signature: "s" }, false);
    assert.deepEqual(device.passes("small", false), [{ ...PASS, signature: "s" }]);
    assert.deepEqual(device.passes("other", false), []);
    device.dropCode("small");
    device.dropPass("p");
    assert.deepEqual([localStorage.length, sessionStorage.length], [0, 0]);
  });

  it("stay in memory on a shared device", () => {
    device.keepPass(PASS, true);
    assert.equal(localStorage.length, 0);
    assert.deepEqual(device.passes("small", true), [PASS]);
    device.dropPass("p");
    assert.deepEqual(device.passes("small", true), []);
  });

  it("survive rubbish in the storage", () => {
    localStorage.setItem("candor.passes", JSON.stringify([null, { slug: "../x" }, 3, PASS]));
    sessionStorage.setItem("candor.code", JSON.stringify([null, { slug: "small" }]));
    assert.deepEqual(device.passes("small", false), [PASS]);
    assert.equal(device.code("small"), null);
  });
});

describe("reports that wait", () => {
  it("are kept until they are dropped, and leave nothing", () => {
    device.keep({ ...REPORT, answers: "never" });
    device.keep(REPORT);
    device.keep({ ...REPORT, id: "2" });
    assert.deepEqual(device.waiting(), [REPORT, { ...REPORT, id: "2" }]);
    device.drop("1");
    device.drop("2");
    assert.deepEqual(device.waiting(), []);
    assert.equal(localStorage.length, 0);
  });

  it("survive rubbish in the storage", () => {
    const elsewhere = { ...REPORT, slug: "../elsewhere" };
    const planted = [null, 3, { slug: "x" }, elsewhere, REPORT];
    localStorage.setItem("candor.waiting", JSON.stringify(planted));
    assert.deepEqual(device.waiting(), [REPORT]);
    for (const rubbish of ["not JSON", "{}", "null"]) {
      localStorage.setItem("candor.waiting", rubbish);
      assert.deepEqual(device.waiting(), []);
    }
    assert.equal(device.waitingLasts(), true);
  });

  it("wait in memory if nothing can be stored", () => {
    localStorage.setItem = () => {
      throw new Error("QuotaExceededError");
    };
    device.keep(REPORT);
    assert.deepEqual(device.waiting(), [REPORT]);
    assert.equal(device.waitingLasts(), false);
    Object.defineProperty(globalThis, "localStorage", {
      configurable: true,
      get: () => {
        throw new Error("SecurityError");
      },
    });
    device.drop("1");
    assert.deepEqual(device.waiting(), []);
    Object.defineProperty(globalThis, "localStorage", { configurable: true, writable: true, value: 0 });
  });
});

describe("surveys answered in this tab", () => {
  it("are remembered by name alone, and forgotten on demand", () => {
    assert.equal(device.answered("small"), false);
    device.noteAnswered("small");
    device.noteAnswered("small");
    assert.equal(device.answered("small"), true);
    assert.equal(sessionStorage.getItem("candor.answered"), '["small"]');
    device.forgetAnswered("small");
    assert.equal(sessionStorage.length, 0);
  });
});

describe("the ledger", () => {
  it("is off until it is started, and deleted when it ends", () => {
    assert.equal(device.ledger(), null);
    device.enter({ title: "A", epsilon: 2, id: "never" }, new Date(2026, 0, 5, 23, 59));
    device.enter({ title: "B", epsilon: 1 }, new Date(2026, 10, 16));
    assert.deepEqual(device.ledger(), [
      { title: "A", day: "2026-01-05", epsilon: 2 },
      { title: "B", day: "2026-11-16", epsilon: 1 },
    ]);
    device.strike(0);
    assert.deepEqual(device.ledger().map(({ title }) => title), ["B"]);
    device.strike(0);
    assert.deepEqual(device.ledger(), []); // still kept, though empty
    device.endLedger();
    assert.equal(device.ledger(), null);
    assert.equal(localStorage.length, 0);
  });

  it("leaves out invalid entries", () => {
    const entry = { title: "A", day: "2026-01-05", epsilon: 2 };
    const planted = [entry, { ...entry, day: "2020-99-99" }, { ...entry, epsilon: "2" }, null, {}];
    localStorage.setItem("candor.ledger", JSON.stringify(planted));
    assert.deepEqual(device.ledger(), [entry]);
  });
});
