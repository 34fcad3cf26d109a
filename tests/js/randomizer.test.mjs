/*
 * The very file that browsers get, against the vectors that the Python code writes.
 * node --test tests/js/    (Node 18 or later, no packages)
 */
import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

globalThis.crypto ??= /** @type {any} */ (webcrypto); // Node 18 has none; browsers and later Nodes do

const file = new URL("../../static/respond/randomizer.js", import.meta.url);
const source = readFileSync(file, "utf8");
const vectors = JSON.parse(
  readFileSync(new URL("../vectors/cells-1.json", import.meta.url), "utf8"),
);
const randomizer = await import(file.href);
const { choose, loss, randomize, secureDraw } = randomizer;
/** @type {Map<string, any>} */
const designs = new Map(vectors.designs.map((each) => [each.name, each.design]));

/* Explicit words as a draw that counts itself and never runs out silently. */
function drawFrom(words) {
  const draw = () => {
    assert.ok(draw.used < words.length, "more words drawn than the vector has");
    return words[draw.used++];
  };
  draw.used = 0;
  return draw;
}

/* RFC 8785 for what a design holds; JSON.stringify writes numbers and texts as it wants them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/**
 * What a call throws, or a failure if it does not.
 * @returns {any}
 */
function refusal(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

/* Every answer to a question, or of a wide number and of multiple choice with many options, some. */
function answersTo({ kind, options, least, most, picks }) {
  if (kind === "number") {
    if (most - least < 100) return Array.from({ length: most - least + 1 }, (_, i) => least + i);
    return [least, least + 1, 0, most - 1, most];
  }
  const positions = options.map((_, i) => i);
  if (kind !== "several") return positions;
  const sets = positions.slice(-4).reduce((all, i) => [...all, ...all.map((set) => [...set, i])], [[]]);
  return sets.filter((set) => set.length <= picks);
}

/* Every list of answers that a person can give to a block. */
function everyAnswer({ questions }) {
  const asked = (only, list) => {
    const gate = questions.findIndex(({ key }) => key === only.question);
    return only.options.some((key) => questions[gate].options[list[gate]]?.key === key);
  };
  return questions.reduce(
    (lists, question) =>
      lists.flatMap((list) => {
        const some = !question.only_if || asked(question.only_if, list) ? answersTo(question) : [null];
        return some.map((answer) => [...list, answer]);
      }),
    [[]],
  );
}

test("the file is short and has no imports or requests", () => {
  assert.ok(source.trimEnd().split("\n").length < 250, "250 lines or more");
  for (const word of [
    "import", "require", "eval", "Function(", "fetch", "XMLHttpRequest", "WebSocket", "sendBeacon",
    "document", "window", "navigator", "location", "Math.random", "Date", "performance",
    "localStorage", "sessionStorage", "indexedDB", "cookie", "console", "setTimeout", "postMessage",
  ]) {
    assert.ok(!source.includes(word), `the source contains "${word}"`);
  }
  assert.deepEqual([...new Set(source.match(/globalThis\.\w+/g))], ["globalThis.crypto"]);
});

test("the file exports these names and no others", () => {
  assert.deepEqual(Object.keys(randomizer).sort(), ["choose", "loss", "randomize", "secureDraw"]);
});

test("the mechanism is that of the Python code, and no other is accepted", () => {
  const design = designs.get("2 x 2 at 2");
  assert.equal(design.mechanism, vectors.mechanism);
  const other = { ...design, mechanism: "cells/2" };
  assert.match(refusal(() => choose(other, () => 0)).message, /^design\.mechanism: /);
});

test("every keep of the grid is accepted, and one 1 % higher costs more than is stated", () => {
  for (const { epsilon, sizes, keep } of vectors.keeps) {
    assert.deepEqual(choose(designWith(epsilon, sizes, keep), () => 0), ["b1"]);
    const higher = designWith(epsilon, sizes, keep + Math.ceil(keep / 100));
    assert.match(refusal(() => choose(higher, () => 0)).message, /^design\.blocks\[0\]\.keep: /);
  }
});

function designWith(epsilon, sizes, keep) {
  const questions = sizes.map((size) => ({ options: Array.from({ length: size }, () => ({})) }));
  const blocks = [{ key: "b1", epsilon, keep, questions }];
  return { mechanism: vectors.mechanism, scale: vectors.scale, epsilon, ask: 1, blocks };
}

test("every block costs what is stated, or hardly less, and refuses a higher keep", () => {
  for (const [name, design] of designs) {
    for (const block of design.blocks) {
      assert.ok(loss(block) <= block.epsilon, name);
      assert.ok(loss(block) > block.epsilon * (1 - 1e-4), name); // the faintest is the coarsest
      for (const more of [Math.ceil(block.keep / 1000), Math.ceil(block.keep / 100)]) {
        const error = refusal(() => loss({ ...block, keep: block.keep + more }));
        assert.match(error.message, /^block\.keep: /, name);
      }
    }
  }
});

test("canonical JSON is the same in both languages", () => {
  for (const each of vectors.canonical) assert.equal(canonical(each.value), each.canonical);
});

for (const { name, design, canonical: text, hash } of vectors.designs) {
  test(`canonical JSON and hash of ${name} agree with the vectors`, () => {
    const { hash: sent, ...rest } = design;
    assert.equal(canonical(rest), text);
    assert.equal(`sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`, hash);
    assert.equal(sent, hash);
  });
}

test("the blocks chosen are those of the vectors", () => {
  assert.ok(vectors.choices.length > 50);
  for (const each of vectors.choices) {
    const draw = drawFrom(each.words);
    assert.deepEqual(choose(designs.get(each.design), draw), each.chosen);
    assert.equal(draw.used, each.used);
  }
});

test("the reports are those of the vectors, draw for draw", () => {
  assert.ok(vectors.reports.length > 200);
  for (const each of vectors.reports) {
    const draw = drawFrom(each.words);
    const before = JSON.stringify([designs.get(each.design), each.answers]);
    const report = randomize(designs.get(each.design), each.answers, draw);
    assert.equal(JSON.stringify(report), JSON.stringify(each.report));
    assert.equal(draw.used, each.used);
    assert.equal(JSON.stringify([designs.get(each.design), each.answers]), before);
  }
});

test("the language that a design is shown in changes nothing", () => {
  const texts = { text: "Haben Sie?", options: ["Nein", "Ja"] };
  const translations = { de: { questions: { q1: texts } }, ar: { questions: {} } };
  for (const each of vectors.reports) {
    const design = { ...designs.get(each.design), translations };
    assert.deepEqual(randomize(design, each.answers, drawFrom(each.words)), each.report);
  }
});

test("blocks are reported in the order of the design, whatever the order of the answers", () => {
  const each = vectors.reports.find(({ answers }) => Object.keys(answers).length > 1);
  const turned = Object.fromEntries(Object.entries(each.answers).reverse());
  assert.notEqual(JSON.stringify(turned), JSON.stringify(each.answers));
  const report = randomize(designs.get(each.design), turned, drawFrom(each.words));
  assert.equal(JSON.stringify(report), JSON.stringify(each.report));
});

test("the report holds what was checked, even if the answers change meanwhile", () => {
  const answers = { b1: [1, 0] };
  const draw = () => {
    answers.b1.fill(987654);
    return 0; // always kept
  };
  assert.deepEqual(randomize(designs.get("2 x 2 at 2"), answers, draw), { b1: [1, 0] });
});

test("the same words are used up whatever the answers are", () => {
  for (const each of vectors.reports) {
    const design = designs.get(each.design);
    for (const block of design.blocks.filter(({ key }) => key in each.answers)) {
      for (const given of everyAnswer(block)) {
        const draw = drawFrom(each.words);
        randomize(design, { ...each.answers, [block.key]: given }, draw);
        assert.equal(draw.used, each.used);
      }
    }
  }
});

test("a replaced report is the same whatever the answers are", () => {
  const last = vectors.scale - 1; // never below keep
  for (const each of vectors.reports.filter(({ words }) => words[0] === last)) {
    const design = designs.get(each.design);
    const [block] = design.blocks.filter(({ key }) => key in each.answers);
    for (const given of everyAnswer(block)) {
      const answers = { ...each.answers, [block.key]: given };
      assert.deepEqual(randomize(design, answers, drawFrom(each.words)), each.report);
    }
  }
});

test("a kept report is the answer, a level beside the number, or one of the picks", () => {
  for (const [name, design] of designs) {
    const [block] = design.blocks;
    const only = { ...design, ask: 1, epsilon: block.epsilon, blocks: [block] };
    for (const given of everyAnswer(block)) {
      for (const u of [0, 1, 2]) {
        const words = [0, ...Array(9).fill(u)];
        const [report] = Object.values(randomize(only, { [block.key]: given }, drawFrom(words)));
        block.questions.forEach(({ kind, least, most, levels, picks }, i) => {
          const value = report[i];
          if (kind === "number" && value !== null) {
            assert.ok(Math.abs(value - ((given[i] - least) * levels) / (most - least)) < 1, name);
          } else if (kind === "several") assert.equal(value, given[i][u % picks] ?? null, name);
          else assert.equal(value, given[i], name);
        });
      }
    }
  }
});

test("the widest number is rounded exactly", () => {
  // 2^32 numbers and 2^20 - 1 levels: the largest product is below 2^53. BigInt knows it exactly.
  const [least, most, levels] = [-(2 ** 31), 2 ** 31, 2 ** 20 - 1];
  const question = { key: "q", kind: "number", options: [], least, most, levels };
  const block = { key: "b1", epsilon: 1, keep: 1, questions: [question] };
  const design = { ...designs.get("2 x 2 at 2"), blocks: [block] };
  for (const answer of [least, least + 1, -4097, -1, 0, 1, 4096, most - 4095, most - 1, most]) {
    const scaled = BigInt(answer - least) * BigInt(levels);
    const rest = Number(scaled & 0xffff_ffffn);
    for (const u of [0, rest - 1, rest, vectors.scale - 1].filter((one) => one >= 0)) {
      const level = Number(scaled >> 32n) + Number(u < rest);
      assert.deepEqual(randomize(design, { b1: [answer] }, drawFrom([0, u, 0])), { b1: [level] });
    }
  }
});

test("many follow-ups are counted without going through all of their cells", () => {
  const { design } = vectors.bad.find(({ name }) => name === "60 follow-ups");
  const [block] = design.blocks;
  const many = { ...block, epsilon: 8, keep: 1, questions: block.questions.slice(0, 20) };
  const before = process.cpuUsage();
  for (let i = 0; i < 100; i++) loss(many); // 2^19 + 1 cells
  assert.ok(process.cpuUsage(before).user < 3e6, "more than 30 ms each");
});

for (const each of vectors.bad) {
  test(`${each.name} is refused (${each.where})`, () => {
    const draw = drawFrom(each.words);
    const error = refusal(() => randomize(each.design, each.answers, draw));
    assert.ok(error.message.startsWith(`${each.where}: `), error.message);
    if (each.where !== "draw") assert.equal(draw.used, 0, "words were drawn before the check");
    if (each.where.startsWith("design")) {
      assert.equal(refusal(() => choose(each.design, draw)).message, error.message);
    }
  });
}

test("a missing design or draw is refused by name", () => {
  const design = designs.get("2 x 2 at 2");
  for (const wrong of [undefined, null, 1, "design", [design]]) {
    assert.match(refusal(() => randomize(wrong, { b1: [1, 0] }, () => 0)).message, /^design: /);
    assert.match(refusal(() => choose(wrong, () => 0)).message, /^design: /);
  }
  for (const wrong of [undefined, null, 7, [1, 2, 3]]) {
    assert.match(refusal(() => randomize(design, { b1: [1, 0] }, wrong)).message, /^draw: /);
    assert.match(refusal(() => choose(design, wrong)).message, /^draw: /);
  }
});

test("numbers that JSON cannot write are refused too", () => {
  const design = designs.get("2 x 2 at 2");
  for (const wrong of [NaN, Infinity, 1n, undefined, Symbol("yes"), { valueOf: () => 1 }]) {
    const error = refusal(() => randomize(design, { b1: [0, wrong] }, () => 0));
    assert.match(error.message, /^answers\.b1\[1\]: /);
    assert.match(refusal(() => randomize(design, { b1: [0, 0] }, () => wrong)).message, /^draw: /);
  }
  const hole = refusal(() => randomize(design, { b1: new Array(2) }, () => 0));
  assert.match(hole.message, /^answers\.b1\[0\]: /);
});

test("an error is the same whatever the answers are, so it repeats none of them", () => {
  const design = designs.get("2 x 2 at 2");
  const messages = new Map();
  for (const each of vectors.bad.filter(({ where }) => where.startsWith("answers."))) {
    const error = refusal(() => randomize(each.design, each.answers, () => 0));
    messages.set(each.where, (messages.get(each.where) ?? new Set()).add(error.message));
  }
  assert.ok(messages.size >= 4);
  for (const [where, texts] of messages) assert.equal(texts.size, 1, where);

  for (const bad of [-1, 2 ** 32, "x"]) {
    const draws = everyAnswer(design.blocks[0]).map((given) =>
      refusal(() => randomize(design, { b1: given }, () => bad)).message,
    );
    assert.equal(new Set(draws).size, 1);
  }
  const unknown = refusal(() => randomize(design, { b1: [0, 0], secret: ["secret"] }, () => 0));
  assert.ok(!unknown.message.includes("secret"), "not even the name of an unknown block");
});

test("secureDraw returns one word of the secure generator at a time", () => {
  const words = Array.from({ length: 1000 }, secureDraw);
  for (const word of words) assert.ok(Number.isInteger(word) && word >= 0 && word < vectors.scale);
  // Fails by chance with a probability below 1e-40: ten repeats, or a tenth of the range missed.
  assert.ok(new Set(words).size > 990);
  assert.ok(Math.max(...words) > vectors.scale * 0.9 && Math.min(...words) < vectors.scale * 0.1);
});

test("without a secure generator secureDraw throws, and nothing else is tried", () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, "crypto") ?? {};
  const random = Math.random;
  try {
    Math.random = () => assert.fail("another source of randomness was tried");
    for (const value of [undefined, null, {}, { getRandomValues: 1 }]) {
      Object.defineProperty(globalThis, "crypto", { value, configurable: true, writable: true });
      assert.match(refusal(secureDraw).message, /^crypto: /);
      const design = designs.get("one yes/no at ln 3");
      assert.match(refusal(() => randomize(design, { b1: [1] }, secureDraw)).message, /^crypto: /);
    }
    const broken = () => { throw new Error("QuotaExceededError"); };
    Object.defineProperty(globalThis, "crypto", {
      value: { getRandomValues: broken }, configurable: true, writable: true,
    });
    assert.equal(refusal(secureDraw).message, "QuotaExceededError");
  } finally {
    Math.random = random;
    Object.defineProperty(globalThis, "crypto", own);
  }
});
