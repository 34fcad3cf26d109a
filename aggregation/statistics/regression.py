"""Logistic regression of an outcome that is known only from randomized reports.

With s = expit(x'beta) the chance that an answer is yes, a report says yes with probability

    lambda = b + (a - b) s,

and everything is maximum likelihood for the reports (Scheers & Dayton 1988). Noise flattens the
likelihood and makes it non-concave, so that a maximum may lie at infinity even though nothing is
perfectly predicted: a row of X whose reports say yes less often than b is enough. Such a fit is
returned with ``separated`` set and without standard errors; nothing is hidden by a penalty. Here X
is known of everybody. Predictors that were randomized too, such as the groups of a background
question, are in ``predictor``.

References
    Scheers & Dayton 1988, J. Am. Stat. Assoc. 83:969 (covariates under randomized response)
    Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304 (outcome and predictor)
    Albert & Anderson 1984, Biometrika 71:1 (separation)
    Venzon & Moolgavkar 1988, Appl. Stat. 37:87 (profile limits)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, chdtri, expit

from aggregation.statistics.channel import Channel, channels_of
from aggregation.statistics.numeric.arguments import (
    Floats,
    finite,
    frequencies,
    integer,
    items,
    matrix_of,
    refuse,
    strictly_between,
    vector_of,
)
from aggregation.statistics.numeric.normal import quantile
from aggregation.statistics.numeric.roots import root
from aggregation.statistics.numeric.scoring import (
    FAR,
    Ascent,
    Data,
    carried,
    climb,
    data_of,
    errors_of,
    frozen,
    inverse_of,
    is_flat,
    rows_of,
    squares,
)
from aggregation.statistics.tables.predictor import MOST_CELLS, PredictorFit, predictors

__all__ = [
    "MOST_CELLS",
    "Fit",
    "PredictorFit",
    "Test",
    "likelihood_ratio",
    "logistic",
    "predictors",
    "profile",
    "shares",
    "tallies",
    "wald",
]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Maximum likelihood coefficients, one for each column of X.

    standard_errors, covariance   from the expected (Fisher) information.
    observed_standard_errors, observed_covariance   from the curvature of the likelihood itself.
    log_likelihood   of the reports, without binomial coefficients.
    iterations       scoring steps taken.
    converged        a maximum was reached: no slope, and curved downward in every direction.
    separated        the likelihood still rises towards infinite coefficients, or is flat there:
                     no maximum exists, ``coefficients`` is only where the search gave up, and all
                     standard errors are nan.
    """

    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    observed_standard_errors: Floats
    observed_covariance: Floats
    log_likelihood: float
    iterations: int
    converged: bool
    separated: bool
    data: Data = field(repr=False)


@dataclass(frozen=True, slots=True)
class Test:
    """A likelihood-ratio test: twice the loss of log-likelihood, and its chi-square p-value."""

    statistic: float
    degrees: int
    p_value: float


def logistic(
    X: ArrayLike,
    y: ArrayLike,
    channel: Channel | Sequence[Channel],
    weights: ArrayLike | None = None,
) -> Fit:
    """Regress a randomized yes/no outcome on the columns of X; add a column of ones yourself.

    ``y`` holds the reports, 0 or 1. ``channel`` is one, or one for each row. ``weights`` are
    frequencies: a row of weight 7 is seven reports.
    """
    X = matrix_of(X)
    y = vector_of("y", y, len(X))
    refuse("y", y, (y != 0) & (y != 1), "0 or 1")
    totals = np.ones(len(X)) if weights is None else frequencies("weights", weights, len(X))
    return _fit(data_of(X, y * totals, totals, *_by_row(channel, len(X))))


def tallies(
    X: ArrayLike, counts: ArrayLike, sizes: ArrayLike, channel: Channel | Sequence[Channel]
) -> Fit:
    """Fit the same to tallies: ``counts`` of the ``sizes`` reports with this row of X say yes.

    The likelihood depends on the tallies alone, so this equals a regression on all the rows.
    """
    X = matrix_of(X)
    totals = frequencies("sizes", sizes, len(X))
    positives = frequencies("counts", counts, len(X))
    refuse("counts", positives, positives > totals, "at most the size of the row")
    return _fit(data_of(X, positives, totals, *_by_row(channel, len(X))))


def wald(fit: Fit, level: float = 0.95, observed: bool = False) -> Floats:
    """Return limits for every coefficient, one row for each: estimate -/+ z standard errors."""
    _check_fit(fit)
    if not isinstance(observed, bool):
        raise ValueError(f"observed must be True or False, got {observed!r}")
    z = quantile(level)
    error = fit.observed_standard_errors if observed else fit.standard_errors
    return np.column_stack([fit.coefficients - z * error, fit.coefficients + z * error])


def profile(fit: Fit, column: int, level: float = 0.95) -> tuple[float, float]:
    """Return limits for one coefficient by inverting its likelihood-ratio test.

    With noise the reports may be unable to exclude even an infinite coefficient: that limit is
    infinite. If the likelihood has several humps, the interval is the one around the estimate.
    """
    _check_fit(fit)
    columns = len(fit.coefficients)
    if integer("column", column) >= columns:
        raise ValueError(f"column must be below {columns}, got {column}")
    drop = float(chdtri(1, 1 - strictly_between("level", level))) / 2
    return _profile_limit(fit, column, drop, -1), _profile_limit(fit, column, drop, 1)


