"""Differences between groups of people, or between two points in time.

The channel is the same for all groups and maps shares to rates of reports one to one. Groups with
equal shares therefore have equal rates, and ordinary tests of the raw reports are tests of the
answers: nothing needs a correction, and privacy costs only power. Differences of shares are
differences of rates divided by the contrast. All of this is about unclamped rates: intervals made
of clamped limits cover too little, down to 60 % instead of 95 %.

The groups must be different people. A release that counts everybody up to a day contains the
earlier ones: subtract the earlier tally first.

References
    Newcombe 1998, Stat. Med. 17:873 (method 10: the difference from two score intervals)
    Zou 2007, Psychol. Methods 12:399 (the same for estimates that are correlated)
    Wilson 1927, J. Am. Stat. Assoc. 22:209; Pearson 1900, Philos. Mag. 50:157
    Holm 1979, Scand. J. Stat. 6:65 (many p-values)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr, ndtri

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    Floats,
    counts,
    integer,
    items,
    probability,
    strictly_between,
)
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.tables.grouped import Flags, Grouped, Groups, divide
from aggregation.statistics.tables.scored import ScoredTable, Scores

FIRST, SECOND = ("count1", "n1"), ("count2", "n2")
Tally = Grouped | ScoredTable


class Difference(NamedTuple):
    """The first share minus the second, unbiased, with confidence limits; may leave [-1, 1]."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Result:
    """A test statistic, its degrees of freedom and the p-value of "no difference"."""

    statistic: float
    freedom: int
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """All pairs of groups, in every column: arrays with a row for each pair.

    first, second          the positions of the two groups
    difference, low, high  the first share or mean minus the second; the limits hold for all pairs
                           and columns at once
    p_value                of "both groups have the same", for this pair alone
    adjusted               Holm's p-value: reject where it is at most alpha, and the probability of
                           any mistake among all pairs and columns is about alpha at most
    clear                  False if the reports do not show that anybody is in both groups: then
                           the difference is nan, the limits are the largest differences that are
                           possible and the p-value is 1
    """

    first: Groups
    second: Groups
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats
    adjusted: Floats
    clear: Flags


def interval(
    count1: int, n1: int, count2: int, n2: int, channel: Channel, level: float = 0.95
) -> Difference:
    """Return the share in group 1 minus that in group 2, with Newcombe's limits.

    With the report rate y and its score limits (l, u) in each group, the limits of y1 - y2 are

        y1 - y2 - sqrt((y1-l1)^2 + (u2-y2)^2)  and  y1 - y2 + sqrt((u1-y1)^2 + (y2-l2)^2)

    (Newcombe 1998); dividing by the contrast turns rates into shares. Right on average over the
    shares, not exact.
    """
    count1, n1 = counts(count1, n1, FIRST)
    count2, n2 = counts(count2, n2, SECOND)
    check_channel(channel)
    z = quantile(level)
    below1, above1 = _score_distances(count1, n1, z)
    below2, above2 = _score_distances(count2, n2, z)
    gap = (count1 * n2 - count2 * n1) / (n1 * n2)  # exact until the division
    return Difference(
        gap / channel.contrast,
        (gap - math.hypot(below1, above2)) / channel.contrast,
        (gap + math.hypot(above1, below2)) / channel.contrast,
    )


def z_test(count1: int, n1: int, count2: int, n2: int) -> Result:
    """Test "both groups have the same share", two-sided; the statistic is the signed z.

    The contrast cancels, so the channel need not be known. z^2 is Pearson's chi-square.
    """
    count1, n1 = counts(count1, n1, FIRST)
    count2, n2 = counts(count2, n2, SECOND)
    yes, n = count1 + count2, n1 + n2
    if yes in (0, n):  # every report is the same: nothing speaks for a difference
        return Result(0.0, 1, 1.0)
    z = (count1 * n2 - count2 * n1) / math.sqrt(n1 * n2 * yes * (n - yes) / n)
    return Result(z, 1, float(2 * ndtr(-abs(z))))


