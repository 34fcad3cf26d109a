"""Shares within a group or among those concerned, where the group is randomized too.

A person's group and answer are sent by separate coins. A report names the person's own group with
probability a_s = keep + b_s and any other group with b_s = (1-keep)/k, for k groups; it shows an
option with probability a if the option is true and b if not. With

    w = (1[reported group is g] - b_s) / keep,        u = (1[report shows the option] - b) / (a-b),

w is 1 on average for the people in group g and 0 for all others, and u is the answer on average.
The share in group g is R = E[uw] / E[w], and everything about it comes from the joint tally.

All limits here invert one test. If the share is R, the mean of v = (u-R)w is 0, and its variance is

    V(R) = sum over the true groups h of P_h E[w^2|h] (lam_h (1-lam_h)/(a-b)^2 + (pi_h-R)^2),

where P_h is the size of group h, pi_h its share, lam_h = b + (a-b) pi_h, and pi_g = R because that
is the hypothesis. The limits hold every R with n mean(v)^2 <= z^2 V(R), a quadratic inequality: a
score interval in Fieller's form. Without noise in the groups it is Wilson's interval. The variance
of the sample in place of V(R), Fieller's own choice, covers far too little where options are rare.

References
    Fieller 1954, J. R. Stat. Soc. B 16:175 (limits for a ratio)
    Wilson 1927, J. Am. Stat. Assoc. 22:209 (the variance under the hypothesis)
    Warner 1965, J. Am. Stat. Assoc. 60:63 (randomized response)
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Ann. Stat. 52:2613 (limits at every look)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aggregation.statistics import sequence
from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    array_of,
    counts,
    integers,
    integers_of_one_shape,
    is_real,
    one_of,
    refuse,
)
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.proportion import OUTWARD
from aggregation.statistics.tables.grouped import (
    Flags,
    Grouped,
    between,
    check_kept,
    divide,
    quadratic_limits,
)

# "fixed" limits are right for one look, "always" for every look from ALWAYS_FROM reports on.
KINDS = ("fixed", "always")
ALWAYS_FROM = 300


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Shares of part of the people, as arrays of one shape.

    value           the ratio, unclipped; may leave [0, 1]. nan where not ``clear``.
    standard_error  of ``value``, by the delta method. nan where not ``clear``, and for n = 1.
    low, high       confidence limits for the share: 0 and 1 where not ``clear``.
    clear           whether somebody is in the group or concerned, at this level: more reports say
                    so than noise alone would make. Otherwise there are too few to tell.
    kind            "fixed": the limits are right for one look. "always": they are right however
                    often somebody looks.
    """

    value: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    clear: Flags
    kind: NDArray[np.str_]

    def reshape(self, shape: tuple[int, ...]) -> "Shares":
        return Shares(*(getattr(self, field.name).reshape(shape) for field in fields(self)))


class Share(NamedTuple):
    """One of ``Shares``."""

    value: float
    standard_error: float
    low: float
    high: float
    clear: bool
    kind: str


class Ratio(NamedTuple):
    """A ratio of two estimates; unbounded where the denominator is not ``clear`` of 0."""

    value: float
    low: float
    high: float
    clear: bool


def by_group(
    counts: ArrayLike,
    sizes: ArrayLike,
    keep: float,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
    kind: str = "fixed",
) -> Shares:
    """Estimate the share of every option in every group from the joint tally of the reports.

    ``counts[g][j]`` of the ``sizes[g]`` reports that name group g show option j. Every group has a
    row. A column may be any option or set of options of any question whose coin is not the
    group's; it has a ``channel`` of its own unless there is one for all, and sizes of its own
    (``sizes[g][j]``) if not everybody was asked. ``keep`` is the probability that a report holds
    the person's own group. Without columns, ``counts[g]`` is for a single option.

    With ``kind`` "always" the limits hold at every look from 300 reports on. Before that no limits
    of this form do, and those for one look are given; ``Shares.kind`` says so.
    """
    tally = Grouped.of(counts, sizes, keep, channel)
    z, kinds = reach(tally.n.astype(np.int64), level, kind)
    factor = z**2 / tally.n
    limits = quadratic_limits(tally.possible, tally.sizes, tally.null_moments, factor)
    found = _shares(tally.values, tally.variances, limits, tally.clear(factor), tally.n, kinds)
    return found if np.ndim(counts) == 2 else found.reshape(np.shape(counts))


