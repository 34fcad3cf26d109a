"""Before a survey: how many people, how much privacy, how precise, and how to ask.

Nothing here looks at reports. ``share`` is a guess of the share of yes answers; without one the
worst case is taken, so that the promise holds whatever comes out.

``dropout`` is the part of the invited who never report: they cost people, not truth. ``forged`` is
the part of the reports that may be forged, in the worst way: no number of people makes up for it.
``looks`` is "one" for an interval that is looked at once, at the end, and "every" for one that is
valid at every look (``sequence.interval`` as it is tuned by itself), which is wider.

References
    Warner 1965, J. Am. Stat. Assoc. 60:63 (variance under randomized response)
    Fleiss, Levin & Paik 2003, Statistical Methods for Rates and Proportions (two groups)
    Kairouz, Oh & Viswanath 2016, J. Mach. Learn. Res. 17:1 (randomized response over many cells)
    Cheu, Smith & Ullman 2021, IEEE S&P 42:883 (manipulation of local reports)
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtr, ndtri

from aggregation.statistics import sequence
from aggregation.statistics.privacy import positive
from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    check_channel,
    counts,
    integer,
    items,
    p_value,
    probability,
    strictly_between,
)
from aggregation.statistics.roots import root

Floats = NDArray[np.float64]

MOST_CELLS = 2**20
MOST_QUESTIONS = 10**4
LOOKS = ("one", "every")
TRIED = 64  # numbers of reports whose intervals are computed at once


class Blocks(NamedTuple):
    """How to ask: questions a block, blocks a person, and n times the variance of one share."""

    size: int
    ask: int
    variance: float


# --- one share ----------------------------------------------------------------------------------


def sample_size(
    half_width: float,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    looks: str = "one",
) -> int:
    """How many people to invite so that the interval reaches ``half_width`` to either side.

    z^2 lambda(1-lambda)/(c w)^2, the normal approximation; the exact interval is about 1 % wider.
    For every look there is no formula: the number is found by bisection.
    """
    w = positive("half_width", half_width)
    check_channel(channel)
    z = _z(level)
    rate = _rate(channel, share)
    forged, dropout = _part("forged", forged), _part("dropout", dropout)
    every = _looks(looks)
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
        honest = _reports_for_every_look(w, _people(honest), channel, rate, level)
    return _people(honest / ((1 - forged) * (1 - dropout)))


def half_width(
    n: int,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
    looks: str = "one",
) -> float:
    """How far the interval reaches to either side if n people are invited.

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
    """``half_width`` of many, each of so many people and of its own channel.

    For every look, many take hardly longer than one.
    """
    people = [counts(0, n, ("count", "sizes"))[1] for n in items("sizes", sizes)]
    for channel in items("channels", channels):
        check_channel(channel, "channels")
    if len(people) != len(channels):
        raise ValueError(f"channels must be one for each of sizes, got {len(channels)}")
    rates = [_rate(channel, share) for channel in channels]
    forged, dropout = _part("forged", forged), _part("dropout", dropout)
    honest = [n * (1 - dropout) * (1 - forged) for n in people]
    z = _z(level)
    if _looks(looks):
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


def half_width_in_group(
    n: int,
    size: float,
    membership: Channel,
    channel: Channel,
    share: float | None = None,
    level: float = 0.95,
) -> float:
    """How far the interval for a share within a group reaches to either side, from n reports.

    ``size`` and ``membership`` are those of ``reports_in_group``.
    """
    check_channel(channel)
    rate, reports = _rate(channel, share), reports_in_group(n, size, membership)
    return _z(level) * math.sqrt(rate * (1 - rate) / reports) / channel.contrast


