/* Options in order. */

import choice from "./choice.js";

/** @type {import("./choice.js").Kind} */
export default { ...choice, ordered: true };
