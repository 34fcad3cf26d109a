// Makes each picture one tab stop; arrow keys, Home and End move between its points. Without this
// script every point is a tab stop.

for (const plot of document.querySelectorAll("svg.trend")) {
  /** @type {SVGElement[]} */
  const marks = Array.from(plot.querySelectorAll(".mark"));
  const parent = /** @type {HTMLElement} */ (plot.parentElement);
  /** @param {EventTarget | null} target */
  const placeOf = (target) => marks.indexOf(/** @type {SVGElement} */ (target));
  /** @param {number} at */
  const stop = (at) => marks.forEach((mark, i) => mark.setAttribute("tabindex", i === at ? "0" : "-1"));
  stop(marks.length - 1);
  // On the parent, because Chromium lets an SVG with a focus listener have the focus.
  parent.addEventListener("keydown", (event) => {
    const at = placeOf(document.activeElement);
    /** @type {Record<string, number>} */
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 };
    const to = moves[event.key];
    if (!marks[to]) return;
    event.preventDefault();
    stop(to);
    marks[to].focus();
  });
  parent.addEventListener("focusin", ({ target }) => stop(placeOf(target)));
}