def reports_in_group(n: int, size: float, membership: Channel) -> float:
    """How many reports from people certain to be in a group say as much about it as n from all.

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


def forgers_reach(channel: Channel, forged: float) -> float:
    """What forgers add to the half-width: the honest rate lies in a range f/(1-f) wide."""
    check_channel(channel)
    forged = _part("forged", forged)
    return forged / (1 - forged) / (2 * channel.contrast)


def epsilon_for(
    half_width: float,
    n: int,
    share: float | None = None,
    level: float = 0.95,
    options: int = 2,
    cells: int | None = None,
) -> float:
    """The epsilon a block at which n reports reach this half-width for one option of a question.

    ``options`` are those of the question and ``cells`` the product of the options of all questions
    in its block (only this one, if not given).
    """
    w = positive("half_width", half_width)
    n = counts(0, n)[1]
    options, cells = _cells(options, cells)
    z = _z(level)
    if share is not None:
        share = probability("share", share)

    def excess(keep: float) -> float:
        channel = _kept(keep, options)
        rate = _rate(channel, share)
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
    """The chance that n people, if the share is ``share``, refute "it is ``null``": exact.

    The test is the one that the default interval inverts, so this is the chance that the interval
    leaves ``null`` out. Forgers pull the reports towards ``null``.
    """
    share, null = probability("share", share), probability("null", null)
    check_channel(channel)
    alpha = 1 - strictly_between("level", level)
    n = _reports(n, dropout)
    rate = _pulled(channel.rate(share), channel.rate(null), _part("forged", forged))
    # The p-value rises up to the likeliest count and falls after it.
    middle = min(n, max(0, round(n * channel.rate(null))))
    first = bisect_left(range(middle), True, key=lambda s: p_value(null, s, n, channel) > alpha)
    after = range(middle, n + 1)
    last = middle + bisect_left(after, True, key=lambda s: p_value(null, s, n, channel) <= alpha)
    return _at_most(first - 1, n, rate) + 1 - _at_most(last - 1, n, rate)


# --- two groups ---------------------------------------------------------------------------------


def sample_size_of_difference(
    share1: float,
    share2: float,
    channel: Channel,
    power: float = 0.8,
    level: float = 0.95,
    dropout: float = 0.0,
    forged: float = 0.0,
) -> int:
    """How many people to invite to each of two equal groups to tell these shares apart.

    [z sqrt(2 m(1-m)) + z_power sqrt(l1(1-l1) + l2(1-l2))]^2/(l1-l2)^2 for the pooled z test.
    """
    rate1, rate2 = _two_rates(share1, share2, channel, forged)
    gap = abs(rate1 - rate2)
    if gap == 0:
        why = "shares must differ" if share1 == share2 else "forgers must not close the gap"
        raise ValueError(f"{why}, got share1={share1!r}, share2={share2!r}, forged={forged!r}")
    middle = (rate1 + rate2) / 2
    root = _z(level) * math.sqrt(2 * middle * (1 - middle)) + float(
        ndtri(strictly_between("power", power))
    ) * math.sqrt(rate1 * (1 - rate1) + rate2 * (1 - rate2))
    return _people((max(root, 0.0) / gap) ** 2 / (1 - _part("dropout", dropout)))


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
    """The chance that the pooled z test on reports tells two groups apart; equal shares: its size.

    ``exact`` sums over the counts of both groups, ``normal`` is the usual approximation. Forgers
    pull both groups together.
    """
    rate1, rate2 = _two_rates(share1, share2, channel, forged)
    n1, n2 = _reports(n1, dropout, "n1"), _reports(n2, dropout, "n2")
    z = _z(level)
    if not isinstance(method, str) or method not in ("exact", "normal"):
        raise ValueError(f"method must be one of exact, normal, got {method!r}")
    if method == "exact":
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
    """The nearest two shares that groups of n reports each tell apart with this power, or None.

    The first is ``share`` and the second lies towards 1/2, where reports vary more; without a share
    both lie around the worst case. By the normal approximation: ``power_of_difference`` has the
    exact power of what is found.
    """
    n = counts(0, n)[1]
    check_channel(channel)
    target = strictly_between("power", power)
    worst = (_rate(channel, None) - channel.b) / channel.contrast

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
    """1 - P(accept). For each count s of the first group the accepted counts of the second are

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
    accepted = _at_most_many(high, n2, rate2) - _at_most_many(low - 1, n2, rate2)
    law = _at_most_many(s, n1, rate1) - _at_most_many(s - 1, n1, rate1)
    return min(1.0, max(0.0, 1 - float(law @ accepted)))


# --- blocks -------------------------------------------------------------------------------------


def block_variance(
    questions: int, size: int, ask: int, epsilon: float, share: float = 0.5, options: int = 2
) -> float:
    """n Var of one share when each person is asked ``ask`` blocks of ``size`` of the questions.

    A person spends epsilon/ask a block, all answers of which are kept together with probability
    c = (e^(epsilon/ask) - 1)/(e^(epsilon/ask) - 1 + options^size), and is asked ask*size of the
    questions, drawn at random: questions/(ask size) lambda(1-lambda)/c^2. size = 1 is separate
    randomized response; size = 1, ask = questions splits epsilon over all.
    """
    questions = integer("questions", questions, 1, MOST_QUESTIONS)
    size, ask = integer("size", size, minimum=1), integer("ask", ask, minimum=1)
    if size * ask > questions:
        raise ValueError(f"size * ask must be at most questions={questions}, got {size} * {ask}")
    options, cells = _cells(options, None)
    if size * math.log2(cells) > 50:
        raise ValueError(f"size must make at most {LARGEST} cells, got {cells}^{size}")
    share = probability("share", share)
    try:
        more = math.expm1(positive("epsilon", epsilon) / ask)
    except OverflowError:
        more = math.inf
    # 1/c - 1 = cells/(e^epsilon - 1), and lambda = (1-c)/options + c share.
    lost = float(cells**size) / more
    rate = share + lost / options
    return questions / (ask * size) * rate * (1 + lost - rate)


