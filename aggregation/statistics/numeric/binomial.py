"""Tails of the binomial distribution, and limits for its rate that are exact.

Arrays of the same shape throughout: an element is a survey. X is the count of n reports of which
each says yes with probability q. Counts are floats that hold integers.

References
    Clopper & Pearson 1934, Biometrika 26:404
    Blaker 2000, Can. J. Stat. 28:783 (nested exact intervals from the acceptability function)
    Cornish & Fisher 1938, Rev. Int. Stat. Inst. 5:307 (quantiles from skewness)
"""

import math
import sys

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from aggregation.statistics.numeric.arguments import Floats
from aggregation.statistics.numeric.roots import elementwise_roots

# Two tail probabilities this close, relatively, are a tie: at q = 1/2 they often are exactly.
TIE = 1e-9
TINY = sys.float_info.min  # the smallest normal float


def blaker_upper(t: Floats, n: Floats, a: Floats, highest: Floats, alpha: float) -> Floats:
    """Return the largest lambda <= a at which the acceptability of t exceeds alpha.

    Right of t/n the acceptability is p = P(X <= t) + P(X >= u), where u is the first count whose
    upper tail is no larger than the lower tail of t. As lambda falls, u falls in jumps.
    - p <= 2 P(X <= t), so p <= alpha beyond the Clopper-Pearson limit: start there, or at a.
    - Between jumps p = 1 - P(t < X < u) falls, then rises: it crosses alpha once at most from a
      place where it is below.
    - At a jump the tails are equal, p = 2 P(X <= t) > alpha: only the last stretch matters.
    """
    limit = a.copy()
    rest = t < highest
    t, n, highest = t[rest], n[rest], highest[rest]
    end = np.minimum(a[rest], upper_limit(t, n, alpha / 2))
    below = at_most(t, n, end)
    u = _opposite(end, below, t, n, highest)
    p = below + _beyond(end, u, n, highest)
    limit[rest] = end
    rest[rest] = low = p < alpha * (1 - TIE)
    t, n, highest, end, u, below, p = (x[low] for x in (t, n, highest, end, u, below, p))
    start = np.maximum(t / n, end - 1 / n)  # u moves twice as fast as the mean
    gaps = _gap(start, t, u, n), _log_ratio(at_least(u - 1, n, end), below)
    if (gaps[0] >= 0).any():
        start = np.where(gaps[0] < 0, start, t / n)
        gaps = _gap(start, t, u, n), gaps[1]
    limit[rest] = jump = elementwise_roots(_gap, start, end, t, u, n, ends=gaps)
    least = _outside(jump, t, u, n, highest)
    rest[rest] = low = least > alpha
    t, n, highest, end, u, jump, p, least = (
        x[low] for x in (t, n, highest, end, u, jump, p, least)
    )
    rises = alpha - least, alpha - p
    limit[rest] = elementwise_roots(
        lambda *x: alpha - _outside(*x), jump, end, t, u, n, highest, ends=rises
    )
    return limit


