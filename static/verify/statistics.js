/*
 * The statistics of the check: whether a tally fits its probabilities, how much loss it proves, and
 * the power of the test. Pure functions of numbers.
 *
 * tests/statistical/test_verify.py compares them with SciPy and with aggregation/statistics.
 */

export const SMALLEST_EXPECTED = 5; // expected counts below this are pooled: the chi-square law would not hold
const PRECISION = 1e-15;
const TINY = 1e-300; // instead of a zero denominator

/* --- Fit -------------------------------------------------------------------------------------- */

/**
 * Pearson's test of counts against exact probabilities: {statistic, freedom}. Categories with small
 * expected counts are pooled; a category with probability 0 that was seen is infinitely unlikely.
 *
 * @param {number[]} counts
 * @param {number[]} probabilities
 */
export function fit(counts, probabilities) {
  const runs = sum(counts);
  /** @type {{ seen: number, expected: number }[]} */
  const cells = [];
  const rare = { seen: 0, expected: 0 };
  counts.forEach((seen, i) => {
    const expected = runs * probabilities[i];
    if (expected >= SMALLEST_EXPECTED) cells.push({ seen, expected });
    else {
      rare.seen += seen;
      rare.expected += expected;
    }
  });
  if (rare.expected >= SMALLEST_EXPECTED) cells.push(rare);
  else if (rare.expected > 0 && cells.length) {
    const least = cells.reduce((one, other) => (other.expected < one.expected ? other : one));
    least.seen += rare.seen;
    least.expected += rare.expected;
  } else if (rare.seen > 0) return { statistic: Infinity, freedom: 1 };
  const statistic = sum(cells.map(({ seen, expected }) => (seen - expected) ** 2 / expected));
  return { statistic, freedom: Math.max(0, cells.length - 1) };
}

/**
 * P(a chi-square variable with this freedom exceeds x).
 * @param {number} x
 * @param {number} freedom
 */
export function chiSquareTail(x, freedom) {
  return freedom > 0 ? gammaTail(freedom / 2, x / 2) : x > 0 ? 0 : 1;
}

/**
 * The x that a chi-square variable exceeds with this probability.
 * @param {number} probability
 * @param {number} freedom
 */
export function chiSquareLimit(probability, freedom) {
  let most = freedom + 1;
  while (chiSquareTail(most, freedom) > probability) most *= 2;
  return bisect((x) => chiSquareTail(x, freedom) < probability, 0, most);
}

/**
 * The power of such a test if `distance`, the sum of n (q - p)^2 / p, separates the truth from the
 * hypothesis: the tail of the noncentral chi-square law, as a Poisson mixture of central ones.
 *
 * @param {number} limit
 * @param {number} freedom
 * @param {number} distance
 */
export function power(limit, freedom, distance) {
  const half = distance / 2;
  if (half === 0) return chiSquareTail(limit, freedom);
  const reach = 10 * Math.sqrt(half) + 20; // beyond, the Poisson weights are below 1e-15
  const least = Math.max(0, Math.floor(half - reach));
  let found = 0;
  for (let j = least; j <= half + reach; j++) {
    const weight = Math.exp(j * Math.log(half) - half - logGamma(j + 1));
    found += weight * gammaTail(freedom / 2 + j, limit / 2);
  }
  return Math.min(1, found);
}

/* --- Loss ------------------------------------------------------------------------------------- */

/**
 * A lower bound on epsilon, wrong with probability at most alpha, if an event occurs in k1 of n1 runs
 * with one input and in k0 of n0 with another. Like `audit` in aggregation/statistics/privacy/auditing.py.
 *
 * @param {number} k1
 * @param {number} n1
 * @param {number} k0
 * @param {number} n0
 * @param {number} alpha
 */
export function lossAtLeast(k1, n1, k0, n0, alpha) {
  const each = alpha / 2;
  return Math.max(
    0,
    Math.log(lowerLimit(k1, n1, each) / upperLimit(k0, n0, each)),
    Math.log(lowerLimit(n0 - k0, n0, each) / upperLimit(n1 - k1, n1, each)),
  );
}

/**
 * The rate at which `count` of n or more has probability alpha (Clopper & Pearson 1934).
 * @param {number} count
 * @param {number} n
 * @param {number} alpha
 */
export function lowerLimit(count, n, alpha) {
  if (count === 0) return 0;
  return bisect((rate) => betaShare(count, n - count + 1, rate) > alpha, 0, 1);
}

/**
 * The rate at which `count` of n or fewer has probability alpha.
 * @param {number} count
 * @param {number} n
 * @param {number} alpha
 */
export function upperLimit(count, n, alpha) {
  if (count === n) return 1;
  return bisect((rate) => betaShare(n - count, count + 1, 1 - rate) < alpha, 0, 1);
}

/* --- Special functions ------------------------------------------------------------------------ */

/**
 * The regularised upper incomplete gamma function Q(a, x): a series, or a continued fraction.
 * @param {number} a
 * @param {number} x
 * @returns {number}
 */
export function gammaTail(a, x) {
  if (x <= 0) return 1;
  if (x === Infinity) return 0;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let total = term;
    for (let n = 1; term > total * PRECISION; n++) {
      term *= x / (a + n);
      total += term;
    }
    return Math.max(0, 1 - scale * total);
  }
  return scale / fraction((n) => (n === 0 ? [0, x + 1 - a] : [n * (a - n), x + 2 * n + 1 - a]));
}

/**
 * The regularised incomplete beta function I_x(a, b): Lentz on its continued fraction.
 * @param {number} a
 * @param {number} b
 * @param {number} x
 * @returns {number}
 */
export function betaShare(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(b, a, 1 - x);
  const scale = Math.exp(
    a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b),
  );
  /** @param {number} n */
  const step = (n) => {
    if (n === 0) return [0, 1];
    const m = Math.floor(n / 2);
    const numerator = n % 2 ? -(a + m) * (a + b + m) : m * (b - m);
    return [(numerator * x) / ((a + n - 1) * (a + n)), 1];
  };
  return scale / a / fraction(step);
}

/**
 * b0 + a1 / (b1 + a2 / (b2 + …)), where step(n) is [a_n, b_n], by the modified method of Lentz.
 * @param {(n: number) => number[]} step
 */
function fraction(step) {
  let value = step(0)[1] || TINY;
  let above = value;
  let below = 0;
  for (let n = 1; ; n++) {
    const [a, b] = step(n);
    above = b + a / above || TINY;
    below = 1 / (b + a * below || TINY);
    const change = above * below;
    value *= change;
    if (Math.abs(change - 1) < PRECISION) return value;
    if (n > 1e5) throw new RangeError("a continued fraction does not converge");
  }
}

/**
 * ln Γ(x) for x > 0: Stirling's series, moved up to where it has all digits of a double.
 * @param {number} x
 */
export function logGamma(x) {
  let shift = 0;
  for (; x < 12; x++) shift += Math.log(x);
  const square = x * x;
  const series =
    (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) /
    x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - shift;
}

/**
 * The smallest number in [low, high], to the last digit, for which `reached` holds.
 * @param {(value: number) => boolean} reached
 * @param {number} low
 * @param {number} high
 */
function bisect(reached, low, high) {
  for (;;) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    if (reached(middle)) high = middle;
    else low = middle;
  }
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
