"""The share of people whose answer is yes, from randomized reports.

Of n reports, ``count`` say yes. A person whose answer is yes reports yes with probability a, any
other person with probability b < a, so a report says yes with probability

    lambda = b + (a - b) * share                                        (Warner 1965)

and everything below is inference about lambda on [b, a], carried over to the share. Each option of
a choice question is such a channel too. Nothing here clips an estimate except ``Estimate.bounded``.

References
    Warner 1965, J. Am. Stat. Assoc. 60:63 (randomized response)
    Clopper & Pearson 1934, Biometrika 26:404; Wilson 1927, J. Am. Stat. Assoc. 22:209
    Blaker 2000, Can. J. Stat. 28:783 (nested exact intervals from the acceptability function)
    Hoeffding 1956, Ann. Math. Stat. 27:713 (sums of unequal trials against the binomial)
    Vatutin & Mikhailov 1982, Theory Probab. Appl. 27:734 (the hypergeometric is such a sum)
    Greenberg & Mohri 2014, Stat. Probab. Lett. 86:91 (a binomial reaches its mean: P > 1/4)
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    counts,
    integer,
    one_of,
    probability,
    strictly_between,
    tallies,
)
from aggregation.statistics.numeric.binomial import (
    acceptability,
    at_least,
    at_most,
    blaker_upper,
    lower_limit,
    upper_limit,
)

__all__ = [
    "METHODS",
    "OUTWARD",
    "Channel",
    "Estimate",
    "estimate",
    "estimates",
    "interval",
    "intervals",
    "p_value",
    "shares",
]

# Limits on lambda are moved outward by this much. Limits of neighbouring counts often coincide
# (at lambda = 1/2, say); rounding errors that moved them inward would open gaps nobody covers.
OUTWARD = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share and how well it is known.

    value           unbiased; may leave [0, 1]. The one to average, add and subtract.
    bounded         value clipped to [0, 1], the maximum likelihood estimate. The one to show.
    standard_error  root of the unbiased variance estimate of ``value``. A single report has none
                    (unless it is a census): then the largest standard error possible.
    sampling_error  the part that asking everybody, if there is a finite everybody, would remove.
    privacy_error   the part that the randomization adds.
    low, high       confidence limits for the share, exact: Blaker's; for a census, its own.
    misfit          p-value of "some share in [0, 1] explains this count". Below 0.001: wrong
                    channel, people not following it, or tampering; not a small share.

    standard_error**2 = sampling_error**2 + privacy_error**2, unless ``value`` is outside
    [0, 1] and the estimate of the sampling variance is negative; then sampling_error is 0 and
    privacy_error, which the mechanism all but fixes, exceeds standard_error.
    """

    value: float
    bounded: float
    standard_error: float
    sampling_error: float
    privacy_error: float
    low: float
    high: float
    misfit: float


def estimate(
    count: int, n: int, channel: Channel, level: float = 0.95, population: int | None = None
) -> Estimate:
    """Estimate the share of yes answers when ``count`` of ``n`` reports say yes.

    ``population`` is the size of the finite population that was sampled at random without
    replacement; the share is then the share in it. ``population=n`` is a census.
    """
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    if population is not None:
        population = integer("population", population, minimum=n)
    if population == n:
        bounded = min(max((count / n - channel.b) / channel.contrast, 0.0), 1.0)
        low, high = _census(count, n, channel, 1 - level)
        low, high = min(low, bounded), max(high, bounded)
    else:
        if population is not None:
            level = finite_level(level, n, channel)
        low, high = interval(count, n, channel, level)
    misfit = float(_misfit(np.array(float(count)), np.array(float(n)), channel))
    return _estimate(count, n, channel, population, low, high, misfit)


