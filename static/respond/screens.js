/*
 * The screens: each function builds one and returns its element, with one h1 in it.
 *
 * Screens hold no state: they show their arguments and call back to app.js. Texts of the survey come
 * as {text, lang} and get dir="auto", so that every script reads correctly.
 */

import { ending } from "./access.js";
import { dots, el, svg } from "./dom.js";
import { kindOf } from "./kinds/index.js";
import {
  backgroundLosses,
  isWeak,
  keptRange,
  outOf100,
  reportTotal,
  rest,
  sure,
  total,
} from "./odds.js";
import { roomOf } from "./steps.js";
import {
  atMost,
  between,
  day,
  exactly,
  fill,
  language,
  nameOf,
  number,
  said,
  words,
} from "./words.js";

/**
 * @typedef {import("./device.js").LedgerEntry} LedgerEntry
 * @typedef {import("./dom.js").Attributes} Attributes
 * @typedef {import("./odds.js").Share} Share
 * @typedef {import("./protocol.js").Delay} Delay
 * @typedef {import("./protocol.js").Design} Design
 * @typedef {import("./protocol.js").Disclosure} Disclosure
 * @typedef {import("./words.js").Content} Content
 * @typedef {import("./words.js").Text} Text
 * @typedef {import("./words.js").QuestionTexts} QuestionTexts
 * @typedef {import("./words.js").AnyText} AnyText
 * @typedef {import("./randomizer.js").Answer} Answer
 * @typedef {keyof typeof words.problems} Problem
 *
 * @typedef {import("./steps.js").Step} Step
 *
 * @typedef {object} Opening
 * @property {import("./protocol.js").Survey} survey
 * @property {Content} content
 * @property {Step[]} steps
 * @property {string | null} program
 * @property {() => void} start
 * @property {() => void} practise
 * @property {false | null | (() => void)} openLedger
 *
 * @typedef {{ yes: number, no: number }} Tries
 * @typedef {{ answer: number, mine: Tries, theirs: Tries }} Practice
 *
 * @typedef {object} Asking
 * @property {number} at
 * @property {number} of
 * @property {Answer | undefined} given
 * @property {(answer: Answer | undefined) => void} choose
 * @property {{ returns: boolean, back: () => void, next: () => void }} moves
 *
 * @typedef {{ question: QuestionTexts, answer: AnyText[], background?: true, change: () => void }} Line
 *
 * @typedef {object} Thanks
 * @property {boolean | undefined} resumed
 * @property {string} id
 * @property {string} body
 * @property {LedgerEntry[] | null} ledger
 * @property {() => void} enter
 * @property {() => void} openLedger
 * @property {() => void} other
 */

/* --- Before the questions --------------------------------------------------------------------- */

/** @param {Opening} view */
export function opening({ survey, content, steps, program, start, practise, openLedger }) {
  const { design, slug } = survey;
  const spent = total(design);
  const weak = isWeak(spent);
  const certain = outOf100(sure(spent));
  const losses = backgroundLosses(design);
  const promise = weak ? words.opening.weakPromise : words.opening.promise;

  return el(
    "div",
    { class: "screen opening" },
    el("h1", said(content.title), content.title.text),
    el("h2", { class: weak ? "label weak" : "label" }, icon(weak ? "stop" : "done"), promise.label),
    untranslated(content.title, content.introduction, ...DISCLOSURES.map(content.disclosure)),
    paragraphs(content.introduction),
    who(design, content),
    el("p", { class: "facts" }, facts(design, steps)),
    el(
      "section",
      { class: weak ? "promise weak" : "promise" },
      el("p", {}, promise.who),
      odds(certain, losses.length > 0),
      losses.length ? aboutYou(design) : null,
    ),
    howItWorks(practise),
    fears(weak),
    design.passes && invitation(design),
    unprotected(design, program, survey.state === "open" ? slug : ""),
    detail(design, certain, program && survey.state === "open" && `/designs/${slug}/`),
    openLedger &&
      el("button", { class: "link", type: "button", click: openLedger }, words.opening.ledger),
    actions(el("button", { class: "primary", type: "button", click: start }, words.opening.start)),
  );
}

