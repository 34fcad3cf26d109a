/* From the last tap on: sending, waiting, thanks and the ledger; and the pages instead of the survey. */

import { el } from "../dom.js";
import { kindOf } from "../kinds/index.js";
import { outOf100, sure } from "../odds.js";
import { atMost, day, fill, number, said, words } from "../words.js";
import { backLink, button, icon, linkTo, notice, pairs, pulse, screen } from "./parts.js";

/**
 * @typedef {import("../dom.js").Child} Child
 * @typedef {import("../protocol.js").Survey} Survey
 * @typedef {import("../words.js").Content} Content
 * @typedef {keyof typeof words.problems} Problem
 *
 * @typedef {object} Thanks
 * @property {boolean | undefined} resumed  the report is of an earlier visit, which may be someone else's
 * @property {Survey} survey
 * @property {Content} content
 * @property {string} id
 * @property {string} body
 * @property {() => void} openLedger
 * @property {() => void} other
 */

export function loading() {
  return screen({ class: "notice loading" }, [el("h1", {}, words.loading)]);
}

/**
 * `work`: the proof of work is not finished yet.
 * @param {{ work?: boolean }} view
 */
export function sending({ work }) {
  return screen({ class: "notice", "aria-busy": "true" }, [
    pulse(),
    el("h1", {}, words.sending.title),
    work && el("p", {}, words.sending.work),
  ]);
}

/**
 * The report did not arrive, or that is not known: send the same bytes again, now or automatically.
 * @param {{ why: import("../protocol.js").Delay, lasts: boolean, body: string | null, again: () => void, drop: () => void }} view
 */
export function waiting({ why, lasts, body, again, drop }) {
  const text = words.waiting;
  return notice(
    "waiting",
    text.title,
    [
      el("p", {}, text[why]),
      el("p", {}, lasts ? text.kept : text.unkept),
      body && whatIsSent(text.see, body),
      el("p", {}, button("link", text.drop, drop)),
    ],
    button("primary", text.again, again),
  );
}

/** @param {Thanks} view */
export function thanks({ resumed, survey, content, id, body, openLedger, other }) {
  const text = words.thanks;
  if (resumed) return notice("done", text.resumed, [el("p", {}, text.once), otherLink(other)]);
  const { slug, crowd, results_public: open, state, design } = survey;
  const told = /** @type {const} */ (["asked_by", "contact"])
    .map((name) => ({ name, ...content.disclosure(name) }))
    .filter((one) => one.text);
  const number = el("p", { class: "receipt" }, words.sent.number, " ", el("code", { class: "long", dir: "ltr" }, id));
  return notice("done", text.title, [
    el("p", {}, fill(open ? text.results : text.unpublished, { count: state === "open" ? 2 * crowd : crowd })),
    open && state === "open" && el("p", {}, linkTo(`/results/${slug}/`, text.page)),
    told.length > 0 &&
      pairs(told.map((one) => [words.contact[one.name], el("span", said(one), one.text)])),
    !design.passes && el("p", {}, words.opening.once, " ", text.once),
    whatIsSent(text.see, body, reported(design, content, body), number),
    el("p", {}, button("link", words.ledger.title, openLedger)),
    otherLink(other),
  ]);
}

/**
 * What a report says, in words.
 * @param {Survey["design"]} design
 * @param {Content} content
 * @param {string} body
 */
function reported({ blocks }, content, body) {
  const sent = JSON.parse(body).blocks;
  const lines = blocks.flatMap(({ key, questions }) =>
    questions.map((question, i) => ({ question, value: sent[key]?.[i] })),
  );
  // Null is a follow-up that is not asked, or nothing picked.
  const shown = lines.filter(({ question, value }) => value != null || (value === null && question.picks));
  return [
    el("p", {}, words.sent.says),
    el(
      "dl",
      {},
      shown.map(({ question, value }) => {
        const texts = content.question({ question });
        const one = value === null ? { text: words.asking.none } : kindOf(question).value(question, texts, value);
        return el("div", {}, el("dt", said(texts), texts.text), el("dd", said(one), one.text));
      }),
    ),
    el("p", {}, words.sent.chance),
  ];
}

/**
 * @param {string} summary
 * @param {string} body
 * @param {...Child} content
 */