def acceptability(q: Floats, t: Floats, n: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Return the probability of counts that are no more typical of q than t, clamped."""
    below = at_most(t, n, q) if t < highest else 1.0
    above = at_least(t, n, q) if t > lowest else 1.0
    if below > above * (1 + TIE):
        return acceptability(1 - q, n - t, n, n - highest, n - lowest)
    if t == highest:
        return np.ones_like(q)
    return _outside(q, t, _opposite(q, at_most(t, n, q), t, n, highest), n, highest)


def _opposite(q: Floats, below: Floats, t: Floats, n: Floats, highest: Floats) -> Floats:
    """Find the first u in t+1..highest with P(X >= u) <= P(X <= t), or return highest + 1.

    ``below`` is P(X <= t). u is usually near t mirrored at the mean, plus what the skewness of X
    moves both quantiles (Cornish & Fisher 1938); otherwise, bisection finds it.
    """
    mean = n * q
    square = (t - mean) ** 2 / np.maximum(mean * (1 - q), 1.0)
    mirrored = 2 * mean - t + (square - 1) * (1 - 2 * q) / 3
    below = below * (1 + TIE)
    first, last = t + 1, highest + 1
    offsets = iter((0, 1, -1, 2, -8, 8))
    while (first < last).any():
        offset = next(offsets, None)
        place = (first + last) / 2 if offset is None else mirrored + offset
        place = np.floor(np.minimum(np.maximum(place, first), last))
        small = at_least(place, n, q) <= below
        first, last = np.where(small, first, place + 1), np.where(small, place, last)
    return last


def _outside(q: Floats, t: Floats, u: Floats, n: Floats, highest: Floats) -> Floats:
    """Return P(clamped count <= t) + P(clamped count >= u), for t < u."""
    return at_most(t, n, q) + _beyond(q, u, n, highest)


def _beyond(q: Floats, u: Floats, n: Floats, highest: Floats) -> Floats:
    """Return P(clamped count >= u), where u may be one above the clamp."""
    return np.where(u <= highest, at_least(u, n, q), 0.0)


def _gap(q: Floats, t: Floats, u: Floats, n: Floats) -> Floats:
    """Return ln P(X >= u-1) - ln P(X <= t): almost a straight line in q, and 0 where u jumps."""
    return _log_ratio(at_least(u - 1, n, q), at_most(t, n, q))


def _log_ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(above, TINY)) - np.log(np.maximum(below, TINY)))


def upper_limit(count: ArrayLike, n: ArrayLike, alpha: float) -> Floats:
    """Return the rate at which at most ``count`` of n has probability alpha."""
    no = np.subtract(n, count)
    return np.where(no > 0, betainccinv(np.add(count, 1), np.maximum(no, 1), alpha), 1.0)


def lower_limit(count: ArrayLike, n: ArrayLike, alpha: float) -> Floats:
    """Return the rate at which at least ``count`` of n has probability alpha."""
    yes, no = np.maximum(count, 1), np.subtract(n, count)
    return np.where(np.greater(count, 0), betaincinv(yes, no + 1, alpha), 0.0)


def at_most(t: Floats, n: Floats, q: Floats) -> Floats:
    """Return P(Bin(n, q) <= t) for 0 <= t <= n."""
    result, some = np.ones(q.shape), t < n
    # betainc is several times as fast as betaincc, but 1 - q has lost the digits of a small q.
    fast = some & (q > 0.01)
    betainc(n - t, t + 1, 1 - q, out=result, where=fast)
    betaincc(t + 1, n - t, q, out=result, where=some & ~fast)
    return result


def at_least(t: Floats, n: Floats, q: Floats) -> Floats:
    """Return P(Bin(n, q) >= t) for 0 <= t <= n + 1."""
    possible = t <= n
    result = np.array(possible, dtype=np.float64)
    betainc(t, n - t + 1, q, out=result, where=possible & (t > 0))
    return result


def cdf(t: Floats, n: Floats | float, q: float) -> Floats:
    """Return P(Bin(n, q) <= t) for any t: 0 below 0, and 1 from n on."""
    inside = (t >= 0) & (t < n)
    # The incomplete beta function wants positive arguments, also where its value is not used.
    value = betainc(np.where(inside, n - t, 1), np.where(inside, t + 1, 1), 1 - q)
    return np.asarray(np.where(inside, value, (t >= n).astype(np.float64)))


def binomial_law(n: int, p: float, tail: float = 0.0) -> tuple[int, Floats]:
    """Return the first count that matters, and the probabilities from there on.

    They are products from the mode. Left out is less than e^-40 of a ``tail`` of this probability
    (Bernstein's inequality).
    """
    mode, log = min(n, int((n + 1) * p)), 40 - math.log(tail) if tail else math.inf
    reach = log / 3 + math.sqrt(log**2 / 9 + 2 * n * p * (1 - p) * log) + 1
    first, last = int(max(0, mode - reach)), int(min(n, mode + reach))
    up, down = np.arange(mode, last), np.arange(mode, first, -1)
    law = np.concatenate(
        [
            np.cumprod(down / (n - down + 1) * ((1 - p) / p))[::-1],
            [1.0],
            np.cumprod((n - up) / (up + 1) * (p / (1 - p))),
        ]
    )
    return first, law / law.sum()
