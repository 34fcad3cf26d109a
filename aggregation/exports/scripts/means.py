"""Means and ratios with their confidence intervals, for estimate.py; the R version is means.R.

Reports are randomized: a report shows the person's own value with probability c, and otherwise
value v with probability stray[v]; these add up to 1 - c. Every value has a score, or none if the
mean leaves it out. The methods:

- a mean over everybody, for one look: limits of a binomial rate on another scale (Clopper and
  Pearson 1934, with the third moment as Johnson 1978)
- the same at every look: bets on the scores (Waudby-Smith and Ramdas 2024)
- where values are left out, and by group: score limits for a ratio (Fieller 1954, with the variance
  under the hypothesis), at every look those of the asymptotic sequence (Waudby-Smith et al. 2024)
- a ratio of any two sums: Fieller's limits
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shares import (
    OUTWARD,
    Limits,
    beta_quantile,
    concentration,
    errors_always,
    errors_once,
    solve,
    within,
)

Table = Sequence[Sequence[int]]  # reports by group and value
Coin = tuple[float, list[float]]  # c, and the chance of each value
ENOUGH = 5.0  # random reports near an end that make up for half of what is not normal
FACTOR, BETS, FARTHEST_BET, SAFE = 1.25, 64, 8.0, 1 - 2.0**-20


@dataclass(frozen=True)
class Scores:
    """The scores of a question's values, moved to [0, 1], and its coin."""

    x: list[float]
    scored: list[bool]
    c: float
    stray: list[float]
    least: float
    span: float

    @classmethod
    def of(cls, scores: Sequence[float | None], c: float, stray: list[float]) -> "Scores":
        known = [score for score in scores if score is not None]
        least, span = min(known), max(known) - min(known)
        x = [0.0 if score is None else (score - least) / span for score in scores]
        return cls(x, [score is not None for score in scores], c, stray, least, span)

    @property
    def everybody(self) -> bool:
        return all(self.scored)

    @property
    def two(self) -> bool:
        """Whether reports are as good as yes or no."""
        return self.everybody and set(self.x) <= {0.0, 1.0}

    @property
    def powers(self) -> list[list[float]]:
        """1, x and x^2 of every value; 0 where it has no score."""
        return [[float(v) for v in self.scored], self.x, [x * x for x in self.x]]

    @property
    def chance(self) -> list[float]:
        """The part of random reports in the means of the powers."""
        return [dot(power, self.stray) for power in self.powers]

    def least_square(self, mean: float) -> float:
        """Return the smallest mean of x^2 that people whose mean is this can have."""
        points = sorted({x for x, v in zip(self.x, self.scored, strict=True) if v})
        for low, high in pairwise(points):
            if mean <= high:
                return low * low + (mean - low) * (low + high)
        return 1.0

    def rescaled(self, limits: Limits) -> Limits:
        return self.least + self.span * limits[0], self.least + self.span * limits[1]


@dataclass(frozen=True)
class Found:
    """What people of a group answer: value and standard error (None: too few), and limits."""

    value: float | None
    error: float | None
    low: float
    high: float


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def ratio(top: float, below: float) -> float:
    return top / below if below > 0 else 0.0


# --- In groups, and among those concerned ---------------------------------------------------------


