"""Shares weighted to a known population by background answers that are randomized.

Nobody's group is known, so nobody has a weight. But the joint table of a question and of background
questions has an unbiased estimate theta (see ``blocks``), and a weighted share is a function of it:
with t(h) = the part of the people in cell h of the background questions, y(h) = the part that are
in h and hold the option, and a factor m(h) for each cell,

    value = sum of m(h) y(h),      where the factors make m(h) t(h) agree with the population:

with its share of every cell (post-stratification, m = W/t), or with its share of every group of
every background question, where m is a product of one number per group (raking). Groups that the
population does not have, such as "prefer not to say", are left out: the estimate is the share among
the others. With groups in clear (keep 1) all this is ordinary weighting.

Linearised, value has the slope m(h) (1[option] - x(h)'B) in theta, where x(h) says what is met and
B is the regression of the answer on it with weights m (Deville & Sarndal 1992); its variance is
that of a linear combination of cells. As in ordinary regression, residuals are a little too small,
by 1 minus their leverage; in post-strata in clear that makes n_h of n_h - 1.

References
    Holt & Smith 1979, J. R. Stat. Soc. A 142:33 (post-stratification)
    Deming & Stephan 1940, Ann. Math. Stat. 11:427 (raking)
    Deville & Sarndal 1992, J. Am. Stat. Assoc. 87:376 (variance of calibrated estimates)
    MacKinnon & White 1985, J. Econometrics 29:305 (leverage)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics.numeric.arguments import Floats, finite, items, refuse
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.numeric.scoring import inverse_of
from aggregation.statistics.tables.blocks import Covariance, Design, cells

# Population shares that were rounded to this many units still count as adding up to 1.
ROUNDED = 1e-6
SWEEPS = 2000
# A group can be weighted only if its estimated size exceeds this many standard errors. Otherwise we
# might divide by 0.
CAUTIOUS = 2.0
# A position for each background question; None for all of its groups.
Place = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A share in the population.

    value            may leave [0, 1]
    standard_error   linearised
    low, high        normal confidence limits, unclipped
    n                reports in the table
    design_effect    the variance over that of the same share without weights, which is what
                     weighting costs, or gains if below 1; None if that variance is 0
    effective_size   value (1 - value) / variance: how many direct answers from a simple random
                     sample of the population would tell as much; None unless 0 < value < 1
    """

    value: float
    standard_error: float
    low: float
    high: float
    n: int
    design_effect: float | None
    effective_size: float | None


class TooFew(ValueError):
    """The reports do not show that anybody is in a group.

    ``place`` has for each background question the position of the group, or None for all of them.
    """

    def __init__(self, place: Place, size: float, error: float) -> None:
        named = [
            f"position {at} of axis {axis}" for axis, at in enumerate(place, 1) if at is not None
        ]
        super().__init__(
            f"too few reports to weight by {' and '.join(named)}: estimated to hold {size:.3g} of "
            f"the people, with a standard error of {error:.2g}; merge it with another group, or "
            "weight by fewer background questions"
        )
        self.place = place


class Unreachable(ValueError):
    """No weights meet the margins: too few people are estimated to be in cells that would."""

    def __init__(self) -> None:
        super().__init__(
            "margins cannot be met by weights: the reports show too few people in combinations of "
            "groups that are needed; merge groups, or weight by fewer background questions"
        )


def poststratified(
    table: Any, blocks: Design, shares: ArrayLike, level: float = 0.95
) -> tuple[Calibrated, ...]:
    """Estimate the share of each option in a population whose cell h is the fraction ``shares[h]``.

    ``table`` counts the reports by the question, on its first axis, and by background questions on
    the others; ``blocks`` are those of ``joint.cells``. ``shares`` has the shape of the table
    without its first axis: the groups of one background question, or cells of several.
    """
    theta, covariance = _question_by_groups(table, blocks)
    parts = _fractions("shares", shares, theta.shape[1:])
    for place in np.argwhere(parts > 0).tolist():
        _check_size(theta, covariance, tuple(place), parts > 0)
    met = parts.ravel() > 0
    sizes = theta.sum(axis=0).ravel()
    factors = np.divide(parts.ravel(), sizes, out=np.zeros(sizes.size), where=met)
    return _weighted(theta, covariance, factors, np.eye(sizes.size)[:, met], level)


def rake(
    table: Any, blocks: Design, margins: Sequence[ArrayLike], level: float = 0.95
) -> tuple[Calibrated, ...]:
    """Estimate the share of each option, weighting every background question to the population.

    ``margins[j]`` holds the population shares of the groups on axis j + 1 of the table. How the
    background questions go together in the population need not be known. Cells may be estimated
    below 0, as long as no group is.
    """
    theta, covariance = _question_by_groups(table, blocks)
    given = items("margins", margins)
    if len(given) != theta.ndim - 1:
        raise ValueError(f"margins must be one for each of {theta.ndim - 1} axes, got {margins!r}")
    targets = [
        _fractions(f"margins[{axis}]", margin, (size,))
        for axis, (margin, size) in enumerate(zip(given, theta.shape[1:], strict=True))
    ]
    present = np.ones(theta.shape[1:], dtype=bool)
    for axis, target in enumerate(targets):
        present &= np.expand_dims(target > 0, [i for i in range(present.ndim) if i != axis])
    for axis, target in enumerate(targets):
        for position in np.flatnonzero(target).tolist():
            place = tuple(position if i == axis else None for i in range(present.ndim))
            _check_size(theta, covariance, place, present)
    factors = _raked(theta.sum(axis=0) * present, targets)
    met = _indicators(targets)
    return _weighted(theta, covariance, factors.ravel(), met, level)


