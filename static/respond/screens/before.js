/* Before the questions: the opening, the screens behind its links, and the code of an invitation. */

import { ending } from "../access.js";
import { dots, el } from "../dom.js";
import { backgroundLosses, grade, outOf100, reportTotal, rest, sure, total } from "../odds.js";
import { card } from "../kinds/choice.js";
import { roomOf } from "../steps.js";
import { atMost, exactly, fill, language, said, words } from "../words.js";
import { backLink, button, icon, linkTo, notice, pairs, pulse, screen, untranslated } from "./parts.js";

/**
 * @typedef {import("../protocol.js").Design} Design
 * @typedef {import("../protocol.js").Disclosure} Disclosure
 * @typedef {import("../words.js").Content} Content
 *
 * @typedef {object} Opening
 * @property {Design} design
 * @property {Content} content
 * @property {import("../steps.js").Step[]} steps
 * @property {boolean} reloaded  whether this tab has asked the questions before
 * @property {(name: string) => void} open  a screen that explains something
 * @property {() => void} start
 * @property {false | null | (() => void)} openLedger
 */

/** @param {Opening} view */
export function opening({ design, content, steps, reloaded, open, start, openLedger }) {
  const text = words.opening;
  const spent = total(design);
  const graded = grade(spent);
  const why = content.introduction.text ? content.introduction : content.disclosure("purpose");
  const about = backgroundLosses(design);
  const less = about.some((one) => grade(one) !== graded && one > spent);
  /** @param {"odds" | "unprotected" | "contact" | "check"} name @param {string} [more] */
  const link = (name, more) =>
    button("link", more ? `${words[name].title} ${more}` : words[name].title, () => open(name));
  return screen(
    { class: "opening" },
    [
      el("h1", said(content.title), content.title.text),
      untranslated(content.title, content.introduction, ...DISCLOSURES.map(content.disclosure)),
      asker(content),
      why.text && introduction(why),
      reloaded && el("p", { class: "reloaded", role: "note" }, text.reloaded),
      el("p", { class: "facts" }, facts(design, steps)),
      el(
        "p",
        { class: graded === "nearly" ? "promise weak" : "promise" },
        el("strong", {}, text.promise),
        graded !== "nearly" && ` ${text.so}`,
        ` ${fill(text[graded], { sure: certainty(spent) })}`,
        less && ` ${fill(text.less, { sure: certainty(Math.max(...about)) })}`,
      ),
      design.passes && el("p", {}, text.invited),
      el("p", { class: "managed" }, text.managed),
      el(
        "ul",
        { class: "links" },
        [
          link("odds", fill(words.odds.short, { sure: exactly(outOf100(sure(spent))) })),
          link("unprotected"),
          design.disclosures && link("contact"),
          link("check"),
          openLedger && button("link", words.ledger.title, openLedger),
        ].map((one) => one && el("li", {}, one)),
      ),
    ],
    button("secondary how", text.how, () => open("practice")),
    button("primary", text.start, start),
  );
}

/** @type {Disclosure[]} */
const DISCLOSURES = ["asked_by", "purpose", "contact"];

/**
 * The first lines of the author's introduction; the rest unfolds.
 * @param {import("../words.js").Text} text
 */
function introduction(text) {
  const whole = el("p", { class: "introduction brief", ...said(text) }, text.text);
  const more = button("link", words.opening.more, () => {
    whole.classList.remove("brief");
    more.remove();
  });
  const fit = () => {
    more.hidden = whole.scrollHeight <= whole.clientHeight;
  };
  queueMicrotask(fit); // once it is on the page, which is at once
  addEventListener("resize", fit);
  return [whole, more];
}

const QUICK = 5; // as many questions take less than a minute

/** @param {Design} design @param {import("../steps.js").Step[]} steps */
function facts({ passes }, steps) {
  const { all, quick, longer, once } = words.opening;
  const count = roomOf(steps);
  const minutes = Math.ceil(count / QUICK);
  const time = fill(minutes > 1 ? longer : quick, { questions: fill(all, { count }), minutes });
  return passes ? time : `${time} ${once}`;
}

