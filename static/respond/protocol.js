/*
 * Protocol 1, the browser's side: fetch the survey, build the body of the report, deliver it.
 *
 * It gets what the randomizer returned, never an answer. Requests send no cookie, follow no redirect
 * and use no cache. Every outcome is a keyword; the catalogues have the texts.
 */

import { sizeOf } from "./cells.js";
import * as device from "./device.js";

/**
 * The objects in docs/protocol.md. A Survey is the whole definition.
 *
 * @typedef {{ key: string, text: string }} Option
 * @typedef {{ key: string, kind: string, text: string, options: Option[], unit?: string, shuffled?: true }} QuestionParts
 * @typedef {Omit<import("./randomizer.js").Question, "options" | "kind" | "key"> & QuestionParts} Question
 * @typedef {{ key: string, epsilon: number, keep: number, background?: true, questions: Question[] }} Block
 * @typedef {{ text?: string, options?: string[], unit?: string }} QuestionTexts
 * @typedef {"asked_by" | "purpose" | "contact"} Disclosure
 * @typedef {{ [name in Disclosure]?: string }} Disclosures
 * @typedef {{ scheme: string, n: string, e: string }} PassKey
 * @typedef {object} DesignTexts
 * @property {Disclosures} [disclosures]
 * @property {Record<string, QuestionTexts>} [questions]
 * @typedef {object} DesignParts
 * @property {string} hash
 * @property {Block[]} blocks
 * @property {Disclosures & { retention_days?: number }} [disclosures]
 * @property {Record<string, DesignTexts>} [translations]
 * @property {PassKey} [passes]
 * @property {number} [work]
 * @property {true} [shuffled]
 * @property {true} [fillers]
 * @typedef {Omit<import("./randomizer.js").Design, "blocks"> & DesignParts} Design
 * @typedef {import("./randomizer.js").Value} Value
 * @typedef {{ [block: string]: Value[] }} Blocks  randomized
 * @typedef {object} Survey
 * @property {string} slug
 * @property {"open" | "closed" | "test"} state
 * @property {number} crowd  how many responses there must be before there are results
 * @property {boolean} results_public
 * @property {string} language
 * @property {string} title
 * @property {string} introduction
 * @property {Record<string, { title?: string, introduction?: string }>} translations
 * @property {Design} design
 * @typedef {object} ReportedDesign  what a report says about the design
 * @property {string} hash
 * @property {number} ask
 * @property {{ key: string, background?: true, questions: import("./randomizer.js").Question[] }[]} blocks
 * @typedef {import("./device.js").Report} Report
 * @typedef {Uint8Array<ArrayBuffer>} Bytes
 * @typedef {{ getRandomValues: (bytes: Bytes) => Bytes, randomUUID?: () => string }} Generator
 * @typedef {{ pass: { message: string, signature?: string } } | { work: string }} Admission
 * @typedef {"offline" | "missing" | "outdated" | "closed"} Problem
 * @typedef {"unknown" | "usedCode" | "closed" | "noPass"} PassProblem
 * @typedef {"closedMeanwhile" | "refused"} Refusal
 * @typedef {"busy" | "trouble" | "offline"} Delay
 * @typedef {{ stored?: true, problem?: Refusal, again?: Delay, wait?: number }} Sent
 */

/* --- The body: built once, the same number of bytes whatever was answered --------------------- */

/**
 * A version 4 UUID. randomUUID exists only in secure contexts; getRandomValues everywhere.
 * @param {Generator} [generator]
 */
