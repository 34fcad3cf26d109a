/*
 * The body of the one POST: built once, the same number of bytes whatever was answered.
 *
 * Sees only what the randomizer returned, never an answer. Pure but for newId.
 */

/* A version 4 UUID. randomUUID exists only in secure contexts; getRandomValues everywhere. */
export function newId(generator = crypto) {
  if (generator.randomUUID) return generator.randomUUID();
  const bytes = generator.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/* The body for these randomized blocks and these strata, padded with spaces (RFC 8259, 2). */
export function reportBody(design, id, blocks, strata) {
  return serialize(design, id, blocks, strata).padEnd(longest(design));
}

/* The length of the longest body that this design allows: a constant of the survey. */
export function longest(design) {
  const last = (question) => question.options.length - 1;
  const blocks = design.blocks
    .map((block) => [block.key, block.questions.map(last)])
    .sort((one, other) => JSON.stringify(other).length - JSON.stringify(one).length)
    .slice(0, design.ask);
  const strata = design.strata.map((stratum) => [stratum.key, null]); // no position is longer
  const id = "00000000-0000-4000-8000-000000000000";
  return serialize(design, id, Object.fromEntries(blocks), Object.fromEntries(strata)).length;
}

function serialize(design, id, blocks, strata) {
  return JSON.stringify({ id, design: design.hash, blocks, strata });
}