function whatIsSent(summary, body, ...content) {
  const text = words.sent;
  const { pass } = JSON.parse(body);
  return el(
    "details",
    {},
    el("summary", { id: "sent" }, summary),
    ...content,
    el("p", {}, text.text, pass && ` ${text.pass}`),
    el("pre", { tabindex: 0, role: "region", "aria-labelledby": "sent", dir: "ltr" }, body),
  );
}

/**
 * This browser has already answered the survey; `other` starts again for another person.
 * @param {{ other: () => void }} view
 */
export function answered({ other }) {
  return notice("done", words.answered.title, [el("p", {}, words.thanks.once), otherLink(other)]);
}

/** @param {() => void} other */
function otherLink(other) {
  return el("p", {}, button("link other", words.answered.other, other));
}

/** @type {Problem[]} */
const PASSING = ["offline", "outdated", "broken", "noPass"]; // trying again can help

/** @param {{ name: Problem, again: () => void }} view */
export function problem({ name, again }) {
  const { title, text } = words.problems[name];
  const bar = PASSING.includes(name) ? [button("primary", words.waiting.again, again)] : [];
  return notice("stop", title, [el("p", {}, text)], ...bar);
}

/* --- The ledger: the list of surveys that someone has taken, if they want one ----------------------- */

/**
 * @typedef {import("../device.js").LedgerEntry} Entry
 *
 * @typedef {object} Ledger
 * @property {Entry[] | null} entries  null without a list
 * @property {() => void} keep  starts one with this survey
 * @property {(position: number) => void} strike
 * @property {() => void} end
 * @property {() => void} back
 */

/** @param {Ledger} view */
export function ledger({ entries, keep, strike, end, back }) {
  const text = words.ledger;
  return screen({ class: "ledger" }, [
    backLink(back),
    el("h1", {}, text.title),
    el("p", {}, entries ? text.text : text.offer),
    ...(entries
      ? [...sum(entries, strike), el("p", {}, button("link", text.stop, end))]
      : [el("p", {}, button("secondary", text.keep, keep))]),
  ]);
}

/**
 * @param {Entry[]} entries
 * @param {(position: number) => void} strike
 */
function sum(entries, strike) {
  const text = words.ledger;
  if (!entries.length) return [];
  const spent = entries.reduce((total, { epsilon }) => total + epsilon, 0);
  const likely = fill(text.sure, { sure: atMost(outOf100(sure(spent))) });
  return [table(entries, spent, strike), el("p", {}, likely)];
}

/**
 * @param {Entry[]} entries
 * @param {number} spent
 * @param {(position: number) => void} strike
 */
function table(entries, spent, strike) {
  const text = words.ledger;
  /** @param {number} value */
  const figure = (value) =>
    number(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  /** @param {Entry} entry @param {number} position */
  const row = ({ title, day: when, epsilon }, position) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", dir: "auto" }, title),
      el("td", { class: "day" }, day(when)),
      el("td", { class: "number" }, figure(epsilon)),
      el(
        "td",
        {},
        el(
          "button",
          {
            class: "remove",
            type: "button",
            "aria-label": fill(text.remove, { survey: title }),
            click: () => strike(position),
          },
          icon("remove"),
        ),
      ),
    );
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, text.survey),
        el("th", { scope: "col" }, text.day),
        el("th", { scope: "col", class: "number" }, "ε"),
        el("td"),
      ),
    ),
    el("tbody", {}, entries.map(row)),
    el(
      "tfoot",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "row", colspan: 2 }, text.total),
        el("td", { class: "number" }, figure(spent)),
        el("td"),
      ),
    ),
  );
}

/* --- A kiosk ------------------------------------------------------------------------------------ */

/** @param {{ stored?: boolean, finish: () => void }} view */
export function kioskThanks({ stored, finish }) {
  const text = words.kiosk;
  return notice(
    stored ? "done" : "waiting",
    stored ? words.thanks.title : text.waits,
    [],
    button("primary", words.asking.done, finish),
  );
}

/** @param {{ seconds: number }} view */
export function idleWarning({ seconds }) {
  const text = words.kiosk;
  return el(
    "dialog",
    { "aria-labelledby": "idle", "aria-describedby": "idle-text" },
    el("h2", { id: "idle" }, text.idle),
    el("p", { id: "idle-text" }, fill(text.idleText, { count: seconds })),
    el("button", { class: "primary", type: "button" }, text.stay), // any tap or key will do
  );
}
