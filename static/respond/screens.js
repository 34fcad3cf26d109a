/*
 * The screens: each function builds one and returns its element, with one h1 in it.
 *
 * A screen holds no state. It shows what it is given and calls back; what happens next is app.js.
 * Texts of the survey get dir="auto", so that they read right in any script.
 */

import { el, svg } from "./dom.js";
import { isWeak, kept, keptRange, outOf100, rest, sure, total } from "./odds.js";
import { words } from "./words.js";

const LONG_LIST = 8; // with more options than this, a background question is a drop-down list

/* --- Before the questions --------------------------------------------------------------------- */

export function opening({ survey, steps, program, start }) {
  const { design, title, introduction } = survey;
  const spent = total(design);
  const weak = isWeak(spent);
  const certain = outOf100(sure(spent));
  const strata = design.strata.length;
  const all = design.blocks.reduce((count, { questions }) => count + questions.length, 0);
  const promise = weak ? words.opening.weakPromise : words.opening.promise;

  return el(
    "div",
    { class: "screen opening" },
    el("h1", { dir: "auto" }, title),
    paragraphs(introduction),
    el("p", { class: "facts" }, words.opening.facts(steps.length - strata, all, strata)),
    el(
      "section",
      { class: weak ? "promise weak" : "promise" },
      el("h2", {}, promise.label),
      el("p", {}, promise.how),
      odds(certain, rest(certain)),
      el("p", {}, promise.who),
    ),
    fears(design, weak),
    unprotected(strata, program),
    detail(design, certain),
    actions(el("button", { class: "primary", type: "button", click: start }, words.opening.start)),
  );
}

function odds(certain, doubt) {
  const text = words.opening.odds(certain, doubt);
  return el(
    "figure",
    { class: "odds" },
    dots(certain.count, text.picture),
    el(
      "figcaption",
      {},
      el("p", {}, text.before),
      el("p", { class: "figure" }, text.after),
      el(
        "ul",
        { class: "key" },
        el("li", {}, icon("filled"), text.filled),
        el("li", {}, icon("empty"), text.empty),
      ),
    ),
  );
}

/* 100 dots, told apart by shape as well as by colour: filled ones first, then rings. */
function dots(filled, text) {
  const all = Array.from({ length: 100 }, (_, i) =>
    svg("circle", {
      class: i < filled ? "filled" : "empty",
      cx: (i % 10) * 10 + 5,
      cy: Math.floor(i / 10) * 10 + 5,
      r: i < filled ? 3.6 : 3,
    }),
  );
  const picture = { class: "dots", viewBox: "0 0 100 100", role: "img", "aria-label": text };
  return svg("svg", picture, all);
}

function fears(design, weak) {
  const questions = design.blocks.flatMap((block) => block.questions);
  const asksYes = questions.some(({ options }) => options.some(({ key }) => key === "yes"));
  const pairs = words.opening.fears[weak ? "weak" : asksYes ? "yes" : "choice"];
  return el(
    "section",
    { class: "fears" },
    pairs.map(([question, reply]) => el("div", {}, el("h2", {}, question), el("p", {}, reply))),
  );
}

function unprotected(strata, program) {
  const { title, points, program: read } = words.opening.unprotected;
  const items = points(strata).map(([name, text]) =>
    el("li", {}, el("strong", {}, name), " ", text),
  );
  const link = el("a", { href: program, target: "_blank", rel: "noopener noreferrer" }, read);
  items[items.length - 1].append(" ", link, ".");
  return el("details", {}, el("summary", {}, title), el("ul", {}, items));
}

function detail(design, certain) {
  const { title, points, design: fingerprint } = words.opening.detail;
  const { least, most } = keptRange(design);
  const items = points(certain, outOf100(least), outOf100(most));
  return el(
    "details",
    {},
    el("summary", {}, title),
    el("ul", {}, items.map((text) => el("li", {}, text))),
    el("p", {}, fingerprint),
    el("p", {}, el("code", { class: "long" }, design.hash)),
  );
}

/* --- The questions ---------------------------------------------------------------------------- */

