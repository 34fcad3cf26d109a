"""How precise shares within groups will be, and which differences between groups will be found.

References
    Fleiss, Levin & Paik 2003, Statistical Methods for Rates and Proportions (two groups)
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    counts,
    one_of,
    positive,
    probability,
    strictly_between,
)
from aggregation.statistics.numeric.binomial import cdf
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.numeric.roots import root
from aggregation.statistics.planning.assumptions import (
    fraction,
    report_rate,
    reports_after,
    rounded_up,
)


def half_width_in_group(
    n: int,
    size: float,
    membership: Channel,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
) -> float:
    """Return how far the interval for a share within a group reaches, from n reports in all.

    ``size`` and ``membership`` are those of ``reports_in_group``.
    """
    check_channel(channel)
    rate, reports = report_rate(channel, share), reports_in_group(n, size, membership)
    return quantile(level) * math.sqrt(rate * (1 - rate) / reports) / channel.contrast


def reports_in_group(n: int, size: float, membership: Channel) -> float:
    """Return how many reports from known members tell as much about a group as n from everybody.

    ``size`` is the group's part of all people and ``membership`` the channel of the answer that
    names it. Where the share is the same in every group, the ratio of pseudo-values (``ratio``) has
    the variance lambda(1-lambda)/c^2 E[w^2]/(n size^2): that of n size^2/E[w^2] such reports, and
    of n size of them if the group were sent in clear.
    """
    n = counts(0, n)[1]
    check_channel(membership, "membership")
    size = positive("size", size, 1.0)
    named = membership.rate(size)
    # The root of E[w^2], w = (1[the report names the group] - b)/(a - b).
    spread = math.hypot(math.sqrt(named) * (1 - membership.b), math.sqrt(1 - named) * membership.b)
    return n * (size * membership.contrast / spread) ** 2


def sample_size_of_difference(
    share1: float,
    share2: float,
    channel: Channel,
    power: float = 0.8,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
) -> int:
    """Return how many people to invite to each of two equal groups to tell these shares apart.

    [z sqrt(2 m(1-m)) + z_power sqrt(l1(1-l1) + l2(1-l2))]^2/(l1-l2)^2 for the pooled z test.
    """
    rate1, rate2 = _two_rates(share1, share2, channel, forged)
    gap = abs(rate1 - rate2)
    if gap == 0:
        why = "shares must differ" if share1 == share2 else "forgers must not close the gap"
        raise ValueError(f"{why}, got share1={share1!r}, share2={share2!r}, forged={forged!r}")
    middle = (rate1 + rate2) / 2
    root = quantile(level) * math.sqrt(2 * middle * (1 - middle)) + float(
        ndtri(strictly_between("power", power))
    ) * math.sqrt(rate1 * (1 - rate1) + rate2 * (1 - rate2))
    return rounded_up((max(root, 0.0) / gap) ** 2 / (1 - fraction("dropout", dropout)))


def power_of_difference(
    share1: float,
    share2: float,
    n1: int,
    n2: int,
    channel: Channel,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    method: str = "exact",
) -> float:
    """Return the chance that the pooled z test tells two groups apart; for equal shares, its size.

    ``exact`` sums over the counts of both groups, ``normal`` is the usual approximation. Forgers
    pull both groups together.
    """
    rate1, rate2 = _two_rates(share1, share2, channel, forged)
    n1, n2 = reports_after(n1, dropout, "n1"), reports_after(n2, dropout, "n2")
    z = quantile(level)
    if one_of("method", method, ("exact", "normal")) == "exact":
        return _exact_power(rate1, rate2, n1, n2, z)
    pooled = (n1 * rate1 + n2 * rate2) / (n1 + n2)
    under = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    error = math.sqrt(rate1 * (1 - rate1) / n1 + rate2 * (1 - rate2) / n2)
    if error == 0:
        return float(rate1 != rate2)
    gap = abs(rate1 - rate2)
    return float(ndtr((gap - z * under) / error) + ndtr((-gap - z * under) / error))


def smallest_difference(
    n: int,
    channel: Channel,
    share: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    forged: float = 0.0,
) -> tuple[float, float] | None:
    """Return the nearest two shares that n reports in each group tell apart, or None.

    The first is ``share`` and the second lies towards 1/2, where reports vary more; without a share
    both lie around the worst case. By the normal approximation: ``power_of_difference`` has the
    exact power of what is found.
    """
    n = counts(0, n)[1]
    check_channel(channel)
    target = strictly_between("power", power)
    worst = (report_rate(channel, None) - channel.b) / channel.contrast

    def pair(gap: float) -> tuple[float, float]:
        if share is None:
            low = min(max(worst - gap / 2, 0.0), 1 - gap)
            return low, min(low + gap, 1.0)
        first = probability("share", share)
        return first, min(first + gap, 1.0) if first <= 0.5 else max(first - gap, 0.0)

    def excess(gap: float) -> float:
        found = power_of_difference(
            *pair(gap), n, n, channel, level, forged=forged, method="normal"
        )
        return found - target

    if excess(0.0) >= 0:
        raise ValueError(f"power must exceed the size of the test, {1 - level:g}, got {power!r}")
    farthest = 1.0 if share is None else max(share, 1 - share)
    if excess(farthest) < 0:
        return None
    return pair(root(excess, 0.0, farthest, xtol=1e-9))


def _exact_power(rate1: float, rate2: float, n1: int, n2: int, z: float) -> float:
    """Return 1 - P(accept), summed over both counts.

    For each count s of the first group the accepted counts of the second are
    those t between the roots of (s/n1 - t/n2)^2 = z^2 m(1-m)(1/n1 + 1/n2), m = (s+t)/(n1+n2).
    """
    reach = 9 * math.sqrt(n1 * rate1 * (1 - rate1)) + 40
    first, last = max(0, int(n1 * rate1 - reach)), min(n1, int(n1 * rate1 + reach))
    s = np.arange(first, last + 1, dtype=np.float64)
    N, k = n1 + n2, z**2 * (1 / n1 + 1 / n2) / (n1 + n2) ** 2
    square, linear, constant = (
        1 / n2**2 + k,
        -2 * s / (n1 * n2) - k * (N - 2 * s),
        (s / n1) ** 2 - k * s * (N - s),
    )
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
    low = np.ceil((-linear - root) / (2 * square) - 1e-9)
    high = np.floor((-linear + root) / (2 * square) + 1e-9)
    accepted = cdf(high, n2, rate2) - cdf(low - 1, n2, rate2)
    law = cdf(s, n1, rate1) - cdf(s - 1, n1, rate1)
    return min(1.0, max(0.0, 1 - float(law @ accepted)))


def _two_rates(
    share1: float, share2: float, channel: Channel, forged: float
) -> tuple[float, float]:
    """Return the report rates of both groups once forgers have closed the gap all they can."""
    check_channel(channel)
    share1, share2 = probability("share1", share1), probability("share2", share2)
    forged = fraction("forged", forged)
    low, high = channel.rate(min(share1, share2)), channel.rate(max(share1, share2))
    low, high = low * (1 - forged) + forged, high * (1 - forged)
    if low > high:
        low = high = (low + high) / 2
    return (low, high) if share1 <= share2 else (high, low)