export function newId(generator = crypto) {
  if (generator.randomUUID) return generator.randomUUID();
  const bytes = generator.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * The body for these randomized blocks, padded with spaces (RFC 8259, 2). `more` is {pass} or {work},
 * which has the same length for everyone.
 *
 * @param {ReportedDesign} design
 * @param {string} id
 * @param {Blocks} blocks
 * @param {Admission | null} [more]
 */
export function reportBody(design, id, blocks, more) {
  return serialize(design, id, blocks, more).padEnd(longest(design, more));
}

/**
 * The same length for everyone: that of the longest body that this design allows, or somewhat more
 * if a question may not be asked.
 *
 * @param {ReportedDesign} design
 * @param {Admission | null} [more]
 */
export function longest(design, more) {
  /** @type {(block: ReportedDesign["blocks"][number]) => [string, Value[]]} */
  const last = ({ key, questions }) => [key, questions.map(longestValue)];
  const others = design.blocks
    .filter(({ background }) => !background)
    .map(last)
    .sort((one, other) => JSON.stringify(other).length - JSON.stringify(one).length)
    .slice(0, design.ask);
  const everybody = design.blocks.filter(({ background }) => background).map(last);
  const id = "00000000-0000-4000-8000-000000000000";
  return serialize(design, id, Object.fromEntries([...others, ...everybody]), more).length;
}

/**
 * The value with the most characters. Not asked, and nothing picked, are null.
 * @param {import("./randomizer.js").Question} question
 * @returns {Value}
 */
function longestValue(question) {
  const last = sizeOf(question) - 1;
  const longer = String(last).length > String(null).length;
  return (question.only_if || question.picks) && !longer ? null : last;
}

/**
 * @param {ReportedDesign} design
 * @param {string} id
 * @param {Blocks} blocks
 * @param {Admission | null} [more]
 */
function serialize(design, id, blocks, more) {
  return JSON.stringify({ id, design: design.hash, blocks, ...more });
}

/* --- The three requests ----------------------------------------------------------------------- */

const REQUEST_TIMEOUT = 20_000; // milliseconds

/**
 * Fetch the survey: {survey} or {problem}.
 * @returns {Promise<{ survey: Survey, problem?: undefined } | { survey?: undefined, problem: Problem }>}
 */
export async function fetchSurvey() {
  // Exactly the request that the shell began; with any other option the browser repeats it.
  const answer = await request("definition/", { credentials: "same-origin" });
  if (answer.status === 404) return { problem: "missing" };
  if (answer.status !== 200 || !answer.json) return { problem: "offline" };
  if (answer.json.protocol !== 1) return { problem: "outdated" };
  if (!["open", "test"].includes(answer.json.state)) return { problem: "closed" };
  return (await isGenuine(answer.json.design)) ? { survey: answer.json } : { problem: "outdated" };
}

/**
 * Whether a design matches its hash: SHA-256 of its canonical JSON (RFC 8785).
 * @param {Design} design
 */
async function isGenuine(design) {
  if (!globalThis.crypto?.subtle) return true; // without HTTPS, a check proves nothing
  const { hash, ...rest } = design;
  const bytes = new TextEncoder().encode(canonicalJson(rest));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hash === `sha256:${hex}`;
}

/**
 * Canonical JSON (RFC 8785), written from sorted pairs, because an object always puts the key 2 before
 * 10. sort() compares UTF-16 code units, as the RFC requires.
 *
 * @param {any} value
 * @returns {string}
 */
export function canonicalJson(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${pairs.join(",")}}`;
}

/**
 * Send a report: {stored: true}, {again, wait} to send the same bytes later (`again` says why), or
 * {problem} if that would not help. Only a reply with this report's id means that it is stored: a
 * network's login page may answer 200 to anything.
 *
 * @param {Report} report
 * @returns {Promise<Sent>}
 */
async function sendReport({ slug, id, body }) {
  const keepalive = true; // continues if the page is closed right after the tap
  const answer = await post(`/api/v1/surveys/${slug}/reports/`, { body, keepalive });
  if ((answer.status === 200 || answer.status === 201) && answer.json?.id === id) {
    return { stored: true };
  }
  const { status, wait } = answer;
  if (status === 429 || status === 503) return { again: "busy", wait };
  if (status >= 400 && status < 500) return { problem: [404, 410].includes(status) ? "closedMeanwhile" : "refused" };
  return { again: status || navigator.onLine ? "trouble" : "offline", wait };
}

/**
 * Request the site's signature of a blinded message, for a code: {signature} or {problem}. Without a
 * reply, the same request can be sent again.
 *
 * @param {string} slug
 * @param {string} code
 * @param {string | undefined} blinded
 * @returns {Promise<{ signature: string, problem?: undefined } | { signature?: undefined, problem: PassProblem }>}
 */
export async function fetchPass(slug, code, blinded) {
  const body = JSON.stringify({ code, blinded });
  const { status, json } = await post(`/api/v1/surveys/${slug}/passes/`, { body });
  if (status === 200 && typeof json?.signature === "string") return { signature: json.signature };
  /** @type {Record<number, PassProblem>} */
  const problems = { 400: "unknown", 403: "unknown", 409: "usedCode", 410: "closed" };
  return { problem: problems[status] ?? "noPass" };
}

/**
 * Fetch without cookies, cache or redirects.
 * @param {string} path
 * @param {RequestInit} options
 */
function post(path, options) {
  return request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    ...options,
  });
}

/**
 * Returns {status, json, wait}; status 0 without a reply. Never throws.
 * @param {string} path
 * @param {RequestInit} options
 */
async function request(path, options) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), REQUEST_TIMEOUT);
  try {
    const response = await fetch(path, {
      ...options,
      referrerPolicy: "no-referrer",
      signal: abort.signal,
    });
    const json = await response.json().catch(() => null);
    return { status: response.status, json, wait: seconds(response.headers.get("Retry-After")) };
  } catch {
    return { status: 0, json: null, wait: 0 };
  } finally {
    clearTimeout(timer);
  }
}

/** @param {string | null} header */
function seconds(header) {
  return /^\d{1,4}$/.test(header ?? "") ? Number(header) : 0;
}

/* --- Delivering reports: the same bytes, until the site accepts or refuses them ------------------ */

/**
 * What to do at each turn; `elsewhere`: another tab has sent the report, or someone deleted it there.
 * @typedef {object} Turns
 * @property {() => void} elsewhere
 * @property {() => void} sending
 * @property {(problem: Refusal) => void} refused
 * @property {(stored?: boolean) => void} done
 * @property {(why: Delay) => void} waiting
 */

const FIRST_PAUSE = 5_000; // milliseconds before the first automatic retry; doubled each time
const LONGEST_PAUSE = 60_000;

/**
 * Deliver a report. attempt() tries at once, and quietly if an automatic retry need not change the
 * screen. With `patient` false, the report is left to deliverOthers() after one attempt.
 *
 * @param {Report} report
 * @param {boolean} patient
 * @param {Turns} turns
 */
export function deliver(report, patient, turns) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry;
  /** @type {Delay | undefined} */
  let why;
  let [busy, ended, tries] = [false, false, 0];
  function end() {
    ended = true;
    clearTimeout(retry);
  }
  async function attempt(quiet = false) {
    if (busy || ended) return;
    if (!device.waiting().some(({ id }) => id === report.id)) return turns.elsewhere();
    busy = true;
    clearTimeout(retry);
    if (!quiet) turns.sending();
    const { stored, problem, again, wait } = await sendReport(report);
    if (stored || problem) device.drop(report.id);
    if (ended) return;
    busy = false;
    if (problem) return turns.refused(problem);
    if (stored || !patient) {
      end();
      return turns.done(stored);
    }
    const pause = Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE);
    tries += 1;
    retry = setTimeout(attempt, wait ? wait * 1000 : pause, true);
    if (quiet && why === again) return;
    why = /** @type {Delay} */ (again);
    turns.waiting(why);
  }
  addEventListener("online", () => why && attempt(true));
  return { attempt, end };
}

let busy = false;

/**
 * Send the reports that wait, except those of which `spared` is true.
 * @param {(report: Report) => boolean} spared
 */
export async function deliverOthers(spared) {
  if (busy) return;
  busy = true;
  for (const report of device.waiting()) {
    if (spared(report)) continue;
    const { stored, problem } = await sendReport(report);
    if (!stored && !problem) break;
    device.drop(report.id);
  }
  busy = false;
}
