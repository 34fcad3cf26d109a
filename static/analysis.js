// Follows an analysis that is being computed; when it has ended, the page itself says how.

const POLL = 500; // milliseconds between two looks

const box = /** @type {HTMLElement} */ (document.getElementById("progress"));
const address = /** @type {string} */ (box.dataset.progress);
const words = /** @type {HTMLElement} */ (document.getElementById("words"));
const bar = /** @type {HTMLProgressElement} */ (box.querySelector("progress"));

for (let failures = 0; failures < 120; ) {
  await new Promise((resolve) => setTimeout(resolve, POLL));
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } });
    if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
    const now = await response.json();
    failures = 0;
    bar.value = now.progress;
    if (words.textContent !== now.words) words.textContent = now.words; // said aloud when it changes
    if (!now.active) {
      location.reload();
      break;
    }
  } catch {
    failures += 1;
    words.textContent = "The server does not answer just now; still trying …";
  }
}
