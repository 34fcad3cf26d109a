"""Logistic regression on groups and answers that are known only from randomized reports.

What is hidden is a combination h of the outcome y and of the predictors z: the group of a
background question, the option of another question. The reports are a table over the same
combinations, and P(report r) = sum of M(r|h) P(h) over h, where M is what the blocks do: outcome
and predictors may share a coin, or have one each. With x(z) a 1 and a dummy for each position of
each predictor but its first,

    P(y = 1 | z) = expit(x(z)'beta),        P(z) = any distribution over the combinations.

Nothing is assumed about how the predictors are related, and nobody's are known. The search is
in beta and in the logarithms of n P(z), for counts taken as Poisson: the same maximum and the same
information on beta as for a fixed number of reports, without a constraint.

References
    Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304 (randomized response as a predictor)
    van den Hout & Kooiman 2006, Comput. Stat. Data Anal. 50:3311 (randomized covariates)
    Baker 1994, The Statistician 43:495 (multinomial likelihoods as Poisson ones)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag, eigh, null_space
from scipy.special import expit, xlogy

from aggregation.statistics.channel import Channel
from aggregation.statistics.numeric.arguments import Floats, integer, items
from aggregation.statistics.numeric.scoring import (
    FAR,
    FLAT,
    Ascent,
    climb,
    errors_of,
    frozen,
    inverse_of,
    squares,
)
from aggregation.statistics.tables.blocks import Design, Step, steps_of, table_of_counts

MOST_CELLS = 1024  # of a table, a few seconds: the time grows with their cube
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class PredictorFit:
    """Coefficients of an outcome model whose predictors were reported through channels.

    coefficients      the intercept; then for each predictor one per position except its first.
    standard_errors, covariance
                      from the observed information of the whole likelihood; nan for coefficients
                      that the reports do not determine.
    shares            the fitted distribution of the predictors, in the shape of their axes.
    log_likelihood    of the reports, without the multinomial coefficient.
    iterations        steps taken.
    converged         a maximum was reached in the coefficients that have a standard error, and
                      there are such.
    separated         some coefficients have none: the likelihood still rises as they go to
                      infinity, or is flat there, or nobody may belong to their group. They are
                      where the search gave up; the others are valid.
    """

    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    shares: Floats
    log_likelihood: float
    iterations: int
    converged: bool
    separated: bool


def predictors(
    table: ArrayLike, blocks: Design, options: Sequence[Sequence[int]] | None = None
) -> PredictorFit:
    """Regress the first axis of a table of reports on the others, all randomized in blocks.

    The first axis is the outcome, no and yes. Every other axis is a background question or another
    question: position 0 is what the others are compared with, each further one has a coefficient.
    ``blocks`` are those of ``joint``: which axes share a coin, and how often that keeps the
    answers. If options were counted together in one position, ``options`` has for each axis how
    many options each position stands for, because chance reports it that much more often.
    """
    counts, _ = table_of_counts(table)
    if counts.ndim < 2 or counts.shape[0] != 2 or min(counts.shape) < 2:
        raise ValueError(
            "table must have two positions for the outcome on its first axis, and another axis for "
            f"each predictor, with two positions or more, got shape {counts.shape}"
        )
    if counts.size > MOST_CELLS:
        raise ValueError(f"table must have at most {MOST_CELLS} cells, got {counts.size}")
    steps = steps_of(counts.shape, blocks)
    if options is not None:
        if any(isinstance(part, Channel) for part in blocks):
            raise ValueError("options are for blocks: a Channel says what chance reports itself")
        steps = _merged(steps, _chances(options, counts.shape))
    return _Model(counts, steps).fit()


def _chances(options: Any, shape: tuple[int, ...]) -> list[Floats]:
    """Return with which probability chance reports each position of each axis."""
    given = items("options", options)
    if len(given) != len(shape):
        raise ValueError(f"options must be given for {len(shape)} axes, got {options!r}")
    found = []
    for one, size in zip(given, shape, strict=True):
        sizes = [integer("options", n, 1) for n in items("options", one)]
        if len(sizes) != size:
            raise ValueError(f"options must be {size} numbers for an axis of {size}, got {one!r}")
        found.append(np.array(sizes) / sum(sizes))
    return found


def _merged(steps: Sequence[Step], chances: list[Floats]) -> tuple[Step, ...]:
    """Return the steps for positions that chance does not report equally often."""
    found = []
    for step in steps:
        noise = np.array(1 - step.keep)
        for axis in step.axes:
            noise = noise * chances[axis].reshape(-1, *[1] * (len(chances) - 1 - axis))
        found.append(replace(step, noise=noise))
    return tuple(found)


# --- the fit ------------------------------------------------------------------------------------


class _Model:
    """The likelihood of one table; parameters are beta, then log(n P(z)) of each combination z."""

    def __init__(self, counts: Floats, steps: Sequence[Step]) -> None:
        self.counts = counts
        # All is applied to stacks of tables, along their first axis.
        self.steps = [replace(step, axes=tuple(1 + axis for axis in step.axes)) for step in steps]
        places = np.indices(counts.shape[1:]).reshape(counts.ndim - 1, -1)
        dummies = [
            place == position
            for place, size in zip(places, counts.shape[1:], strict=True)
            for position in range(1, size)
        ]
        self.X = np.column_stack([np.ones(places.shape[1]), *dummies])

    def reported(self, hidden: Floats) -> Floats:
        """Return M applied to each row of ``hidden``."""
        stack = hidden.reshape(-1, *self.counts.shape)
        for step in self.steps:
            stack = step.forward(stack)
        return stack.reshape(len(stack), -1)

    def traced(self, seen: Floats) -> Floats:
        """Return the transposed M applied to one table; no before yes."""
        stack = seen.reshape(1, *self.counts.shape)
        for step in self.steps:
            stack = step.adjoint(stack)
        return stack.reshape(2, -1)

    def look(self, place: Floats) -> Ascent:
        """Return the likelihood, its slope, and the observed and complete information."""
        X, w, width = self.X, self.counts.ravel(), self.X.shape[1]
        eta = np.clip(X @ place[:width], -FAR, FAR)
        people = np.exp(np.clip(place[width:], -FAR, FAR))
        yes, no = expit(eta), expit(-eta)
        rates = np.maximum(self.reported(np.stack([people * no, people * yes]))[0], TINY)
        # By which factor the reports suggest more of each combination.
        wanted = self.traced(w / rates)
        mean, more = no * wanted[0] + yes * wanted[1], wanted[1] - wanted[0]
        bend = people * yes * no
        slope = np.concatenate([X.T @ (bend * more), people * (mean - 1)])
        turned = (bend[:, None] * X).T
        jacobian = np.concatenate(
            [
                np.stack([-turned, turned], axis=1),
                np.stack([np.diag(people * no), np.diag(people * yes)], axis=1),
            ]
        )
        moved = self.reported(jacobian)
        information = (moved * (w / rates**2)) @ moved.T
        information[:width, :width] -= squares(X, bend * (no - yes) * more)
        information[:width, width:] -= turned * more
        information[width:, :width] -= (turned * more).T
        information[width:, width:] -= np.diag(people * (mean - 1))
        complete = block_diag(squares(X, bend), np.diag(people))
        value = float(xlogy(w, rates).sum() - people.sum())
        return value, slope, (information, complete)

    def fit(self) -> PredictorFit:
        n, (cells, width) = self.counts.sum(), self.X.shape
        start = np.concatenate([np.zeros(width), np.full(cells, math.log(n / cells))])
        place, steps, still = climb(self.look, start, near=math.inf)
        value, _, (information, _) = self.look(place)
        covariance, open_ = self.covariance(place, information)
        errors = errors_of(covariance)
        return PredictorFit(
            coefficients=frozen(place[:width]),
            standard_errors=errors,
            covariance=covariance,
            shares=frozen(np.exp(place[width:]).reshape(self.counts.shape[1:]) / n),
            log_likelihood=value + float(np.exp(place[width:]).sum() - n * math.log(n)),
            iterations=steps,
            converged=still and not open_.all() and bool(np.isfinite(errors[~open_]).all()),
            separated=bool(open_.any()),
        )

    def covariance(self, place: Floats, information: Floats) -> tuple[Floats, Any]:
        """Return the covariance of beta, and which coefficients the reports leave open.

        Directions in which the complete data would hold next to no information, beside what they
        would hold were all combinations equally frequent and all answers toss-ups, are flat.
        Whatever they move is open; the others are determined by the rest of the information.
        """
        X, width = self.X, self.X.shape[1]
        eta, people = np.clip(X @ place[:width], -FAR, FAR), np.exp(place[width:])
        most = squares(X, np.full(len(X), self.counts.sum() / len(X) / 4))
        held = squares(X, people * expit(eta) * expit(-eta))
        values, vectors = eigh(held, most)
        flat = vectors[:, values < FLAT]
        open_ = (np.abs(flat) * np.sqrt(np.diag(most))[:, None] > 1e-3).any(axis=1)
        covariance = np.full((width, width), np.nan)
        rest = null_space(flat.T) if flat.size else np.eye(width)
        if rest.size:
            turn = block_diag(rest, np.eye(len(X)))
            inverse = inverse_of(turn.T @ information @ turn)
            if inverse is not None:
                covariance = rest @ inverse[: rest.shape[1], : rest.shape[1]] @ rest.T
        covariance[open_], covariance[:, open_] = np.nan, np.nan
        return frozen(covariance), open_
