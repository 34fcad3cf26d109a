"""Least squares for a number or a score, where outcome and predictors are randomized.

What is wanted are the coefficients that a regression on everybody's own answers would have: with y
the outcome, x(z) a 1 and a dummy for each position of each predictor z but its first,

    beta = A^-1 b,        A = E[s x x'],    b = E[s x y],

s being 1 for people who have a score and who count at all. Both are sums over the cells of the
joint table of outcome and predictors, and that has an unbiased estimate (``joint.cells``). So A
and b have one as well: of a report, the products of pseudo-values of questions with coins of their
own, and of the cells of questions that share one. Regressing on the reported groups instead would
draw every coefficient towards 0, because groups are reported with errors. A number is rounded at
random to a level, right on average given everything else: b takes the level for the number.

Sandwich: in a change of the tally the coefficients move by A^-1 times that of E[s x (y - x'beta)],
so Cov(beta) = A^-1 V A^-1, with V the covariance of these sums, estimated cell by cell: nothing is
assumed about the outcome's distribution (White 1980).

Limits: with x~ and y~ what is left of x_k and y after regressing each on the other columns,
beta_k = E[s x~ y~] / E[s x~^2] (Frisch & Waugh 1933). Errors in the regressions on the other
columns do not matter to first order, so this is a ratio of two estimated sums, and Fieller's limits
allow for a denominator that is uncertain: groups are small, and their sizes are estimated. The
p-value is that of "the numerator is 0" and agrees with the limits.

References
    Frisch & Waugh 1933, Econometrica 1:387; Fieller 1954, J. R. Stat. Soc. B 16:175
    Fuller 1987, Measurement Error Models (moments corrected for errors in variables)
    White 1980, Econometrica 48:817
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from aggregation.statistics import ratio
from aggregation.statistics.joint import Covariance, Design, cells, possible
from aggregation.statistics.numeric.arguments import Floats, strictly_between
from aggregation.statistics.tables.calibration import CAUTIOUS

MOST_CELLS = 2**16  # of a table: with 80 coefficients, 40 MB
REGULAR = 1e-6  # the least eigenvalue of A, scaled to a unit diagonal


class TooFew(ValueError):
    """Nobody can be told to be where all others are compared with."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquares:
    """Coefficients in the units of the outcome: the intercept, then those of each predictor.

    standard_errors  sandwich; nan where the reports do not determine the coefficient.
    low, high        Fieller's limits; infinite where they do not.
    p_values         of "the coefficient is 0"; nan where they do not.
    share            the part of the people who count, unclipped.
    """

    coefficients: Floats
    standard_errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    share: float


def fit(
    table: Any,
    blocks: Design,
    scores: Sequence[float | None],
    columns: Sequence[Sequence[int | None]],
    level: float = 0.95,
) -> LeastSquares:
    """Regress the scores of the first axis of a table of reports on its other axes.

    ``scores`` has the score of each position of the outcome, None for people who do not count (not
    asked, prefer not to say). ``columns`` has for each predictor, by position: 0 for what the
    others are compared with, 1, 2, … for coefficients, which positions may share, and None for
    people who do not count. A group in which the reports do not show that there is anybody is left
    out, and its coefficient is nan.
    """
    theta, covariance = cells(table, blocks)
    level = strictly_between("level", level)
    if theta.size > MOST_CELLS:
        raise ValueError(f"table must have at most {MOST_CELLS} cells, got {theta.size}")
    y, counted = _outcome(scores, theta.shape[0])
    X = _dummies(columns, theta.shape[1:])
    counted = np.multiply.outer(counted, ~np.isnan(X).any(axis=0))
    counted &= possible(theta.shape, blocks)
    X = np.nan_to_num(X)
    least, span = float(y.min()), float(np.ptp(y))
    found = _Moments(theta, covariance, (y - least) / span, X, counted).solve(level)
    scale = np.full((4, len(X)), span)
    values, errors, low, high = scale * np.array(found[:4])
    for limits in (values, low, high):
        limits[0] += least
    return LeastSquares(values, errors, low, high, found[4], found[5])


