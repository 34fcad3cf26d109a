"""Logistic regression with a predictor that is known from randomized reports only.

References
    Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304 (randomized response as a predictor)
    Louis 1982, J. R. Stat. Soc. B 44:226 (information when something is missing)
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.special import expit, log_expit

from aggregation.statistics.binomial import Floats
from aggregation.statistics.proportion import Channel, check_channel
from aggregation.statistics.scoring import (
    FAR,
    Ascent,
    Data,
    carried,
    climb,
    data_of,
    errors_of,
    frequencies,
    frozen,
    inverse_of,
    is_flat,
    matrix_of,
    refuse,
    rows_of,
    squares,
    vector_of,
)

NO_NOISE = Channel(1, 0)


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
    X = matrix_of(X)
    y, reports = vector_of("y", y, len(X)), vector_of("reports", reports, len(X))
    refuse("y", y, (y != 0) & (y != 1), "0 or 1")
    refuse("reports", reports, (reports != 0) & (reports != 1), "0 or 1")
    check_channel(channel)
    totals = np.ones(len(X)) if weights is None else frequencies("weights", weights, len(X))
    data = data_of(X, y * totals, totals, outcome, "outcome")
    return _fit_predictor(data, reports[totals > 0], channel)


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
        rows0, rows1 = rows_of(each, zero @ outcome), rows_of(each, one @ outcome)
        eta = np.clip(basis @ share, -FAR, FAR)
        yes = if_yes + log_expit(eta) + rows1.value
        no = if_no + log_expit(-eta) + rows0.value
        value = np.logaddexp(yes, no)
        p, q = expit(eta), np.exp(yes - value)
        # Fisher's identity: the slope is the expected slope of the complete data.
        without = np.column_stack([rows0.slope[:, None] * zero, -p[:, None] * basis])
        gap = np.column_stack([rows1.slope[:, None] * one, (1 - p)[:, None] * basis]) - without
        # Louis 1982: missing is the variance of the complete data's slope, given the reports.
        missing = squares(gap, w * q * (1 - q))
        complete = [
            block_diag(
                squares(zero, w * (1 - q) * curve0) + squares(one, w * q * curve1),
                squares(basis, w * p * expit(-eta)),
            )
            for curve0, curve1 in (
                (rows0.observed, rows1.observed),
                (rows0.expected, rows1.expected),
            )
        ]
        slope = w @ (without + q[:, None] * gap)
        return float(w @ value), slope, (complete[0] - missing, complete[1])

    found = [climb(look, start, near=math.inf) for start in _starts(width)]
    place, steps, still = max(found, key=lambda one: (look(one[0])[0], one[2]))
    value, _, (information, complete) = look(place)
    separated = is_flat(complete, look(np.zeros(2 * width + 1))[2][1])
    covariance = carried(
        None if separated else inverse_of(information), block_diag(back, np.eye(1), back)
    )
    errors = errors_of(covariance)
    return PredictorFit(
        coefficients=frozen(np.linalg.solve(block_diag(back, np.eye(1)), place[: width + 1])),
        standard_errors=errors[: width + 1],
        share_coefficients=frozen(np.linalg.solve(back, place[width + 1 :])),
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
