"""The joint tally of a randomized group and a question, and what it shows about every group.

Shares within groups (``ratio``) and their differences (``difference``) are made of this. The head
of ``ratio`` has the formulas.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aggregation.statistics.channel import Channel, channels_of
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    integers,
    probability,
    refuse,
)

Flags = NDArray[np.bool_]
Groups = NDArray[np.intp]  # by their positions
Moments = tuple[Floats, Floats, Floats]  # of V(R) = x - 2 y R + z R^2

# Below this, the product of what the two coins keep, squares of its inverse come near overflow.
LEAST_KEPT = 1e-50


@dataclass(frozen=True, eq=False)
class Grouped:
    """The joint tally of a randomized group and randomized options, with a column per option.

    ``named[g]`` is the part of the reports that name group g, ``shown[g]`` the part that name it
    and show the option.
    """

    n: Floats
    named: Floats
    shown: Floats
    keep: float
    b: Floats
    contrast: Floats

    @classmethod
    def of(
        cls, counts: ArrayLike, sizes: ArrayLike, keep: float, channel: Channel | Sequence[Channel]
    ) -> "Grouped":
        """Check the arguments of ``by_group``."""
        s, size = _grouped(counts, sizes)
        keep = probability("keep", keep)
        channels = channels_of(channel, s.shape[1], "column")
        contrast = np.array([each.contrast for each in channels])
        check_kept("keep", keep, float(contrast.min()))
        n = size.sum(axis=0)
        return cls(n, size / n, s / n, keep, np.array([each.b for each in channels]), contrast)

    @property
    def stray(self) -> float:
        """b_s: the probability that a report names a certain other group."""
        return (1 - self.keep) / len(self.named)

    @cached_property
    def sizes(self) -> Floats:
        """P_g: the part of the people who are in each group, unclipped."""
        return (self.named - self.stray) / self.keep

    @cached_property
    def held(self) -> Floats:
        """P_g pi_g: the part who are in each group and hold the option, unclipped."""
        shown = (self.shown - self.stray * self.shown.sum(axis=0)) / self.keep
        held: Floats = (shown - self.b * self.sizes) / self.contrast
        return held

    @property
    def possible(self) -> Floats:
        """``held`` moved to between 0 and the whole group."""
        return between(self.held, self.sizes)

    @cached_property
    def values(self) -> Floats:
        """pi_g: the share in each group, unclipped; 0 in a group that nobody seems to be in."""
        return divide(self.held, self.sizes, self.sizes > 0)

    @cached_property
    def likely(self) -> tuple[Floats, Floats, Floats]:
        """Sizes and shares moved to what they can be, and the variance of u in each group."""
        sizes = np.maximum(self.sizes, 0.0)
        shares = np.clip(self.values, 0.0, 1.0)
        return sizes / sizes.sum(axis=0), shares, self.noise(shares)

    def noise(self, share: Floats) -> Floats:
        """Return lam (1-lam)/c^2, the variance of u if ``share`` of the people hold the option."""
        rate = self.b + self.contrast * share
        return np.maximum(rate * (1 - rate), 0.0) / self.contrast**2

    @property
    def squares(self) -> tuple[float, float]:
        """E[w_g^2] for a person in group g, and for any other."""
        own, stray = self.keep + self.stray, self.stray
        return 1 + own * (1 - own) / self.keep**2, stray * (1 - stray) / self.keep**2

    @cached_property
    def null_moments(self) -> Moments:
        """V(R) = x - 2 y R + z R^2 for each group, as (x, y, z)."""
        sizes, shares, noise = self.likely
        own, other = self.squares
        first, second = sizes * shares, sizes * (noise + shares**2)
        rest = [part.sum(axis=0) - part for part in (sizes, first, second)]
        weight, c = sizes * own, self.contrast
        return (
            weight * self.b * (1 - self.b) / c**2 + other * rest[2],
            weight * (self.b - 0.5) / c + other * rest[1],
            other * rest[0] - weight,
        )

    def covariance(self, i: Groups, j: Groups) -> Floats:
        """Return n times the covariance of the values of groups i and j, by the delta method.

        It is E[psi_i psi_j] of the influence psi_g = (u - pi_g) w_g / P_g of one report, taken over
        the reports; 0 if nobody seems to be in one of the groups.
        """
        x, y = self.values[i], self.values[j]
        yes, no = (1 - self.b) / self.contrast, -self.b / self.contrast
        hidden = self.named - self.shown
        parts = (
            self.named,
            yes * self.shown + no * hidden,
            yes**2 * self.shown + no**2 * hidden,
        )

        def product(zeroth: Floats, first: Floats, second: Floats) -> Floats:
            """Add up (u - x)(u - y) over some of the reports, from the powers of u in them."""
            return second - (x + y) * first + x * y * zeroth

        in_i, in_j = (product(*(part[g] for part in parts)) for g in (i, j))
        everywhere = product(*(part.sum(axis=0) for part in parts))
        same = (i == j)[:, None]
        spread = same * in_i - self.stray * (in_i + in_j) + self.stray**2 * everywhere
        weights = self.keep**2 * self.sizes[i] * self.sizes[j]
        return divide(spread, weights, (self.sizes[i] > 0) & (self.sizes[j] > 0))

    @cached_property
    def variances(self) -> Floats:
        """n times the variance of every value."""
        every = np.arange(len(self.named))
        return np.maximum(self.covariance(every, every), 0.0)

    def clear(self, factor: Floats) -> Flags:
        """Return where more reports name a group than noise alone would, by z errors at least."""
        return self.sizes > np.sqrt(factor * self.squares[1])

    def limits(self, factor: Floats) -> tuple[Floats, Floats]:
        """Return score limits that are not kept within [0, 1], for groups that are clear."""
        low, high = quadratic_limits(self.held, self.sizes, self.null_moments, factor)
        return np.minimum(low, self.values), np.maximum(high, self.values)


def quadratic_limits(
    top: Floats, below: Floats, moments: Moments, factor: Floats | float
) -> tuple[Floats, Floats]:
    """Return the limits between which (top - R below)^2 <= factor V(R), if they exist.

    ``moments`` are x, y and z in V(R) = x - 2 y R + z R^2. Limits exist where below^2 > factor z.
    Elsewhere the result means nothing.
    """
    x, y, z = moments
    square = below**2 - factor * z
    square = np.where(square > 0, square, 1.0)
    half = top * below - factor * y
    reach = np.sqrt(np.maximum(half**2 - square * (top**2 - factor * x), 0.0))
    return (half - reach) / square, (half + reach) / square


def between(part: Floats, whole: Floats) -> Floats:
    """Move a part below 0 to 0, and one above the whole to the whole.

    That brings it nearer to what is expected for any share from 0 to 1. So limits are never empty,
    they only become wider, and a part outside the range never looks like precision.
    """
    return np.clip(part, 0.0, np.maximum(whole, 0.0))


def divide(top: Floats, below: Floats, where: Flags) -> Floats:
    """Return top/below, or 0 elsewhere."""
    return np.where(where, top / np.where(where, below, 1.0), 0.0)


# --- arguments ----------------------------------------------------------------------------------


def _grouped(counts: Any, sizes: Any) -> tuple[Floats, Floats]:
    """Return both as tables of floats with a row for each group, or refuse them by name."""
    s, size = integers("counts", counts), integers("sizes", sizes)
    if s.ndim not in (1, 2) or not s.size:
        raise ValueError(f"counts must be a list or a table, got {counts!r}")
    if size.shape not in (s.shape, s.shape[:1]):
        wanted = f"{s.shape[:1]} or {s.shape}"
        raise ValueError(f"sizes must have the shape {wanted}, got {size.shape}")
    s, size = s.reshape(len(s), -1), size.reshape(len(s), -1)
    refuse("counts", s, (s < 0) | (s > size), "from 0 to sizes")
    if not (size.sum(axis=0) > 0).all() or size.sum(axis=0).max() > LARGEST:
        raise ValueError(f"sizes must add up to from 1 to {LARGEST}, got {size.sum(axis=0)}")
    return s, np.broadcast_to(size, s.shape)


def check_kept(name: str, *parts: float) -> None:
    """Refuse coins that together keep too few answers to compute with."""
    if math.prod(parts) < LEAST_KEPT:
        raise ValueError(f"{name} must leave {LEAST_KEPT} of the answers, got {math.prod(parts)}")
