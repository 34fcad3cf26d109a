"""The likelihood of latent classes, and its maximum; ``profiles`` explains the model.

References
    Aitkin & Aitkin 1996, Stat. Comput. 6:127 (EM first, then a second-order method)
    Dempster, Laird & Rubin 1977, J. R. Stat. Soc. B 39:1 (EM)
    Varadhan & Roland 2008, Scand. J. Stat. 35:335 (extrapolated EM)
    Liu & Nocedal 1989, Math. Program. 45:503 (L-BFGS)
    Squire & Trapp 1998, SIAM Rev. 40:110 (derivatives by a complex step)
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregation.statistics.numeric.arguments import Floats
from aggregation.statistics.tables.blocks import Step

NOT_ASKED = -1
# A probability this close to 0 counts as on the edge of what is possible: its estimate is not
# normally distributed and has no standard error.
EDGE = 1e-6
# Information matrices less regular than this, once scaled to a unit diagonal, are singular.
SINGULAR = 1e-8
# EM iterations before something faster is tried.
PATIENCE = 100


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    parameters: Floats
    value: float
    iterations: int
    converged: bool


class Model:
    """The likelihood of one set of reports; parameters are one vector: w, then each p_j[c, k].

    A pattern has -1 where chance did not choose the block, and as many as there are options where
    an answer decided that a follow-up is not asked. That is certain where it happens.
    """

    def __init__(
        self,
        patterns: NDArray[np.int64],
        counts: Floats,
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

    def start(self, chance: np.random.Generator) -> Floats:
        """Return equal classes with answers drawn uniformly from all distributions."""
        draws = [chance.dirichlet(np.ones(size), self.classes).ravel() for size in self.sizes]
        return np.concatenate([np.full(self.classes, 1 / self.classes), *draws])

    def sorted(self, parameters: Floats) -> Floats:
        """Return the classes by falling share; equal ones by their answers."""
        parts = self.unpack(parameters)
        keys = np.column_stack([part.reshape(self.classes, -1) for part in parts])
        order = np.lexsort(-keys.T[::-1])
        return np.concatenate([part[order].ravel() for part in parts])

    def expectations(
        self, parameters: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
        """Return the log-likelihood of each pattern, P(class | report) and P(kept | class, report).

        Complex parameters are allowed, for derivatives.
        """
        shares, *answers = self.unpack(parameters)
        log_rates = np.zeros((len(self.patterns), self.classes), parameters.dtype)
        kept = []
        for step, asked, noise in zip(self.steps, self.asked, self.noise, strict=True):
            truth = np.full((len(self.patterns), self.classes), step.keep, parameters.dtype)
            for j in step.axes:
                truth *= np.vstack([answers[j].T, np.ones(self.classes)])[self.patterns[:, j]]
            rate = truth + noise[:, None]
            kept.append(np.where(asked[:, None] & (rate != 0), truth, 0) / np.where(rate, rate, 1))
            with np.errstate(divide="ignore"):  # a clear answer that no member of a class gives
                log_rates += np.where(asked[:, None], np.log(rate), 0)
        top = log_rates.real.max(axis=1, keepdims=True)
        joint = shares * np.exp(log_rates - top)
        total = joint.sum(axis=1)
        return np.log(total) + top[:, 0], joint / total[:, None], kept

    def numbers(self, parameters: NDArray[Any]) -> tuple[Any, list[NDArray[Any]]]:
        """Return the log-likelihood, and by class the expected people and kept answers."""
        values, members, kept = self.expectations(parameters)
        members = members * self.counts[:, None]
        numbers: list[NDArray[Any]] = [members.sum(axis=0)]
        numbers += [np.empty(0)] * len(self.sizes)
        for step, known in zip(self.steps, kept, strict=True):
            for j in step.axes:
                numbers[j + 1] = (self.options[j] @ (members * known)).T
        return values @ self.counts, numbers

    def improve(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood here, and the parameters one EM step further.

        What was replaced says nothing of p: given the class, only kept answers count.
        """
        value, numbers = self.numbers(parameters)
        new = [numbers[0] / self.counts.sum()]
        for old, number in zip(self.unpack(parameters)[1:], numbers[1:], strict=True):
            total = number.sum(axis=1, keepdims=True)
            # A class that has emptied keeps its answers: any would do.
            new.append(np.where(total > 0, number, old) / np.where(total > 0, total, 1))
        return float(value), np.concatenate([part.ravel() for part in new])

    def normalized(self, parameters: Floats) -> Floats:
        parts = self.unpack(parameters)
        return np.concatenate([(x / x.sum(axis=-1, keepdims=True)).ravel() for x in parts])

    def from_logs(self, logs: Floats) -> Floats:
        scaled = [(x - x.max(axis=-1, keepdims=True)).ravel() for x in self.unpack(logs)]
        return self.normalized(np.exp(np.concatenate(scaled)))

    def climb(self, here: Floats, tolerance: float, max_iterations: int) -> Run:
        """Climb by EM, and by a quasi-Newton method if EM is slow (Aitkin & Aitkin 1996)."""
        run = self.em(here, tolerance, min(max_iterations, PATIENCE))
        while not run.converged and run.iterations < max_iterations:
            left = min(max_iterations - run.iterations, PATIENCE)
            last = self.em(self.spurt(run), tolerance, left)
            done = run.iterations + last.iterations
            run = Run(last.parameters, last.value, done, last.converged)
        return run

    def spurt(self, run: Run) -> Floats:
        """Climb by L-BFGS in the logarithms.

        p (d/dp) log-likelihood is a number of the E-step.
        """
        from scipy.optimize import minimize  # slow to load, and most fits do without

        total = self.counts.sum()

        def loss(logs: Floats) -> tuple[float, Floats]:
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

    def em(self, here: Floats, tolerance: float, max_iterations: int) -> Run:
        """Climb by EM, two steps at a time and an extrapolation along them, which must not lose."""
        value, first = self.improve(here)
        reach = 4.0  # how many steps at once: more after success, fewer after failure
        for iteration in range(1, max_iterations + 1):
            if np.abs(first - here).max() <= tolerance:
                return Run(first, self.improve(first)[0], iteration, True)
            _, second = self.improve(first)
            change, bend = first - here, second - 2 * first + here
            length = math.sqrt(bend @ bend)
            factor = min(math.sqrt(change @ change) / length if length > 0 else 1.0, reach)
            # Probabilities that go to 0 go far but stay positive, as they could never leave 0.
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
        return Run(here, value, max_iterations, False)

    def score(self, parameters: NDArray[Any]) -> NDArray[Any]:
        """Return the gradient in every parameter as if free, by Fisher's identity."""
        _, numbers = self.numbers(parameters)
        return np.concatenate([x.ravel() for x in numbers]) / np.where(parameters, parameters, 1)

    def errors(self, parameters: Floats) -> tuple[Floats, bool]:
        """Return standard errors of all parameters, and whether the information was singular.

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

    def _directions(self, parameters: Floats) -> tuple[Floats, NDArray[np.bool_]]:
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


def _noise(step: Step, patterns: NDArray[np.int64]) -> Floats:
    """Return the probability that chance alone makes each pattern's report of the block."""
    if step.noise.size == 1:
        return np.full(len(patterns), step.noise.item())
    noise: Floats = step.noise.squeeze()[tuple(patterns[:, sorted(step.axes)].T)]
    return noise
