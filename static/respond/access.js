/*
 * Access to a survey: from the code of an invitation to the pass for a report, and the proof of work
 * if the survey requires one.
 *
 * A link has the code after its #, which browsers do not send, with the beginning of the design's
 * hash. The page removes it from the address at once and sends it once, in a separate request. The
 * site signs a blinded message (passes.js), so it does not recognize the pass in the report.
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
 * The code and the beginning of the hash in a link, or null.
 * @type {{ code: string, design: string } | null}
 */
let arrived = null;

/**
 * Remove the code from the address and this tab's history. Returns whether there was one.
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
 * The ending of every link to a survey: the first 162 bits of its design's hash.
 * @param {Design} design
 */
export function ending(design) {
  const pairs = /** @type {string[]} */ (design.hash.slice("sha256:".length).match(/../g));
  const bytes = pairs.map((hex) => parseInt(hex, 16));
  return toText(bytes).slice(0, 27);
}

/**
 * Normalize a typed code; "" if it is not a code.
 * @param {string} text
 */
export function readCode(text) {
  /** @type {Record<string, string>} */
  const look = { O: "0", I: "1", L: "1" };
  const code = text.toUpperCase().replace(/[-\s]/g, "").replace(/[OIL]/g, (one) => look[one]);
  return /^[0-9A-HJKMNP-TV-Z]{16}$/.test(code) ? code : "";
}

/**
 * What a person has to enter a survey: {code, pass}, where either may be null, or {problem}. On a
 * shared device, a link is for the first person.
 *
 * A person with a code or a pass answers under its design or not at all, even if the site suddenly
 * says that nobody needs one.
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
  // Another design has another key, which a site could use to recognize this person.
  if (pass && pass.design !== design.hash) return { problem: "otherDesign" };
  return { code: code ?? pass?.code ?? null, pass };
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
