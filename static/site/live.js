// Updates the parts of a page that are marked data-live.

/**
 * Fetch a page; null if the server does not answer. If it redirects, go there.
 * @param {string} address
 */
export async function fetchPage(address) {
  const response = await fetch(address).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (!response || !text) return null;
  if (!response.ok || response.redirected) location.assign(address); // probably logged out
  return new DOMParser().parseFromString(text, "text/html");
}

/**
 * Replace the parts that differ. The others stay, so that nothing is read aloud twice and no focus is
 * lost.
 * @param {Document} page
 * @param {ParentNode} [within]
 */
export function swap(page, within = document) {
  for (const old of within.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(old.id);
    if (!fresh || fresh.isEqualNode(old)) continue;
    for (const open of old.querySelectorAll("details[id][open]")) {
      page.getElementById(open.id)?.setAttribute("open", "");
    }
    const focused = old.contains(document.activeElement) && document.activeElement?.id;
    old.replaceChildren(...fresh.childNodes);
    if (focused) document.getElementById(focused)?.focus();
  }
}

/**
 * Whether someone changed a form before the script that watches it ran, as on a slow network.
 * @param {HTMLFormElement} form
 */
export function edited(form) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = form.querySelectorAll("input[name]");
  /** @type {NodeListOf<HTMLSelectElement>} */
  const lists = form.querySelectorAll("select[name]");
  return (
    [...inputs].some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked) ||
    [...lists].some(({ options, selectedIndex }) => {
      const first = [...options].findIndex((option) => option.defaultSelected);
      return selectedIndex !== Math.max(first, 0);
    })
  );
}
