// Buttons that copy a text of the page. Without this script, or without a clipboard, there are none.

/* Once for every button; again after a part of the page was replaced. */
export function offer() {
  if (!navigator.clipboard) return; // a page without TLS has none
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button.dataset.copy));
  }
}

async function copy(id) {
  const status = document.getElementById("copied");
  try {
    await navigator.clipboard.writeText(document.getElementById(id).textContent);
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not allow it; mark the text instead.";
  }
}

offer();