def homogeneity(table: Iterable[Iterable[int]]) -> Result:
    """Test "all groups answer alike" on a table of reports, by Pearson's chi-square.

    With a row for each group and a column for each option: valid for choices as well as for yes/no,
    because the channel of a block is invertible. It is valid for randomized groups, too, if their
    coin is not that of the question: reports are then independent exactly if answers are. (Within
    a block use ``joint.independence``.) Groups and options that nobody reported are left out.
    """
    rows = np.array(_table(table), dtype=float)
    rows = rows[rows.sum(axis=1) > 0][:, rows.sum(axis=0) > 0]
    expected = np.outer(rows.sum(axis=1), rows.sum(axis=0)) / rows.sum()
    statistic = float(((rows - expected) ** 2 / expected).sum())
    freedom = (rows.shape[0] - 1) * (rows.shape[1] - 1)
    return Result(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def groups(
    counts: ArrayLike,
    sizes: ArrayLike,
    keep: float,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
) -> Pairs:
    """Compare the shares of every two groups, where the group is randomized too.

    The arguments are those of ``ratio.by_group``; ``keep`` 1 is for groups known exactly. The
    limits are Newcombe's with the score limits (l, u) of ``ratio`` and the correlation r of the
    two shares (Zou 2007),

        p1 - p2 - sqrt((p1-l1)^2 + (u2-p2)^2 - 2 r (p1-l1)(u2-p2))

    below and likewise above, at 1 - (1-level)/m for m comparisons (Bonferroni). The p-value is
    that of the difference over its standard error if both groups have their pooled share. With
    groups known exactly these are ``interval`` and ``z_test``.
    """
    tally = Grouped.of(counts, sizes, keep, channel)
    i, j, factor = _every_two("counts", counts, tally, level, tally.held.shape[1])
    low, high = tally.limits(factor)
    clear = tally.clear(factor)
    clear = clear[i] & clear[j]
    found = _compared(tally, (i, j), (low, high), clear, _null_of_shares(tally, i, j, clear))
    shape = (i.size, *np.shape(counts)[1:])
    return Pairs(i, j, *(array.reshape(shape) for array in found))


def means(
    table: ArrayLike,
    levels: Sequence[float | None],
    keep_of_group: float,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
) -> Pairs:
    """Compare the means of every two groups, where the group is randomized too.

    The arguments are those of ``mean.by_group``. Limits and tests are those of ``groups`` with the
    score limits of ``mean``. If two groups have the same mean R, it is taken to be that of both
    together, and a part of their people to have moved to one end of the range, just enough to make
    their means R. With the levels 0 and 1 this is ``groups``.
    """
    scores = Scores.of(levels, channel)
    tally = ScoredTable.of(table, keep_of_group, scores)
    if tally.reports.ndim != 2:
        raise ValueError(f"table must have a row for each group, got {table!r}")
    i, j, factor = _every_two("table", table, tally, level, 1)
    clear = tally.clear(factor)
    clear = clear[i] & clear[j]
    null = _null_of_means(tally, i, j, clear)
    found = Pairs(i, j, *_compared(tally, (i, j), tally.free_limits(factor), clear, null))
    span = scores.span
    return replace(
        found, difference=span * found.difference, low=span * found.low, high=span * found.high
    )


def holm(p_values: Iterable[float]) -> tuple[float, ...]:
    """Return Holm's (1979) adjusted p-values, in the order given.

    The smallest of m is multiplied by m, the next by m - 1 and so on, each being at least the one
    before it. No assumption about how the tests depend on each other is needed.
    """
    values = [probability(f"p_values[{i}]", p) for i, p in enumerate(items("p_values", p_values))]
    adjusted, largest = [0.0] * len(values), 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = largest
    return tuple(adjusted)


def _score_distances(count: int, n: int, z: float) -> tuple[float, float]:
    """Return how far the score limits (Wilson 1927) lie below and above the rate itself."""
    shift = z * z * (0.5 - count / n)
    half = z * math.sqrt(count * (n - count) / n + z * z / 4)
    return max(half - shift, 0.0) / (n + z * z), max(half + shift, 0.0) / (n + z * z)


def _distance(x: Floats, y: Floats, r: Floats) -> Floats:
    return np.sqrt(np.maximum(x**2 + y**2 - 2 * r * x * y, 0.0))


def _every_two(
    name: str, given: object, tally: Tally, level: float, columns: int
) -> tuple[Groups, Groups, Floats]:
    """Return the pairs of groups, and z^2/n of limits that hold for all of them and columns."""
    level = strictly_between("level", level)
    number = tally.sizes.shape[0]
    if number < 2:
        raise ValueError(f"{name} must have at least 2 groups, got {given!r}")
    i, j = np.triu_indices(number, 1)
    alpha = max((1 - level) / (i.size * columns), 2**-53)
    return i, j, ndtri(alpha / 2) ** 2 / tally.n


def _compared(
    tally: Tally,
    pairs: tuple[Groups, Groups],
    limits: tuple[Floats, Floats],
    clear: Flags,
    null: Floats,
) -> tuple[Floats, Floats, Floats, Floats, Floats, Flags]:
    """Return the fields of ``Pairs``; ``null`` is n times the variance if groups do not differ."""
    (i, j), values = pairs, tally.values
    scale = np.sqrt(tally.variances[i] * tally.variances[j])
    r = np.clip(divide(tally.covariance(i, j), scale, scale > 0), -1.0, 1.0)
    below, above = values - limits[0], limits[1] - values
    gap = values[i] - values[j]
    error = np.sqrt(null / tally.n)
    p = np.where(clear, 2 * ndtr(-np.abs(divide(gap, error, error > 0))), 1.0)
    return (
        np.where(clear, gap, np.nan),
        np.where(clear, gap - _distance(below[i], above[j], r), -1.0),
        np.where(clear, gap + _distance(above[i], below[j], r), 1.0),
        p,
        np.reshape(holm(p.ravel()), p.shape),
        clear,
    )


def _null_of_shares(tally: Grouped, i: Groups, j: Groups, clear: Flags) -> Floats:
    """Return n times the variance of the difference if groups i and j have a common share R."""
    sizes, shares, noise = tally.likely
    below = np.where(clear, tally.sizes[i], 1.0), np.where(clear, tally.sizes[j], 1.0)
    pooled = np.clip(divide(tally.held[i] + tally.held[j], below[0] + below[1], clear), 0.0, 1.0)
    z, y, x = (
        part.sum(axis=0) - part[i] - part[j]
        for part in (sizes, sizes * shares, sizes * (noise + shares**2))
    )
    here = tally.noise(pooled)
    return _null_variance(tally, below, (sizes[i] * here, sizes[j] * here), (x, y, z), pooled)


def _null_of_means(tally: ScoredTable, i: Groups, j: Groups, clear: Flags) -> Floats:
    """Return n times the variance of the difference if groups i and j have a common mean R."""
    (concerned, total, _), sizes = tally.held, tally.likely[0]
    below = np.where(clear, concerned[i], 1.0), np.where(clear, concerned[j], 1.0)
    pooled = np.clip(divide(total[i] + total[j], below[0] + below[1], clear), 0.0, 1.0)
    up, down = tally.tilted_moments(up=True), tally.tilted_moments(up=False)

    def inside(g: Groups) -> Floats:
        higher = pooled > tally.likely[2][g]
        moments = [np.where(higher, a[g], b[g]) for a, b in zip(up, down, strict=True)]
        return sizes[g] * _quadratic(moments, pooled)

    rest = [(sizes * part).sum() - (sizes * part)[i] - (sizes * part)[j] for part in tally.moments]
    found = _null_variance(tally, below, (inside(i), inside(j)), rest, pooled)
    return found / tally.scores.keep**2


def _quadratic(moments: Sequence[Floats], R: Floats) -> Floats:
    x, y, z = moments
    found: Floats = np.maximum(x - 2 * y * R + z * R**2, 0.0)
    return found


def _null_variance(
    tally: Tally,
    below: tuple[Floats, Floats],
    inside: tuple[Floats, Floats],
    rest: Sequence[Floats],
    pooled: Floats,
) -> Floats:
    """Return n times the variance of a difference of two ratios that are both ``pooled``.

    That is the sum over the true groups h of P_h E[(w_i/D_i - w_j/D_j)^2|h] E[(u - R v)^2|h], with
    ``below`` for D. ``inside`` are P E[(u - R v)^2] of groups i and j, and ``rest`` the moments of
    all others. The product of w_i and w_j has the mean -a_s b_s/keep^2 in i and in j, and
    -(b_s/keep)^2 elsewhere.
    """
    (first, second), (own, other) = below, tally.squares
    stray = tally.stray / tally.keep
    cross = 2 / (first * second)
    both = cross * stray * (1 + stray)
    variance: Floats = (
        inside[0] * (own / first**2 + other / second**2 + both)
        + inside[1] * (own / second**2 + other / first**2 + both)
        + (other * (1 / first**2 + 1 / second**2) + cross * stray**2) * _quadratic(rest, pooled)
    )
    return variance


def _table(table: object) -> list[list[int]]:
    rows = [_items(f"table[{i}]", row, 1) for i, row in enumerate(_items("table", table))]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"table[{i}] must have {len(rows[0])} entries, got {len(row)}")
        for j, count in enumerate(row):
            row[j] = integer(f"table[{i}][{j}]", count)
    total = sum(map(sum, rows))
    counts(total, total, ("the sum of table", "the sum of table"))
    return rows


def _items(name: str, value: object, least: int = 2) -> list[int]:
    entries = items(name, value)
    if len(entries) < least:
        raise ValueError(f"{name} must have at least {least} entries, got {entries!r}")
    return entries
