"""Limits for the share that are right however often somebody looks.

A page that shows a new interval after every batch looks many times, and a 95 % interval made for
one look is wrong at some look far more often than in 5 % of surveys: 41 % after a thousand. The
limits here hold at all n at once with probability ``level``, so one may stop whenever one likes,
for whatever reason. They depend on the tally alone, not on the looks. They are not intersected with
earlier ones: such an intersection can become empty.

References
    Ville 1939, Etude critique de la notion de collectif (the maximal inequality)
    Robbins 1970, Ann. Math. Stat. 41:1397 (mixtures of likelihood ratios)
    Howard, Ramdas, McAuliffe & Sekhon 2021, Ann. Stat. 49:1055 (confidence sequences; tuning)
    Waudby-Smith, Wu & Ramdas 2023, ICML (sequences for randomized reports)
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Ann. Stat. 52:2613 (asymptotic sequences)
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics.channel import Channel, channels_of, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    array_of,
    counts,
    integer,
    strictly_between,
    tallies,
)
from aggregation.statistics.numeric.roots import elementwise_roots
from aggregation.statistics.proportion import shares

# What lies more than this many units of log density below the peak weighs less than 1e-16.
NEGLIGIBLE = 40.0
# Gauss and Legendre's nodes and weights. 64 give 12 digits or more at any counts; from 10 yes and
# 10 no on, 24 do, and take a third of the time.
MANY, FEW = (np.polynomial.legendre.leggauss(nodes) for nodes in (64, 24))
# A rate of exactly 0 or 1 has no odds; the limits are rounded outward by more than this.
RATES = (1e-300, 1 - 2**-53)


def interval(
    count: int, n: int, channel: Channel, level: float = 0.95, n_opt: int = 300
) -> tuple[float, float]:
    """Return limits for the share, valid at every look, when ``count`` of ``n`` reports say yes.

    They are tuned to be narrow at about ``n_opt`` reports, which has to be chosen before the data
    are seen. The reports have to be independent with one common share; if it may drift, use
    ``robbins``.

    For each rate r in [b, a] let M be the likelihood of the reports averaged over a prior, divided
    by the likelihood at r. If r is true M is a martingale that starts at 1 and exceeds
    1/(1-level) at any time with probability at most 1 - level (Ville 1939): keep the r at which M
    is below that. The prior is a beta distribution with mean r and ``concentration``, truncated
    to [b, a]. Nothing in [b, a] is likelier than the maximum likelihood estimate, so M <= 1 there:
    it is always kept, however improbable the reports.
    """
    counts(count, n)
    lows, highs = intervals([count], [n], channel, level, n_opt)
    return float(lows[0]), float(highs[0])


def intervals(
    counts: ArrayLike,
    sizes: ArrayLike,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    n_opt: int = 300,
) -> tuple[Floats, Floats]:
    """Return ``interval`` of many counts at once: an array of low limits and one of high limits.

    All have one channel, or each its own; many take hardly longer than one. The level holds for
    each count by itself, at every look, but not for all of them together.
    """
    s, n = tallies(counts, sizes)
    channels = channels_of(channel, s.size, "count")
    level = strictly_between("level", level)
    k = concentration(n_opt, level)
    return _limits(partial(_log_tuned, k), s, n, channels, level)


def uniform(count: int, n: int, channel: Channel, level: float = 0.95) -> tuple[float, float]:
    """Return limits as ``interval`` does, with the uniform prior on [b, a]: nothing to be tuned."""
    counts(count, n)
    s, size = tallies([count], [n])
    check_channel(channel)
    level = strictly_between("level", level)
    low, high = _limits(_log_uniform, s, size, [channel], level)
    return float(low[0]), float(high[0])


def robbins(
    count: int, n: int, channel: Channel, level: float = 0.95, n_opt: int = 1000
) -> tuple[float, float]:
    """Return limits, valid at every look, for the share among the first ``n`` people.

    Nothing is assumed about the answers: they may drift, or be chosen by somebody who has seen the
    earlier reports. Given the answers, reports are independent; each, being 0 or 1, is 1/4
    sub-Gaussian (Hoeffding's lemma). Mixing the exponential martingale of that over a normal prior
    (Robbins 1970) gives, for the mean of the rates,

        |count/n - mean| < sqrt((n/4 + r) ln((n/4 + r) / (r (1-level)^2))) / n,

    with r = ``concentration`` / 4. The mean rate is in [b, a], so moving count/n into [b, a] first
    brings it no further from the mean, and the limits are never empty.
    """
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    r = concentration(n_opt, level) / 4
    half = math.sqrt((n / 4 + r) * (math.log1p(n / 4 / r) - 2 * math.log1p(-level))) / n
    middle = min(max(count / n, channel.b), channel.a)
    ends = np.array(middle - half), np.array(middle + half)
    low, high = shares(*ends, channel.b, channel.contrast)
    return float(low), float(high)


def asymptotic(n: ArrayLike, level: float = 0.95, n_opt: int = 300) -> Floats:
    """Return how many standard errors to reach to either side, for limits at every look.

    For estimates that are means of independent reports, or behave like means, and for which there
    are no limits like those above: shares by group, ratios, means. The normal mixture of
    ``robbins`` with the estimated variance in place of a bound,

        sqrt(2 (1 + k/n) ln(sqrt(1 + n/k) / (1-level))),    k = ``concentration``,

    holds at all n at once in the limit of late looks (Waudby-Smith et al. 2024). From 300 reports
    on it held in simulations; do not use it before.
    """
    size = array_of("n", n)
    if size.dtype.kind not in "iu" or (size < 1).any() or (size > LARGEST).any():
        raise ValueError(f"n must be integers from 1 to {LARGEST}, got {n!r}")
    level = strictly_between("level", level)
    k = concentration(n_opt, level)
    evidence = np.log1p(size / k) - 2 * math.log1p(-level)
    return np.asarray(np.sqrt((1 + k / size) * evidence))


def concentration(n_opt: int, level: float = 0.95) -> float:
    """Return how many reports the prior weighs: about the best choice for n_opt reports.

    The radius of ``robbins`` is smallest at n = n_opt if n/r = L + ln(1 + n/r), L = -2 ln(1-level);
    one step of iteration solves this well enough (Howard et al. 2021). Any choice made
    beforehand is valid. Levels near 0 would ask for a prior that is a point.
    """
    size = integer("n_opt", n_opt, 1, LARGEST)
    evidence = -2 * math.log1p(-strictly_between("level", level))
    return size / max(evidence + math.log1p(evidence), 1e-9)


# --- limits from M ------------------------------------------------------------------------------


LogMixture = Callable[..., Floats]  # log M from rates, counts, sizes, a and b


def _limits(
    log_m: LogMixture, count: Floats, n: Floats, channels: Sequence[Channel], level: float
) -> tuple[Floats, Floats]:
    """Return the shares between which M stays below 1/(1-level)."""
    shape, bar = count.shape, -math.log1p(-level)
    a, b = (np.broadcast_to([getattr(one, x) for one in channels], count.size) for x in "ab")
    limit = np.concatenate([b, a])
    count, n, a, b = (np.tile(x.ravel(), 2) for x in (count, n, a, b))
    start = np.clip(count / n, b, a)
    # Two thousand at a time: with their nodes they just fit into the processor's cache.
    for first in range(0, count.size, 2000):
        part = slice(first, first + 2000)
        given = (x[part] for x in (count, n, a, b))
        limit[part] = _crossing(log_m, bar, start[part], limit[part], *given)
    low, high = limit.reshape(2, -1)
    low, high = shares(low, high, b[: low.size], (a - b)[: low.size])
    return low.reshape(shape), high.reshape(shape)


def _crossing(log_m: LogMixture, bar: float, start: Floats, end: Floats, *given: Floats) -> Floats:
    """Find where log M rises through ``bar`` between ``start`` and ``end``; else return ``end``.

    For the uniform prior -log M is a log likelihood, so there is one crossing at most. For the
    tuned prior without truncation log M is convex: a constant plus sums of ln(k + j/rate) and of
    ln(k + j/(1-rate)). Truncation bends it, but in no case that was tried makes it cross twice;
    if it did, looking at ``end`` first would keep what lies between. log M grows like a square, so
    its root grows like a line, and the crossing is found in a few steps.
    """
    lowest = log_m(start, *given)
    crosses = (start != end) & (log_m(end, *given) > bar)
    limit = np.where(crosses, start, end)
    crosses &= lowest < bar  # it is, but for rounding at levels near 0

    def excess(rate: Floats, lowest: Floats, *given: Floats) -> Floats:
        rise = np.maximum(log_m(rate, *given) - lowest, 0.0)
        return np.sqrt(rise) - np.sqrt(bar - lowest)

    limit[crosses] = elementwise_roots(excess, *(x[crosses] for x in (start, end, lowest, *given)))
    return limit


# --- log M --------------------------------------------------------------------------------------


def _log_tuned(k: float, rate: Floats, count: Floats, n: Floats, a: Floats, b: Floats) -> Floats:
    """Return log M for the beta prior (k rate, k (1-rate)), truncated to [b, a]."""
    rate = np.clip(rate, *RATES)
    yes, no = k * rate, k * (1 - rate)
    posterior = _log_integral(yes + count, no + (n - count), rate, a, b)
    return posterior - _log_integral(yes, no, rate, a, b)


def _log_uniform(rate: Floats, count: Floats, n: Floats, a: Floats, b: Floats) -> Floats:
    """Return log M for the uniform prior on [b, a]: in the odds its density has a factor l(1-l)."""
    rate = np.clip(rate, *RATES)
    jacobian = np.log(rate) + np.log1p(-rate) - np.log(a - b)
    return jacobian + _log_integral(count + 1, n - count + 1, rate, a, b)


def _log_integral(yes: Floats, no: Floats, rate: Floats, a: Floats, b: Floats) -> Floats:
    """Return log of the integral of (l/rate)^yes ((1-l)/(1-rate))^no / (l(1-l)) over l in [b, a].

    Incomplete beta functions would underflow for counts far outside [b, a], and lose their digits
    in differences for n beyond 1e9. In terms of the log-odds the integrand is log-concave: starting
    from its peak, each side is integrated by itself as far as it matters.
    """
    b = np.where(b > RATES[0], b, 0.0)
    peak = np.clip(yes / (yes + no), np.maximum(b, RATES[0]), np.minimum(a, RATES[1]))
    rest = 1 - peak
    step = peak - rate
    height = yes * _log_ratio(peak, rate, step) + no * _log_ratio(rest, 1 - rate, -step)
    # The distances in log-odds from the peak to b and to a; the second is the first, mirrored.
    with np.errstate(divide="ignore"):  # where b is 0 or a is 1 there is no end
        to_b = np.log1p((peak - b) / (b * rest))
        to_a = np.log1p((a - peak) / ((1 - a) * peak))
    below = _half(yes, no, peak, rest, to_b)
    above = _half(no, yes, rest, peak, to_a)
    return np.asarray(height + np.log(below + above))


def _log_ratio(x: Floats, y: Floats, step: Floats) -> Floats:
    """Return ln(x/y), given step = x - y, which as a difference would have lost digits."""
    near = np.abs(step) < y / 2
    return np.where(near, np.log1p(np.where(near, step / y, 0.0)), np.log(x / y))


def _half(yes: Floats, no: Floats, peak: Floats, rest: Floats, reach: Floats) -> Floats:
    """Return the integral of exp(-drop(x)) over x in [0, reach], by Gauss and Legendre's rule.

    x is the distance in log-odds below the peak, and drop(x) = yes x + (yes+no) ln(rest +
    peak exp(-x)) what the log density loses on the way: convex and increasing.
    """
    # Written with the smaller of peak and rest, the sum loses no digits; exp(709) is finite.
    lower = peak < rest
    slope, small = np.where(lower, yes, -no), np.where(lower, peak, rest)
    sign = np.where(lower, -1.0, 1.0)
    total = yes + no
    far = _extent(slope, small, sign, total, np.where(lower, reach, np.minimum(reach, 700.0)))
    nodes, weights = FEW if (np.minimum(yes, no) >= 10).all() else MANY
    x = far[..., None] / 2 * (1 + nodes)
    drop = small[..., None] * np.expm1(sign[..., None] * x)
    drop = slope[..., None] * x + total[..., None] * np.log1p(drop)
    return np.asarray(far / 2 * (np.exp(-drop) @ weights))


def _extent(slope: Floats, small: Floats, sign: Floats, total: Floats, reach: Floats) -> Floats:
    """Find where ``drop`` reaches NEGLIGIBLE, or a little beyond, or ``reach`` if that is nearer.

    From the parabola with the same slope and curvature at 0 as a first guess, by Newton's method,
    which after its first step stays beyond the root of a convex function.
    """
    start = np.maximum(slope + sign * total * small, 0.0)
    curvature = total * small * (1 - small)
    x = 2 * NEGLIGIBLE / (start + np.sqrt(start**2 + 2 * NEGLIGIBLE * curvature))
    for _ in range(100):
        x = np.minimum(x, reach)
        change = np.expm1(sign * x)
        excess = slope * x + total * np.log1p(small * change) - NEGLIGIBLE
        enough = (excess >= 0) & (excess < NEGLIGIBLE / 2) | (x == reach) & (excess < 0)
        if enough.all():
            break
        steep = slope + sign * total * small * (1 + change) / (1 + small * change)
        # Where rounding has moved the peak, drop first falls: go on until it rises.
        steep = np.where(steep > 0, steep, -excess / np.maximum(x, RATES[0]))
        x = np.where(enough, x, x - excess / np.where(enough, 1.0, steep))
    return x
