"""What an analysis found, with its words: rows for a page, lines for a spreadsheet, pictures.

Pure: a design, what was asked and the figures of a job go in. Nothing is estimated here; limits,
odds and shades follow from the figures.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aggregation.analyses.base import Figures
from aggregation.analyses.wording import Names
from survey.design import Design
from survey.spreadsheets import Line


@dataclass(frozen=True)
class Findings(ABC):
    """What one analysis found."""

    asked: Mapping[str, Any]
    design: Design
    figures: Figures

    @property
    def names(self) -> Names:
        return Names(self.design)

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
