// Times stand in UTC on the pages. Beside each of them: what it is where the reader is.

for (const time of document.querySelectorAll("time[data-local]")) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue; // the same
  const day = time.dataset.local === "time" ? {} : { day: "numeric", month: "short" };
  const here = at.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
  time.append(` (${here} for you)`);
}
