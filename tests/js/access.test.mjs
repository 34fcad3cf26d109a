// Access: what a link leaves behind, who may enter, and the exchange of a code for a pass.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { openPage, reply, settled, until } from "../support/dom.mjs";
import { SECOND_SITE, SITE } from "../support/signing_site.mjs";

/* Codes that survey/access/codes.py can read. */
const CODES = JSON.parse(readFileSync(new URL("../vectors/codes.json", import.meta.url), "utf8"));
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE = "0123456789ABCDE4";
const HASH = `sha256:${createHash("sha256").update("a design").digest("hex")}`;
const END = createHash("sha256").update("a design").digest("base64url").slice(0, 27);
const INVITED = { slug: "small", design: { hash: HASH, passes: SITE.key } };
const OPEN = { slug: "small", design: { hash: HASH } };

/** @param {any} t @param {any} [given] */
async function start(t, { hash = "", search = "", serve, stored } = {}) {
  const url = `http://candor.test/s/small/${search}${hash}`;
  const page = openPage(t, { url, serve, stored });
  return { ...page, ...(await page.load("respond/access.js")) };
}

describe("the code of a link", () => {
  it("is removed from the address and the history, and kept for this tab", async (t) => {
    const page = await start(t, { hash: `#${CODE}.${END}`, search: "?lang=de" });
    page.window.history.replaceState({ depth: 0 }, "");
    const entries = page.window.history.length;
    assert.equal(page.takeFragment("small", false), true);
    assert.equal(page.window.location.href, "http://candor.test/s/small/?lang=de");
    assert.deepEqual([page.window.history.length, page.window.history.state], [entries, { depth: 0 }]);
    const kept = [{ slug: "small", code: CODE, design: END }];
    assert.deepEqual(JSON.parse(sessionStorage.getItem("candor.code") ?? ""), kept);
    assert.deepEqual(await page.entrance(INVITED, false), { code: CODE, pass: null });
    assert.deepEqual(await page.entrance(INVITED, false), { code: CODE, pass: null }); // a reload
  });

  it("works only for the first person at a kiosk, and is not kept there", async (t) => {
    const page = await start(t, { hash: `#${CODE}.${END}` });
    assert.equal(page.takeFragment("small", true), true);
    assert.equal(sessionStorage.length, 0);
    assert.equal((await page.entrance(INVITED, true)).code, CODE);
    assert.equal((await page.entrance(INVITED, true)).code, null);
  });

  it("is taken from the address even if the link is not complete, and the person is told", async (t) => {
    const broken = [CODE, `${CODE}.`, `${CODE}.A`, `${CODE}.${END.slice(1)}`, `${CODE}.${END}A`,
      `${CODE}.${END.replace(/^./, "+")}`, `${CODE.slice(1)}.${END}`, `1${CODE.slice(1)}.${END}`,
      `${CODE}.${END}.${END}`, "not-a-code"];
    for (const typed of broken) {
      const page = await start(t, { hash: `#${typed}` });
      assert.equal(page.takeFragment("small", false), true);
      assert.equal(page.window.location.hash, "");
      assert.equal(sessionStorage.length, 0);
      assert.deepEqual(await page.entrance(INVITED, false), { wrong: "brokenLink", typed });
    }
  });
});

describe("a typed invitation", () => {
  it("is read as people type it", async (t) => {
    const { readInvitation } = await start(t);
    const read = { code: CODE, design: "" };
    for (const typed of ["0123-4567 89ab-cde4", " OL23-4567-89AB-CDE4\n", `${CODE}.`]) {
      assert.deepEqual(readInvitation(typed), read, typed);
    }
    assert.deepEqual(readInvitation("o1il-4567-89ab-cdg0"), { code: "0111456789ABCDG0", design: "" });
    for (const none of ["", CODE.slice(1), `${CODE}0`, "U123456789ABCDE4", "０123456789ABCDE4"]) {
      assert.deepEqual(readInvitation(none), { wrong: "malformed" }, none);
    }
  });

  it("may be a pasted link, which must be complete", async (t) => {
    const { readInvitation } = await start(t);
    const link = `https://candor.test/s/small/#${CODE}.${END}`;
    const pasted = [link, `<${link}>`, ` ${link}.\n`, link.replace("/s/", "/s/\n"), `${CODE}.${END}`];
    for (const text of pasted) assert.deepEqual(readInvitation(text), { code: CODE, design: END }, text);
    const broken = ["https://candor.test/s/small/", link.slice(0, -1), `${link}A`, link.replace(`.${END}`, ""),
      link.replace("E4.", "E5."), `${CODE}#${END}`];
    for (const text of broken) assert.deepEqual(readInvitation(text), { wrong: "brokenLink" }, text);
  });

  it("has a check character that detects every wrong one, and every two that changed places", async (t) => {
    const { readInvitation } = await start(t);
    for (const code of CODES) {
      assert.deepEqual(readInvitation(code), { code, design: "" });
      for (let i = 0; i < code.length; i++) {
        for (const wrong of ALPHABET.replace(code[i], "")) {
          const typed = code.slice(0, i) + wrong + code.slice(i + 1);
          assert.deepEqual(readInvitation(typed), { wrong: "mistyped" }, typed);
        }
        const [one, two] = code.slice(i, i + 2);
        if (!two || one === two) continue;
        const typed = code.slice(0, i) + two + one + code.slice(i + 2);
        assert.deepEqual(readInvitation(typed), { wrong: "mistyped" }, typed);
      }
    }
  });
});

