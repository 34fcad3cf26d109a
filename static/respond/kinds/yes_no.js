/* Yes or no: a choice of two options, whose texts are ours. */

import choice from "./choice.js";

export default choice;