class Joint:
    """The reports by group and value; `kept` is the probability that they name the own group."""

    def __init__(self, table: Table, kept: float, scores: Scores) -> None:
        self.n = n = sum(map(sum, table))
        self.kept, self.scores = kept, scores
        self.rates = [[count / n for count in row] for row in table]
        self.stray = s = (1 - kept) / len(table)
        self.sizes = [(math.fsum(row) - s) / kept for row in self.rates]
        shown = [[dot(row, power) for power in scores.powers] for row in self.rates]
        totals = [math.fsum(column) for column in zip(*shown, strict=True)]
        # By group: the part of the people who have a score in it, and their sums of x and x^2.
        self.held = [
            [
                ((one - s * total) / kept - size * chance) / scores.c
                for one, total, chance in zip(row, totals, scores.chance, strict=True)
            ]
            for row, size in zip(shown, self.sizes, strict=True)
        ]
        self.values = [ratio(held[1], held[0]) for held in self.held]
        # All of it, moved to what it can be.
        whole = math.fsum(max(size, 0.0) for size in self.sizes)
        self.likely = []
        for size, held, value in zip(self.sizes, self.held, self.values, strict=True):
            mean = within(value)
            square = min(max(ratio(held[2], held[0]), scores.least_square(mean)), mean)
            part = within(ratio(held[0], size))
            self.likely.append((max(size, 0.0) / whole, part, mean, square))
        own = kept + s
        self.squares = 1 + own * (1 - own) / kept**2, s * (1 - s) / kept**2

    def find(self, group: int, z: float) -> Found:
        """Return the mean in a group, with limits that reach z standard errors."""
        s, value = self.scores, self.values[group]
        factor = z * z / self.n
        if not self.clear(group, factor):
            return Found(None, None, *s.rescaled((0.0, 1.0)))
        low, high = self.limits(group, factor)
        bounded = within(value)
        limits = within(min(low - OUTWARD, bounded)), within(max(high + OUTWARD, bounded))
        return Found(s.least + s.span * value, s.span * self.error(group), *s.rescaled(limits))

    def clear(self, group: int, factor: float) -> bool:
        """Return whether more reports are of the group, and concerned, than by chance."""
        own, other = self.squares
        if self.scores.everybody:
            return self.sizes[group] > math.sqrt(factor * other)
        c, h = self.scores.c, self.scores.chance[0]
        each = [size * (c * part * (1 - 2 * h) + h - h * h) for size, part, _, _ in self.likely]
        rest = math.fsum(each) - each[group]
        nobody = self.likely[group][0] * own * (h - h * h) + other * rest
        return self.held[group][0] > math.sqrt(factor * nobody) / c

    def limits(self, group: int, factor: float) -> Limits:
        below, top, _ = self.held[group]
        top = min(max(top, 0.0), max(below, 0.0))
        low, _ = quadratic_limits(top, below, self.null_moments(group, up=False), factor)
        _, high = quadratic_limits(top, below, self.null_moments(group, up=True), factor)
        return low, high

    def null_moments(self, group: int, up: bool) -> tuple[float, float, float]:
        """Return (x, y, z) of the variance x - 2 y R + z R^2 if the mean in the group is R."""
        c, (h0, h1, h2) = self.scores.c, self.scores.chance
        size, part, mean, square = self.likely[group]
        slope, part = tilts(square, mean)[0 if up else 1], c * part
        mine = (
            part * (square - slope * mean) + h2 - h1**2,
            h1 - h0 * h1 - part * slope / 2,
            h0 - h0**2 - part,
        )
        rest = [0.0, 0.0, 0.0]
        for i, (weight, share, mean, square) in enumerate(self.likely):
            share *= c
            if i != group:
                rest[0] += weight * (share * square + h2 - 2 * h1 * share * mean - h1**2)
                rest[1] += weight * (share * mean + h1 - share * (h1 + h0 * mean) - h0 * h1)
                rest[2] += weight * (share * (1 - 2 * h0) + h0 - h0**2)
        own, other = self.squares
        x, y, z = ((size * own * a + other * b) / c**2 for a, b in zip(mine, rest, strict=True))
        return x, y, z

    def error(self, group: int) -> float:
        """Return the standard error of the mean in a group; a single report has none."""
        s, R = self.scores, self.values[group]
        h0, h1, _ = s.chance
        influence = [(x - R) * v - (h1 - R * h0) for x, v in zip(s.x, s.scored, strict=True)]
        square = [dot([i * i for i in influence], row) for row in self.rates]
        spread = (1 - 2 * self.stray) * square[group] + self.stray**2 * math.fsum(square)
        if self.n < 2:
            return math.nan
        return math.sqrt(max(spread, 0.0) / (self.n - 1)) / (self.kept * s.c * self.held[group][0])


def tilts(square: float, mean: float) -> Limits:
    """Return how fast the mean of x^2 changes as people move to the top, and to the bottom."""
    up = (1 - square) / (1 - mean) if mean < 1 else 1.0
    return up, square / mean if mean > 0 else 1.0


def quadratic_limits(
    top: float, below: float, moments: tuple[float, float, float], factor: float
) -> Limits:
    """Return the R between which (top - R below)^2 <= factor (x - 2 y R + z R^2)."""
    x, y, z = moments
    square = below**2 - factor * z
    square = square if square > 0 else 1.0
    half = top * below - factor * y
    reach = math.sqrt(max(half**2 - square * (top**2 - factor * x), 0.0))
    return (half - reach) / square, (half + reach) / square


# --- Over everybody -------------------------------------------------------------------------------


