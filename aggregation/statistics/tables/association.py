"""How the answers to two questions are related, from the table of the reports.

References
    Agresti 2013, Categorical Data Analysis (measures of association, delta method, tests)
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from aggregation.statistics.numeric.arguments import Floats, array_of, integer, is_real
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.tables.blocks import (
    Covariance,
    Design,
    Step,
    cells,
    possible,
    steps_of,
    table_of_counts,
)


class Effect(NamedTuple):
    """An estimate with its standard error by the delta method."""

    value: float
    standard_error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return normal confidence limits."""
        half = quantile(level) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """How two yes/no answers are related. Measures that cannot be computed are None.

    theta, standard_errors  the four cells [first][second], no before yes.
    covariance              P(both) - P(first) P(second). Always there.
    risk_difference         P(second | first) - P(second | not first).
    phi                     the correlation of the two answers.
    log_odds_ratio          only if every cell exceeds ``cautious`` standard errors.
    """

    theta: Floats
    standard_errors: Floats
    covariance: Effect
    risk_difference: Effect | None
    phi: Effect | None
    log_odds_ratio: Effect | None


def association(
    table: Any, blocks: Design, options: tuple[int, int] = (1, 1), cautious: float = 2.0
) -> Association:
    """Measure the association of the two questions of a table with two axes.

    ``options`` says which option of each counts as yes; all others count as no. ``blocks``
    may be one block with both axes, one for each, or two channels.
    """
    theta, covariance = cells(_two_axes(table), blocks)
    _check_free(theta.shape, blocks)
    cautious = _number("cautious", cautious)
    if not isinstance(options, Sequence) or len(options) != 2:
        raise ValueError(f"options must be one option of each question, got {options!r}")
    yes = [_indicator(size, option) for size, option in zip(theta.shape, options, strict=True)]
    weights = [np.outer(r, s) for r in (1 - yes[0], yes[0]) for s in (1 - yes[1], yes[1])]
    t = np.array([float((w * theta).sum()) for w in weights])
    spread = covariance.among(weights)
    errors = np.sqrt(np.diag(spread))

    def effect(value: float, gradient: Floats) -> Effect:
        return Effect(float(value), math.sqrt(max(float(gradient @ spread @ gradient), 0.0)))

    t00, t01, t10, t11 = t
    margins = np.array([t10 + t11, t00 + t01, t01 + t11, t00 + t10])  # first, not, second, not
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
    if (t > 0).all() and (t > cautious * errors).all():
        signs = np.array([1, -1, -1, 1])
        log_odds = effect(signs @ np.log(t), signs / t)
    return Association(
        t.reshape(2, 2), errors.reshape(2, 2), effect(product, slope), difference, phi, log_odds
    )


@dataclass(frozen=True, slots=True, eq=False)
class Conditional:
    """Shares of the options of one question, given the answers to the others, unclipped.

    shares, standard_errors  in the shape of the table; nan where the condition is too rare, and in
                             cells that cannot occur.
    """

    shares: Floats
    standard_errors: Floats


def conditional(table: Any, blocks: Design, axis: int, cautious: float = 2.0) -> Conditional:
    """Estimate P(option of question ``axis`` | other answers) = theta / (sum of theta over it).

    Standard errors by the delta method: the gradient of p = theta_i / t is (e_i - p)/t, in which t
    adds up the cells of the condition. Where t does not exceed ``cautious`` of its own standard
    errors there is nothing to divide by: nan. If only one option can occur, it is certain.
    """
    theta, covariance = cells(table, blocks)
    allowed = possible(theta.shape, blocks)
    axis, cautious = integer("axis", axis), _number("cautious", cautious)
    if axis >= theta.ndim:
        raise ValueError(f"axis must be below {theta.ndim}, got {axis}")
    shares, errors = np.full(theta.shape, np.nan), np.full(theta.shape, np.nan)
    for others in np.ndindex(*theta.shape[:axis], *theta.shape[axis + 1 :]):
        place = (*others[:axis], slice(None), *others[axis:])
        condition = np.zeros_like(theta)
        condition[place] = 1
        total = float(theta[place].sum())
        error = math.sqrt(max(covariance.variance(condition), 0.0))
        if total <= 0 or total <= cautious * error:
            continue
        found = theta[place] / total
        gradients = [-share * condition / total for share in found]
        for option, gradient in enumerate(gradients):
            gradient[(*others[:axis], option, *others[axis:])] += 1 / total
        spread = np.sqrt(np.maximum(np.diag(covariance.among(gradients)), 0.0))
        shares[place] = np.where(allowed[place], found, np.nan)
        errors[place] = np.where(allowed[place], spread, np.nan)
    return Conditional(shares, errors)


