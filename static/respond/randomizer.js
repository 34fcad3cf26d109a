/**
 * The randomizer of Candor: what happens to answers before anything leaves this device.
 *
 * Questions are asked in blocks. A block has K allowed cells, the combinations of answers that a
 * person can have. For each block one biased coin is tossed: with probability keep / 2^32 the
 * person's own cell is reported, otherwise a cell drawn uniformly from all K. This is K-ary
 * randomized response, which is exactly epsilon-locally differentially private with
 * epsilon = ln(1 + keep K / (2^32 - keep)); the losses of the blocks answered add up.
 *   - A follow-up that was not asked has the value null, and K counts only what can occur.
 *   - A number is rounded at random to one of its levels, right on average, at no cost. Options
 *     that can be chosen instead of a number follow its levels.
 *   - Multiple choice, up to r of d options, is alone in its block. Picks are padded with blanks to
 *     r slots and one slot is drawn; the cells are the d options and r blanks, a blank is reported
 *     as null, and epsilon = ln(1 + keep K / (r (2^32 - keep))).
 *
 * It promises, and checks while it runs, that
 *   - what is returned depends on the answers only through those coins, roundings and slots;
 *   - no block costs more than the epsilon stated for it, and the blocks asked of one person,
 *     background questions aside, together no more than the epsilon stated for the design;
 *   - each block draws a coin, a rounding for each number, a slot for multiple choice and a cell,
 *     in this order, whatever the answers are, and without rounding or modulo bias;
 *   - randomness is an argument; secureDraw() has no second source, and throws without the first;
 *   - an error names the place that is wrong and repeats no value, so no error holds an answer.
 * It loads nothing, sends nothing, stores nothing and reads nothing but its arguments.
 * To check it, read it: that is all of it. `node --test tests/js/` and `make audit` run this very
 * file, and docs/privacy.md says how to compare the bytes that a site serves with these.
 * @typedef {() => number} Draw a fresh uniform integer in [0, 2^32)
 * @typedef {number | null} Value an option's position or a number's level; null: not asked, a blank
 * @typedef {number | null | number[]} Answer an option's position, a number, or options in a list
 * @typedef {{ key?: string, kind?: string, options: { key?: string }[], least?: number, most?: number,
 *   levels?: number, picks?: number, only_if?: { question: string, options: string[] } }} Question
 * @typedef {{ key: string, epsilon: number, keep: number, background?: true, questions: Question[] }} Block
 * @typedef {{ mechanism: string, scale: number, epsilon: number, ask: number, blocks: Block[] }} Design
 * @typedef {{ [block: string]: Answer[] }} Answers
 * @typedef {{ size: number, least: number, span: number, steps: number, picks: number,
 *   gate: { question: number, values: number[] } | null }} Shape
 * @typedef {ReturnType<typeof checkBlock>} Checked
 */

const MECHANISM = "cells/1";
const SCALE = 2 ** 32; // random words are integers in [0, SCALE); probabilities are over SCALE
const MAX_EPSILON = 8; // of one block
const MAX_CELLS = 2 ** 20; // of one block
const MAX_BOUND = 2 ** 31; // of a number: its level is computed without rounding
const ROUNDING = 1e-12; // of logarithms and sums, where losses are compared with stated ones

/**
 * The report: answers, {"b1": [1, 0]}, after chance. All is checked before the first draw.
 * @type {(design: Design, answers: Answers, draw: Draw) => { [block: string]: Value[] }}
 */
export function randomize(design, answers, draw) {
  const asked = checkAnswers(checkDesign(design), design.ask, answers);
  demand(typeof draw === "function", "draw", "a function");
  return Object.fromEntries(asked.map(([block, given]) => [block.key, report(block, given, draw)]));
}

/** The blocks that one person is asked, all sets alike. @type {(design: Design, draw: Draw) => string[]} */
export function choose(design, draw) {
  const blocks = checkDesign(design);
  demand(typeof draw === "function", "draw", "a function");
  const others = blocks.filter(({ background }) => !background);
  for (let i = 0; i < design.ask; i++) {
    const j = i + uniform(others.length - i, draw);
    [others[i], others[j]] = [others[j], others[i]];
  }
  const chosen = others.slice(0, design.ask);
  return blocks.filter((one) => one.background || chosen.includes(one)).map(({ key }) => key);
}
/** What one block costs. @type {(block: Block) => number} */
export const loss = (block) => checkBlock(block, "block").loss;

/** One word from the browser's secure generator. Without one, nothing may be sent. */
export function secureDraw() {
  const secure = typeof globalThis.crypto?.getRandomValues === "function";
  demand(secure, "crypto", "no secure random generator here, so nothing can be sent");
  return globalThis.crypto.getRandomValues(new Uint32Array(1))[0];
}

