// Adds the reader's local time to every time on the page, which is in UTC.

/** @type {NodeListOf<HTMLTimeElement>} */
const times = document.querySelectorAll("time[data-local]");
for (const time of times) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue; // already UTC
  /** @type {Intl.DateTimeFormatOptions} */
  const day = time.dataset.local === "time" ? {} : { day: "numeric", month: "short" };
  const here = at.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
  time.append(` (${here} for you)`);
}
