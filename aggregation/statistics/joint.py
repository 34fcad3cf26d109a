"""The joint distribution of several answers, from the table of the reports.

``cells`` are unbiased and may be negative; use ``mle`` if you need a distribution. ``conditional``,
``association`` and ``independence`` show how answers are related. ``tables.blocks`` says what a
table is and what blocks do to it.

References
    Dempster, Laird & Rubin 1977, J. R. Stat. Soc. B 39:1 (EM)
    Lindsay 1983, Ann. Stat. 11:86 (mixtures: the gradient bounds what is left of the likelihood)
    Varadhan & Roland 2008, Scand. J. Stat. 35:335 (extrapolated EM)
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from aggregation.statistics.numeric.arguments import Floats, integer, strictly_between
from aggregation.statistics.tables.association import (
    Association,
    ChiSquare,
    Conditional,
    Effect,
    Independence,
    association,
    conditional,
    independence,
)
from aggregation.statistics.tables.blocks import (
    Block,
    Covariance,
    Design,
    Step,
    cells,
    cells_for_channels,
    check_possible,
    numbers,
    possible,
    steps_of,
)

# Notebooks import everything about joint distributions from here.
__all__ = [
    "Association",
    "Block",
    "ChiSquare",
    "Conditional",
    "Covariance",
    "Design",
    "Effect",
    "Fit",
    "Independence",
    "association",
    "cells",
    "cells_for_channels",
    "conditional",
    "independence",
    "mle",
    "possible",
]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The likeliest joint distribution.

    theta                non-negative, sums to 1; biased where the unbiased cells are negative.
    mean_log_likelihood  the log-likelihood for each report, without the multinomial coefficient.
    gap                  no distribution has a mean log-likelihood greater by more than this.
    converged            whether ``gap`` came down to the tolerance.
    """

    theta: Floats
    mean_log_likelihood: float
    gap: float
    iterations: int
    converged: bool


def mle(table: Any, blocks: Design, tolerance: float = 1e-10, max_iterations: int = 10_000) -> Fit:
    """Return the distribution of the answers that makes the reports likeliest, by EM.

    The table may hold counts or shares. One iteration is two EM steps theta <- theta * g with
    g(x) = sum_y f(y) M(y|x) / (M theta)(y), and an extrapolation along them
    (Varadhan & Roland 2008). g is the gradient of the concave mean log-likelihood and has mean 1
    under theta, so max g - 1 bounds what is left to gain (Lindsay 1983): that is the stop. It
    starts with nobody in cells that cannot occur, and there it stays.
    """
    reports = numbers(table)
    tolerance = strictly_between("tolerance", tolerance)
    max_iterations = integer("max_iterations", max_iterations, minimum=1)
    allowed = check_possible(reports, blocks)
    em = _EM(reports / reports.sum(), steps_of(reports.shape, blocks))
    here, reach = em.evaluate(allowed / allowed.sum()), 4.0
    iterations, gap = 0, float(here.gradient[allowed].max()) - 1
    while gap > tolerance and iterations < max_iterations:
        here, reach = em.advance(here, reach)
        iterations, gap = iterations + 1, float(here.gradient[allowed].max()) - 1
    return Fit(here.theta, here.value, gap, iterations, gap <= tolerance)


class _Point(NamedTuple):
    theta: Floats
    value: float
    gradient: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _EM:
    frequencies: Floats
    steps: tuple[Step, ...]

    def evaluate(self, theta: Floats) -> _Point:
        """Return the mean log-likelihood and its gradient g here."""
        rates = theta
        for step in self.steps:
            rates = step.forward(rates)
        seen = self.frequencies > 0  # where nothing was seen, 0 log 0 = 0 and 0/0 = 0
        value = float(self.frequencies[seen] @ np.log(rates[seen]))
        gradient = np.divide(
            self.frequencies, rates, out=np.zeros_like(self.frequencies), where=seen
        )
        for step in self.steps:
            gradient = step.adjoint(gradient)
        return _Point(theta, value, gradient)

    def advance(self, here: _Point, reach: float) -> tuple[_Point, float]:
        """Take two EM steps, and extrapolate if that is better; return the next reach as well."""
        theta = here.theta
        first = theta * here.gradient
        second = first * self.evaluate(first).gradient
        change, bend = first - theta, second - 2 * first + theta
        length = math.sqrt(float((bend**2).sum()))
        factor = math.sqrt(float((change**2).sum())) / length if length > 0 else 1.0
        factor = min(factor, reach)
        # A cell that goes to 0 goes far, but stays positive, because it could never leave 0.
        further = np.maximum(theta + 2 * factor * change + factor**2 * bend, second / 100)
        found = self.evaluate(further / further.sum())
        if found.value >= here.value:
            return found, reach * (4 if factor == reach else 1)
        return self.evaluate(second / second.sum()), max(reach / 4, 2.0)