/** The report of one block. @type {(block: Checked, given: Answer[], draw: Draw) => Value[]} */
function report({ keep, shapes, cells }, given, draw) {
  const kept = nextWord(draw) < keep;
  const own = shapes.map((shape, i) => ownValue(shape, given[i], draw));
  const chance = cellAt(shapes, uniform(cells, draw), []); // drawn whether or not it is needed
  return kept ? own : chance.map((value, i) => (Number(value) < shapes[i].size ? value : null));
}

/** The answer, a level of a number, or a pick. @type {(shape: Shape, answer: any, draw: Draw) => Value} */
function ownValue({ least, span, steps, picks }, answer, draw) {
  if (picks) return answer[uniform(picks, draw)] ?? null;
  if (!span) return answer;
  const u = uniform(span, draw);
  if (typeof answer !== "number") return answer && steps + 1 + answer[0];
  const scaled = (answer - least) * steps;
  const rest = scaled % span;
  return (scaled - rest) / span + (u < rest ? 1 : 0);
}

/** Cells are in lexicographic order. @type {(shapes: Shape[], number: number, cell: Value[]) => Value[]} */
function cellAt(shapes, number, cell) {
  if (cell.length === shapes.length) return cell;
  for (const value of valuesAfter(shapes, cell)) {
    const count = completions(shapes, [...cell, value]);
    if (number < count) return cellAt(shapes, number, [...cell, value]);
    number -= count;
  }
  throw new TypeError("cells: no such cell");
}

/** How many allowed cells begin like this. @type {(shapes: Shape[], cell: Value[]) => number} */
function completions(shapes, cell) {
  if (cell.length === shapes.length) return 1;
  const values = valuesAfter(shapes, cell);
  const decides = shapes.some(({ gate }) => gate?.question === cell.length); // what is asked later
  if (!decides) return values.length * completions(shapes, [...cell, values[0]]);
  let total = 0; // counted no further than it takes to refuse
  for (const value of values) if (total <= MAX_CELLS) total += completions(shapes, [...cell, value]);
  return total;
}

/** What the next question may be. @type {(shapes: Shape[], cell: Value[]) => Value[]} */
function valuesAfter(shapes, cell) {
  const { size, picks } = shapes[cell.length];
  return isAsked(shapes[cell.length], cell) ? [...Array(size + picks).keys()] : [null];
}

/** @type {(shape: Shape, before: Answer[]) => boolean} */
const isAsked = ({ gate }, before) => !gate || gate.values.some((one) => one === before[gate.question]);

/** An integer, uniform on [0, size): exact, by rejection. @type {(size: number, draw: Draw) => number} */
function uniform(size, draw) {
  const limit = SCALE - (SCALE % size);
  let word = nextWord(draw);
  while (word >= limit) word = nextWord(draw);
  return word % size;
}

/** @param {Draw} draw */
function nextWord(draw) {
  const word = draw();
  demand(isInteger(word, 0, SCALE - 1), "draw", "must return integers from 0 to 2^32 - 1");
  return word;
}

/** @type {(design: Design) => Checked[]} */
function checkDesign(design) {
  demand(isObject(design), "design", "an object");
  const { mechanism, scale, epsilon, ask, blocks } = design;
  demand(mechanism === MECHANISM, "design.mechanism", "not known here");
  demand(scale === SCALE, "design.scale", "2^32");
  demand(Array.isArray(blocks) && blocks.length > 0, "design.blocks", "a list, not empty");
  const checked = blocks.map((block, i) => checkBlock(block, `design.blocks[${i}]`));
  const others = checked.filter(({ background }) => !background);
  demand(isInteger(ask, 1, others.length), "design.ask", "from 1 to the number of blocks");
  const keys = new Set(checked.map(({ key }) => key)).size;
  demand(keys === blocks.length, "design.blocks", "two blocks have the same key");
  const losses = others.map((block) => block.epsilon).sort((a, b) => b - a);
  const total = losses.slice(0, ask).reduce((sum, one) => sum + one, 0);
  const stated = Number.isFinite(epsilon) && total <= epsilon * (1 + ROUNDING);
  demand(stated, "design.epsilon", "not a number, or below what the blocks asked cost together");
  return checked;
}

