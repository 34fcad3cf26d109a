// The editor of a draft, on the page that the template makes: what is typed, pressed and dropped is
// what is saved, and the focus is where somebody goes on.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { openPage, reply, settled, until } from "../support/dom.mjs";

const TEMPLATE = readFileSync(new URL("../../templates/studio/editor.html", import.meta.url), "utf8");

/* The template with nothing in its conditions and 1 for every value but the slug. */
const HTML = TEMPLATE.replace(/{% if [\s\S]*?{% endif %}/g, "")
  .replace(/{% csrf_token %}/g, '<input type="hidden" name="csrfmiddlewaretoken" value="token">')
  .replace(/{% url 'studio-draft'[^%]*%}/, "/studio/draft/draft/")
  .replace(/{{ survey\.slug }}/g, "draft")
  .replace(/{{ most\|unlocalize }}/g, "4")
  .replace(/{{ most_people\|unlocalize }}/g, "1000000000")
  .replace(/{{[^}]*}}/g, "1")
  .replace(/{%[^%]*%}/g, "");

const asked = (key, more = {}) => ({ key, text: `Text ${key}`, kind: "yes_no", prefer_not_to_say: false, ...more });
const DOCUMENT = {
  title: "A survey", introduction: "", language: "en", epsilon: 2, crowd: 20,
  questions: [asked("one"), asked("two", { kind: "choice", options: ["Red", "Green"] }), asked("three")],
  background: [], translations: {},
};
const LIMITS = {
  questions: 100, options: 20, bound: 2 ** 31, background_epsilon: 5, usual_background_epsilon: 3, title: 200, disclosure: 200,
};
const KINDS = {
  yes_no: "Yes or no", choice: "One of several options", scale: "Scale", number: "Number", several: "Several",
};
const OURS = { en: ["No", "Yes", "Prefer not to say"], de: ["Nein", "Ja", "Keine Angabe"] };
const FIGURES = {
  sure: "88 %", dots: 88, weak: false, costs: [], report: { epsilon: "2", sure: "88 %" },
  everybody: "3", by_group: [], blocks: "One block.", questions: [],
};

/* The editor with a server that saves everything, unless `server.answer` says something else. */
/** @param {any} t @param {any} [given] */
async function start(t, { document = DOCUMENT, hash = "" } = {}) {
  /** @type {any} */
  const server = { number: 1, document, answer: null, more: {} };
  const described = (whole) => ({
    number: server.number, undo: true, redo: true, wrong: {}, blocks: [], figures: FIGURES, ways: {}, opens: null, slug: "draft",
    ...(whole && { document: server.document, follows: true, ours: OURS, limits: LIMITS, kinds: KINDS }),
    ...server.more,
  });
  const serve = ({ method, body }) => {
    const given = method === "POST" && JSON.parse(body);
    if (given && server.answer) return server.answer(given, described);
    if (given) server.number += 1;
    if (given.document) server.document = given.document;
    return reply(200, described(!given || "go" in given));
  };
  const page = openPage(t, { url: `http://candor.test/studio/draft/${hash}`, html: HTML, serve });
  await page.load("studio/editor.js");
  await settled();
  const byId = (id) => page.document.getElementById(id);
  const posted = () => page.sent.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));
  return {
    ...page, byId, server, posted, described,
    focused: () => page.document.activeElement.id,
    keys: () => server.document.questions.map(({ key }) => key),
    saved: async () => {
      await page.clock.pass(500);
      return posted().at(-1)?.document;
    },
    key: (target, key, more) => page.fire(target, "keydown", { key, ...more }),
  };
}

