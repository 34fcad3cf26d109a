/* Options in order. */

import choice from "./choice.js";

/** @type {import("./index.js").Kind} */
export default { ...choice, ordered: true };
