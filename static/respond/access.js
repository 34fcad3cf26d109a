/*
 * The way in: from the code of an invitation to the pass that a report carries, and the proof of
 * work where a survey asks for one.
 *
 * A code comes behind the # of a link, which browsers do not send, with the beginning of the hash
 * of the design that it is for. It is taken off the address at once, and shown to the site once, in
 * a request of its own. What the site signs then is blinded (passes.js), so that it does not know
 * the pass when it comes with the report.
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
 */

/**
 * What a link brought, {code, design}, or null.
 * @type {{ code: string, design: string } | null}
 */
let arrived = null;

/**
 * Take it off the address, and out of the history of this tab. Whether there was one.
 * @param {string | undefined} slug
 * @param {boolean} kiosk
 */
export function takeFragment(slug, kiosk) {
  const [code, design = ""] = location.hash.slice(1).split(".");
  if (location.hash) history.replaceState(history.state, "", location.pathname + location.search);
  if (!slug || !readCode(code)) return false;
  arrived = { code: readCode(code), design };
  if (!kiosk) device.noteCode({ slug, ...arrived });
  return true;
}

/**
 * With what every link of a survey ends: the first 162 bits of the hash of its design.
 * @param {Design} design
 */
export function ending(design) {
  const pairs = /** @type {string[]} */ (design.hash.slice("sha256:".length).match(/../g));
  const bytes = pairs.map((hex) => parseInt(hex, 16));
  return toText(bytes).slice(0, 27);
}

/**
 * A code as the site has it, however it was typed; "" if it is none.
 * @param {string} text
 */
export function readCode(text) {
  /** @type {Record<string, string>} */
  const look = { O: "0", I: "1", L: "1" };
  const code = text.toUpperCase().replace(/[-\s]/g, "").replace(/[OIL]/g, (one) => look[one]);
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(code) ? code : "";
}

/**
 * With what somebody comes to a survey: {code, pass}, where either may be null, or {problem}. On a
 * device of many people a link is for the first of them.
 *
 * Whoever has a code or a pass is asked under the design that it is for, or not at all: also if the
 * site says all of a sudden that nobody needs one.
 *
 * @param {Survey} survey
 * @param {boolean} kiosk
 * @returns {Promise<Entry & { problem?: undefined } | { problem: "otherDesign" | "generator" }>}
 */
export async function entrance({ slug, design }, kiosk) {
  const invitation = arrived ?? (kiosk ? null : device.code(slug));
  arrived = null;
  if (!ending(design).startsWith(invitation?.design ?? "")) return { problem: "otherDesign" };
  if (!design.passes) {
    const invited = invitation || device.passes(slug, kiosk).length;
    return invited ? { problem: "otherDesign" } : {};
  }
  if (!globalThis.crypto?.subtle) return { problem: "generator" };
  const code = invitation?.code ?? null;
  const pass = await held(slug, code, kiosk);
  // Another design means another key, by which a site could know this person again.
  if (pass && pass.design !== design.hash) return { problem: "otherDesign" };
  return { code: code ?? pass?.code ?? null, pass };
}

/**
 * The pass, or half of one, that an earlier try has left for this code, or for whoever is here.
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
 * Exchange a code for a pass: {pass} or {problem}. What the site is asked is kept before it is
 * asked: if its answer is lost, the same question gets the same answer, and another none.
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

const SLICE = 512; // tries between two moments for the page

/**
 * A nonce for which the SHA-256 of design, id and nonce begins with so many zero bits; null as soon
 * as nobody wants it. It depends on nothing that is answered.
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
