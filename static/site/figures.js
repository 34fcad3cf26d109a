// Adds a button that saves a PNG to every link to a figure (a[data-figure], an SVG of this site).
//
// The browser draws the SVG with its own fonts, so the server needs no program for it.

const SCALE = 2; // pixels per unit of the figure
const SIDE = 16_384; // pixels; browsers draw nothing larger
const AREA = 16_777_216;

/**
 * Draw the figure on white as a PNG.
 * @param {string} address
 * @returns {Promise<Blob>}
 */
async function png(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(SCALE, SIDE / width, SIDE / height, Math.sqrt(AREA / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}

/**
 * The file name: plan/half-width.svg?… becomes half-width.png.
 * @param {string} address
 */
const nameOf = (address) =>
  `${new URL(address).pathname.split("/").at(-1)?.replace(/\.svg$/, "")}.png`;

/** @param {HTMLAnchorElement} link @param {HTMLButtonElement} button */
async function save(link, button) {
  const said = button.nextElementSibling; // from the last try
  if (said?.matches("[role=alert]")) said.remove();
  try {
    const address = URL.createObjectURL(await png(link.href));
    const saved = document.createElement("a");
    saved.href = address;
    saved.download = nameOf(link.href);
    saved.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch {
    const alert = document.createElement("span");
    alert.setAttribute("role", "alert");
    alert.textContent = "The PNG could not be made. Download the SVG instead.";
    button.after(alert);
  }
}

/** @param {HTMLAnchorElement} link */
function addButton(link) {
  link.dataset.figure = "equipped";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "png";
  button.textContent = "PNG";
  const label = link.getAttribute("aria-label");
  if (label) button.setAttribute("aria-label", label.replace(/SVG$/, "PNG"));
  button.addEventListener("click", () => save(link, button));
  link.after(" ", button);
}

function addButtons() {
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll("a[data-figure='']");
  links.forEach(addButton);
}

addButtons();
new MutationObserver(addButtons).observe(document.body, { childList: true, subtree: true });
