/*
 * Everything that the page stores on the device: six short lists. No other file stores anything.
 *
 *   waiting   reports being sent, in localStorage: randomized, never an answer. Kept from the tap on
 *             “Send” until the site accepts or refuses it, so that a reload, a crash or a lost network
 *             sends the same bytes again and not a second draw of chance.
 *   answered  the surveys that this tab has answered, in sessionStorage, so that a reload does not
 *             invite the person to answer again. Gone with the tab.
 *   ledger    if the person wants it: the surveys taken and what they spent, in localStorage. No
 *             answer, no report and no report id, which would lead from this device to a database row.
 *   drawn     the random numbers that picked and ordered the questions of this tab, in sessionStorage,
 *             from the first question until the report is built, so that a reload asks the same ones.
 *             Nothing about answers, and nothing on a shared device.
 *   code      of an invitation, in sessionStorage, from the link until the report is sent.
 *   passes    fetched for invitations, in localStorage, until the report is built, because they cannot
 *             be fetched again. Nothing about answers.
 *
 * If the browser stores nothing, the lists last as long as the page.
 */

/**
 * @template T
 * @typedef {{ lasts: boolean, read: () => T[] | null, write: (entries: T[] | null) => void }} List
 */

/**
 * @typedef {{ slug: string, id: string, body: string }} Report
 * @typedef {{ slug: string, code: string, design: string }} Link
 * @typedef {{ slug: string, design: string, numbers: number[] }} Drawn
 * @typedef {{ title: string, day: string, epsilon: number }} LedgerEntry
 *
 * A pass, with what is needed to fetch it until the site has signed it.
 * @typedef {object} Pass
 * @property {string} slug
 * @property {string} design
 * @property {string} of
 * @property {string} prepared
 * @property {string} [code]
 * @property {string} [blinded]
 * @property {string} [inverse]
 * @property {string} [signature]
 * @property {string} [id]
 */

/**
 * @template T
 * @param {() => Storage} storage
 * @param {string} place
 * @param {(value: any) => boolean} isEntry
 */
function list(storage, place, isEntry) {
  /** @type {T[] | null} */
  let memory = null;
  const here = {
    lasts: true, // whether it outlives this page
    /* The entries, or null without a list. */
    read() {
      try {
        if (here.lasts) memory = parse(storage().getItem(place), isEntry);
      } catch {
        here.lasts = false;
      }
      return memory;
    },
    /** @param {T[] | null} entries */
    write(entries) {
      memory = entries;
      try {
        if (entries) storage().setItem(place, JSON.stringify(entries));
        else storage().removeItem(place);
      } catch {
        here.lasts = false;
      }
    },
  };
  return here;
}

/**
 * Parse stored entries, ignoring anything that is not one of ours.
 * @template T
 * @param {string | null} text
 * @param {(value: any) => boolean} isEntry
 * @returns {T[] | null}
 */
