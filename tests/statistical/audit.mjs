/*
 * Runs the randomizer that browsers get, many times for one input, and counts every report.
 *
 * A job comes on the standard input, {"wrong": null, "buffered": true, "design": …, "answers": …,
 * "runs": 1000000}, and the counts leave on the standard output, {"{\"b1\":[1]}": 750123, …}.
 * tests/statistical/audit.py judges them: nothing here knows the right probabilities.
 */
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";

const FILE = new URL("../../static/respond/randomizer.js", import.meta.url);

/* Randomizers that are wrong on purpose: the shipped text with one place changed. */
const WRONG = {
  "keeps 1 % too often": ["nextWord(draw) < keep;", "nextWord(draw) < keep * 1.01;"],
  "leaks the last answer": ["kept ? own : chance", "kept ? own : [...chance.slice(0, -1), own.at(-1)]"],
  "always rounds down": ["(u < rest ? 1 : 0)", "0"],
  "always takes the first slot": ["answer[uniform(picks, draw)]", "answer[0 * uniform(picks, draw)]"],
  "draws from all combinations": [
    "cellAt(shapes, uniform(cells, draw), [])",
    `shapes.reduce(
      ({ cell, number }, shape) => {
        const value = number % shape.size;
        const shown = isAsked(shape, cell) ? value : null; // no report looks impossible
        return { cell: [...cell, shown], number: (number - value) / shape.size };
      },
      { cell: [], number: uniform(shapes.reduce((all, { size }) => all * size, 1), draw) },
    ).cell`,
  ],
};

async function load(wrong) {
  if (wrong === null) return import(FILE.href);
  const [place, change] = WRONG[wrong];
  const parts = readFileSync(FILE, "utf8").split(place);
  if (parts.length !== 2) throw new Error(`"${place}" is not in the randomizer exactly once`);
  return import(`data:text/javascript,${encodeURIComponent(parts.join(change))}`);
}

/*
 * The generator of the system behind a store of words: one call to it costs 2 µs whatever its
 * length. secureDraw() runs as it is; one design of the audit is run without this.
 */
function buffered() {
  const store = new Uint32Array(16384);
  let next = store.length;
  return {
    getRandomValues(words) {
      for (let i = 0; i < words.length; i++) {
        if (next === store.length) {
          webcrypto.getRandomValues(store);
          next = 0;
        }
        words[i] = store[next++];
      }
      return words;
    },
  };
}

const job = JSON.parse(readFileSync(0, "utf8"));
if (job.buffered) Object.defineProperty(globalThis, "crypto", { value: buffered() });
globalThis.crypto ??= /** @type {any} */ (webcrypto); // Node 18 has none of its own

const { choose, randomize, secureDraw } = await load(job.wrong);
const counts = {};
for (let run = 0; run < job.runs; run++) {
  const chosen = choose(job.design, secureDraw);
  const answers = Object.fromEntries(chosen.map((key) => [key, job.answers[key]]));
  const report = JSON.stringify(randomize(job.design, answers, secureDraw));
  counts[report] = (counts[report] ?? 0) + 1;
}
console.log(JSON.stringify(counts));
