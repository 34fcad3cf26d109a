/*
 * Passes: the respondent's side of RFC 9474, RSABSSA-SHA384-PSS-Randomized.
 *
 * An invitation is exchanged for a pass, and the pass is used with the report. The site signs a
 * blinded message, which fits every pass equally, so it never sees the pass. Not even the site can
 * tell which invitation a pass came from.
 *
 *   const { prepared, blinded, inverse } = await blind(key);     the site gets `blinded`
 *   const signature = await finalize(key, prepared, itsReply, inverse);
 *
 * It ensures, and checks while it runs, that:
 *   - message, salt and blinding come fresh from the browser's secure generator, the blinding
 *     uniformly by rejection;
 *   - a signature is accepted only if it verifies under the key pinned in the design, so a site cannot
 *     use a second key to recognize someone;
 *   - all values are base64url texts, which can be stored and sent as they are.
 * It loads nothing, sends nothing and stores nothing. survey/design/passes.py is the same in Python;
 * the RFC's vectors (tests/vectors/blind_rsa.json) test both.
 */

/**
 * @typedef {import("./protocol.js").PassKey} PassKey
 * @typedef {Uint8Array<ArrayBuffer>} Bytes
 */

const SCHEME = "RSABSSA-SHA384-PSS-Randomized";
const MESSAGE = new TextEncoder().encode("candor/pass/1"); // the same in every pass
const BITS = 2048;
const PREFIX = 32;
const SALT = 48;
const HASH = 48;

/**
 * Make a new message and blind it under the `passes` member of a design.
 * @param {PassKey} key
 */
export async function blind(key) {
  demand(key.scheme === SCHEME && fromText(key.n).length === BITS / 8 && key.e === "AQAB", "key");
  const prepared = joined(randomBytes(PREFIX), MESSAGE);
  return { prepared: toText(prepared), ...(await blindWith(key, prepared, randomBytes(SALT))) };
}

/**
 * The same with a given message, salt and (for test vectors) r.
 * @param {PassKey} key
 * @param {Bytes} prepared
 * @param {Bytes} salt
 * @param {bigint} [r]
 */
export async function blindWith(key, prepared, salt, r) {
  const n = toNumber(fromText(key.n));
  const e = toNumber(fromText(key.e));
  const m = toNumber(await encode(prepared, bitLength(n) - 1, salt));
  demand(inverseOf(m, n) !== null, "message");
  /** @type {bigint | null} */
  let inverse = null;
  while (inverse === null) {
    r ??= randomBelow(n);
    inverse = inverseOf(r, n);
    if (inverse === null) r = undefined;
  }
  const size = fromText(key.n).length;
  const blinded = toBytes((m * power(/** @type {bigint} */ (r), e, n)) % n, size);
  return { blinded: toText(blinded), inverse: toText(toBytes(inverse, size)) };
}

/**
 * Unblind the signature and verify it; throws if the site signed anything else.
 * @param {PassKey} key
 * @param {string} prepared
 * @param {string} reply
 * @param {string | undefined} inverse
 */
export async function finalize(key, prepared, reply, inverse) {
  const n = toNumber(fromText(key.n));
  const size = fromText(key.n).length;
  const z = toNumber(fromText(reply));
  demand(fromText(reply).length === size && z < n, "reply");
  const signature = toBytes((z * toNumber(fromText(inverse))) % n, size);
  demand(await verify(key, fromText(prepared), signature), "signature");
  return toText(signature);
}

/** @param {PassKey} key @param {Bytes} message @param {Bytes} signature */
async function verify({ n, e }, message, signature) {
  const algorithm = { name: "RSA-PSS", hash: "SHA-384" };
  const jwk = { kty: "RSA", n, e };
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: SALT }, key, signature, message);
}

/**
 * The id of the only report that a pass can be used with: a version 4 UUID of its hash.
 * @param {string} prepared
 */
export async function idOf(prepared) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", fromText(prepared)));
  const bytes = digest.slice(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/* --- EMSA-PSS-ENCODE of RFC 8017, 9.1.1, with SHA-384 and MGF1-SHA-384 ------------------------ */

/** @param {Bytes} message @param {number} bits @param {Bytes} salt */
async function encode(message, bits, salt) {
  const length = Math.ceil(bits / 8);
  const inner = await sha384(message);
  const digest = await sha384(joined(new Uint8Array(8), inner, salt));
  const block = joined(new Uint8Array(length - salt.length - HASH - 2), [1], salt);
  const mask = await mgf1(digest, block.length);
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 0xff >> (8 * length - bits);
  return joined(masked, digest, [0xbc]);
}

/** @param {Bytes} seed @param {number} length */
async function mgf1(seed, length) {
  const blocks = [];
  for (let i = 0; i * HASH < length; i++) {
    blocks.push(await sha384(joined(seed, toBytes(BigInt(i), 4))));
  }
  return joined(...blocks).slice(0, length);
}

/** @param {Bytes} bytes */
async function sha384(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", bytes));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/** @param {number} count */
function randomBytes(count) {
  return crypto.getRandomValues(new Uint8Array(count));
}

/**
 * Uniform on 1 … n - 1, by rejection.
 * @param {bigint} n
 */
function randomBelow(n) {
  for (;;) {
    const bytes = randomBytes(Math.ceil(bitLength(n) / 8));
    const found = BigInt.asUintN(bitLength(n), toNumber(bytes));
    if (found > 0n && found < n) return found;
  }
}

/** @param {bigint} base @param {bigint} exponent @param {bigint} n */
function power(base, exponent, n) {
  let result = 1n;
  for (let square = base % n; exponent > 0n; exponent >>= 1n, square = (square * square) % n) {
    if (exponent & 1n) result = (result * square) % n;
  }
  return result;
}

/**
 * The inverse of a modulo n, or null if there is none.
 * @param {bigint} a
 * @param {bigint} n
 */
function inverseOf(a, n) {
  let [one, other, x, y] = [a % n, n, 1n, 0n];
  while (other > 0n) {
    const quotient = one / other;
    [one, other] = [other, one - quotient * other];
    [x, y] = [y, x - quotient * y];
  }
  return one === 1n ? ((x % n) + n) % n : null;
}

/** @param {bigint} n */
function bitLength(n) {
  return n.toString(2).length;
}

/* --- Bytes and texts -------------------------------------------------------------------------- */

/** @param {...Iterable<number>} parts */
function joined(...parts) {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** @param {Bytes} bytes */
function toNumber(bytes) {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return BigInt(`0x${hex || "0"}`);
}

/** @param {bigint} number @param {number} size */
function toBytes(number, size) {
  const hex = number.toString(16).padStart(2 * size, "0");
  return Uint8Array.from({ length: size }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** @param {Iterable<number>} bytes */
export function toText(bytes) {
  const binary = String.fromCharCode(...bytes);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** @param {unknown} text */
export function fromText(text) {
  demand(typeof text === "string" && /^[\w-]*$/.test(text), "text");
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** @type {(holds: unknown, what: string) => asserts holds} */
function demand(holds, what) {
  if (!holds) throw new Error(`a pass: ${what}`);
}