def standard_error(
    counts: Sequence[int], s: Scores, population: int | None, rounded: bool
) -> tuple[float, float]:
    """Return the standard error of a mean, and what it is in an unlimited population.

    `rounded`: the values are levels to which numbers were rounded.
    """
    n = sum(counts)
    joint = Joint([counts], 1.0, s)
    concerned, t = 1.0, s.x
    if not s.everybody:
        concerned, R = joint.held[0][0], joint.values[0]
        if concerned <= 0:
            return math.nan, math.nan
        t = [(x - R) * v / concerned for x, v in zip(s.x, s.scored, strict=True)]
    rates, squares = joint.rates[0], [x * x for x in t]
    mean, square, e = dot(rates, t), dot(rates, squares), dot(s.stray, t)
    noise = (1 - s.c) * square - 2 * e * mean + s.c * dot(s.stray, squares) + e * e
    noise = max(noise, 0.0)
    if rounded:
        noise += (s.c / concerned) ** 2 * rounding(rates, s)
    unseen = 1.0 if population is None else 1 - n / population
    if n > 1:
        spread = max(square - mean**2, 0.0) * n / (n - 1)
    else:
        spread, unseen = (max(t) - min(t)) ** 2 / 4, math.ceil(unseen)
    whole = max(noise + unseen * (spread - noise), 0.0)
    return math.sqrt(whole / n) / s.c, math.sqrt(spread / n) / s.c


def rounding(rates: list[float], s: Scores) -> float:
    """Return the largest variance that rounding at random may have added."""
    steps = len({x for x, v in zip(s.x, s.scored, strict=True) if v}) - 1
    parts = [0.0, 0.0]
    for rate, stray, x, v in zip(rates, s.stray, s.x, s.scored, strict=True):
        if v:
            parts[round(x * steps) % 2] += max((rate - stray) / s.c, 0.0)
    return parts[0] * parts[1] / sum(parts) / steps**2 if sum(parts) > 0 else 0.0


def mean_once(
    counts: Sequence[int], s: Scores, level: float, population: int | None, rounded: bool
) -> Found:
    """Return a mean over everybody, for one look; not for two levels, which are a share."""
    n = sum(counts)
    joint, z = Joint([counts], 1.0, s), errors_once(level)
    error, unlimited = standard_error(counts, s, population, rounded)
    if not s.everybody and not joint.clear(0, z * z / n):
        return Found(None, None, *s.rescaled((0.0, 1.0)))
    low, high = binomial_limits(counts, joint, level) if s.everybody else joint.limits(0, z * z / n)
    part = 1.0
    if population is not None and 0 < error < unlimited:
        from_least = [x**2 * v for x, v in zip(s.x, s.scored, strict=True)]
        from_most = [(1 - x) ** 2 * v for x, v in zip(s.x, s.scored, strict=True)]
        near = n * min(dot(s.stray, from_least), dot(s.stray, from_most))
        part = 1 - (1 - error / unlimited) * near / (near + ENOUGH)
    bounded = within(joint.values[0])
    low, high = bounded - part * (bounded - low), bounded + part * (high - bounded)
    limits = within(min(low - OUTWARD, bounded)), within(max(high + OUTWARD, bounded))
    return Found(s.least + s.span * joint.values[0], s.span * error, *s.rescaled(limits))


def binomial_limits(counts: Sequence[int], joint: Joint, level: float) -> Limits:
    """Return limits for the mean of x from those of a binomial rate on another scale."""
    s, n, alpha = joint.scores, joint.n, 1 - level
    _, _, mean, square = joint.likely[0]
    _, h1, h2 = s.chance
    middle = h1 + s.c * mean
    points = sorted(set(s.x))
    gaps = [high - low for low, high in pairwise(points)]
    shown = [x for x in points if any(c > 0 and y == x for c, y in zip(counts, s.x, strict=True))]
    jumps = [high - low for low, high in pairwise(shown)]
    step = max(jumps, default=1.0) + max(gaps) - min(gaps)
    rates = joint.rates[0]
    mine = dot(rates, s.x)
    second = dot(rates, [(x - mine) ** 2 for x in s.x])
    third = dot(rates, [(x - mine) ** 3 for x in s.x])
    known = 0 < joint.values[0] < 1 and second > 0
    natural = 2 * mine + third / second if known else None
    ends = []
    for sign, farthest in zip((1, -1), tilts(square, mean), strict=True):
        slope = farthest
        if natural is not None:
            slope = min(natural, farthest) if sign > 0 else max(natural, farthest)
        near = n * dot(s.stray, [(x if sign > 0 else 1 - x) ** 2 for x in s.x])
        slope += (farthest - slope) / (1 + near / 2)
        constant = h2 + s.c * (square - slope * mean) - slope * h1
        width = math.sqrt(max(slope**2 + 4 * constant, 1e-30))
        first = (slope - width) / 2
        count = min(max(n * (middle - first) / width, 0.0), float(n))
        half = 0.5 + sign * step / (2 * width)
        above, below = count + half, n - count + 1 - half
        tail = 1 - alpha / 2 if sign > 0 else alpha / 2
        if below <= 0 or above <= 0:
            rate = float(below <= 0)
        else:
            rate = beta_quantile(tail, max(above, 1e-9), max(below, 1e-9))
        ends.append(mean + (first + width * rate - middle) * math.sqrt(1 + 0.5 / n) / s.c)
    return ends[1], ends[0]