def _raked(sizes: Floats, targets: list[Floats]) -> Floats:
    """Find one factor for each group that meets all margins, by iterative proportional fitting."""
    factors = np.ones_like(sizes)
    for _ in range(SWEEPS):
        worst = 0.0
        for axis, target in enumerate(targets):
            others = tuple(i for i in range(sizes.ndim) if i != axis)
            with np.errstate(over="ignore", invalid="ignore"):  # factors without end are refused
                now = (factors * sizes).sum(axis=others)
                if not (now[target > 0] > 0).all():
                    raise Unreachable
                step = np.divide(target, now, out=np.zeros_like(now), where=target > 0)
                factors = factors * np.expand_dims(step, others)
            worst = max(worst, float(np.abs(step - 1)[target > 0].max()))
        if worst < 1e-12:
            return factors
    raise Unreachable


def _indicators(targets: list[Floats]) -> Floats:
    """Return a row for each cell, and a column for each group to be met, none twice.

    The groups of every background question add up to the same, so of all but the first one group
    is left out.
    """
    places = np.indices([target.size for target in targets]).reshape(len(targets), -1)
    columns = []
    for axis, target in enumerate(targets):
        for position in np.flatnonzero(target)[min(axis, 1) :]:
            columns.append(places[axis] == position)
    return np.array(columns, dtype=float).T


def _weighted(
    theta: Floats, covariance: Covariance, factors: Floats, met: Floats, level: float
) -> tuple[Calibrated, ...]:
    """Estimate each option's share from the factors of the cells and what they meet."""
    z = quantile(level)
    n, answers = covariance.n, theta.reshape(len(theta), -1)
    sizes = answers.sum(axis=0)
    used = factors > 0
    inverse = inverse_of((met[used] * (factors * sizes)[used, None]).T @ met[used])
    if inverse is None:
        raise Unreachable
    leverage = factors * np.einsum("hi,ij,hj->h", met, inverse, met) / n
    # More than 1/2 would be a handful of people; stay finite.
    inflated = factors / np.sqrt(1 - np.minimum(leverage, 0.5))
    found = []
    for option, answer in enumerate(answers):
        fitted = met @ (inverse @ (met.T @ (factors * answer)))
        slope = np.repeat(-(inflated * fitted)[None], len(theta), axis=0)
        slope[option] += inflated
        plain = np.zeros_like(theta)
        plain[option] = 1
        value = float(factors @ answer)
        variance, unweighted = np.diag(covariance.among([slope.reshape(theta.shape), plain]))
        error = math.sqrt(max(float(variance), 0.0))
        unweighted *= n / max(n - 1, 1)
        found.append(
            Calibrated(
                value=value,
                standard_error=error,
                low=value - z * error,
                high=value + z * error,
                n=n,
                design_effect=float(variance / unweighted) if unweighted > 0 else None,
                effective_size=(
                    float(value * (1 - value) / variance)
                    if 0 < value < 1 and variance > 0
                    else None
                ),
            )
        )
    return tuple(found)


# --- arguments ----------------------------------------------------------------------------------


def _question_by_groups(table: Any, blocks: Design) -> tuple[Floats, Covariance]:
    theta, covariance = cells(table, blocks)
    if theta.ndim < 2:
        raise ValueError(
            "table must have the question on its first axis and a background question on every "
            f"other, got shape {theta.shape}"
        )
    return theta, covariance


def _fractions(name: str, values: Any, shape: tuple[int, ...]) -> Floats:
    """Return fractions of a population; refuse them unless they are in [0, 1] and add up to 1."""
    parts = finite(name, values, len(shape))
    if parts.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {parts.shape}")
    refuse(name, parts, (parts < 0) | (parts > 1 + ROUNDED), "between 0 and 1")
    total = float(parts.sum())
    if abs(total - 1) > ROUNDED:
        raise ValueError(f"{name} must add up to 1, got {total:.15g}")
    return np.asarray(parts / total)


def _check_size(theta: Floats, covariance: Covariance, place: Place, present: Any) -> None:
    """Refuse a group that may be empty, of the cells that are ``present`` in the population."""
    chosen = np.zeros_like(theta)
    chosen[(slice(None), *(slice(None) if at is None else at for at in place))] = 1
    chosen *= present
    size, error = float((theta * chosen).sum()), math.sqrt(covariance.variance(chosen))
    if size <= 0 or size <= CAUTIOUS * error:
        raise TooFew(place, size, error)
