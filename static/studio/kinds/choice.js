/*
 * One of several options, in no particular order.
 */

/** @type {import("../types.js").Kind} */
export const choice = {
  kind: "choice",
  writesOptions: true,
  ourOptions: 0,
  canBeGate: true,
  canFollow: true,
  canShuffle: true,
  members: [],
  fields: () => [],
};
