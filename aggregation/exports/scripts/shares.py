"""Confidence intervals for shares, for estimate.py; the R version is shares.R.

Reports are randomized: a report shows the person's own option with probability c, and otherwise
this option with probability b. The methods:

- for one look: Blaker's exact interval (2000), restricted to rates that the channel allows
- in a population of known size: the same at a level that makes up for it; if all of it reported,
  the exact limits for two binomial counts
- at every look: mixtures of likelihood ratios (Robbins 1970), narrowest at about 300 reports

Needs Python 3.10 or later and nothing else.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from statistics import NormalDist

Limits = tuple[float, float]
TIE = 1e-9  # two tail probabilities this close are equal
OUTWARD = 1e-12  # limits are moved outward by this much
BEST_AT = 300  # reports at which intervals for every look are narrowest
NODES = 64


def solve(function: Callable[[float], float], low: float, high: float) -> float:
    """Find where a function changes its sign: by secants, and by halving when those are slow."""
    at_low, at_high = function(low), function(high)
    if at_low == 0:
        return low
    for step in range(300):
        if at_high == 0 or abs(high - low) <= 1e-15 * abs(high):
            break
        x = (
            (low + high) / 2
            if step % 3 == 2
            else high - at_high * (high - low) / (at_high - at_low)
        )
        if not min(low, high) < x < max(low, high):
            x = (low + high) / 2
        value = function(x)
        if (value < 0) != (at_high < 0):
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = x, value
    return high


# --- The binomial distribution --------------------------------------------------------------------


def stirling(x: float) -> float:
    """Return the error of Stirling's formula for ln gamma(x)."""
    if x < 10:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x - math.log(2 * math.pi) / 2
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x