describe("a draft", () => {
  it("is shown when loaded, with the focus at the place in the address", async (t) => {
    const { byId, focused } = await start(t, { hash: "#question-two" });
    assert.equal(byId("editor").hidden, false);
    assert.equal(byId("title").value, "A survey");
    assert.equal(byId("questions").children.length, 3);
    assert.equal(focused(), "questions-two-text");
    assert.equal(byId("saved").textContent, "Saved");
  });

  it("is not shown as an empty one if it cannot be loaded", async (t) => {
    const page = openPage(t, { url: "http://candor.test/studio/draft/", html: HTML, serve: () => null });
    await page.load("studio/editor.js");
    await settled();
    assert.equal(page.$("#editor").hidden, true);
    assert.match(page.$("#loading").textContent, /could not be loaded/);
  });

  it("is saved as typed, without invisible characters", async (t) => {
    const { byId, type, saved, posted } = await start(t);
    type(byId("title"), "A \u200bsurvey, again");
    assert.equal(byId("title").value, "A survey, again");
    type(byId("questions-two-0"), "Blue");
    const document = await saved();
    assert.equal(document.title, "A survey, again");
    assert.deepEqual(document.questions[1].options, ["Blue", "Green"]);
    assert.equal(posted().length, 1);
  });
});

describe("questions", () => {
  it("get the focus when added, and a key from their text", async (t) => {
    const { button, document, type, saved, byId } = await start(t);
    button("+ Choice question").click();
    type(document.activeElement, "Do you agree?");
    byId("title").focus();
    const added = (await saved()).questions[3];
    assert.deepEqual([added.text, added.kind, added.options.length], ["Do you agree?", "choice", 2]);
    assert.equal(added.key, "do-you-agree");
  });

  it("move with the arrow keys on their handle, which keeps the focus", async (t) => {
    const { key, byId, focused, saved, keys } = await start(t);
    byId("questions-one-handle").focus();
    key(byId("questions-one-handle"), "ArrowDown");
    assert.equal(focused(), "questions-one-handle");
    key(byId("questions-one-handle"), "ArrowDown");
    key(byId("questions-one-handle"), "ArrowDown"); // there is nothing below
    await saved();
    assert.deepEqual(keys(), ["two", "three", "one"]);
    assert.match(byId("said").textContent, /3 of 3/);
  });

  it("pass the focus to the next one when deleted, and at last to the add button", async (t) => {
    const { byId, focused, saved, document } = await start(t);
    byId("questions-two-delete").click();
    assert.equal(focused(), "questions-three-handle");
    byId("questions-three-delete").click();
    assert.equal(focused(), "questions-one-handle");
    byId("questions-one-delete").click();
    assert.equal(document.activeElement.dataset.add, "questions");
    assert.deepEqual((await saved()).questions, []);
  });

  it("get their own key and options when duplicated", async (t) => {
    const { byId, saved, type, document } = await start(t);
    byId("questions-two-again").click();
    type(document.activeElement, "Another");
    const [, first, second] = (await saved()).questions;
    assert.deepEqual([first.key, second.key], ["two", "two-2"]);
    assert.deepEqual([first.text, second.text], ["Text two", "Another"]);
    assert.deepEqual(second.options, ["Red", "Green"]);
  });

  it("get another option when Enter is pressed in the last one", async (t) => {
    const { byId, key, document, type, saved } = await start(t);
    const last = byId("questions-two-1");
    last.focus();
    assert.ok(key(last, "Enter").defaultPrevented);
    assert.equal(document.activeElement.value, "");
    type(document.activeElement, "Blue");
    assert.deepEqual((await saved()).questions[1].options, ["Red", "Green", "Blue"]);
  });
});

