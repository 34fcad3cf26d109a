"""What can be asked of a release beyond its estimates: the parts that all analyses share.

An analysis is a kind and what it is about. It names the questions of each joint table of reports
that it needs; counting those tables over the batches is the work of jobs/, and `figures` makes
estimates of them. Pure: no database, no clock, and the same request gives the same figures.

Background questions are questions like all others here, each a block of its own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aggregation.counting.tables import Axes
from aggregation.statistics import joint
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, Question
from survey.design.mechanism import SCALE

LEVEL = 0.95

Counts = NDArray[np.int64]
Figures = dict[str, Any]


class AnalysisError(ValueError):
    """What was asked for cannot be done: where, and why."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where, why)
        self.where, self.why = where, why

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


class Analysis(ABC):
    """A kind of analysis, with what it is about."""

    schema: ClassVar[Figures]  # of a request, besides its kind, as JSON Schema

    @classmethod
    @abstractmethod
    def read(cls, asked: "Asked") -> Self:
        """Return the analysis that a request describes; AnalysisError."""

    @abstractmethod
    def tables(self) -> list[Axes]:
        """Name the questions of each table that is to be counted."""

    @abstractmethod
    def figures(self, views: list["View"]) -> Figures:
        """Return what these tables say; AnalysisError."""


class Choice(NamedTuple):
    """One option of a question, as yes; the others together are no."""

    question: str
    option: int


class Asked:
    """The members of a request, taken one by one; what is left at the end is unknown."""

    def __init__(self, members: Mapping[str, Any], design: Design) -> None:
        self.members = dict(members)
        self.design = design

    def keys(self, name: str, known: Sequence[str], least: int, most: int) -> tuple[str, ...]:
        """A list of distinct keys."""
        given = self.members.pop(name, [])
        if not isinstance(given, list) or not all(isinstance(key, str) for key in given):
            raise AnalysisError(name, "a list of keys")
        for key in given:
            if key not in known:
                raise AnalysisError(name, f"there is no {key[:50]!r} in this survey")
        if len(set(given)) < len(given):
            raise AnalysisError(name, "the same key stands there twice")
        if not least <= len(given) <= most:
            raise AnalysisError(name, f"{least} to {most} of them, not {len(given)}")
        return tuple(given)

    def questions(self, name: str, least: int, most: int) -> tuple[str, ...]:
        return self.keys(name, [question.key for question in self.design.questions], least, most)

    def question(self, name: str) -> str:
        """Return the key of one question."""
        if not isinstance(self.members.get(name), str):
            raise AnalysisError(name, "the key of a question")
        self.members[name] = [self.members[name]]
        (key,) = self.questions(name, 1, 1)
        return key

    def choice(self, name: str, option: str) -> "Choice":
        """A question, and the option of it that counts as yes; without one, the last of two."""
        question = self.question(name)
        keys = [one.key for one in question_of(self.design, question).options]
        given = self.members.pop(option, None)
        if given is None and len(keys) == 2:
            return Choice(question, 1)
        if given not in keys:
            raise AnalysisError(option, f"one of the options of {question}: {', '.join(keys)}")
        return Choice(question, keys.index(given))

    def number(self, name: str, least: int, most: int) -> int:
        given = self.members.pop(name, least)
        if type(given) is not int or not least <= given <= most:
            raise AnalysisError(name, f"a whole number from {least} to {most}")
        return given

    def nothing_else(self) -> None:
        for name in self.members:
            raise AnalysisError(str(name)[:50], "there is nothing of this name to ask")


@dataclass(frozen=True)
class View:
    """A table of reports, and the questions along its axes."""

    design: Design
    axes: Axes
    table: Counts

    def check_reports(self) -> None:
        """Refuse an empty table."""
        if not self.table.any():
            raise AnalysisError("reports", "nobody has been asked all of these questions yet")

    def blocks(self) -> list[joint.Block]:
        """Return which of the axes share a coin."""
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
    """The block of a question, and its position there."""
    return next(
        (block, i)
        for block in design.blocks
        for i, question in enumerate(block.questions)
        if question.key == key
    )


def question_of(design: Design, key: str) -> Question:
    block, i = place_of(design, key)
    return block.questions[i]


def channel_of(design: Design, key: str) -> Channel:
    block, i = place_of(design, key)
    return Channel(*block.mechanism.channel(i))


def named(design: Design, choice: Choice) -> Figures:
    option = question_of(design, choice.question).options[choice.option]
    return {"question": choice.question, "option": option.key}


# --- Requests as JSON Schema ----------------------------------------------------------------------

TEXT: Figures = {"type": "string"}


def array(items: Figures, least: int, most: int) -> Figures:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def members(required: Sequence[str], **properties: Figures) -> Figures:
    """An object of these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


# --- Figures as JSON ------------------------------------------------------------------------------


def plain(value: float | None) -> float | None:
    """A number that JSON knows: what is not finite has no figure."""
    return float(value) if value is not None and math.isfinite(value) else None


def effect_json(effect: joint.Effect) -> Figures:
    low, high = effect.interval(LEVEL)
    return {
        "estimate": plain(effect.value),
        "standard_error": plain(effect.standard_error),
        "interval": {"level": LEVEL, "low": plain(low), "high": plain(high)},
    }


def plain_table(values: NDArray[np.float64]) -> Any:
    """A table of such numbers."""
    if values.ndim == 0:
        return plain(float(values))
    return [plain_table(row) for row in values]
