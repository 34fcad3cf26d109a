/* A site that signs blinded messages, as survey/design/passes.py does: the plain RSA operation. */

import assert from "node:assert/strict";

/* The inverse of a modulo n. */
/** @param {bigint} a @param {bigint} n */
export function inverseOf(a, n) {
  let [b, x, y] = [n, 1n, 0n];
  while (b) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % n) + n) % n;
}

/*
 * A survey's key as a design pins it, and how its site signs. The factors are the primes this far
 * below 2^1024, so every modulus is 2^2048 up to a part in 2^1000: what was blinded under one key
 * is a number below the others too, and so is what they make of it.
 */
/** @param {bigint[]} below */
function site(...below) {
  const [p, q] = below.map((distance) => 2n ** 1024n - distance);
  const n = p * q;
  const d = inverseOf(65537n, (p - 1n) * (q - 1n));
  const sign = (blinded) => {
    let [result, square] = [1n, BigInt(`0x${Buffer.from(blinded, "base64url").toString("hex")}`)];
    assert.ok(square < n);
    for (let left = d; left; left >>= 1n, square = (square * square) % n) {
      if (left & 1n) result = (result * square) % n;
    }
    return base64url(result);
  };
  return { key: { scheme: "RSABSSA-SHA384-PSS-Randomized", n: base64url(n), e: "AQAB" }, sign };
}

const base64url = (number) =>
  Buffer.from(number.toString(16).padStart(512, "0"), "hex").toString("base64url");

export const SITE = site(105n, 179n);
export const SECOND_SITE = site(1397n, 3177n);
