"""Means and shares among those concerned, weighted to a known population.

``calibration`` weights the share of each position of a question. Here any weighted sum of these
shares is weighted, such as a mean score, or the ratio of two: with w and a two scores of each
position, the sum of w over the people in the population divided by that of a. Linearised, the ratio
N/D has the slope (slope of N - N/D slope of D)/D in the joint table.

References
    Deville & Sarndal 1992, J. Am. Stat. Assoc. 87:376 (variance of calibrated estimates)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics.numeric.arguments import Floats, items
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.numeric.scoring import inverse_of
from aggregation.statistics.tables import calibration
from aggregation.statistics.tables.blocks import Covariance
from aggregation.statistics.tables.calibration import CAUTIOUS, Calibrated, Unreachable


@dataclass(frozen=True, eq=False)
class Population:
    """A joint table of a question and of groups, with the factors that make it the population's.

    ``theta`` has the question on its first axis and a question with groups on every other.
    """

    theta: Floats
    covariance: Covariance
    factors: Floats  # by cell of the groups
    met: Floats  # a row for each cell, a column for each number that is met

    @classmethod
    def of(
        cls, theta: Floats, covariance: Covariance, margins: Sequence[ArrayLike]
    ) -> "Population":
        """Weight to the margins of several questions, or to the cells of a single ``margin``.

        TooFew or Unreachable if that is not possible.
        """
        given = [np.asarray(one, dtype=np.float64) for one in items("margins", margins)]
        if len(given) == 1:
            return cls._poststratified(theta, covariance, given[0])
        return cls._raked(theta, covariance, given)

    @classmethod
    def _poststratified(cls, theta: Floats, covariance: Covariance, shares: Floats) -> "Population":
        parts = calibration._fractions("margins", shares, theta.shape[1:])
        for place in np.argwhere(parts > 0).tolist():
            calibration._check_size(theta, covariance, tuple(place), parts > 0)
        met, sizes = parts.ravel() > 0, theta.sum(axis=0).ravel()
        factors = np.divide(parts.ravel(), sizes, out=np.zeros(sizes.size), where=met)
        return cls(theta, covariance, factors, np.eye(sizes.size)[:, met])

    @classmethod
    def _raked(cls, theta: Floats, covariance: Covariance, margins: list[Floats]) -> "Population":
        sizes = theta.shape[1:]
        targets = [
            calibration._fractions(f"margins[{axis}]", margin, (size,))
            for axis, (margin, size) in enumerate(zip(margins, sizes, strict=True))
        ]
        present = np.ones(sizes, dtype=bool)
        for axis, target in enumerate(targets):
            present &= np.expand_dims(target > 0, [i for i in range(present.ndim) if i != axis])
        for axis, target in enumerate(targets):
            for position in np.flatnonzero(target).tolist():
                place = tuple(position if i == axis else None for i in range(present.ndim))
                calibration._check_size(theta, covariance, place, present)
        factors = calibration._raked(theta.sum(axis=0) * present, targets)
        return cls(theta, covariance, factors.ravel(), calibration._indicators(targets))

    def measure(
        self, weights: ArrayLike, among: ArrayLike | None = None, level: float = 0.95
    ) -> Calibrated | None:
        """Estimate the sum of ``weights`` over the population, divided by that of ``among``.

        Both have a score for each position of the question; without ``among`` it is the number of
        people. None if the reports do not show that the divisor is above 0. ``effective_size`` is
        None: how much the outcome varies is not known.
        """
        scores = self._scores(weights), self._scores(1.0 if among is None else among)
        (top, bottom), slopes = self._totals(self.factors, *scores)
        plain, plain_slopes = self._totals(None, *scores)
        rows = [*slopes, *plain_slopes]
        spread = self.covariance.among(rows)
        if bottom <= 0 or bottom <= CAUTIOUS * math.sqrt(max(float(spread[1, 1]), 0.0)):
            return None
        value = top / bottom
        variance = _of_ratio(value, bottom, spread[:2, :2])
        n = self.covariance.n
        unweighted = 0.0
        if plain[1] > 0:
            unweighted = _of_ratio(plain[0] / plain[1], plain[1], spread[2:, 2:])
            unweighted *= n / max(n - 1, 1)
        error = math.sqrt(variance)
        half = quantile(level) * error
        return Calibrated(
            value=value,
            standard_error=error,
            low=value - half,
            high=value + half,
            n=n,
            design_effect=variance / unweighted if unweighted > 0 else None,
            effective_size=None,
        )

    def _scores(self, given: Any) -> Floats:
        return np.broadcast_to(np.asarray(given, dtype=np.float64), len(self.theta))

    def _totals(self, factors: Floats | None, *scores: Floats) -> tuple[list[float], list[Floats]]:
        """Return the total of each score, and its slope in theta."""
        answers = self.theta.reshape(len(self.theta), -1)
        if factors is None:
            cells = np.ones(answers.shape[1])
            fitted: Any = [np.zeros(answers.shape[1])] * len(scores)
            inflated = cells
        else:
            cells, met = factors, self.met
            used, sizes = factors > 0, answers.sum(axis=0)
            inverse = inverse_of((met[used] * (factors * sizes)[used, None]).T @ met[used])
            if inverse is None:
                raise Unreachable
            fitted = [met @ (inverse @ (met.T @ (factors * (w @ answers)))) for w in scores]
            leverage = factors * np.einsum("hi,ij,hj->h", met, inverse, met) / self.covariance.n
            # More than 1/2 would be a handful of people; stay finite.
            inflated = factors / np.sqrt(1 - np.minimum(leverage, 0.5))
        totals = [float(cells @ (w @ answers)) for w in scores]
        slopes = [
            (inflated * (w[:, None] - fit)).reshape(self.theta.shape)
            for w, fit in zip(scores, fitted, strict=True)
        ]
        return totals, slopes


def _of_ratio(value: float, bottom: float, spread: Floats) -> float:
    """Return the variance of a ratio by the delta method."""
    gradient = np.array([1.0, -value]) / bottom
    return max(float(gradient @ spread @ gradient), 0.0)
