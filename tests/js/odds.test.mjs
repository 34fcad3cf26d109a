// The figures on the respondent's page: their values, and that they never promise more than
// the randomizer does.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import {
  channel,
  grade,
  kept,
  loss,
  outOf100,
  reportTotal,
  rest,
  sure,
  total,
} from "../../static/respond/odds.js";
import { randomize } from "../../static/respond/randomizer.js";

const SCALE = 2 ** 32;
const vectors = JSON.parse(
  readFileSync(new URL("../vectors/cells-1.json", import.meta.url), "utf8"),
);
/** @type {Map<string, any>} */
const designs = new Map(vectors.designs.map((each) => [each.name, each.design]));

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
  return { mechanism: "cells/1", scale: SCALE, epsilon, ask, blocks };
}

const close = (actual, expected, tolerance = 1e-8) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

const COINS = block("coins", Math.log(3), 2147483648, 2); // keep and epsilon as Python has them
const PAIR = block("pair", 2, 2641316663, 2, 2);
const FOUR = block("four", 4, 3307592247, 2, 2, 2, 2);

describe("the epsilon that a survey spends", () => {
  it("is the stated epsilon, up to the rounding of keep, and never more", () => {
    for (const one of [COINS, PAIR, FOUR]) {
      close(loss(one), one.epsilon);
      assert.ok(loss(one) <= one.epsilon + 1e-12);
    }
  });

  it("adds up over the blocks that a person answers", () => {
    close(total(design(2, COINS, PAIR)), Math.log(3) + 2);
  });

  it("counts the most expensive blocks if chance picks some", () => {
    close(total(design(1, COINS, FOUR, PAIR)), 4);
    close(total(design(2, COINS, FOUR, PAIR)), 6);
  });

  it("follows keep, and is not known for a block that claims to cost less", () => {
    close(total(design(1, { ...COINS, epsilon: 4 })), Math.log(3));
    assert.throws(() => total(design(1, { ...COINS, epsilon: 0.1 })), /^TypeError: block\.keep: /);
  });

  it("leaves background answers out, and a whole report counts every one of them", () => {
    const background = /** @type {const} */ ({ background: true });
    const job = { ...FOUR, key: "job", ...background };
    const age = { ...COINS, key: "age", ...background };
    const whole = design(1, COINS, PAIR, job, age);
    close(total(whole), 2);
    close(reportTotal(whole), 2 + 4 + Math.log(3));
    close(reportTotal(design(1, COINS, PAIR)), 2);
  });

  it("is that of every kind of question", () => {
    for (const one of designs.values()) {
      assert.ok(total(one) <= one.epsilon * (1 + 1e-12));
      assert.ok(total(one) > one.epsilon * (1 - 1e-4));
    }
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
    const { a, b } = channel(COINS, 0, 1, SCALE);
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

  it("is graded by the count that a page shows", () => {
    const logit = (share) => Math.log(share / (1 - share));
    for (const [share, name] of [
      [0.5, "hardly"], [0.7549, "hardly"], [0.7551, "guess"], [0.9049, "guess"], [0.9051, "nearly"],
    ]) {
      assert.equal(grade(logit(share)), name, String(share));
    }
    assert.deepEqual([0.5, 1, Math.log(3), 2, 3, 8].map(grade),
      ["hardly", "hardly", "hardly", "guess", "nearly", "nearly"]);
  });
});

describe("the share of answers that stay", () => {
  it("is 75 in 100 for two coins", () => {
    assert.deepEqual(kept(design(1, COINS), COINS, 0), { least: 0.75, most: 0.75 });
  });

  it("counts an answer that chance has drawn again as one that stays", () => {
    const odd = block("odd", 2, SCALE / 4, 2, 5);
    close(kept(design(1, odd), odd, 0).most, 1 / 4 + 3 / 8);
    close(kept(design(1, odd), odd, 1).most, 1 / 4 + 3 / 20);
  });

  it("agrees with the randomizer", () => {
    // Every quarter of the coin with every cell drawn: an exact census of the randomizer.
    const odd = block("odd", 2, SCALE / 4, 2, 5);
    const whole = design(1, odd);
    const stayed = [0, 0];
    let runs = 0;
    for (const coin of [0, SCALE / 4, SCALE / 2, (3 * SCALE) / 4]) {
      for (let cell = 0; cell < 10; cell++) {
        const words = [coin, cell];
        const report = randomize(whole, { odd: [1, 3] }, () => Number(words.shift())).odd;
        stayed[0] += Number(report[0] === 1);
        stayed[1] += Number(report[1] === 3);
        runs += 1;
      }
    }
    close(stayed[0] / runs, kept(whole, odd, 0).most);
    close(stayed[1] / runs, kept(whole, odd, 1).least);
  });

  it("is a range where it differs between the answers", () => {
    const whole = designs.get("a follow-up of 4 at 2");
    const [gated] = whole.blocks;
    const c = gated.keep / SCALE;
    close(channel(gated, 0, 0, SCALE).a, c + (1 - c) / 5);
    close(channel(gated, 0, 1, SCALE).a, c + (4 * (1 - c)) / 5);
    const [no, yes] = [0, 1].map((value) => channel(gated, 0, value, SCALE).a);
    assert.deepEqual(kept(whole, gated, 0), { least: no, most: yes });
    close(kept(whole, gated, 1).most, c + (1 - c) / 5);
  });

  it("is the known channel of multiple choice", () => {
    const [picks] = designs.get("up to 3 of 10 at 2").blocks;
    for (let option = 0; option < 10; option++) {
      const { a, b } = channel(picks, 0, option, SCALE);
      close(a, 0.2297080063, 2e-10);
      close(b, 0.0310875981, 2e-10);
    }
  });

  it("counts the options that can be chosen instead of a number, and its levels", () => {
    const question = { key: "days", kind: "number", options: [{ key: "prefer-not-to-say" }], least: 0, most: 60, levels: 2 };
    const days = { key: "b1", epsilon: 2, keep: SCALE / 2, questions: [question] };
    close(channel(days, 0, 0, SCALE).a, 1 / 2 + 1 / 2 / 4); // 3 levels and an option
    close(channel(days, 0, 3, SCALE).a, 5 / 8);
    const range = kept(design(1, days), days, 0);
    assert.deepEqual(range, { least: 5 / 8, most: 5 / 8 });
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