/** @param {number} epsilon */
function certainty(epsilon) {
  return atMost(outOf100(sure(epsilon)));
}

/* At the top of every screen of a preview. */
export function testing() {
  return el("p", { class: "testing", role: "note" }, icon("stop"), el("span", {}, words.testing));
}

/* --- Behind the links --------------------------------------------------------------------------- */

/**
 * @typedef {object} Explained
 * @property {Design} design
 * @property {Content} content
 * @property {string} slug
 * @property {string | null} program  the address of the randomizer, or null without links
 * @property {() => void} back
 */

/**
 * The figures of the survey: of the sensitive answers, each background answer and the whole report.
 * @param {Explained} view
 */
export function odds({ design, back }) {
  const text = words.odds;
  const losses = backgroundLosses(design);
  /** @param {number} epsilon */
  const times = (epsilon) => fill(text.times, { sure: certainty(epsilon) });
  return explanation("odds", text.title, back, [
    el("p", {}, text.say),
    pairs([
      [text.answers, times(total(design))],
      ...(losses.length
        ? /** @type {[string, string][]} */ ([
            [text.you, times(Math.max(...losses))],
            [text.together, times(reportTotal(design))],
          ])
        : []),
    ]),
    comparison(design),
    el("p", {}, text.wrong),
  ]);
}

/**
 * What 100 people of either answer send: two squares, in which the changed ones stand out.
 * @param {Design} design
 */
export function comparison(design) {
  const { either, ofYes, ofNo, ...names } = words.odds;
  const stay = outOf100(sure(total(design)));
  const change = rest(stay);
  /**
   * @param {string} caption
   * @param {import("../odds.js").Share} yes
   * @param {import("../odds.js").Share} no
   * @param {"filled" | "empty"} changed
   */
  const square = (caption, yes, no, changed) =>
    el(
      "figure",
      {},
      dots(yes.count, "", changed),
      el("figcaption", {}, fill(caption, { yes: exactly(yes), no: exactly(no) })),
    );
  return el(
    "section",
    { class: "squares" },
    el("h2", {}, either),
    square(ofYes, stay, change, "empty"),
    square(ofNo, change, stay, "filled"),
    el(
      "ul",
      { class: "key", "aria-hidden": "true" }, // the captions say the same
      /** @type {const} */ (["filled", "empty", "changed"]).map((name) =>
        el("li", {}, icon(name), names[name]),
      ),
    ),
  );
}

/** @param {Explained} view */
export function unprotected({ design, back }) {
  const { title, part, invited, belief, others, page } = words.unprotected;
  const points = [part, design.passes && invited, words.opening.managed, belief, !design.passes && others, page];
  return explanation("unprotected", title, back, [
    el("ul", {}, points.filter(Boolean).map((text) => el("li", {}, text))),
  ]);
}

/** @param {Explained} view */
export function contact({ design, content, back }) {
  const text = words.contact;
  const days = design.disclosures?.retention_days;
  const told = DISCLOSURES.map((name) => ({ name, ...content.disclosure(name) }));
  return explanation("contact", text.title, back, [
    pairs([
      ...told
        .filter(({ text: one }) => one)
        .map((one) => /** @type {[string, HTMLElement]} */ ([text[one.name], el("span", said(one), one.text)])),
      ...(days ? [/** @type {[string, string]} */ ([text.kept, fill(text.deleted, { count: days })])] : []),
    ]),
  ]);
}

/** @param {Explained} view */
export function check({ design, slug, program, back }) {
  const text = words.check;
  return explanation("check", text.title, back, [
    el("p", {}, text.text),
    program &&
      el("p", {}, linkTo(program, text.read), el("br"), linkTo(`/verify/#${slug}`, text.verify)),
    el("p", {}, text.design),
    el("p", {}, el("code", { class: "long", dir: "ltr" }, design.hash)),
    program && el("p", {}, linkTo(`/designs/${slug}/`, text.page)),
    design.passes && el("p", {}, fill(text.same, { end: ending(design) })),
  ]);
}

