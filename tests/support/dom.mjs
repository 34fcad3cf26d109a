/*
 * A page in Node: the very modules that browsers get, on jsdom's document, with a clock and a server
 * that the test holds in its hands.
 *
 *   const page = openPage(t, { url, html, serve });
 *   const { draftSync } = await page.load("studio/save.js");
 *
 * Every page loads its modules anew, so that none remembers an earlier test. What jsdom lacks because
 * it draws nothing (scrolling, dialogs, going to another page) is noted or does nothing.
 */

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { register } from "node:module";

import { JSDOM, VirtualConsole } from "jsdom";

globalThis.crypto ??= /** @type {any} */ (webcrypto); // Node 18 has none

const STATIC = new URL("../../static/", import.meta.url);
const WAIT_MILLISECONDS = 20_000; // milliseconds until what should have happened has failed to
const { BroadcastChannel, Date: RealDate, setImmediate } = globalThis;
const realTime = performance.now.bind(performance);

// What a module imports belongs to the same page as the module.
const HOOK = `export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const page = /\\?page=\\d+$/.exec(context.parentURL ?? "")?.[0];
  return page && found.url.startsWith("file:") ? { ...found, url: found.url + page } : found;
}`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

let pages = 0;
let close = () => {}; // the page that is open: there is one at a time

/*
 * Open a page with this body. `serve` gets every request as {method, path, headers, body, …} and
 * returns a Response, or null where there is no network, or a promise of either. `stored` is what
 * localStorage and sessionStorage hold already.
 */
/** @param {any} t @param {any} [page] @returns {any} */
export function openPage(t, { url = "http://candor.test/", html = "", serve = () => null, stored = {} } = {}) {
  close();
  const problems = []; // errors in what listens to events, and what jsdom cannot do
  const virtualConsole = new VirtualConsole().on("jsdomError", (error) => problems.push(error));
  const { window } = new JSDOM(html, { url, virtualConsole });
  const { document } = window;
  const clock = new Clock();
  const sent = [];
  const left = []; // where the page went: an address, or "reload"
  const channels = [];

  for (const [storage, kept] of Object.entries(stored)) {
    for (const [key, value] of Object.entries(kept)) window[storage].setItem(key, value);
  }
  Object.assign(window.Element.prototype, { scrollIntoView() {} });
  /** @type {any} */
  const dialog = {
    showModal() {
      this.open = true;
    },
    close() {
      this.open = false;
    },
  };
  Object.assign(window.HTMLDialogElement.prototype, dialog);
  const leave = { assign: (address) => left.push(address), reload: () => left.push("reload") };
  const restore = setGlobals({
    document,
    location: new Proxy(leave, { get: (_, name) => leave[name] ?? window.location[name] }),
    fetch: (address, options) => request(serve, sent, new URL(address, document.baseURI), options),
    scrollTo() {},
    performance: clock,
    Date: clock.Date,
    setTimeout: clock.setTimeout,
    setInterval: clock.setInterval,
    clearTimeout: clock.clearTimeout,
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
    BroadcastChannel: class extends BroadcastChannel {
      constructor(name) {
        super(name);
        channels.push(this);
      }
    },
    ...pick(window, ["history", "navigator", "localStorage", "sessionStorage"]),
    ...pick(window, ["DOMParser", "Event", "Option"]),
  });
  close = () => {
    for (const channel of channels) channel.close();
    restore();
    window.close();
    close = () => {};
    assert.deepEqual(problems, []);
  };
  t.after(() => close());

  const query = `?page=${++pages}`;
  const fire = (target, type, more = {}) => {
    const event = new window.Event(type, { bubbles: true, cancelable: true });
    for (const [name, value] of Object.entries(more)) Object.defineProperty(event, name, { value });
    target.dispatchEvent(event);
    return event;
  };
  return {
    window,
    document,
    clock,
    sent,
    left,
    fire,
    load: (path) => import(new URL(path, STATIC) + query),
    $: (selector) => document.querySelector(selector),
    /* The button or link that says this. */
    button: (text) =>
      [...document.querySelectorAll("button, a")].find((one) => one.textContent.trim() === text),
    type(field, text) {
      field.focus();
      field.value = text;
      fire(field, "input");
    },
  };
}

/* The server's answer in JSON. */
export function reply(status, answer, headers = {}) {
  return new Response(JSON.stringify(answer), { status, headers });
}

/* Go on when this holds, however long a busy machine takes. */
export async function until(condition) {
  for (const end = realTime() + WAIT_MILLISECONDS; !(await condition()); await turn()) {
    assert.ok(realTime() < end, `not within ${WAIT_MILLISECONDS / 1000} s: ${condition}`);
  }
}

/* Let everything happen that can happen without time passing, or an answer that is held back. */
export async function settled() {
  for (let count = 0; count < 20; count++) await turn();
}

const turn = () => new Promise((resume) => setImmediate(resume));

const pick = (object, names) => Object.fromEntries(names.map((name) => [name, object[name]]));

function setGlobals(values) {
  /** @type {any[]} */
  const before = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [name, own] of before) {
      if (own) Object.defineProperty(globalThis, name, own);
      else delete globalThis[name];
    }
  };
}

async function request(serve, sent, { pathname, search }, given) {
  const { signal, ...options } = given ?? {};
  const made = { method: "GET", ...options, path: pathname + search };
  sent.push(made);
  const aborted = new Promise((_, fail) => signal?.addEventListener("abort", () => fail(signal.reason)));
  const answer = await Promise.race([serve(made), aborted]);
  if (!answer) throw new TypeError("Failed to fetch");
  return answer;
}

/* Time passes when the test says so; what falls due meanwhile happens in its order. */
class Clock {
  #time = RealDate.UTC(2026, 0, 5);
  #timers = new Map();
  #last = 0;

  now = () => this.#time;
  setTimeout = (run, delay = 0, ...given) => this.#set(() => run(...given), delay, null);
  setInterval = (run, every) => this.#set(run, every, every);
  clearTimeout = (id) => void this.#timers.delete(id);

  get Date() {
    const { now } = this;
    return class extends RealDate {
      constructor(...given) {
        super(.../** @type {[any]} */ (given.length ? given : [now()]));
      }
      static now = now;
    };
  }

  /* How many timers are set. */
  get waiting() {
    return this.#timers.size;
  }

  async pass(milliseconds) {
    const end = this.#time + milliseconds;
    for (await settled(); ; await settled()) {
      const [id, timer] = [...this.#timers].sort(([, a], [, b]) => a.due - b.due)[0] ?? [];
      if (!timer || timer.due > end) break;
      this.#time = timer.due;
      if (timer.every) timer.due += timer.every;
      else this.#timers.delete(id);
      timer.run();
    }
    this.#time = end;
  }

  #set(run, delay, every) {
    this.#timers.set(++this.#last, { run, due: this.#time + delay, every });
    return this.#last;
  }
}