/* A question whose answer chance may change. `moves` is where the buttons lead. */
export function question({ step, design, at, of, chosen, choose, moves }) {
  const note = words.asking.protectedNote(outOf100(kept(design, step.block, step.index)));
  const options = step.question.options.map(({ text }, position) => ({ text, position }));
  return asking({
    at,
    of,
    title: step.question.text,
    note: el("p", { class: "note", id: "note" }, icon("chance"), el("span", {}, note)),
    options,
    chosen,
    choose,
    moves,
  });
}

/* A background question, sent in clear; "not given" is an option, and chosen at first. */
export function stratum({ step, at, of, chosen, choose, moves }) {
  const { label, text } = words.asking.clearNote;
  const given = step.question.options.map((option, position) => ({ text: option.text, position }));
  const options = [{ text: words.asking.notGiven, position: null, own: true }, ...given];
  return asking({
    at,
    of,
    title: step.question.text,
    note: el(
      "p",
      { class: "note clear", id: "note" },
      icon("clear"),
      el("span", {}, el("strong", {}, label), " ", text),
    ),
    options,
    chosen,
    choose,
    moves,
  });
}

function asking({ at, of, title, note, options, chosen, choose, moves }) {
  const alert = el("p", { class: "alert", role: "alert" });
  const next = el(
    "button",
    { class: "primary", type: "submit" },
    moves.returns ? words.asking.done : words.asking.next,
  );
  let ready = chosen !== undefined;
  const settle = (position) => {
    ready = true;
    alert.replaceChildren();
    next.classList.remove("idle");
    choose(position);
  };
  if (!ready) next.classList.add("idle");
  const submit = (event) => {
    event.preventDefault();
    if (ready) moves.next();
    else alert.replaceChildren(words.asking.missing);
  };

  const heading = el("h1", { dir: "auto", id: "question", "aria-describedby": "progress" }, title);
  const long = options.length > LONG_LIST + 1 && options.some(({ position }) => position === null);
  const list = long
    ? [heading, note, dropDown(options, chosen, settle)]
    : [
        el(
          "fieldset",
          { "aria-describedby": "note" },
          el("legend", {}, heading),
          note,
          el("div", { class: "options" }, options.map((one) => card(one, chosen, settle))),
        ),
      ];
  return el(
    "form",
    { class: "screen asking", novalidate: true, autocomplete: "off", submit },
    progress(words.asking.progress(at, of), at / (of + 1)),
    list,
    actions(alert, moves.returns ? null : backButton(words.asking.back, moves.back), next),
  );
}

function card({ text, position, own }, chosen, settle) {
  const input = el("input", {
    type: "radio",
    name: "answer",
    value: position ?? "",
    autocomplete: "off",
    change: () => settle(position),
  });
  input.checked = position === chosen;
  const name = own ? "option own" : "option";
  return el("label", { class: name, dir: "auto" }, input, el("span", {}, text));
}

function dropDown(options, chosen, settle) {
  const select = el(
    "select",
    {
      autocomplete: "off",
      "aria-labelledby": "question",
      "aria-describedby": "note",
      change: () => settle(options[select.selectedIndex].position),
    },
    options.map(({ text }) => el("option", { dir: "auto" }, text)),
  );
  select.selectedIndex = options.findIndex(({ position }) => position === chosen);
  return select;
}

/* --- Checking and sending --------------------------------------------------------------------- */

/* `lines` are the answers in the order asked: {question, answer, clear, change}. */
export function review({ lines, back, send }) {
  const hidden = lines.filter(({ clear }) => !clear);
  const clear = lines.filter((line) => line.clear);
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
    answersList(words.review.protected, "chance", hidden),
    clear.length ? answersList(words.review.clear, "clear", clear) : null,
    actions(
      backButton(words.review.back, back),
      el("button", { class: "primary", type: "submit" }, words.review.send),
    ),
  );
}

