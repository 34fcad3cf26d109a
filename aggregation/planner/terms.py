"""The terms of a plan, and the precision that follows. Pure: no Django."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from aggregation.planner.planned_design import Kind, designed, kinds
from aggregation.statistics import planning
from aggregation.statistics.proportion import Channel
from survey.design import Design, DesignError

CLEAR = Channel(1.0, 0.0)  # a survey without noise


class PlanError(ValueError):
    """Impossible terms: the field of `Terms` to change, and what is wrong."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(what)
        self.field = field


@dataclass(frozen=True)
class Terms:
    """The terms of a plan. Shares and half-widths are parts of 1, not percent."""

    sizes: tuple[int, ...]  # the number of options of every question
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
            return designed(self.sizes, self.epsilon, self.size, self.ask)
        except DesignError as error:
            what = f"{error.what[0].upper()}{error.what[1:]}."
            raise PlanError(_field(error, self), what) from None

    def reports(self, people: int) -> int:
        """Return how many of these people are asked each question."""
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
                planning.half_width(1, kind.channel, self.share),
                planning.forgers_reach(kind.channel, self.forged),
                kind,
            )
            for kind in kinds(self.design)
        ]
        found: list[Kind] = []
        most = -1.0
        for _, alone, kind in sorted(harms, key=itemgetter(0, 1), reverse=True):
            if alone > most:
                found.append(kind)
                most = alone
        return found

    def half_width_of(self, channel: Channel, reports: int) -> float:
        return self.half_widths_of([(channel, reports)])[0]

    def half_widths_of(self, asked: Sequence[tuple[Channel, int]]) -> list[float]:
        """Return the half-width for each channel and number of reports, in one fast call."""
        return planning.half_widths(
            [reports for _, reports in asked], [channel for channel, _ in asked],
            self.share, self.level, forged=self.forged, looks=self.looks,
        )  # fmt: skip

    def reports_for(self, channel: Channel) -> int:
        """Return how many reports make a question precise enough; ValueError if none do."""
        return planning.sample_size(
            self.half_width, channel, self.share, self.level, forged=self.forged, looks=self.looks
        )


def reaches(several: Sequence[Terms], people: Sequence[int]) -> list[list[float | None]]:
    """Return the half-widths of several terms, which differ only in ε, for these people."""
    asked = [
        (i, j, kind.channel, terms.reports(n))
        for i, terms in enumerate(several)
        for j, n in enumerate(people)
        for kind in terms.hardest
        if terms.reports(n) > 0
    ]
    found: list[list[float | None]] = [[None] * len(people) for _ in several]
    widths = several[0].half_widths_of([(channel, n) for _, _, channel, n in asked])
    for (i, j, *_), width in zip(asked, widths, strict=True):
        found[i][j] = max(found[i][j] or 0.0, width)
    return found


def _field(error: DesignError, terms: Terms) -> str:
    """Return the field to change after a design was refused."""
    if error.where in ("epsilon", "ask"):
        return error.where
    return "size" if error.where.startswith("block") and terms.size else "sizes"
