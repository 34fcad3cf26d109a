// The texts of the checking page, and how they are filled in.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { isolated, number, percent, say, signed } from "../../static/verify/say.js";
import { words } from "../../static/verify/words.js";

const folder = new URL("../../static/verify/", import.meta.url);

test("the texts are all used, and no other", () => {
  const own = readdirSync(folder).filter((name) => name.endsWith(".js") && name !== "words.js");
  const source = own.map((name) => readFileSync(new URL(name, folder), "utf8")).join("");
  const quoted = new Set(source.match(/(?<=words\.|")\w+/g));
  assert.deepEqual(Object.keys(words).filter((name) => !quoted.has(name)), []);
  const named = source.match(/(?<=words\.)\w+/g).filter((name) => name !== "js");
  assert.deepEqual(named.filter((name) => !(name in words)), []);
});

test("the texts are plain strings, or have one for every plural", () => {
  for (const text of Object.values(words)) {
    if (typeof text === "string") continue;
    assert.deepEqual(Object.keys(text), ["one", "other"]);
  }
});

test("the texts get their numbers in the page's language", () => {
  assert.equal(say("{done} of {all}", { done: 1234.5, all: "many" }), "1,234.5 of many");
  assert.equal(say(words.block, { count: 1 }), words.block.one);
  assert.match(say(words.block, { count: 1000 }), /^1,000 /);
  assert.equal(say("{title}", { title: "{count} $& $1" }), "{count} $& $1");
  assert.deepEqual([number(1.23456), percent(0.75004), signed(-0.5)], ["1.235", "75.0%", "-0.50"]);
  assert.equal(isolated("x"), "\u2068x\u2069");
});
