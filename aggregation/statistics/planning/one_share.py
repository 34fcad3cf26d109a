"""The precision of one share, and the people or the epsilon that it needs.

References
    Warner 1965, J. Am. Stat. Assoc. 60:63 (variance under randomized response)
    Cheu, Smith & Ullman 2021, IEEE S&P 42:883 (manipulation of local reports)
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics import sequence
from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    counts,
    items,
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
    options_and_cells,
    report_rate,
    reports_after,
    rounded_up,
)
from aggregation.statistics.proportion import p_value

LOOKS = ("one", "every")
TRIED = 64  # numbers of reports whose intervals are computed at once


def sample_size(
    half_width: float,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    looks: str = "one",
) -> int:
    """Return how many people to invite so that the interval reaches ``half_width`` to either side.

    z^2 lambda(1-lambda)/(c w)^2, the normal approximation; the exact interval is about 1 % wider.
    For every look there is no formula: the number is found by bisection.
    """
    w = positive("half_width", half_width)
    check_channel(channel)
    z = quantile(level)
    rate = report_rate(channel, share)
    forged, dropout = fraction("forged", forged), fraction("dropout", dropout)
    every = one_of("looks", looks, LOOKS) == "every"
    least = forgers_reach(channel, forged)
    w -= least
    if w <= 0:
        raise ValueError(
            f"half_width must exceed {least:.6g}, which forged={forged!r} takes alone, "
            f"got {half_width!r}"
        )
    root = z * math.sqrt(rate * (1 - rate)) / channel.contrast / w
    honest = root * root
    if every:
        honest = _reports_for_every_look(w, rounded_up(honest), channel, rate, level)
    return rounded_up(honest / ((1 - forged) * (1 - dropout)))


def half_width(
    n: int,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    looks: str = "one",
) -> float:
    """Return how far the interval reaches to either side if n people are invited.

    For every look: from the estimate to the farther limit, when as many say yes as is expected.
    """
    n = counts(0, n)[1]
    check_channel(channel)
    return half_widths([n], [channel], share, level, dropout, forged, looks)[0]


def half_widths(
    sizes: Sequence[int],
    channels: Sequence[Channel],
    share: float | None = None,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    looks: str = "one",
) -> list[float]:
    """Return ``half_width`` for many numbers of people, each with its own channel.

    For every look, many take hardly longer than one.
    """
    people = [counts(0, n, ("count", "sizes"))[1] for n in items("sizes", sizes)]
    for channel in items("channels", channels):
        check_channel(channel, "channels")
    if len(people) != len(channels):
        raise ValueError(f"channels must be one for each of sizes, got {len(channels)}")
    rates = [report_rate(channel, share) for channel in channels]
    forged, dropout = fraction("forged", forged), fraction("dropout", dropout)
    honest = [n * (1 - dropout) * (1 - forged) for n in people]
    z = quantile(level)
    if one_of("looks", looks, LOOKS) == "every":
        whole = np.array([max(1, math.floor(n + 1e-9)) for n in honest])
        chance = _at_every_look(whole, channels, np.array(rates), level).tolist()
    else:
        chance = [
            z * math.sqrt(rate * (1 - rate) / n) / channel.contrast
            for n, rate, channel in zip(honest, rates, channels, strict=True)
        ]
    return [
        forgers_reach(channel, forged) + reach
        for channel, reach in zip(channels, chance, strict=True)
    ]


def forgers_reach(channel: Channel, forged: float) -> float:
    """Return what forgers add to the half-width: the honest rate lies in a range f/(1-f) wide."""
    check_channel(channel)
    forged = fraction("forged", forged)
    return forged / (1 - forged) / (2 * channel.contrast)


def epsilon_for(
    half_width: float,
    n: int,
    share: float | None = None,
    level: float = 0.95,
    options: int = 2,
    cells: int | None = None,
) -> float:
    """Return the epsilon of a block at which n reports reach this half-width for one option.

    ``options`` are those of the question and ``cells`` the product of the options of all questions
    in its block (only this one, if not given).
    """
    w = positive("half_width", half_width)
    n = counts(0, n)[1]
    options, cells = options_and_cells(options, cells)
    z = quantile(level)
    if share is not None:
        share = probability("share", share)

    def excess(keep: float) -> float:
        channel = _kept(keep, options)
        rate = report_rate(channel, share)
        return z * math.sqrt(rate * (1 - rate) / n) / keep - w

    if excess(1.0) >= 0:
        raise ValueError(
            f"half_width must exceed {w + excess(1.0):.6g}, which n={n} reports have without any "
            f"noise, got {half_width!r}"
        )
    least = 1e-9
    if excess(least) <= 0:  # no information is needed for such a half-width
        least, keep = 0.0, 0.0
    else:
        keep = root(excess, least, 1.0, xtol=1e-16, rtol=1e-14)
    return math.log1p(keep * cells / (1 - keep))


def power(
    share: float,
    null: float,
    n: int,
    channel: Channel,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
) -> float:
    """Return the chance that n people, if the share is ``share``, refute "it is ``null``": exact.

    The test is the one that the default interval inverts, so this is the chance that the interval
    leaves ``null`` out. Forgers pull the reports towards ``null``.
    """
    share, null = probability("share", share), probability("null", null)
    check_channel(channel)
    alpha = 1 - strictly_between("level", level)
    n = reports_after(n, dropout)
    rate = _pulled(channel.rate(share), channel.rate(null), fraction("forged", forged))
    # The p-value rises up to the likeliest count and falls after it.
    middle = min(n, max(0, round(n * channel.rate(null))))
    first = bisect_left(range(middle), True, key=lambda s: p_value(null, s, n, channel) > alpha)
    after = range(middle, n + 1)
    last = middle + bisect_left(after, True, key=lambda s: p_value(null, s, n, channel) <= alpha)
    return _at_most(first - 1, n, rate) + 1 - _at_most(last - 1, n, rate)


def _at_every_look(
    n: NDArray[np.int64], channels: Sequence[Channel], rates: Floats, level: float
) -> Floats:
    """Return how far each estimate is from its farther limit, if as many say yes as expected."""
    count = np.clip(np.rint(n * rates).astype(np.int64), 0, n)
    low, high = sequence.intervals(count, n, channels, level)
    a, b = (np.array([getattr(channel, x) for channel in channels]) for x in "ab")
    middle = (np.clip(count / n, b, a) - b) / (a - b)
    return np.asarray(np.maximum(high - middle, middle - low))


def _reports_for_every_look(
    w: float, at_least: int, channel: Channel, rate: float, level: float
) -> int:
    """Search for the number of reports, given that ``at_least`` are enough for one look.

    The widths differ by a factor of less than 5. Each step looks at TRIED numbers at once, of the
    range in which the first that is enough lies.
    """
    if w >= 1:
        return 1
    low, high = 0, min(32 * at_least + 1000, LARGEST)  # not enough; enough
    while high - low > 1:
        tried = np.unique(np.linspace(low + 1, high - 1, TRIED).astype(np.int64))
        enough = _at_every_look(tried, [channel], np.full(tried.size, rate), level) <= w
        first = int(enough.argmax()) if enough.any() else tried.size
        ends = [low, *tried.tolist(), high]
        low, high = ends[first], ends[first + 1]
    return high


def _kept(keep: float, options: int) -> Channel:
    """Return the channel of one option when a block's answers are kept with this probability."""
    return Channel(keep + (1 - keep) / options, (1 - keep) / options)


def _pulled(rate: float, towards: float, forged: float) -> float:
    """Return the rate once forgers, a part of all reports, have moved it as near as they can."""
    low, high = rate * (1 - forged), rate * (1 - forged) + forged
    return min(max(towards, low), high)


def _at_most(t: int, n: int, q: float) -> float:
    return float(cdf(np.array([float(t)]), n, q)[0])
