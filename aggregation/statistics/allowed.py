"""Tables of questions that decide whether others are asked, from randomized reports.

``tables.blocks`` is for blocks of which a random report shows all combinations equally often. A
follow-up is asked only after certain answers: some combinations cannot occur, and a random report,
which is any allowed combination of the whole block, shows the others unequally often. So here each
block says how often that is. Along its axes

    q = keep * theta + (1 - keep) * chances * (sum of theta over the block),

and the inverse is as simple as there. "Not asked" is a position of its own. Questions of the block
that are not axes are summed out of the chances, as they are out of the table.

References
    Chaudhuri & Mukerjee 1988, Randomized Response (designs with unequal probabilities)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics import joint
from aggregation.statistics.numeric.arguments import Floats, array_of, integer, probability
from aggregation.statistics.tables import association as measures
from aggregation.statistics.tables.association import Association, Conditional, Effect, Independence
from aggregation.statistics.tables.blocks import (
    LEAST_KEPT,
    Covariance,
    Step,
    sequence,
    table_of_counts,
)

# A share is divided by only if it is beyond so many of its standard errors.
CAUTIOUS = 2.0
# Chances that add up to 1 but for rounding.
ROUNDED = 1e-9


class Part(NamedTuple):
    """Questions that share a coin.

    keep     the probability that a report holds the person's own answers
    axes     their axes in the table
    chances  by position along these axes, the probability that a random report shows it; 0 where
             answers rule each other out
    """

    keep: float
    axes: tuple[int, ...]
    chances: Any


def steps_of(shape: tuple[int, ...], parts: Sequence[Part]) -> tuple[Step, ...]:
    """Return what the blocks do to a table; refuse them unless they hold every axis once."""
    steps = tuple(_step(shape, part) for part in sequence("parts", parts))
    axes = sorted(axis for step in steps for axis in step.axes)
    if axes != list(range(len(shape))):
        raise ValueError(f"parts must hold each of the {len(shape)} axes once, got axes {axes}")
    kept = math.prod(step.keep for step in steps)
    if kept < LEAST_KEPT:
        raise ValueError(f"parts must keep {LEAST_KEPT} in all at least, got {kept}")
    return steps


def _step(shape: tuple[int, ...], part: Any) -> Step:
    keep, axes, chances = part
    keep, axes = probability("keep", keep), tuple(integer("axes", axis) for axis in axes)
    if keep == 0:
        raise ValueError(f"keep must exceed 0, got {keep!r}")
    chances = array_of("chances", chances).astype(np.float64)
    if not axes or max(axes) >= len(shape) or chances.shape != tuple(shape[a] for a in axes):
        raise ValueError(f"chances must have the shape of the axes {axes}, got {chances.shape}")
    if (chances < 0).any() or not abs(chances.sum() - 1) < ROUNDED:
        raise ValueError(f"chances must be at least 0 and add up to 1, got {chances!r}")
    around = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
    noise = (1 - keep) * chances.transpose(np.argsort(axes)).reshape(around)
    return Step(keep, axes, noise)


def possible(shape: tuple[int, ...], parts: Sequence[Part]) -> NDArray[np.bool_]:
    """Return which cells of a table can occur."""
    found = np.ones(shape, dtype=bool)
    for part in parts:
        found &= _step(shape, part._replace(keep=0.5)).noise > 0
    return found


@dataclass(frozen=True, eq=False)
class AllowedTable:
    """The table of the reports, and the unbiased joint distribution of the answers behind it."""

    reports: Floats
    n: int
    steps: tuple[Step, ...]
    possible: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Any, parts: Sequence[Part]) -> "AllowedTable":
        """Check the table and its blocks."""
        reports, n = table_of_counts(table)
        steps = steps_of(reports.shape, parts)
        allowed = possible(reports.shape, parts)
        if reports[~allowed].any():
            raise ValueError("table must have no reports in cells that cannot occur")
        return cls(reports, n, steps, allowed)

    @cached_property
    def theta(self) -> Floats:
        """The share of people in every cell, unclipped: 0 where nobody can be."""
        theta = self.reports / self.n
        for step in self.steps:
            theta = step.inverse(theta)
        return np.where(self.possible, theta, 0.0)

    @cached_property
    def covariance(self) -> Covariance:
        return Covariance(self.reports / self.n, self.n, self.steps)

    @cached_property
    def free(self) -> bool:
        """Whether no answer rules out another."""
        return bool(self.possible.all())

    def mle(self, tolerance: float = 1e-10, max_iterations: int = 10_000) -> tuple[Floats, bool]:
        """Return the likeliest distribution, and whether the search came to rest.

        As ``joint.mle``, but it starts with nobody in cells that cannot occur: there it stays.
        """
        em = joint._EM(self.reports / self.n, self.steps)
        here, reach = em.evaluate(self.possible / self.possible.sum()), 4.0
        iterations = 0
        while (gap := self._gap(here.gradient)) > tolerance and iterations < max_iterations:
            here, reach = em.advance(here, reach)
            iterations += 1
        return here.theta, gap <= tolerance

    def _gap(self, gradient: Floats) -> float:
        return float(gradient[self.possible].max()) - 1

    def conditional(self, axis: int) -> Conditional:
        """Estimate P(position on ``axis`` | the other answers), as ``joint.conditional`` does.

        nan where the condition is too rare, and in cells that cannot occur.
        """
        theta = self.theta
        shares, errors = np.full(theta.shape, np.nan), np.full(theta.shape, np.nan)
        for others in np.ndindex(*theta.shape[:axis], *theta.shape[axis + 1 :]):
            place = (*others[:axis], slice(None), *others[axis:])
            condition = np.zeros_like(theta)
            condition[place] = 1
            total = float(theta[place].sum())
            error = math.sqrt(max(self.covariance.variance(condition), 0.0))
            if total <= 0 or total <= CAUTIOUS * error:
                continue
            found = np.flatnonzero(self.possible[place])
            if len(found) == 1:  # all that could be: certain
                shares[(*others[:axis], found[0], *others[axis:])] = 1.0
                errors[(*others[:axis], found[0], *others[axis:])] = 0.0
                continue
            for position in found:
                at = (*others[:axis], position, *others[axis:])
                shares[at] = theta[at] / total
                gradient = -shares[at] * condition / total
                gradient[at] += 1 / total
                errors[at] = math.sqrt(max(self.covariance.variance(gradient), 0.0))
        return Conditional(shares, errors)

    def independence(self) -> Independence:
        """Test whether two questions are independent, of which none rules out the other."""
        if self.theta.ndim != 2 or not self.free:
            raise ValueError("independence is for two questions that do not rule each other out")
        on_cells = measures._on_cells(self.theta, self.n, self.steps)
        if len(self.steps) == 1 and self.steps[0].keep < 1:
            return Independence(None, None, None, on_cells)
        # With a coin each, the reports are independent if and only if the answers are.
        raw = measures.independence(self.reports, [(1.0, (0,)), (1.0, (1,))])
        return replace(raw, cells=on_cells)

    def association(self) -> Association:
        """Measure the association of two yes/no questions, as ``joint.association`` does."""
        if self.theta.shape != (2, 2) or not self.free:
            raise ValueError("association is for two yes/no questions, neither a follow-up")
        t = self.theta.ravel()
        spread = self.covariance.matrix()
        errors = np.sqrt(np.diag(spread))

        def effect(value: float, gradient: Floats) -> Effect:
            return Effect(float(value), math.sqrt(max(float(gradient @ spread @ gradient), 0.0)))

        t00, t01, t10, t11 = t
        margins = np.array([t10 + t11, t00 + t01, t01 + t11, t00 + t10])
        product, slope = t11 * t00 - t10 * t01, np.array([t11, -t10, -t01, t00])
        difference = phi = log_odds = None
        if margins[:2].min() > 0:
            p1, p0 = margins[:2]
            gradient = np.array([t01 / p0**2, -t00 / p0**2, -t11 / p1**2, t10 / p1**2])
            difference = effect(t11 / p1 - t01 / p0, gradient)
        if margins.min() > 0:
            scale = math.sqrt(float(margins.prod()))
            belongs = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
            gradient = slope / scale - product / scale / 2 * (belongs.T @ (1 / margins))
            phi = effect(product / scale, gradient)
        if (t > 0).all() and (t > CAUTIOUS * errors).all():
            signs = np.array([1.0, -1.0, -1.0, 1.0])
            log_odds = effect(float(signs @ np.log(t)), signs / t)
        return Association(
            t.reshape(2, 2), errors.reshape(2, 2), effect(product, slope), difference, phi, log_odds
        )
