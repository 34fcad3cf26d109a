// The dashboard's updates: what it requests and when, and what it shows.

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { openPage, reply, settled } from "../support/dom.mjs";

/* The parts of dashboard.html and choices.html in templates/aggregation/dashboard/ that the script looks for. */
const html = (release, { interval = "always", estimate = `estimate ${release}`, later = "" } = {}) => `
  <dd id="waiting">0</dd>
  <div id="job" data-now="/now/" data-release="${release}" data-state="open">
    <button>Release now</button><p id="job-status">All is quiet.</p>
    <progress id="job-progress" max="1" value="0" hidden></progress></div>
  <form id="choices" action="/dashboard/small/">
    <select id="interval" name="interval" data-default="${interval}">
      <option value="always">always</option><option value="once">once</option></select>
    <input type="range" id="forged-range" min="0" max="20" step="0.5" value="0" hidden>
    <input type="number" id="forged" name="forged" data-default="0" value="0">
    <button>Show</button><div id="why" data-live></div></form>
  <div id="estimates" data-live>${estimate}<a id="more" href="/">More</a>${later}</div>`;

/** @param {any} t @param {any} [page] */
async function start(t, page = {}, body = html(1), before = (_$) => {}) {
  /** @type {any} */
  const server = {
    now: { state: "open", release: 1, waiting: 0, job: null },
    page: html(1),
    ...page,
  };
  const serve = ({ path }) => {
    if (server.down) return null;
    if (path.startsWith("/now/")) return reply(200, server.now);
    return typeof server.page === "function" ? server.page(path) : new Response(server.page);
  };
  const opened = openPage(t, { url: "http://candor.test/dashboard/small/", html: body, serve });
  const hidden = (value) => Object.defineProperty(opened.document, "hidden", { value, configurable: true });
  hidden(false); // jsdom's pages are not seen
  before(opened.$);
  await opened.load("dashboard/dashboard.js");
  await settled();
  const looks = () => opened.sent.filter(({ path }) => path.startsWith("/now/")).map(({ path }) => path);
  const fetched = () => opened.sent.filter(({ path }) => path.startsWith("/dashboard/")).map(({ path }) => path);
  return { ...opened, server, hidden, looks, fetched, status: opened.$("#job-status") };
}

describe("the dashboard", () => {
  it("asks for its status every five seconds, but not while it is hidden", async (t) => {
    const { clock, looks, hidden, server, $ } = await start(t);
    assert.deepEqual(looks(), ["/now/"]);
    server.now.waiting = 17;
    await clock.pass(5_000);
    assert.deepEqual([looks().length, $("#waiting").textContent], [2, "17"]);
    hidden(true);
    await clock.pass(60_000);
    assert.equal(looks().length, 2);
    hidden(false);
    await clock.pass(5_000);
    assert.equal(looks().length, 3);
  });

  it("follows a release twice a second and says when it is out", async (t) => {
    const { clock, looks, server, status, fetched, $ } = await start(t);
    server.now.job = { id: 9, state: "running", progress: 0.5 };
    await clock.pass(5_000);
    assert.deepEqual([status.textContent, $("#job-progress").value], ["Making a release …", 0.5]);
    assert.deepEqual([$("#job-progress").hidden, $("#job button").disabled], [false, true]);
    await clock.pass(1_000);
    assert.deepEqual(looks().slice(2), ["/now/?job=9", "/now/?job=9"]);
    server.page = html(2);
    server.now.release = 2;
    server.now.job = { id: 9, state: "done", progress: 1, result: { release: 2, new: 1234, crowd: 20 } };
    await clock.pass(500);
    assert.equal(status.textContent, "Release 2 is out, with 1,234 new reports.");
    assert.deepEqual([$("#job-progress").hidden, $("#job button").disabled], [true, false]);
    assert.match($("#estimates").textContent, /^estimate 2/);
    server.now.job = null;
    await clock.pass(5_000);
    assert.equal(looks().at(-1), "/now/"); // the job is not followed any more
    assert.equal(fetched().length, 1); // and the release is fetched once
  });

  it("says why a release failed", async (t) => {
    const { clock, server, status } = await start(t);
    server.now.job = { id: 9, state: "failed", progress: 0, error: "No worker." };
    await clock.pass(5_000);
    assert.equal(status.textContent, "The release failed. No worker.");
  });

  it("says that the server is not responding until it does", async (t) => {
    const { clock, server, status } = await start(t);
    server.down = true;
    await clock.pass(10_000);
    assert.match(status.textContent, /not responding/);
    server.down = false;
    await clock.pass(5_000);
    assert.equal(status.textContent, "All is quiet.");
    server.now.job = { id: 9, state: "failed", progress: 0, error: "No worker." };
    await clock.pass(5_000);
    server.now.job = null;
    await clock.pass(5_000);
    assert.equal(status.textContent, "The release failed. No worker."); // and not what was before
  });

  it("loads the page again when the survey was closed", async (t) => {
    const { clock, server, left } = await start(t);
    server.now.state = "closed";
    await clock.pass(5_000);
    assert.deepEqual(left, ["reload"]);
  });

  it("fetches the parts that come later until they have come", async (t) => {
    const later = '<p data-later="1">soon</p>';
    const { clock, server, fetched, $ } = await start(t, { page: html(1, { later }) }, html(1, { later }));
    await clock.pass(5_000);
    assert.equal(fetched().length, 2);
    server.page = html(1);
    await clock.pass(10_000);
    assert.equal(fetched().length, 3);
    assert.equal($("[data-later]"), null);
  });

  it("keeps the focus, and follows a new default unless something else was chosen", async (t) => {
    const { clock, server, fetched, $, fire, document } = await start(t);
    $("#more").focus();
    server.page = html(2, { interval: "once" });
    server.now.release = 2;
    await clock.pass(5_000);
    assert.equal(document.activeElement.id, "more");
    assert.equal($("#interval").value, "once");
    $("#interval").value = "always";
    fire($("#interval"), "input");
    await clock.pass(250);
    assert.equal(fetched().at(-1), "/dashboard/small/?interval=always");
  });
});

