"""Weighted estimates of a share: design weights, pooled channels, and a known population.

A report y passed through a channel with rates a and b estimates its answer without bias by

    u = (y - b) / (a - b),

which takes two values only, both outside [0, 1] unless there is no noise. ``estimate`` and
``pooled`` are ordinary survey estimation with u in place of the answer. Weighting to a population
by background questions, whose answers are randomized too, is in ``tables.calibration``.

Weights must not depend on the reports. Limits are normal: value -+ z standard_error, unclipped.

References
    Kish 1965, Survey Sampling; Kish 1992, J. Off. Stat. 8:183 (cost of weights)
    Hajek 1971, in Foundations of Statistical Inference (ratio of weighted sums)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    finite,
    refuse,
    strictly_between,
)
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.tables.calibration import (
    Calibrated,
    TooFew,
    Unreachable,
    poststratified,
    rake,
)

# Notebooks import everything about weights from here.
__all__ = [
    "Calibrated",
    "TooFew",
    "Unreachable",
    "Weighted",
    "estimate",
    "kish",
    "pooled",
    "poststratified",
    "privacy_effect",
    "rake",
]

# The square of the contrast has to be a float.
FAINTEST = 1e-100


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted estimate of a share.

    value            may leave [0, 1]
    standard_error   linearised; of a single report, the largest possible
    low, high        normal confidence limits, unclipped
    n                reports that count, i.e. whose weight is not 0
    kish             what unequal weights multiply the variance by: n sum w^2 / (sum w)^2
    privacy          what the channel multiplies it by, at ``value``; None unless 0 < value < 1
    effective_size   n / (kish * privacy): how many direct answers in a simple random sample would
                     tell as much; None if ``privacy`` is
    """

    value: float
    standard_error: float
    low: float
    high: float
    n: int
    kish: float
    privacy: float | None
    effective_size: float | None


@dataclass(frozen=True, slots=True)
class _Tallies:
    """Reports by channel, or one by one: how many say yes, how many there are, and the rates."""

    yes: Floats
    sizes: Floats
    a: Floats
    b: Floats

    @property
    def contrast(self) -> Floats:
        return self.a - self.b

    @property
    def means(self) -> Floats:
        """The unbiased share behind each tally."""
        return (self.yes / self.sizes - self.b) / self.contrast

    @property
    def largest(self) -> Floats:
        """The largest variance that u can have: rate (1-rate) / c^2 at the rate nearest to 1/2.

        As in ``proportion.estimate``.
        """
        worst = np.clip(0.5, self.b, self.a)
        return np.asarray(worst * (1 - worst) / self.contrast**2)

    def variances(self, share: float) -> Floats:
        """Return rate (1 - rate) / c^2, the variance of one u; no digits are lost near 0 or 1."""
        yes, no = self.b / self.contrast + share, (1 - self.a) / self.contrast + (1 - share)
        return yes * no


def estimate(
    y: ArrayLike, w: ArrayLike, channel: Channel | Sequence[Channel], level: float = 0.95
) -> Weighted:
    """Estimate the weighted share from single reports ``y`` (0 or 1) with weights ``w``.

    ``channel`` is one for all, or one for each report. With v = sum w,

        value = sum w u / v,    variance = n/(n-1) sum w^2 (u - value)^2 / v^2

    (Hajek 1971, linearised). Without weights these are those of ``proportion.estimate``.
    """
    reports = finite("y", y, 1)
    if not reports.size:
        raise ValueError(f"y must have reports, got {y!r}")
    refuse("y", reports, (reports != 0) & (reports != 1), "0 or 1")
    tallies = _tallies(reports, np.ones_like(reports), channel, "channel")
    weights = _weights(w)
    if len(weights) != len(reports):
        raise ValueError(f"w must have one entry for each of y, {len(reports)}, got {len(weights)}")
    used = weights > 0
    tallies = _Tallies(*(part[used] for part in (reports, tallies.sizes, tallies.a, tallies.b)))
    weights = weights[used] / weights.max()  # no overflow, and the scale cancels
    weights = weights / weights.sum()
    n = len(weights)
    value = float(weights @ tallies.means)
    squares = tallies.largest if n == 1 else n / (n - 1) * (tallies.means - value) ** 2
    return _result(value, float(weights**2 @ squares), weights, tallies, level)


