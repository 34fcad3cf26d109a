/*
 * The page's requests: a survey's definition, the manifest, and the files in it.
 *
 * Every outcome is a value; nothing here throws or has texts.
 */

/**
 * @typedef {"agrees" | "differs" | "notLoaded" | "notChecked"} Outcome
 * @typedef {{ path: string, stated: string, found: string | null, outcome: Outcome }} ComparedFile
 */

const REQUEST_TIMEOUT = 20_000; // milliseconds
const MANIFEST = "/.well-known/candor-manifest.json";
const SHELL = "/s/"; // in the manifest; the same bytes at every survey's address
const HASH = /^[0-9a-f]{64}$/;

/**
 * {survey} or {problem}. The slug comes from the fragment, so it may be anything.
 * @param {string} slug
 * @returns {Promise<{ survey?: import("../respond/words.js").Survey, problem?: "missing" | "offline" | "outdated" }>}
 */
export async function fetchSurvey(slug) {
  if (!/^[\w-]+$/.test(slug)) return { problem: "missing" };
  // The definition that respondents get, from the same address.
  const answer = await request(`/s/${slug}/definition/`, { credentials: "omit" });
  if (answer?.status === 404) return { problem: "missing" };
  const survey = answer?.ok ? parse(answer.bytes) : null;
  if (!survey) return { problem: "offline" };
  return survey.protocol === 1 ? { survey } : { problem: "outdated" };
}

/*
 * The files in the site's manifest, null without one: {path, stated, found, outcome}, where the
 * outcome is "agrees", "differs", "notLoaded", or "notChecked" without a secure context. Files come from
 * the browser's cache if possible: those are the ones that this page runs.
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
 * Returns {ok, status, bytes}, or null without a reply.
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function request(path, options) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), REQUEST_TIMEOUT);
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
