"""Tables of estimates: one measure of a question, over everybody or by one background question.

Their rows are made here, because a page has hundreds and a template takes ten times as long. Only
labels come from people, and they are escaped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString

from aggregation.models import Estimate
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.intervals import MISFIT
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg import tracks
from aggregation.templatetags.figures import NONE, fixed
from survey.design import Question

EVERYBODY = "Everybody"
MISFITS = (
    "These responses do not look like what this survey’s randomizer can produce (p = {}). Some may "
    "be fake, or made by another program."
)


@dataclass(frozen=True)
class TableRow:
    """One estimate, with its label, its numbers in words and its picture."""

    label: str
    estimate: Estimate
    quantity: Quantity

    @cached_property
    def picture(self) -> SafeString:
        """The dot and whisker, hidden from screen readers: the numbers are next to it."""
        return tracks.mark(display.point(self.quantity, self.estimate), self.quantity.axis)

    @property
    def value(self) -> str:
        return display.headline_words(self.quantity, self.estimate, self.quantity.cell)

    @property
    def interval(self) -> str:
        return self.quantity.interval(self.estimate.low, self.estimate.high)

    @property
    def limits(self) -> str:
        """The interval without a unit."""
        row = self.estimate
        return f"{self.quantity.plain(row.low)} to {self.quantity.plain(row.high)}"

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
    def says_nothing(self) -> bool:
        return display.says_nothing(self.quantity, self.estimate)

    @property
    def of_concerned(self) -> bool:
        return self.estimate.measure == "share_of_concerned"

    @property
    def ends(self) -> SafeString:
        """Attributes with the ends of the axis, for narrow screens; usual ones are in the CSS."""
        if self.quantity is display.SHARE:
            return tracks.NOTHING
        low, high = self.quantity.ends[0], self.quantity.ends[-1]
        return SafeString(f' data-low="{low}" data-high="{high}"')

    def cells(self) -> str:
        """The picture, the estimate and the interval."""
        return (
            f'<td class="picture"{self.ends}>{self.picture}</td>'
            f'<td class="strong">{self.value}</td>'
            f'<td class="interval">{self.interval}</td>'
        )

    def cell(self) -> str:
        """The same in one cell of a grid; its column has the label, which narrow screens show."""
        return (
            f'<td data-label="{escape(self.label)}">{self.picture}'
            f'<b class="strong">{self.value}</b> <span class="interval">{self.limits}</span></td>'
        )

    def details(self) -> str:
        """What statisticians need."""
        parts = f' <span class="quiet">{found}</span>' if (found := self.error_parts) else ""
        return (
            f'<td class="plain">{self.unbiased}</td><td class="plain">{self.error}{parts}</td>'
            f'<td class="plain">{self.responses}</td>'
        )

    def _or_none(self, value: float | None, words: Callable[[float], str]) -> str:
        return NONE if value is None else words(value)


class Group(NamedTuple):
    """The rows of one group, or of everybody if the name is empty."""

    name: str
    rows: list[TableRow]

    @property
    def too_few(self) -> bool:
        return all(row.says_nothing for row in self.rows)


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
    def rows(self) -> list[TableRow]:
        return [row for group in self.groups for row in group.rows]

    @property
    def by_group(self) -> bool:
        return bool(self.groups[0].name)

    @property
    def columns(self) -> list[str]:
        """The options, if they are the columns of a grid with a row for each group."""
        rows = self.groups[0].rows
        return [row.label for row in rows] if self.by_group and len(rows) > 1 else []

    @property
    def body(self) -> SafeString:
        """The rows of the chart: a grid, or a row for each estimate."""
        return tracks.joined(part for group in self.groups for part in self._drawn(group))

    def _drawn(self, group: Group) -> Iterator[str]:
        if self.columns:
            cells = "".join(row.cell() for row in group.rows)
            yield f'<tr><th scope="row">{escape(group.name)}</th>{cells}</tr>'
        else:
            for row in group.rows:
                label = escape(group.name or row.label)
                yield f'<tr><th scope="row">{label}</th>{row.cells()}</tr>'
        yield from self._notes(group, len(self.columns) + 1 if self.columns else 4)

    @property
    def numbers(self) -> SafeString:
        """The rows of the table of numbers, with everything."""
        return tracks.joined(part for group in self.groups for part in self._listed(group))

    def _listed(self, group: Group) -> Iterator[str]:
        for row in group.rows:
            names = [group.name, row.label] if self.by_group else [row.label]
            if self.by_group and not self.columns:
                names = [group.name]
            heading = " · ".join(map(escape, names))
            yield (
                f'<tr><th scope="row">{heading}</th><td>{row.value}</td>'
                f'<td class="plain">{row.interval}</td>{row.details()}</tr>'
            )
        yield from self._notes(group, 6)

    def _notes(self, group: Group, width: int) -> Iterator[str]:
        """Yield what a reader must know about the rows of a group."""
        for row in group.rows:
            if row.misfit:
                words = MISFITS.format(fixed(row.estimate.misfit or 0.0, 5))
                warning = f'<p class="warning">{words}</p>'
                yield f'<tr class="note"><td colspan="{width}">{warning}</td></tr>'
        if group.too_few:
            what = "people concerned to tell" if self.of_concerned else "responses to say anything"
            about = " about this group" if group.rows[0].estimate.group else ""
            words = f"Too few {what}{about}"
            yield f'<tr class="note"><td colspan="{width}" class="quiet">{words}</td></tr>'


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
            Group(names[key], [TableRow(labels[row.option], row, quantity) for row in group])
            for key, group in groupby(some, key=lambda row: row.group)
        ]
        one_look = by is not None and choice.always and some[0].n < ALWAYS_FROM
        title = display.title_of(question, some[0], concerned)
        of_concerned = concerned and measure != "share"
        about = "Those concerned" if of_concerned else EVERYBODY
        found[measure] = EstimatesTable(title, quantity, groups, about, one_look)
    return found


def make_row(question: Question, row: Estimate) -> TableRow:
    """Return one estimate over everybody."""
    quantity = display.quantity_of(question, row.measure)
    return TableRow(display.label_of(question, row.measure, row.option), row, quantity)