def among(
    counts: ArrayLike,
    concerned: ArrayLike,
    n: ArrayLike,
    channel: Channel,
    gate: Channel,
    level: float = 0.95,
    kind: str = "fixed",
) -> Shares:
    """Estimate shares among those concerned, where one coin randomizes both.

    ``concerned`` of ``n`` reports are in a set of cells (the gate says yes, the group is g), and
    ``counts`` of those in a smaller set within it (the follow-up's option, the group's option).
    ``channel`` is that of the smaller set, ``gate`` that of the larger; both have the contrast of
    their block. With o and g for the sets, the hypothesis is that P(o) = R P(g), and

        V(R) = (b_o (1-2R) + b_g R^2 - (b_o - b_g R)^2)/c^2 + P(g) R (1-R)/c

    is the variance of (1[o] - b_o - R (1[g] - b_g))/c under it.
    """
    s, of, size = _nested(counts, concerned, n)
    check_channel(channel)
    check_channel(gate, "gate")
    b, wide, c = channel.b, gate.b, channel.contrast
    if not math.isclose(c, gate.contrast, rel_tol=1e-6) or b > wide * (1 + 1e-6):
        raise ValueError(
            f"channel and gate must be of a set and a larger one in one block, got {channel!r} "
            f"and {gate!r}"
        )
    check_kept("channel", c)
    held, whole = (s / size - b) / c, (of / size - wide) / c
    present = np.clip(whole, 0.0, 1.0)
    moments = (
        np.full_like(held, b * (1 - b) / c**2),
        b * (1 - wide) / c**2 - present / (2 * c),
        wide * (1 - wide) / c**2 - present / c,
    )
    z, kinds = reach(size.astype(np.int64), level, kind)
    factor = z**2 / size
    clear = whole > np.sqrt(factor * wide * (1 - wide)) / c
    value = divide(held, whole, clear)
    spread = (s * (1 - 2 * value) + of * value**2) / size - ((s - value * of) / size) ** 2
    variance = divide(np.maximum(spread, 0.0), (c * whole) ** 2, clear)
    limits = quadratic_limits(between(held, whole), whole, moments, factor)
    return _shares(value, variance, limits, clear, size, kinds)


def interval(
    count: int,
    concerned: int,
    n: int,
    channel: Channel,
    gate: Channel,
    level: float = 0.95,
    kind: str = "fixed",
) -> Share:
    """Estimate one share among those concerned; see ``among``."""
    counts(concerned, n, ("concerned", "n"))
    counts(count, max(concerned, 1), ("count", "concerned"))
    found = among([count], [concerned], [n], channel, gate, level, kind)
    return Share(*(getattr(found, name)[0].item() for name in Share._fields))


def fieller(
    numerator: float, denominator: float, covariance: ArrayLike, level: float = 0.95
) -> Ratio:
    """Return the ratio of any two estimates, with Fieller's (1954) limits.

    ``covariance`` is their 2 by 2 matrix. For shares use ``by_group`` or ``among``, which cover
    far better; this is for means among those concerned, and weighted estimates.
    """
    top, below = _finite("numerator", numerator), _finite("denominator", denominator)
    matrix = array_of("covariance", covariance)
    if matrix.shape != (2, 2) or matrix.dtype.kind not in "iuf":
        raise ValueError(f"covariance must be a 2 by 2 matrix of numbers, got {covariance!r}")
    (s, r), (q, t) = matrix.astype(float)
    possible = 0 <= s < LARGEST and 0 <= t < LARGEST and r == q and r * r <= s * t * (1 + 1e-9)
    if not possible:
        raise ValueError(f"covariance must be a covariance matrix, got {covariance!r}")
    z = quantile(level)
    sign = -1.0 if below < 0 else 1.0
    if not below**2 > z * z * t:
        return Ratio(top / below if below else math.nan, -math.inf, math.inf, False)
    given = np.array(sign * top), np.array(sign * below)
    low, high = (x.item() for x in quadratic_limits(*given, (s, r, t), z * z))
    return Ratio(top / below, low, high, True)


def reach(n: ArrayLike, level: float, kind: str) -> tuple[Floats, NDArray[np.str_]]:
    """Return how many standard errors limits reach, and of which kind they are, for every n."""
    size = integers("n", n)
    if (size < 1).any() or (size > LARGEST).any():
        raise ValueError(f"n must be from 1 to {LARGEST}, got {n!r}")
    always = (size >= ALWAYS_FROM) & (one_of("kind", kind, KINDS) == "always")
    z = np.full(size.shape, quantile(level))
    if always.any():
        z[always] = sequence.asymptotic(size[always].astype(np.int64), level)
    return z, np.where(always, "always", "fixed")


def _shares(
    value: Floats,
    variance: Floats,
    limits: tuple[Floats, Floats],
    clear: Flags,
    n: Floats,
    kinds: NDArray[np.str_],
) -> Shares:
    """Keep limits within [0, 1], and the value within them; ``variance`` is n times that of it."""
    low, high = limits
    bounded = np.clip(value, 0.0, 1.0)
    error = np.sqrt(variance / np.maximum(n - 1, 1.0))
    return Shares(
        np.where(clear, value, np.nan),
        np.where(clear & (n > 1), error, np.nan),
        np.where(clear, np.clip(np.minimum(low - OUTWARD, bounded), 0.0, 1.0), 0.0),
        np.where(clear, np.clip(np.maximum(high + OUTWARD, bounded), 0.0, 1.0), 1.0),
        clear,
        np.broadcast_to(kinds, value.shape),
    )


# --- arguments ----------------------------------------------------------------------------------


def _nested(counts: Any, concerned: Any, n: Any) -> tuple[Floats, Floats, Floats]:
    """Return all as floats of one shape; refuse them by name unless each is within the next."""
    s, of, size = integers_of_one_shape(counts=counts, concerned=concerned, n=n)
    refuse("n", size, (size < 1) | (size > LARGEST), f"from 1 to {LARGEST}")
    refuse("concerned", of, (of < 0) | (of > size), "from 0 to n")
    refuse("counts", s, (s < 0) | (s > of), "from 0 to concerned")
    return s, of, size


def _finite(name: str, value: Any) -> float:
    if not is_real(value) or not -LARGEST < value < LARGEST:
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)
