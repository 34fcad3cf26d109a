"""Do groups of people, or two points in time, differ? Shares compared through their reports.

The channel is the same for all groups and maps shares to rates of reports one to one. Groups with
equal shares therefore have equal rates, and ordinary tests of the raw reports are tests of the
answers: nothing has to be corrected, privacy costs power only. Differences of shares are
differences of rates divided by the contrast. All of this is about unclamped rates: intervals made
of clamped limits cover too little, down to 60 % instead of 95 %.

The groups must be different people. A release that counts everybody up to a day contains the
earlier ones: subtract the earlier tally first.

References
    Newcombe 1998, Stat. Med. 17:873 (method 10: the difference from two score intervals)
    Wilson 1927, J. Am. Stat. Assoc. 22:209; Pearson 1900, Philos. Mag. 50:157
    Holm 1979, Scand. J. Stat. 6:65 (many p-values)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from aggregation.statistics.proportion import (
    Channel,
    check_channel,
    counts,
    integer,
    items,
    probability,
    strictly_between,
)

FIRST, SECOND = ("count1", "n1"), ("count2", "n2")


class Difference(NamedTuple):
    """The first share less the second, unbiased, with confidence limits; may leave [-1, 1]."""

    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Result:
    """A test statistic, its degrees of freedom and the p-value of "no difference"."""

    statistic: float
    freedom: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two groups of several, by their positions.

    difference, low, high  the first share less the second; the limits of all pairs hold at once
    p_value                of the two groups looked at alone
    adjusted               Holm's p-value: reject where it is at most alpha, and any mistake among
                           all pairs has probability at most alpha
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Groups:
    """The test of "all groups have the same share", and every pair of groups."""

    test: Result
    pairs: tuple[Pair, ...]


def interval(
    count1: int, n1: int, count2: int, n2: int, channel: Channel, level: float = 0.95
) -> Difference:
    """The share in group 1 less that in group 2, with Newcombe's limits.

    With the report rate y and its score limits (l, u) in each group, the limits of y1 - y2 are

        y1 - y2 - sqrt((y1-l1)^2 + (u2-y2)^2)  and  y1 - y2 + sqrt((u1-y1)^2 + (y2-l2)^2)

    (Newcombe 1998); dividing by the contrast turns rates into shares. Right on average over the
    shares, not exact.
    """
    count1, n1 = counts(count1, n1, FIRST)
    count2, n2 = counts(count2, n2, SECOND)
    check_channel(channel)
    z = -float(ndtri((1 - strictly_between("level", level)) / 2))
    below1, above1 = _score_distances(count1, n1, z)
    below2, above2 = _score_distances(count2, n2, z)
    gap = (count1 * n2 - count2 * n1) / (n1 * n2)  # exact until the division
    return Difference(
        gap / channel.contrast,
        (gap - math.hypot(below1, above2)) / channel.contrast,
        (gap + math.hypot(above1, below2)) / channel.contrast,
    )


def z_test(count1: int, n1: int, count2: int, n2: int) -> Result:
    """The two-sided test of "both groups have the same share"; the statistic is the signed z.

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
    """Pearson's chi-square test of "all groups answer alike" from a table of reports.

    One row a group, one column an option of the question: valid for choices as well as for yes/no,
    because the channel of a block is invertible. Options that nobody reported are left out.
    """
    rows = np.array(_table(table), dtype=float)
    rows = rows[:, rows.sum(axis=0) > 0]
    expected = np.outer(rows.sum(axis=1), rows.sum(axis=0)) / rows.sum()
    statistic = float(((rows - expected) ** 2 / expected).sum())
    freedom = (rows.shape[0] - 1) * (rows.shape[1] - 1)
    return Result(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def groups(
    counts: Sequence[int], sizes: Sequence[int], channel: Channel, level: float = 0.95
) -> Groups:
    """Compare the shares of several groups: all at once, then each pair.

    The limits of the pairs are Newcombe's at 1 - (1-level)/pairs, so that all hold together with
    probability ``level`` at least (Bonferroni); Holm's p-values are a little less strict.
    """
    tallies = _tallies(counts, sizes)
    check_channel(channel)
    level = strictly_between("level", level)
    couples = list(combinations(range(len(tallies)), 2))
    if len(couples) > 1:
        level = min(1 - (1 - level) / len(couples), math.nextafter(1, 0))
    p_values = [z_test(*tallies[i], *tallies[j]).p_value for i, j in couples]
    adjusted = holm(p_values)
    pairs = tuple(
        Pair(i, j, *interval(*tallies[i], *tallies[j], channel, level), p_values[m], adjusted[m])
        for m, (i, j) in enumerate(couples)
    )
    return Groups(homogeneity([count, n - count] for count, n in tallies), pairs)


def holm(p_values: Iterable[float]) -> tuple[float, ...]:
    """Holm's (1979) adjusted p-values, in the order given.

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
    """How far the score limits (Wilson 1927) lie below and above the rate itself."""
    shift = z * z * (0.5 - count / n)
    half = z * math.sqrt(count * (n - count) / n + z * z / 4)
    return max(half - shift, 0.0) / (n + z * z), max(half + shift, 0.0) / (n + z * z)


def _tallies(yes: object, sizes: object) -> list[tuple[int, int]]:
    """Pairs of count and size, refused by name and position unless there are two at least."""
    yes, sizes = _items("counts", yes), _items("sizes", sizes)
    if len(yes) != len(sizes):
        raise ValueError(f"sizes must have one entry a count, {len(yes)}, got {len(sizes)}")
    return [
        counts(count, n, (f"counts[{i}]", f"sizes[{i}]"))
        for i, (count, n) in enumerate(zip(yes, sizes, strict=True))
    ]


def _table(table: object) -> list[list[int]]:
    rows = [_items(f"table[{i}]", row, 1) for i, row in enumerate(_items("table", table))]
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"table[{i}] must have {len(rows[0])} entries, got {len(row)}")
        for j, count in enumerate(row):
            row[j] = integer(f"table[{i}][{j}]", count)
        counts(sum(row), sum(row), (f"the sum of table[{i}]", f"the sum of table[{i}]"))
    return rows


def _items(name: str, value: object, least: int = 2) -> list[int]:
    entries = items(name, value)
    if len(entries) < least:
        raise ValueError(f"{name} must have at least {least} entries, got {entries!r}")
    return entries