class ChiSquare(NamedTuple):
    """A statistic that has a chi-square distribution if the answers are independent."""

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Independence:
    """Tests of "the two answers are independent".

    g2, x2, fisher  on the reports as they are; None within a block, where a shared coin makes
                    reports dependent even if the answers are not. ``fisher`` is a p-value, exact,
                    for tables of 2 by 2.
    cells           on the unbiased cells with their covariance; valid within a block and across.
    """

    g2: ChiSquare | None
    x2: ChiSquare | None
    fisher: float | None
    cells: ChiSquare

    @property
    def p_value(self) -> float:
        """That of ``g2`` where the reports may be tested, else that of ``cells``."""
        return self.cells.p_value if self.g2 is None else self.g2.p_value


def independence(table: Any, blocks: Design) -> Independence:
    """Test whether the two questions of a table with two axes are independent.

    Randomized separately, the reports are independent if and only if the answers are, since both
    channels can be inverted: the ordinary tests on reports have their ordinary size.
    """
    reports, n = table_of_counts(_two_axes(table))
    steps = steps_of(reports.shape, blocks)
    theta, _ = cells(table, blocks)
    _check_free(theta.shape, blocks)
    on_cells = _on_cells(theta, n, steps)
    if len(steps) == 1 and steps[0].keep < 1:
        return Independence(None, None, None, on_cells)
    seen = reports[reports.sum(axis=1) > 0][:, reports.sum(axis=0) > 0]
    degrees = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    ratio = np.where(seen > 0, seen, expected) / expected
    g2 = max(2 * float((seen * np.log(ratio)).sum()), 0.0)
    x2 = float(((seen - expected) ** 2 / expected).sum())
    fisher = None
    if reports.shape == (2, 2):
        from scipy.stats import fisher_exact  # slow to load

        fisher = float(fisher_exact(reports.astype(np.int64)).pvalue)
    return Independence(_chi_square(g2, degrees), _chi_square(x2, degrees), fisher, on_cells)


def _on_cells(theta: Floats, n: int, steps: tuple[Step, ...]) -> ChiSquare:
    """Test with h' Cov(h)^-1 h, h = theta_ij - theta_i. theta_.j but for the last row and column.

    The covariance is that of independent answers with the margins found, as in a score test. That
    of the table itself is too small where cells are nearly empty: with 100 reports, epsilon 4 and
    shares of 0.05 the test at 5 % would reject independent answers in 14 % of the surveys.
    """
    rows, columns = theta.sum(axis=1), theta.sum(axis=0)
    h = (theta - np.outer(rows, columns))[:-1, :-1].ravel()
    if h.size == 0:
        return _chi_square(0.0, 0)
    weights = []
    for i in range(rows.size - 1):
        for j in range(columns.size - 1):
            weight = np.zeros_like(theta)
            weight[i] -= columns[j]
            weight[:, j] -= rows[i]
            weight[i, j] += 1
            weights.append(weight)
    expected = np.outer(_distribution(rows), _distribution(columns))
    for step in steps:
        expected = step.forward(expected)
    spread = Covariance(expected, n, steps).among(weights)
    # Options that nobody can have reported leave directions without variance: not tested.
    rank = np.linalg.matrix_rank(spread, hermitian=True)
    return _chi_square(float(h @ np.linalg.pinv(spread, hermitian=True) @ h), int(rank))


def _distribution(shares: Floats) -> Floats:
    """Make unbiased shares a distribution, to stand for unknown margins in a variance only."""
    positive: Floats = np.maximum(shares, 0.0)
    return positive / float(positive.sum())


def _chi_square(statistic: float, degrees: int) -> ChiSquare:
    p = float(chdtrc(degrees, statistic)) if degrees > 0 else 1.0
    return ChiSquare(statistic, degrees, p)


# --- arguments ----------------------------------------------------------------------------------


def _two_axes(table: Any) -> Any:
    axes = array_of("table", table).ndim
    if axes != 2:
        raise ValueError(f"table must have two axes, got {axes}")
    return table


def _check_free(shape: tuple[int, ...], blocks: Design) -> None:
    """Refuse two questions of which one decides whether the other is asked."""
    if not possible(shape, blocks).all():
        raise ValueError("blocks must not let an answer to one question rule out one to the other")


def _indicator(size: int, option: object) -> Floats:
    option = integer("options", option)
    if option >= size:
        raise ValueError(f"options must be below {size}, got {option}")
    indicator = np.zeros(size)
    indicator[option] = 1
    return indicator


def _number(name: str, value: Any) -> float:
    if not is_real(value) or not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    return float(value)
