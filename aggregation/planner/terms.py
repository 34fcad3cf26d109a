"""The terms of a plan, and the precision that follows. Pure: no Django."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from aggregation.planner.planned_design import Kind, Signal, designed, kinds
from aggregation.statistics import planning
from survey.design import Design, DesignError, Question


class PlanError(ValueError):
    """Impossible terms: the field of `Terms` to change, and what is wrong."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.field = field


@dataclass(frozen=True)
class Terms:
    """The terms of a plan. Shares and half-widths are parts of 1, not percent."""

    questions: tuple[Question, ...]
    epsilon: float  # of all sensitive answers of one respondent
    people: int
    half_width: float
    share: float | None = None  # None: the worst case
    groups: int = 1  # groups of equal size to compare
    level: float = 0.95
    size: int | None = None  # the most questions in a block; None: the planner's choice
    ask: int | None = None  # blocks asked of a person; None: the planner's choice
    dropout: float = 0.0  # the part of the invited people who do not send a report
    forged: float = 0.0  # the part of the reports that may be forged
    looks: str = "one"  # or "every": intervals that are valid at every look

    @cached_property
    def design(self) -> Design:
        try:
            return designed(self.questions, self.epsilon, self.size, self.ask)
        except DesignError as error:
            what = f"{error.what[0].upper()}{error.what[1:]}."
            raise PlanError(_field(error, self), what) from None

    @cached_property
    def kinds(self) -> list[Kind]:
        return kinds(self.design)

    def reports(self, people: int) -> int:
        """Return how many of these people are asked each question that is in one block."""
        return people * self.design.ask // len(self.design.blocks)

    def reach(self, people: int) -> float | None:
        """Return the half-width of the least precise question, or None if nobody is asked it."""
        return reaches([self], [people])[0][0]

    @cached_property
    def hardest(self) -> list[Kind]:
        """The kinds of questions that can be the least precise one.

        Chance and forgers both affect all others less. The half-width for one look is used even for
        intervals at every look: the order is the same, and it takes a thousandth of the time.
        """
        harms = [
            (
                self.chances([(kind.signal, 1)], looks="one")[0] / math.sqrt(kind.part),
                self.forgers(kind.signal),
                kind,
            )
            for kind in self.kinds
        ]
        found: list[Kind] = []
        most = -1.0
        for _, alone, kind in sorted(harms, key=itemgetter(0, 1), reverse=True):
            if alone > most:
                found.append(kind)
                most = alone
        return found

    def half_width_of(self, signal: Signal, reports: int) -> float:
        return self.half_widths_of([(signal, reports)])[0]

    def half_widths_of(self, asked: Sequence[tuple[Signal, int]]) -> list[float]:
        """Return the half-width for each signal and number of reports, in one fast call."""
        chances = self.chances(asked, self.looks)
        return [
            chance + self.forgers(signal)
            for chance, (signal, _) in zip(chances, asked, strict=True)
        ]

    def chances(self, asked: Sequence[tuple[Signal, int]], looks: str) -> list[float]:
        """Return the part of each half-width that is due to chance, from the honest reports.

        The expected share is that of an option; means have their worst case.
        """
        found = [0.0] * len(asked)
        for is_mean, share in ((False, self.share), (True, None)):
            places = [i for i, (signal, _) in enumerate(asked) if signal.is_mean == is_mean]
            if places:
                reports = [asked[i][1] for i in places]
                channels = [asked[i][0].channel for i in places]
                widths = planning.half_widths(
                    reports, channels, share, self.level, dropout=self.forged, looks=looks
                )
                for i, width in zip(places, widths, strict=True):
                    found[i] = width
        return found

    def forgers(self, signal: Signal) -> float:
        """Return what forged reports add to the half-width, however many people answer."""
        return self.forged / (1 - self.forged) / (2 * signal.contrast)

    def reports_for(self, signal: Signal) -> int:
        """Return how many reports make a question precise enough; ValueError if none do."""
        wanted = self.half_width - self.forgers(signal)
        share = None if signal.is_mean else self.share
        return planning.sample_size(
            wanted, signal.channel, share, self.level, dropout=self.forged, looks=self.looks
        )


def reaches(several: Sequence[Terms], people: Sequence[int]) -> list[list[float | None]]:
    """Return the half-widths of several terms, which differ only in ε, for these people."""
    asked = [
        (i, j, kind.signal, kind.reports(n))
        for i, terms in enumerate(several)
        for j, n in enumerate(people)
        for kind in terms.hardest
        if kind.reports(n) > 0
    ]
    found: list[list[float | None]] = [[None] * len(people) for _ in several]
    widths = several[0].half_widths_of([(signal, n) for _, _, signal, n in asked])
    for (i, j, *_), width in zip(asked, widths, strict=True):
        found[i][j] = max(found[i][j] or 0.0, width)
    return found


def _field(error: DesignError, terms: Terms) -> str:
    """Return the field to change after a design was refused."""
    if error.where in ("epsilon", "ask"):
        return error.where
    return "size" if error.where.startswith("block") and terms.size else "questions"
