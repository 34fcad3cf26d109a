"""The table of the reports, what blocks do to it, and how that is undone.

Axis j of the table is question j, position k on it is option k, and an entry counts the reports
that hold this combination. Questions of one block share a coin: with probability ``keep`` a report
holds all its answers, otherwise every one of them is replaced. So along the axes of a block

    q = keep * theta + noise * (sum of theta over the block),          noise = (1 - keep) * chances,

and the inverse needs no matrix:

    theta = (q - noise * (sum of q over the block)) / keep.

The chances say how often a random report of the block shows each combination. They are equal, 1/K
for K cells, unless an answer decides whether another question of the block is asked: then some
combinations cannot occur, and "not asked" is a position of its own. A binary channel has the same
form with keep = a - b and noise = (1 - a, b). A background question in clear is a block with keep
1; the distribution within one stratum is that of its slice of the table. Questions that do not
matter can be summed out of the table first, and out of the chances: the rest of a block has the
same ``keep``. Estimates are not clipped.

References
    Warner 1965, J. Am. Stat. Assoc. 60:63
    Chaudhuri & Mukerjee 1988, Randomized Response (designs with unequal probabilities)
    van den Hout & van der Heijden 2002, Int. Stat. Rev. 70:269 (tables of misclassified answers)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics.channel import Channel
from aggregation.statistics.numeric.arguments import LARGEST, Floats, array_of, integer, probability

# The full covariance matrix is made for at most this many cells: 4096 take 128 MiB.
MATRIX_CELLS = 4096
# Below this, the product of what the blocks keep, squares of its inverse come near overflow.
LEAST_KEPT = 1e-100
# Chances add up to 1 but for rounding.
ROUNDED = 1e-9


class Block(NamedTuple):
    """Questions that share a coin.

    keep     the probability that a report holds the person's own answers
    axes     their axes in the table
    chances  by position along these axes, the probability that a random report shows it: 0 where
             answers rule each other out. None if all are equal.
    """

    keep: float
    axes: tuple[int, ...]
    chances: Any = None


# How reports follow from answers: blocks that cover every axis once, or a channel for each axis.
Design = Sequence[Block] | Sequence[tuple[float, Sequence[int]]] | Sequence[Channel]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one block does to its axes, and the ways to undo it (see the head of the module)."""

    keep: float
    axes: tuple[int, ...]
    noise: Floats
    possible: NDArray[np.bool_]  # which positions can occur, in a shape that fits the table's

    def forward(self, x: Floats) -> Floats:
        """Return the distribution of the reports, from that of the answers."""
        return self.keep * x + self.noise * self.total(x)

    def adjoint(self, x: Floats) -> Floats:
        """Return the transposed matrix of ``forward`` applied to x."""
        return self.keep * x + self.total(self.noise * x)

    def inverse(self, x: Floats) -> Floats:
        return (x - self.noise * self.total(x)) / self.keep

    def inverse_adjoint(self, x: Floats) -> Floats:
        return (x - self.total(self.noise * x)) / self.keep

    def inverse_squared(self, x: Floats) -> Floats:
        """Apply the matrix of ``inverse``, its entries (delta - noise)/keep squared, to x."""
        return ((1 - 2 * self.noise) * x + self.noise**2 * self.total(x)) / self.keep**2

    def total(self, x: Floats) -> Floats:
        total: Floats = x.sum(axis=self.axes, keepdims=True)
        return total