def estimates(
    counts: ArrayLike, sizes: ArrayLike, channel: Channel, level: float = 0.95
) -> list[Estimate]:
    """Return ``estimate`` of many counts of one channel at once."""
    s, n = tallies(counts, sizes)
    if s.ndim != 1:
        raise ValueError(f"counts and sizes must be lists, got {counts!r} and {sizes!r}")
    check_channel(channel)
    lows, highs = _intervals(s, n, channel, strictly_between("level", level), _blaker)
    figures = zip(s, n, lows, highs, _misfit(s, n, channel), strict=True)
    return [
        _estimate(int(one), int(of), channel, None, float(low), float(high), float(misfit))
        for one, of, low, high, misfit in figures
    ]


def interval(
    count: int, n: int, channel: Channel, level: float = 0.95, method: str = "blaker"
) -> tuple[float, float]:
    """Return confidence limits for the share; ``method`` is a key of ``METHODS``.

    Every method looks at the count clamped to the range that lambda in [b, a] would produce.
    Clipping the limits of the raw count instead leaves nothing, or a single point, in about
    (1 - level)/2 of the surveys in which the share is 0 or 1.
    """
    counts(count, n)
    lows, highs = intervals([count], [n], channel, level, method)
    return float(lows[0]), float(highs[0])


def intervals(
    counts: ArrayLike,
    sizes: ArrayLike,
    channel: Channel,
    level: float = 0.95,
    method: str = "blaker",
) -> tuple[Floats, Floats]:
    """Return ``interval`` of many counts of one channel: arrays of low and of high limits."""
    s, n = tallies(counts, sizes)
    check_channel(channel)
    level = strictly_between("level", level)
    return _intervals(s, n, channel, level, METHODS[one_of("method", method, METHODS)])


def _intervals(
    s: Floats, n: Floats, channel: Channel, level: float, method: "Method"
) -> tuple[Floats, Floats]:
    lowest, highest = _clamp(n, channel)
    t = np.minimum(np.maximum(s, lowest), highest)
    low, high = method(t, n, channel, 1 - level, lowest, highest)
    # The restricted maximum likelihood estimate belongs to every interval. Above the level 3/4 it
    # does so by itself; below, this keeps the interval from being empty and costs no coverage.
    likeliest = np.clip(s / n, channel.b, channel.a)
    return shares(
        np.minimum(low, likeliest), np.maximum(high, likeliest), channel.b, channel.contrast
    )


def p_value(share: float, count: int, n: int, channel: Channel) -> float:
    """Return the exact p-value of "the share is ``share``", by Blaker's test."""
    share = probability("share", share)
    count, n = counts(count, n)
    check_channel(channel)
    size, rate = np.array(float(n)), np.array(channel.rate(share))
    lowest, highest = _clamp(size, channel)
    t = np.minimum(np.maximum(count, lowest), highest)
    return min(1.0, float(acceptability(rate, t, size, lowest, highest)))


# --- point estimate -----------------------------------------------------------------------------


def _estimate(
    count: int,
    n: int,
    channel: Channel,
    population: int | None,
    low: float,
    high: float,
    misfit: float,
) -> Estimate:
    value = (count / n - channel.b) / channel.contrast
    total, sampling, privacy = _variances(count, n, channel, population)
    return Estimate(
        value=value,
        bounded=min(max(value, 0.0), 1.0),
        standard_error=math.sqrt(total / n) / channel.contrast,
        sampling_error=math.sqrt(sampling / n) / channel.contrast,
        privacy_error=math.sqrt(privacy / n) / channel.contrast,
        low=low,
        high=high,
        misfit=misfit,
    )


