/*
 * Keeps the draft on the server: the whole document, with the number of the one it was made from.
 * One request at a time; what changes meanwhile goes with the next. Nothing is given up: without a
 * network it tries again, and the page says so before it is left.
 */

/**
 * @typedef {import("./document.js").SurveyDocument} SurveyDocument
 * @typedef {"saved" | "saving" | "waiting" | "offline" | "refused" | "conflict" | "opened" | "out"} Saving
 * @typedef {{ where: string, what: string }} Refused
 *
 * @typedef {{ epsilon: string, sure: string }} Cost
 * @typedef {object} Figures
 * @property {string} sure  of the sensitive answers: how sure somebody guessing 50:50 becomes
 * @property {number} dots  the same as a number out of 100
 * @property {boolean} weak
 * @property {Cost[]} costs  of the background answers
 * @property {Cost} report  of all answers together
 * @property {Refused} [problem]  with it, there is none of what follows
 * @property {string} [everybody]
 * @property {{ groups: number, error: string }[]} [by_group]  for each background question
 * @property {string} [blocks]
 * @property {{ error: string, block: number }[]} [questions]
 *
 * @typedef {{ at: string, holds: boolean }} Opens
 * @typedef {"questions" | "options" | "background_epsilon" | "usual_background_epsilon"} QuestionLimit
 * @typedef {QuestionLimit | "title" | "disclosure"} LimitName
 * @typedef {Record<LimitName, number>} DocumentLimits
 *
 * @typedef {object} Answer
 * @property {number} number
 * @property {boolean} undo
 * @property {boolean} redo
 * @property {Record<string, string>} wrong
 * @property {{ what: string, place: string }[]} blocks
 * @property {Figures} figures
 * @property {Opens | null} opens
 * @property {string} slug
 * @property {SurveyDocument} [document]  with it, there is all of what follows
 * @property {boolean} follows
 * @property {import("./document.js").Ours} ours
 * @property {DocumentLimits} limits
 */

const PAUSE = 500; // milliseconds without a change before it is saved
const REST = 60_000; // milliseconds without a change after which a new place of the history begins
const RETRY = [1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * `made()` gives the document. `show` is told what happens: saved, saving, waiting (for the
 * network), refused, conflict, opened or out; `reply` gets what the server says of the draft.
 *
 * @param {string} address
 * @param {string} token
 * @param {{ made: () => SurveyDocument, show: (what: Saving, refused?: Refused) => void, reply: (answer: Answer) => void }} page
 */
export function keeper(address, token, { made, show, reply }) {
  let number = 0; // of the draft that this page goes by
  let dirty = false;
  let step = "";
  let place = 0; // of the history, as far as this window begins new ones
  let last = 0; // when something changed
  /** @type {{ follow?: string }} */
  let more = {}; // what goes with the next save
  /** @type {ReturnType<typeof setTimeout> | number} */
  let timer = 0;
  let tries = 0;
  /** @type {Promise<unknown>} */
  let queue = Promise.resolve(); // saves, undos and redos, one after the other
  let sending = false;
  /** @type {Answer | null} */
  let held = null; // somebody else's draft, until it is decided which one stays

  const own = crypto.getRandomValues(new Uint32Array(1))[0].toString(36); // of this window

  // The newest: somebody who has logged in anew, in another window, has another one.
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
   * True if the server has done it, false if it will not, null if it does not answer.
   * @param {object} body
   */
  async function send(body) {
    sending = true;
    const { status, answer } = await ask(body).catch(() => ({ status: 0, answer: null }));
    sending = false;
    if (!status) return null;
    tries = 0;
    if (status === 401) show("out");
    else if (answer.opened) show("opened");
    else if (status === 409) {
      held = answer;
      place++;
      show("conflict");
    } else if (status === 400) show("refused", answer.refused);
    else {
      number = answer.number;
      reply(answer);
      return true;
    }
    return false;
  }

  async function save() {
    clearTimeout(timer);
    if (!dirty) return true;
    if (held) return false;
    const beside = more;
    const body = { number, document: made(), step, ...beside };
    dirty = false;
    more = {};
    show("saving");
    const done = await send(body);
    if (!done) {
      dirty = true; // and tried again with the next change, or when it is decided
      more = { ...beside, ...more };
    }
    if (done === null) {
      show("waiting");
      later(RETRY[Math.min(tries++, RETRY.length - 1)]);
    } else if (!dirty) show("saved");
    return !dirty;
  }

  /* Save what there is to save; true if nothing is left. */
  const flush = () => inTurn(save);

  for (const event of ["online", "focus"]) addEventListener(event, () => dirty && flush());
  addEventListener("beforeunload", (event) => {
    if (dirty || sending) event.preventDefault();
  });
  /* Whoever leaves all the same, or is not asked, as on a phone: it goes with the page. */
  addEventListener("pagehide", () => {
    if (dirty && !held && !sending) ask({ number, document: made(), step }, true).catch(() => null);
  });
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

  return {
    /**
     * Something changed; changes of the same step are one place of the history: of this window,
     * since the page was loaded, something was undone or somebody else saved, without a long rest.
     *
     * @param {string} what
     * @param {number} [pause]
     * @param {{ follow?: string }} [beside]
     */
    changed(what, pause = PAUSE, beside = {}) {
      if (Date.now() - last > REST) place++;
      last = Date.now();
      step = what && `${what} ${own}-${place}`;
      dirty = true;
      more = { ...more, ...beside };
      if (held) return;
      if (!tries) show("saving");
      later(pause);
    },

    flush,

    /* Whether something changed that was not sent yet. */
    pending: () => dirty,

    /* The draft as the server has it. */
    async load() {
      const { status, answer } = await ask(null);
      if (status !== 200) return show(answer.opened ? "opened" : "out");
      number = answer.number;
      dirty = false;
      reply(answer);
      show("saved");
    },

    /**
     * Undo (-1) or do again (1); true if that was done.
     * @param {-1 | 1} by
     */
    go: (by) =>
      inTurn(async () => {
        if (!(await save())) return false;
        place++;
        show("saving");
        const done = await send({ number, go: by });
        if (done === null) show("offline");
        else if (done) show("saved");
        return done;
      }),

    /* Somebody else saved: take theirs, or keep mine. */
    theirs() {
      const answer = /** @type {Answer} */ (held);
      held = null;
      dirty = false;
      number = answer.number;
      reply(answer);
      show("saved");
    },
    mine() {
      number = /** @type {Answer} */ (held).number;
      held = null;
      step = ""; // a place of its own, so that theirs can be brought back
      dirty = true;
      return flush();
    },
  };
}