@dataclass(frozen=True, eq=False)
class Covariance:
    """The estimated covariance of the cells, without its matrix.

    theta = A f is linear in the multinomial frequencies f, so Cov = A (diag(q) - q q') A' / n,
    with f in place of q. Any linear combination costs as much as the cells themselves. (Dividing
    by n - 1 would make it unbiased and is what ``proportion.estimate`` does.)
    """

    frequencies: Floats
    n: int
    steps: tuple[Step, ...]

    @cached_property
    def variances(self) -> Floats:
        """The variance of every cell, in the shape of the table."""
        theta = squared = self.frequencies
        for step in self.steps:
            theta, squared = step.inverse(theta), step.inverse_squared(squared)
        # Never negative but for rounding: the rows of A average f's own weights (Cauchy-Schwarz).
        return np.maximum(squared - theta**2, 0.0) / self.n

    @property
    def standard_errors(self) -> Floats:
        """The standard error of every cell, in the shape of the table."""
        return np.sqrt(self.variances)

    def among(self, weights: Any) -> Floats:
        """Return the covariance matrix of combinations, one table of ``weights`` for each."""
        weights = array_of("weights", weights)
        if weights.dtype.kind not in "biuf":
            raise ValueError(f"weights must be numbers, got {weights!r}")
        weights = weights.astype(float)
        if weights.shape[1:] != self.frequencies.shape or weights.ndim != self.frequencies.ndim + 1:
            raise ValueError(f"weights must have shape (…, *table), got {weights.shape}")
        if not np.isfinite(weights).all():
            raise ValueError(
                f"weights must be finite, got {first_of(weights, ~np.isfinite(weights))}"
            )
        rows = []
        for row in weights:
            for step in self.steps:
                row = step.inverse_adjoint(row)
            rows.append((row - (row * self.frequencies).sum()).ravel())
        influence = np.array(rows)
        spread: Floats = (influence * self.frequencies.ravel()) @ influence.T / self.n
        return spread

    def variance(self, weights: Any) -> float:
        """Return the variance of the sum of the cells times a table of weights."""
        return float(self.among(array_of("weights", weights)[None])[0, 0])

    def matrix(self) -> Floats:
        """Return the whole matrix of a small table, cells in the order of ``theta.ravel()``."""
        cells = self.frequencies.size
        if cells > MATRIX_CELLS:
            raise ValueError(f"the matrix is for at most {MATRIX_CELLS} cells, got {cells}")
        return self.among(np.eye(cells).reshape(cells, *self.frequencies.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.matrix() if dtype is None else self.matrix().astype(dtype)


def cells(table: Any, blocks: Design) -> tuple[Floats, Covariance]:
    """Estimate the joint distribution of the answers without bias; cells may be negative.

    ``blocks`` are ``Block(keep, axes)`` or such pairs, and hold every axis once. Cells that cannot
    occur are 0. Assumes that everyone in the table answered all of it, that people are independent,
    and that the coins of different blocks are.
    """
    reports, n = table_of_counts(table)
    steps = steps_of(reports.shape, blocks)
    check_possible(reports, blocks)
    theta = frequencies = reports / n
    for step in steps:
        theta = step.inverse(theta)
    return theta, Covariance(frequencies, n, steps)


def possible(shape: tuple[int, ...], blocks: Design) -> NDArray[np.bool_]:
    """Return which cells of a table can occur: those that no answer rules out."""
    found = np.ones(shape, dtype=bool)
    for step in steps_of(shape, blocks):
        found &= step.possible
    return found


def cells_for_channels(table: Any, channels: Sequence[Channel]) -> tuple[Floats, Covariance]:
    """Estimate the same for yes/no questions that are randomized one by one.

    Axis j has two positions, no and yes, and ``channels[j]``. For k axes this is k 2^k operations.
    """
    for channel in sequence("channels", channels):
        if not isinstance(channel, Channel):
            raise ValueError(f"channels must hold a Channel for each axis, got {channel!r}")
    reports, _ = table_of_counts(table)
    if len(channels) != reports.ndim:
        raise ValueError(f"channels must be one for each axis, {reports.ndim}, got {len(channels)}")
    return cells(reports, channels)


# --- arguments ----------------------------------------------------------------------------------


def check_possible(reports: Floats, blocks: Design) -> NDArray[np.bool_]:
    """Return which cells can occur; refuse a table with reports in others."""
    found = possible(reports.shape, blocks)
    if reports[~found].any():
        raise ValueError("table must have no reports in cells that cannot occur")
    return found


def steps_of(shape: tuple[int, ...], design: Design) -> tuple[Step, ...]:
    """Return the design as steps; refuse it unless it covers every axis of this shape once."""
    parts = sequence("blocks", design)
    if parts and all(isinstance(part, Channel) for part in parts):
        steps = [_channel_step(shape, axis, c) for axis, c in enumerate(parts)]
    else:
        steps = [_block_step(shape, part) for part in parts]
    axes = sorted(axis for step in steps for axis in step.axes)
    if axes != list(range(len(shape))):
        raise ValueError(f"blocks must hold each of the {len(shape)} axes once, got axes {axes}")
    kept = math.prod(step.keep for step in steps)
    if kept < LEAST_KEPT:
        raise ValueError(f"blocks must keep {LEAST_KEPT} in all at least, got {kept}")
    return tuple(steps)


def _channel_step(shape: tuple[int, ...], axis: int, channel: Any) -> Step:
    if axis < len(shape) and shape[axis] != 2:
        raise ValueError(f"table must have two positions on axis {axis}, got {shape[axis]}")
    noise = np.array([1 - channel.a, channel.b]).reshape([2] + [1] * (len(shape) - axis - 1))
    return Step(channel.contrast, (axis,), noise, np.array(True))


def _block_step(shape: tuple[int, ...], part: Any) -> Step:
    try:
        keep, axes, chances = part if len(part) == 3 else (*part, None)
        axes = tuple(axes)
    except (TypeError, ValueError):
        raise ValueError(f"blocks must hold pairs of keep and axes, got {part!r}") from None
    keep = probability("keep", keep)
    if keep == 0:
        raise ValueError(f"keep must exceed 0, got {keep!r}")
    axes = tuple(integer("axes", axis) for axis in axes)
    if not axes or max(axes) >= len(shape):
        raise ValueError(f"axes must be axes of a table with {len(shape)}, got {axes}")
    if chances is None:
        equal = (1 - keep) / math.prod(shape[axis] for axis in axes)
        return Step(keep, axes, np.array(equal), np.array(True))
    chances = _chances(chances, tuple(shape[axis] for axis in axes))
    around = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
    chances = chances.transpose(np.argsort(axes)).reshape(around)
    return Step(keep, axes, (1 - keep) * chances, chances > 0)


def _chances(given: Any, shape: tuple[int, ...]) -> Floats:
    chances = array_of("chances", given).astype(np.float64)
    if chances.shape != shape:
        raise ValueError(f"chances must have the shape of the axes, {shape}, got {chances.shape}")
    if (chances < 0).any() or not abs(chances.sum() - 1) < ROUNDED:
        raise ValueError(f"chances must be at least 0 and add up to 1, got {given!r}")
    return chances


def table_of_counts(table: Any) -> tuple[Floats, int]:
    """Return the table as floats, and its total; refuse it unless it holds counts, and some."""
    reports = numbers(table)
    if (reports != np.floor(reports)).any():
        raise ValueError(f"table must hold counts, got {first_of(reports, reports % 1 != 0)}")
    if reports.sum() > LARGEST:
        raise ValueError(f"table must hold at most {LARGEST} reports, got {reports.sum()}")
    return reports, int(reports.sum())


def numbers(table: Any) -> Floats:
    """Return the table as floats; refuse it unless its numbers are finite, >= 0 and not all 0."""
    given = array_of("table", table)
    if given.ndim < 1 or given.dtype.kind not in "iuf":
        raise ValueError(f"table must be an array of numbers, got {table!r}")
    reports = given.astype(float)
    wrong = ~(np.isfinite(reports) & (reports >= 0))
    if wrong.any():
        raise ValueError(f"table must hold numbers of at least 0, got {first_of(reports, wrong)}")
    if (reports > LARGEST).any():
        large = first_of(reports, reports > LARGEST)
        raise ValueError(f"table must hold at most {LARGEST} in a cell, got {large}")
    if not reports.sum() > 0:
        raise ValueError(f"table must hold reports, got a total of {reports.sum()}")
    return reports


def sequence(name: str, value: Any) -> list[Any]:
    """Return ``value`` as a list; refuse it by name unless it is a sequence."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise ValueError(f"{name} must be a sequence, got {value!r}")
    return list(value)


def first_of(values: Floats, wrong: NDArray[np.bool_]) -> float:
    """Return the value to name in an error."""
    return float(values[wrong][0])
