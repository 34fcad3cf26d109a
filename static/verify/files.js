/*
 * What this page asks the site for: a survey's definition, the list of its files, and the files.
 *
 * Every outcome is a value; nothing here throws or has words.
 */

/**
 * @typedef {"agrees" | "differs" | "notLoaded" | "notChecked"} Outcome
 * @typedef {{ path: string, stated: string, found: string | null, outcome: Outcome }} ComparedFile
 */

const PATIENCE = 20_000; // milliseconds without an answer until a request has failed
const MANIFEST = "/.well-known/candor-manifest.json";
const SHELL = "/s/"; // in the list; the same bytes under every survey's address
const HASH = /^[0-9a-f]{64}$/;

/**
 * {survey} or {problem}. The slug comes from the fragment, so it may be anything.
 * @param {string} slug
 * @returns {Promise<{ survey?: import("../respond/words.js").Survey, problem?: "missing" | "offline" | "outdated" }>}
 */
export async function fetchSurvey(slug) {
  if (!/^[\w-]+$/.test(slug)) return { problem: "missing" };
  // What respondents get, at the address from which they get it.
  const answer = await request(`/s/${slug}/definition/`, { credentials: "omit" });
  if (answer?.status === 404) return { problem: "missing" };
  const survey = answer?.ok ? parse(answer.bytes) : null;
  if (!survey) return { problem: "offline" };
  return survey.protocol === 1 ? { survey } : { problem: "outdated" };
}

/*
 * The files of the site's list, null if there is none: {path, stated, found, outcome}, where the
 * outcome is "agrees", "differs", "notLoaded", or "notChecked" without a secure context. The files
 * come from the browser's cache where it has them: they are those that this page runs.
 */
export async function compareFiles() {
  const answer = await request(MANIFEST);
  const files = answer?.ok ? parse(answer.bytes)?.files : null;
  if (typeof files !== "object" || files === null) return null;
  return Promise.all(Object.entries(files).map(([path, entry]) => compare(path, entry?.sha256)));
}

/**
 * @param {string} path
 * @param {string} stated
 * @returns {Promise<ComparedFile>}
 */
async function compare(path, stated) {
  const unchecked = { path, stated: HASH.test(stated) ? stated : "", found: null };
  if (!globalThis.crypto?.subtle) return { ...unchecked, outcome: "notChecked" };
  const here = path.startsWith("/") && new URL(path, location.href).origin === location.origin;
  const answer = here ? await request(path === SHELL ? `${SHELL}any/` : path) : null;
  if (!answer?.ok) return { ...unchecked, outcome: "notLoaded" };
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", answer.bytes));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { path, stated, found, outcome: found === stated ? "agrees" : "differs" };
}

/**
 * {ok, status, bytes}, or null when no answer came.
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function request(path, options) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), PATIENCE);
  try {
    const answer = await fetch(path, { ...options, redirect: "error", signal: abort.signal });
    return { ok: answer.ok, status: answer.status, bytes: await answer.arrayBuffer() };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** @param {ArrayBuffer} bytes */
function parse(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
