"""Logistic regression when the outcome, or a predictor, is known from randomized reports only.

With s = expit(x'beta) the chance that an answer is yes, a report says yes with probability

    lambda = b + (a - b) s,

and everything is maximum likelihood for the reports (Scheers & Dayton 1988). Noise flattens the
likelihood and makes it non-concave, so that a maximum may lie at infinity even though nothing is
perfectly predicted: a stratum whose reports say yes less often than b is enough. Such a fit is
returned with ``separated`` set and without standard errors; nothing is hidden by a penalty.

References
    Scheers & Dayton 1988, J. Am. Stat. Assoc. 83:969 (covariates under randomized response)
    Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304 (outcome and predictor)
    Albert & Anderson 1984, Biometrika 71:1 (separation)
    Louis 1982, J. R. Stat. Soc. B 44:226 (information when something is missing)
    Lange 1995, J. R. Stat. Soc. B 57:425 (the EM algorithm with one Newton step as M-step)
    Venzon & Moolgavkar 1988, Appl. Stat. 37:87 (profile limits)
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag, cho_factor, cho_solve, eigh
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit, log_expit, ndtri, xlogy

from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    check_channel,
    integer,
    strictly_between,
)

Floats = NDArray[np.float64]

NO_NOISE = Channel(1, 0)
MOST_STEPS = 200
# Half the decrement of a step is about what it adds to the log-likelihood. At this value the
# coefficients are within a billionth of a standard error of the maximum.
SMALL = 1e-18
# Information about some combination of coefficients, as a part of what the same reports would hold
# were every answer a toss-up: less than this, and the likelihood is flat out there.
FLAT = 1e-7
# expit(700) is the last that a float tells from 1 on the other side.
FAR = 700.0


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Reports by row: ``positives`` of ``totals`` say yes; rows without reports are left out.

    X = basis @ back, where the columns of the basis are orthogonal and of mean square 1, so that
    the search is well conditioned whatever the units of the columns of X.
    """

    basis: Floats
    back: Floats
    positives: Floats
    totals: Floats
    a: Floats
    b: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Maximum likelihood coefficients, one a column of X.

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


@dataclass(frozen=True, slots=True, eq=False)
class PredictorFit:
    """Coefficients of an outcome model in which one predictor was reported through a channel.

    coefficients        one a column of X, and last that of the hidden predictor.
    share_coefficients  of the logistic model for the hidden predictor itself, one a column of X.
    covariance          of both together, in this order, from the observed information.
    """

    coefficients: Floats
    standard_errors: Floats
    share_coefficients: Floats
    share_standard_errors: Floats
    covariance: Floats
    log_likelihood: float
    iterations: int
    converged: bool
    separated: bool


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
    """Regress a randomized yes/no outcome on the columns of X; put in a column of ones yourself.

    ``y`` holds the reports, 0 or 1. ``channel`` is one, or one a row. ``weights`` are frequencies:
    a row of weight 7 is seven reports.
    """
    X = _matrix(X)
    y = _vector("y", y, len(X))
    _refuse("y", y, (y != 0) & (y != 1), "0 or 1")
    totals = _frequencies("weights", weights, len(X))
    return _fit(_data(X, y * totals, totals, channel))


def tallies(
    X: ArrayLike, counts: ArrayLike, sizes: ArrayLike, channel: Channel | Sequence[Channel]
) -> Fit:
    """The same from tallies: in the stratum of each row ``counts`` of ``sizes`` reports say yes.

    The likelihood depends on the tallies alone, so this equals a regression on all the rows.
    """
    X = _matrix(X)
    totals = _frequencies("sizes", sizes, len(X))
    positives = _frequencies("counts", counts, len(X))
    _refuse("counts", positives, positives > totals, "at most the size of the row")
    return _fit(_data(X, positives, totals, channel))