def mean_always(counts: Sequence[int], s: Scores, level: float) -> Limits:
    """Return limits for a mean over everybody that hold at every look."""
    n, k, bar = sum(counts), concentration(level), -math.log1p(-level)
    joint = Joint([counts], 1.0, s)
    if not joint.clear(0, errors_once(level) ** 2 / n):
        return s.rescaled((0.0, 1.0))
    start = within(joint.values[0])
    ends = []
    for end in (0.0, 1.0):
        if log_wealth(end, counts, s, k) <= bar:
            ends.append(end)
        elif start == end:
            ends.append(start)
        else:
            ends.append(solve(lambda R: log_wealth(R, counts, s, k) - bar, start, end))
    return s.rescaled((max(ends[0] - OUTWARD, 0.0), min(ends[1] + OUTWARD, 1.0)))


def log_wealth(R: float, counts: Sequence[int], s: Scores, k: float) -> float:
    """Return the log of what bets against the mean R have made of 1, on average over all bets."""
    c, (h0, h1, h2) = s.c, s.chance
    mean = h1 - R * h0
    d = [(x - R) * v - mean for x, v in zip(s.x, s.scored, strict=True)]
    part = 1.0 if s.everybody else 0.75
    spread = c * part * (R - R * R) / 2 + h2 - 2 * R * h1 + R * R * h0 - mean * mean
    spread = max(spread, 1e-12)
    bets = []
    for sign, room in ((1, 1 - R), (-1, R)):
        worst = max(max(-sign * one for one in d), 1e-100)
        most = min(c * part * room / spread, SAFE / worst, FARTHEST_BET / math.sqrt(k * spread))
        bets += [sign * most / FACTOR**i for i in range(BETS)]
    found = [
        (
            abs(bet) * math.exp(-k * spread * bet * bet / 2),
            dot([math.log1p(bet * x) for x in d], counts),
        )
        for bet in bets
        if bet
    ]
    highest = max(gain for _, gain in found)
    mixed = math.fsum(weight * math.exp(gain - highest) for weight, gain in found)
    return highest + math.log(mixed / math.fsum(weight for weight, _ in found))


# --- Any ratio ------------------------------------------------------------------------------------


def any_ratio(
    table: Table, kept: float, group: int, top: list[float], below: list[float], coin: Coin,
    span: Limits, level: float,
) -> tuple[Found, Limits]:  # fmt: skip
    """Return a ratio of two weighted sums in a group for one look, and limits for every look."""
    n = sum(map(sum, table))
    x, y = ([(one - dot(each, coin[1])) / coin[0] for one in each] for each in (top, below))
    cells = []  # each with its part of the reports, and what it adds to the two sums
    for g, row in enumerate(table):
        w = ((g == group) - (1 - kept) / len(table)) / kept
        cells += [(count / n, w * a, w * b) for count, a, b in zip(row, x, y, strict=True)]
    mx, my = math.fsum(f * a for f, a, _ in cells), math.fsum(f * b for f, _, b in cells)
    away = [(f, a - mx, b - my) for f, a, b in cells]
    squares = (
        math.fsum(f * a * a for f, a, _ in away),
        math.fsum(f * a * b for f, a, b in away),
        math.fsum(f * b * b for f, _, b in away),
    )
    sx, sxy, sy = (square / max(n - 1, 1) for square in squares)

    def limits(z: float) -> Limits:
        if my * my <= z * z * sy:
            return span
        low, high = quadratic_limits(math.copysign(mx, mx * my), abs(my), (sx, sxy, sy), z * z)
        return min(max(low, span[0]), span[1]), min(max(high, span[0]), span[1])

    once = errors_once(level)
    if my * my <= once * once * sy:
        return Found(None, None, *span), span
    value = mx / my
    error = math.sqrt(max(sx - 2 * value * sxy + value**2 * sy, 0.0)) / abs(my)
    return Found(value, error, *limits(once)), limits(errors_always(n, level))
