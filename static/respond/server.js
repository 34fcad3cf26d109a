/*
 * The two requests of this page: one GET for the survey, one POST for the report.
 *
 * No cookie goes along, nothing is kept in a cache, no redirect is followed. Every outcome is a
 * word; what a person reads about it stands in words.js.
 */

const PATIENCE = 20_000; // milliseconds without an answer until a request has failed

const REFUSALS = { 400: "changed", 409: "taken", 410: "closedMeanwhile", 413: "tooLarge" };

/* The survey, or why there is none: {survey} or {problem}. */
export async function fetchSurvey(slug) {
  const answer = await request(`/api/v1/surveys/${slug}/`, { method: "GET" });
  if (answer.status === 0) return { problem: "offline" };
  if (answer.status === 404) return { problem: "missing" };
  if (answer.status !== 200 || !answer.json) return { problem: "trouble" };
  if (answer.json.protocol !== 1) return { problem: "outdated" };
  if (answer.json.state !== "open") return { problem: "closed" };
  return { survey: answer.json };
}

/*
 * Send a report: {stored: true}, {again: true, wait} when the same bytes may be sent once more,
 * or {problem} when that is of no use. Only a server that names this report's id has stored it:
 * a network's log-in page may answer 200 to anything.
 */
export async function sendReport(slug, id, body) {
  const answer = await request(`/api/v1/surveys/${slug}/reports/`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  if ((answer.status === 200 || answer.status === 201) && answer.json?.id === id) {
    return { stored: true };
  }
  const refused = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
  if (refused) return { problem: REFUSALS[answer.status] ?? "refused" };
  return { again: true, wait: answer.wait };
}

/* {status, json, wait}; status 0 when no answer came. Never throws. */
async function request(path, options) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), PATIENCE);
  try {
    const response = await fetch(path, {
      ...options,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
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

function seconds(header) {
  return /^\d{1,4}$/.test(header ?? "") ? Number(header) : 0;
}