def wald(fit: Fit, level: float = 0.95, observed: bool = False) -> Floats:
    """Limits for every coefficient, a row each: estimate -/+ z standard errors."""
    _check_fit(fit)
    z = -ndtri((1 - strictly_between("level", level)) / 2)
    error = fit.observed_standard_errors if observed else fit.standard_errors
    return np.column_stack([fit.coefficients - z * error, fit.coefficients + z * error])


def profile(fit: Fit, column: int, level: float = 0.95) -> tuple[float, float]:
    """Limits for one coefficient by inverting its likelihood-ratio test.

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
    dropped = {integer("columns", column) for column in columns}
    if not dropped or max(dropped) >= len(fit.coefficients):
        limit = len(fit.coefficients) - 1
        raise ValueError(f"columns must name columns from 0 to {limit}, got {columns!r}")
    kept = [j for j in range(len(fit.coefficients)) if j not in dropped]
    smaller = _maximum(fit.data, kept, np.zeros(len(fit.data.totals)))[0]
    statistic = max(0.0, 2 * (fit.log_likelihood - smaller))
    return Test(statistic, len(dropped), float(chdtrc(len(dropped), statistic)))


def shares(fit: Fit, X: ArrayLike) -> Floats:
    """The fitted share of yes answers at each row of X: answers, not reports."""
    _check_fit(fit)
    X = _finite("X", X, 2)
    if X.shape[1] != len(fit.coefficients):
        raise ValueError(f"X must have {len(fit.coefficients)} columns, got {X.shape[1]}")
    return np.asarray(expit(X @ fit.coefficients))


def predictor(
    X: ArrayLike,
    reports: ArrayLike,
    y: ArrayLike,
    channel: Channel,
    outcome: Channel = NO_NOISE,
    weights: ArrayLike | None = None,
) -> PredictorFit:
    """Regress y on X and on a hidden yes/no answer z of which only randomized ``reports`` exist.

    P(y = 1) = expit(x'beta + gamma z), P(z = 1) = expit(x'delta), and a report depends on z alone,
    through ``channel`` (Blair, Imai & Zhou 2015). ``outcome`` is the channel of y, if y was
    randomized too, independently: not in the same block.
    """
    X = _matrix(X)
    y, reports = _vector("y", y, len(X)), _vector("reports", reports, len(X))
    _refuse("y", y, (y != 0) & (y != 1), "0 or 1")
    _refuse("reports", reports, (reports != 0) & (reports != 1), "0 or 1")
    check_channel(channel)
    totals = _frequencies("weights", weights, len(X))
    data = _data(X, y * totals, totals, outcome)
    return _fit_predictor(data, reports[totals > 0], channel)


# --- the likelihood -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Each row's log-likelihood as a function of its linear predictor: value, slope, curvatures."""

    value: Floats
    slope: Floats
    expected: Floats
    observed: Floats


def _rows(data: Data, eta: Floats) -> Rows:
    """With D = dlambda/deta = c s(1-s), v = lambda(1-lambda), u = D/v and r = positives - n lambda:

    slope r u, expected curvature n D u, observed n D u + r (u^2 (1-2 lambda) - u (1-2s)).
    """
    eta = np.clip(eta, -FAR, FAR)
    s, other = expit(eta), expit(-eta)
    c = data.a - data.b
    # Both probabilities as sums of positive terms: neither loses digits near 0.
    yes, no = data.b + c * s, (1 - data.a) + c * other
    D = c * s * other
    u = s * (c / yes) * (other / no)
    r = data.positives * no - (data.totals - data.positives) * yes
    expected = data.totals * D * u
    return Rows(
        value=xlogy(data.positives, yes) + xlogy(data.totals - data.positives, no),
        slope=r * u,
        expected=expected,
        observed=expected + r * u * (u * (no - yes) - (other - s)),
    )


# --- the search ---------------------------------------------------------------------------------

Ascent = tuple[float, Floats, tuple[Floats, Floats]]  # value, slope, two matrices for a step


