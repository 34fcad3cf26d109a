/*
 * The parts of the checking page. Each function builds an element from its arguments.
 *
 * Texts of a survey come as {text, lang} and get their own direction. `textsOf` returns those of a
 * question: {text, lang, options}.
 */

import { blanksOf } from "../respond/cells.js";
import { el, svg } from "../respond/dom.js";
import { kindOf } from "../respond/kinds/index.js";
import { fill, number } from "../respond/words.js";
import { isolated, percent, rounded, signed, words } from "./words.js";

/**
 * @typedef {Required<import("./check.js").Table>} Table
 * @typedef {import("./check.js").Question} Question
 * @typedef {import("./check.js").Answer} Answer
 * @typedef {import("./files.js").ComparedFile} ComparedFile
 * @typedef {import("../respond/words.js").AnyText} Text
 * @typedef {import("../respond/words.js").QuestionTexts} QuestionTexts
 * @typedef {(question: any) => QuestionTexts} TextsOf
 *
 * @typedef {object} JudgedBlock
 * @property {import("./check.js").Block} block
 * @property {Table[]} tables
 * @property {{ promised: number, seen: number }} loss
 * @property {number} slightly
 * @property {number} surely
 *
 * @typedef {object} Found
 * @property {number} runs
 * @property {boolean} fits
 * @property {number} byChance
 * @property {number} limit
 * @property {JudgedBlock[]} blocks
 * @property {Table[]} joint
 * @property {{ slightly: number, surely: number }} sharpness
 *
 * @typedef {object} Row
 * @property {Text[]} texts
 * @property {number} counted
 * @property {number} share
 * @property {number} promised
 * @property {number} deviation
 * @typedef {{ title: string, rows: Row[], runs: number, largest: number, p: number }} Input
 */

const SMALLEST_P = 0.0001; // smaller ones are shown as “below” it
const SEPARATOR = " · "; // between the answers to several questions
const PICKED = " + "; // between the options picked in one

/* --- The frame -------------------------------------------------------------------------------- */

/**
 * The verdict comes first, once there is one. `back` is the address of the survey, or null.
 * @param {Record<"runner" | "results" | "files", HTMLElement> & { about: string, back: string | null }} parts
 */
export function page({ about, back, runner, results, files }) {
  return el(
    "div",
    { class: "screen check" },
    el("h1", {}, words().title),
    results,
    el("p", { class: "lead" }, words().lead),
    el("p", {}, about),
    runner,
    files,
    back && el("p", {}, el("a", { href: back }, words().back)),
  );
}

/** @param {string} text */
export function problem(text) {
  return el(
    "div",
    { class: "screen notice" },
    icon("misfits"),
    el("h1", {}, words().title),
    el("p", {}, text),
  );
}

/**
 * The button and the progress. Screen readers announce `status`.
 * @param {{ runs: number, click: (event: MouseEvent) => void }} options
 */
export function runner({ runs, click }) {
  const start = fill(words().run, { count: runs });
  const button = el("button", { class: "primary", type: "button", click }, start);
  const text = el("p", { id: "progress" });
  const bar = el("progress", { value: 0, "aria-labelledby": "progress" });
  const progress = el("div", { class: "progress", hidden: true }, text, bar);
  const status = el("p", { class: "unseen", role: "status" });
  const outcome = el("p", { class: "outcome" });
  /** @param {number} done */
  const move = (done) => {
    const said = fill(words().progress, { done, all: runs });
    bar.value = done / runs;
    text.replaceChildren(said);
    return said;
  };
  return {
    element: el(
      "section",
      { class: "promise" },
      el("p", {}, words().nothingSent),
      button,
      progress,
      outcome,
      status,
    ),
    /** @param {string} said */
    announce: (said) => status.replaceChildren(said),
    /** @param {number} done */
    start(done) {
      button.replaceChildren(words().stop);
      button.className = "secondary";
      progress.hidden = false;
      outcome.replaceChildren();
      move(done);
    },
    move,
    /** @param {string} [said] */
    end(said) {
      button.replaceChildren(start);
      button.className = "primary";
      progress.hidden = true;
      outcome.replaceChildren(...(said ? [said] : []));
    },
  };
}

/* --- What came out ---------------------------------------------------------------------------- */

/**
 * The verdict, and everything behind it, folded unless something does not fit. `byChance` is at most
 * the probability of such a misfit with a correct randomizer.
 *
 * @param {Found} found
 * @param {TextsOf} textsOf
 */