describe("background questions", () => {
  const JOB = { key: "job", text: "Your job?", options: ["Nurse", "Other"] };
  const WITH_JOB = { ...DOCUMENT, background: [JOB] };
  const cost = (epsilon, sure) => ({ epsilon, sure });

  it("keep the usual ε until somebody gives another", async (t) => {
    const { byId, type, saved } = await start(t, { document: WITH_JOB });
    assert.equal(byId("background-job-epsilon").value, "");
    assert.equal(byId("background-job-epsilon").placeholder, "3");
    type(byId("background-job-epsilon"), "4,5");
    assert.deepEqual((await saved()).background, [{ ...JOB, epsilon: 4.5 }]);
    type(byId("background-job-epsilon"), "");
    assert.deepEqual((await saved()).background, [JOB]);
  });

  it("are not saved with an ε above the site's limit", async (t) => {
    const { byId, type, clock, posted } = await start(t, { document: WITH_JOB });
    type(byId("background-job-epsilon"), "5.1");
    await clock.pass(10_000);
    assert.deepEqual(posted(), []);
    assert.equal(byId("background-job-epsilon-error").textContent, "At most 5 on this site, not 5.1.");
    assert.equal(byId("unsaved").textContent, "Not saved: ε of this answer: At most 5 on this site, not 5.1.");
  });

  it("always end with “Prefer not to say”, which is translated where we have no words", async (t) => {
    const { byId, type, fire, saved } = await start(t, { document: WITH_JOB });
    assert.match(byId("background").textContent, /The last option is always “Prefer not to say”/);
    assert.equal(byId("background-job-declined"), null);
    byId("add-language").value = "pl";
    fire(byId("add-language"), "change");
    type(byId("background-job-0-pl"), "Pielęgniarka");
    type(byId("background-job-ours-2-pl"), "Wolę nie mówić");
    const { options } = (await saved()).translations.pl.questions.job;
    assert.deepEqual(options, ["Pielęgniarka", "", "Wolę nie mówić"]);
  });

  it("have keys that no other question has", async (t) => {
    const { button, document, type, saved, byId } = await start(t);
    button("+ Background question").click();
    type(document.activeElement, "One");
    byId("title").focus();
    assert.deepEqual((await saved()).background, [{ key: "one-2", text: "One", options: ["", ""] }]);
  });

  it("are listed with what each answer and the whole report give away", async (t) => {
    const { byId, server, type, saved } = await start(t, { document: WITH_JOB });
    const report = cost("5", "99 %");
    const by_group = [{ groups: 2, error: "8" }];
    server.more = { figures: { ...FIGURES, costs: [cost("3", "95 %")], report, by_group } };
    type(byId("title"), "Again");
    await saved();
    assert.equal(byId("costs").hidden, false);
    const rows = [...byId("cost-rows").children].map((row) => [...row.children].map((cell) => cell.textContent));
    assert.deepEqual(rows, [
      ["Sensitive answers", "2", "88 %"], ["“Your job?”", "3", "95 %"], ["Whole report", "5", "99 %"],
    ]);
    assert.match(byId("background-job-sure").textContent, /at most 95 % sure/);
    assert.equal(byId("by-group").textContent, "In one of 2 groups by “Your job?”8");
  });

  it("are found by the place in the address", async (t) => {
    const { focused } = await start(t, { document: WITH_JOB, hash: "#question-job" });
    assert.equal(focused(), "background-job-text");
  });
});

describe("undo and redo", () => {
  it("have a button and keys, which a field leaves to the browser", async (t) => {
    const { byId, key, document, posted } = await start(t);
    byId("undo").click();
    key(document.body, "z", { ctrlKey: true });
    key(document.body, "Z", { ctrlKey: true, shiftKey: true });
    key(document.body, "y", { metaKey: true });
    byId("redo").click();
    const inField = key(byId("title"), "z", { ctrlKey: true });
    assert.equal(inField.defaultPrevented, false);
    await until(() => posted().length >= 5);
    await settled();
    assert.deepEqual(posted().map(({ go }) => go), [-1, -1, 1, 1, 1]);
  });

  it("show the draft as it was, and are off if there is nothing to do", async (t) => {
    const { byId, server } = await start(t);
    server.more = { undo: false };
    server.document = { ...DOCUMENT, title: "Before" };
    byId("undo").focus();
    byId("undo").click();
    await settled();
    assert.equal(byId("title").value, "Before");
    assert.deepEqual([byId("undo").disabled, byId("redo").disabled], [true, false]);
    assert.equal(byId("said").textContent, "Undone.");
  });
});

