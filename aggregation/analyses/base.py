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

from aggregation.analyses import coins
from aggregation.counting.tables import Axes, Counts, Tally
from aggregation.statistics import joint
from aggregation.statistics.joint import Block
from survey.design import Design, Measure, Question

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
        """Read a list of different questions that people answer with one option."""
        keys = self.keys(name, least, most)
        for key in keys:
            if why := why_not_counted(question_of(self.design, key)):
                raise AnalysisError(name, f"{key}: {why}")
        return keys

    def keys(self, name: str, least: int, most: int) -> tuple[str, ...]:
        """Read a list of different questions of any kind."""
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
        (key,) = self.keys(name, 1, 1)
        return key

    def choice(self, name: str, option: str) -> Choice:
        """Read a question and the option that counts as yes; without one, the last of two."""
        question = self.question(name)
        if why := why_not_counted(question_of(self.design, question)):
            raise AnalysisError(name, f"{question}: {why}")
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
    """A table of reports and the questions along its axes.

    `tally` is that of the release. Only the gate of several follow-ups needs it.
    """

    design: Design
    axes: Axes
    table: Counts
    tally: Tally | None = None

    def check_reports(self) -> None:
        """Refuse an empty table."""
        if not self.table.any():
            raise AnalysisError("reports", "nobody has been asked all of these questions yet")

    def parts(self) -> list[Block]:
        """Return the coins of the questions along the axes."""
        return coins.parts(self.design, self.axes, self.tally)


# --- Questions and their values -------------------------------------------------------------------
#
# Along an axis, a question has a place for every value in a report: its options, after the levels
# of a number, and last “not asked” for a follow-up.

NOT_ASKED = "Not asked"


def sizes(axes: Axes, design: Design) -> list[int]:
    """Return the numbers of places along these axes."""
    return [question_of(design, key).values for key in axes]


def question_of(design: Design, key: str) -> Question:
    block, i = design.places[key][0]
    return block.questions[i]


def categories(question: Question) -> list[tuple[str | None, str]]:
    """Return the key and text of each value of a question that people answer with one option."""
    found: list[tuple[str | None, str]] = [(one.key, one.text) for one in question.options]
    return [*found, (None, NOT_ASKED)] if question.may_be_none else found


def why_not_counted(question: Question) -> str:
    """Return why a table cannot count people by their answer to a question; "" if it can."""
    if question.size > len(question.options):
        return (
            "devices round numbers at random, so we can estimate their mean but not how many "
            "people gave each number"
        )
    if not question.can_be_gate:
        return (
            "each device sends only one of the picks, so we cannot tell which options were picked "
            "together"
        )
    return ""


def mean_of(question: Question) -> Measure | None:
    """Return the mean of a number or a scale; None if the question has none."""
    return next((one for one in question.measures() if one.name == "mean"), None)


def decide_each_other(design: Design, first: str, second: str) -> bool:
    """Return whether the answer to one question decides whether the other is asked."""
    return first in gates_of(design, second) or second in gates_of(design, first)


def gates_of(design: Design, key: str) -> list[str]:
    """Return the questions that decide whether this one is asked, the nearest first."""
    found: list[str] = []
    only_if = question_of(design, key).only_if
    while only_if:
        found.append(only_if[0])
        only_if = question_of(design, only_if[0]).only_if
    return found


def root_of(design: Design, key: str) -> str:
    """Return the first question of the tree that a question belongs to."""
    return [key, *gates_of(design, key)][-1]


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


def interval_json(low: float, high: float) -> Figures:
    return {"level": LEVEL, "low": finite(low), "high": finite(high)}


def effect_json(effect: joint.Effect) -> Figures:
    low, high = effect.interval(LEVEL)
    return {
        "estimate": finite(effect.value),
        "standard_error": finite(effect.standard_error),
        "interval": interval_json(low, high),
    }


def finite(value: float | None) -> float | None:
    """Return a number that JSON can express, or None."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_table(values: NDArray[np.float64]) -> Any:
    if values.ndim == 0:
        return finite(float(values))
    return [finite_table(row) for row in values]
