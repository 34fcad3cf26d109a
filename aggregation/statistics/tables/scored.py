"""Values with scores, the joint tally of them and a randomized group, and what it says of means.

Means (``mean``) are made of this. Scores are moved to [0, 1] here: x is 0 for the least score and 1
for the greatest. A value without a score is one that a mean leaves out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    FARTHEST,
    LARGEST,
    Floats,
    integers,
    items,
    probability,
)
from aggregation.statistics.tables.grouped import (
    Flags,
    Groups,
    Moments,
    between,
    check_kept,
    divide,
    quadratic_limits,
)


@dataclass(frozen=True, eq=False)
class Scores:
    """The values of a question, and its coin.

    x       the score of each value, from 0 to 1; 0 where it has none
    scored  which values have one
    keep    c, the probability that a report holds the person's own value
    stray   by value, the probability that a report shows it because it was drawn at random
    least   the least score, and span how far the greatest is from it
    """

    x: Floats
    scored: Flags
    keep: float
    stray: Floats
    least: float
    span: float

    @classmethod
    def of(cls, levels: Any, channel: Channel | Sequence[Channel]) -> "Scores":
        """Check the arguments of ``mean.estimate``."""
        scores = _levels(levels)
        scored = ~np.isnan(scores)
        least, most = scores[scored].min(), scores[scored].max()
        span = float(most - least)
        x = np.where(scored, (scores - least) / span, 0.0)
        keep, stray = _coin(channel, scores.size)
        return cls(x, scored, keep, stray, float(least), span)

    @property
    def everybody(self) -> bool:
        """Whether every value has a score."""
        return bool(self.scored.all())

    @cached_property
    def powers(self) -> Floats:
        """1, x and x^2 of every value, one row each; 0 where it has no score."""
        return np.stack([self.scored, self.x, self.x**2]).astype(np.float64)

    @cached_property
    def chance(self) -> Floats:
        """The part of random reports in the means of ``powers`` over the reports."""
        random: Floats = self.powers @ self.stray
        return random

    @cached_property
    def two(self) -> bool:
        """Whether every value has one of two scores, so that reports are as good as yes or no."""
        return self.everybody and bool(np.isin(self.x, (0.0, 1.0)).all())

    def least_square(self, means: Floats) -> Floats:
        """Return the smallest mean of x^2 that answers with these means of x can have."""
        x = np.unique(self.x[self.scored])
        return np.interp(means, x, x**2)

    def squares(self, second: Floats, means: Floats) -> Floats:
        """Move means of x^2 to what they can be, given the means of x."""
        return np.clip(second, self.least_square(means), means)

    def rescaled(self, values: Any) -> Any:
        """Return means of x in the units of the scores."""
        return self.least + self.span * values


def tilts(square: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Return how fast the mean of x^2 changes as people move to the top, and to the bottom.

    If a part of the people whose mean of x is r and of x^2 is s gets the score 1, so that the mean
    becomes R, that of x^2 becomes s + (1-s)/(1-r) (R-r); if they get 0, s + s/r (R-r).
    """
    up = np.where(means < 1, divide(1 - square, 1 - means, means < 1), 1.0)
    down = np.where(means > 0, divide(square, means, means > 0), 1.0)
    return up, down


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """The joint tally of a randomized group and a question with scores.

    ``reports[..., g, v]`` is the part of the n reports that name group g and show value v, and
    ``keep`` the probability that a report names the person's own group. Without groups there is
    one row, and ``keep`` is 1. Axes before these are surveys.
    """

    n: Floats
    reports: Floats
    keep: float
    scores: Scores

    @classmethod
    def of(cls, table: ArrayLike, keep: Any, scores: Scores) -> "ScoredTable":
        """Check the table and the coin of its groups."""
        counts = integers("table", table)
        if counts.ndim < 2 or not counts.size:
            raise ValueError(f"table must have a row for each group, got {table!r}")
        n = totals("table", counts, (-2, -1), scores)
        keep = probability("keep_of_group", keep)
        check_kept("keep_of_group", keep, scores.keep)
        return cls(n, counts / n[..., None, None], keep, scores)

    @property
    def stray(self) -> float:
        """b_s: the probability that a report names a certain other group."""
        groups: int = self.reports.shape[-2]
        return (1 - self.keep) / groups

    @cached_property
    def sizes(self) -> Floats:
        """P_g: the part of the people who are in each group, unclipped."""
        sizes: Floats = (self.reports.sum(axis=-1) - self.stray) / self.keep
        return sizes

    @cached_property
    def held(self) -> tuple[Floats, Floats, Floats]:
        """By group, the part of the people who have a score in it, and their sums of x and x^2."""
        shown = self.reports @ self.scores.powers.T
        shown = (shown - self.stray * shown.sum(axis=-2, keepdims=True)) / self.keep
        held = (shown - self.sizes[..., None] * self.scores.chance) / self.scores.keep
        return held[..., 0], held[..., 1], held[..., 2]

    @cached_property
    def values(self) -> Floats:
        """R_g: the mean of x in each group, unclipped; 0 where nobody seems to have a score."""
        concerned, total, _ = self.held
        return divide(total, concerned, concerned > 0)

    @cached_property
    def likely(self) -> tuple[Floats, Floats, Floats, Floats]:
        """By group: size, part with a score, means of x and of x^2, moved to what they can be."""
        concerned, _, square = self.held
        sizes = np.maximum(self.sizes, 0.0)
        part = np.clip(divide(concerned, self.sizes, self.sizes > 0), 0.0, 1.0)
        means = np.clip(self.values, 0.0, 1.0)
        squares = self.scores.squares(divide(square, concerned, concerned > 0), means)
        return sizes / sizes.sum(axis=-1, keepdims=True), part, means, squares

    @property
    def squares(self) -> tuple[float, float]:
        """E[w_g^2] for a person in group g, and for any other."""
        own, stray = self.keep + self.stray, self.stray
        return 1 + own * (1 - own) / self.keep**2, stray * (1 - stray) / self.keep**2

    @cached_property
    def moments(self) -> Moments:
        """c^2 E[(u - R v)^2] = x - 2 y R + z R^2 in each group, if its people are as they seem."""
        _, part, means, squares = self.likely
        part, (h0, h1, h2) = self.scores.keep * part, self.scores.chance
        return (
            part * squares + h2 - 2 * h1 * part * means - h1**2,
            part * means + h1 - part * (h1 + h0 * means) - h0 * h1,
            part * (1 - 2 * h0) + h0 - h0**2,
        )

    def tilted_moments(self, up: bool) -> Moments:
        """The same if the mean of the group is R, so that u - R v is 0 on average.

        People move to the greatest score if R is above the estimate, and else to the least.
        """
        _, part, means, squares = self.likely
        part, (h0, h1, h2) = self.scores.keep * part, self.scores.chance
        slope = tilts(squares, means)[0 if up else 1]
        return (
            part * (squares - slope * means) + h2 - h1**2,
            h1 - h0 * h1 - part * slope / 2,
            h0 - h0**2 - part,
        )

    def null_moments(self, up: bool) -> Moments:
        """V(R) = x - 2 y R + z R^2 of (u - R v) w_g for each group, if its mean is R."""
        sizes, c = self.likely[0], self.scores.keep
        own, other = self.squares
        x, y, z = (
            sizes * own * mine + other * ((sizes * each).sum(axis=-1, keepdims=True) - sizes * each)
            for mine, each in zip(self.tilted_moments(up), self.moments, strict=True)
        )
        return x / c**2, y / c**2, z / c**2

    def limits(self, factor: Floats) -> tuple[Floats, Floats]:
        """Return the score limits for the mean of x in groups that are clear, not kept in [0, 1].

        An estimate outside is first moved inside, which only widens them.
        """
        concerned, total, _ = self.held
        return self._around(between(total, concerned), factor)

    def free_limits(self, factor: Floats) -> tuple[Floats, Floats]:
        """Return the same around the estimate as it is: differences need them."""
        low, high = self._around(self.held[1], factor)
        return np.minimum(low, self.values), np.maximum(high, self.values)

    def _around(self, top: Floats, factor: Floats) -> tuple[Floats, Floats]:
        concerned = self.held[0]
        low, _ = quadratic_limits(top, concerned, self.null_moments(up=False), factor)
        _, high = quadratic_limits(top, concerned, self.null_moments(up=True), factor)
        return low, high

    def clear(self, factor: Floats) -> Flags:
        """Return where more reports are in the group and have a score than noise would make."""
        sizes, part, _, _ = self.likely
        own, other = self.squares
        if self.scores.everybody:
            return self.sizes > np.sqrt(factor * other)
        h0, c = self.scores.chance[0], self.scores.keep
        each = sizes * (c * part * (1 - 2 * h0) + h0 - h0**2)
        nobody = sizes * own * (h0 - h0**2) + other * (each.sum(axis=-1, keepdims=True) - each)
        clear: Flags = self.held[0] > np.sqrt(factor * nobody) / c
        return clear

    def covariance(self, i: Groups, j: Groups) -> Floats:
        """Return n times the covariance of the values of groups i and j, by the delta method.

        0 if nobody seems to have a score in one of them.
        """
        c, (h0, h1, _), R = self.scores.keep, self.scores.chance, self.values[..., None]
        # c (u - R v) of every value, in a row for each group.
        influence = (self.scores.x - R) * self.scores.scored - (h1 - R * h0)
        both = influence[..., i, :] * influence[..., j, :]
        products = both @ np.swapaxes(self.reports, -1, -2)
        row = np.arange(i.size)
        in_i, in_j = products[..., row, i], products[..., row, j]
        spread = (i == j) * in_i - self.stray * (in_i + in_j)
        spread += self.stray**2 * products.sum(axis=-1)
        first, second = self.held[0][..., i], self.held[0][..., j]
        weights = (self.keep * c) ** 2 * first * second
        return divide(spread, weights, (first > 0) & (second > 0))

    @cached_property
    def variances(self) -> Floats:
        """n times the variance of every value; 0 where nobody has a score."""
        every = np.arange(self.reports.shape[-2])
        return np.maximum(self.covariance(every, every), 0.0)


