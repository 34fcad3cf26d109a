"""The joint distribution of several answers, from the table of the reports.

Axis j of the table is question j, position k on it is option k, and an entry counts the reports
that hold this combination. Questions of one block share a coin: with probability ``keep`` a report
holds all its answers, otherwise every one of them is replaced. So along the axes of a block

    q = keep * theta + noise * (sum of theta over the block),          noise = (1 - keep) / K,

with K the number of the block's cells, and the inverse needs no matrix:

    theta = (q - noise * (sum of q over the block)) / keep.

A binary channel has the same form with keep = a - b and noise = (1 - a, b). A background question
in clear is a block with keep 1; the distribution within one stratum is that of its slice of the
table. Questions that are not of interest may be summed out of the table beforehand: what is left
of a block keeps its ``keep``. Estimates are not clipped; ``mle`` is for those who need a
distribution.

References
    Warner 1965, J. Am. Stat. Assoc. 60:63; Chaudhuri & Mukerjee 1988, Randomized Response, ch. 3
    van den Hout & van der Heijden 2002, Int. Stat. Rev. 70:269 (tables of misclassified answers)
    Dempster, Laird & Rubin 1977, J. R. Stat. Soc. B 39:1 (EM)
    Lindsay 1983, Ann. Stat. 11:86 (mixtures: the gradient bounds what is left of the likelihood)
    Varadhan & Roland 2008, Scand. J. Stat. 35:335 (extrapolated EM)
    Agresti 2013, Categorical Data Analysis, sections 3.1, 3.2, 3.5, 16.1 (delta method, tests)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    integer,
    probability,
    strictly_between,
)

Array = NDArray[np.float64]

# The full covariance matrix is made for at most this many cells: 4096 take 128 MiB.
MATRIX_CELLS = 4096
# Below this, the product of what the blocks keep, squares of its inverse come near overflow.
LEAST_KEPT = 1e-100


class Block(NamedTuple):
    """Questions that share a coin: the probability to keep, and the axes of the table."""

    keep: float
    axes: tuple[int, ...]


# What stands between answers and reports: blocks that cover every axis once, or a channel an axis.
Design = Sequence[Block] | Sequence[tuple[float, Sequence[int]]] | Sequence[Channel]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one block does to its axes, and the ways to undo it (see the head of the module)."""

    keep: float
    axes: tuple[int, ...]
    noise: Array

    def forward(self, x: Array) -> Array:
        """From the distribution of the answers to that of the reports."""
        return self.keep * x + self.noise * self.total(x)

    def adjoint(self, x: Array) -> Array:
        """The transposed matrix of ``forward``."""
        return self.keep * x + self.total(self.noise * x)

    def inverse(self, x: Array) -> Array:
        return (x - self.noise * self.total(x)) / self.keep

    def inverse_adjoint(self, x: Array) -> Array:
        return (x - self.total(self.noise * x)) / self.keep

    def inverse_squared(self, x: Array) -> Array:
        """The matrix of ``inverse`` with its entries (delta - noise)/keep squared, applied to x."""
        return ((1 - 2 * self.noise) * x + self.noise**2 * self.total(x)) / self.keep**2

    def total(self, x: Array) -> Array:
        total: Array = x.sum(axis=self.axes, keepdims=True)
        return total