/**
 * @param {string} name
 * @param {string} title
 * @param {() => void} back
 * @param {import("../dom.js").Child[]} content
 */
function explanation(name, title, back, content) {
  return screen({ class: `explanation ${name}` }, [backLink(back), el("h1", {}, title), ...content]);
}

/* --- The practice question: one randomized report at a time, of which nothing is sent or stored ---- */

/**
 * An answer, the last report and how many reports said no and yes.
 * @typedef {{ answer: number, report: number, counts: [number, number] }} Practice
 */

/**
 * `tried` is what came of it so far; `tap` tries an answer once more.
 *
 * @param {object} view
 * @param {import("../protocol.js").Design} view.design
 * @param {Practice | null} view.tried
 * @param {(answer: number) => Practice} view.tap
 * @param {() => void} view.back
 * @param {() => void} view.start
 */
export function practice({ design, tried, tap, back, start }) {
  const text = words.practice;
  const names = [words.no, words.yes];
  const options = names.map((name) => ({ text: name, lang: language }));
  const sent = el("p", { class: "sent" });
  const tally = el("p");
  const squares = comparison(design);
  const again = button("secondary", text.again, () => show(tap(answer)));
  const outcome = el("section", { class: "tries" }, el("div", { role: "status" }, sent, tally), again, squares);
  let answer = 0;
  /** @param {Practice | null} now */
  function show(now) {
    outcome.hidden = !now;
    if (!now) return;
    const { report, counts } = now;
    answer = now.answer;
    const [no, yes] = counts;
    sent.replaceChildren(fill(text.said, { answer: names[answer], report: names[report] }));
    squares.hidden = tally.hidden = no + yes < 2;
    tally.replaceChildren(fill(text.tally, { no, yes }));
  }
  show(tried);
  return screen(
    { class: "practice" },
    [
      backLink(back),
      el("h1", { "aria-describedby": "practice" }, text.question),
      el(
        "div",
        { class: "options" },
        names.map((_, position) =>
          card({ text: "", options }, position, "radio", tried?.answer === position, () => {
            show(tap(position));
            again.scrollIntoView({ block: "nearest" });
          }),
        ),
      ),
      el("p", { class: "note", id: "practice" }, text.note),
      outcome,
    ],
    button("primary", words.opening.start, start),
  );
}

/* --- The code of an invitation ------------------------------------------------------------------- */

/**
 * Ask for an invitation code; `why` is the problem with the previous one.
 *
 * @param {object} view
 * @param {Content} view.content
 * @param {"malformed" | "mistyped" | "brokenLink" | "unknown"} [view.why]
 * @param {string} [view.typed]
 * @param {(text: string) => void} view.keep
 * @param {(text: string) => void} view.enter
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
  return screen(
    { class: "code", submit: () => enter(input.value) },
    [
      el("h1", said(content.title), content.title.text),
      asker(content),
      el("p", {}, text.text),
      el("label", { for: "code" }, text.label),
      why && el("p", { class: "alert", role: "alert", id: "wrong" }, text[why]),
      input,
      el("p", { class: "hint", id: "hint" }, text.hint),
    ],
    el("button", { class: "primary", type: "submit" }, text.next),
  );
}

/**
 * The code was used before; `another` asks for another one.
 * @param {{ content: Content, another: () => void }} view
 */
export function usedCode({ content, another }) {
  const text = words.invited;
  const reach = content.disclosure("contact");
  return notice(
    "stop",
    text.used,
    [
      el("p", {}, text.elsewhere),
      reach.text && pairs([[words.contact.contact, el("span", said(reach), reach.text)]]),
    ],
    button("primary", text.another, another),
  );
}

/** @param {Content} content */
function asker(content) {
  const who = content.disclosure("asked_by");
  return who.text && el("p", { class: "who" }, words.opening.who, " ", el("bdi", said(who), who.text));
}

export function fetching() {
  return screen({ class: "notice", "aria-busy": "true" }, [pulse(), el("h1", {}, words.invited.fetching)]);
}