def best_blocks(
    questions: int,
    epsilon: float,
    share: float = 0.5,
    options: int = 2,
    size: int | None = None,
    ask: int | None = None,
    ceiling: float = math.inf,
) -> Blocks:
    """The block size and number of blocks a person with the least variance of every share.

    For equal numbers of ``options``. ``size`` or ``ask`` can be fixed; no block has more than 2^20
    cells or an epsilon above ``ceiling``. Of equals the smaller blocks, then the fewer.
    """
    questions = integer("questions", questions, 1, MOST_QUESTIONS)
    epsilon = positive("epsilon", epsilon)
    highest = min(_ceiling(ceiling), epsilon) * (1 + 1e-12)
    most = int(math.log(MOST_CELLS) / math.log(_cells(options, None)[0]) + 1e-9)
    sizes = range(1, min(most, questions) + 1) if size is None else [integer("size", size, 1)]
    found: Blocks | None = None
    for each in sizes:
        for asked in range(1, questions // each + 1) if ask is None else [integer("ask", ask, 1)]:
            if each * asked > questions or epsilon / asked > highest:
                continue
            variance = block_variance(questions, each, asked, epsilon, share, options)
            if found is None or variance < found.variance * (1 - 1e-12):
                found = Blocks(each, asked, variance)
    if found is None:
        raise ValueError(
            f"questions must allow blocks with size={size!r}, ask={ask!r}, ceiling={ceiling!r}, "
            f"got {questions}"
        )
    return found


# --- pieces -------------------------------------------------------------------------------------


def _z(level: float) -> float:
    return float(-ndtri((1 - strictly_between("level", level)) / 2))


def _rate(channel: Channel, share: float | None) -> float:
    """lambda, or without a share the lambda with the largest variance: the one nearest to 1/2."""
    if share is None:
        return min(max(0.5, channel.b), channel.a)
    return channel.rate(probability("share", share))


def _at_every_look(
    n: NDArray[np.int64], channels: Sequence[Channel], rates: Floats, level: float
) -> Floats:
    """From each estimate to its farther limit, when as many say yes as is expected."""
    count = np.clip(np.rint(n * rates).astype(np.int64), 0, n)
    low, high = sequence.intervals(count, n, channels, level)
    a, b = (np.array([getattr(channel, x) for channel in channels]) for x in "ab")
    middle = (np.clip(count / n, b, a) - b) / (a - b)
    return np.asarray(np.maximum(high - middle, middle - low))


def _reports_for_every_look(
    w: float, at_least: int, channel: Channel, rate: float, level: float
) -> int:
    """As ``at_least`` are enough for one look; the widths differ by a factor of less than 5.

    Of a range in which the first that is enough lies, TRIED numbers are looked at at once.
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


def _looks(value: str) -> bool:
    """Whether the interval is to hold at every look."""
    if not isinstance(value, str) or value not in LOOKS:
        raise ValueError(f"looks must be one of {', '.join(LOOKS)}, got {value!r}")
    return value == "every"


def _part(name: str, value: float) -> float:
    result = probability(name, value)
    if result == 1:
        raise ValueError(f"{name} must be below 1, got {value!r}")
    return result


def _people(n: float) -> int:
    """Rounded up, but not for a rounding error."""
    if not n <= LARGEST:
        raise ValueError(f"half_width or shares must need at most {LARGEST} people, got {n:.3g}")
    return max(1, math.ceil(n * (1 - 1e-12)))


def _reports(n: int, dropout: float, name: str = "n") -> int:
    n = counts(0, n, ("count", name))[1]
    left = math.floor(n * (1 - _part("dropout", dropout)) + 1e-9)
    if left < 1:
        raise ValueError(f"{name} must leave somebody after dropout={dropout!r}, got {n}")
    return left


def _pulled(rate: float, towards: float, forged: float) -> float:
    """The rate once forgers, a part of all reports, have moved it as near as they can."""
    low, high = rate * (1 - forged), rate * (1 - forged) + forged
    return min(max(towards, low), high)


def _two_rates(
    share1: float, share2: float, channel: Channel, forged: float
) -> tuple[float, float]:
    """Report rates of both groups after forgers have closed the gap as far as they can."""
    check_channel(channel)
    share1, share2 = probability("share1", share1), probability("share2", share2)
    forged = _part("forged", forged)
    low, high = channel.rate(min(share1, share2)), channel.rate(max(share1, share2))
    low, high = low * (1 - forged) + forged, high * (1 - forged)
    if low > high:
        low = high = (low + high) / 2
    return (low, high) if share1 <= share2 else (high, low)


def _kept(keep: float, options: int) -> Channel:
    """The channel of one option when a block's answers are kept with this probability."""
    return Channel(keep + (1 - keep) / options, (1 - keep) / options)


def _ceiling(value: Any) -> Any:
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not value > 0:
        raise ValueError(f"ceiling must be positive, got {value!r}")
    return value


def _cells(options: int, cells: int | None) -> tuple[int, int]:
    options = integer("options", options, 2, LARGEST)
    return options, options if cells is None else integer("cells", cells, options, LARGEST)


def _at_most(t: int, n: int, q: float) -> float:
    return float(_at_most_many(np.array([float(t)]), n, q)[0])


def _at_most_many(t: Floats, n: int, q: float) -> Floats:
    """P(Bin(n, q) <= t) for many t, 0 below 0 and 1 from n on."""
    inside = (t >= 0) & (t < n)
    value = betainc(np.where(inside, n - t, 1), np.where(inside, t + 1, 1), 1 - q)
    return np.asarray(np.where(inside, value, (t >= n).astype(np.float64)))
