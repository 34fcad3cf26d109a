/*
 * The randomizer of Candor: what chance may do to answers before anything leaves this device.
 *
 * What it does. Questions are asked in blocks. For every block one biased coin is tossed: with
 * probability keep / 2^32 all answers of the block are kept, otherwise every one of them is
 * replaced by an option drawn uniformly and independently. On the K possible answers of a block
 * this is K-ary randomized response, which is exactly epsilon-locally differentially private with
 * epsilon = ln(1 + keep K / (2^32 - keep)); the losses of the blocks answered add up.
 *
 * What it promises, and checks while it runs:
 *   - what is returned depends on the answers only through that coin;
 *   - the real loss of every block is at most the `epsilon` stated for it, and the losses of the
 *     blocks asked add up to at most the `epsilon` stated for the whole design: a design whose
 *     `keep` says otherwise is refused;
 *   - how many random words are drawn does not depend on the answers;
 *   - probabilities are integers and options are drawn by rejection: no rounding, no modulo bias;
 *   - randomness is an argument; secureDraw() has no second source, and throws without the first;
 *   - an error names the place that is wrong and repeats no value, so no error holds an answer.
 * It loads nothing, sends nothing, stores nothing and reads nothing but its arguments.
 *
 * How to check it. Read it: that is all of it. Then `node --test tests/js/` compares this very file
 * with the Python code draw for draw, `make audit` runs it millions of times against the exact
 * probabilities, and docs/privacy.md says how to compare the bytes that a site serves with these.
 */

/**
 * @typedef {() => number} Draw
 * @typedef {{ key: string, epsilon: number, keep: number, questions: { options: unknown[] }[] }} Block
 * @typedef {{ scale: number, epsilon: number, ask: number, blocks: Block[] }} Numbers
 * @typedef {Numbers & { mechanism: "replace/1" }} Design
 * @typedef {{ [block: string]: number[] }} Answers
 */

const SCALE = 2 ** 32; // random words are integers in [0, SCALE); probabilities are over SCALE
const MAX_EPSILON = 8; // of one block
const MAX_CELLS = 2 ** 20; // possible answers of one block
const ROUNDING = 1e-12; // of logarithms and sums, where losses are compared with stated ones

/* Mechanisms by their versioned name: what one costs, and how it makes a report of answers. */
export const MECHANISMS = Object.freeze({
  __proto__: null,
  "replace/1": Object.freeze({ loss: lossOfReplacing, randomize: keepOrReplace }),
});

/* The loss of a block with this many possible answers. */
/** @param {Block} block @param {number} cells @param {string} where */
function lossOfReplacing(block, cells, where) {
  demand(isInteger(block.keep, 1, SCALE - 1), `${where}.keep`, "an integer from 1 to 2^32 - 1");
  return Math.log1p((block.keep * cells) / (SCALE - block.keep));
}

/* The report of one block. Chance is drawn whether or not it is needed. */
/** @param {Block} block @param {number[]} sizes @param {number[]} answers @param {Draw} draw */
function keepOrReplace(block, sizes, answers, draw) {
  const kept = nextWord(draw) < block.keep;
  const chance = sizes.map((size) => uniform(size, draw));
  return sizes.map((_, i) => (kept ? answers[i] : chance[i]));
}

/*
 * The report: `answers` after chance. `design` is the design object of protocol 1; `answers` has
 * the positions of the chosen options by block, {"b1": [1, 0]}, for exactly design.ask blocks;
 * draw() returns a fresh uniform integer in [0, 2^32). Everything is checked before the first draw.
 */
/** @param {Design} design @param {Answers} answers @param {Draw} draw */
export function randomize(design, answers, draw) {
  const { mechanism, blocks } = checkDesign(design);
  const asked = checkAnswers(blocks, design.ask, answers);
  demand(typeof draw === "function", "draw", "a function");
  return Object.fromEntries(
    asked.map(({ block, sizes, given }) => [
      block.key,
      mechanism.randomize(block, sizes, given, draw),
    ]),
  );
}

/* The keys of the blocks that one respondent is asked: design.ask of them, all sets alike. */
/** @param {Design} design @param {Draw} draw */
export function choose(design, draw) {
  const { blocks } = checkDesign(design);
  demand(typeof draw === "function", "draw", "a function");
  const positions = blocks.map((_, i) => i);
  for (let i = 0; i < design.ask; i++) {
    const j = i + uniform(positions.length - i, draw);
    [positions[i], positions[j]] = [positions[j], positions[i]];
  }
  const chosen = positions.slice(0, design.ask).sort((a, b) => a - b);
  return chosen.map((i) => blocks[i].block.key);
}