def _variances(
    count: int, n: int, channel: Channel, population: int | None
) -> tuple[float, float, float]:
    """Return n c^2 times the estimated variance: in all, from sampling and from privacy.

    Given the answers, the reports have a mean variance V = share a(1-a) + (1-share) b(1-b), and
    lambda(1-lambda) = V + c^2 share(1-share). With a fraction f of the population asked,

        n c^2 Var = V + (1-f) (S - V),

    where S is the expected sample variance s2 of the reports. V is linear in lambda, so putting
    the observed rate y for lambda estimates it without bias; the algebra collapses to a form that
    is never negative, even where the unbiased share is outside [0, 1]:

        V = (1-y) a b + y (1-a)(1-b).
    """
    a, b, y = channel.a, channel.b, count / n
    privacy = (1 - y) * a * b + y * (1 - a) * (1 - b)
    unseen = 1.0 if population is None else 1 - n / population
    if n > 1:
        reports = count * (n - count) / (n * (n - 1))
    else:
        # One report says nothing of its variance, and one person drawn from N >= 2 is one person
        # drawn from infinitely many: bound lambda(1-lambda) by its maximum over [b, a].
        worst = min(max(0.5, b), a)
        reports = worst * (1 - worst)
        unseen = math.ceil(unseen)
    between = unseen * (reports - privacy)
    return max(privacy + between, 0.0), max(between, 0.0), privacy


def _misfit(count: Floats, n: Floats, channel: Channel) -> Floats:
    """Return twice the smaller of P(at most count | share 0) and P(at least count | share 1)."""
    none, all_ = np.full_like(n, channel.b), np.full_like(n, channel.a)
    tail: Floats = np.minimum(at_most(count, n, none), at_least(count, n, all_))
    return np.minimum(1.0, 2 * tail)


# --- intervals for lambda -----------------------------------------------------------------------


def _clamp(n: Floats, channel: Channel) -> tuple[Floats, Floats]:
    """Return the range to which counts are clamped: floor(nb) to ceil(na), but for rounding errors.

    A test of the clamped count is exact whatever the range. This one holds n lambda for every
    lambda in [b, a], so every count below nb has the same interval, and so has every count above
    na. The likeliest lambda is then never rejected at 1/4 or less: a binomial count is at most its
    mean with probability > 1/4, and likewise at least (Greenberg & Mohri 2014), unless the mean is
    within 1 of n, or of 0. There, n reports may be too few to tell b from a; if so, they are all
    treated alike.
    """
    lowest = np.minimum(np.floor(n * (channel.b + 1 / LARGEST)), n)
    highest = np.maximum(np.ceil(n * (channel.a - 1 / LARGEST)), 0.0)
    too_few = at_most(lowest, n, np.full_like(n, channel.b)) < 1 / 4
    too_many = at_least(highest, n, np.full_like(n, channel.a)) < 1 / 4
    return np.where(too_few, n, lowest), np.where(too_many, 0.0, highest)


def shares(
    low: Floats, high: Floats, b: Floats | float, c: Floats | float
) -> tuple[Floats, Floats]:
    """Return limits for the share from those for lambda, rounded outward, within [0, 1]."""
    return np.clip((low - OUTWARD - b) / c, 0.0, 1.0), np.clip((high + OUTWARD - b) / c, 0.0, 1.0)


def _blaker(
    t: Floats, n: Floats, channel: Channel, alpha: float, lowest: Floats, highest: Floats
) -> tuple[Floats, Floats]:
    """Return Blaker's (2000) interval for the clamped count: exact, nested and never empty."""
    # The lower limit is an upper one with yes and no exchanged: both are found in one go.
    ends = np.repeat([channel.a, 1 - channel.b], t.size).reshape(2, *t.shape)
    upper = blaker_upper(
        np.stack([t, n - t]), np.stack([n, n]), ends, np.stack([highest, n - lowest]), alpha
    )
    return 1 - upper[1], upper[0]


def _clopper_pearson(
    t: Floats, n: Floats, channel: Channel, alpha: float, lowest: Floats, highest: Floats
) -> tuple[Floats, Floats]:
    """Return limits with tails of at most alpha/2 (Clopper & Pearson 1934): exact, but wide."""
    return lower_limit(t, n, alpha / 2), upper_limit(t, n, alpha / 2)


def _wilson(
    t: Floats, n: Floats, channel: Channel, alpha: float, lowest: Floats, highest: Floats
) -> tuple[Floats, Floats]:
    """Return the score interval (Wilson 1927): closed form, right on average only."""
    z2 = ndtri(alpha / 2) ** 2
    middle = (t + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (t * (n - t) / n + z2 / 4)) / (n + z2)
    return middle - half, middle + half


