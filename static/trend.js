// One stop of the Tab key for each picture; arrows, Home and End go from point to point. Without
// this script every point is a stop.

for (const plot of document.querySelectorAll("svg.trend")) {
  const marks = [...plot.querySelectorAll(".mark")];
  const stop = (at) => marks.forEach((mark, i) => mark.setAttribute("tabindex", i === at ? 0 : -1));
  stop(marks.length - 1);
  // Beside the picture: one that listens for the focus can have it, says Chromium.
  plot.parentElement.addEventListener("keydown", (event) => {
    const at = marks.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 }[event.key];
    if (!marks[to]) return;
    event.preventDefault();
    stop(to);
    marks[to].focus();
  });
  plot.parentElement.addEventListener("focusin", (event) => stop(marks.indexOf(event.target)));
}
