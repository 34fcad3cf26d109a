/*
 * The steps of a visit: the questions that this person may be asked, in order, and which of them
 * are asked after the answers given so far.
 *
 * Pure: randomness is an argument, and it only decides orders, which are never sent. Each block has
 * room for its longest path, so that the number of a later question says nothing about an answer.
 */

import { DECLINED, isAsked } from "./cells.js";
import { kindOf } from "./kinds/index.js";

/**
 * @typedef {import("./protocol.js").Block} Block
 * @typedef {import("./protocol.js").Question} Question
 * @typedef {import("./randomizer.js").Answer} Answer
 * @typedef {import("./randomizer.js").Draw} Draw
 *
 * @typedef {object} Step
 * @property {Question} question
 * @property {Block} block
 * @property {number} index  of the question in its block; fillers come after the questions
 * @property {number[]} order  the options' positions in the order shown
 * @property {number} from  how many questions the earlier blocks have room for
 * @property {number} room  how many questions this block has room for
 * @property {number} [filler]  the number of a neutral question, whose answer is not kept
 *
 * @typedef {Map<Step, Answer>} Given
 */

/* What people are asked whose path through a block is shorter than the longest. */
const FILLER = {
  key: "filler",
  kind: "yes_no",
  text: "",
  options: ["no", "yes"].map((key) => ({ key, text: "" })),
};

/**
 * All steps of these blocks; the background questions come last.
 * @param {Pick<import("./protocol.js").Design, "blocks" | "shuffled" | "fillers">} design
 * @param {string[]} chosen
 * @param {Draw} draw
 */
export function planSteps(design, chosen, draw) {
  const blocks = design.blocks.filter(({ key }) => chosen.includes(key));
  const others = blocks.filter(({ background }) => !background);
  const background = blocks.filter((block) => block.background);
  let [from, fillers] = [0, 0];
  return [...(design.shuffled ? shuffle(others, draw) : others), ...background].flatMap((block) => {
    const { questions } = block;
    const room = longestPath(questions);
    const spare = design.fillers ? room - rootsOf(questions).length : 0;
    /** @type {Step[]} */
    const steps = [...questions, ...Array(spare).fill(FILLER)].map((question, index) => ({
      question,
      block,
      index,
      order: orderOf(question, draw),
      from,
      room,
      ...(question === FILLER && { filler: fillers++ }),
    }));
    from += room;
    return steps;
  });
}

/**
 * The steps that are asked after these answers, as far as they are known.
 * @param {Step[]} steps
 * @param {Given} given
 */
export function stepsAsked(steps, given) {
  /** @type {Map<Block, (Answer | undefined)[]>} */
  const lists = new Map();
  return steps.filter((step) => {
    const { question, block, room } = step;
    const { questions } = block;
    const before = lists.get(block) ?? [];
    const count = before.filter((one) => one !== null).length; // undefined is asked, not answered
    const asked =
      question === FILLER ? count < room : isAsked(questions, /** @type {Answer[]} */ (before));
    lists.set(block, [...before, asked ? given.get(step) : null]);
    return asked;
  });
}

/**
 * The answers for the randomizer: null for a question that is not asked.
 * @param {Step[]} steps
 * @param {Given} given
 */
export function answersOf(steps, given) {
  const asked = stepsAsked(steps, given);
  /** @type {import("./randomizer.js").Answers} */
  const answers = Object.create(null);
  for (const step of steps.filter(isKept)) {
    const answer = asked.includes(step) ? given.get(step) : null;
    (answers[step.block.key] ??= [])[step.index] = /** @type {Answer} */ (answer);
  }
  return answers;
}

/**
 * The first question that is asked and has no answer.
 * @param {Step[]} steps
 * @param {Given} given
 */
export function firstMissing(steps, given) {
  return stepsAsked(steps, given).find((step) => isKept(step) && !given.has(step));
}

/**
 * Forget the answers to questions that are not asked any more.
 * @param {Step[]} steps
 * @param {Given} given
 */
export function dropUnasked(steps, given) {
  const asked = stepsAsked(steps, given);
  for (const step of given.keys()) if (!asked.includes(step)) given.delete(step);
}

/**
 * Whether the answer counts: not that of a filler.
 * @param {Step} step
 */
export function isKept({ filler }) {
  return filler === undefined;
}

/**
 * The number of a question and of all. It depends on answers only within the question's block.
 * @param {Step[]} steps
 * @param {Given} given
 * @param {Step} step
 */
export function progressOf(steps, given, step) {
  const inBlock = stepsAsked(steps, given).filter(({ block }) => block === step.block);
  return { at: step.from + inBlock.indexOf(step) + 1, of: roomOf(steps) };
}

/**
 * How many questions one person is asked, at most.
 * @param {Step[]} steps
 */
export function roomOf(steps) {
  return [...new Map(steps.map(({ block, room }) => [block, room])).values()].reduce((a, b) => a + b, 0);
}

/**
 * How many of these questions one person is asked, at most.
 * @param {Question[]} questions
 */
export function longestPath(questions) {
  /** @param {Question[]} some @returns {number} */
  const all = (some) => some.map(from).reduce((a, b) => a + b, 0);
  /** @param {Question} question */
  const from = ({ key: gate, options }) =>
    1 + Math.max(0, ...options.map(({ key }) => all(questions.filter(({ only_if: only }) =>
      only?.question === gate && only.options.includes(key),
    ))));
  return all(rootsOf(questions));
}

/** @param {Question[]} questions */
function rootsOf(questions) {
  return questions.filter(({ only_if }) => !only_if);
}

/** @param {Question} question @param {Draw} draw */
function orderOf(question, draw) {
  const { ordered } = kindOf(question);
  const all = question.options.map((_, i) => i);
  if (!question.shuffled) return all;
  const last = all.filter((i) => question.options[i].key === DECLINED);
  const own = all.filter((i) => !last.includes(i));
  if (!ordered) return [...shuffle(own, draw), ...last];
  return [...(draw() % 2 ? own.reverse() : own), ...last]; // a scale keeps its order, from either end
}

/**
 * @template T
 * @param {T[]} list
 * @param {Draw} draw
 */
function shuffle(list, draw) {
  const drawn = list.map((one) => ({ one, at: draw() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ one }) => one);
}