def likelihood_ratio(fit: Fit, columns: Sequence[int]) -> Test:
    """Test that the coefficients of these columns are all 0, by fitting without them."""
    _check_fit(fit)
    dropped = {integer("columns", column) for column in items("columns", columns)}
    if not dropped or max(dropped) >= len(fit.coefficients):
        limit = len(fit.coefficients) - 1
        raise ValueError(f"columns must name columns from 0 to {limit}, got {columns!r}")
    kept = [j for j in range(len(fit.coefficients)) if j not in dropped]
    smaller = _maximum(fit.data, kept, np.zeros(len(fit.data.totals)))[0]
    statistic = max(0.0, 2 * (fit.log_likelihood - smaller))
    return Test(statistic, len(dropped), float(chdtrc(len(dropped), statistic)))


def shares(fit: Fit, X: ArrayLike) -> Floats:
    """Return the fitted share of yes answers at each row of X: answers, not reports."""
    _check_fit(fit)
    X = finite("X", X, 2)
    if X.shape[1] != len(fit.coefficients):
        raise ValueError(f"X must have {len(fit.coefficients)} columns, got {X.shape[1]}")
    return np.asarray(expit(X @ fit.coefficients))


# --- the search ---------------------------------------------------------------------------------


def _maximum(
    data: Data, columns: list[int], offset: Floats, start: Floats | None = None
) -> tuple[float, Floats, int, bool]:
    """Return the best coefficients of these columns with ``offset`` in the linear predictor."""
    if not columns:
        return float(rows_of(data, offset).value.sum()), np.zeros(0), 0, True
    q, back = np.linalg.qr(data.back[:, columns])
    basis = data.basis @ q

    def look(place: Floats) -> Ascent:
        rows = rows_of(data, offset + basis @ place)
        both = squares(basis, rows.observed), squares(basis, rows.expected)
        return float(rows.value.sum()), basis.T @ rows.slope, both

    begin = np.zeros(len(columns)) if start is None else back @ start
    place, steps, still = climb(look, begin, near=0.1)
    value = float(rows_of(data, offset + basis @ place).value.sum())
    return value, np.linalg.solve(back, place), steps, still


def _fit(data: Data) -> Fit:
    columns = list(range(len(data.back)))
    value, beta, steps, still = _maximum(data, columns, np.zeros(len(data.totals)))
    basis, back = data.basis, data.back
    rows = rows_of(data, basis @ (back @ beta))
    tossed = rows_of(data, np.zeros(len(data.totals))).expected
    expected, observed, most = (
        squares(basis, curve) for curve in (rows.expected, rows.observed, tossed)
    )
    separated = is_flat(expected, most)
    covariances = []
    for information in (expected, observed):
        inverse = None if separated else inverse_of(information)
        covariances.append(carried(inverse, back))
    definite = bool(np.isfinite(covariances[1]).all())
    return Fit(
        coefficients=frozen(beta),
        standard_errors=errors_of(covariances[0]),
        covariance=covariances[0],
        observed_standard_errors=errors_of(covariances[1]),
        observed_covariance=covariances[1],
        log_likelihood=value,
        iterations=steps,
        converged=still and definite and not separated,
        separated=separated,
        data=data,
    )


def _profile_limit(fit: Fit, column: int, drop: float, sign: int) -> float:
    """Find where the log-likelihood, all else at its best, is ``drop`` below the top."""
    kept = [j for j in range(len(fit.coefficients)) if j != column]
    data, here = fit.data, fit.coefficients[kept]
    x, at = data.basis @ data.back[:, column], float(fit.coefficients[column])
    # How the others follow when this coefficient moves, near the maximum: a start anywhere.
    follow = fit.covariance[kept, column] / fit.covariance[column, column]
    moved = float(np.abs(x + data.basis @ (data.back[:, kept] @ follow)).max())

    @cache
    def excess(distance: float) -> float:
        offset = (at + sign * distance) * x
        starts = [here + sign * distance * follow, here]
        best = max(_maximum(data, kept, offset, start)[0] for start in starts)
        return fit.log_likelihood - best - drop

    near, far = 0.0, math.sqrt(2 * drop) * float(fit.standard_errors[column])
    if drop < 1e-9 * (1 + abs(fit.log_likelihood)):
        return at + sign * far  # less than rounding errors allow to see; the curve is a parabola
    while excess(far) < 0:
        near, far = far, 2 * far
        if far * moved > 4 * FAR:
            return sign * math.inf
    return at + sign * root(excess, near, far, xtol=1e-12 * far, rtol=1e-13)


def _by_row(channel: Channel | Sequence[Channel], rows: int) -> tuple[Floats, Floats]:
    """Return a and b of the channel of every row."""
    channels = channels_of(channel, rows, "row")
    a, b = (np.array([getattr(one, x) for one in channels]) for x in "ab")
    return np.broadcast_to(a, rows), np.broadcast_to(b, rows)


def _check_fit(fit: object) -> None:
    if not isinstance(fit, Fit):
        raise ValueError(f"fit must be a Fit, got {fit!r}")
    if not fit.converged:
        why = "separated: it has no maximum" if fit.separated else "not converged"
        raise ValueError(f"fit must have converged, got one that is {why}")