describe("a choice of the reader", () => {
  it("is requested once after a pause, and becomes the address", async (t) => {
    const { clock, fetched, type, $, window } = await start(t, { page: html(1, { estimate: "forged" }) });
    type($("#forged-range"), "2");
    await clock.pass(200);
    type($("#forged-range"), "2.5");
    await clock.pass(249);
    assert.deepEqual(fetched(), []);
    await clock.pass(1);
    assert.deepEqual(fetched(), ["/dashboard/small/?forged=2.5"]);
    assert.match($("#estimates").textContent, /^forged/);
    assert.equal(window.location.search, "?forged=2.5");
    type($("#forged"), "0"); // the default is left out of the address
    await clock.pass(250);
    assert.equal(window.location.search, "");
  });

  it("counts if it was made before the script ran", async (t) => {
    for (const [field, value] of [["forged", "4"], ["interval", "once"]]) {
      const { fetched } = await start(t, {}, html(1), ($) => ($(`#${field}`).value = value));
      assert.deepEqual(fetched(), [`/dashboard/small/?${field}=${value}`]);
    }
    const { fetched } = await start(t);
    assert.deepEqual(fetched(), []);
  });

  it("is requested at once on Enter, and only once", async (t) => {
    const { clock, fetched, type, $, fire } = await start(t);
    type($("#forged"), "3");
    assert.equal(fire($("#choices"), "submit").defaultPrevented, true);
    await clock.pass(1_000);
    assert.equal(fetched().length, 1);
  });

  it("wins if it is the last, even if answers arrive out of order", async (t) => {
    const answers = {};
    const page = (path) => new Promise((answer) => (answers[path] = () => answer(new Response(html(1, { estimate: path })))));
    const { clock, type, $, window } = await start(t, { page });
    for (const forged of ["1", "2"]) {
      type($("#forged"), forged);
      await clock.pass(250);
    }
    answers["/dashboard/small/?forged=2"]();
    await settled();
    answers["/dashboard/small/?forged=1"]();
    await settled();
    assert.match($("#estimates").textContent, /forged=2/);
    assert.equal(window.location.search, "?forged=2");
  });

  it("changes nothing if the server does not answer, and the page says so", async (t) => {
    const { clock, server, type, $, window } = await start(t);
    server.down = true;
    type($("#forged"), "1");
    await clock.pass(250);
    assert.match($("#why").textContent, /not responding/);
    assert.match($("#estimates").textContent, /^estimate 1/);
    assert.equal(window.location.search, "");
  });
});