function answersList(title, picture, lines) {
  return el(
    "section",
    { class: `answers ${picture}` },
    el("h2", {}, icon(picture), title),
    el(
      "dl",
      {},
      lines.map(({ question: asked, answer, change }) =>
        el(
          "div",
          {},
          el("dt", { dir: "auto" }, asked),
          el("dd", { dir: "auto" }, answer ?? words.review.notGiven),
          el(
            "dd",
            { class: "change" },
            el(
              "button",
              {
                class: "link",
                type: "button",
                "aria-label": `${words.review.change}: ${asked}`,
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

export function sending() {
  return el(
    "div",
    { class: "screen notice", "aria-busy": "true" },
    el("div", { class: "pulse", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    el("h1", {}, words.sending.title),
    el("p", {}, words.sending.text),
  );
}

/* The report did not arrive, or nobody knows: the same bytes can be sent again. */
export function unsent({ body, wait, again }) {
  return el(
    "div",
    { class: "screen notice" },
    icon("waiting"),
    el("h1", {}, words.again.title),
    el("p", {}, words.again.text),
    el("p", {}, wait ? words.again.wait(wait) : words.again.keep),
    whatIsSent(words.again.see, body),
    actions(el("button", { class: "primary", type: "button", click: again }, words.again.button)),
  );
}

export function thanks({ id, body }) {
  return el(
    "div",
    { class: "screen notice" },
    icon("done"),
    el("h1", {}, words.thanks.title),
    el("p", {}, words.thanks.text),
    el("p", {}, words.thanks.once),
    el(
      "section",
      { class: "receipt" },
      el("h2", { id: "receipt" }, words.thanks.receipt),
      el("p", {}, el("code", { class: "long", "aria-labelledby": "receipt" }, id)),
      el("p", {}, words.thanks.receiptText),
    ),
    whatIsSent(words.thanks.see, body),
  );
}

function whatIsSent(summary, body) {
  return el(
    "details",
    {},
    el("summary", {}, summary),
    el("h2", { id: "sent" }, words.sent.title),
    el("p", {}, words.sent.text),
    el("pre", { tabindex: 0, role: "region", "aria-labelledby": "sent" }, body),
    el("p", {}, words.sent.length(body.length)),
  );
}

/* --- Instead of the survey -------------------------------------------------------------------- */

export function loading() {
  return el("div", { class: "screen notice loading" }, el("h1", {}, words.loading));
}

export function problem({ name, again }) {
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

function paragraphs(text) {
  const parts = text.split(/\n\s*\n/).map((part) => part.trim());
  return parts.filter(Boolean).map((part) => el("p", { class: "introduction", dir: "auto" }, part));
}

function actions(...children) {
  return el("div", { class: "actions" }, children);
}

function backButton(text, back) {
  return el("button", { class: "secondary", type: "button", click: back }, text);
}

/* The words carry it; the bar repeats them for the eye. */
function progress(text, value) {
  return el(
    "div",
    { class: "progress" },
    el("p", { id: "progress" }, text),
    el("progress", { value, "aria-hidden": "true" }),
  );
}

const ICONS = {
  filled: [["circle", { class: "filled", cx: 12, cy: 12, r: 8 }]],
  empty: [["circle", { class: "empty", cx: 12, cy: 12, r: 7 }]],
  // two paths that cross: what goes in need not come out
  chance: [
    ["path", { d: "M3 7h4.5l8 10H21M18 14l3 3-3 3" }],
    ["path", { d: "M3 17h4.5l2.4-3M13.1 10l2.4-3H21M18 4l3 3-3 3" }],
  ],
  // an eye: anyone can see it
  clear: [
    ["path", { d: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" }],
    ["circle", { cx: 12, cy: 12, r: 2.8 }],
  ],
  waiting: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M12 7v5l3.5 2" }],
  ],
  done: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M7.8 12.4l2.9 2.8 5.6-6" }],
  ],
  stop: [
    ["circle", { cx: 12, cy: 12, r: 9 }],
    ["path", { d: "M8.5 12h7" }],
  ],
};

/* A small picture beside words that say the same. */
function icon(name) {
  const parts = ICONS[name].map(([shape, attributes]) => svg(shape, attributes));
  return svg("svg", { class: `icon ${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, parts);
}
