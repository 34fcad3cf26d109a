/* A visit to the respondent's page, as a person makes it. */

import { createHash, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";

import words from "../../static/respond/words/en.js";
import { openPage, reply, settled, until } from "./dom.mjs";

export const vectors = JSON.parse(readFileSync(new URL("../vectors/cells-1.json", import.meta.url), "utf8"));
export const { hash: _, ...PLAIN } = vectors.designs.find(({ name }) => name === "2 x 2 at 2").design;

/* RFC 8785 for what a design holds. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `"${key}":${canonical(value[key])}`).join(",")}}`;
}

export const withHash = (design) => ({
  ...design,
  hash: `sha256:${createHash("sha256").update(canonical(design)).digest("hex")}`,
});

export const option = (key) => ({ key, text: key });
const AGE = { key: "age", kind: "choice", text: "Age?", options: [option("young"), option("old"), option("prefer-not-to-say")] };
const BACKGROUND = { key: "g1", background: true, epsilon: 3, keep: 3711558256, questions: [AGE] };
export const DESIGN = withHash({ ...PLAIN, blocks: [...PLAIN.blocks, BACKGROUND] });
export const SURVEY = {
  protocol: 1, state: "open", slug: "small", title: "A survey", introduction: "", language: "en", crowd: 20, results_public: false, design: DESIGN,
};
const HTML = '<header></header><main id="page"><p>It is not starting.</p></main>';
export const accept = ({ body }) => reply(201, { id: JSON.parse(body).id });

/*
 * The page of a survey. `server.reports` answers a report; chance keeps every answer, as a generator
 * that gives only zeros makes it.
 */
/** @param {any} t @param {any} [given] */
export async function start(t, { survey = SURVEY, status = 200, reports = accept, search = "", stored } = {}) {
  t.mock.method(webcrypto, "getRandomValues", (array) => array.fill(0));
  const server = { reports, survey, status };
  const serve = (request) =>
    request.method === "POST" ? server.reports(request) : reply(server.status, server.survey);
  const url = `http://candor.test/s/small/${search}`;
  const page = openPage(t, { url, html: HTML, serve, stored });
  await page.load("respond/app.js");
  const heading = () => page.$("h1")?.textContent;
  const see = (text) => until(() => heading() === text);
  const press = async (text) => {
    await until(() => page.button(text));
    page.button(text).click();
    await settled();
  };
  const answer = async (question, position) => {
    await see(question);
    page.document.querySelectorAll("input")[position].click();
    await press("Next");
  };
  const reported = () => page.sent.filter(({ method }) => method === "POST");
  await until(heading);
  return {
    ...page, server, heading, see, press, answer, reported,
    async answerAll([first, second, age] = [1, 0, 1]) {
      await press(words.opening.start);
      await answer("Question q1?", first);
      await answer("Question q2?", second);
      await answer("Age?", age);
      await see(words.review.title);
    },
    send: () => press(words.review.send),
  };
}

/* What the device holds, as a reload or a new tab finds it. */
export const kept = ({ window: { localStorage, sessionStorage } }) => ({
  localStorage: { ...localStorage },
  sessionStorage: { ...sessionStorage },
});