/** @type {Disclosure[]} */
const DISCLOSURES = ["asked_by", "purpose", "contact"];

/**
 * Who is asking, why and how long data is kept, if the survey says so.
 * @param {Design} design
 * @param {Content} content
 */
function who({ disclosures }, content) {
  if (!disclosures) return null;
  const text = words.opening.who;
  const days = disclosures.retention_days;
  /**
   * @param {Disclosure | "kept"} name
   * @param {Attributes} lang
   * @param {string} value
   */
  const line = (name, lang, value) =>
    el("div", {}, el("dt", {}, text[name]), el("dd", lang, value));
  return el(
    "section",
    { class: "who" },
    el("h2", {}, text.title),
    el(
      "dl",
      {},
      DISCLOSURES.filter((name) => disclosures[name]).map((name) => {
        const one = content.disclosure(name);
        return line(name, said(one), one.text);
      }),
      days ? line("kept", {}, fill(text.deleted, { count: days })) : null,
    ),
  );
}

/** @param {Design} design @param {Step[]} steps */
function facts(design, steps) {
  const { some, all: every, depends, background, once } = words.opening;
  const [count, others] = [false, true].map((about) =>
    roomOf(steps.filter(({ block }) => Boolean(block.background) === about)),
  );
  const blocks = design.blocks.filter((block) => !block.background);
  const all = new Set(blocks.flatMap(({ questions }) => questions.map(({ key: name }) => name))).size;
  return [
    fill(every, { count }),
    design.ask < blocks.length && fill(some, { all }),
    !design.fillers && steps.some(({ question: { only_if } }) => only_if) && depends,
    others && fill(background, { count: others }),
    once,
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * What a report can reveal about the least protected background answer and about all answers.
 * @param {Design} design
 */
function aboutYou(design) {
  const epsilon = Math.max(...backgroundLosses(design));
  const text = isWeak(epsilon) ? words.opening.weakAboutYou : words.opening.aboutYou;
  return [el("p", {}, fill(text, { sure: certainty(epsilon) })), el("p", {}, together(design))];
}

/** @param {Design} design */
function together(design) {
  return fill(words.opening.detail.together, { sure: certainty(reportTotal(design)) });
}

/** @param {number} epsilon */
function certainty(epsilon) {
  return atMost(outOf100(sure(epsilon)));
}

/**
 * What a report can reveal about a sensitive answer.
 * @param {Share} certain
 * @param {boolean} more whether the report also has background answers
 */
function odds(certain, more) {
  const text = words.opening;
  const filled = fill(text.filled, { sure: exactly(certain) });
  const empty = fill(text.empty, { doubt: exactly(rest(certain)) });
  const after = more ? text.afterSensitive : text.after;
  return el(
    "figure",
    { class: "odds" },
    dots(certain.count, fill(text.picture, { filled, empty })),
    el(
      "figcaption",
      {},
      el("p", {}, text.before),
      el("p", { class: "figure" }, fill(after, { sure: atMost(certain) })),
      key(filled, empty),
    ),
  );
}

/** @param {string} filled @param {string} empty */
function key(filled, empty) {
  return el(
    "ul",
    { class: "key", "aria-hidden": "true" }, // the label of the picture says the same
    el("li", {}, icon("filled"), filled),
    el("li", {}, icon("empty"), empty),
  );
}

/** @param {() => void} practise */
function howItWorks(practise) {
  const { title, answer, chance, practise: button } = words.opening.how;
  return el(
    "section",
    { class: "how" },
    el("h2", {}, title),
    el("ol", {}, el("li", {}, answer), el("li", {}, chance)),
    el("button", { class: "secondary", type: "button", click: practise }, button),
  );
}

/** @param {boolean} weak */
function fears(weak) {
  const text = words.opening.fears;
  return el(
    "section",
    { class: "fears" },
    el("div", {}, el("h2", {}, text.known), el("p", {}, weak ? text.weakKnown : text.knownReply)),
    el("div", {}, el("h2", {}, text.wrong), el("p", {}, weak ? text.weakWrong : text.wrongReply)),
  );
}

/**
 * What the people who sent an invitation can learn.
 * @param {Design} design
 */
function invitation(design) {
  const { title, can, cannot, network, same } = words.invited.known;
  const points = [can, cannot, network, fill(same, { end: ending(design) })];
  return el(
    "details",
    {},
    el("summary", {}, title),
    el("ul", {}, points.map((text) => el("li", {}, text))),
  );
}

/**
 * @param {Design} design
 * @param {string | null} program
 * @param {string} slug
 */
function unprotected(design, program, slug) {
  const text = words.opening.unprotected;
  /**
   * @param {"part" | "device" | "belief" | "others" | "page"} name
   * @param {...string} more
   */
  const point = (name, ...more) => el("li", {}, el("strong", {}, text[name]), " ", more);
  /** @param {string} href @param {"read" | "verify"} name */
  const link = (href, name) =>
    el("a", { href, target: "_blank", rel: "noopener noreferrer" }, text[name]);
  return el(
    "details",
    {},
    el("summary", {}, text.title),
    el(
      "ul",
      {},
      point("part", text.partText),
      point("device", text.deviceText),
      point("belief", text.beliefText),
      !design.passes && point("others", text.othersText),
      point("page", text.pageText),
    ),
    program &&
      el("p", { class: "links" }, link(program, "read"), link(`/verify/#${slug}`, "verify")),
  );
}

/**
 * @param {Design} design
 * @param {Share} certain
 * @param {string | false | null} page
 */
function detail(design, certain, page) {
  const text = words.opening.detail;
  const range = keptRange(design);
  return el(
    "details",
    {},
    el("summary", {}, text.title),
    el(
      "ul",
      {},
      el("li", {}, together(design)),
      backgroundLosses(design).length
        ? el("li", {}, fill(text.sensitive, { sure: atMost(certain) }))
        : null,
      range &&
        el("li", {}, fill(text.alone, { kept: between(outOf100(range.least), outOf100(range.most)) })),
      el("li", {}, text.others),
    ),
    el("p", {}, text.design),
    el("p", {}, el("code", { class: "long", dir: "ltr" }, design.hash)),
    page &&
      el(
        "p",
        { class: "links" },
        el("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, text.page),
      ),
  );
}

/* At the top of every screen of a preview. */
export function testing() {
  return el("p", { class: "testing", role: "note" }, icon("stop"), el("span", {}, words.testing));
}

/**
 * The practice question; `tapped` is {answer, mine, theirs} after a try.
 * @param {{ design: Design, tapped: Practice | null, tap: (answer: number) => void, back: () => void, start: () => void }} view
 */
export function practice({ design, tapped, tap, back, start }) {
  const text = words.practice;
  const names = [words.no, words.yes];
  /** @param {number} answer */
  const choice = (answer) =>
    el(
      "button",
      {
        class: "option",
        type: "button",
        "aria-pressed": String(tapped?.answer === answer),
        click: () => tap(answer),
      },
      names[answer],
    );
  /**
   * @param {string} caption
   * @param {number} answer
   * @param {Tries} counts
   * @param {string} [id]
   */
  const tries = (caption, answer, { yes, no }, id) =>
    el(
      "figure",
      {},
      el("figcaption", { id }, fill(caption, { answer: names[answer] })),
      dots(yes, fill(text.picture, { yes, no })),
      el("p", {}, fill(text.tries, { yes, no })),
    );
  return el(
    "div",
    { class: "screen practice" },
    el("p", { class: "stage" }, text.progress),
    el("h1", {}, text.question),
    el("p", { class: "note" }, icon("chance"), el("span", {}, text.note)),
    el("div", { class: "options" }, choice(1), choice(0)),
    tapped &&
      el(
        "section",
        { class: "tries", tabindex: -1, "aria-labelledby": "tries" },
        tries(text.given, tapped.answer, tapped.mine, "tries"),
        tries(text.others, 1 - tapped.answer, tapped.theirs),
        key(text.yes, text.no),
        el("p", {}, isWeak(total(design)) ? text.weakLesson : text.lesson),
      ),
    actions(
      backButton(back),
      el("button", { class: "primary", type: "button", click: start }, text.start),
    ),
  );
}

/**
 * Ask for an invitation code; `why` is the problem with the previous one.
 * @param {{ content: Content, why?: "malformed" | "mistyped" | "brokenLink" | "unknown", typed?: string, keep: (text: string) => void, enter: (text: string) => void }} view
 */
export function code({ content, why, typed, keep, enter }) {
  const text = words.invited;
  /** @type {HTMLInputElement} */
  const input = el("input", {
    id: "code",
    name: "code",
    type: "text",
    maxlength: 2000, // a link has room
    value: typed,
    dir: "ltr",
    required: true,
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
    "aria-describedby": why ? "hint wrong" : "hint",
    "aria-invalid": why ? "true" : null,
    input: () => keep(input.value),
  });
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    enter(input.value);
  };
  return el(
    "form",
    { class: "screen code", novalidate: true, autocomplete: "off", submit },
    el("h1", said(content.title), content.title.text),
    disclosed(content, "asked_by", text.asks),
    el("p", {}, text.text),
    el("label", { for: "code" }, text.label),
    why && el("p", { class: "alert", role: "alert", id: "wrong" }, text[why]),
    input,
    el("p", { class: "hint", id: "hint" }, text.hint),
    actions(el("button", { class: "primary", type: "submit" }, text.next)),
  );
}

/**
 * The code was used before; `another` asks for another one.
 * @param {{ content: Content, another: () => void }} view
 */
export function usedCode({ content, another }) {
  const { title, texts, contact, another: button } = words.invited.used;
  return el(
    "div",
    { class: "screen notice" },
    icon("stop"),
    el("h1", {}, title),
    texts.map((text) => el("p", {}, text)),
    disclosed(content, "contact", contact),
    actions(el("button", { class: "primary", type: "button", click: another }, button)),
  );
}

/**
 * One line of who is asking, if the survey says so.
 * @param {Content} content
 * @param {Disclosure} name
 * @param {string} label
 */
function disclosed(content, name, label) {
  const one = content.disclosure(name);
  return one.text ? el("p", {}, el("strong", {}, label), " ", el("bdi", said(one), one.text)) : null;
}

export function fetching() {
  return el(
    "div",
    { class: "screen notice", "aria-busy": "true" },
    el("div", { class: "pulse", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    el("h1", {}, words.invited.fetching),
  );
}

/* --- The questions ---------------------------------------------------------------------------- */

/**
 * A question. `moves` says where the buttons lead.
 * @param {Asking & { step: Step, content: QuestionTexts, design: Design }} view
 */
export function question({ step, content, design, at, of, given, choose, moves }) {
  const { question: asked, block, index, filler } = step;
  const { background } = block;
  const kind = kindOf(asked);
  const says = filler === undefined ? kind.note(design, block, index) : words.asking.filler;
  const hint = kind.hint?.(asked);
  const alert = el("p", { class: "alert", role: "alert" });
  const next = el(
    "button",
    { class: "primary", type: "submit" },
    moves.returns ? words.asking.done : words.asking.next,
  );
  let [ready, missing] = [given !== undefined, words.asking.missing];
  /** @param {Answer | undefined} answer */
  const settle = (answer, problem = missing) => {
    [ready, missing] = [answer !== undefined, problem];
    alert.replaceChildren();
    next.classList.toggle("idle", !ready);
    choose(answer);
  };
  next.classList.toggle("idle", !ready);
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (ready) return moves.next();
    alert.replaceChildren(missing);
    /** @type {HTMLElement} */ (form.querySelector("input, select")).focus();
  };
  /** @param {string} problem */
  const warn = (problem) => alert.replaceChildren(problem);

  const heading = el(
    "h1",
    {
      ...said(content),
      id: "question",
      "aria-describedby": background ? "progress about-you" : "progress",
    },
    content.text,
  );
  const form = el(
    "form",
    { class: "screen asking", novalidate: true, autocomplete: "off", submit },
    progress(fill(words.asking.progress, { at, of }), at / (of + 1)),
    background && el("p", { class: "stage", id: "about-you" }, words.asking.aboutYou),
    el(
      "fieldset",
      { "aria-describedby": hint ? "note hint" : "note" },
      el("legend", {}, heading),
      untranslated(content, ...content.options),
      el("p", { class: "note", id: "note" }, icon("chance"), el("span", {}, says)),
      hint && el("p", { class: "hint", id: "hint" }, hint),
      kind.control({ step, content, given, settle, warn }),
    ),
    actions(alert, moves.returns ? null : backButton(moves.back), next),
  );
  return form;
}

/* --- Checking and sending --------------------------------------------------------------------- */

/**
 * `lines` are the answers in the order asked: {question, answer, background, change}.
 * @param {{ lines: Line[], back: () => void, send: () => void }} view
 */
export function review({ lines, back, send }) {
  const others = lines.filter(({ background }) => !background);
  const background = lines.filter((line) => line.background);
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    send();
  };
  return el(
    "form",
    { class: "screen", novalidate: true, autocomplete: "off", submit },
    progress(words.review.progress, 1),
    el("h1", {}, words.review.title),
    el("p", { class: "lead" }, words.review.lead),
    answersList(words.review.answers, others),
    background.length ? answersList(words.review.aboutYou, background) : null,
    actions(
      backButton(back),
      el("button", { class: "primary", type: "submit" }, words.review.send),
    ),
  );
}

/** @param {string} title @param {Line[]} lines */
function answersList(title, lines) {
  return el(
    "section",
    { class: "answers" },
    el("h2", {}, icon("chance"), title),
    el(
      "dl",
      {},
      lines.map(({ question: asked, answer, change }) =>
        el(
          "div",
          {},
          el("dt", said(asked), asked.text),
          // A browser that translates pages would send the answers to its service.
          el("dd", { translate: "no" }, answer.map((one) => el("span", said(one), one.text))),
          el(
            "dd",
            { class: "change" },
            el(
              "button",
              {
                class: "link",
                type: "button",
                "aria-label": fill(words.review.changeNamed, { question: asked.text }),
                click: change,
              },
              words.review.change,
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * `work`: the proof of work is not finished yet.
 * @param {{ work?: boolean }} view
 */
export function sending({ work }) {
  return el(
    "div",
    { class: "screen notice", "aria-busy": "true" },
    el("div", { class: "pulse", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    el("h1", {}, words.sending.title),
    el("p", {}, work ? words.sending.work : words.sending.text),
  );
}

/**
 * The report did not arrive, or that is not known: send the same bytes again, now or automatically.
 * @param {{ why: Delay, lasts: boolean, body: string | null, again: () => void, drop: () => void }} view
 */
export function waiting({ why, lasts, body, again, drop }) {
  const text = words.waiting;
  return el(
    "div",
    { class: "screen notice" },
    icon("waiting"),
    el("h1", {}, text.title),
    el("p", {}, text[why]),
    el("p", {}, text.safe),
    el("p", {}, lasts ? text.kept : text.unkept),
    body && whatIsSent(text.see, body),
    el("p", {}, el("button", { class: "link", type: "button", click: drop }, text.drop)),
    actions(el("button", { class: "primary", type: "button", click: again }, text.again)),
  );
}

/**
 * A report of an earlier visit, which may be someone else's.
 * @param {() => void} other
 */
function thanksForAnother(other) {
  return el(
    "div",
    { class: "screen notice" },
    icon("done"),
    el("h1", {}, words.thanks.resumed),
    el("p", {}, words.answered.once),
    otherButton(other),
  );
}

/** @param {() => void} other */
function otherButton(other) {
  const { other: text } = words.answered;
  return actions(el("button", { class: "secondary", type: "button", click: other }, text));
}

/**
 * `ledger` is the list of entries, or null without one; `enter` starts one with this survey.
 * @param {Thanks} view
 */
export function thanks({ resumed, id, body, ledger: kept, enter, openLedger, other }) {
  if (resumed) return thanksForAnother(other);
  const text = words.thanks;
  return el(
    "div",
    { class: "screen notice" },
    icon("done"),
    el("h1", {}, text.title),
    el("p", {}, text.text),
    el("p", {}, text.once),
    el(
      "section",
      { class: "receipt" },
      el("h2", {}, text.receipt),
      el("p", {}, el("code", { class: "long", dir: "ltr" }, id)),
      el("p", {}, text.receiptText),
    ),
    whatIsSent(text.see, body),
    kept ? ledgerLine(openLedger) : ledgerOffer(enter),
  );
}

/** @param {string} summary @param {string} body */
function whatIsSent(summary, body) {
  const sent = JSON.parse(body);
  return el(
    "details",
    {},
    el("summary", {}, summary),
    el("h2", { id: "sent" }, words.sent.title),
    el("p", {}, words.sent.text),
    sent.pass && el("p", {}, words.sent.pass),
    sent.work && el("p", {}, words.sent.work),
    el("pre", { tabindex: 0, role: "region", "aria-labelledby": "sent", dir: "ltr" }, body),
    el("p", {}, words.sent.length),
  );
}

/**
 * This browser has already answered the survey; `other` starts again for another person.
 * @param {{ other: () => void }} view
 */
export function answered({ other }) {
  const text = words.answered;
  return el(
    "div",
    { class: "screen notice" },
    icon("done"),
    el("h1", {}, text.title),
    el("p", {}, text.text),
    el("p", {}, text.once),
    otherButton(other),
  );
}

/* --- The ledger ------------------------------------------------------------------------------- */

/** @param {() => void} enter */
function ledgerOffer(enter) {
  const { offer, offerText, keep } = words.ledger;
  return el(
    "details",
    {},
    el("summary", {}, offer),
    el("p", {}, offerText),
    el("p", {}, el("button", { class: "secondary", type: "button", click: enter }, keep)),
  );
}

/** @param {() => void} open */
function ledgerLine(open) {
  const { added, open: button } = words.ledger;
  const link = el("button", { class: "link", type: "button", click: open }, button);
  return el("p", { class: "ledger-line" }, added, " ", link);
}

/**
 * @param {{ entries: LedgerEntry[], strike: (position: number) => void, end: () => void, back: () => void }} view
 */
export function ledger({ entries, strike, end, back }) {
  const text = words.ledger;
  const spent = entries.reduce((sum, { epsilon }) => sum + epsilon, 0);
  return el(
    "div",
    { class: "screen ledger" },
    el("h1", {}, text.title),
    el("p", {}, text.text),
    entries.length ? ledgerTable(entries, spent, strike) : el("p", {}, text.empty),
    entries.length ? el("p", {}, fill(text.sure, { sure: atMost(outOf100(sure(spent))) })) : null,
    el("p", {}, el("button", { class: "link", type: "button", click: end }, text.stop)),
    actions(backButton(back)),
  );
}

/**
 * @param {LedgerEntry[]} entries
 * @param {number} spent
 * @param {(position: number) => void} strike
 */
function ledgerTable(entries, spent, strike) {
  const text = words.ledger;
  /** @param {number} value */
  const figure = (value) =>
    number(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  /** @param {LedgerEntry} entry @param {number} position */
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

/* --- A kiosk ---------------------------------------------------------------------------------- */

/** @param {{ stored?: boolean, finish: () => void }} view */
export function kioskThanks({ stored, finish }) {
  const text = words.kiosk;
  return el(
    "div",
    { class: "screen notice" },
    icon(stored ? "done" : "waiting"),
    el("h1", {}, stored ? words.thanks.title : text.waits),
    stored ? null : el("p", {}, text.waitsText),
    el("p", {}, text.finishText),
    actions(el("button", { class: "primary", type: "button", click: finish }, text.finish)),
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

/* --- Instead of the survey -------------------------------------------------------------------- */

export function loading() {
  return el("div", { class: "screen notice loading" }, el("h1", {}, words.loading));
}

/** @param {{ name: Problem, again: () => void }} view */
export function problem({ name, again }) {
  /** @type {{ title: string, texts: string[], again?: string }} */
  const { title, texts, again: button } = words.problems[name];
  return el(
    "div",
    { class: "screen notice" },
    icon("stop"),
    el("h1", {}, title),
    texts.map((text) => el("p", {}, text)),
    button && actions(el("button", { class: "primary", type: "button", click: again }, button)),
  );
}

/* --- Parts ------------------------------------------------------------------------------------ */

/**
 * A note if texts of the survey are in another language than the page.
 * @param {...AnyText} texts
 */
function untranslated(...texts) {
  const other = texts.find(({ text, lang }) => text && lang !== language)?.lang;
  if (!other) return null;
  const note = fill(words.untranslated, { language: nameOf(other) });
  return el("p", { class: "untranslated" }, note);
}

/** @param {Text} text */
function paragraphs({ text, lang }) {
  const parts = text.split(/\n\s*\n/).map((part) => part.trim());
  const attributes = { class: "introduction", ...said({ lang }) };
  return parts.filter(Boolean).map((part) => el("p", attributes, part));
}

/** @param {...(HTMLElement | null)} children */
function actions(...children) {
  return el("div", { class: "actions" }, children);
}

/** @param {() => void} back */
function backButton(back) {
  return el("button", { class: "secondary", type: "button", click: back }, words.asking.back);
}

/**
 * The progress in words; the bar repeats it visually.
 * @param {string} text
 * @param {number} value
 */
function progress(text, value) {
  return el(
    "div",
    { class: "progress" },
    el("p", { id: "progress" }, text),
    el("progress", { value, "aria-hidden": "true" }),
  );
}

/** @type {Record<string, [keyof SVGElementTagNameMap, Attributes][]>} */
const ICONS = {
  filled: [["circle", { class: "filled", cx: 12, cy: 12, r: 8 }]],
  empty: [["circle", { class: "empty", cx: 12, cy: 12, r: 7 }]],
  // two crossing paths: what goes in need not come out
  chance: [
    ["path", { d: "M3 7h4.5l8 10H21M18 14l3 3-3 3" }],
    ["path", { d: "M3 17h4.5l2.4-3M13.1 10l2.4-3H21M18 4l3 3-3 3" }],
  ],
  waiting: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M12 7v5l3.5 2" }],
  ],
  done: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M7.8 12.4l2.9 2.8 5.6-6" }],
  ],
  remove: [["path", { d: "M7 7l10 10M17 7L7 17" }]],
  stop: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M8.5 12h7" }],
  ],
};

/**
 * A small picture next to words that say the same.
 * @param {string} name
 */
function icon(name) {
  const parts = ICONS[name].map(([shape, attributes]) => svg(shape, attributes));
  return svg("svg", { class: `icon ${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, parts);
}