def _climb(
    look: Callable[[Floats], Ascent], start: Floats, near: float
) -> tuple[Floats, int, bool]:
    """Ascent with step halving: (place, steps, whether the slope vanished).

    Steps are solved with the second, safe matrix until its decrement is below ``near``, then with
    the first, the observed information, where that is positive definite: Newton's method.
    """
    place, (value, slope, matrices) = start, look(start)
    last = math.inf
    for step in range(1, MOST_STEPS + 1):
        direction = _solve(matrices[1], slope)
        if direction is None or slope @ direction < near:
            newton = _solve(matrices[0], slope)
            direction = direction if newton is None else newton
        if direction is None:
            return place, step, False
        decrement, noise = float(slope @ direction), 1e-14 * (1 + abs(value))
        if decrement <= noise and decrement >= last:
            return place, step, True  # as near as the rounding errors of the slope allow
        last = decrement
        # No linear predictor changes by much more than 5 in one step: noise makes far places flat,
        # and a step that looked good where it is steep would end up in them.
        size = min(1.0, 5 / max(float(np.abs(direction).max()), 1e-300))
        # A tenth of what the slope promises, or half the step: scoring alone may jump to and fro
        # between two places that are equally good.
        while (there := look(place + size * direction))[0] < value + size * decrement / 10 - noise:
            size /= 2
            if size < 1e-10:
                return place, step, False  # the slope leads nowhere: the maximum is at infinity
        place, (value, slope, matrices) = place + size * direction, there
        if decrement <= SMALL:
            return place, step, True
    return place, MOST_STEPS, False


def _solve(matrix: Floats, slope: Floats) -> Floats | None:
    """The step, unless the matrix is not safely positive definite."""
    try:
        step = np.asarray(cho_solve(cho_factor(matrix), slope))
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def _squares(X: Floats, w: Floats) -> Floats:
    return np.asarray(X.T @ (w[:, None] * X))


def _maximum(
    data: Data, columns: list[int], offset: Floats, start: Floats | None = None
) -> tuple[float, Floats, int, bool]:
    """The best coefficients of these columns when ``offset`` is added to the linear predictor."""
    if not columns:
        return float(_rows(data, offset).value.sum()), np.zeros(0), 0, True
    q, back = np.linalg.qr(data.back[:, columns])
    basis = data.basis @ q

    def look(place: Floats) -> Ascent:
        rows = _rows(data, offset + basis @ place)
        both = _squares(basis, rows.observed), _squares(basis, rows.expected)
        return float(rows.value.sum()), basis.T @ rows.slope, both

    begin = np.zeros(len(columns)) if start is None else back @ start
    place, steps, still = _climb(look, begin, near=0.1)
    value = float(_rows(data, offset + basis @ place).value.sum())
    return value, np.linalg.solve(back, place), steps, still


def _fit(data: Data) -> Fit:
    columns = list(range(len(data.back)))
    value, beta, steps, still = _maximum(data, columns, np.zeros(len(data.totals)))
    basis, back = data.basis, data.back
    rows = _rows(data, basis @ (back @ beta))
    tossed = _rows(data, np.zeros(len(data.totals))).expected
    expected, observed, most = (
        _squares(basis, curve) for curve in (rows.expected, rows.observed, tossed)
    )
    separated = _flat(expected, most)
    covariances = []
    for information in (expected, observed):
        inverse = None if separated else _inverse(information)
        covariances.append(_carried(inverse, back))
    definite = bool(np.isfinite(covariances[1]).all())
    return Fit(
        coefficients=_frozen(beta),
        standard_errors=_errors(covariances[0]),
        covariance=covariances[0],
        observed_standard_errors=_errors(covariances[1]),
        observed_covariance=covariances[1],
        log_likelihood=value,
        iterations=steps,
        converged=still and definite and not separated,
        separated=separated,
        data=data,
    )