describe("a draft that cannot be saved", () => {
  it("is explained at its field in the server's words", async (t) => {
    const { byId, server, type, saved } = await start(t);
    server.answer = () => reply(400, { refused: { where: "questions[1].text", what: "too long" } });
    type(byId("questions-two-text"), "x");
    await saved();
    assert.equal(byId("unsaved").textContent, "Not saved. Question 2: too long");
    assert.equal(byId("questions-two-text-error").textContent, "too long.");
    assert.equal(byId("questions-two-text").getAttribute("aria-invalid"), "true");
  });

  it("is not sent with a bad number, and keeps the reader on the page", async (t) => {
    const { byId, type, clock, posted, button, left, focused } = await start(t);
    type(byId("epsilon"), "20");
    byId("title").focus();
    await clock.pass(10_000);
    assert.deepEqual(posted(), []);
    assert.match(byId("epsilon-error").textContent, /At most 4/);
    assert.match(byId("unsaved").textContent, /^Not saved: ε: /);
    button("Check and open").click();
    await settled();
    assert.deepEqual([left, focused()], [[], "epsilon"]);
  });

  it("waits for a decision if somebody else has saved", async (t) => {
    const { byId, server, type, saved, described, button, clock } = await start(t);
    const theirs = { ...DOCUMENT, title: "Theirs" };
    server.answer = () => reply(409, { ...described(true), number: 9, document: theirs });
    type(byId("title"), "Mine");
    await saved();
    assert.equal(byId("conflict").hidden, false);
    assert.equal(byId("title").value, "Mine");
    button("Load the other version").click();
    assert.deepEqual([byId("title").value, byId("conflict").hidden], ["Theirs", true]);
    type(byId("title"), "Mine again");
    await saved();
    server.answer = null;
    button("Keep my version").click();
    await settled();
    assert.equal(server.document.title, "Mine again");
    assert.equal(byId("conflict").hidden, true);
    assert.equal(clock.waiting, 0);
  });
});

it("a link is followed only once everything is saved", async (t) => {
  const { byId, type, server, button, left, posted } = await start(t);
  let answer;
  server.answer = (_given, described) =>
    new Promise((done) => (answer = () => done(reply(200, { ...described(false), number: 2 }))));
  type(byId("title"), "Quickly");
  assert.ok(!left.length);
  button("Check and open").click();
  await settled();
  assert.deepEqual([posted()[0].document.title, left], ["Quickly", []]);
  answer();
  await settled();
  assert.deepEqual(left, ["http://candor.test/studio/draft/open/"]);
});

it("a language can be written beside the original, counted and removed", async (t) => {
  const { byId, type, saved, fire, focused } = await start(t);
  byId("add-language").value = "de";
  fire(byId("add-language"), "change");
  assert.equal(focused(), "title-de");
  type(byId("title-de"), "Eine Umfrage");
  assert.match(byId("language-de").textContent, /^German 5 missing$/);
  assert.equal((await saved()).translations.de.title, "Eine Umfrage");
  byId("remove-language").click();
  assert.equal(focused(), "add-language");
  assert.equal((await saved()).translations?.de, undefined);
});

it("the address and the links of the page follow the title", async (t) => {
  const { byId, type, fire, clock, posted, server, button, window } = await start(t);
  type(byId("title"), "Canteen");
  server.more = { slug: "canteen" };
  fire(byId("title"), "change");
  await clock.pass(0);
  assert.equal(posted()[0].follow, "draft");
  assert.equal(window.location.pathname, "/studio/canteen/");
  assert.match(button("Check and open").href, /\/studio\/canteen\/open\/$/);
});

describe("a number", () => {
  const WITH_DAYS = { ...DOCUMENT, questions: [asked("days", { kind: "number", least: 0, most: 60, unit: "days" })] };

  it("is written with bounds, also negative ones, and a unit", async (t) => {
    const { byId, type, saved, button, document } = await start(t);
    button("+ Number").click();
    type(document.activeElement, "How warm?");
    const { id } = document.activeElement;
    type(byId(id.replace("-text", "-least")), "−20");
    type(byId(id.replace("-text", "-most")), "1,200");
    type(byId(id.replace("-text", "-unit")), "°C");
    const { least, most, unit } = (await saved()).questions[3];
    assert.deepEqual([least, most, unit], [-20, 1200, "°C"]);
  });

  it("shows what the average and the distribution cost, and becomes a scale that undo takes back", async (t) => {
    const { byId, server, type, saved, fire, button, focused } = await start(t, { document: WITH_DAYS });
    server.more = { ways: { days: { blocks: [1], average: "± 2 days", ranges: { 4: "± 5 points", 5: "± 6 points" } } } };
    type(byId("title"), "Again");
    await saved();
    assert.match(byId("questions-days-average").textContent, /± 2 days/);
    assert.match(byId("questions-days-distribution").textContent, /± 6 points/);
    byId("questions-days-ranges").value = "4";
    fire(byId("questions-days-ranges"), "change");
    assert.match(byId("questions-days-distribution").textContent, /± 5 points/);
    button("Turn into a scale").click();
    assert.equal(focused(), "questions-days-kind");
    const [scale] = (await saved()).questions;
    assert.deepEqual([scale.kind, scale.options.length, scale.scores], ["scale", 4, [7, 22, 37, 52.5]]);
  });

  it("is not divided before it has bounds", async (t) => {
    const { byId, button, focused } = await start(t, { document: { ...DOCUMENT, questions: [asked("days", { kind: "number" })] } });
    button("Turn into a scale").click();
    assert.deepEqual([focused(), byId("questions-days-kind").value], ["questions-days-least", "number"]);
  });
});

