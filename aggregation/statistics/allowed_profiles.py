"""Latent classes of questions that decide whether others are asked.

The model of ``profiles``, for tables of ``allowed``: within a class the answers to different
questions are independent, given that they are asked. With p_cj(k) the probability of option k of
question j among people of class c who are asked it, a report y of a block has probability

    keep * prod_{j asked in y} p_cj(y_j) + (1 - keep) * chances(y),

because y says itself who was asked what. People who are not asked say nothing about p_cj.

References
    Lazarsfeld & Henry 1968, Latent Structure Analysis; Goodman 1974, Biometrika 61:215
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics.allowed import AllowedTable, Part
from aggregation.statistics.numeric.arguments import integer, strictly_between
from aggregation.statistics.profiles import MOST_CLASSES, SAME, Profiles
from aggregation.statistics.tables.latent_classes import Model


def fit(
    table: Any,
    parts: Sequence[Part],
    sizes: Sequence[int],
    classes: int,
    seed: int,
    *,
    starts: int = 10,
    tolerance: float = 1e-9,
    max_iterations: int = 2_000,
) -> Profiles:
    """Fit the likeliest ``classes`` classes to a table of reports by people asked all its blocks.

    ``sizes`` are the numbers of options of each axis. One that has one more position is that of a
    follow-up: the last means that it was not asked.
    """
    tally = AllowedTable.of(table, parts)
    shape, sizes = tally.theta.shape, tuple(integer("sizes", size, 2) for size in sizes)
    if len(sizes) != len(shape) or not set(np.subtract(shape, sizes).tolist()) <= {0, 1}:
        raise ValueError(f"sizes must be those of the table or one less, got {sizes!r} of {shape}")
    classes = integer("classes", classes, 1, MOST_CLASSES)
    model = _Model(tally, sizes, classes)
    tolerance = strictly_between("tolerance", tolerance)
    chance = np.random.default_rng(integer("seed", seed))
    runs = [model.climb(model.start(chance), tolerance, max_iterations) for _ in range(starts)]
    best = max(runs, key=lambda run: run.value)
    near = SAME + 1e-12 * abs(best.value)
    found = model.sorted(best.parameters)
    errors, singular = model.errors(found)
    shares, *answers = model.unpack(found)
    share_errors, *answer_errors = model.unpack(errors)
    return Profiles(
        shares=shares,
        answers=tuple(answers),
        share_errors=share_errors,
        answer_errors=tuple(answer_errors),
        log_likelihood=best.value,
        parameters=model.free,
        bic=-2 * best.value + model.free * math.log(tally.n),
        people=tally.n,
        iterations=best.iterations,
        converged=best.converged,
        starts=starts,
        agreeing=sum(run.value >= best.value - near for run in runs),
        warning=_warning(model, int(tally.possible.sum()) - 1, singular),
    )


def _warning(model: Model, seen: int, singular: bool) -> str | None:
    """Return why the reports may not determine the classes, or None (Goodman 1974)."""
    if seen < model.free:
        return f"{model.free} parameters, but the reports determine {seen} at most"
    if singular:
        return (
            "the information matrix is singular: other classes explain the reports as well; "
            "take fewer classes or more questions"
        )
    return None


class _Model(Model):
    """The likelihood of a table, of which some answers are “not asked”."""

    def __init__(self, tally: AllowedTable, sizes: tuple[int, ...], classes: int) -> None:
        patterns = np.argwhere(tally.reports).astype(np.int64)
        place = tuple(patterns.T)
        super().__init__(patterns, tally.reports[place], sizes, tally.steps, classes)
        self.noise = [
            np.broadcast_to(step.noise, tally.reports.shape)[place] for step in tally.steps
        ]

    def expectations(
        self, parameters: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
        """Return what ``Model.expectations`` does; not to be asked is certain where it happens."""
        shares, *answers = self.unpack(parameters)
        log_rates = np.zeros((len(self.patterns), self.classes), parameters.dtype)
        kept = []
        for step, noise in zip(self.steps, self.noise, strict=True):
            truth = np.full((len(self.patterns), self.classes), step.keep, parameters.dtype)
            for j in step.axes:
                truth *= np.vstack([answers[j].T, np.ones(self.classes)])[self.patterns[:, j]]
            rate = truth + noise[:, None]
            kept.append(truth / rate)
            log_rates += np.log(rate)
        top = log_rates.real.max(axis=1, keepdims=True)
        joint = shares * np.exp(log_rates - top)
        total = joint.sum(axis=1)
        return np.log(total) + top[:, 0], joint / total[:, None], kept
