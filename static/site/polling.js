// Asks the server again and again how something stands, and shows every answer. While no answer
// comes, the page says so and goes on asking.

export const SILENCE = "The server does not answer just now; still trying …";

/** @param {number} milliseconds @returns {Promise<void>} */
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * How to ask, and what to do with an answer.
 *
 * @template T
 * @typedef {object} Polling
 * @property {() => string} address where to ask, looked up anew each time
 * @property {(answer: T) => boolean | Promise<boolean>} show shows an answer; whether to ask again
 * @property {() => number} interval milliseconds until the next question
 * @property {{ textContent: string | null }} status the element that says what happens
 * @property {() => boolean} [resting] while this holds, nothing is asked
 * @property {number} [patience] failures in a row after which nothing more is asked
 * @property {typeof fetch} [get]
 * @property {(milliseconds: number) => Promise<void>} [wait]
 */

/**
 * Ask until `show` says that it is enough. A page that leads elsewhere, to the login perhaps, is no
 * answer; and what `show` throws counts as none.
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
  let before = null; // what the page said when the server fell silent
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
      status.textContent = SILENCE;
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
 * Say something new. What is said already is left alone, so that it is not read aloud twice.
 * @param {{ textContent: string | null }} status
 * @param {string} text
 */
export function say(status, text) {
  if (status.textContent?.trim() !== text) status.textContent = text;
}