describe("a scale", () => {
  it("gets a score for each option, and no scores while they are 1, 2, 3 …", async (t) => {
    const { byId, type, saved, fire } = await start(t);
    byId("questions-two-kind").value = "scale";
    fire(byId("questions-two-kind"), "change");
    assert.deepEqual([byId("questions-two-0-score").value, byId("questions-two-1-score").value], ["1", "2"]);
    assert.equal((await saved()).questions[1].scores, undefined);
    type(byId("questions-two-1-score"), "2,5");
    assert.deepEqual((await saved()).questions[1].scores, [1, 2.5]);
  });
});

describe("multiple choice", () => {
  it("gets its number of picks, and shows what others would cost", async (t) => {
    const { byId, type, saved, fire, server } = await start(t);
    byId("questions-two-kind").value = "several";
    fire(byId("questions-two-kind"), "change");
    const picks = [{ picks: 1, what: "Pick one", error: "± 3", people: "" }, { picks: 2, what: "All", error: "± 6", people: "4" }];
    server.more = { ways: { two: { blocks: [2], picks } } };
    type(byId("questions-two-picks"), "2");
    const document = await saved();
    assert.deepEqual([document.questions[1].kind, document.questions[1].picks], ["several", 2]);
    const [one, all] = byId("questions-two-ways").children;
    assert.deepEqual([one.textContent, all.textContent], ["Pick one± 3", "All± 6, needs 4 times as many people"]);
    assert.deepEqual([one.getAttribute("aria-current"), all.getAttribute("aria-current")], [null, "true"]);
  });
});

