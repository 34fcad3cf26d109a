// The figures on the respondent's page: what they must be, and that they cannot be kinder than
// what the randomizer does.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import {
  CHANNELS,
  isWeak,
  kept,
  keptRange,
  loss,
  outOf100,
  rest,
  sure,
  total,
} from "../../static/respond/odds.js";
import { MECHANISMS, randomize } from "../../static/respond/randomizer.js";

const SCALE = 2 ** 32;

function block(key, epsilon, keep, ...sizes) {
  const questions = sizes.map((size, i) => ({
    key: `${key}q${i}`,
    text: "?",
    options: Array.from({ length: size }, (_, j) => ({ key: `o${j}`, text: `${j}` })),
  }));
  return { key, epsilon, keep, questions };
}

function design(ask, ...blocks) {
  const epsilon = blocks.reduce((sum, one) => sum + one.epsilon, 0);
  const mechanism = /** @type {const} */ ("replace/1");
  return { mechanism, scale: SCALE, epsilon, ask, blocks, strata: [] };
}

const close = (actual, expected, tolerance = 1e-8) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

const COINS = block("coins", Math.log(3), 2147483648, 2); // keep and epsilon as Python has them
const PAIR = block("pair", 2, 2641316663, 2, 2);
const FOUR = block("four", 4, 3307592247, 2, 2, 2, 2);

describe("the epsilon that a survey spends", () => {
  it("is the stated epsilon, up to the rounding of keep, and never more", () => {
    for (const one of [COINS, PAIR, FOUR]) {
      close(loss(design(1, one), one), one.epsilon);
      assert.ok(loss(design(1, one), one) <= one.epsilon + 1e-12);
    }
  });

  it("adds up over the blocks that a person answers", () => {
    close(total(design(2, COINS, PAIR)), Math.log(3) + 2);
  });

  it("counts the most expensive blocks if chance picks some", () => {
    close(total(design(1, COINS, FOUR, PAIR)), 4);
    close(total(design(2, COINS, FOUR, PAIR)), 6);
  });

  it("follows keep, not the epsilon that the design claims", () => {
    const claimed = { ...COINS, epsilon: 0.1 };
    close(total(design(1, claimed)), Math.log(3));
  });
});

describe("the most that somebody can be sure", () => {
  it("is the published table", () => {
    const table = [[0.5, 62], [1, 73], [Math.log(3), 75], [2, 88], [3, 95]];
    for (const [epsilon, count] of table) {
      assert.deepEqual(outOf100(sure(epsilon)), { count, edge: null });
    }
  });

  it("is 50 in 100 when nothing is spent", () => {
    assert.equal(sure(0), 0.5);
  });

  it("is a/(a+b) for one yes/no question", () => {
    const { a, b } = CHANNELS["replace/1"](COINS, 0, SCALE);
    close(sure(Math.log(3)), a / (a + b));
  });

  it("bounds what any report says about any two answers, for the whole block", () => {
    const all = [0, 1].flatMap((first) => [0, 1].map((second) => [first, second]));
    const probability = exactly(PAIR);
    for (const report of all) {
      for (const one of all) {
        for (const other of all) {
          const [p, q] = [probability(one, report), probability(other, report)];
          assert.ok(p / (p + q) <= sure(total(design(1, PAIR))) + 1e-12);
        }
      }
    }
  });

  it("is called weak if somebody can be more than 95 in 100 sure", () => {
    assert.equal(isWeak(Math.log(19)), false);
    assert.equal(isWeak(2.95), true);
    assert.ok(sure(2.95) > 0.95);
    assert.ok(sure(2.94) < 0.95);
  });
});

describe("the share of answers that stay", () => {
  it("is 75 in 100 for two coins", () => {
    close(kept(design(1, COINS), COINS, 0), 0.75);
  });

  it("counts an answer that chance has drawn again as one that stays", () => {
    const odd = block("odd", 2, SCALE / 4, 2, 5);
    close(kept(design(1, odd), odd, 0), 1 / 4 + 3 / 8);
    close(kept(design(1, odd), odd, 1), 1 / 4 + 3 / 20);
    const range = keptRange(design(1, odd, COINS));
    close(range.least, 0.4);
    close(range.most, 0.75);
  });

  it("agrees with the randomizer", () => {
    // Every quarter of the coin with every option drawn: an exact census of the randomizer.
    const odd = block("odd", 2, SCALE / 4, 2, 5);
    const whole = design(1, odd);
    const stayed = [0, 0];
    let runs = 0;
    for (const coin of [0, SCALE / 4, SCALE / 2, (3 * SCALE) / 4]) {
      for (let first = 0; first < 2; first++) {
        for (let second = 0; second < 5; second++) {
          const words = [coin, first, second];
          const report = randomize(whole, { odd: [1, 3] }, () => Number(words.shift())).odd;
          stayed[0] += Number(report[0] === 1);
          stayed[1] += Number(report[1] === 3);
          runs += 1;
        }
      }
    }
    close(stayed[0] / runs, kept(whole, odd, 0));
    close(stayed[1] / runs, kept(whole, odd, 1));
  });

  it("is known for every mechanism of the randomizer", () => {
    assert.deepEqual(Object.keys(CHANNELS), Object.keys(MECHANISMS));
  });
});

describe("counts out of 100", () => {
  it("are never 0 and never 100", () => {
    assert.deepEqual(outOf100(0.0003), { count: 1, edge: "below" });
    assert.deepEqual(outOf100(sure(8)), { count: 99, edge: "above" });
    assert.deepEqual(outOf100(0.005), { count: 1, edge: null });
    assert.deepEqual(outOf100(0.9949), { count: 99, edge: null });
  });

  it("add up to 100 with the rest, even if both would be rounded up", () => {
    assert.deepEqual(rest(outOf100(0.625)), { count: 37, edge: null });
    assert.deepEqual(rest(outOf100(sure(8))), { count: 1, edge: "below" });
    assert.deepEqual(rest(outOf100(0.0003)), { count: 99, edge: "above" });
  });
});

// P(report | answers) of a block, from its definition.
function exactly({ keep, questions }) {
  const cells = questions.reduce((product, { options }) => product * options.length, 1);
  return (answers, report) =>
    (answers.join() === report.join() ? keep / SCALE : 0) + (SCALE - keep) / SCALE / cells;
}
