// Buttons that copy a text of the page. Without this script or a clipboard they stay hidden.

/* Call it again after a part of the page was replaced. */
export function showCopyButtons() {
  if (!navigator.clipboard) return; // pages without TLS have no clipboard
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll("button[data-copy][hidden]");
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button.dataset.copy ?? ""));
  }
}

/** @param {string} id */
async function copy(id) {
  const status = /** @type {HTMLElement} */ (document.getElementById("copied"));
  try {
    await navigator.clipboard.writeText(document.getElementById(id)?.textContent ?? "");
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not allow copying. Select the text instead.";
  }
}

showCopyButtons();
