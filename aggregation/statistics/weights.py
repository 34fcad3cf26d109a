"""Weighted estimates of a share: design weights, post-strata, raking, pooled channels.

A report y passed through a channel with rates a and b estimates its answer without bias by

    u = (y - b) / (a - b),

which takes two values only, both outside [0, 1] unless there is no noise. Everything below is
ordinary survey estimation with u in place of the answer. What the people of a cell (a stratum, a
combination of strata) reported is used through two numbers, how many said yes and how many
reported, so that tallies are enough; single reports are the case of one person a cell.

Weights must not depend on the reports. Limits are normal: value -+ z standard_error, unclipped.

References
    Kish 1965, Survey Sampling; Kish 1992, J. Off. Stat. 8:183 (cost of weights)
    Hajek 1971, in Foundations of Statistical Inference (ratio of weighted sums)
    Holt & Smith 1979, J. R. Stat. Soc. A 142:33 (post-stratification, given the stratum sizes)
    Deming & Stephan 1940, Ann. Math. Stat. 11:427 (raking)
    Deville & Sarndal 1992, J. Am. Stat. Assoc. 87:376 (variance of calibrated estimates)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    check_channel,
    strictly_between,
)

Floats = NDArray[np.float64]
# Population shares that were rounded to this many units still count as adding up to 1.
ROUNDED = 1e-6
SWEEPS = 2000
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
    effective_size   n / (kish * privacy): so many direct answers in a simple random sample would
                     tell as much; None where ``privacy`` is
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
class Cells:
    """Reports by cell: how many say yes, how many there are, and the channel of each."""

    yes: Floats
    sizes: Floats
    a: Floats
    b: Floats

    @property
    def contrast(self) -> Floats:
        return self.a - self.b

    @property
    def means(self) -> Floats:
        """The unbiased share in each cell."""
        return (self.yes / self.sizes - self.b) / self.contrast

    def variances(self, share: float) -> Floats:
        """rate (1 - rate) / c^2, that of one u, without losing the digits of rates near 0 or 1."""
        yes, no = self.b / self.contrast + share, (1 - self.a) / self.contrast + (1 - share)
        return yes * no


def estimate(
    y: ArrayLike, w: ArrayLike, channel: Channel | Sequence[Channel], level: float = 0.95
) -> Weighted:
    """The weighted share from single reports ``y`` (0 or 1) with weights ``w``.

    ``channel`` is one for all or one a report. With v = sum w,

        value = sum w u / v,    variance = n/(n-1) sum w^2 (u - value)^2 / v^2

    (Hajek 1971, linearised). Without weights these are those of ``proportion.estimate``.
    """
    reports = _numbers("y", y)
    _refuse("y", reports, (reports != 0) & (reports != 1), "0 or 1")
    return _weighted(_cells(reports, np.ones_like(reports), channel), w, "y", level)


def tallied(
    counts: ArrayLike,
    sizes: ArrayLike,
    w: ArrayLike,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
) -> Weighted:
    """``estimate`` from tallies: ``counts`` of ``sizes`` reports say yes where the weight is w."""
    return _weighted(_tallies(counts, sizes, channel), w, "counts", level)


def poststratified(
    counts: ArrayLike,
    sizes: ArrayLike,
    shares: ArrayLike,
    channel: Channel | Sequence[Channel],
    level: float = 0.95,
) -> Weighted:
    """The share in a population of which stratum h is the fraction ``shares[h]``.

        value = sum W_h p_h,    variance = sum W_h^2 y_h(1-y_h) / ((n_h-1) c^2)

    with the unbiased share p_h and the rate of reports y_h of each stratum, given the n_h (Holt &
    Smith 1979). It also fits a stratified sample. Every stratum needs a report.
    """
    cells = _tallies(counts, sizes, channel)
    parts = _shares("shares", shares, len(cells.sizes))
    variance = float(np.sum(parts**2 * _variances(cells)))
    value = float(parts @ cells.means)
    return _result(value, variance, parts / cells.sizes, cells, level)


def pooled(
    counts: ArrayLike, sizes: ArrayLike, channels: Sequence[Channel], level: float = 0.95
) -> Weighted:
    """One share from tallies that went through different channels, each weighed by what it tells.

    The weight of a report is its Fisher information c^2 / (rate (1-rate)) at a first estimate of
    the share, weighted by c^2; in large samples that is as good as maximum likelihood. The share
    has to be the same behind all tallies.
    """
    cells = _tallies(counts, sizes, channels, "channels")
    n = float(cells.sizes.sum())
    first = float(np.average(cells.means, weights=cells.contrast**2 * cells.sizes))
    # A rate of 0 would be infinitely informative: stay half a report away.
    w = 1 / cells.variances(min(max(first, 0.5 / n), 1 - 0.5 / n))
    weights = w / (w @ cells.sizes)
    part = weights * cells.sizes
    variance = float(np.sum(part**2 * _variances(cells)))
    return _result(float(part @ cells.means), variance, weights, cells, level)


def rake(
    counts: ArrayLike,
    sizes: ArrayLike,
    margins: Sequence[ArrayLike],
    channel: Channel,
    level: float = 0.95,
) -> Weighted:
    """The share after weighting each margin to the population.

    ``counts`` and ``sizes`` are tables of tallies with one axis a characteristic (sex by age, say);
    ``margins[j]`` holds the population shares of the categories of axis j. The joint distribution
    in the population need not be known. Cells may be empty.

    The variance is that of the residuals u - x'B of a weighted regression of u on the margins:
    what the margins explain no longer varies (Deville & Sarndal 1992),

        n/(n-p) sum w^2 (u - x'B)^2 / (sum w)^2,  p = the rank of the margins.
    """
    check_channel(channel)
    people = _numbers("sizes", sizes, table=True)
    yes = _numbers("counts", counts, table=True)
    _check_tallies(yes, people, least=0)
    weights = rake_weights(people, margins)
    filled = people > 0
    cells = _cells(yes[filled], people[filled], channel)
    columns = _indicators(people.shape)[filled.ravel()]
    value = float((weights[filled] * cells.sizes) @ cells.means)
    variance = _residual_variance(cells, weights[filled], columns)
    return _result(value, variance, weights[filled], cells, level)


def rake_weights(sizes: ArrayLike, margins: Sequence[ArrayLike]) -> Floats:
    """The weight of a person in each cell, such that all weights add up to 1 and to the margins.

    Iterative proportional fitting (Deming & Stephan 1940). Refused if no weights do it, as may
    happen where cells are empty.
    """
    people = _numbers("sizes", sizes, table=True, minimum=0)
    _refuse("sizes", people, people > LARGEST, f"at most {LARGEST}")
    targets = _margins(margins, people)
    fitted = people / people.sum()
    for _ in range(SWEEPS):
        worst = 0.0
        for axis, target in enumerate(targets):
            others = tuple(i for i in range(people.ndim) if i != axis)
            now = fitted.sum(axis=others)
            factor = np.divide(target, now, out=np.ones_like(now), where=now > 0)
            worst = max(worst, float(np.abs(factor - 1).max()))
            fitted = fitted * np.expand_dims(factor, others)
        if worst < 1e-12:
            weights: Floats = np.divide(fitted, people, out=np.zeros_like(people), where=people > 0)
            return weights
    raise ValueError(f"margins cannot be met by weights, got {margins!r}: off by {worst:.2g}")


def kish(w: ArrayLike) -> float:
    """Kish's design effect of weights: n sum w^2 / (sum w)^2, at least 1. Weights of 0 are out."""
    weights = _numbers("w", w, minimum=0)
    return _kish(weights, np.ones_like(weights))


def privacy_effect(share: float, channel: Channel) -> float:
    """The variance with the channel over that of direct answers: rate(1-rate) / (c^2 p(1-p))."""
    share = strictly_between("share", share)
    check_channel(channel)
    rate = channel.rate(share)
    return rate / channel.contrast * (1 - rate) / channel.contrast / share / (1 - share)


# --- estimates ----------------------------------------------------------------------------------


def _weighted(cells: Cells, w: ArrayLike, like: str, level: float) -> Weighted:
    weights = _numbers("w", w, minimum=0)
    if len(weights) != len(cells.sizes):
        raise ValueError(f"w must have one entry for each of {like}, got {len(weights)}")
    if not weights.any():
        raise ValueError(f"w must not be 0 everywhere, got {weights!r}")
    used = weights > 0
    cells = Cells(cells.yes[used], cells.sizes[used], cells.a[used], cells.b[used])
    weights = weights[used] / weights.max()  # no overflow, and the scale cancels
    weights = weights / (weights @ cells.sizes)
    value = float((weights * cells.sizes) @ cells.means)
    variance = _residual_variance(cells, weights, np.ones((len(weights), 1)))
    return _result(value, variance, weights, cells, level)


def _residual_variance(cells: Cells, weights: Floats, columns: Floats) -> float:
    """n/(n-p) sum w^2 (u - fitted)^2 for weights with sum w = 1, fitted by weighted least squares.

    Within a cell u is (1-b)/c for those who said yes and -b/c for the others.
    """
    n = cells.sizes.sum()
    root = np.sqrt(weights * cells.sizes)
    solution, _, rank, _ = np.linalg.lstsq(columns * root[:, None], cells.means * root, rcond=None)
    if n <= rank:  # nothing is left to estimate the variance from
        return float(np.sum((weights * cells.sizes) ** 2 * _largest(cells) / cells.sizes))
    fitted = columns @ solution
    yes, no = (1 - cells.b) / cells.contrast, -cells.b / cells.contrast
    squares = cells.yes * (yes - fitted) ** 2 + (cells.sizes - cells.yes) * (no - fitted) ** 2
    return float(n / (n - rank) * np.sum(weights**2 * squares))


def _variances(cells: Cells) -> Floats:
    """The unbiased variance of each cell's share; of a single report, the largest possible."""
    y, n = cells.yes / cells.sizes, cells.sizes
    usual = y * (1 - y) / np.maximum(n - 1, 1) / cells.contrast**2
    return np.where(n > 1, usual, _largest(cells))


def _largest(cells: Cells) -> Floats:
    """The largest variance that u can have: rate (1-rate) / c^2 at the rate in [b, a] nearest 1/2.

    As in ``proportion.estimate``.
    """
    worst = np.clip(0.5, cells.b, cells.a)
    return np.asarray(worst * (1 - worst) / cells.contrast**2)


def _kish(weights: Floats, sizes: Floats) -> float:
    if not weights.any():
        raise ValueError(f"w must not be 0 everywhere, got {weights!r}")
    scaled = weights / weights.max()
    n = sizes[weights > 0].sum()
    return float(n * (sizes @ scaled**2) / (sizes @ scaled) ** 2)


def _result(value: float, variance: float, weights: Floats, cells: Cells, level: float) -> Weighted:
    """Put together; ``weights`` are those of a single report."""
    z = -float(ndtri((1 - strictly_between("level", level)) / 2))
    error = math.sqrt(variance)
    n = int(cells.sizes[weights > 0].sum())
    unequal = _kish(weights, cells.sizes)
    privacy = None
    if 0 < value < 1:
        noisy = cells.variances(value)
        privacy = float(np.average(noisy, weights=weights**2 * cells.sizes) / (value * (1 - value)))
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


def _indicators(shape: tuple[int, ...]) -> Floats:
    """One row a cell, one column a category of each axis."""
    places = np.indices(shape).reshape(len(shape), -1)
    return np.concatenate(
        [np.eye(k)[place] for k, place in zip(shape, places, strict=True)], axis=1
    )


# --- arguments ----------------------------------------------------------------------------------


def _numbers(name: str, values: Any, minimum: float = -math.inf, *, table: bool = False) -> Floats:
    """``values`` as floats, refused by name and position unless finite and large enough."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.dtype.kind not in "iuf" or not array.size or (array.ndim != 1 and not table):
        raise ValueError(
            f"{name} must be {'a table' if table else 'a list'} of numbers, got {values!r}"
        )
    floats = np.atleast_1d(array).astype(float)
    _refuse(name, floats, ~np.isfinite(floats), "finite")
    _refuse(name, floats, floats < minimum, f"at least {minimum:g}")
    return floats


def _refuse(name: str, values: Floats, wrong: NDArray[np.bool_], wanted: str) -> None:
    """Refuse the first of the ``values`` that is wrong, by name and position."""
    for place in np.argwhere(wrong)[:1].tolist():
        where = "".join(f"[{i}]" for i in place)
        raise ValueError(f"{name}{where} must be {wanted}, got {values[tuple(place)]:.15g}")


def _tallies(yes: Any, sizes: Any, channel: Any, name: str = "channel") -> Cells:
    reports, people = _numbers("counts", yes), _numbers("sizes", sizes)
    _check_tallies(reports, people)
    return _cells(reports, people, channel, name)


def _check_tallies(yes: Floats, sizes: Floats, least: int = 1) -> None:
    """Refuse anything but whole numbers with 0 <= yes <= sizes and sizes >= least."""
    if yes.shape != sizes.shape:
        raise ValueError(f"sizes must have the shape of counts, {yes.shape}, got {sizes.shape}")
    for name, values, low in (("sizes", sizes, least), ("counts", yes, 0)):
        _refuse(name, values, values != np.floor(values), "an integer")
        _refuse(name, values, values < low, f"at least {low}")
    _refuse("sizes", sizes, sizes > LARGEST, f"at most {LARGEST}")
    _refuse("counts", yes, yes > sizes, "at most the size there")


def _cells(yes: Floats, sizes: Floats, channel: Any, name: str = "channel") -> Cells:
    """Put together; ``channel`` is one for all or one a cell."""
    alike = isinstance(channel, Channel)
    if not alike and not isinstance(channel, Iterable):
        raise ValueError(f"{name} must be a Channel or a list of them, got {channel!r}")
    channels = [channel] if alike else list(channel)
    for one in channels:
        check_channel(one, name)
        if one.contrast < FAINTEST:
            raise ValueError(f"{name} must have a contrast of {FAINTEST:g} at least, got {one!r}")
    if not alike and len(channels) != len(yes):
        raise ValueError(f"{name} must be one or {len(yes)}, got {len(channels)}")
    a, b = np.array([(one.a, one.b) for one in channels]).T
    return Cells(yes, sizes, np.broadcast_to(a, yes.shape), np.broadcast_to(b, yes.shape))


def _shares(name: str, values: Any, size: int) -> Floats:
    """Fractions of a population: ``size`` of them, in [0, 1], adding up to 1."""
    parts = _numbers(name, values, minimum=0)
    _refuse(name, parts, parts > 1 + ROUNDED, "at most 1")
    if len(parts) != size:
        raise ValueError(f"{name} must have {size} entries, got {len(parts)}")
    total = float(parts.sum())
    if abs(total - 1) > ROUNDED:
        raise ValueError(f"{name} must add up to 1, got {total:.15g}")
    return np.asarray(parts / total)


def _margins(margins: Any, people: Floats) -> list[Floats]:
    """The margins, refused where a category has a share but no reports, or reports but no share."""
    if not people.any():
        raise ValueError(f"sizes must not be 0 everywhere, got {people!r}")
    if not isinstance(margins, Sequence | np.ndarray) or len(margins) != people.ndim:
        raise ValueError(f"margins must have one entry an axis, {people.ndim}, got {margins!r}")
    targets = []
    for axis, (margin, k) in enumerate(zip(margins, people.shape, strict=True)):
        target = _shares(f"margins[{axis}]", margin, k)
        reports = people.sum(axis=tuple(i for i in range(people.ndim) if i != axis))
        _refuse(
            f"margins[{axis}]", target, (target > 0) & (reports == 0), "0 where nobody reported"
        )
        _refuse(
            f"margins[{axis}]", target, (target == 0) & (reports > 0), "above 0 as some reported"
        )
        targets.append(target)
    return targets