function parse(text, isEntry) {
  try {
    const kept = JSON.parse(/** @type {string} */ (text));
    return Array.isArray(kept) ? kept.filter(isEntry) : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === "string";

/* --- Reports that wait: {slug, id, body} -------------------------------------------------------- */

/** @type {List<Report>} */
const outbox = list(
  () => localStorage,
  "candor.waiting",
  (one) => isText(one?.slug) && /^[\w-]+$/.test(one.slug) && isText(one.id) && isText(one.body),
);

export function waiting() {
  return outbox.read() ?? [];
}

/** @param {Report} report */
export function keep({ slug, id, body }) {
  outbox.write([...waiting().filter((one) => one.id !== id), { slug, id, body }]);
}

/** @param {string} id */
export function drop(id) {
  const left = waiting().filter((one) => one.id !== id);
  outbox.write(left.length ? left : null);
}

/* Whether a waiting report outlives this page. */
export function waitingLasts() {
  return outbox.lasts;
}

/* --- Surveys that this tab has answered: slugs -------------------------------------------------- */

/** @type {List<string>} */
const done = list(() => sessionStorage, "candor.answered", isText);

/** @param {string} slug */
export function answered(slug) {
  return (done.read() ?? []).includes(slug);
}

/** @param {string} slug */
export function noteAnswered(slug) {
  done.write([...new Set([...(done.read() ?? []), slug])]);
  tabs?.postMessage({ answered: slug });
}

/**
 * Someone else wants to answer on this device.
 * @param {string} slug
 */
export function forgetAnswered(slug) {
  const left = (done.read() ?? []).filter((one) => one !== slug);
  done.write(left.length ? left : null);
}

/* The tabs of this browser tell each other which survey has been answered, and nothing else. */

/** @type {BroadcastChannel | null} */
let tabs = null;

/**
 * Ask other tabs about this survey.
 * @param {string} slug
 */
export function askOtherTabs(slug) {
  tabs?.postMessage({ asks: slug });
}

/**
 * Call `hear` with every survey that another tab has answered.
 * @param {(slug: string) => void} hear
 */
export function onAnsweredElsewhere(hear) {
  if (typeof BroadcastChannel !== "function") return;
  tabs = new BroadcastChannel("candor");
  tabs.addEventListener("message", ({ data }) => {
    if (isText(data?.answered)) hear(data.answered);
    else if (answered(data?.asks)) tabs?.postMessage({ answered: data.asks });
  });
}

/* --- Codes: {slug, code, design} ----------------------------------------------------------------- */

/** @param {unknown} value */
const isSlug = (value) => isText(value) && /^[\w-]+$/.test(value);

/** @type {List<Link>} */
const links = list(
  () => sessionStorage,
  "candor.code",
  (one) => isSlug(one?.slug) && isText(one.code) && isText(one.design),
);

/** @param {string} slug */
export function code(slug) {
  return (links.read() ?? []).find((one) => one.slug === slug) ?? null;
}

/** @param {Link} link */
export function noteCode({ slug, code: given, design }) {
  const others = (links.read() ?? []).filter((one) => one.slug !== slug);
  links.write([...others, { slug, code: given, design }]);
}

/** @param {string} slug */
export function dropCode(slug) {
  const left = (links.read() ?? []).filter((one) => one.slug !== slug);
  links.write(left.length ? left : null);
}

/* --- What was drawn in this tab: {slug, design, numbers} ------------------------------------------- */

/** @type {List<Drawn>} */
const draws = list(
  () => sessionStorage,
  "candor.drawn",
  (one) => isSlug(one?.slug) && isText(one.design) && Array.isArray(one.numbers) && one.numbers.every(isWord),
);

/** @param {unknown} value */
const isWord = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;

/**
 * The random numbers of an earlier start of this survey in this tab, if it had this design.
 * @param {string} slug
 * @param {string} design
 */
export function drawn(slug, design) {
  const found = (draws.read() ?? []).find((one) => one.slug === slug && one.design === design);
  return found?.numbers ?? [];
}

/** @param {Drawn} entry */
export function keepDrawn(entry) {
  const others = (draws.read() ?? []).filter(({ slug }) => slug !== entry.slug);
  draws.write([...others, entry]);
}

/** @param {string} slug */
export function dropDrawn(slug) {
  const left = (draws.read() ?? []).filter((one) => one.slug !== slug);
  draws.write(left.length ? left : null);
}

/* --- Passes: {slug, design, of, prepared, …} ----------------------------------------------------- */

/** @type {List<Pass>} */
const wallet = list(
  () => localStorage,
  "candor.passes",
  (one) => isSlug(one?.slug) && [one.design, one.of, one.prepared].every(isText),
);
/** @type {Pass[]} */
let shared = []; // on a shared device, in memory only

/** @param {string} slug @param {boolean} kiosk */
export function passes(slug, kiosk) {
  return (kiosk ? shared : (wallet.read() ?? [])).filter((one) => one.slug === slug);
}

/** @param {Pass} pass @param {boolean} kiosk */
export function keepPass(pass, kiosk) {
  /** @param {Pass[]} list */
  const others = (list) => list.filter((one) => one.prepared !== pass.prepared);
  if (kiosk) shared = [...others(shared), pass];
  else wallet.write([...others(wallet.read() ?? []), pass]);
}

/** @param {string} prepared */
export function dropPass(prepared) {
  shared = shared.filter((one) => one.prepared !== prepared);
  const left = (wallet.read() ?? []).filter((one) => one.prepared !== prepared);
  wallet.write(left.length ? left : null);
}

/* --- The ledger: {title, day, epsilon}, oldest first -------------------------------------------- */

/** @type {List<LedgerEntry>} */
const taken = list(
  () => localStorage,
  "candor.ledger",
  (one) => isText(one?.title) && !Number.isNaN(Date.parse(one.day)) && Number.isFinite(one.epsilon),
);

/* The entries, or null without a ledger. */
export function ledger() {
  return taken.read();
}

/**
 * Add a survey. The first one starts the ledger.
 * @param {{ title: string, epsilon: number }} entry
 * @param {Date} [now]
 */
export function enter({ title, epsilon }, now = new Date()) {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  taken.write([...(ledger() ?? []), { title, day, epsilon }]);
}

/** @param {number} position */
export function strike(position) {
  taken.write((ledger() ?? []).filter((_, i) => i !== position));
}

export function endLedger() {
  taken.write(null);
}
