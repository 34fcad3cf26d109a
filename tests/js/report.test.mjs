// The body of the POST: its shape, its id, and that its length says nothing.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { longest, newId, reportBody } from "../../static/respond/protocol.js";

const ID = "6f1a1f6e-3c1e-4c53-9d0e-0c2b5a7f4e11";

const options = (size) => Array.from({ length: size }, (_, i) => ({ key: `o${i}`, text: `${i}` }));
const questions = (...sizes) =>
  sizes.map((size) => ({ key: "q", text: "?", options: options(size) }));

/** @type {import("../../static/respond/protocol.js").ReportedDesign} */
const DESIGN = {
  hash: `sha256:${"a".repeat(64)}`,
  ask: 2,
  blocks: [
    { key: "b1", questions: questions(2, 2) },
    { key: "b2", questions: questions(21) },
    { key: "b10", questions: questions(2, 11, 20) },
    { key: "g1", background: true, questions: questions(100) },
    { key: "g2", background: true, questions: questions(3) },
  ],
};

describe("the body", () => {
  it("is the report in the protocol's words, and nothing else", () => {
    const blocks = { b1: [1, 0], b2: [7], g1: [42], g2: [2] };
    const body = reportBody(DESIGN, ID, blocks);
    assert.deepEqual(JSON.parse(body), { id: ID, design: DESIGN.hash, blocks });
  });

  it("has one length for any blocks and any answers", () => {
    const blocks = { b1: [2, 2], b2: [21], b10: [2, 11, 20] };
    const ends = (sizes) => [sizes.map(() => 0), sizes.map((size) => size - 1)];
    const lengths = new Set();
    for (const pair of [["b1", "b2"], ["b1", "b10"], ["b2", "b10"]]) {
      for (const first of ends(blocks[pair[0]])) {
        for (const second of ends(blocks[pair[1]])) {
          for (const [age, unit] of [[0, 0], [9, 1], [10, 1], [99, 2]]) {
            const picked = { [pair[0]]: first, [pair[1]]: second, g1: [age], g2: [unit] };
            const body = reportBody(DESIGN, ID, picked);
            lengths.add(new TextEncoder().encode(body).length);
          }
        }
      }
    }
    assert.deepEqual([...lengths], [longest(DESIGN)]);
  });

  it("is padded no more than the longest report needs", () => {
    const body = reportBody(DESIGN, ID, { b1: [1, 0], b10: [1, 10, 19], g1: [99], g2: [0] });
    assert.equal(body, body.trimEnd());
  });
});

describe("a pass", () => {
  it("is added to the body, which still has one length", () => {
    const more = { pass: { message: "m".repeat(60), signature: "s".repeat(342) } };
    const one = reportBody(DESIGN, ID, { b1: [1, 0], b2: [7], g1: [99], g2: [2] }, more);
    const two = reportBody(DESIGN, ID, { b1: [0, 0], b10: [1, 10, 19], g1: [0], g2: [0] }, more);
    assert.deepEqual(JSON.parse(one).pass, more.pass);
    assert.equal(one.length, two.length);
    assert.equal(one.length, longest(DESIGN, more));
  });
});

describe("the id", () => {
  const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  it("is a version 4 UUID, with and without randomUUID", () => {
    const plain = { getRandomValues: (bytes) => crypto.getRandomValues(bytes) };
    assert.match(newId(), UUID4);
    assert.match(newId(plain), UUID4);
    assert.notEqual(newId(plain), newId(plain));
  });

  it("takes every free bit from the generator", () => {
    const ones = newId({ getRandomValues: (bytes) => bytes.fill(255) });
    const zeros = newId({ getRandomValues: (bytes) => bytes.fill(0) });
    assert.equal(ones, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert.equal(zeros, "00000000-0000-4000-8000-000000000000");
  });
});
