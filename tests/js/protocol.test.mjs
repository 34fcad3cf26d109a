// Canonical JSON as both languages write it, and the surveys that the page accepts because of it.

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { canonicalJson, fetchSurvey } from "../../static/respond/protocol.js";

globalThis.crypto ??= /** @type {any} */ (webcrypto); // Node 18 has none

const { cases, design } = JSON.parse(
  readFileSync(new URL("../vectors/canonical.json", import.meta.url), "utf8"),
);

describe("canonical JSON", () => {
  for (const { name, value, canonical } of cases) {
    it(`agrees with the vector: ${name}`, () => assert.equal(canonicalJson(value), canonical));
  }
});

/* What fetchSurvey says of a definition that the site sends. */
async function fetched(t, definition) {
  t.mock.method(globalThis, "fetch", async () => Response.json(definition));
  return fetchSurvey();
}

describe("a survey whose questions are keyed 1 to 10", () => {
  const survey = { protocol: 1, state: "open", slug: "ten", design };

  it("is accepted, in every language", async (t) => {
    assert.deepEqual(await fetched(t, survey), { survey });
  });

  it("is refused when a translation was changed", async (t) => {
    const changed = structuredClone(survey);
    changed.design.translations.de.questions["10"].text = "Etwas anderes?";
    assert.deepEqual(await fetched(t, changed), { problem: "outdated" });
  });
});
