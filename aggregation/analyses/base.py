"""What all kinds of analyses share.

An analysis names the questions of each table of reports that it needs; jobs/ counts those tables
over the batches, and `figures` makes estimates of them. Pure: no database and no clock, and the
same request always gives the same figures. Background questions are like all others here.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aggregation.counting.tables import Axes, Counts
from aggregation.statistics import joint
from survey.design import Block, Design, Question
from survey.design.mechanism import SCALE

LEVEL = 0.95

Figures = dict[str, Any]


class AnalysisError(ValueError):
    """A request that cannot be computed: the member that is wrong, and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why)
        self.where, self.why = where, why

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


class Analysis(ABC):
    """A kind of analysis with the members of a request."""

    schema: ClassVar[Figures]  # JSON Schema of a request, without its kind

    @classmethod
    @abstractmethod
    def read(cls, request: "AnalysisRequest") -> Self:
        """Return the analysis for a request; AnalysisError if it is not valid."""

    @abstractmethod
    def tables(self) -> list[Axes]:
        """Return the questions of each table to count."""

    @abstractmethod
    def figures(self, views: list["ReportTable"]) -> Figures:
        """Return the figures from these tables; AnalysisError if there are none."""


class Choice(NamedTuple):
    """One option of a question that counts as yes, while all others count as no."""

    question: str
    option: int


class AnalysisRequest:
    """The members of a request. Reading one removes it, so that unknown ones are left over."""

    def __init__(self, members: Mapping[str, Any], design: Design) -> None:
        self.members = dict(members)
        self.design = design

    def questions(self, name: str, least: int, most: int) -> tuple[str, ...]:
        """Read a list of different questions."""
        keys = self.members.pop(name, [])
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise AnalysisError(name, "must be a list of keys")
        known = {question.key for question in self.design.questions}
        for key in keys:
            if key not in known:
                raise AnalysisError(name, f"there is no {key[:50]!r} in this survey")
        if len(set(keys)) < len(keys):
            raise AnalysisError(name, "choose each question only once")
        check_length(name, keys, least, most)
        return tuple(keys)

    def question(self, name: str) -> str:
        """Read the key of one question."""
        if not isinstance(self.members.get(name), str):
            raise AnalysisError(name, "must be the key of a question")
        self.members[name] = [self.members[name]]
        (key,) = self.questions(name, 1, 1)
        return key

    def choice(self, name: str, option: str) -> Choice:
        """Read a question and the option that counts as yes; without one, the last of two."""
        question = self.question(name)
        keys = [one.key for one in question_of(self.design, question).options]
        key = self.members.pop(option, None)
        if key is None and len(keys) == 2:
            return Choice(question, 1)
        if key not in keys:
            raise AnalysisError(option, f"must be an option of {question}: {', '.join(keys)}")
        return Choice(question, keys.index(key))

    def number(self, name: str, least: int, most: int) -> int:
        number = self.members.pop(name, least)
        if type(number) is not int or not least <= number <= most:
            raise AnalysisError(name, f"must be a whole number from {least} to {most}")
        return number

    def refuse_others(self) -> None:
        """Refuse members that have not been read."""
        for name in self.members:
            raise AnalysisError(str(name)[:50], "is not known")


def check_length(name: str, values: Sequence[object], least: int, most: int) -> None:
    if not least <= len(values) <= most:
        raise AnalysisError(name, f"choose {least} to {most}, not {len(values)}")


@dataclass(frozen=True)
class ReportTable:
    """A table of reports and the questions along its axes."""

    design: Design
    axes: Axes
    table: Counts

    def check_reports(self) -> None:
        """Refuse an empty table."""
        if not self.table.any():
            raise AnalysisError("reports", "nobody has been asked all of these questions yet")

    def blocks(self) -> list[joint.Block]:
        """Group the axes by block."""
        places: dict[str, tuple[float, list[int]]] = {}
        for position, key in enumerate(self.axes):
            block, _ = place_of(self.design, key)
            places.setdefault(block.key, (block.keep / SCALE, []))[1].append(position)
        return [joint.Block(keep, tuple(axes)) for keep, axes in places.values()]


# --- Places in a design ---------------------------------------------------------------------------


def sizes(axes: Axes, design: Design) -> list[int]:
    """Return the numbers of options along these axes."""
    return [question_of(design, key).size for key in axes]


def place_of(design: Design, key: str) -> tuple[Block, int]:
    """Return the block of a question, and its position there."""
    return next(
        (block, i)
        for block in design.blocks
        for i, question in enumerate(block.questions)
        if question.key == key
    )


def question_of(design: Design, key: str) -> Question:
    block, i = place_of(design, key)
    return block.questions[i]


# --- JSON -----------------------------------------------------------------------------------------

TEXT: Figures = {"type": "string"}


def array_schema(items: Figures, least: int, most: int) -> Figures:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def object_schema(required: Sequence[str], **properties: Figures) -> Figures:
    """Describe an object with these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def choice_json(design: Design, choice: Choice) -> Figures:
    option = question_of(design, choice.question).options[choice.option]
    return {"question": choice.question, "option": option.key}


def effect_json(effect: joint.Effect) -> Figures:
    low, high = effect.interval(LEVEL)
    return {
        "estimate": finite(effect.value),
        "standard_error": finite(effect.standard_error),
        "interval": {"level": LEVEL, "low": finite(low), "high": finite(high)},
    }


def finite(value: float | None) -> float | None:
    """Return a number that JSON can express, or None."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_table(values: NDArray[np.float64]) -> Any:
    if values.ndim == 0:
        return finite(float(values))
    return [finite_table(row) for row in values]
