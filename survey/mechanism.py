"""What chance may do to the answers of one block before they leave the browser.

Pure: no Django, no clock, and no randomness but the `draw` that the caller brings. The same
procedure stands in static/respond/randomizer.js; the vectors in tests/vectors hold the two
together. A mechanism's meaning never changes: a new one gets a new name in MECHANISMS.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import ClassVar

SCALE = 2**32  # probabilities on the wire are integers over this
MAX_EPSILON = 8  # 32 bits resolve the keep probability well up to here
MAX_CELLS = 2**20

Draw = Callable[[], int]  # an integer, uniform on [0, SCALE), fresh at every call


class MechanismError(ValueError):
    """Parameters outside what the mechanism can promise."""


def uniform(size: int, draw: Draw) -> int:
    """An option position, uniform on [0, size): exact for every size, by rejection."""
    limit = SCALE - SCALE % size
    while (word := draw()) >= limit:
        pass
    return word % size


@dataclass(frozen=True)
class Replacement:
    """Keep all answers of a block with probability keep/SCALE, else replace every one of them.

    The replacements are uniform and independent, so on the block's K = prod(sizes) cells this is
    k-ary randomized response, and its loss is exactly ln(1 + cK/(1-c)) with c = keep/SCALE
    (Kairouz, Oh and Viswanath 2016; Warner 1965 for K = 2).
    """

    keep: int
    sizes: tuple[int, ...]

    name: ClassVar[str] = "replace/1"

    def __post_init__(self) -> None:
        if not self.sizes or any(type(size) is not int or size < 2 for size in self.sizes):
            raise MechanismError(f"sizes: every question needs 2 options or more, not {self.sizes}")
        if self.cells > MAX_CELLS:
            raise MechanismError(
                f"sizes: {self.cells:,} combinations of answers in one block; at most {MAX_CELLS:,}"
            )
        if type(self.keep) is not int or not 0 < self.keep < SCALE:
            raise MechanismError(f"keep: an integer between 1 and {SCALE - 1}, not {self.keep}")

    @classmethod
    def for_epsilon(cls, epsilon: float, sizes: Sequence[int]) -> "Replacement":
        """The most truthful mechanism whose loss does not exceed `epsilon`.

        `keep` is rounded down in 80-digit arithmetic, so that the real loss is never above the
        stated one, whatever the rounding of binary floating point.
        """
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
            raise MechanismError(f"epsilon: a number, not {epsilon!r}")
        if not 0 < epsilon <= MAX_EPSILON:
            raise MechanismError(f"epsilon: above 0 and at most {MAX_EPSILON}, not {epsilon}")
        cells = cls(1, tuple(sizes)).cells  # refuses sizes that no mechanism can have
        with localcontext() as context:
            context.prec = 80
            gain = Decimal(epsilon).exp() - 1
            keep = int((SCALE * gain / (gain + cells)).to_integral_value(ROUND_FLOOR))
            if keep * cells > gain * (SCALE - keep):
                raise ArithmeticError("the rounded keep probability exceeds the stated epsilon")
        if keep == 0:
            raise MechanismError(
                f"epsilon: {epsilon} is too small to be told from 0 with {cells:,} combinations "
                "of answers in one block"
            )
        return cls(keep, tuple(sizes))

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    @property
    def epsilon(self) -> float:
        """The loss of the whole block, from the integer that is really used."""
        return math.log1p(self.keep * self.cells / (SCALE - self.keep))

    def channel(self, question: int) -> tuple[float, float]:
        """(a, b): the probability that an option is reported if it is true, and if it is not."""
        size = self.sizes[question]
        chance = SCALE - self.keep
        a = Fraction(self.keep * size + chance, size * SCALE)
        return float(a), float(Fraction(chance, size * SCALE))

    def probability(self, answers: Sequence[int], report: Sequence[int]) -> Fraction:
        """P(report | answers), exact."""
        kept = Fraction(self.keep, SCALE) if tuple(answers) == tuple(report) else Fraction(0)
        return kept + Fraction(SCALE - self.keep, SCALE * self.cells)

    def randomize(self, answers: Sequence[int], draw: Draw) -> tuple[int, ...]:
        """The report for these answers. The words drawn never depend on the answers."""
        if len(answers) != len(self.sizes):
            raise MechanismError(f"answers: {len(self.sizes)} needed, {len(answers)} given")
        for answer, size in zip(answers, self.sizes, strict=True):
            if type(answer) is not int or not 0 <= answer < size:
                raise MechanismError(f"answers: a position from 0 to {size - 1}")
        kept = draw() < self.keep
        chance = [uniform(size, draw) for size in self.sizes]
        return tuple(answers) if kept else tuple(chance)


MECHANISMS = {mechanism.name: mechanism for mechanism in (Replacement,)}