@dataclass(frozen=True, eq=False)
class _Moments:
    """Sums over the cells of a table. y and the columns of X are on [0, 1]."""

    theta: Floats
    covariance: Covariance
    y: Floats  # by position of the outcome
    X: Floats  # a row for each coefficient, in the shape of the predictors
    counted: Any  # by cell

    def mean(self, cells: Floats) -> float:
        return float((self.theta * cells).sum())

    def solve(self, level: float) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
        """Return coefficients, errors, limits and p-values, and the part of people who count."""
        width = len(self.X)
        counted, used = self.counted.copy(), [0]
        for k in range(1, width):
            if self._somebody(counted & (self.X[k] > 0)):
                used.append(k)
            else:
                counted &= self.X[k] == 0
        if not self._somebody(counted & (self.X[1:] == 0).all(axis=0)):
            raise TooFew("too few people are in the groups that the others are compared with")
        results = np.full((5, width), math.nan)
        results[2], results[3] = -math.inf, math.inf
        found = self._coefficients(counted, self.X[used], level)
        for row, values in zip(results, found, strict=True):
            row[used] = values
        return (*results, self.mean(counted.astype(np.float64)))

    def _somebody(self, cells: Any) -> bool:
        """Return whether the reports show that there is anybody in these cells."""
        size = self.mean(cells)
        error = math.sqrt(max(self.covariance.variance(cells.astype(np.float64)), 0.0))
        return size > 0 and size > CAUTIOUS * error

    def _coefficients(self, counted: Any, X: Floats, level: float) -> Any:
        theta, width = self.theta * counted, len(X)
        flat = X.reshape(width, -1)
        y = self.y.reshape(-1, *[1] * (theta.ndim - 1))
        A = (flat * theta.sum(axis=0).ravel()) @ flat.T
        b = flat @ (theta * y).sum(axis=0).ravel()
        scale = np.sqrt(np.diag(A))
        if np.linalg.eigvalsh(A / np.outer(scale, scale))[0] < REGULAR:
            unknown = np.full(width, math.nan)
            return unknown, unknown, unknown - math.inf, unknown + math.inf, unknown
        beta = np.linalg.solve(A, b)
        residual = (y - np.tensordot(beta, X, 1)) * counted
        few = self.covariance.n / max(self.covariance.n - width, 1)
        spread = few * self.covariance.among(X[:, None] * residual)
        bread = np.linalg.inv(A)
        errors = np.sqrt(np.maximum(np.diag(bread @ spread @ bread), 0.0))
        low, high, p = np.full(width, -math.inf), np.full(width, math.inf), np.ones(width)
        for k in range(width):
            own, rest = self._left(A, b, X, k)
            products = np.stack([own * (y - rest) * counted, own**2 * counted * np.ones_like(y)])
            top, bottom = (self.mean(one) for one in products)
            covariance = few * self.covariance.among(products)
            limits = ratio.fieller(top, bottom, (covariance + covariance.T) / 2, level)
            low[k], high[k] = limits.low, limits.high
            error = math.sqrt(max(float(covariance[0, 0]), 0.0))
            p[k] = 2 * float(ndtr(-abs(top) / error)) if error > 0 else math.nan
        return beta, errors, low, high, p

    def _left(self, A: Floats, b: Floats, X: Floats, k: int) -> tuple[Floats, Floats]:
        """Return what the other columns leave of column k, and what they say of the outcome."""
        others = np.array([j for j in range(len(X)) if j != k], dtype=int)
        if not others.size:
            return X[k], np.zeros_like(X[k])
        inner = A[np.ix_(others, others)]
        own = X[k] - np.tensordot(np.linalg.solve(inner, A[others, k]), X[others], 1)
        return own, np.tensordot(np.linalg.solve(inner, b[others]), X[others], 1)


# --- arguments ----------------------------------------------------------------------------------


def _outcome(scores: Any, size: int) -> tuple[Floats, Any]:
    """Return the score of each position, the least one where there is none, and who has one."""
    given = np.array([math.nan if one is None else float(one) for one in scores])
    known = np.isfinite(given)
    if given.shape != (size,) or known.sum() < 2 or np.ptp(given[known]) == 0:
        raise ValueError(f"scores must be {size}, two or more of them different, got {scores!r}")
    return np.where(known, given, given[known].min()), known


def _dummies(columns: Any, shape: tuple[int, ...]) -> Floats:
    """Return a row for each coefficient: 1 and 0 by cell, nan where people do not count."""
    if len(columns) != len(shape) or not shape:
        raise ValueError(f"columns must be given for {len(shape)} predictors, got {columns!r}")
    rows = [np.ones(shape)]
    for axis, (places, size) in enumerate(zip(columns, shape, strict=True)):
        numbers = np.array([math.nan if one is None else float(one) for one in places])
        most = int(np.nanmax(numbers, initial=0))
        if numbers.shape != (size,) or set(numbers[~np.isnan(numbers)]) != set(range(most + 1)):
            raise ValueError(f"columns must number the {size} positions, got {places!r}")
        if not most:
            raise ValueError(f"columns must compare two groups or more, got {places!r}")
        around = [size if other == axis else 1 for other in range(len(shape))]
        for number in range(1, most + 1):
            dummy = np.where(np.isnan(numbers), math.nan, numbers == number)
            rows.append(np.broadcast_to(dummy.reshape(around), shape).copy())
    return np.array(rows)
