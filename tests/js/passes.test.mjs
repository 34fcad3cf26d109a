// Passes in the browser: the vectors of RFC 9474, and what a dishonest site gets.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import {
  blind,
  blindWith,
  finalize,
  fromText,
  idOf,
  toText,
} from "../../static/respond/passes.js";
import { SECOND_SITE, SITE, inverseOf } from "../support/signing_site.mjs";

const VECTOR = JSON.parse(readFileSync(new URL("../vectors/blind_rsa.json", import.meta.url), "utf8"));
const bytes = (name) => Uint8Array.from(Buffer.from(VECTOR[name], "hex"));
const text = (name) => toText(bytes(name));
const KEY = { scheme: "RSABSSA-SHA384-PSS-Randomized", n: text("n"), e: text("e") };

it("the module is one file without imports or requests", () => {
  const source = readFileSync(new URL("../../static/respond/passes.js", import.meta.url), "utf8");
  const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, "");
  for (const word of ["import ", "fetch", "Storage", "document", "window", "Math.random", "Date"]) {
    assert.ok(!code.includes(word), word);
  }
});

describe("the vector of RFC 9474, A.1", () => {
  it("is blinded", async () => {
    const r = inverseOf(BigInt(`0x${VECTOR.inv}`), BigInt(`0x${VECTOR.n}`));
    const found = await blindWith(KEY, bytes("prepared_msg"), bytes("salt"), r);
    assert.deepEqual(found, { blinded: text("blind_msg"), inverse: text("inv") });
  });

  it("is finalized", async () => {
    const found = await finalize(KEY, text("prepared_msg"), text("blind_sig"), text("inv"));
    assert.equal(found, text("sig"));
  });
});

describe("a pass", () => {
  it("is signed unseen, and no two are alike", async () => {
    const one = await blind(SITE.key);
    const two = await blind(SITE.key);
    for (const name of ["prepared", "blinded", "inverse"]) assert.notEqual(one[name], two[name]);
    const signature = await finalize(SITE.key, one.prepared, SITE.sign(one.blinded), one.inverse);
    assert.equal(fromText(signature).length, 256);
    assert.equal(fromText(one.prepared).length, 32 + 13);
  });

  it("is refused if it was signed with a second key or the signature is wrong", async () => {
    const { prepared, blinded, inverse } = await blind(SITE.key);
    const good = SITE.sign(blinded);
    const other = await blind(SITE.key);
    const wrong = fromText(good);
    wrong[100] ^= 1;
    for (const [reply, problem] of [
      [SECOND_SITE.sign(blinded), "signature"],
      [SITE.sign(other.blinded), "signature"],
      [toText(wrong), "signature"],
      [blinded, "signature"],
      ["", "reply"],
      ["AA", "reply"],
      [toText(new Uint8Array(256).fill(255)), "reply"],
      ["+", "text"],
      [null, "text"],
    ]) {
      const message = `a pass: ${problem}`;
      const finalized = finalize(SITE.key, prepared, /** @type {string} */ (reply), inverse);
      await assert.rejects(finalized, { message }, `${reply}`);
    }
    await finalize(SITE.key, prepared, good, inverse);
  });

  it("is not started with a bad key", async () => {
    for (const key of [
      { ...SITE.key, scheme: "RSABSSA-SHA384-PSS-Deterministic" },
      { ...SITE.key, n: SITE.key.n.slice(4) },
      { ...SITE.key, e: "Aw" },
      {},
    ]) {
      await assert.rejects(blind(/** @type {typeof KEY} */ (key)));
    }
  });

  it("has the id that follows from its message", async () => {
    const id = await idOf(toText(new Uint8Array(45)));
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
