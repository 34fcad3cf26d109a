"""An analysis in words: what was asked, and what it found, once there are figures.

Rows for a page, lines for a spreadsheet, pictures. Pure: a design, what was asked and the figures
of a job go in. Nothing is estimated here; limits, odds and shades follow from the figures.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from aggregation.analyses.base import Figures, question_of
from survey.design import Design
from survey.spreadsheets import Line

Z = 1.959963984540054  # of a normal distribution, LEVEL lies within


@dataclass(frozen=True)
class Names:
    """The survey's own texts, by key."""

    design: Design

    def question(self, key: str) -> str:
        return question_of(self.design, key).text

    def quoted(self, key: str) -> str:
        return f"“{self.question(key)}”"

    def options(self, key: str) -> list[str]:
        return [option.text for option in question_of(self.design, key).options]

    def option(self, question: str, key: str) -> str:
        options = question_of(self.design, question).options
        return next(option.text for option in options if option.key == key)


@dataclass(frozen=True)
class Findings(ABC):
    title: ClassVar[str]  # of the kind
    introduction: ClassVar[str]
    template: ClassVar[str]  # of what was found

    asked: Mapping[str, Any]
    design: Design
    figures: Figures = field(default_factory=dict)

    @property
    def names(self) -> Names:
        return Names(self.design)

    @property
    @abstractmethod
    def description(self) -> str:
        """Say in words what was asked."""

    @property
    def drawn(self) -> bool:
        """Whether there is one picture of it all; others stand beside their parts of the page."""
        return True

    @abstractmethod
    def lines(self) -> Iterator[Line]:
        """Yield the lines of a spreadsheet, with the names of the columns first."""

    @abstractmethod
    def picture(self, name: str) -> bytes | None:
        """Return the picture of this name as SVG; None where there is none."""


def listed(texts: Sequence[str]) -> str:
    """Join texts with commas, and “and” before the last."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def figure(value: float) -> str:
    """Write a ratio with about three digits that count."""
    if value >= 1e4 or 0 < value < 1e-3:
        return "> 10,000" if value >= 1e4 else "< 0.001"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def sentence(words: str) -> str:
    """Write a message of a program as a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
