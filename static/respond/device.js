/*
 * Everything that this page keeps on the device: five short lists, and no other file stores any.
 *
 *   waiting   reports on their way, in localStorage: built by chance already, never an answer. From
 *             the tap on “Send” until the site has it or refuses it, so that a reload, a crash or a
 *             dead network sends the same bytes again and not a second draw of chance.
 *   answered  which surveys this tab has answered, in sessionStorage, gone with the tab: a reload
 *             must not look like an invitation to answer again.
 *   ledger    for those who ask for it: the surveys taken and what they spent, in localStorage.
 *             No answer, no report, and no report's number, which would lead from this device to a
 *             row in a database.
 *   code      of an invitation, in sessionStorage: from the link until the report is sent.
 *   passes    that were fetched for invitations, in localStorage, until the report is built: they
 *             cannot be fetched again. Nothing that was answered.
 *
 * Where a browser stores nothing, the lists last as long as the page.
 */

function list(storage, place, isEntry) {
  let memory = null;
  const here = {
    lasts: true, // whether it outlives this page
    /* The entries; null where no list was begun. */
    read() {
      try {
        if (here.lasts) memory = parse(storage().getItem(place), isEntry);
      } catch {
        here.lasts = false;
      }
      return memory;
    },
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

/* What is there need not be ours. */
function parse(text, isEntry) {
  try {
    const kept = JSON.parse(text);
    return Array.isArray(kept) ? kept.filter(isEntry) : null;
  } catch {
    return null;
  }
}

const isText = (value) => typeof value === "string";

/* --- Reports that wait: {slug, id, body} -------------------------------------------------------- */

const outbox = list(
  () => localStorage,
  "candor.waiting",
  (one) => isText(one?.slug) && /^[\w-]+$/.test(one.slug) && isText(one.id) && isText(one.body),
);

export function waiting() {
  return outbox.read() ?? [];
}

export function keep({ slug, id, body }) {
  outbox.write([...waiting().filter((one) => one.id !== id), { slug, id, body }]);
}

export function drop(id) {
  const left = waiting().filter((one) => one.id !== id);
  outbox.write(left.length ? left : null);
}

/* Whether a report that waits outlives this page. */
export function waitingLasts() {
  return outbox.lasts;
}

/* --- Surveys that this tab has answered: slugs -------------------------------------------------- */

const done = list(() => sessionStorage, "candor.answered", isText);

export function answered(slug) {
  return (done.read() ?? []).includes(slug);
}

export function noteAnswered(slug) {
  done.write([...new Set([...(done.read() ?? []), slug])]);
  tabs?.postMessage({ answered: slug });
}

/* Somebody else wants to answer on this device. */
export function forgetAnswered(slug) {
  const left = (done.read() ?? []).filter((one) => one !== slug);
  done.write(left.length ? left : null);
}

/* The tabs of this browser tell each other which survey has been answered, and nothing else. */

const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("candor") : null;

/* Ask them about this survey. */
export function askOtherTabs(slug) {
  tabs?.postMessage({ asks: slug });
}

/* Call `hear` with every survey that another tab has answered. */
export function onAnsweredElsewhere(hear) {
  tabs?.addEventListener("message", ({ data }) => {
    if (isText(data?.answered)) hear(data.answered);
    else if (answered(data?.asks)) tabs.postMessage({ answered: data.asks });
  });
}

/* --- Codes: {slug, code, design}, and passes: {slug, design, of, prepared, …} -------------------- */

const isSlug = (value) => isText(value) && /^[\w-]+$/.test(value);

const links = list(
  () => sessionStorage,
  "candor.code",
  (one) => isSlug(one?.slug) && isText(one.code) && isText(one.design),
);

export function code(slug) {
  return (links.read() ?? []).find((one) => one.slug === slug) ?? null;
}

export function noteCode({ slug, code: given, design }) {
  const others = (links.read() ?? []).filter((one) => one.slug !== slug);
  links.write([...others, { slug, code: given, design }]);
}

export function dropCode(slug) {
  const left = (links.read() ?? []).filter((one) => one.slug !== slug);
  links.write(left.length ? left : null);
}

const wallet = list(
  () => localStorage,
  "candor.passes",
  (one) => isSlug(one?.slug) && [one.design, one.of, one.prepared].every(isText),
);
let shared = []; // of a device of many people: in memory only

export function passes(slug, kiosk) {
  return (kiosk ? shared : (wallet.read() ?? [])).filter((one) => one.slug === slug);
}

export function keepPass(pass, kiosk) {
  const others = (list) => list.filter((one) => one.prepared !== pass.prepared);
  if (kiosk) shared = [...others(shared), pass];
  else wallet.write([...others(wallet.read() ?? []), pass]);
}

export function dropPass(prepared) {
  shared = shared.filter((one) => one.prepared !== prepared);
  const left = (wallet.read() ?? []).filter((one) => one.prepared !== prepared);
  wallet.write(left.length ? left : null);
}

/* --- The ledger: {title, day, epsilon}, oldest first -------------------------------------------- */

const taken = list(
  () => localStorage,
  "candor.ledger",
  (one) => isText(one?.title) && !Number.isNaN(Date.parse(one.day)) && Number.isFinite(one.epsilon),
);

/* The entries, or null when no ledger is kept. */
export function ledger() {
  return taken.read();
}

/* Add a survey; the first one begins the ledger. */
export function enter({ title, epsilon }, now = new Date()) {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  taken.write([...(ledger() ?? []), { title, day, epsilon }]);
}

export function strike(position) {
  taken.write((ledger() ?? []).filter((_, i) => i !== position));
}

export function endLedger() {
  taken.write(null);
}
