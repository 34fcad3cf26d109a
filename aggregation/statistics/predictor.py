"""Logistic regression with predictors that are known from randomized reports only.

What is hidden is a combination h of the outcome y and of the other answers z. Of each row of X the
reports are a table over the same combinations, and P(report r) = sum of M(r|h) P(h) over h, where
M is what the blocks do: so outcome and predictors may share a coin, or have one each.

    P(y = 1) = expit(x'beta + gamma'z)
    P(z)  proportional to  exp(sum of z_j x'delta_j + sum of alpha_jk z_j z_k)

z has a 0 or 1 for each option that is a predictor. The second line is the log-linear model with all
pairs: how often each option occurs depends on x, how two go together does not.

References
    Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304 (randomized response as a predictor)
    Louis 1982, J. R. Stat. Soc. B 44:226 (information when something is missing)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.special import expit, log_softmax

from aggregation.statistics.binomial import Floats
from aggregation.statistics.proportion import (
    Channel,
    array_of,
    check_channel,
    integer,
    items,
    probability,
)
from aggregation.statistics.scoring import (
    FAR,
    Ascent,
    carried,
    climb,
    data_of,
    errors_of,
    finite,
    frequencies,
    frozen,
    inverse_of,
    is_flat,
    matrix_of,
    refuse,
    squares,
    vector_of,
)
from aggregation.statistics.tables import Block

NO_NOISE = Channel(1, 0)
MOST_HIDDEN = 3  # options that are predictors: each doubles the combinations, and the noise
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class PredictorFit:
    """Coefficients of an outcome model in which some predictors were reported through channels.

    coefficients        one a column of X, and last those of the hidden predictors.
    share_coefficients  of the model for the hidden predictors themselves: for each, one a column of
                        X; then one for each pair that can occur together.
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
    randomized too, independently; for one coin for both, see ``predictors``.
    """
    X = matrix_of(X)
    y, reports = vector_of("y", y, len(X)), vector_of("reports", reports, len(X))
    refuse("y", y, (y != 0) & (y != 1), "0 or 1")
    refuse("reports", reports, (reports != 0) & (reports != 1), "0 or 1")
    check_channel(channel)
    check_channel(outcome, "outcome")
    totals = np.ones(len(X)) if weights is None else frequencies("weights", weights, len(X))
    tables = np.zeros((len(X), 2, 2))
    tables[np.arange(len(X)), y.astype(int), reports.astype(int)] = totals
    noise = np.kron(*(np.array([[1 - c.b, 1 - c.a], [c.b, c.a]]) for c in (outcome, channel)))
    return _fit(X, tables, noise)


def predictors(
    X: ArrayLike, tables: ArrayLike, blocks: Sequence[Block], options: Sequence[Sequence[int]]
) -> PredictorFit:
    """Regress the first question of a table on X and on the others, all randomized in blocks.

    For each row of X, ``tables`` has the table of its reports: on the first axis the outcome, no
    and yes; on every other axis a question, of which position 0 stands for all options that are
    compared with and each further one is a predictor. ``options`` says of each axis how many
    options of the question each position stands for: so often chance reports it. ``blocks`` are
    those of ``joint``: which axes share a coin, and how often that keeps the answers.
    """
    X = matrix_of(X)
    counts = finite("tables", tables, np.ndim(array_of("tables", tables)))
    if counts.ndim < 3 or counts.shape[:2] != (len(X), 2):
        raise ValueError(
            f"tables must be one a row of X, of outcome and other questions, got {counts.shape}"
        )
    refuse("tables", counts, (counts < 0) | (counts != np.floor(counts)), "whole numbers")
    if not counts.any():
        raise ValueError(f"tables must hold reports, got {tables!r}")
    shape = counts.shape[1:]
    chances = _chances(options, shape)
    hidden = sum(size - 1 for size in shape[1:])
    if not 1 <= hidden <= MOST_HIDDEN:
        raise ValueError(f"tables must have 1 to {MOST_HIDDEN} predictors, got {hidden}")
    return _fit(X, counts, _noise(blocks, chances, shape))


def _chances(options: Any, shape: tuple[int, ...]) -> list[Floats]:
    """Of each axis, with which probability chance reports each position."""
    found = []
    for one, size in zip(items("options", options), shape, strict=False):
        sizes = [integer("options", n, 1) for n in items("options", one)]
        if len(sizes) != size:
            raise ValueError(f"options must be {size} numbers for an axis of {size}, got {one!r}")
        found.append(np.array(sizes) / sum(sizes))
    if len(found) != len(shape) or len(options) != len(shape):
        raise ValueError(f"options must be given for {len(shape)} axes, got {options!r}")
    return found


def _noise(blocks: Any, chances: list[Floats], shape: tuple[int, ...]) -> Floats:
    """M: a row for each combination in a report, a column for each in truth."""
    cells = math.prod(shape)
    columns = np.eye(cells).reshape(*shape, cells)
    seen: list[int] = []
    for block in items("blocks", blocks):
        if not isinstance(block, tuple) or len(block) != 2:
            raise ValueError(f"blocks must be pairs of keep and axes, got {block!r}")
        keep = probability("blocks", block[0])
        axes = [integer("blocks", axis) for axis in items("blocks", block[1])]
        seen += axes
        if keep == 0 or max([*axes, 0]) >= len(shape):
            raise ValueError(f"blocks must keep something, of axes that there are, got {block!r}")
        replaced = np.full(columns.shape, 1 - keep)
        for axis in axes:
            replaced *= chances[axis].reshape(-1, *[1] * (columns.ndim - 1 - axis))
        columns = keep * columns + replaced * columns.sum(axis=tuple(axes), keepdims=True)
    if sorted(seen) != list(range(len(shape))):
        raise ValueError(f"blocks must hold each of {len(shape)} axes once, got {blocks!r}")
    return columns.reshape(cells, cells)


# --- the fit ------------------------------------------------------------------------------------


def _fit(X: Floats, tables: Floats, noise: Floats) -> PredictorFit:
    totals = tables.reshape(len(X), -1).sum(axis=1)
    data = data_of(X, totals, totals, NO_NOISE)
    basis, back = data.basis, data.back
    rows, width = basis.shape
    w = tables[totals > 0].reshape(rows, -1)
    # Of each combination of other answers: which predictors it has, and which pairs of them.
    states = list(product(*(range(size) for size in tables.shape[2:])))
    D = np.array(
        [[float(at == i) for at, size in zip(state, tables.shape[2:], strict=True)
          for i in range(1, size)] for state in states]
    )  # fmt: skip
    hidden = D.shape[1]
    pairs = [D[:, i] * D[:, j] for i, j in combinations(range(hidden), 2)]
    E = np.array([pair for pair in pairs if pair.any()]).reshape(-1, len(states)).T
    features = np.concatenate(
        [
            np.einsum("zo,gw->gzow", D, basis).reshape(rows, len(states), -1),
            np.broadcast_to(E, (rows, *E.shape)),
        ],
        axis=2,
    )
    outcomes = np.concatenate(
        [
            np.broadcast_to(basis[:, None], (rows, len(states), width)),
            np.broadcast_to(D, (rows, *D.shape)),
        ],
        axis=2,
    )
    first = width + hidden

    def look(place: Floats) -> Ascent:
        """The marginal likelihood, its slope, and two matrices: Louis's and the complete data's."""
        eta = np.clip(outcomes @ place[:first], -FAR, FAR)
        share = np.exp(log_softmax(np.clip(features @ place[first:], -FAR, FAR), axis=1))
        p, other = expit(eta), expit(-eta)
        chance = np.stack([share * other, share * p], axis=1).reshape(rows, -1)
        seen = np.maximum(chance @ noise.T, TINY)
        # How many of each hidden combination there are, given the reports.
        expected = chance * ((w / seen) @ noise)
        here = expected.reshape(rows, 2, -1).sum(axis=1)
        away = features - np.einsum("gz,gzf->gf", share, features)[:, None]
        # Fisher's identity: the slope is the expected slope of the complete data.
        slopes = np.concatenate(
            [
                np.stack([-p, other], axis=1)[..., None] * outcomes[:, None],
                np.broadcast_to(away[:, None], (rows, 2, *away.shape[1:])),
            ],
            axis=3,
        ).reshape(rows, chance.shape[1], -1)
        slope = np.einsum("gh,ghk->k", expected, slopes)
        flat = (-1, slopes.shape[2])
        complete = block_diag(
            squares(outcomes.reshape(-1, first), (here * p * other).ravel()),
            squares(away.reshape(-1, away.shape[2]), (w.sum(axis=1)[:, None] * share).ravel()),
        )
        # Louis 1982: missing is the variance of the complete data's slope, given the reports.
        means = (noise * chance[:, None]) @ slopes / seen[..., None]
        missing = squares(slopes.reshape(flat), expected.ravel())
        missing -= squares(means.reshape(flat), w.ravel())
        return float((w * np.log(seen)).sum()), slope, (complete - missing, complete)

    size = first + features.shape[2]
    found = [climb(look, start, near=math.inf) for start in _starts(size, width, hidden)]
    place, steps, still = max(found, key=lambda one: (look(one[0])[0], one[2]))
    value, _, (information, complete) = look(place)
    separated = is_flat(complete, look(np.zeros(size))[2][1])
    turn = block_diag(back, np.eye(hidden), *[back] * hidden, np.eye(E.shape[1]))
    covariance = carried(None if separated else inverse_of(information), turn)
    errors = errors_of(covariance)
    coefficients = np.linalg.solve(turn, place)
    return PredictorFit(
        coefficients=frozen(coefficients[:first]),
        standard_errors=errors[:first],
        share_coefficients=frozen(coefficients[first:]),
        share_standard_errors=errors[first:],
        covariance=covariance,
        log_likelihood=value,
        iterations=steps,
        converged=still and not separated and bool(np.isfinite(errors).all()),
        separated=separated,
    )


def _starts(size: int, width: int, hidden: int) -> list[Floats]:
    """A hidden predictor matters in one direction or in the other: the likelihood has humps."""
    signs = np.array(list(product((1.0, -1.0), repeat=hidden)))
    starts = np.zeros((len(signs), size))
    starts[:, width : width + hidden] = signs
    return list(starts)