/* One word from the secure generator of the browser. Without one, nothing may be sent. */
export function secureDraw() {
  const generator = globalThis.crypto;
  demand(
    typeof generator?.getRandomValues === "function",
    "crypto",
    "no secure random generator here, so nothing can be sent",
  );
  return generator.getRandomValues(new Uint32Array(1))[0];
}

/* An option position, uniform on [0, size): exact for every size, by rejection. */
/** @param {number} size @param {Draw} draw */
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

/* The mechanism of a design, and its blocks with the number of options of each question. */
/** @param {Design} design */
function checkDesign(design) {
  demand(isObject(design), "design", "an object");
  const { mechanism: name, scale, epsilon, ask, blocks } = design;
  const mechanism = typeof name === "string" ? MECHANISMS[name] : undefined;
  demand(mechanism !== undefined, "design.mechanism", "not known here");
  demand(scale === SCALE, "design.scale", "2^32");
  demand(Array.isArray(blocks) && blocks.length > 0, "design.blocks", "a list, not empty");
  demand(isInteger(ask, 1, blocks.length), "design.ask", "from 1 to the number of blocks");
  const checked = blocks.map((block, i) => checkBlock(mechanism, block, `design.blocks[${i}]`));
  const keys = new Set(blocks.map((block) => block.key));
  demand(keys.size === blocks.length, "design.blocks", "two blocks have the same key");
  const losses = blocks.map((block) => block.epsilon).sort((a, b) => b - a);
  const total = losses.slice(0, ask).reduce((sum, loss) => sum + loss, 0);
  demand(
    Number.isFinite(epsilon) && total <= epsilon * (1 + ROUNDING),
    "design.epsilon",
    "not a number, or below what the blocks asked cost together",
  );
  return { mechanism, blocks: checked };
}

/** @param {typeof MECHANISMS["replace/1"]} mechanism @param {Block} block @param {string} where */
function checkBlock(mechanism, block, where) {
  demand(isObject(block), where, "an object");
  const { key, epsilon, questions } = block;
  demand(typeof key === "string" && /^[A-Za-z][\w-]*$/.test(key), `${where}.key`, "not a key");
  demand(Array.isArray(questions), `${where}.questions`, "a list");
  const sizes = questions.map((question, i) => {
    const options = question?.options;
    const enough = Array.isArray(options) && options.length >= 2;
    demand(enough, `${where}.questions[${i}].options`, "a list of 2 or more");
    return options.length;
  });
  const cells = sizes.reduce((product, size) => product * size, 1);
  demand(cells >= 2 && cells <= MAX_CELLS, `${where}.questions`, "none, or too many to combine");
  const stated = Number.isFinite(epsilon) && epsilon > 0 && epsilon <= MAX_EPSILON;
  demand(stated, `${where}.epsilon`, "above 0 and at most 8");
  const loss = mechanism.loss(block, cells, where);
  demand(loss <= epsilon * (1 + ROUNDING), `${where}.keep`, "costs more than the stated epsilon");
  return { block, sizes };
}

/* The blocks that were asked, in the design's order, each with its own copy of the answers. */
/** @param {ReturnType<typeof checkBlock>[]} blocks @param {number} ask @param {Answers} answers */
function checkAnswers(blocks, ask, answers) {
  demand(isObject(answers), "answers", "an object");
  const keys = Object.keys(answers);
  const asked = blocks.filter(({ block }) => keys.includes(block.key));
  demand(asked.length === keys.length, "answers", "a block that the design does not have");
  demand(asked.length === ask, "answers", "exactly the number of blocks that the design asks");
  return asked.map(({ block, sizes }) => {
    const where = `answers.${block.key}`;
    const given = answers[block.key];
    const complete = Array.isArray(given) && given.length === sizes.length;
    demand(complete, where, "a list of one answer a question");
    const copy = Array.from(given);
    sizes.forEach((size, i) => {
      demand(isInteger(copy[i], 0, size - 1), `${where}[${i}]`, "not the position of an option");
    });
    return { block, sizes, given: copy };
  });
}

/** @param {number} value @param {number} least @param {number} most */
function isInteger(value, least, most) {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/* The message is made of places and fixed words only: no value ever goes into it. */
/** @type {(condition: unknown, where: string, what: string) => asserts condition} */
function demand(condition, where, what) {
  if (!condition) throw new TypeError(`${where}: ${what}`);
}
