/*
 * Calls functions of the checking page: [["power", [13.8, 2, 10]], …] on the standard input, the
 * list of their values on the standard output. tests/statistical/test_verify.py compares them.
 */
import { readFileSync } from "node:fs";

import * as check from "../../static/verify/check.js";
import * as statistics from "../../static/verify/statistics.js";

/* What the page puts into every block of a design, and the probabilities that it promises. */
function promised(design) {
  const blocks = check.plan(design).flatMap((round) => round.blocks);
  return blocks.map(({ block, inputs, tables }) => ({
    key: block.key,
    inputs: inputs.map(({ answers }) => answers),
    tables: tables.map(({ kind, asked, values, promised }) => ({
      kind,
      asked: asked.map((question) => block.questions.indexOf(question)),
      values,
      promised,
    })),
  }));
}

/* How likely the page notices a shift, by the first table of each of the example's blocks. */
function noticed(shift) {
  const rounds = check.plan(check.EXAMPLE);
  const limit = check.limitOf(rounds);
  return rounds[0].blocks.map(({ tables: [table] }) =>
    check.noticed(check.EXAMPLE, table, limit, shift),
  );
}

const functions = { ...statistics, promised, noticed };
const calls = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(calls.map(([name, given]) => functions[name](...given))));
