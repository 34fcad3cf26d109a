// The pages that wait for a job: an analysis or a large file.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { openPage, reply, settled } from "../support/dom.mjs";

/* A page with this script; the test sets the state of its job. */
async function start(t, script, html, job) {
  const server = { job };
  const serve = ({ path }) => (server.job && path === "/job/" ? reply(200, server.job) : null);
  const page = openPage(t, { html, serve });
  await page.load(script);
  await settled();
  return { ...page, server };
}

describe("an analysis", () => {
  const html = '<div id="progress" data-progress="/job/"><p id="words">Waiting</p><progress max="1" value="0"></progress></div>';

  it("shows how far it is, and the page itself when it has ended", async (t) => {
    const job = { active: true, progress: 0.25, words: "Counting" };
    const { $, clock, server, left } = await start(t, "analyses/analysis_progress.js", html, job);
    assert.deepEqual([$("#words").textContent, $("progress").value], ["Counting", 0.25]);
    server.job = { active: false, progress: 1, words: "Done" };
    await clock.pass(500);
    assert.deepEqual(left, ["reload"]);
    assert.equal(clock.waiting, 0);
  });

  it("is given up after a minute without the server", async (t) => {
    const { $, clock, sent } = await start(t, "analyses/analysis_progress.js", html, null);
    await clock.pass(600_000);
    assert.match($("#words").textContent, /not responding/);
    assert.deepEqual([sent.length, clock.waiting], [120, 0]);
  });
});

describe("a large file", () => {
  const html = `<div id="copy" data-job="/job/"><p id="copy-status">Waiting for a worker …</p>
    <progress id="copy-progress" max="1" value="0"></progress><a id="copy-again">Look again</a>
    <a id="copy-file" hidden>Save</a><form id="copy-cancel"></form></div>`;
  const open = (t, job) => start(t, "exports/export_progress.js", html, job);

  it("is offered when it is made", async (t) => {
    const { $, clock, server } = await open(t, { state: "running", progress: 0.5 });
    assert.deepEqual([$("#copy-status").textContent, $("#copy-progress").value], ["Preparing …", 0.5]);
    assert.deepEqual([$("#copy-again").hidden, $("#copy-file").hidden], [true, true]);
    server.job = { state: "done", progress: 1, result: { bytes: 2_600_000 } };
    await clock.pass(1_000);
    assert.equal($("#copy-status").textContent, "Ready: 3 MB.");
    assert.deepEqual([$("#copy-file").hidden, $("#copy-cancel").hidden], [false, true]);
    assert.equal(clock.waiting, 0);
  });

  it("is waited for, however long the server is silent", async (t) => {
    const { $, clock, server } = await open(t, null);
    await clock.pass(600_000);
    assert.match($("#copy-status").textContent, /not responding/);
    server.job = { state: "done", progress: 1, result: { bytes: 900 } };
    await clock.pass(1_000);
    assert.equal($("#copy-status").textContent, "Ready: 1 kB.");
  });

  for (const state of ["failed", "cancelled"]) {
    it(`leaves it to the page to say that it was ${state}`, async (t) => {
      const { left, clock } = await open(t, { state, progress: 0 });
      assert.deepEqual([left, clock.waiting], [["reload"], 0]);
    });
  }
});
