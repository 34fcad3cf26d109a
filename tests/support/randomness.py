"""A seeded generator for browsers: with it, /verify/ never fails by chance."""

SEEDED = """
let [x, y, z, w] = [123456789, 362436069, 521288629, 88675123];
Crypto.prototype.getRandomValues = (words) => words.map(() => {
  const t = x ^ (x << 11);
  [x, y, z] = [y, z, w];
  w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0;
  return w;
});
"""