export function results(found, textsOf) {
  const { runs, fits, byChance, limit, blocks, joint } = found;
  return [
    el(
      "section",
      { class: fits ? "promise" : "promise weak" },
      el(
        "h2",
        { class: "verdict" },
        icon(fits ? "fits" : "misfits"),
        fits ? fill(words().fitsAll, { count: runs }) : words().fitsNot,
      ),
      fits ? null : el("p", {}, fill(words().runAgain, { checks: 1 / byChance })),
    ),
    el(
      "details",
      { class: "findings", open: !fits },
      el("summary", {}, words().details),
      el("p", {}, words().key),
      blocks.map((one) => blockCard(one, limit, textsOf)),
      joint.map((one) =>
        el(
          "section",
          { class: "card" },
          el("h2", {}, words().together),
          comparison(one, limit, textsOf),
        ),
      ),
      limits(found.sharpness),
    ),
  ];
}

/** @param {{ slightly: number, surely: number }} sharpness */
function limits({ slightly, surely }) {
  const shift = 100 * surely;
  const often = Math.round(100 * slightly);
  return el(
    "section",
    { class: "limits" },
    el("h2", {}, words().limitsTitle),
    el("p", {}, fill(words().sharpness, { shift })),
    shift > 1 ? el("p", {}, fill(words().slightly, { often })) : null,
    el("p", {}, words().limits),
  );
}

/** @param {JudgedBlock} block @param {number} limit @param {TextsOf} textsOf */
function blockCard({ block, tables, loss }, limit, textsOf) {
  return el(
    "section",
    { class: "card" },
    el("h2", {}, fill(words().block, { count: block.questions.length })),
    tables.map((one) => comparison(one, limit, textsOf)),
    el(
      "div",
      { class: "comparison" },
      verdict(loss.seen <= loss.promised),
      el("p", {}, fill(words().loss, loss)),
    ),
  );
}

/**
 * One table, for all inputs: the verdict, the pictures, the numbers.
 * @param {Table} table
 * @param {number} limit
 * @param {TextsOf} textsOf
 */
function comparison(table, limit, textsOf) {
  const { kind, asked, given, promised, counts, verdict: found } = table;
  const questions = asked.map(textsOf);
  const labels = promised[0].map((_, category) => label(table, questions, category));
  const inputs = found.inputs.map((input, i) => ({
    ...input,
    title: fill(words().putIn, {
      answers: isolated(
        given[i].map((answer, k) => answerText(asked[k], questions[k], answer)).join(SEPARATOR),
      ),
    }),
    rows: labels.map((texts, category) => ({
      texts,
      counted: counts[i][category],
      share: counts[i][category] / input.runs,
      promised: promised[i][category],
      deviation: input.deviations[category],
    })),
  }));
  return el(
    "div",
    { class: "comparison" },
    kind === "together" ? null : questions.map(heading),
    verdict(found.fits),
    el("p", {}, fill(words().decided, { p: pValue(found.p), limit: rounded(limit, 5) })),
    inputs.map(figure),
    el("details", {}, el("summary", {}, words().numbers), inputs.map(numbers)),
  );
}

/** @param {Input} input */
function figure({ title, rows, largest, p }) {
  return el(
    "figure",
    {},
    el("figcaption", {}, title),
    el("div", { class: "bars", "aria-hidden": "true" }, rows.map(bar)),
    el("p", {}, fill(words().largest, { deviation: rounded(largest, 2), p: pValue(p) })),
  );
}

/** @param {Row} row */
function bar({ texts, share, promised }) {
  const picture = { class: "bar", viewBox: "0 0 1000 24", preserveAspectRatio: "none" };
  return el(
    "div",
    {},
    inRow(texts),
    svg(
      "svg",
      picture,
      svg("rect", { class: "seen", x: 0, y: 4, width: 1000 * share, height: 16 }),
      svg("line", { class: "tick", x1: 1000 * promised, x2: 1000 * promised, y1: 0, y2: 24 }),
    ),
    el(
      "span",
      { class: "figures" },
      el("bdi", {}, percent(share)),
      el("bdi", { class: "promised" }, percent(promised)),
    ),
  );
}

/** @param {Input} input */
function numbers({ title, rows, runs }) {
  const heads = [words().report, words().counted, words().promised, words().difference];
  /** @param {Row} row */
  const row = ({ texts, counted, promised, deviation }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, inRow(texts)),
      el("td", {}, number(counted)),
      el("td", {}, rounded(runs * promised, 1)),
      el("td", {}, signed(deviation)),
    );
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": title },
    el(
      "table",
      {},
      el("caption", {}, title),
      el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map(row)),
    ),
  );
}

/**
 * The name of a category: one text, or one for every question.
 * @param {Table} table
 * @param {QuestionTexts[]} questions
 * @param {number} category
 */
function label({ kind, asked, values }, questions, category) {
  if (kind === "together") return [{ text: number(category) }];
  if (kind === "whole") return [{ text: category === 0 ? words().asPutIn : words().otherwise }];
  return values[category].map((value, i) => valueText(asked[i], questions[i], value));
}

