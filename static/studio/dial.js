/*
 * The privacy dial: total ε by words, by slider or by number, and what follows from it. Every
 * figure is the server's; nothing is computed here.
 */

import { svg } from "../respond/dom.js";

const $ = (id) => document.getElementById(id);
const range = $("epsilon-range");
const exact = $("epsilon");
const presets = [...document.querySelectorAll("[data-epsilon]")];

/* `changed(name, value)` is told of whatever stands in a field of its own; null: of none. */
export function dial(changed) {
  const turn = (value) => {
    if (value > 0) changed("epsilon", value);
  };
  range.addEventListener("input", () => {
    exact.value = range.value;
    turn(range.valueAsNumber);
  });
  exact.addEventListener("input", () => {
    if (exact.value) range.value = exact.value;
    if (exact.validity.valid) turn(exact.valueAsNumber);
  });
  for (const button of presets) {
    button.addEventListener("click", () => {
      exact.value = range.value = button.dataset.epsilon;
      turn(exact.valueAsNumber);
    });
  }
  for (const name of ["ask", "expected", "retention_days"]) {
    $(name).addEventListener("input", ({ target }) => {
      if (target.validity.valid) changed(name, target.value ? target.valueAsNumber : null);
    });
  }
  for (const choice of document.getElementsByName("access")) {
    choice.addEventListener("change", () => changed("access", choice.value));
  }
  $("work").addEventListener("change", ({ target }) => changed("work", Number(target.value)));
  $("crowd").addEventListener("input", ({ target }) => {
    if (target.value && target.validity.valid) changed("crowd", target.valueAsNumber);
  });
  $("own-blocks").addEventListener("change", ({ target }) => changed("blocks", target.checked));
}

/* What the document says, in fields that nobody is typing in. */
export function fillDial({ epsilon, ask, rest, questions }) {
  const fill = (field, value) => {
    if (document.activeElement !== field) field.value = value ?? "";
  };
  fill(exact, epsilon);
  fill(range, epsilon);
  fill($("ask"), ask);
  fill($("crowd"), rest.crowd);
  fill($("expected"), rest.expected);
  fill($("retention_days"), rest.retention_days);
  const access = rest.access ?? "open";
  for (const choice of document.getElementsByName("access")) choice.checked = choice.value === access;
  const work = String(rest.work ?? 0);
  if (![...$("work").options].some(({ value }) => value === work)) {
    $("work").add(new Option(`${work} bits`, work)); // from a file
  }
  fill($("work"), work);
  $("open-access").hidden = access !== "open";
  $("own-blocks").checked = questions.some(({ block }) => block !== null);
  mark(epsilon);
}

export function mark(epsilon) {
  for (const button of presets) {
    button.setAttribute("aria-pressed", Number(button.dataset.epsilon) === epsilon);
  }
}

export function showFigures(figures, { questions }) {
  const { problem } = figures;
  const { count, more } = figures.sure;
  $("dots").replaceChildren(dots(count));
  $("sure").textContent = more ? `more than ${count} in 100` : `${count} in 100`;
  $("weak").hidden = !figures.weak;
  $("dial-problem").textContent = problem && questions.length ? problem.what : "";
  $("everybody").textContent = problem ? "–" : figures.everybody;
  $("by-group").hidden = !figures.group;
  $("group").textContent = figures.group ?? "";
  $("groups").textContent = figures.groups ?? "";
  $("hidden").hidden = !figures.hidden;
  $("blocks").textContent = figures.blocks ?? (questions.length ? "" : "Add a question to see how.");
}

/* 100 dots, told apart by shape as well as by colour, as respondents see them. */
function dots(filled) {
  const all = Array.from({ length: 100 }, (_, i) =>
    svg("circle", {
      class: i < filled ? "filled" : "empty",
      cx: (i % 10) * 10 + 5,
      cy: Math.floor(i / 10) * 10 + 5,
      r: i < filled ? 3.6 : 3,
    }),
  );
  const text = `A square of 100 dots. ${filled} are filled: how sure they can be. ${100 - filled} are empty: the doubt that stays.`;
  return svg("svg", { class: "dots", viewBox: "0 0 100 100", role: "img", "aria-label": text }, all);
}
