/*
 * Yes or no. Both options are Candor's, in every language that it knows.
 */

/** @type {import("../types.js").Kind} */
export const yesNo = {
  kind: "yes_no",
  writesOptions: false,
  ourOptions: 2,
  canBeGate: true,
  canFollow: true,
  canShuffle: false,
  members: [],
  fields: () => [],
};