/** @param {Block} block @param {string} where */
function checkBlock(block, where) {
  demand(isObject(block), where, "an object");
  const { key, epsilon, keep, background, questions } = block;
  demand(typeof key === "string" && /^[A-Za-z][\w-]*$/.test(key), `${where}.key`, "not a key");
  demand(background === undefined || background === true, `${where}.background`, "true or absent");
  demand(Array.isArray(questions) && questions.length > 0, `${where}.questions`, "none");
  const shapes = questions.map((_, i) => checkQuestion(questions, i, `${where}.questions[${i}]`));
  const cells = completions(shapes, []);
  demand(cells <= MAX_CELLS, `${where}.questions`, "too many to combine");
  const stated = Number.isFinite(epsilon) && epsilon > 0 && epsilon <= MAX_EPSILON;
  demand(stated, `${where}.epsilon`, "above 0 and at most 8");
  demand(isInteger(keep, 1, SCALE - 1), `${where}.keep`, "an integer from 1 to 2^32 - 1");
  const loss = Math.log1p((keep * cells) / ((shapes[0].picks || 1) * (SCALE - keep)));
  demand(loss <= epsilon * (1 + ROUNDING), `${where}.keep`, "costs more than the stated epsilon");
  return { key, epsilon, keep, background, shapes, cells, loss };
}

/** @type {(questions: Question[], i: number, where: string) => Shape} */
function checkQuestion(questions, i, where) {
  demand(isObject(questions[i]), where, "an object");
  const { kind, options, least = 0, most = 0, levels = 0, picks = 0, only_if } = questions[i];
  const [number, several] = [kind === "number", kind === "several"];
  const enough = Array.isArray(options) && options.length >= (number ? 0 : 2);
  demand(enough, `${where}.options`, "a list of 2 or more");
  const bounds = isInteger(least, -MAX_BOUND, MAX_BOUND) && isInteger(most, least + 1, MAX_BOUND);
  demand(!number || bounds, `${where}.least`, "two whole numbers in order, within 2^31");
  const few = isInteger(levels, 1, Math.min(most - least, MAX_CELLS - 1));
  demand(!number || few, `${where}.levels`, "from 1 to as many as there are numbers");
  demand(!several || isInteger(picks, 1, options.length), `${where}.picks`, "too few or too many");
  demand(!several || questions.length === 1, where, "multiple choice is alone in its block");
  const gate = only_if === undefined ? null : checkGate(only_if, questions.slice(0, i), where);
  const size = options.length + (number ? levels + 1 : 0);
  const span = number ? most - least : 0;
  return { size, least: number ? least : 0, span, steps: levels, picks: several ? picks : 0, gate };
}

/** @type {(only: Question["only_if"], earlier: Question[], where: string) => Shape["gate"]} */
function checkGate(only, earlier, where) {
  const question = earlier.findIndex(({ key, kind }) => key && key === only?.question && kind !== "number");
  const keys = earlier[question]?.options.map(({ key }) => key) ?? [];
  const values = Array.isArray(only?.options) ? only.options.map((key) => keys.indexOf(key)) : [];
  const known = values.length > 0 && !values.includes(-1);
  demand(known, `${where}.only_if`, "options of an earlier question");
  return { question, values };
}

/** The blocks asked, with their answers. @type {(blocks: Checked[], ask: number, answers: Answers) => [Checked, Answer[]][]} */
function checkAnswers(blocks, ask, answers) {
  demand(isObject(answers), "answers", "an object");
  const keys = Object.keys(answers);
  const asked = blocks.filter(({ key, background }) => background || keys.includes(key));
  const known = asked.length === keys.length && asked.every(({ key }) => keys.includes(key));
  const exact = asked.filter(({ background }) => !background).length === ask;
  demand(known && exact, "answers", "exactly the blocks that one person is asked");
  return asked.map((block) => [block, checkGiven(block, answers[block.key])]);
}

/** @type {(block: Checked, answers: Answer[]) => Answer[]} */
function checkGiven({ key, shapes }, answers) {
  const complete = Array.isArray(answers) && answers.length === shapes.length;
  demand(complete, `answers.${key}`, "a list of one answer a question");
  const given = answers.map((one) => (Array.isArray(one) ? [...one] : one));
  for (const [i, shape] of shapes.entries()) {
    const possible = isAsked(shape, given) ? isAnswer(shape, given[i]) : given[i] === null;
    demand(possible, `answers.${key}[${i}]`, "not a possible answer");
  }
  return given;
}

/** @type {(shape: Shape, answer: any) => boolean} */
function isAnswer({ size, least, span, steps, picks }, answer) {
  if (!Array.isArray(answer)) return !picks && isInteger(answer, least, least + (span || size - 1));
  if (span) return answer.length === 1 && isInteger(answer[0], 0, size - steps - 2);
  const ascending = answer.every((one, i) => isInteger(one, i ? answer[i - 1] + 1 : 0, size - 1));
  return answer.length <= picks && ascending;
}

/** @type {(value: any, least: number, most: number) => boolean} */
const isInteger = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
/** @type {(value: unknown) => boolean} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Made of places and fixed words only. @type {(condition: unknown, where: string, what: string) => asserts condition} */
function demand(condition, where, what) {
  if (!condition) throw new TypeError(`${where}: ${what}`);
}
