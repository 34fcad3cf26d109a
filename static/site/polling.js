// Polls the server and shows every reply. While it does not reply, the page says so and keeps trying.

export const NO_ANSWER = "The server is not responding. Still trying …";

/** @param {number} milliseconds @returns {Promise<void>} */
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * How to poll, and what to do with a reply.
 *
 * @template T
 * @typedef {object} Polling
 * @property {() => string} address where to ask, read before each request
 * @property {(answer: T) => boolean | Promise<boolean>} show show a reply; return whether to ask again
 * @property {() => number} interval milliseconds until the next request
 * @property {{ textContent: string | null }} status the element that shows the status
 * @property {() => boolean} [resting] skip requests while this is true
 * @property {number} [patience] stop after this many failures in a row
 * @property {typeof fetch} [get]
 * @property {(milliseconds: number) => Promise<void>} [wait]
 */

/**
 * Poll until `show` returns false. A redirect (to the login, for example) and an error in `show` count
 * as failures.
 *
 * @template T
 * @param {Polling<T>} polling
 */
export async function poll({
  address,
  show,
  interval,
  status,
  resting = () => false,
  patience = Number.POSITIVE_INFINITY,
  get = fetch,
  wait = pause,
}) {
  /** @type {string | null} */
  let before = null; // the status before the server stopped responding
  for (let failures = 0; failures < patience; await wait(interval())) {
    if (resting()) continue;
    try {
      const answer = await ask(get, address());
      if (before !== null) status.textContent = before;
      before = null;
      failures = 0;
      if (!(await show(answer))) return;
    } catch {
      failures += 1;
      before ??= status.textContent ?? "";
      status.textContent = NO_ANSWER;
    }
  }
}

/** @param {typeof fetch} get @param {string} address */
async function ask(get, address) {
  const response = await get(address, { headers: { Accept: "application/json" } });
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  return response.json();
}

/**
 * Set a status text. An unchanged text stays, so that it is not read aloud twice.
 * @param {{ textContent: string | null }} status
 * @param {string} text
 */
export function say(status, text) {
  if (status.textContent?.trim() !== text) status.textContent = text;
}
