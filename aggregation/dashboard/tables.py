"""Tables of estimates: one measure of a question, over everybody or by one background question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from aggregation.models import Estimate
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.intervals import MISFIT
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg import tracks
from aggregation.templatetags.figures import NONE
from survey.design import Question

EVERYBODY = "Everybody"


@dataclass(frozen=True)
class TableRow:
    """One estimate, with its label, its numbers in words and its picture."""

    label: str
    estimate: Estimate
    quantity: Quantity
    picture: SafeString

    @property
    def value(self) -> str:
        return display.headline_words(self.quantity, self.estimate, self.quantity.cell)

    @property
    def interval(self) -> str:
        return self.quantity.interval(self.estimate.low, self.estimate.high)

    @property
    def unbiased(self) -> str:
        return self._or_none(self.estimate.value, self.quantity.cell)

    @property
    def error(self) -> str:
        return self._or_none(self.estimate.standard_error, self.quantity.plain)

    @property
    def error_parts(self) -> str:
        parts = display.error_parts(self.estimate)
        return f"({', '.join(map(self.quantity.plain, parts))})" if parts else ""

    @property
    def responses(self) -> str:
        return f"{self.estimate.count:,} of {self.estimate.n:,}"

    @property
    def headline(self) -> str:
        return display.headline_words(self.quantity, self.estimate)

    @property
    def misfit(self) -> bool:
        return self.estimate.misfit is not None and self.estimate.misfit < MISFIT

    @property
    def of_concerned(self) -> bool:
        return self.estimate.measure == "share_of_concerned"

    def _or_none(self, value: float | None, words: Callable[[float], str]) -> str:
        return NONE if value is None else words(value)


class Group(NamedTuple):
    """The rows of one group, or of everybody if the name is empty."""

    name: str
    rows: list[TableRow]

    @property
    def several(self) -> bool:
        return len(self.rows) > 1

    @property
    def too_few(self) -> bool:
        return all(display.says_nothing(row.estimate) for row in self.rows)


@dataclass(frozen=True)
class EstimatesTable:
    """The estimates of one measure of a question."""

    title: str  # nothing if that of the question is enough
    quantity: Quantity
    groups: list[Group]
    about: str  # whom
    one_look: bool  # because there are too few responses for the chosen intervals

    @property
    def is_share(self) -> bool:
        return self.quantity is display.SHARE

    @property
    def obvious(self) -> bool:
        """Whether its title need not be seen."""
        return not self.title or [row.label for row in self.rows] == [self.title]

    @property
    def of_concerned(self) -> bool:
        return self.about != EVERYBODY

    @property
    def range(self) -> SafeString:
        """Attributes with the ends of the axis, for narrow screens; usual ones are in the CSS."""
        if self.is_share:
            return tracks.NOTHING
        return format_html(
            ' data-low="{}" data-high="{}"', self.quantity.ends[0], self.quantity.ends[-1]
        )

    @property
    def rows(self) -> list[TableRow]:
        return [row for group in self.groups for row in group.rows]


Tables = dict[str, EstimatesTable]  # by measure


def make_tables(
    question: Question, concerned: str, by: Question | None, rows: Sequence[Estimate],
    choice: IntervalChoice,
) -> Tables:  # fmt: skip
    """Return the tables of a question over everybody, or by one background question.

    `concerned` are the people whom a follow-up is about, in words.
    """
    names = {option.key: option.text for option in by.options} if by else {"": ""}
    found = {}
    for measure, some in display.tables(question, rows).items():
        quantity = display.quantity_of(question, measure)
        labels = {row.option: display.label_of(question, measure, row.option) for row in some}
        groups = [
            Group(
                names[key], [_row(labels[row.option], names[key], row, quantity) for row in group]
            )
            for key, group in groupby(some, key=lambda row: row.group)
        ]
        one_look = by is not None and choice.always and some[0].n < ALWAYS_FROM
        title = display.title_of(question, some[0], concerned)
        of_concerned = concerned and measure != "share"
        about = "Those concerned" if of_concerned else EVERYBODY
        found[measure] = EstimatesTable(title, quantity, groups, about, one_look)
    return found


def make_row(question: Question, row: Estimate, described: bool = True) -> TableRow:
    """Return one estimate over everybody; its picture may be hidden from screen readers."""
    quantity = display.quantity_of(question, row.measure)
    label = display.label_of(question, row.measure, row.option)
    return _row(label, "", row, quantity, described)


def _row(
    label: str, group: str, row: Estimate, quantity: Quantity, described: bool = True
) -> TableRow:
    points = [display.point(quantity, row)]
    description = _describe(label, group, row, quantity) if described else ""
    return TableRow(label, row, quantity, tracks.track(points, description, quantity.axis))


def _describe(label: str, group: str, row: Estimate, quantity: Quantity) -> str:
    where = f"{label}, {group}" if group else label
    limits = f"{row.level:.0%} interval {quantity.interval(row.low, row.high)}"
    if display.says_nothing(row):
        limits = "too few responses"
    value = display.headline_words(quantity, row)
    return f"{where}: {limits}" if value == NONE else f"{where}: {value}, {limits}"
