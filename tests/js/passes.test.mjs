// Passes in the browser: the vectors of RFC 9474, and what a dishonest site gets.

import assert from "node:assert/strict";
import { constants, createPrivateKey, generateKeyPairSync, privateDecrypt } from "node:crypto";
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

const VECTOR = JSON.parse(readFileSync(new URL("../vectors/blind_rsa.json", import.meta.url)));
const bytes = (name) => Uint8Array.from(Buffer.from(VECTOR[name], "hex"));
const text = (name) => toText(bytes(name));
const KEY = { scheme: "RSABSSA-SHA384-PSS-Randomized", n: text("n"), e: text("e") };

/* A survey's key as a design pins it, and how its site signs: the plain RSA operation. */
function site() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { n, e } = publicKey.export({ format: "jwk" });
  const plain = { key: createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })) };
  const sign = (blinded) =>
    toText(privateDecrypt({ ...plain, padding: constants.RSA_NO_PADDING }, fromText(blinded)));
  return { key: { scheme: KEY.scheme, n, e }, sign };
}

it("is one file that stands alone and reaches for nothing", () => {
  const source = readFileSync(new URL("../../static/respond/passes.js", import.meta.url), "utf8");
  const code = source.replace(/\/\*[^]*?\*\/|\/\/ .*/g, "");
  for (const word of ["import ", "fetch", "Storage", "document", "window", "Math.random", "Date"]) {
    assert.ok(!code.includes(word), word);
  }
});

describe("the vector of RFC 9474, A.1", () => {
  it("is blinded", async () => {
    const n = BigInt(`0x${VECTOR.n}`);
    let [a, b, x, y] = [BigInt(`0x${VECTOR.inv}`), n, 1n, 0n];
    while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
    const r = ((x % n) + n) % n;
    const found = await blindWith(KEY, bytes("prepared_msg"), bytes("salt"), r);
    assert.deepEqual(found, { blinded: text("blind_msg"), inverse: text("inv") });
  });

  it("is finalized", async () => {
    const found = await finalize(KEY, text("prepared_msg"), text("blind_sig"), text("inv"));
    assert.equal(found, text("sig"));
  });
});

describe("a pass", () => {
  const here = site();

  it("is signed unseen, and no two are alike", async () => {
    const one = await blind(here.key);
    const two = await blind(here.key);
    for (const name of ["prepared", "blinded", "inverse"]) assert.notEqual(one[name], two[name]);
    const signature = await finalize(here.key, one.prepared, here.sign(one.blinded), one.inverse);
    assert.equal(fromText(signature).length, 256);
    assert.equal(fromText(one.prepared).length, 32 + 13);
  });

  it("is refused when it was signed with a second key, or is no signature of it", async () => {
    const { prepared, blinded, inverse } = await blind(here.key);
    const good = here.sign(blinded);
    const other = await blind(here.key);
    const wrong = fromText(good);
    wrong[100] ^= 1;
    for (const reply of [
      site().sign(blinded),
      here.sign(other.blinded),
      toText(wrong),
      blinded,
      "",
      "AA",
      toText(new Uint8Array(256).fill(255)),
      "+",
      null,
    ]) {
      await assert.rejects(finalize(here.key, prepared, reply, inverse), `${reply}`);
    }
    await finalize(here.key, prepared, good, inverse);
  });

  it("is not begun under a key that is none", async () => {
    for (const key of [
      { ...here.key, scheme: "RSABSSA-SHA384-PSS-Deterministic" },
      { ...here.key, n: here.key.n.slice(4) },
      { ...here.key, e: "Aw" },
      {},
    ]) {
      await assert.rejects(blind(key));
    }
  });

  it("has the id that its message makes", async () => {
    const id = await idOf(toText(new Uint8Array(45)));
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
