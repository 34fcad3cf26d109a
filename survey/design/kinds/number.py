"""A whole number between public bounds, such as days or an amount of money.

The device rounds it at random to one of a few levels, right on average; the planner chooses how
many. So the mean can be estimated, and not the distribution: for that, ask a scale.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Any

from survey.design.mechanism import MAX_BOUND, MAX_CELLS, Answer, Cells, Shape
from survey.design.questions import DesignError, Field, Measure, Question, check_text, pick, shapes

MAX_UNIT = 30
MOST_LEVELS = 20  # more would be better only above every ε that a site allows


@dataclass(frozen=True)
class Number(Question):
    kind = "number"
    label = "Number"
    fields = {
        "least": Field(int, "a whole number", required=True),
        "most": Field(int, "a whole number", required=True),
        "unit": Field(str, "a text"),
    }
    members = ("least", "most", "levels", "unit")
    own_options = (0, 0)
    can_be_gate = False

    least: int = 0
    most: int = 0
    levels: int = 1  # steps from the lowest level to the highest
    unit: str = ""

    @classmethod
    def sample(cls, options: Sequence[str]) -> dict[str, Any]:
        return {"least": 0, "most": 100}

    @classmethod
    def check(cls, options: Sequence[str], details: Mapping[str, Any]) -> None:
        least, most = details["least"], details["most"]
        for name, bound in ("least", least), ("most", most):
            if abs(bound) > MAX_BOUND:
                raise DesignError(name, f"must be within ±{MAX_BOUND:,}, not {bound:,}")
        if least >= most:
            raise DesignError("most", f"must be above the least number, {least}, not {most}")
        unit = details.get("unit", "")
        if len(unit) > MAX_UNIT:
            raise DesignError("unit", f"at most {MAX_UNIT} characters, not {len(unit)}")
        check_text("unit", unit)

    @property
    def size(self) -> int:
        return self.levels + 1 + len(self.options)

    def shape(self, earlier: Sequence[Question]) -> Shape:
        bounds = self.least, self.most
        return Shape(self.size, self.gate(earlier), bounds, instead=len(self.options))

    def fitted(self, block: Sequence[Question], epsilon: float) -> "Number":
        """Return the question with the number of levels that adds the least variance."""
        best, least_noise = self, math.inf
        for levels in range(1, min(self.most - self.least, MOST_LEVELS) + 1):
            tried = replace(self, levels=levels)
            others = [tried if one.key == self.key else one for one in block]
            cells = math.prod(one.values for one in others if not one.only_if)
            if cells > MAX_CELLS:
                break
            gain = math.expm1(epsilon)
            noise = added_variance(levels, gain / (gain + Cells(1, shapes(others)).cells))
            if noise >= least_noise:
                break
            best, least_noise = tried, noise
        return best

    def level(self, place: int) -> float:
        """Return the number that a level stands for."""
        return self.least + (self.most - self.least) * place / self.levels

    def simulate(self, shares: Sequence[float], random: Random) -> Answer:
        """Return a number; `shares` are those of equally wide parts of the range."""
        part = pick(shares, random)
        width = (self.most - self.least) / len(shares)
        low, high = (round(self.least + width * end) for end in (part, part + 1))
        return random.randint(low, high)

    def uniform(self) -> list[float]:
        return [1.0]

    def measures(self) -> list[Measure]:
        numbers = range(self.levels + 1)
        weights = [self.level(place) if place in numbers else 0.0 for place in range(self.values)]
        among = None if len(numbers) == self.values else self._only(*numbers)
        instead = [
            Measure("share", self._only(self.levels + 1 + i), option.key)
            for i, option in enumerate(self.options)
        ]
        concerned = self._of_concerned(instead) if self.only_if else []
        return [Measure("mean", tuple(weights), among=among), *instead, *concerned]


@lru_cache(maxsize=4096)
def added_variance(levels: int, kept: float) -> float:
    """Return the largest variance that privacy adds to one number on [-1, 1].

    As a level, a number x between the levels at `low` and `high` has the mean x and the mean square
    x^2 + (x-low)(high-x). With probability c = `kept` it is reported, otherwise a level drawn at
    random, whose mean square is r. The variance of the report, divided by c^2, is what is added: a
    parabola between two levels, with its peak at (low+high)/(2c).
    """
    r = (levels + 2) / (3 * levels)
    worst = 0.0
    for step in range(levels):
        low, high = 2 * step / levels - 1, 2 * (step + 1) / levels - 1
        x = min(max((low + high) / 2 / kept, low), high)
        square = x * x + (x - low) * (high - x)
        worst = max(worst, kept * square + (1 - kept) * r - (kept * x) ** 2)
    return worst / kept**2
