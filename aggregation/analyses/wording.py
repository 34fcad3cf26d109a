"""An analysis in words: the request and, once there are figures, the findings.

Rows for a page, lines for a spreadsheet, and pictures. Pure: nothing is estimated here, but limits,
odds and shades follow from the figures.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from aggregation.analyses.base import LEVEL, Figures, categories, question_of
from aggregation.statistics.numeric.normal import quantile
from survey.design import Design
from survey.spreadsheets import Line

Z = quantile(LEVEL)


@dataclass(frozen=True)
class Findings(ABC):
    title: ClassVar[str]  # of the kind
    introduction: ClassVar[str]
    template: ClassVar[str]

    asked: Mapping[str, Any]
    design: Design
    figures: Figures = field(default_factory=dict)

    @property
    @abstractmethod
    def description(self) -> str:
        """The request in words."""

    @property
    def drawn(self) -> bool:
        """Whether one picture shows all findings. Others are next to parts of the page."""
        return True

    @abstractmethod
    def lines(self) -> Iterator[Line]:
        """Yield the lines of a spreadsheet, with the column names first."""

    @abstractmethod
    def picture(self, name: str) -> bytes | None:
        """Return the picture of this name as SVG, or None if there is none."""

    def text(self, key: str) -> str:
        return question_of(self.design, key).text

    def quoted(self, key: str) -> str:
        return f"“{self.text(key)}”"

    def options(self, key: str) -> list[str]:
        """Return the texts of the options, and “Not asked” for a follow-up."""
        return [text for _, text in categories(question_of(self.design, key))]

    def option(self, question: str, key: str | None) -> str:
        """Return the text of an option, or “Not asked” for None."""
        found = categories(question_of(self.design, question))
        return next(text for option, text in found if option == key)


def listed(texts: Sequence[str]) -> str:
    """Join texts with commas, and “and” before the last."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def figure(value: float) -> str:
    """Format a ratio with about three significant digits."""
    if value >= 1e4 or 0 < value < 1e-3:
        return "> 10,000" if value >= 1e4 else "< 0.001"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def sentence(words: str) -> str:
    """Turn an error message into a sentence."""
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")