def pooled(
    counts: ArrayLike, sizes: ArrayLike, channels: Sequence[Channel], level: float = 0.95
) -> Weighted:
    """Estimate one share from tallies behind different channels, each weighed by what it tells.

    The weight of a report is its Fisher information c^2 / (rate (1-rate)) at a first estimate of
    the share, weighted by c^2; in large samples that is as good as maximum likelihood. The share
    has to be the same behind all tallies.
    """
    reports, people = finite("counts", counts, 1), finite("sizes", sizes, 1)
    if reports.shape != people.shape or not reports.size:
        raise ValueError(f"sizes must be one for each of counts, got {people.shape}")
    for name, values, least in (("sizes", people, 1), ("counts", reports, 0)):
        wrong = (values != np.floor(values)) | (values < least) | (values > LARGEST)
        refuse(name, values, wrong, f"whole numbers from {least} to {LARGEST}")
    refuse("counts", reports, reports > people, "at most the size there")
    tallies = _tallies(reports, people, channels, "channels")
    first = float(np.average(tallies.means, weights=tallies.contrast**2 * people))
    # A rate of 0 would be infinitely informative: stay half a report away.
    edge = 0.5 / float(people.sum())
    w = 1 / tallies.variances(min(max(first, edge), 1 - edge))
    weights = w / (w @ people)
    part = weights * people
    # Unbiased within each tally; of a single report, the largest possible.
    rate = reports / people
    usual = rate * (1 - rate) / np.maximum(people - 1, 1) / tallies.contrast**2
    variance = float(part**2 @ np.where(people > 1, usual, tallies.largest))
    return _result(float(part @ tallies.means), variance, weights, tallies, level)


def kish(w: ArrayLike) -> float:
    """Return Kish's design effect, n sum w^2 / (sum w)^2, without weights of 0: at least 1."""
    weights = _weights(w)
    return _kish(weights, np.ones_like(weights))


def privacy_effect(share: float, channel: Channel) -> float:
    """Return how many times the channel multiplies the variance: rate(1-rate) / (c^2 p(1-p))."""
    share = strictly_between("share", share)
    check_channel(channel)
    rate = channel.rate(share)
    return rate / channel.contrast * (1 - rate) / channel.contrast / share / (1 - share)


def _kish(weights: Floats, sizes: Floats) -> float:
    scaled = weights / weights.max()
    n = sizes[weights > 0].sum()
    return float(n * (sizes @ scaled**2) / (sizes @ scaled) ** 2)


def _result(
    value: float, variance: float, weights: Floats, tallies: _Tallies, level: float
) -> Weighted:
    """Put together; ``weights`` are those of a single report."""
    z = quantile(level)
    error = math.sqrt(variance)
    n = int(tallies.sizes.sum())
    unequal = _kish(weights, tallies.sizes)
    privacy = None
    if 0 < value < 1:
        noisy = np.average(tallies.variances(value), weights=weights**2 * tallies.sizes)
        privacy = float(noisy / (value * (1 - value)))
    return Weighted(
        value=value,
        standard_error=error,
        low=value - z * error,
        high=value + z * error,
        n=n,
        kish=unequal,
        privacy=privacy,
        effective_size=None if privacy is None else n / (unequal * privacy),
    )


# --- arguments ----------------------------------------------------------------------------------


def _weights(w: Any) -> Floats:
    weights = finite("w", w, 1)
    refuse("w", weights, weights < 0, "at least 0")
    if not weights.any():
        raise ValueError(f"w must not be 0 everywhere, got {w!r}")
    return weights


def _tallies(yes: Floats, sizes: Floats, channel: Any, name: str) -> _Tallies:
    """Put together; ``channel`` is one for all, or one for each tally."""
    alike = isinstance(channel, Channel)
    if not alike and not isinstance(channel, Iterable):
        raise ValueError(f"{name} must be a Channel or a list of them, got {channel!r}")
    channels = [channel] * len(yes) if alike else list(channel)
    for one in channels:
        check_channel(one, name)
        if one.contrast < FAINTEST:
            raise ValueError(f"{name} must have a contrast of {FAINTEST:g} at least, got {one!r}")
    if len(channels) != len(yes) or not channels:
        raise ValueError(f"{name} must be one or {len(yes)}, got {len(channels)}")
    a, b = np.array([(one.a, one.b) for one in channels]).T
    return _Tallies(yes, sizes, a, b)