# Limits for lambda from the clamped count, n, the channel, alpha, and the range of the clamp.
Method = Callable[[Floats, Floats, Channel, float, Floats, Floats], tuple[Floats, Floats]]
METHODS: dict[str, Method] = {
    "blaker": _blaker,
    "wilson": _wilson,
    "clopper-pearson": _clopper_pearson,
}


# --- finite populations -------------------------------------------------------------------------


def finite_level(level: float, n: int, channel: Channel) -> float:
    """Return the level that makes the interval for unlimited populations right for a finite one.

    The count of a sample without replacement is a sum of n independent trials with unequal chances
    in [b, a]: the hypergeometric generating function has real roots only (Vatutin & Mikhailov
    1982), and so has its composition with the channel. Beyond one unit from the mean such a sum
    has lighter tails than the binomial (Hoeffding 1956), and both integers around the mean are
    accepted at levels above 3/4, so the interval is valid and conservative.

    The exception is a mean below 1 (or above n - 1) at which a single yes is rejected. Its chance
    may exceed the binomial 1 - (1-lambda)^n <= alpha, but not n lambda <= -ln(1-alpha). Asking for
    1 - exp(-alpha) instead of alpha makes up for it.
    """
    level, n = strictly_between("level", level), counts(0, n)[1]
    check_channel(channel)
    rare = n * channel.b < 1 or n * (1 - channel.a) < 1
    return math.exp(level - 1) if rare else level


def _census(count: int, n: int, channel: Channel, alpha: float) -> tuple[float, float]:
    """Return limits for K/n if all n people of the population reported and K answers are yes.

    The count is Bin(K, a) + Bin(n-K, b), stochastically increasing in the integer K; keep every K
    that gives both tails of the clamped count more than alpha/2. One K more moves the count by one
    at most, so the two conditions never exclude each other.
    """
    a, b = channel.a, channel.b if channel.b > 1e-300 else 0.0  # binom.pmf overflows near 1e-308
    lowest, highest = (int(x) for x in _clamp(np.array(float(n)), channel))
    t = min(max(count, lowest), highest)
    high = _census_upper(t, n, a, b, highest, alpha)
    low = n - _census_upper(n - t, n, 1 - b, 1 - a, n - lowest, alpha)
    return low / n, high / n


def _census_upper(t: int, n: int, a: float, b: float, highest: int, alpha: float) -> int:
    """Return the last K at which the count is at most t with a probability above alpha/2."""
    if t == highest:
        return n
    return bisect_left(
        range(1, n + 1), True, key=lambda k: _sum_at_most(t, k, a, n - k, b) <= alpha / 2
    )


def _sum_at_most(t: int, m1: int, p1: float, m2: int, p2: float) -> float:
    """Return P(Bin(m1, p1) + Bin(m2, p2) <= t), with about a hundred terms whatever the sizes.

    The sum over the first count, taken to be the less variable, has terms that vary smoothly on
    the scale of its standard deviation s. Adding every h-th term and multiplying by h then errs by
    about exp(-(pi s / h)^2) (Poisson's summation formula): nothing, for h <= s/4. Terms further
    than 9 s + 25 from the mean weigh less than 1e-16 together (Bernstein's inequality).
    """
    from scipy.stats import binom  # slow to load, and only a census needs it

    variance1, variance2 = m1 * p1 * (1 - p1), m2 * p2 * (1 - p2)
    if variance1 > variance2:
        return _sum_at_most(t, m2, p2, m1, p1)
    deviation = math.sqrt(variance1)
    step = max(1, int(deviation / 4))
    reach = 9 * deviation + 25
    first = max(0, math.floor(m1 * p1 - reach))
    last = min(m1, math.ceil(m1 * p1 + reach))
    j = np.arange(first, last + 1, step)
    return float(step * np.sum(binom.pmf(j, m1, p1) * binom.cdf(t - j, m2, p2)))
