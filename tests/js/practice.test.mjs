// The practice question: the real randomizer, with the coin of the real survey.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { kept, practiceDesign, sure, total, tryOut } from "../../static/respond/odds.js";

const options = (size) => Array.from({ length: size }, (_, i) => ({ key: `o${i}`, text: `${i}` }));
const design = {
  mechanism: "cells/1",
  scale: 2 ** 32,
  epsilon: 2,
  ask: 1,
  blocks: [
    {
      key: "b1",
      epsilon: 2,
      keep: 2641316663,
      questions: [{ key: "q1", options: options(2) }, { key: "q2", options: options(2) }],
    },
  ],
};

describe("the practice question", () => {
  it("reveals as much as the sensitive answers of a report can, and no more", () => {
    const practice = practiceDesign(design);
    const background = /** @type {const} */ (true);
    const more = { ...design, blocks: [...design.blocks, { ...design.blocks[0], key: "g1", background }] };
    assert.deepEqual(practiceDesign(more), practice);
    assert.ok(total(practice) <= total(design));
    assert.ok(total(practice) > total(design) - 1e-8);
    assert.ok(Math.abs(kept(practice, practice.blocks[0], 0).most - sure(total(design))) < 1e-8);
  });

  it("is accepted by the randomizer for every survey, at any epsilon", () => {
    for (const ask of [1, 2, 5]) {
      const blocks = Array.from({ length: 5 }, (_, i) => ({ ...design.blocks[0], key: `b${i}` }));
      const practice = practiceDesign({ ...design, ask, blocks, epsilon: 2 * ask });
      assert.equal(tryOut(practice, 1, () => 0), 1);
    }
  });

  it("makes one report of an answer", () => {
    const draws = (...words) => () => words.shift();
    const practice = practiceDesign(design);
    for (const answer of [0, 1]) {
      assert.equal(tryOut(practice, answer, draws(0, 1 - answer)), answer); // kept
      for (const cell of [0, 1]) {
        assert.equal(tryOut(practice, answer, draws(2 ** 32 - 1, cell)), cell); // replaced
      }
    }
  });
});