/**
 * A report's value for a question: an option, a level of a number, or nothing.
 * @param {Question} question
 * @param {QuestionTexts} texts
 * @param {number | null} value
 * @returns {Text}
 */
function valueText(question, texts, value) {
  if (value !== null) return kindOf(question).value(question, texts, value);
  return { text: blanksOf(question) ? words().nothing : words().notAsked };
}

/**
 * @param {Question} question
 * @param {QuestionTexts} texts
 * @param {Answer} answer
 */
function answerText(question, texts, answer) {
  const said = answer === null ? [] : kindOf(question).say(question, texts, answer);
  return said.map(({ text }) => text).join(PICKED) || valueText(question, texts, null).text;
}

/** @param {Text} question */
function heading({ text, lang }) {
  return el("h3", { lang, dir: "auto" }, text);
}

/**
 * Several texts, read in the direction of the first.
 * @param {Text[]} texts
 */
function inRow(texts) {
  /** @param {Text} text @param {number} i */
  const each = ({ text, lang }, i) => [i > 0 && SEPARATOR, el("span", { lang }, text)];
  return el("bdi", {}, texts.map(each));
}

/**
 * One line, from left to right in every language.
 * @param {number} p
 */
function pValue(p) {
  const digits = p < 0.01 ? 4 : 2;
  const [sign, value] = p < SMALLEST_P ? ["<", rounded(SMALLEST_P, 4)] : ["=", rounded(p, digits)];
  return isolated(`p\u00a0${sign}\u00a0${value}`);
}

/* --- The files -------------------------------------------------------------------------------- */

/**
 * `compared` is a list of files, or null. What it means and the list are folded, unless there is
 * something to look at.
 * @param {ComparedFile[] | null} compared
 */
export function files(compared) {
  const outcomes = compared?.map(({ outcome }) => outcome) ?? [];
  return el(
    "section",
    { class: "card files" },
    el("h2", {}, words().filesTitle),
    outcomes.length ? summary(outcomes) : el("p", {}, words().noList),
    el(
      "details",
      { open: outcomes.some((outcome) => outcome !== "agrees") },
      el("summary", {}, words().fileList),
      el("p", {}, words().files),
      el("p", {}, words().stronger),
      compared?.length ? list(compared) : null,
    ),
  );
}

/** @param {string[]} outcomes */
function summary(outcomes) {
  if (outcomes.includes("notChecked")) return el("p", {}, words().insecure);
  const wrong = outcomes.filter((outcome) => outcome !== "agrees").length;
  const text = wrong
    ? fill(words().filesDiffer, { count: wrong })
    : fill(words().filesAgree, { count: outcomes.length });
  return verdict(!wrong, text);
}

/** @param {ComparedFile[]} compared */
function list(compared) {
  const items = el("ul", {}, compared.map(file));
  const lines = compared.map(({ path, stated, found }) => `${found ?? stated}  ${path}\n`);
  const status = el("span", { role: "status" });
  const click = () => {
    if (copy(lines.join(""), items)) status.replaceChildren(words().copied);
  };
  return [
    items,
    el(
      "p",
      { class: "copy" },
      el("button", { class: "secondary", type: "button", click }, words().copy),
      status,
    ),
  ];
}

/** @param {ComparedFile} compared */
function file({ path, stated, found, outcome }) {
  return el(
    "li",
    {},
    el("code", { class: "path", dir: "ltr" }, path),
    el("code", { class: "long", dir: "ltr" }, found ?? stated),
    outcome === "notChecked" ? null : verdict(outcome === "agrees", words()[outcome]),
  );
}

/**
 * Copy through the selection, which needs neither HTTPS nor permission. If it fails, it stays selected.
 * @param {string} text
 * @param {Node} shown
 */
function copy(text, shown) {
  /** @param {ClipboardEvent} event */
  const write = (event) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  getSelection()?.selectAllChildren(shown);
  document.addEventListener("copy", write);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", write);
  return done;
}

/* --- Parts ------------------------------------------------------------------------------------ */

/** @param {boolean} fits @param {string} [text] */
function verdict(fits, text = fits ? words().fits : words().misfits) {
  const name = fits ? "fits" : "misfits";
  return el("p", { class: `verdict ${name}` }, icon(name), text);
}

const ICONS = {
  fits: "M7.8 12.4l2.9 2.8 5.6-6",
  misfits: "M12 7v6M12 16.5v.01",
};

/**
 * A small picture next to words that say the same.
 * @param {keyof typeof ICONS} name
 */
function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("circle", { cx: 12, cy: 12, r: 9 }),
    svg("path", { d: ICONS[name] }),
  );
}
