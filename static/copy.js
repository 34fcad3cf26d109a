// Buttons that copy a text of the page. Without this script, or without a clipboard, there are none.

const status = document.getElementById("copied");

for (const button of document.querySelectorAll("button[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  if (!navigator.clipboard) continue; // a page without TLS has none
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied.";
    } catch {
      status.textContent = "The browser does not allow it; mark the text instead.";
    }
  });
}
