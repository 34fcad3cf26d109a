"""Latent classes: kinds of people, from randomized reports.

Each person belongs to one of a few classes nobody observes; within a class the answers to different
questions are independent. With w_c the share of class c and p_cj(k) the probability of option k of
question j in it, a report y has probability

    sum_c w_c  prod_B [ keep_B prod_{j in B} p_cj(y_j) + noise_B(y) ],        (B: the blocks)

because the questions of a block share a coin: kept together, or replaced together. It is not a
product over questions. A follow-up that an answer leaves out is no factor: who is not asked says
nothing about p_cj. The randomization is known, so it costs precision but no new parameter, and
the fit looks at reports only: it costs no privacy.

References
    Lazarsfeld & Henry 1968, Latent Structure Analysis; Goodman 1974, Biometrika 61:215
    Schwarz 1978, Ann. Stat. 6:461 (BIC)
    Rothenberg 1971, Econometrica 39:577 (identified where the information is regular)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    array_of,
    integer,
    strictly_between,
)
from aggregation.statistics.tables.blocks import Block, Design, Step, sequence, steps_of
from aggregation.statistics.tables.latent_classes import NOT_ASKED, Model

MOST_CLASSES = 1000  # no survey can tell more apart
# Log-likelihoods that differ by less are those of the same maximum.
SAME = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """Classes in the order of falling shares.

    shares, answers    w_c, and for each question an array p[class, option].
    share_errors, answer_errors
                       their standard errors, from the observed information; nan where a
                       probability is 0 or 1 (to 1e-6), and everywhere if it is singular.
    log_likelihood     of all reports together, without the multinomial coefficient.
    parameters, bic    how many are free; -2 log-likelihood + parameters ln(people). The number of
                       classes with the smallest BIC is the one to take.
    converged          whether the best start converged.
    agreeing           how many of the starts reached the same likelihood. If only one, take more.
    warning            why the classes may not be determined by reports, or None.
    """

    shares: Floats
    answers: tuple[Floats, ...]
    share_errors: Floats
    answer_errors: tuple[Floats, ...]
    log_likelihood: float
    parameters: int
    bic: float
    people: int
    iterations: int
    converged: bool
    starts: int
    agreeing: int
    warning: str | None


def fit(
    patterns: Any,
    counts: Any,
    blocks: Design,
    sizes: Sequence[int],
    classes: int,
    generator: np.random.Generator | int,
    *,
    starts: int = 10,
    tolerance: float = 1e-9,
    max_iterations: int = 2_000,
) -> Profiles:
    """Fit the likeliest ``classes`` classes to reports given as distinct patterns with counts.

    ``patterns`` has a row per pattern and a column per question, with positions of options; -1 is
    for questions of a block that was not asked, if chance decided that. ``blocks`` is as for
    ``joint.cells``, its axes being columns; ``sizes`` are the numbers of options. The chances of a
    follow-up have one position more, the last: an answer decided that it is not asked.
    ``generator``, or a seed, chooses the starts. A start ends when no probability moves by more
    than ``tolerance``.
    """
    sizes = tuple(integer("sizes", size, minimum=2) for size in sequence("sizes", sizes))
    shape = _positions(sizes, blocks)
    rows, weights = _reports(patterns, counts, shape)
    steps = steps_of(shape, blocks)
    classes = integer("classes", classes, 1, MOST_CLASSES)
    model = Model(rows, weights, sizes, steps, classes)
    _check_possible(model)
    starts = integer("starts", starts, minimum=1)
    tolerance = strictly_between("tolerance", tolerance)
    max_iterations = integer("max_iterations", max_iterations, minimum=1)
    chance = _generator(generator)
    runs = [model.climb(model.start(chance), tolerance, max_iterations) for _ in range(starts)]
    best = max(runs, key=lambda run: run.value)
    near = SAME + 1e-12 * abs(best.value)
    found = model.sorted(best.parameters)
    errors, singular = model.errors(found)
    n, free = int(weights.sum()), model.free
    shares, *answers = model.unpack(found)
    share_errors, *answer_errors = model.unpack(errors)
    return Profiles(
        shares=shares,
        answers=tuple(answers),
        share_errors=share_errors,
        answer_errors=tuple(answer_errors),
        log_likelihood=best.value,
        parameters=free,
        bic=-2 * best.value + free * math.log(n),
        people=n,
        iterations=best.iterations,
        converged=best.converged,
        starts=starts,
        agreeing=sum(run.value >= best.value - near for run in runs),
        warning=_warning(model, singular),
    )


def _warning(model: Model, singular: bool) -> str | None:
    """Return why the reports may not determine the classes, or None (Goodman 1974)."""
    seen = _observable(model)
    if seen < model.free:
        return f"{model.free} parameters, but the reports determine {seen} at most"
    if singular:
        return (
            "the information matrix is singular: other classes explain the reports as well; "
            "take fewer classes or more questions"
        )
    return None


def _observable(model: Model) -> int:
    """Count the numbers that a distribution of reports has, up to the number of parameters.

    Sets of blocks that somebody answered together, each with prod (K_B - 1) interactions; for
    blocks all answered by the same people that adds up to prod K_B - 1.
    """
    cells = [_cells(step, model.sizes) for step in model.steps]
    masks = np.unique(np.column_stack(model.asked), axis=0)
    found: set[tuple[int, ...]] = set()
    total = 0
    for size in range(1, len(cells) + 1):
        for mask in masks:
            for together in combinations(np.flatnonzero(mask).tolist(), size):
                if together not in found:
                    found.add(together)
                    total += math.prod(cells[block] - 1 for block in together)
                if total >= model.free:
                    return total
    return total


def _cells(step: Step, sizes: tuple[int, ...]) -> int:
    """Return how many reports of a block are possible."""
    if step.possible.size == 1:
        return math.prod(sizes[j] for j in step.axes)
    return int(step.possible.sum())


# --- arguments ----------------------------------------------------------------------------------


def _positions(sizes: tuple[int, ...], blocks: Design) -> tuple[int, ...]:
    """Return how many positions each question has: its options, and for a follow-up one more."""
    found = list(sizes)
    for block in sequence("blocks", blocks):
        if isinstance(block, Block) and block.chances is not None:
            for axis, positions in zip(block.axes, np.shape(block.chances), strict=False):
                if axis < len(sizes) and positions == sizes[axis] + 1:
                    found[axis] = positions
    return tuple(found)


def _check_possible(model: Model) -> None:
    """Refuse reports in which answers rule each other out."""
    for step, asked in zip(model.steps, model.asked, strict=True):
        if step.possible.size > 1:
            places = tuple(model.patterns[asked][:, sorted(step.axes)].T)
            if not step.possible.squeeze()[places].all():
                raise ValueError("patterns must hold no report that cannot occur")


def _reports(
    patterns: Any, counts: Any, sizes: tuple[int, ...]
) -> tuple[NDArray[np.int64], Floats]:
    """Return distinct patterns in order, and their counts, if they fit the questions."""
    rows, weights = array_of("patterns", patterns), array_of("counts", counts)
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or rows.shape[1] != len(sizes):
        raise ValueError(
            f"patterns must be integers in {len(sizes)} columns, got {rows.dtype} {rows.shape}"
        )
    for j, size in enumerate(sizes):
        wrong = (rows[:, j] < NOT_ASKED) | (rows[:, j] >= size)
        if wrong.any():
            raise ValueError(
                f"patterns must be -1 to {size - 1} in column {j}, got {rows[wrong, j][0]}"
            )
    if weights.dtype.kind not in "iu" or weights.shape != rows.shape[:1]:
        raise ValueError(
            f"counts must be {len(rows)} integers, got {weights.dtype} {weights.shape}"
        )
    if (weights < 0).any():
        raise ValueError(f"counts must be at least 0, got {weights.min()}")
    if not 1 <= weights.sum() <= LARGEST:
        raise ValueError(f"counts must hold 1 to {LARGEST} people, got {weights.sum()}")
    some = weights > 0
    distinct, place = np.unique(rows[some].astype(np.int64), axis=0, return_inverse=True)
    if (distinct == NOT_ASKED).all(axis=1).any():
        raise ValueError("patterns must hold a report in every row, got one that is -1 throughout")
    return distinct, np.bincount(place.ravel(), weights[some]).astype(float)


def _generator(given: object) -> np.random.Generator:
    if isinstance(given, np.random.Generator):
        return given
    return np.random.default_rng(integer("generator", given))
