/*
 * Access to a survey: from the code of an invitation to the pass for a report, and the proof of work
 * if the survey requires one.
 *
 * A link has the code after its #, which browsers do not send, with the beginning of the design's
 * hash: the fingerprint. The page removes it from the address at once and sends the code once, in a
 * separate request. The site signs a blinded message (passes.js), so it does not recognize the pass in
 * the report.
 */

import * as device from "./device.js";
import { blind, finalize, idOf, toText } from "./passes.js";
import { fetchPass } from "./protocol.js";

/**
 * @typedef {import("./protocol.js").Design} Design
 * @typedef {import("./protocol.js").Survey} Survey
 * @typedef {import("./device.js").Pass} Pass
 * @typedef {import("./protocol.js").PassKey} PassKey
 * @typedef {import("./protocol.js").PassProblem} PassProblem
 * @typedef {{ code?: string | null, pass?: Pass | null }} Entry
 *
 * Why there is no code yet, and what was typed or in the link.
 * @typedef {"malformed" | "mistyped" | "brokenLink"} Unreadable
 * @typedef {{ wrong?: Unreadable | "unknown" | "usedCode", typed?: string }} Refused
 *
 * An invitation that can be read; without a fingerprint in `design` if it was typed.
 * @typedef {{ code: string, design: string }} Invitation
 */

/**
 * What a link contained, or null.
 * @type {Invitation | { wrong: Unreadable, typed: string, code: string } | null}
 */
let arrived = null;

/**
 * Remove the invitation from the address and this tab's history. Returns whether there was one.
 * @param {string | undefined} slug
 * @param {boolean} kiosk
 */
export function takeFragment(slug, kiosk) {
  const fragment = location.hash;
  if (fragment) history.replaceState(history.state, "", location.pathname + location.search);
  if (!slug || !fragment) return false;
  const found = readInvitation(fragment);
  if ("wrong" in found) {
    const typed = fragment.slice(1);
    arrived = { wrong: found.wrong, typed, code: normalize(typed.split(".")[0]) };
  } else {
    arrived = found;
    if (!kiosk) device.noteCode({ slug, ...found });
  }
  return true;
}

/**
 * The ending of every link to a survey: the first 162 bits of its design's hash.
 * @param {Design} design
 */
export function ending(design) {
  const pairs = /** @type {string[]} */ (design.hash.slice("sha256:".length).match(/../g));
  const bytes = pairs.map((hex) => parseInt(hex, 16));
  return toText(bytes).slice(0, 27);
}

/**
 * Read a typed code or a pasted link. A link is only read as a whole, because a shorter fingerprint
 * proves less.
 * @param {string} text
 * @returns {Invitation | { wrong: Unreadable }}
 */
