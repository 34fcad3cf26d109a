"""Which kinds of people there are: latent classes, from randomized reports.

Each person belongs to one of a few classes nobody observes; within a class the answers to different
questions are independent. With w_c the share of class c and p_cj(k) the probability of option k of
question j in it, a report y has probability

    sum_c w_c  prod_B [ keep_B prod_{j in B} p_cj(y_j) + noise_B(y) ],        (B: the blocks)

because the questions of a block share a coin: kept together, or replaced together. It is not a
product over questions. The randomization is known, so it costs precision but no new parameter, and
the fit looks at reports only: it costs no privacy.

References
    Lazarsfeld & Henry 1968, Latent Structure Analysis; Goodman 1974, Biometrika 61:215
    Dempster, Laird & Rubin 1977, J. R. Stat. Soc. B 39:1 (EM)
    Varadhan & Roland 2008, Scand. J. Stat. 35:335 (extrapolated EM)
    Aitkin & Aitkin 1996, Stat. Comput. 6:127 (EM first, then a second-order method)
    Liu & Nocedal 1989, Math. Program. 45:503 (L-BFGS)
    Schwarz 1978, Ann. Stat. 6:461 (BIC)
    Rothenberg 1971, Econometrica 39:577 (identified where the information is regular)
    Squire & Trapp 1998, SIAM Rev. 40:110 (derivatives by a complex step)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics.proportion import LARGEST, array_of, integer, strictly_between
from aggregation.statistics.tables import Array, Design, Step, sequence, steps_of

NOT_ASKED = -1
MOST_CLASSES = 1000  # no survey tells so many apart
# A probability this close to 0 counts as on the edge of what is possible: its estimate is not
# normally distributed and has no standard error.
EDGE = 1e-6
# Information matrices less regular than this, once scaled to a unit diagonal, are singular.
SINGULAR = 1e-8
# EM iterations before something faster is tried.
PATIENCE = 100
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
    converged          whether the best start came to rest.
    agreeing           how many of the starts came to the same likelihood. Only one: take more.
    warning            why the classes may not be determined by reports, or None.
    """

    shares: Array
    answers: tuple[Array, ...]
    share_errors: Array
    answer_errors: tuple[Array, ...]
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
    """The likeliest ``classes`` classes for reports given as distinct patterns with counts.

    ``patterns`` has a row a pattern and a column a question, with positions of options; -1 stands
    for questions of a block that was not asked, if chance decided that. ``blocks`` is as for
    ``joint.cells``, its axes being columns; ``sizes`` are the numbers of options. ``generator``, or
    a seed, chooses the starts. A start ends when no probability moves by more than ``tolerance``.
    """
    sizes = tuple(integer("sizes", size, minimum=2) for size in sequence("sizes", sizes))
    rows, weights = _reports(patterns, counts, sizes)
    classes = integer("classes", classes, 1, MOST_CLASSES)
    model = _Model(rows, weights, sizes, steps_of(sizes, blocks), classes)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    parameters: Array
    value: float
    iterations: int
    converged: bool