describe("the entrance", () => {
  it("is closed to a code, or a pass, of another design", async (t) => {
    const page = await start(t, { hash: `#${CODE}.${END.replace(/^./, (one) => (one === "A" ? "B" : "A"))}` });
    page.takeFragment("small", false);
    assert.deepEqual(await page.entrance(INVITED, false), { problem: "otherDesign" });
    const pass = { slug: "small", design: "sha256:other", of: "x", prepared: "p", signature: "s" };
    const stored = { localStorage: { "candor.passes": JSON.stringify([pass]) } };
    const second = await start(t, { stored });
    assert.deepEqual(await second.entrance(INVITED, false), { problem: "otherDesign" });
  });

  it("lets no invited person in without their pass, even if the site asks for none", async (t) => {
    const page = await start(t, { hash: `#${CODE}.${END}` });
    page.takeFragment("small", false);
    assert.deepEqual(await page.entrance(OPEN, false), { problem: "otherDesign" });
    const broken = await start(t, { hash: `#${CODE}.A` });
    broken.takeFragment("small", false);
    assert.deepEqual(await broken.entrance(OPEN, false), { problem: "otherDesign" });
    const other = await start(t, { hash: "#not-a-code" });
    other.takeFragment("small", false);
    assert.deepEqual(await other.entrance(OPEN, false), {}); // and anybody else is let in
    assert.deepEqual(await (await start(t)).entrance(OPEN, false), {});
  });
});

describe("the exchange", () => {
  const wallet = () => JSON.parse(localStorage.getItem("candor.passes") ?? "");

  it("shows the site the code and a blinded message, and keeps only the pass", async (t) => {
    const serve = ({ body }) => reply(200, { signature: SITE.sign(JSON.parse(body).blinded) });
    const { exchange, sent } = await start(t, { serve });
    const { pass } = await exchange(INVITED, CODE, false);
    assert.equal(sent[0].path, "/api/v1/surveys/small/passes/");
    assert.deepEqual(Object.keys(JSON.parse(sent[0].body)), ["code", "blinded"]);
    assert.equal(sent[0].credentials, "omit");
    assert.deepEqual(Object.keys(pass), ["slug", "design", "of", "prepared", "signature", "id"]);
    assert.deepEqual(wallet(), [pass]);
    assert.deepEqual(await exchange(INVITED, CODE, false), { pass }); // and is not asked again
    assert.equal(sent.length, 1);
  });

  it("repeats the same request if the answer was lost, even after a reload", async (t) => {
    const { exchange, sent, window } = await start(t);
    assert.deepEqual(await exchange(INVITED, CODE, false), { problem: "noPass" });
    assert.deepEqual(await exchange(INVITED, CODE, false), { problem: "noPass" });
    const stored = { localStorage: { "candor.passes": window.localStorage.getItem("candor.passes") } };
    const serve = ({ body }) => reply(200, { signature: SITE.sign(JSON.parse(body).blinded) });
    const second = await start(t, { serve, stored });
    assert.ok((await second.exchange(INVITED, CODE, false)).pass.signature);
    const bodies = [...sent, ...second.sent].map(({ body }) => body);
    assert.deepEqual([bodies.length, new Set(bodies).size], [3, 1]);
  });

  it("stores the request before sending it", async (t) => {
    /** @type {any} */
    let kept = null;
    const { exchange } = await start(t, { serve: () => ((kept = wallet()), null) });
    await exchange(INVITED, CODE, false);
    assert.equal(kept[0].code, CODE);
    assert.ok(kept[0].blinded && kept[0].inverse);
  });

  it("refuses a signature by a second key", async (t) => {
    const serve = ({ body }) => reply(200, { signature: SECOND_SITE.sign(JSON.parse(body).blinded) });
    const { exchange } = await start(t, { serve });
    assert.deepEqual(await exchange(INVITED, CODE, false), { problem: "badPass" });
    assert.ok(!wallet()[0].signature);
  });

  it("deletes a code that is used or unknown", async (t) => {
    for (const [status, problem] of [[409, "usedCode"], [403, "unknown"]]) {
      const { exchange } = await start(t, { serve: () => reply(status, {}) });
      assert.deepEqual(await exchange(INVITED, CODE, false), { problem });
      assert.equal(localStorage.length, 0);
    }
  });

  it("stores nothing at a kiosk", async (t) => {
    const serve = ({ body }) => reply(200, { signature: SITE.sign(JSON.parse(body).blinded) });
    const { exchange } = await start(t, { serve });
    assert.ok((await exchange(INVITED, CODE, true)).pass.signature);
    assert.deepEqual([localStorage.length, sessionStorage.length], [0, 0]);
  });
});

describe("the proof of work", () => {
  it("is a nonce whose hash begins with the required zero bits", async (t) => {
    const { solve, clock } = await start(t);
    const id = "6f1a1f6e-3c1e-4c53-9d0e-0c2b5a7f4e11"; // found by the 1,711th try, in the fourth slice
    let nonce;
    solve(HASH, id, 12, () => true).then((found) => (nonce = found));
    await until(async () => (await clock.pass(0), nonce));
    assert.match(nonce, /^[0-9a-f]{8}$/);
    const digest = createHash("sha256").update(HASH + id + nonce).digest();
    assert.equal(digest.readUInt32BE(0) >>> 20, 0);
  });

  it("ends as soon as it is no longer needed", async (t) => {
    const { solve, clock } = await start(t);
    let looked = 0;
    const done = solve(HASH, "id", 32, () => ++looked < 3);
    let ended = false;
    done.then(() => (ended = true));
    await until(async () => (await clock.pass(0), ended));
    await settled();
    assert.deepEqual([await done, looked], [null, 3]);
  });
});
