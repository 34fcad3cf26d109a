// Beside every link to a figure (a[data-figure], an SVG of this site) a button that saves it as PNG.
//
// The browser draws the SVG with its own fonts; the server needs no program for it. Without this
// script the link is there all the same.

const SCALE = 2; // as many pixels as the figure has units, each way
const SIDE = 16_384; // pixels, beyond which browsers draw nothing
const AREA = 16_777_216;

/**
 * The figure as it was loaded, on white, as a PNG.
 * @param {string} address
 * @returns {Promise<Blob>}
 */
export async function png(address) {
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
 * plan/half-width.svg?… and figure-q1.svg are saved as half-width.png and figure-q1.png.
 * @param {string} address
 */
const nameOf = (address) =>
  `${new URL(address).pathname.split("/").at(-1)?.replace(/\.svg$/, "")}.png`;

/** @param {HTMLAnchorElement} link @param {HTMLButtonElement} button */
async function save(link, button) {
  const said = button.nextElementSibling; // of the last try
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
    alert.textContent = "The picture could not be made. The SVG has all of it.";
    button.after(alert);
  }
}

/** @param {HTMLAnchorElement} link */
function equip(link) {
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

function look() {
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll("a[data-figure='']");
  links.forEach(equip);
}

look();
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