class _Model:
    """The likelihood of one set of reports; parameters are one vector: w, then each p_j[c, k]."""

    def __init__(
        self,
        patterns: NDArray[np.int64],
        counts: Array,
        sizes: tuple[int, ...],
        steps: tuple[Step, ...],
        classes: int,
    ) -> None:
        self.patterns, self.counts, self.sizes = patterns, counts, sizes
        self.steps, self.classes = steps, classes
        self.shapes = [(classes,), *((classes, size) for size in sizes)]
        self.ends = np.cumsum([0, *(math.prod(shape) for shape in self.shapes)])
        self.free = classes - 1 + classes * sum(size - 1 for size in sizes)
        self.asked = [patterns[:, step.axes[0]] != NOT_ASKED for step in steps]
        self.options = [
            (patterns[:, j] == np.arange(size)[:, None]).astype(float)
            for j, size in enumerate(sizes)
        ]
        self.noise = [_noise(step, patterns) for step in steps]
        for step, asked in zip(steps, self.asked, strict=True):
            if ((patterns[:, step.axes] != NOT_ASKED) != asked[:, None]).any():
                raise ValueError(f"patterns must give all of a block or nothing, axes {step.axes}")

    def unpack(self, parameters: NDArray[Any]) -> list[NDArray[Any]]:
        pairs = zip(self.ends[:-1], self.ends[1:], self.shapes, strict=True)
        return [parameters[i:j].reshape(shape) for i, j, shape in pairs]

    def start(self, chance: np.random.Generator) -> Array:
        """Equal classes with answers drawn uniformly from all distributions."""
        draws = [chance.dirichlet(np.ones(size), self.classes).ravel() for size in self.sizes]
        return np.concatenate([np.full(self.classes, 1 / self.classes), *draws])

    def sorted(self, parameters: Array) -> Array:
        """The classes by falling share; equal ones by their answers."""
        parts = self.unpack(parameters)
        keys = np.column_stack([part.reshape(self.classes, -1) for part in parts])
        order = np.lexsort(-keys.T[::-1])
        return np.concatenate([part[order].ravel() for part in parts])

    def expectations(
        self, parameters: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
        """E-step: log-likelihood of each pattern, P(class | report), P(kept | class, report).

        Complex parameters are allowed, for derivatives.
        """
        shares, *answers = self.unpack(parameters)
        log_rates = np.zeros((len(self.patterns), self.classes), parameters.dtype)
        kept = []
        for step, asked, noise in zip(self.steps, self.asked, self.noise, strict=True):
            truth = np.full((len(self.patterns), self.classes), step.keep, parameters.dtype)
            for j in step.axes:
                truth *= answers[j].T[self.patterns[:, j]]
            rate = truth + noise[:, None]
            kept.append(np.where(asked[:, None] & (rate != 0), truth, 0) / np.where(rate, rate, 1))
            with np.errstate(divide="ignore"):  # a clear answer that no member of a class gives
                log_rates += np.where(asked[:, None], np.log(rate), 0)
        top = log_rates.real.max(axis=1, keepdims=True)
        joint = shares * np.exp(log_rates - top)
        total = joint.sum(axis=1)
        return np.log(total) + top[:, 0], joint / total[:, None], kept

    def numbers(self, parameters: NDArray[Any]) -> tuple[Any, list[NDArray[Any]]]:
        """The log-likelihood, and expected numbers: people in a class, kept answers option k."""
        values, members, kept = self.expectations(parameters)
        members = members * self.counts[:, None]
        numbers: list[NDArray[Any]] = [members.sum(axis=0)]
        numbers += [np.empty(0)] * len(self.sizes)
        for step, known in zip(self.steps, kept, strict=True):
            for j in step.axes:
                numbers[j + 1] = (self.options[j] @ (members * known)).T
        return values @ self.counts, numbers

    def improve(self, parameters: Array) -> tuple[float, Array]:
        """The log-likelihood here, and the parameters one EM step further.

        What was replaced says nothing of p: given the class, only kept answers count.
        """
        value, numbers = self.numbers(parameters)
        new = [numbers[0] / self.counts.sum()]
        for old, number in zip(self.unpack(parameters)[1:], numbers[1:], strict=True):
            total = number.sum(axis=1, keepdims=True)
            # A class that has emptied keeps its answers: any would do.
            new.append(np.where(total > 0, number, old) / np.where(total > 0, total, 1))
        return float(value), np.concatenate([part.ravel() for part in new])

    def normalized(self, parameters: Array) -> Array:
        parts = self.unpack(parameters)
        return np.concatenate([(x / x.sum(axis=-1, keepdims=True)).ravel() for x in parts])

    def from_logs(self, logs: Array) -> Array:
        scaled = [(x - x.max(axis=-1, keepdims=True)).ravel() for x in self.unpack(logs)]
        return self.normalized(np.exp(np.concatenate(scaled)))

    def climb(self, here: Array, tolerance: float, max_iterations: int) -> _Run:
        """EM, and a quasi-Newton spurt where EM creeps along a ridge (Aitkin & Aitkin 1996)."""
        run = self.em(here, tolerance, min(max_iterations, PATIENCE))
        while not run.converged and run.iterations < max_iterations:
            left = min(max_iterations - run.iterations, PATIENCE)
            last = self.em(self.spurt(run), tolerance, left)
            done = run.iterations + last.iterations
            run = _Run(last.parameters, last.value, done, last.converged)
        return run

    def spurt(self, run: _Run) -> Array:
        """L-BFGS in the logarithms; p (d/dp) log-likelihood is a number of the E-step."""
        from scipy.optimize import minimize  # slow to load, and most fits do without

        total = self.counts.sum()

        def loss(logs: Array) -> tuple[float, Array]:
            point = self.from_logs(logs)
            value, numbers = self.numbers(point)
            pairs = zip(numbers, self.unpack(point), strict=True)
            slopes = [(x - p * x.sum(axis=-1, keepdims=True)).ravel() for x, p in pairs]
            return -float(value) / total, -np.concatenate(slopes) / total

        options = {"maxiter": 1000, "maxcor": 30, "gtol": 1e-10, "ftol": 1e-16}
        logs = np.log(np.maximum(run.parameters, 1e-300))
        found = minimize(loss, logs, jac=True, method="L-BFGS-B", options=options)
        point = self.from_logs(found.x)
        return point if self.improve(point)[0] >= run.value else run.parameters

    def em(self, here: Array, tolerance: float, max_iterations: int) -> _Run:
        """EM, two steps at a time and an extrapolation along them, which must not lose."""
        value, first = self.improve(here)
        reach = 4.0  # how many steps at once: more after success, fewer after failure
        for iteration in range(1, max_iterations + 1):
            if np.abs(first - here).max() <= tolerance:
                return _Run(first, self.improve(first)[0], iteration, True)
            _, second = self.improve(first)
            change, bend = first - here, second - 2 * first + here
            length = math.sqrt(bend @ bend)
            factor = min(math.sqrt(change @ change) / length if length > 0 else 1.0, reach)
            # Probabilities on their way to 0 go far, but stay positive: 0 is for ever.
            further = here + 2 * factor * change + factor**2 * bend
            further = self.normalized(np.maximum(further, second / 100))
            further_value, further_next = self.improve(further)
            if further_value >= value:
                reach *= 4 if factor == reach else 1
                here, value, first = further, further_value, further_next
            else:
                reach = max(reach / 4, 2.0)
                here = second
                value, first = self.improve(here)
        return _Run(here, value, max_iterations, False)

    def score(self, parameters: NDArray[Any]) -> NDArray[Any]:
        """The gradient in every parameter as if free (Fisher's identity: that of the E-step)."""
        _, numbers = self.numbers(parameters)
        return np.concatenate([x.ravel() for x in numbers]) / np.where(parameters, parameters, 1)

    def errors(self, parameters: Array) -> tuple[Array, bool]:
        """Standard errors of all parameters, and whether the information was singular.

        Each distribution gives up its likeliest option, whose probability is 1 minus the others;
        options on the edge are left out. The observed information in the rest is the Jacobian of
        the score, by complex steps: exact but for rounding.
        """
        directions, edges = self._directions(parameters)
        information = np.empty((len(directions), len(directions)))
        for row, direction in enumerate(directions):
            moved = self.score(parameters + 1e-20j * direction)
            information[row] = -(directions @ moved.imag) / 1e-20
        scale = np.sqrt(np.maximum(np.diag(information), 0.0))
        if not np.isfinite(information).all() or not scale.all():
            return np.full_like(parameters, np.nan), True
        values, vectors = np.linalg.eigh((information + information.T) / 2 / np.outer(scale, scale))
        if values.size and values[0] < SINGULAR:
            return np.full_like(parameters, np.nan), True
        root = (vectors / np.sqrt(values)).T @ (directions / scale[:, None])
        errors = np.sqrt((root**2).sum(axis=0))
        errors[edges] = np.nan
        return errors, False

    def _directions(self, parameters: Array) -> tuple[Array, NDArray[np.bool_]]:
        rows, edges = [], parameters < EDGE
        for start, part in zip(self.ends[:-1], self.unpack(parameters), strict=True):
            for c, law in enumerate(part.reshape(-1, part.shape[-1])):
                first, likeliest = start + c * law.size, int(law.argmax())
                edges[first + likeliest] = law[likeliest] > 1 - EDGE and law.size > 1
                for option in range(law.size):
                    if option != likeliest and law[option] >= EDGE:
                        row = np.zeros_like(parameters)
                        row[first + option], row[first + likeliest] = 1, -1
                        rows.append(row)
        return np.array(rows).reshape(-1, parameters.size), edges


def _noise(step: Step, patterns: NDArray[np.int64]) -> Array:
    """The probability that chance alone makes each pattern's report of the block."""
    noise = step.noise.ravel()  # one value for a block, one an option for a channel
    return noise[patterns[:, step.axes[0]] if noise.size > 1 else np.zeros(len(patterns), int)]


def _warning(model: _Model, singular: bool) -> str | None:
    """Why the reports may not determine the classes (Goodman 1974: counting is not enough)."""
    seen = _observable(model)
    if seen < model.free:
        return f"{model.free} parameters, but the reports determine {seen} at most"
    if singular:
        return (
            "the information matrix is singular: other classes explain the reports as well; "
            "take fewer classes or more questions"
        )
    return None


def _observable(model: _Model) -> int:
    """How many numbers a distribution of reports has, counted up to the number of parameters.

    Sets of blocks that somebody answered together, each with prod (K_B - 1) interactions; for
    blocks all answered by the same people that adds up to prod K_B - 1.
    """
    cells = [math.prod(model.sizes[j] for j in step.axes) for step in model.steps]
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


# --- arguments ----------------------------------------------------------------------------------


def _reports(patterns: Any, counts: Any, sizes: tuple[int, ...]) -> tuple[NDArray[np.int64], Array]:
    """Distinct patterns in order and their counts, refused unless they fit the questions."""
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
