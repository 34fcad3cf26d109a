// The catalogues of both pages: every language says everything, with the same figures in it.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, it } from "node:test";

import * as say from "../../static/respond/words.js";
import * as checking from "../../static/verify/words.js";

/** @type {Record<string, say.Catalogue>} */
const CATALOGUES = {};
for (const [tag, { load }] of Object.entries(say.LANGUAGES)) CATALOGUES[tag] = (await load()).default;
/** @type {Record<string, Record<string, object>>} */
const PAGES = { respond: CATALOGUES, verify: checking.CATALOGUES };
const LANGUAGES = Object.keys(CATALOGUES);
const CATEGORIES = ["zero", "one", "two", "few", "many", "other"];

const isPlural = (value) =>
  typeof value === "object" && Object.keys(value).every((key) => CATEGORIES.includes(key));

/* Every text with its path: [["opening.start", "Start"], …]. A plural is one text. */
function texts(value, path = []) {
  if (typeof value === "string" || isPlural(value)) return [[path.join("."), value]];
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, [...path, name]));
}

const names = (text) => [...new Set(text.match(/\{\w+\}/g))].sort();

for (const [page, catalogues] of Object.entries(PAGES)) {
  const folder = new URL(`../../static/${page}/`, import.meta.url);
  const english = texts(catalogues.en);

  describe(`the catalogues of ${page}`, () => {
    it("are all the files in the folder, one per language", () => {
      const files = readdirSync(new URL("words/", folder)).map((name) => name.replace(".js", ""));
      assert.deepEqual(files.sort(), [...LANGUAGES].sort());
      assert.deepEqual(Object.keys(catalogues), LANGUAGES);
    });

    it("hold only texts that are used", () => {
      const below = page === "respond" ? ["kinds", "screens"] : [];
      const own = ["./", ...below].flatMap((name) =>
        readdirSync(new URL(name, folder))
          .filter((file) => file.endsWith(".js"))
          .map((file) => `${name}/${file}`),
      );
      const source = own.map((name) => readFileSync(new URL(name, folder), "utf8")).join("");
      const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, "");
      const asked = code.match(/(?<=\bwords(\(\))?\.)(?!js")\w+/g) ?? [];
      assert.deepEqual(asked.filter((name) => !(name in catalogues.en)), []);
      // by name, or by a word that stands in the code; below the first level also by {name} = …
      const first = new Set([...asked, ...(code.match(/(?<=")\w+/g) ?? [])]);
      const inner = new Set(code.match(/(?<=[.{,"] ?)\w+/g));
      const unused = english.filter(([path]) => {
        const [top, ...rest] = path.split(".").filter((part) => !/^\d+$/.test(part));
        return !first.has(top) || !rest.every((part) => inner.has(part));
      });
      assert.deepEqual(unused, []);
    });

    for (const [tag, catalogue] of Object.entries(catalogues)) {
      describe(tag, () => {
        const found = texts(catalogue);

        it("has every text and no other", () => {
          assert.deepEqual(
            found.map(([path]) => path),
            english.map(([path]) => path),
          );
        });

        it("leaves no text empty or untidy", () => {
          for (const [path, text] of found) {
            for (const form of isPlural(text) ? Object.values(text) : [text]) {
              assert.ok(typeof form === "string" && form.length > 0, path);
              assert.equal(form.trim(), form, path);
              assert.doesNotMatch(form, / {2}|'|"|\.\.\./, path);
            }
          }
        });

        it("has the plural forms of its language, and only those", () => {
          /** @type {string[]} */
          const wanted = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
          const order = CATEGORIES.filter((category) => wanted.includes(category));
          for (const [path, text] of found.filter(([, value]) => isPlural(value))) {
            assert.deepEqual(Object.keys(text), order, path);
          }
        });

        it("has the same names to fill in as the English", () => {
          found.forEach(([path, text], i) => {
            const original = english[i][1];
            const wanted = names(isPlural(original) ? original.other : original);
            if (!isPlural(text)) return assert.deepEqual(names(text), wanted, path);
            for (const [category, form] of Object.entries(text)) {
              // "one" or "two" may be said by the word itself
              const given = names(form);
              const exact = ["zero", "one", "two"].includes(category);
              const least = exact ? wanted.filter((name) => name !== "{count}") : wanted;
              for (const name of least) assert.ok(given.includes(name), `${path}.${category}`);
              for (const name of given) assert.ok(wanted.includes(name), `${path}.${category}`);
            }
          });
        });

        it("is not a copy of the English", () => {
          if (tag === "en") return;
          const own = found.filter(([, text], i) => {
            return JSON.stringify(text) === JSON.stringify(english[i][1]);
          });
          // names of things that are the same in both, such as "ltr"
          assert.ok(own.length < 12, own.map(([path]) => path).join(", "));
        });

        it("never says that anybody lies, and shows no formula", () => {
          const forbidden = /\blies?\b|\blying\b|Lüge|lügen|mentir|mensonge|mentira|كذب|e\^|ln /i;
          for (const [path, text] of found) {
            assert.doesNotMatch(JSON.stringify(text), forbidden, path);
          }
        });
      });
    }
  });
}

describe("the language", () => {
  it("is the first of the reader's languages that exists", () => {
    assert.equal(say.preferred(["it-IT", "fr-CH", "de"]), "fr");
    assert.equal(say.preferred(["AR-eg"]), "ar");
    assert.equal(say.preferred(["it"]), "en");
    assert.equal(say.preferred([]), "en");
    assert.equal(say.preferred(["__proto__", "constructor"]), "en");
  });

  it("changes for every module that imported the words", async () => {
    await say.speak("de");
    assert.equal(say.words, CATALOGUES.de);
    assert.equal(say.language, "de");
  });

  it("writes numbers and plurals in its own way", async () => {
    await say.speak("en");
    assert.equal(say.fill({ one: "{count} day", other: "{count} days" }, { count: 1 }), "1 day");
    assert.equal(say.fill("{a} and {b}", { a: 12345, b: "so" }), "12,345 and so");
    await say.speak("de");
    assert.equal(say.fill("{a}", { a: 12345 }), "12.345");
    assert.equal(say.number(2, { minimumFractionDigits: 2 }), "2,00");
    await say.speak("ar");
    assert.equal(say.fill(CATALOGUES.ar.opening.all, { count: 2 }).includes("{"), false);
  });

  it("uses the digits 0 to 9 in every language", async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    const value = { languages: ["ar-EG"] };
    Object.defineProperty(globalThis, "navigator", { value, configurable: true });
    try {
      await say.speak("ar");
    } finally {
      Reflect.deleteProperty(globalThis, "navigator");
      if (before) Object.defineProperty(globalThis, "navigator", before);
    }
    assert.equal(new Intl.NumberFormat("ar-EG").format(73), "٧٣");
    assert.equal(say.number(73), "73");
    assert.equal(say.number(0.5, { minimumFractionDigits: 2 }), "0.50");
    assert.match(say.day("2026-03-04"), /04.*03.*2026/);
  });

  it("does not fill in placeholders inside an inserted text", () => {
    assert.equal(say.fill("{question}", { question: "{count} $& {question}" }),
      "{count} $& {question}");
  });
});

describe("counts out of 100", () => {
  it("say at most, about, more than and fewer than", async () => {
    await say.speak("en");
    const plain = { count: 88, edge: null };
    assert.equal(say.atMost(plain), "at most 88");
    assert.equal(say.about(plain), "about 88");
    assert.equal(say.exactly(plain), "88");
    assert.equal(say.atMost({ count: 99, edge: "above" }), "more than 99");
    assert.equal(say.exactly({ count: 1, edge: "below" }), "fewer than 1");
    assert.equal(say.between({ count: 71, edge: null }, { count: 81, edge: null }), "about 71 to 81");
    assert.equal(say.between(plain, plain), "about 88");
  });
});

describe("the checking page", () => {
  it("uses the language of the menu, which both pages share", async () => {
    for (const tag of /** @type {say.Tag[]} */ (LANGUAGES)) {
      await say.speak(tag);
      assert.equal(checking.words(), checking.CATALOGUES[tag]);
    }
  });

  it("writes its own figures in that language", async () => {
    const { isolated, percent, rounded, signed } = checking;
    const figures = () => [rounded(0.00025, 5), percent(0.75004), signed(-0.5), signed(0)];
    await say.speak("en");
    assert.deepEqual(figures(), ["0.00025", "75.0%", "-0.50", "0.00"]);
    await say.speak("de");
    assert.deepEqual(figures(), ["0,00025", "75,0\u00a0%", "-0,50", "0,00"]);
    assert.equal(isolated("x"), "\u2068x\u2069");
  });

  it("counts a million as Spanish and French do", async () => {
    for (const [tag, end] of /** @type {[say.Tag, RegExp][]} */ ([["es", / de veces$/], ["fr", / de fois$/]])) {
      await say.speak(tag);
      assert.match(say.fill(checking.words().run, { count: 1_000_000 }), end);
    }
  });
});
