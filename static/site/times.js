// Times stand in UTC on the pages. Beside each of them: what it is where the reader is.

/** @type {NodeListOf<HTMLTimeElement>} */
const times = document.querySelectorAll("time[data-local]");
for (const time of times) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue; // the same
  /** @type {Intl.DateTimeFormatOptions} */
  const day = time.dataset.local === "time" ? {} : { day: "numeric", month: "short" };
  const here = at.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
  time.append(` (${here} for you)`);
}
