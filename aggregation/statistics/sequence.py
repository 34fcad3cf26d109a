"""Limits for the share that stay right however often one looks.

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
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    _shares,
    check_channel,
    counts,
    integer,
    strictly_between,
)

# What lies more than this many units of log density below the peak weighs less than 1e-16.
NEGLIGIBLE = 40.0
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
# A rate of exactly 0 or 1 has no odds; the limits are rounded outward by more than this.
RATES = (1e-300, 1 - 2**-53)


def interval(
    count: int, n: int, channel: Channel, level: float = 0.95, n_opt: int = 300
) -> tuple[float, float]:
    """Limits for the share, valid at every look, when ``count`` of ``n`` reports say yes.

    They are tuned to be narrow at about ``n_opt`` reports, which has to be chosen before the data
    are seen. The reports have to be independent with one common share; if it may drift, use
    ``robbins``.

    For each rate r in [b, a] let M be the likelihood of the reports averaged over a prior, divided
    by the likelihood at r. If r is true M is a martingale that starts at 1 and exceeds
    1/(1-level) at any time with probability at most 1 - level (Ville 1939): keep the r at which M
    is below that. The prior is a beta distribution with mean r and ``_concentration``, truncated
    to [b, a]. Nothing in [b, a] is likelier than the maximum likelihood estimate, so M <= 1 there:
    it is always kept, however improbable the reports.
    """
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    k = _concentration(_size(n_opt), level)
    return _limits(lambda rate: _log_tuned(rate, count, n, channel, k), count, n, channel, level)


def uniform(count: int, n: int, channel: Channel, level: float = 0.95) -> tuple[float, float]:
    """As ``interval`` with the uniform prior on [b, a] at every rate: nothing to be tuned."""
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    return _limits(lambda rate: _log_uniform(rate, count, n, channel), count, n, channel, level)


def robbins(
    count: int, n: int, channel: Channel, level: float = 0.95, n_opt: int = 1000
) -> tuple[float, float]:
    """Limits, valid at every look, for the share among the first ``n`` people, whoever they are.

    Nothing is assumed about the answers: they may drift, or be chosen by somebody who has seen the
    earlier reports. Given the answers, reports are independent; each, being 0 or 1, is 1/4
    sub-Gaussian (Hoeffding's lemma). Mixing the exponential martingale of that over a normal prior
    (Robbins 1970) gives, for the mean of the rates,

        |count/n - mean| < sqrt((n/4 + r) ln((n/4 + r) / (r (1-level)^2))) / n,

    with r = ``_concentration`` / 4. The mean rate is in [b, a], so moving count/n into [b, a] first
    brings it no further from the mean, and the limits are never empty.
    """
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    r = _concentration(_size(n_opt), level) / 4
    half = math.sqrt((n / 4 + r) * (math.log1p(n / 4 / r) - 2 * math.log1p(-level))) / n
    middle = min(max(count / n, channel.b), channel.a)
    return _shares(middle - half, middle + half, channel)


def _size(n_opt: object) -> int:
    size = integer("n_opt", n_opt, minimum=1)
    if size > LARGEST:
        raise ValueError(f"n_opt must be at most {LARGEST}, got {size}")
    return size


def _concentration(n_opt: int, level: float) -> float:
    """How many reports the prior weighs: about the best choice for n_opt reports.

    The radius of ``robbins`` is smallest at n = n_opt if n/r = L + ln(1 + n/r), L = -2 ln(1-level);
    one step of iteration solves this well enough (Howard et al. 2021). Any choice made
    beforehand is valid. Levels near 0 would ask for a prior that is a point.
    """
    evidence = -2 * math.log1p(-level)
    return n_opt / max(evidence + math.log1p(evidence), 1e-9)


# --- limits from M ------------------------------------------------------------------------------


def _limits(
    log_mixture: Callable[[float], float], count: int, n: int, channel: Channel, level: float
) -> tuple[float, float]:
    """The shares between which M stays below 1/(1-level), on either side of the likeliest."""
    likeliest = min(max(count / n, channel.b), channel.a)
    bar = -math.log1p(-level)
    low = _crossing(log_mixture, bar, likeliest, channel.b)
    high = _crossing(log_mixture, bar, likeliest, channel.a)
    return _shares(low, high, channel)


def _crossing(log_m: Callable[[float], float], bar: float, start: float, end: float) -> float:
    """Where log M rises through ``bar`` on the way from ``start``, or ``end`` if it does not.

    For the uniform prior -log M is a log likelihood, so there is one crossing at most. For the
    tuned prior without truncation log M is convex: a constant plus sums of ln(k + j/rate) and of
    ln(k + j/(1-rate)). Truncation bends it, but in no case that was tried makes it cross twice;
    if it did, looking at ``end`` first would keep what lies between. log M grows like a square, so
    its root grows like a line, and the crossing is found in a few steps.
    """
    lowest = log_m(start)
    if start == end or log_m(end) <= bar:
        return end
    if lowest >= bar:  # by rounding only, at levels near 0
        return start
    target = math.sqrt(bar - lowest)

    def excess(rate: float) -> float:
        return math.sqrt(max(log_m(rate) - lowest, 0.0)) - target

    return float(brentq(excess, start, end, xtol=1e-15, rtol=1e-14))


# --- log M --------------------------------------------------------------------------------------


def _log_tuned(rate: float, count: int, n: int, channel: Channel, k: float) -> float:
    """log M for the beta prior with parameters k rate and k (1-rate), truncated to [b, a]."""
    rate = min(max(rate, RATES[0]), RATES[1])
    yes, no = k * rate, k * (1 - rate)
    posterior = _log_integral(yes + count, no + (n - count), rate, channel)
    return posterior - _log_integral(yes, no, rate, channel)


def _log_uniform(rate: float, count: int, n: int, channel: Channel) -> float:
    """log M for the uniform prior on [b, a], whose density is that of the odds over l(1-l)."""
    rate = min(max(rate, RATES[0]), RATES[1])
    jacobian = math.log(rate) + math.log1p(-rate) - math.log(channel.contrast)
    return jacobian + _log_integral(count + 1.0, n - count + 1.0, rate, channel)


def _log_integral(yes: float, no: float, rate: float, channel: Channel) -> float:
    """log of the integral of (l/rate)^yes ((1-l)/(1-rate))^no / (l(1-l)) over l in [b, a].

    Incomplete beta functions would underflow for counts far outside [b, a], and lose their digits
    in differences for n beyond 1e9. In terms of the log-odds the integrand is log-concave: starting
    from its peak, each side is integrated by itself as far as it matters.
    """
    a, b = channel.a, channel.b if channel.b > RATES[0] else 0.0
    peak = min(max(yes / (yes + no), b, RATES[0]), a, RATES[1])
    rest = 1 - peak
    step = peak - rate
    height = yes * _log_ratio(peak, rate, step) + no * _log_ratio(rest, 1 - rate, -step)
    # The distances in log-odds from the peak to b and to a; the second is the first, mirrored.
    to_b = math.log1p((peak - b) / (b * rest)) if b > 0 else math.inf
    to_a = math.log1p((a - peak) / ((1 - a) * peak)) if a < 1 else math.inf
    below = _half(yes, no, peak, rest, to_b)
    above = _half(no, yes, rest, peak, to_a)
    return height + math.log(below + above)


def _log_ratio(x: float, y: float, step: float) -> float:
    """ln(x/y), given step = x - y: as a difference of x and y it would have lost digits."""
    return math.log1p(step / y) if abs(step) < y / 2 else math.log(x / y)


def _half(yes: float, no: float, peak: float, rest: float, reach: float) -> float:
    """The integral of exp(-drop(x)) over x in [0, reach], by Gauss and Legendre's rule.

    x is the distance in log-odds below the peak, and drop(x) = yes x + (yes+no) ln(rest +
    peak exp(-x)) what the log density loses on the way: convex and increasing.
    """
    if reach == 0:
        return 0.0
    # Written with the smaller of peak and rest, the sum loses no digits; exp(709) is finite.
    slope, small, sign = (yes, peak, -1) if peak < rest else (-no, rest, 1)
    far = _extent(slope, small, sign, yes + no, reach if sign < 0 else min(reach, 700.0))
    x = far / 2 * (1 + NODES)
    drop = slope * x + (yes + no) * np.log1p(small * np.expm1(sign * x))
    return float(far / 2 * (WEIGHTS @ np.exp(-drop)))


def _extent(slope: float, small: float, sign: int, total: float, reach: float) -> float:
    """Where ``drop`` reaches NEGLIGIBLE, or a little beyond, or ``reach`` if that comes first.

    From the parabola with the same slope and curvature at 0 as a first guess, by Newton's method,
    which after its first step stays beyond the root of a convex function.
    """
    start = max(slope + sign * total * small, 0.0)
    curvature = total * small * (1 - small)
    x = 2 * NEGLIGIBLE / (start + math.sqrt(start**2 + 2 * NEGLIGIBLE * curvature))
    for _ in range(100):
        x = min(x, reach)
        change = math.expm1(sign * x)
        excess = slope * x + total * math.log1p(small * change) - NEGLIGIBLE
        if 0 <= excess < NEGLIGIBLE / 2 or (x == reach and excess < 0):
            break
        x -= excess / (slope + sign * total * small * (1 + change) / (1 + small * change))
    return x
