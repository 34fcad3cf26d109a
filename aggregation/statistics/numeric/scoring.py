"""The log-likelihood of randomized yes/no reports under a logistic model, and its maximum.

What ``regression`` and ``predictor`` share: the rows of the data, each row's part of the
likelihood, a search for its maximum, and covariances from the information found there.

References
    Lange 1995, J. R. Stat. Soc. B 57:425 (the EM algorithm with one Newton step as M-step)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.special import expit, xlogy

from aggregation.statistics.numeric.arguments import Floats

MOST_STEPS = 200
# Half the decrement of a step is about what it adds to the log-likelihood. At this value the
# coefficients are within a billionth of a standard error of the maximum.
SMALL = 1e-18
# The least information about a combination of coefficients, as a part of what the reports would
# contain if all answers were equally likely. Below this, the likelihood counts as flat.
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


# --- the likelihood -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Each row's log-likelihood as a function of its linear predictor: value, slope, curvatures."""

    value: Floats
    slope: Floats
    expected: Floats
    observed: Floats


def rows_of(data: Data, eta: Floats) -> Rows:
    """Return each row's part of the log-likelihood, and its derivatives.

    With D = dlambda/deta = c s(1-s), v = lambda(1-lambda), u = D/v and r = positives - n lambda:

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


def climb(look: Callable[[Floats], Ascent], start: Floats, near: float) -> tuple[Floats, int, bool]:
    """Climb with step halving; return the place, the steps, and whether the slope vanished.

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
            return place, step, True  # as near as rounding errors allow
        last = decrement
        # No linear predictor changes by much more than 5 in one step: noise makes far places flat,
        # and a step that looked good where it is steep would end up in them.
        size = min(1.0, 5 / max(float(np.abs(direction).max()), 1e-300))
        # A tenth of what the slope promises, or half the step: scoring alone may jump to and fro
        # between two places that are equally good.
        while (there := look(place + size * direction))[0] < value + size * decrement / 10 - noise:
            size /= 2
            if size < 1e-10:
                return place, step, False  # no step helps, so the maximum is at infinity
        place, (value, slope, matrices) = place + size * direction, there
        if decrement <= SMALL:
            return place, step, True
    return place, MOST_STEPS, False


def _solve(matrix: Floats, slope: Floats) -> Floats | None:
    """Return the step, or None unless the matrix is safely positive definite."""
    try:
        step = np.asarray(cho_solve(cho_factor(matrix), slope))
    except np.linalg.LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def squares(X: Floats, w: Floats) -> Floats:
    """Return X' diag(w) X."""
    return np.asarray(X.T @ (w[:, None] * X))


def is_flat(information: Floats, most: Floats) -> bool:
    """Return whether hardly any information is left about some combination of coefficients."""
    return bool(eigh(information, most, eigvals_only=True)[0] < FLAT)


def inverse_of(matrix: Floats) -> Floats | None:
    """Return the inverse, or None unless the matrix is safely positive definite."""
    try:
        inverse = cho_solve(cho_factor(matrix), np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return None
    return np.asarray(inverse) if np.isfinite(inverse).all() else None


def carried(covariance: Floats | None, back: Floats) -> Floats:
    """Return the covariance of coefficients from that of coordinates, or nan without one."""
    if covariance is None:
        return frozen(np.full(back.shape, np.nan))
    half = np.linalg.solve(back, np.linalg.cholesky(covariance))
    return frozen(half @ half.T)


def errors_of(covariance: Floats) -> Floats:
    """Return the standard errors: roots of the diagonal."""
    return frozen(np.sqrt(np.diag(covariance)))


def frozen(values: Any) -> Floats:
    """Return an array of floats that nobody can change, for a result."""
    array = np.asarray(values, dtype=np.float64)
    array.setflags(write=False)
    return array


# --- arguments ----------------------------------------------------------------------------------


def data_of(X: Floats, positives: Floats, totals: Floats, a: Floats, b: Floats) -> Data:
    """Put everything together by row, without the rows that have no reports."""
    if (a - b).min() < 1e-100:  # its square must not vanish
        raise ValueError(f"channel must have a contrast of 1e-100 or more, got {(a - b).min()!r}")
    kept = totals > 0
    basis, back = _basis(X[kept])
    return Data(*map(frozen, (basis, back, positives[kept], totals[kept], a[kept], b[kept])))


def _basis(X: Floats) -> tuple[Floats, Floats]:
    """Return X as an orthogonal basis times a triangle, if its columns are independent."""
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
