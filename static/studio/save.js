/*
 * Saves the draft on the server: the whole document, with the number of the draft it is based on.
 * It sends one request at a time; changes made meanwhile go with the next one. Without a network it
 * keeps trying, and the page warns people before they leave.
 */

/**
 * @typedef {import("./types.js").Answer} Answer
 * @typedef {import("./types.js").Refused} Refused
 * @typedef {import("./types.js").Saving} Saving
 * @typedef {import("./types.js").SurveyDocument} SurveyDocument
 */

const PAUSE = 500; // milliseconds without a change before it saves
const STEP_PAUSE = 60_000; // milliseconds without a change before a new step of the history begins
const RETRY = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * Keep a draft in step with the server. `toDocument()` returns the document. `onStatus` gets saved,
 * saving, waiting (for the network), refused, conflict, opened or out; `onServerState` gets the
 * server's reply about the draft.
 *
 * @param {string} address
 * @param {string} token
 * @param {{ toDocument: () => SurveyDocument, onStatus: (what: Saving, refused?: Refused) => void, onServerState: (answer: Answer) => void }} page
 */
export function draftSync(address, token, { toDocument, onStatus, onServerState }) {
  let number = 0; // of the draft that this page is based on
  let dirty = false;
  let step = "";
  let place = 0; // counts the steps of the history that this window begins
  let last = 0; // time of the last change
  /** @type {{ follow?: string }} */
  let more = {}; // sent with the next save
  /** @type {ReturnType<typeof setTimeout> | number} */
  let timer = 0;
  let tries = 0;
  /** @type {Promise<unknown>} */
  let queue = Promise.resolve(); // saves, undos and redos, one after the other
  let sending = false;
  /** @type {Answer | null} */
  let held = null; // someone else's draft, until the user chooses which one to keep

  const own = crypto.getRandomValues(new Uint32Array(1))[0].toString(36); // identifies this window

  // Read each time, because logging in again in another window changes it.
  const cookie = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];

  /** @param {object | null} body @param {boolean} [keepalive] */
  async function ask(body, keepalive = false) {
    const options = body && {
      method: "POST",
      keepalive,
      headers: { "Content-Type": "application/json", "X-CSRFToken": cookie() ?? token },
      body: JSON.stringify(body),
    };
    const response = await fetch(address, /** @type {RequestInit} */ (options));
    if (response.redirected) return { status: 401, answer: {} };
    if (![200, 400, 409].includes(response.status)) {
      if ([401, 403, 404].includes(response.status)) return { status: 401, answer: {} };
      throw new Error(`status ${response.status}`);
    }
    return { status: response.status, answer: await response.json() };
  }

  /** @param {number} pause */
  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(flush, pause);
  }

  /**
   * @template T
   * @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  function inTurn(task) {
    const done = queue.then(task);
    queue = done.catch(() => {});
    return done;
  }

  /**
   * Send a request: true if the server accepted it, false if it refused, null without a reply.
   * @param {object} body
   */
  async function send(body) {
    sending = true;
    const { status, answer } = await ask(body).catch(() => ({ status: 0, answer: null }));
    sending = false;
    if (!status) return null;
    tries = 0;
    if (status === 401) onStatus("out");
    else if (answer.opened) onStatus("opened");
    else if (status === 409) {
      held = answer;
      place++;
      onStatus("conflict");
    } else if (status === 400) onStatus("refused", answer.refused);
    else {
      number = answer.number;
      onServerState(answer);
      return true;
    }
    return false;
  }

  async function save() {
    clearTimeout(timer);
    if (!dirty) return true;
    if (held) return false;
    const beside = more;
    const body = { number, document: toDocument(), step, ...beside };
    dirty = false;
    more = {};
    onStatus("saving");
    const done = await send(body);
    if (!done) {
      dirty = true; // try again with the next change, or once the conflict is resolved
      more = { ...beside, ...more };
    }
    if (done === null) {
      onStatus("waiting");
      later(RETRY[Math.min(tries++, RETRY.length - 1)]);
    } else if (!dirty) onStatus("saved");
    return !dirty;
  }

  /* Save all changes; true if nothing is left to save. */
  const flush = () => inTurn(save);

  for (const event of ["online", "focus"]) addEventListener(event, () => dirty && flush());
  addEventListener("beforeunload", (event) => {
    if (dirty || sending) event.preventDefault();
  });
  /* Phones do not ask before leaving, so send the changes while the page goes. */
  addEventListener("pagehide", () => {
    if (dirty && !held && !sending) ask({ number, document: toDocument(), step }, true).catch(() => null);
  });
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

  return {
    /**
     * Note a change and save it soon. Changes with the same name are undone together, unless there was
     * a long pause, an undo or another person's change between them.
     *
     * @param {string} what
     * @param {number} [pause]
     * @param {{ follow?: string }} [beside]
     */
    changed(what, pause = PAUSE, beside = {}) {
      if (Date.now() - last > STEP_PAUSE) place++;
      last = Date.now();
      step = what && `${what} ${own}-${place}`;
      dirty = true;
      more = { ...more, ...beside };
      if (held) return;
      if (!tries) onStatus("saving");
      later(pause);
    },

    flush,

    /* Whether there are changes that were not sent yet. */
    pending: () => dirty,

    /* Load the draft from the server. */
    async load() {
      const { status, answer } = await ask(null);
      if (status !== 200) return onStatus(answer.opened ? "opened" : "out");
      number = answer.number;
      dirty = false;
      onServerState(answer);
      onStatus("saved");
    },

    /**
     * Undo (-1) or redo (1); true if that was done.
     * @param {-1 | 1} by
     */
    go: (by) =>
      inTurn(async () => {
        if (!(await save())) return false;
        place++;
        onStatus("saving");
        const done = await send({ number, go: by });
        if (done === null) onStatus("offline");
        else if (done) onStatus("saved");
        return done;
      }),

    /* Someone else saved: take their version, or keep mine. */
    theirs() {
      const answer = /** @type {Answer} */ (held);
      held = null;
      dirty = false;
      number = answer.number;
      onServerState(answer);
      onStatus("saved");
    },
    mine() {
      number = /** @type {Answer} */ (held).number;
      held = null;
      step = ""; // a step of its own, so that undo brings theirs back
      dirty = true;
      return flush();
    },
  };
}
