/*
 * Builds elements. Text stays text: nothing here parses markup, and no style is inline.
 */

/**
 * @typedef {{ listener(event: Event): unknown }["listener"]} Listener
 * @typedef {string | number | boolean | null | undefined | Listener} Attribute
 * @typedef {{ [name: string]: Attribute }} Attributes
 * @typedef {Node | string | null | undefined | false} Leaf
 * @typedef {Leaf | (Leaf | Leaf[])[]} Child
 */

/**
 * Create an element. A function among the attributes listens to the event of that name.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * Create an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/**
 * 100 dots that differ in shape as well as in colour: filled ones first, then rings. Without a text,
 * the words beside the picture say the same. `changed` ones stand out.
 *
 * @param {number} filled
 * @param {string} text
 * @param {"filled" | "empty"} [changed]
 */
export function dots(filled, text, changed) {
  const all = Array.from({ length: 100 }, (_, i) => {
    const name = i < filled ? "filled" : "empty";
    return svg("circle", {
      class: name === changed ? `${name} changed` : name,
      cx: (i % 10) * 10 + 5,
      cy: Math.floor(i / 10) * 10 + 5,
      r: i < filled ? 3.6 : 3,
    });
  });
  const label = text ? { role: "img", "aria-label": text } : { "aria-hidden": "true" };
  return svg("svg", { class: "dots", viewBox: "0 0 100 100", ...label }, all);
}

/**
 * @template {Element} E
 * @param {E} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, String(value));
  }
  node.append(...children.flat(2).filter((child) => child != null && child !== false));
  return node;
}
