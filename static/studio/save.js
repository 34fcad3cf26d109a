/*
 * Keeps the draft on the server: the whole document, with the number of the one it was made from.
 * One request at a time; what changes meanwhile goes with the next. Nothing is given up: without a
 * network it tries again, and the page says so before it is left.
 */

const PAUSE = 500; // milliseconds without a change before it is saved
const REST = 60_000; // milliseconds without a change after which a new place of the history begins
const RETRY = [1_000, 2_000, 4_000, 8_000, 15_000];

/*
 * `made()` gives the document. `show` is told what happens: saved, saving, waiting (for the
 * network), refused, conflict, opened or out; `reply` gets what the server says of the draft.
 */
export function keeper(address, token, { made, show, reply }) {
  let number = 0; // of the draft that this page goes by
  let dirty = false;
  let step = "";
  let place = 0; // of the history, as far as this window begins new ones
  let last = 0; // when something changed
  let more = {}; // what goes with the next save
  let timer = 0;
  let tries = 0;
  let running = null; // the request under way
  let held = null; // somebody else's draft, until it is decided which one stays

  const own = crypto.getRandomValues(new Uint32Array(1))[0].toString(36); // of this window

  // The newest: somebody who has logged in anew, in another window, has another one.
  const cookie = () => /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1];

  async function ask(body, keepalive = false) {
    const options = body && {
      method: "POST",
      keepalive,
      headers: { "Content-Type": "application/json", "X-CSRFToken": cookie() ?? token },
      body: JSON.stringify(body),
    };
    const response = await fetch(address, options);
    if (response.redirected) return { status: 401, answer: {} };
    if (![200, 400, 409].includes(response.status)) {
      if ([401, 403, 404].includes(response.status)) return { status: 401, answer: {} };
      throw new Error(`status ${response.status}`);
    }
    return { status: response.status, answer: await response.json() };
  }

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(flush, pause);
  }

  async function send(body) {
    const { status, answer } = await ask(body);
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

  /* Save what there is to save; true if nothing is left. */
  async function flush() {
    clearTimeout(timer);
    if (running) {
      await running;
      return flush();
    }
    if (!dirty) return true;
    if (held) return false;
    const body = { number, document: made(), step, ...more };
    dirty = false;
    show("saving");
    running = send(body).catch(() => null);
    const done = await running;
    running = null;
    if (done === null) {
      dirty = true;
      show("waiting");
      later(RETRY[Math.min(tries++, RETRY.length - 1)]);
      return false;
    }
    if (done) more = {};
    if (!done) dirty = true; // and tried again with the next change, or when it is decided
    else if (dirty) later(0);
    else show("saved");
    return done && !dirty;
  }

  for (const event of ["online", "focus"]) addEventListener(event, () => dirty && flush());
  addEventListener("beforeunload", (event) => {
    if (dirty || running) event.preventDefault();
  });
  /* Whoever leaves all the same, or is not asked, as on a phone: it goes with the page. */
  addEventListener("pagehide", () => {
    if (dirty && !held && !running) ask({ number, document: made(), step }, true).catch(() => null);
  });
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

  return {
    /*
     * Something changed; changes of the same step are one place of the history: of this window,
     * since the page was loaded, something was undone or somebody else saved, without a long rest.
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

    /* Undo (-1) or do again (1); true if that was done. */
    async go(by) {
      if (!(await flush())) return false;
      place++;
      show("saving");
      running = send({ number, go: by }).catch(() => null);
      const done = await running;
      running = null;
      if (done === null) show("offline");
      else if (done) show("saved");
      return done;
    },

    /* Somebody else saved: take theirs, or keep mine. */
    theirs() {
      const answer = held;
      held = null;
      dirty = false;
      number = answer.number;
      reply(answer);
      show("saved");
    },
    mine() {
      number = held.number;
      held = null;
      step = ""; // a place of its own, so that theirs can be brought back
      dirty = true;
      return flush();
    },
  };
}