def beta(a: float, b: float, x: float) -> float:
    """Return the incomplete beta function I_x(a, b), by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _fraction(b, a, 1 - x, x)
    return _fraction(a, b, x, 1 - x)


def _fraction(a: float, b: float, x: float, y: float) -> float:
    n = a + b
    d = x * b - y * a
    log = (a * math.log1p(d / a) if abs(d) < a / 2 else a * math.log(x * n / a)) + (
        b * math.log1p(-d / b) if abs(d) < b / 2 else b * math.log(y * n / b)
    )
    log += math.log(a * b / (2 * math.pi * n)) / 2 + stirling(n) - stirling(a) - stirling(b)
    tiny = 1e-300
    c, d = 1.0, 1 - n * x / (a + 1)
    d = 1 / (d or tiny)
    h = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (n + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return math.exp(log) * h / a


def beta_quantile(p: float, a: float, b: float) -> float:
    return solve(lambda x: beta(a, b, x) - p, 0.0, 1.0)


def at_most(t: float, n: float, q: float) -> float:
    return 1.0 if t >= n else beta(n - t, t + 1, 1 - q)


def at_least(t: float, n: float, q: float) -> float:
    return 1.0 if t <= 0 else 0.0 if t > n else beta(t, n - t + 1, q)


# --- Shares ---------------------------------------------------------------------------------------


def share_once(count: int, n: int, b: float, c: float, level: float) -> Limits:
    """Return exact limits for a share: `count` of `n` reports show the option."""
    a = b + c
    lowest, highest = _clamp(n, a, b)
    t = min(max(count, lowest), highest)
    high = _blaker(t, n, a, highest, 1 - level)
    low = 1 - _blaker(n - t, n, 1 - b, n - lowest, 1 - level)
    likeliest = min(max(count / n, b), a)
    return shares(min(low, likeliest), max(high, likeliest), b, c)


def _clamp(n: int, a: float, b: float) -> tuple[int, int]:
    """Return the range to which counts are moved: what shares from 0 to 1 make one expect."""
    lowest = min(math.floor(n * (b + 2.0**-50)), n)
    highest = max(math.ceil(n * (a - 2.0**-50)), 0)
    return (
        n if at_most(lowest, n, b) < 1 / 4 else lowest,
        0 if at_least(highest, n, a) < 1 / 4 else highest,
    )


def _blaker(t: int, n: int, a: float, highest: int, alpha: float) -> float:
    """Return the greatest rate up to `a` at which the acceptability of t exceeds alpha."""
    if t >= highest:
        return a

    def outside(q: float) -> float:
        return at_most(t, n, q) + (at_least(u, n, q) if u <= highest else 0.0)

    end = 1.0 if t == n else solve(lambda q: at_most(t, n, q) - alpha / 2, t / n, 1.0)
    end = min(a, end)
    below = at_most(t, n, end) * (1 + TIE)
    u = (
        t
        + 1
        + bisect_left(range(t + 1, highest + 1), True, key=lambda k: at_least(k, n, end) <= below)
    )
    if outside(end) >= alpha * (1 - TIE):
        return end
    # Here the tail beyond u becomes larger than the one up to t, and the acceptability jumps.
    jump = solve(lambda q: at_least(u - 1, n, q) - at_most(t, n, q), t / n, end)
    return jump if outside(jump) <= alpha else solve(lambda q: outside(q) - alpha, jump, end)


def shares(low: float, high: float, b: float, c: float) -> Limits:
    return within((low - OUTWARD - b) / c), within((high + OUTWARD - b) / c)


def within(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def share_of_population(
    count: int, n: int, b: float, c: float, level: float, population: int
) -> Limits:
    """Return limits for the share in a population of which n people were asked."""
    if population > n:
        return share_once(count, n, b, c, level_in_population(n, b, c, level))
    lowest, highest = _clamp(n, b + c, b)
    t = min(max(count, lowest), highest)
    high = _census(t, n, b + c, b, highest, 1 - level) / n
    low = 1 - _census(n - t, n, 1 - b, 1 - b - c, n - lowest, 1 - level) / n
    bounded = within((count / n - b) / c)
    return min(low, bounded), max(high, bounded)


def level_in_population(n: int, b: float, c: float, level: float) -> float:
    """Return a level that makes up for rare counts, which may be less rare in a population."""
    return math.exp(level - 1) if n * b < 1 or n * (1 - b - c) < 1 else level


def _census(t: int, n: int, a: float, b: float, highest: int, alpha: float) -> int:
    """Return the most people with the option among n for whom t reports are not too few."""
    if t == highest:
        return n

    def at_most_t(k: int) -> float:
        """Return P(Bin(k, a) + Bin(n - k, b) <= t), by adding every h-th term."""
        (m1, p1), (m2, p2) = sorted([(k, a), (n - k, b)], key=lambda x: x[0] * x[1] * (1 - x[1]))
        deviation = math.sqrt(m1 * p1 * (1 - p1))
        h, reach = max(1, int(deviation / 4)), 9 * deviation + 25
        first, last = max(0, math.floor(m1 * p1 - reach)), min(m1, math.ceil(m1 * p1 + reach))
        terms = [
            _mass(j, m1, p1) * (at_most(t - j, m2, p2) if t >= j else 0.0)
            for j in range(first, last + 1, h)
        ]
        return h * math.fsum(terms)

    return bisect_left(range(1, n + 1), True, key=lambda k: at_most_t(k) <= alpha / 2)


def _mass(j: int, n: int, p: float) -> float:
    if p <= 0 or p >= 1:
        return float(j == (n if p >= 1 else 0))
    choose = math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1)
    return math.exp(choose + j * math.log(p) + (n - j) * math.log1p(-p))


# --- Shares, at every look ------------------------------------------------------------------------


def concentration(level: float) -> float:
    """Return how many reports the prior of the likelihood ratios weighs."""
    evidence = -2 * math.log1p(-level)
    return BEST_AT / (evidence + math.log1p(evidence))


def share_always(count: int, n: int, b: float, c: float, level: float) -> Limits:
    """Return limits for a share that hold at every look."""
    a, k, bar = b + c, concentration(level), -math.log1p(-level)

    def log_ratio(rate: float) -> float:
        """Return the log of the mean likelihood, by a beta prior around the rate, over its own."""
        rate = min(max(rate, 1e-300), 1 - 2.0**-53)
        yes, no = k * rate, k * (1 - rate)
        mixed = _log_integral(yes + count, no + n - count, rate, a, b)
        return mixed - _log_integral(yes, no, rate, a, b)

    start = min(max(count / n, b), a)
    ends = [
        solve(lambda rate: log_ratio(rate) - bar, start, end)
        if start != end and log_ratio(end) > bar
        else end
        for end in (b, a)
    ]
    return shares(ends[0], ends[1], b, c)


def _log_integral(yes: float, no: float, rate: float, a: float, b: float) -> float:
    """Return the log of the integral of (l/rate)^yes ((1-l)/(1-rate))^no / (l(1-l)) from b to a.

    In log-odds, on both sides of the peak as far as it matters.
    """
    b = b if b > 1e-300 else 0.0
    peak = min(max(yes / (yes + no), b, 1e-300), a, 1 - 2.0**-53)
    height = yes * math.log(peak / rate) + no * math.log((1 - peak) / (1 - rate))
    to_b = math.log1p((peak - b) / (b * (1 - peak))) if b > 0 else math.inf
    to_a = math.log1p((a - peak) / ((1 - a) * peak)) if a < 1 else math.inf
    return height + math.log(_half(yes, no, peak, to_b) + _half(no, yes, 1 - peak, to_a))


def _half(yes: float, no: float, peak: float, reach: float) -> float:
    """Return the integral of the density, relative to its peak, over log-odds below the peak."""

    def drop(x: float) -> float:
        if peak < 0.5:
            return yes * x + (yes + no) * math.log1p(peak * math.expm1(-x))
        return -no * x + (yes + no) * math.log1p((1 - peak) * math.expm1(x))

    far = min(reach, 1.0)
    while far < min(reach, 700.0) and drop(far) < 40:
        far = min(2 * far, reach, 700.0)
    if drop(far) > 40:
        far = solve(lambda x: drop(x) - 40, 0.0, far)
    nodes = [(far / 2 * (1 + node), weight) for node, weight in GAUSS]
    return far / 2 * math.fsum(weight * math.exp(-drop(x)) for x, weight in nodes)


def _gauss() -> list[tuple[float, float]]:
    """Return the nodes and weights of Gauss and Legendre's rule on [-1, 1]."""
    found = []
    for i in range(NODES):
        x = math.cos(math.pi * (i + 0.75) / (NODES + 0.5))
        for _ in range(8):  # Newton's method
            last, value = 1.0, x
            for j in range(2, NODES + 1):
                last, value = value, ((2 * j - 1) * x * value - (j - 1) * last) / j
            slope = NODES * (x * value - last) / (x * x - 1)
            x -= value / slope
        found.append((x, 2 / ((1 - x * x) * slope * slope)))
    return found


GAUSS = _gauss()


# --- Any estimate ---------------------------------------------------------------------------------


def errors_once(level: float) -> float:
    """Return how many standard errors the limits for one look reach."""
    return -NormalDist().inv_cdf((1 - level) / 2)


def errors_always(n: int, level: float) -> float:
    """Return the same for every look; before 300 reports there are no such limits."""
    if n < 300:
        return errors_once(level)
    k = concentration(level)
    return math.sqrt((1 + k / n) * (math.log1p(n / k) - 2 * math.log1p(-level)))
