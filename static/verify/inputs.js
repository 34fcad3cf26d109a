/*
 * The inputs of a check and the reports that may come out.
 *
 * Pure, and computed from the design alone, not by the code that is checked.
 */

import { blanksOf, count, isAsked, sizeOf } from "../respond/cells.js";

/**
 * @typedef {import("../respond/randomizer.js").Block} Block
 * @typedef {import("../respond/randomizer.js").Question} Question
 * @typedef {import("../respond/randomizer.js").Answer} Answer
 * @typedef {import("../respond/randomizer.js").Value} Value
 * @typedef {{ cell: Value[], chance: number }} Own  a cell that may represent the answers
 * @typedef {{ answers: Answer[], own: Own[] }} Input
 */

const FEW_INPUTS = 6; // with more combinations of answers, only some are run
const SOME_INPUTS = 4;

/* --- What is put in --------------------------------------------------------------------------- */

/**
 * The answers to run for a block, each with the cells that may represent it: all possible answers if
 * there are few.
 *
 * @param {Block} block
 * @returns {Input[]}
 */
export function inputsOf({ questions }) {
  const every = everyAnswer(questions) ?? someAnswers(questions);
  return every.map((answers) => ({
    answers,
    own: answers.reduce(
      (cells, answer, i) =>
        cells.flatMap(({ cell, chance }) =>
          standsFor(questions[i], answer).map(([value, share]) => ({
            cell: [...cell, value],
            chance: chance * share,
          })),
        ),
      /** @type {Own[]} */ ([{ cell: [], chance: 1 }]),
    ),
  }));
}

/**
 * Every list of answers, or null if there are too many.
 * @param {Question[]} questions
 */
function everyAnswer(questions) {
  /** @type {Answer[][]} */
  let lists = [[]];
  for (const question of questions) {
    const possible = answersTo(question);
    if (!possible.all) return null;
    lists = lists.flatMap((list) =>
      (isAsked(questions, list) ? possible.some : [null]).map((answer) => [...list, answer]),
    );
    if (lists.length > FEW_INPUTS) return null;
  }
  return lists;
}

/**
 * All first answers, all last answers, two lists in between, and one for each question that none of
 * these leads to.
 *
 * @param {Question[]} questions
 */
function someAnswers(questions) {
  const lists = Array.from({ length: SOME_INPUTS }, (_, step) =>
    questions.reduce((list, question) => {
      const { some } = answersTo(question);
      const place = Math.round((step * (some.length - 1)) / (SOME_INPUTS - 1));
      return [...list, isAsked(questions, list) ? some[place] : null];
    }, /** @type {Answer[]} */ ([])),
  );
  const others = questions.flatMap((_, i) =>
    lists.some((list) => list[i] !== null) ? [] : [answersLeadingTo(questions, i)],
  );
  return distinct([...lists, ...others]);
}

/**
 * Answers after which this question is asked.
 * @param {Question[]} questions
 * @param {number} wanted
 */
function answersLeadingTo(questions, wanted) {
  /** @type {Map<Question, Answer>} */
  const needed = new Map();
  for (let only = questions[wanted].only_if; only; ) {
    const { question, options } = only;
    const gate = /** @type {Question} */ (questions.find(({ key }) => key === question));
    needed.set(gate, gate.options.findIndex(({ key }) => options.includes(String(key))));
    only = gate.only_if;
  }
  return questions.reduce((list, question) => {
    const answer = needed.get(question) ?? answersTo(question).some[0];
    return [...list, isAsked(questions, list) ? answer : null];
  }, /** @type {Answer[]} */ ([]));
}

/**
 * Answers to one question, and whether these are all of them.
 * @param {Question} question
 * @returns {{ some: Answer[], all: boolean }}
 */
function answersTo({ kind, options, least = 0, most = 0, levels = 1, picks = 0 }) {
  if (kind === "number") {
    const instead = options.map((_, position) => [position]);
    if (most - least < FEW_INPUTS) return { some: [...range(most - least + 1, least), ...instead], all: true };
    const between = least + Math.ceil((most - least) / levels / 2); // the first two levels alike
    return { some: [least, between, most, ...instead], all: false };
  }
  const positions = range(options.length);
  if (kind !== "several") return { some: positions, all: true };
  if (options.length > 2) {
    const ends = [[], positions.slice(-1), positions.slice(0, picks), positions.slice(-picks)];
    return { some: distinct(ends), all: false };
  }
  return { some: [[], [0], [1], [0, 1]].filter(({ length }) => length <= picks), all: true };
}

/**
 * The values that may represent an answer, by rounding or by slot, with their probabilities.
 * @param {Question} question
 * @param {Answer} answer
 * @returns {[Value, number][]}
 */
function standsFor({ kind, least = 0, most = 0, levels = 1, picks = 0 }, answer) {
  if (kind === "number" && Array.isArray(answer)) return [[levels + 1 + answer[0], 1]];
  if (Array.isArray(answer)) {
    /** @type {[Value, number][]} */
    const each = answer.map((pick) => [pick, 1 / picks]);
    return answer.length < picks ? [...each, [null, 1 - answer.length / picks]] : each;
  }
  if (kind !== "number" || answer === null) return [[answer, 1]];
  const place = ((answer - least) * levels) / (most - least);
  const level = Math.floor(place);
  return place === level ? [[level, 1]] : [[level, level + 1 - place], [level + 1, place - level]];
}

/* --- What comes out --------------------------------------------------------------------------- */

/**
 * Every cell as it is sent, in lexicographic order. The blanks of multiple choice count as one, the last.
 * @param {Question[]} questions
 */
export function everyCell(questions) {
  const blank = blanksOf(questions[0]) ? [[null]] : [];
  const cells = questions.reduce(
    (lists, question) =>
      lists.flatMap((list) =>
        (isAsked(questions, list) ? range(sizeOf(question)) : [null]).map((one) => [...list, one]),
      ),
    /** @type {Value[][]} */ ([[]]),
  );
  return [...cells, ...blank];
}

/**
 * The values that one question can have in a report.
 * @param {Question[]} questions
 * @param {number} i
 * @returns {Value[]}
 */
export function valuesOf(questions, i) {
  const values = range(sizeOf(questions[i]));
  return count(questions, i, null) ? [null, ...values] : values;
}

/**
 * Whether this is a list of values that a report can have.
 * @param {Question[]} questions
 * @param {unknown} report
 * @returns {report is Value[]}
 */
export function isCell(questions, report) {
  if (!Array.isArray(report) || report.length !== questions.length) return false;
  return questions.every((question, i) => {
    const value = report[i];
    if (value === null) return blanksOf(question) > 0 || !isAsked(questions, report.slice(0, i));
    const known = Number.isInteger(value) && value >= 0 && value < sizeOf(question);
    return known && isAsked(questions, report.slice(0, i));
  });
}

/**
 * Whether a report may represent the unchanged answers.
 * @param {Input} input
 * @param {unknown} report
 */
export function cameOut({ own }, report) {
  const given = Array.isArray(report) ? report : [];
  return own.some(({ cell }) => cell.every((value, i) => value === given[i]));
}

/** @param {number} length @param {number} [first] */
export function range(length, first = 0) {
  return Array.from({ length }, (_, i) => first + i);
}

/**
 * @template T
 * @param {T[]} lists
 */
function distinct(lists) {
  return [...new Map(lists.map((list) => [JSON.stringify(list), list])).values()];
}