describe("a follow-up", () => {
  const choose = ({ byId, fire }, id, value) => {
    byId(id).value = value;
    fire(byId(id), "change");
  };
  const WITH_FOLLOW_UP = {
    ...DOCUMENT,
    questions: [
      asked("gate", { kind: "choice", options: ["Red", "Green"] }),
      asked("more", { only_if: { question: "gate", options: ["green"] } }),
      asked("last", { only_if: { question: "more", options: ["yes"] } }),
    ],
  };

  it("is asked only if an earlier question has the answers that are ticked", async (t) => {
    const page = await start(t);
    const { byId, saved } = page;
    assert.equal(byId("questions-one-gate"), null);
    assert.deepEqual(
      [...byId("questions-three-gate").options].map(({ textContent }) => textContent),
      ["No condition", "1. Text one", "2. Text two"],
    );
    choose(page, "questions-three-gate", "questions-two");
    assert.equal(byId("questions-three-answer-0").checked, false);
    byId("questions-three-answer-1").click();
    byId("questions-three-answer-0").click();
    assert.deepEqual((await saved()).questions[2].only_if, { question: "two", options: ["red", "green"] });
    choose(page, "questions-three-gate", "questions-one");
    assert.deepEqual((await saved()).questions[2].only_if, { question: "one", options: ["yes"] });
    choose(page, "questions-three-gate", "");
    assert.equal((await saved()).questions[2].only_if, undefined);
  });

  it("is indented under its gate, which says what its branch costs", async (t) => {
    const { byId, server, type, saved } = await start(t, { document: WITH_FOLLOW_UP });
    assert.deepEqual([...byId("questions").children].map(({ dataset }) => dataset.depth), ["0", "1", "2"]);
    server.more = { ways: { gate: { follow_ups: "These two follow-ups need 1.8 times as many people." } } };
    type(byId("title"), "Again");
    await saved();
    assert.match(byId("questions-gate-branch").textContent, /1\.8 times/);
    assert.equal(byId("questions-more-branch").textContent, "");
  });

  it("goes on with its gate's option under another text, and with a tick after that", async (t) => {
    const { byId, type, saved, fire } = await start(t, { document: WITH_FOLLOW_UP });
    type(byId("questions-gate-1"), "Dark green");
    fire(byId("questions-gate-1"), "focusout");
    assert.equal(byId("questions-more-answer-1").nextElementSibling.textContent, "Dark green");
    assert.deepEqual((await saved()).questions[1].only_if, { question: "gate", options: ["dark-green"] });
    type(byId("questions-gate-0"), "Blue");
    byId("questions-more-answer-0").click();
    assert.deepEqual((await saved()).questions[1].only_if, { question: "gate", options: ["blue", "dark-green"] });
  });

  it("says at once at its place what a move or a deletion has broken", async (t) => {
    const { byId, server, saved } = await start(t, { document: WITH_FOLLOW_UP });
    server.more = { wrong: { "questions[0].only_if": "Move this below." } };
    byId("questions-more-up").click();
    assert.deepEqual((await saved()).questions[0].only_if, { question: "gate", options: ["green"] });
    assert.equal(byId("questions-more-gate-error").textContent, "Move this below.");
    assert.equal(byId("questions-more-gate").selectedOptions[0].textContent, "2. Text gate");
    assert.match(byId("wrong").textContent, /Question 1, ask only if: Move this below\./);
    byId("questions-gate-delete").click();
    assert.deepEqual((await saved()).questions[0].only_if, { question: "gate", options: ["green"] });
    assert.equal(byId("questions-more-gate").selectedOptions[0].textContent, "A deleted question");
  });

  it("shows a deleted option until it is unticked", async (t) => {
    const { byId, saved } = await start(t, { document: WITH_FOLLOW_UP });
    byId("questions-gate-1-delete").click();
    const box = byId("questions-more-answer-1");
    assert.deepEqual([box.checked, box.nextElementSibling.textContent], [true, "A deleted option (green)"]);
    byId("questions-more-answer-0").click();
    byId("questions-more-answer-1").click();
    assert.deepEqual((await saved()).questions[1].only_if, { question: "gate", options: ["red"] });
    assert.equal(byId("questions-more-answer-1"), null);
  });
});

describe("the survey as a whole", () => {
  it("gets random orders, fillers and the number of people in all", async (t) => {
    const { byId, type, saved } = await start(t);
    byId("shuffled").click();
    byId("fillers").click();
    byId("questions-two-shuffled").click();
    type(byId("population"), "4,000");
    const document = await saved();
    assert.deepEqual([document.shuffled, document.fillers, document.population], [true, true, 4000]);
    assert.deepEqual(document.questions.map(({ shuffled }) => shuffled), [undefined, true, undefined]);
    byId("shuffled").click();
    type(byId("population"), "");
    const after = await saved();
    assert.deepEqual([after.shuffled, after.fillers, after.population], [undefined, true, undefined]);
  });

  it("can have a gate in several blocks, and begins with those of the planner", async (t) => {
    const { byId, type, saved, server, fire } = await start(t, {
      document: {
        ...DOCUMENT,
        questions: ["gate", "who", "when"].map((key, i) =>
          asked(key, i ? { only_if: { question: "gate", options: ["yes"] } } : {}),
        ),
      },
    });
    server.more = { ways: { gate: { blocks: [1, 2] }, who: { blocks: [1] }, when: { blocks: [2] } } };
    type(byId("title"), "Again");
    await saved();
    byId("own-blocks").checked = true;
    fire(byId("own-blocks"), "change");
    assert.deepEqual((await saved()).blocks, [["gate", "who"], ["gate", "when"]]);
    assert.equal(byId("questions-gate-block").value, "1, 2");
    type(byId("questions-gate-block"), "2");
    type(byId("questions-who-block"), "2");
    assert.deepEqual((await saved()).blocks, [["gate", "who", "when"]]);
    type(byId("questions-who-block"), "0");
    assert.match(byId("unsaved").textContent, /^Not saved: Block: At least 1/);
  });
});