@dataclass(frozen=True, eq=False)
class Covariance:
    """The estimated covariance of the cells, without its matrix.

    theta = A f is linear in the multinomial frequencies f, so Cov = A (diag(q) - q q') A' / n,
    with f in place of q. Any linear combination costs as much as the cells themselves. (Dividing
    by n - 1 would make it unbiased and is what ``proportion.estimate`` does.)
    """

    frequencies: Array
    n: int
    steps: tuple[Step, ...]

    @cached_property
    def variances(self) -> Array:
        """The variance of every cell, in the shape of the table."""
        theta = squared = self.frequencies
        for step in self.steps:
            theta, squared = step.inverse(theta), step.inverse_squared(squared)
        # Never negative but for rounding: the rows of A average f's own weights (Cauchy-Schwarz).
        return np.maximum(squared - theta**2, 0.0) / self.n

    @property
    def standard_errors(self) -> Array:
        """The standard error of every cell, in the shape of the table."""
        return np.sqrt(self.variances)

    def among(self, weights: Any) -> Array:
        """The covariance matrix of combinations: ``weights`` has one table of weights for each."""
        weights = np.asarray(weights, dtype=float)
        if weights.shape[1:] != self.frequencies.shape or weights.ndim != self.frequencies.ndim + 1:
            raise ValueError(f"weights must have shape (…, *table), got {weights.shape}")
        if not np.isfinite(weights).all():
            raise ValueError(
                f"weights must be finite, got {_first(weights, ~np.isfinite(weights))}"
            )
        rows = []
        for row in weights:
            for step in self.steps:
                row = step.inverse_adjoint(row)
            rows.append((row - (row * self.frequencies).sum()).ravel())
        influence = np.array(rows)
        spread: Array = (influence * self.frequencies.ravel()) @ influence.T / self.n
        return spread

    def variance(self, weights: Any) -> float:
        """The variance of the sum of weights times cells; the weights are a table of them."""
        return float(self.among(np.asarray(weights, dtype=float)[None])[0, 0])

    def matrix(self) -> Array:
        """The whole matrix, cells in the order of ``theta.ravel()``; for small tables only."""
        cells = self.frequencies.size
        if cells > MATRIX_CELLS:
            raise ValueError(f"the matrix is for at most {MATRIX_CELLS} cells, got {cells}")
        return self.among(np.eye(cells).reshape(cells, *self.frequencies.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.matrix() if dtype is None else self.matrix().astype(dtype)


def cells(table: Any, blocks: Design) -> tuple[Array, Covariance]:
    """The unbiased joint distribution of the answers, and its covariance; cells may be negative.

    ``blocks`` are ``Block(keep, axes)`` or such pairs, and hold every axis once. Assumes that
    everyone in the table answered all of it, that people are independent, and that the coins of
    different blocks are.
    """
    reports, n = table_of_counts(table)
    steps = steps_of(reports.shape, blocks)
    theta = frequencies = reports / n
    for step in steps:
        theta = step.inverse(theta)
    return theta, Covariance(frequencies, n, steps)


def cells_for_channels(table: Any, channels: Sequence[Channel]) -> tuple[Array, Covariance]:
    """The same for yes/no questions that are randomized each by itself, symmetrically or not.

    Axis j has two positions, no and yes, and ``channels[j]``. One pass an axis, k 2^k operations.
    """
    for channel in sequence("channels", channels):
        if not isinstance(channel, Channel):
            raise ValueError(f"channels must hold a Channel for each axis, got {channel!r}")
    return cells(table, channels)


# --- maximum likelihood -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The likeliest joint distribution.

    theta                non-negative, sums to 1; biased where the unbiased cells are negative.
    mean_log_likelihood  the log-likelihood for each report, without the multinomial coefficient.
    gap                  no distribution has a mean log-likelihood greater by more than this.
    converged            whether ``gap`` came down to the tolerance.
    """

    theta: Array
    mean_log_likelihood: float
    gap: float
    iterations: int
    converged: bool


def mle(table: Any, blocks: Design, tolerance: float = 1e-10, max_iterations: int = 10_000) -> Fit:
    """The distribution of the answers that makes the reports likeliest, by EM.

    The table may hold counts or shares. One iteration is two EM steps theta <- theta * g with
    g(x) = sum_y f(y) M(y|x) / (M theta)(y), and an extrapolation along them
    (Varadhan & Roland 2008). g is the gradient of the concave mean log-likelihood and has mean 1
    under theta, so max g - 1 bounds what is left to gain (Lindsay 1983): that is the stop.
    """
    reports = _table(table)
    tolerance = strictly_between("tolerance", tolerance)
    max_iterations = integer("max_iterations", max_iterations, minimum=1)
    em = _EM(reports / reports.sum(), steps_of(reports.shape, blocks))
    here, reach = em.evaluate(np.full(reports.shape, 1 / reports.size)), 4.0
    iterations, gap = 0, float(here.gradient.max()) - 1
    while gap > tolerance and iterations < max_iterations:
        here, reach = em.advance(here, reach)
        iterations, gap = iterations + 1, float(here.gradient.max()) - 1
    return Fit(here.theta, here.value, gap, iterations, gap <= tolerance)


class _Point(NamedTuple):
    theta: Array
    value: float
    gradient: Array


@dataclass(frozen=True, slots=True, eq=False)
class _EM:
    frequencies: Array
    steps: tuple[Step, ...]

    def evaluate(self, theta: Array) -> _Point:
        """The mean log-likelihood and its gradient g."""
        rates = theta
        for step in self.steps:
            rates = step.forward(rates)
        seen = self.frequencies > 0  # where nothing was seen, 0 log 0 = 0 and 0/0 = 0
        value = float(self.frequencies[seen] @ np.log(rates[seen]))
        gradient = np.divide(
            self.frequencies, rates, out=np.zeros_like(self.frequencies), where=seen
        )
        for step in self.steps:
            gradient = step.adjoint(gradient)
        return _Point(theta, value, gradient)

    def advance(self, here: _Point, reach: float) -> tuple[_Point, float]:
        """Two EM steps and an extrapolation, unless that loses; and how far to reach next."""
        theta = here.theta
        first = theta * here.gradient
        second = first * self.evaluate(first).gradient
        change, bend = first - theta, second - 2 * first + theta
        length = math.sqrt(float((bend**2).sum()))
        factor = math.sqrt(float((change**2).sum())) / length if length > 0 else 1.0
        factor = min(factor, reach)
        # A cell on its way to 0 is sent far along it, but stays positive: 0 is for ever.
        further = np.maximum(theta + 2 * factor * change + factor**2 * bend, second / 100)
        found = self.evaluate(further / further.sum())
        if found.value >= here.value:
            return found, reach * (4 if factor == reach else 1)
        return self.evaluate(second / second.sum()), max(reach / 4, 2.0)


# --- two questions ------------------------------------------------------------------------------


class Effect(NamedTuple):
    """An estimate with its standard error by the delta method."""

    value: float
    standard_error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Normal confidence limits."""
        half = -float(ndtri((1 - strictly_between("level", level)) / 2)) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """How two yes/no answers go together. What the estimates do not allow to compute is None.

    theta, standard_errors  the four cells [first][second], no before yes.
    covariance              P(both) - P(first) P(second). Always there.
    risk_difference         P(second | first) - P(second | not first).
    phi                     the correlation of the two answers.
    log_odds_ratio          only if every cell exceeds ``cautious`` standard errors.
    """

    theta: Array
    standard_errors: Array
    covariance: Effect
    risk_difference: Effect | None
    phi: Effect | None
    log_odds_ratio: Effect | None


def association(
    table: Any, blocks: Design, options: tuple[int, int] = (1, 1), cautious: float = 2.0
) -> Association:
    """The association of the two questions of a table with two axes.

    ``options`` says which option of each is meant by yes; the others together are no. ``blocks``
    may be one block with both axes, one for each, or two channels.
    """
    theta, covariance = cells(_two_axes(table), blocks)
    cautious = _number("cautious", cautious)
    if not isinstance(options, Sequence) or len(options) != 2:
        raise ValueError(f"options must be one option of each question, got {options!r}")
    yes = [_indicator(size, option) for size, option in zip(theta.shape, options, strict=True)]
    weights = [np.outer(r, s) for r in (1 - yes[0], yes[0]) for s in (1 - yes[1], yes[1])]
    t = np.array([float((w * theta).sum()) for w in weights])
    spread = covariance.among(weights)
    errors = np.sqrt(np.diag(spread))

    def effect(value: float, gradient: Array) -> Effect:
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


class ChiSquare(NamedTuple):
    """A statistic that is chi-square with so many degrees of freedom under independence."""

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
    on_cells = _on_cells(cells(table, blocks)[0], n, steps)
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


def _on_cells(theta: Array, n: int, steps: tuple[Step, ...]) -> ChiSquare:
    """h' Cov(h)^-1 h for h = theta_ij - theta_i. theta_.j, the last row and column left out.

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


def _distribution(shares: Array) -> Array:
    """Unbiased shares made a distribution, to stand for unknown margins in a variance only."""
    positive: Array = np.maximum(shares, 0.0)
    return positive / float(positive.sum())


def _chi_square(statistic: float, degrees: int) -> ChiSquare:
    p = float(chdtrc(degrees, statistic)) if degrees > 0 else 1.0
    return ChiSquare(statistic, degrees, p)


# --- arguments ----------------------------------------------------------------------------------


def steps_of(shape: tuple[int, ...], design: Design) -> tuple[Step, ...]:
    """The design as steps, refused unless it covers every axis of a table of this shape once."""
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
    return Step(channel.contrast, (axis,), noise)


def _block_step(shape: tuple[int, ...], part: Any) -> Step:
    try:
        keep, axes = part
        axes = tuple(axes)
    except (TypeError, ValueError):
        raise ValueError(f"blocks must hold pairs of keep and axes, got {part!r}") from None
    keep = probability("keep", keep)
    if keep == 0:
        raise ValueError(f"keep must exceed 0, got {keep!r}")
    axes = tuple(integer("axes", axis) for axis in axes)
    if not axes or max(axes) >= len(shape):
        raise ValueError(f"axes must be axes of a table with {len(shape)}, got {axes}")
    return Step(keep, axes, np.array((1 - keep) / math.prod(shape[axis] for axis in axes)))


def table_of_counts(table: Any) -> tuple[Array, int]:
    """The table as floats and its total, refused unless it holds counts, and at least one."""
    reports = _table(table)
    if (reports != np.floor(reports)).any():
        raise ValueError(f"table must hold counts, got {_first(reports, reports % 1 != 0)}")
    if reports.sum() > LARGEST:
        raise ValueError(f"table must hold at most {LARGEST} reports, got {reports.sum()}")
    return reports, int(reports.sum())


def _table(table: Any) -> Array:
    given = np.asarray(table)
    if given.ndim < 1 or given.dtype.kind not in "iuf":
        raise ValueError(f"table must be an array of numbers, got {table!r}")
    reports = given.astype(float)
    wrong = ~(np.isfinite(reports) & (reports >= 0))
    if wrong.any():
        raise ValueError(f"table must hold numbers of at least 0, got {_first(reports, wrong)}")
    if not 0 < reports.sum() < math.inf:
        raise ValueError(f"table must hold reports, got a total of {reports.sum()}")
    return reports


def sequence(name: str, value: Any) -> list[Any]:
    """``value`` as a list, refused by name unless it is a sequence."""
    if not isinstance(value, Sequence):
        raise ValueError(f"{name} must be a sequence, got {value!r}")
    return list(value)


def _two_axes(table: Any) -> Any:
    if np.ndim(table) != 2:
        raise ValueError(f"table must have two axes, got {np.ndim(table)}")
    return table


def _indicator(size: int, option: object) -> Array:
    option = integer("options", option)
    if option >= size:
        raise ValueError(f"options must be below {size}, got {option}")
    indicator = np.zeros(size)
    indicator[option] = 1
    return indicator


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    return float(value)


def _first(values: Array, wrong: NDArray[np.bool_]) -> float:
    return float(values[wrong][0])