export function readInvitation(text) {
  const given = text.replace(/[\s<>]/g, "").replace(/[.,;]+$/, "");
  if (!/[#./]/.test(given)) {
    const code = normalize(given);
    if (!code) return { wrong: "malformed" };
    return remainder(code) ? { wrong: "mistyped" } : { code, design: "" };
  }
  const [, first = "", design = ""] = given.match(/(?:^|#)([^#.]*)\.([\w-]{27})$/) ?? [];
  const code = normalize(first);
  return code && !remainder(code) ? { code, design } : { wrong: "brokenLink" };
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * A code as it is stored; "" if it does not have 16 letters and digits.
 * @param {string} text
 */
function normalize(text) {
  /** @type {Record<string, string>} */
  const look = { O: "0", I: "1", L: "1" };
  const code = text.toUpperCase().replace(/[-\s]/g, "").replace(/[OIL]/g, (one) => look[one]);
  return code.length === 16 && [...code].every((one) => ALPHABET.includes(one)) ? code : "";
}

/**
 * 0 for a code and another number if there is a typing error, as in survey/access/codes.py: every
 * wrong character, and every two that changed places.
 * @param {string} code
 */
function remainder(code) {
  let value = 0;
  for (const one of code) {
    value <<= 1;
    if (value > 31) value ^= 0b100101; // x⁵ + x² + 1
    value ^= ALPHABET.indexOf(one);
  }
  return value;
}

/**
 * What a person has to enter a survey: {code, pass}, where either may be null, {wrong, typed} for a
 * link that cannot be read, or {problem}. On a shared device, a link is for the first person.
 *
 * A person with a code or a pass answers under its design or not at all, even if the site suddenly
 * says that nobody needs one.
 *
 * @param {Survey} survey
 * @param {boolean} kiosk
 * @returns {Promise<Entry & Refused & { problem?: undefined } | { problem: "otherDesign" | "generator" }>}
 */
export async function entrance({ slug, design }, kiosk) {
  const invitation = arrived ?? (kiosk ? null : device.code(slug));
  arrived = null;
  if (!design.passes) {
    const invited = invitation?.code || device.passes(slug, kiosk).length;
    return invited ? { problem: "otherDesign" } : {};
  }
  if (!globalThis.crypto?.subtle) return { problem: "generator" };
  if (invitation && "wrong" in invitation) {
    return { wrong: invitation.wrong, typed: invitation.typed };
  }
  if (!isOf(design, invitation?.design ?? "")) return { problem: "otherDesign" };
  const code = invitation?.code ?? null;
  const pass = await held(slug, code, kiosk);
  // Another design has another key, which a site could use to recognize this person.
  if (pass && pass.design !== design.hash) return { problem: "otherDesign" };
  return { code: code ?? pass?.code ?? null, pass };
}

/**
 * Whether a link with this fingerprint is for this design. A typed code has none.
 * @param {Design} design
 * @param {string} fingerprint
 */
export function isOf(design, fingerprint) {
  return fingerprint === "" || fingerprint === ending(design);
}

/**
 * The pass, perhaps unsigned, that an earlier attempt left for this code or this device.
 * @param {string} slug
 * @param {string | null} code
 * @param {boolean} kiosk
 */
async function held(slug, code, kiosk) {
  const mine = device.passes(slug, kiosk);
  if (!code) return (!kiosk && mine.at(-1)) || null;
  const of = await nameOf(code);
  return mine.find((one) => one.of === of) ?? null;
}

/**
 * Exchange a code for a pass: {pass} or {problem}. The request is stored before it is sent: if the
 * reply is lost, the same request gets the same reply, and any other gets none.
 *
 * @param {Survey} survey
 * @param {string} code
 * @param {boolean} kiosk
 * @returns {Promise<{ pass: Pass, problem?: undefined } | { pass?: undefined, problem: PassProblem | "badPass" }>}
 */
export async function exchange({ slug, design }, code, kiosk) {
  const key = /** @type {PassKey} */ (design.passes);
  let pass = await held(slug, code, kiosk);
  if (pass?.signature) return { pass };
  try {
    const of = await nameOf(code);
    pass ??= { slug, design: design.hash, code, of, ...(await blind(key)) };
  } catch {
    return { problem: "badPass" };
  }
  device.keepPass(pass, kiosk);
  const { signature: reply, problem } = await fetchPass(slug, code, pass.blinded);
  if (problem === "unknown" || problem === "usedCode") device.dropPass(pass.prepared);
  if (problem) return { problem };
  try {
    const { of, prepared, inverse } = pass;
    const signature = await finalize(key, prepared, reply, inverse);
    const id = await idOf(prepared);
    const whole = { slug, design: design.hash, of, prepared, signature, id };
    device.keepPass(whole, kiosk);
    return { pass: whole };
  } catch {
    return { problem: "badPass" };
  }
}

/** @param {string} code */
async function nameOf(code) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code));
  return toText(new Uint8Array(digest));
}

/* --- Proof of work ---------------------------------------------------------------------------- */

const SLICE = 512; // attempts before the page gets a turn

/**
 * Find a nonce for which the SHA-256 of design, id and nonce begins with this many zero bits; null
 * if it is no longer wanted. It does not depend on the answers.
 *
 * @param {string} hash
 * @param {string} id
 * @param {number} bits
 * @param {() => boolean} wanted
 */
export async function solve(hash, id, bits, wanted) {
  const encoder = new TextEncoder();
  /** @param {number} number */
  const nonce = (number) => number.toString(16).padStart(8, "0");
  /** @param {number} number */
  const attempt = async (number) => {
    const bytes = encoder.encode(hash + id + nonce(number));
    return new DataView(await crypto.subtle.digest("SHA-256", bytes)).getUint32(0);
  };
  for (let first = 0; wanted(); first += SLICE) {
    const tries = Array.from({ length: SLICE }, (_, i) => attempt(first + i));
    const found = (await Promise.all(tries)).findIndex((word) => word >>> (32 - bits) === 0);
    if (found >= 0) return nonce(first + found);
    await new Promise((resume) => setTimeout(resume));
  }
  return null;
}