# --- arguments ----------------------------------------------------------------------------------


def _levels(levels: Any) -> Floats:
    """Return the scores as floats, nan where there is none."""
    given = items("levels", levels)
    for value in given:
        number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not (value is None or number and (math.isnan(value) or abs(value) <= FARTHEST)):
            raise ValueError(
                f"levels must be numbers, or None where there is no score, got {value!r}"
            )
    scores = np.array([math.nan if value is None else float(value) for value in given])
    if np.unique(scores[~np.isnan(scores)]).size < 2:
        raise ValueError(f"levels must have at least two different scores, got {levels!r}")
    return scores


def _coin(channel: Channel | Sequence[Channel], values: int) -> tuple[float, Floats]:
    """Return c, and the probability that a report shows each value at random."""
    channels = list(channel) if isinstance(channel, Sequence) else [channel]
    for each in channels:
        check_channel(each)
    if len(channels) not in (1, values):
        raise ValueError(f"channel must be one, or one for each value, got {len(channels)}")
    keep = channels[0].contrast
    stray = np.broadcast_to([each.b for each in channels], values).astype(np.float64)
    alike = all(math.isclose(each.contrast, keep, rel_tol=1e-6) for each in channels)
    if not alike or not math.isclose(stray.sum(), 1 - keep, abs_tol=1e-9):
        raise ValueError(
            f"channel must be that of one of {values} values which are drawn at random equally "
            f"often, or a list with that of each, got {channel!r}"
        )
    return keep, stray


def totals(name: str, counts: Floats, axes: tuple[int, ...], scores: Scores) -> Floats:
    """Return the numbers of reports; refuse counts by name that are none, or of other values."""
    if counts.shape[-1] != scores.x.size:
        raise ValueError(
            f"levels must be {counts.shape[-1]}, one for each of {name}, got {scores.x.size}"
        )
    n: Floats = counts.sum(axis=axes)
    if counts.min() < 0 or n.min() < 1 or n.max() > LARGEST:
        raise ValueError(
            f"{name} must be at least 0 and add up to 1 to {LARGEST}, got from "
            f"{counts.min():.0f} to {counts.max():.0f}"
        )
    return n