def _flat(information: Floats, most: Floats) -> bool:
    """Whether some combination of coefficients is left with next to none of the information."""
    return bool(eigh(information, most, eigvals_only=True)[0] < FLAT)


def _inverse(matrix: Floats) -> Floats | None:
    try:
        inverse = cho_solve(cho_factor(matrix), np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(inverse) if np.isfinite(inverse).all() else None


def _carried(covariance: Floats | None, back: Floats) -> Floats:
    """The covariance of coefficients from that of coordinates; nan where there is none."""
    if covariance is None:
        return _frozen(np.full(back.shape, np.nan))
    half = np.linalg.solve(back, np.linalg.cholesky(covariance))
    return _frozen(half @ half.T)


def _errors(covariance: Floats) -> Floats:
    return _frozen(np.sqrt(np.diag(covariance)))


def _frozen(values: Any) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _profile_limit(fit: Fit, column: int, drop: float, sign: int) -> float:
    """Where the log-likelihood, the other coefficients at their best, is ``drop`` below the top."""
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
    while excess(far) < 0:
        near, far = far, 2 * far
        if far * moved > 4 * FAR:
            return sign * math.inf
    return at + sign * float(brentq(excess, near, far, xtol=1e-12 * far, rtol=1e-13))


# --- a hidden predictor -------------------------------------------------------------------------


def _fit_predictor(data: Data, reports: Floats, channel: Channel) -> PredictorFit:
    basis, back = data.basis, data.back
    width = basis.shape[1]
    zero, one = (np.column_stack([basis, np.full(len(basis), z)]) for z in (0.0, 1.0))
    with np.errstate(divide="ignore"):  # a report may be impossible: ln 0
        if_yes = np.log(np.where(reports == 1, channel.a, 1 - channel.a))
        if_no = np.log(np.where(reports == 1, channel.b, 1 - channel.b))
    # One report a row; how many there are of the kind enters as a weight at the end.
    w = data.totals
    each = replace(data, positives=data.positives / w, totals=np.ones(len(w)))

    def look(place: Floats) -> Ascent:
        """The marginal likelihood, its slope, and two matrices: Louis's and the complete data's."""
        outcome, share = place[: width + 1], place[width + 1 :]
        rows0, rows1 = _rows(each, zero @ outcome), _rows(each, one @ outcome)
        eta = np.clip(basis @ share, -FAR, FAR)
        yes = if_yes + log_expit(eta) + rows1.value
        no = if_no + log_expit(-eta) + rows0.value
        value = np.logaddexp(yes, no)
        p, q = expit(eta), np.exp(yes - value)
        # Fisher's identity: the slope is the expected slope of the complete data.
        without = np.column_stack([rows0.slope[:, None] * zero, -p[:, None] * basis])
        gap = np.column_stack([rows1.slope[:, None] * one, (1 - p)[:, None] * basis]) - without
        # Louis 1982: missing is the variance of the complete data's slope, given the reports.
        missing = _squares(gap, w * q * (1 - q))
        complete = [
            block_diag(
                _squares(zero, w * (1 - q) * curve0) + _squares(one, w * q * curve1),
                _squares(basis, w * p * expit(-eta)),
            )
            for curve0, curve1 in (
                (rows0.observed, rows1.observed),
                (rows0.expected, rows1.expected),
            )
        ]
        slope = w @ (without + q[:, None] * gap)
        return float(w @ value), slope, (complete[0] - missing, complete[1])

    found = [_climb(look, start, near=math.inf) for start in _starts(width)]
    place, steps, still = max(found, key=lambda one: (look(one[0])[0], one[2]))
    value, _, (information, complete) = look(place)
    separated = _flat(complete, look(np.zeros(2 * width + 1))[2][1])
    covariance = _carried(
        None if separated else _inverse(information), block_diag(back, np.eye(1), back)
    )
    errors = _errors(covariance)
    return PredictorFit(
        coefficients=_frozen(np.linalg.solve(block_diag(back, np.eye(1)), place[: width + 1])),
        standard_errors=errors[: width + 1],
        share_coefficients=_frozen(np.linalg.solve(back, place[width + 1 :])),
        share_standard_errors=errors[width + 1 :],
        covariance=covariance,
        log_likelihood=value,
        iterations=steps,
        converged=still and not separated and bool(np.isfinite(errors).all()),
        separated=separated,
    )


def _starts(width: int) -> list[Floats]:
    """The hidden predictor matters in one direction or in the other: the likelihood has humps."""
    starts = np.zeros((2, 2 * width + 1))
    starts[:, width] = 1, -1
    return list(starts)


# --- arguments ----------------------------------------------------------------------------------


def _data(
    X: Floats, positives: Floats, totals: Floats, channel: Channel | Sequence[Channel]
) -> Data:
    """Everything by row, without the rows that have no reports."""
    if isinstance(channel, Channel) or not isinstance(channel, Sequence | np.ndarray):
        check_channel(channel)
        a, b = np.full(len(X), channel.a), np.full(len(X), channel.b)
    else:
        if len(channel) != len(X):
            raise ValueError(f"channel must be one or one a row ({len(X)}), got {len(channel)}")
        for one in channel:
            check_channel(one)
        a, b = np.array([(one.a, one.b) for one in channel]).T
    if (a - b).min() < 1e-100:  # its square must not vanish
        raise ValueError(f"channel must have a contrast of 1e-100 or more, got {(a - b).min()!r}")
    kept = totals > 0
    basis, back = _basis(X[kept])
    return Data(*map(_frozen, (basis, back, positives[kept], totals[kept], a[kept], b[kept])))


def _basis(X: Floats) -> tuple[Floats, Floats]:
    """X as an orthogonal basis times a triangle; refused unless the columns are independent."""
    rows, columns = X.shape
    scale = np.abs(X).max(axis=0, initial=0)
    q, r = np.linalg.qr(X / np.where(scale > 0, scale, 1))
    rank = int(np.linalg.matrix_rank(r))
    if rank < columns:
        raise ValueError(
            f"X must have linearly independent columns where there are reports, "
            f"got {columns} columns of rank {rank}"
        )
    root = math.sqrt(rows)
    return q * root, r * scale / root


def _finite(name: str, value: Any, dimensions: int) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.ndim != dimensions:
        shape = "matrix" if dimensions == 2 else "list"
        raise ValueError(f"{name} must be a {shape} of numbers, got {value!r}")
    result = array.astype(np.float64)
    _refuse(name, result, ~np.isfinite(result), "finite")
    return result


def _matrix(X: Any) -> Floats:
    result = _finite("X", X, 2)
    if not result.size:
        raise ValueError(f"X must have rows and columns, got {result.shape}")
    return result


def _vector(name: str, value: Any, length: int) -> Floats:
    result = _finite(name, value, 1)
    if len(result) != length:
        raise ValueError(f"{name} must have {length} values, one a row of X, got {len(result)}")
    return result


def _frequencies(name: str, value: Any, length: int) -> Floats:
    """Whole numbers: a sampling weight is no frequency, and would falsify the standard errors."""
    if value is None:
        return np.ones(length)
    result = _vector(name, value, length)
    bad = (result < 0) | (result != np.floor(result)) | (result > LARGEST)
    _refuse(name, result, bad, f"whole numbers from 0 to {LARGEST}")
    return result


def _refuse(name: str, values: Floats, bad: NDArray[np.bool_], wanted: str) -> None:
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where[0] if len(where) == 1 else where
        raise ValueError(f"{name} must be {wanted}, got {values[where]!r} at {place}")


def _check_fit(fit: object) -> None:
    if not isinstance(fit, Fit):
        raise ValueError(f"fit must be a Fit, got {fit!r}")
    if not fit.converged:
        why = "separated: it has no maximum" if fit.separated else "not converged"
        raise ValueError(f"fit must have converged, got one that is {why}")
