"""The estimates of a release by question, with the chosen intervals, for all readers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from django.utils.safestring import SafeString

from aggregation.dashboard import findings
from aggregation.dashboard.differences import Differences, compare_groups
from aggregation.dashboard.kinds import RESULTS
from aggregation.dashboard.tables import EstimatesTable, Group, TableRow, Tables, make_tables
from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.estimate import Asked, asked
from aggregation.releases.intervals import restate
from aggregation.statistics.channel import Channel
from aggregation.svg import tracks
from survey.design import DECLINED, Block, Question

MOST_LEVELS = 5  # of a number that are listed


@dataclass(frozen=True)
class ErrorParts:
    """The parts of the standard error of a question, as root mean squares over its options."""

    sampling: float
    noise: float

    @property
    def error(self) -> float:
        return math.hypot(self.sampling, self.noise)

    @property
    def private(self) -> float:
        """The part of the variance that comes from privacy."""
        return (self.noise / self.error) ** 2


@dataclass(frozen=True)
class Bar:
    """The shares of a scale's options for everybody or one group, as one stacked bar."""

    name: str
    rows: list[TableRow]
    picture: SafeString | None  # None if there are too few to tell

    @property
    def key(self) -> list[tuple[SafeString, TableRow]]:
        """The options with the colour that each has in the bar."""
        return [
            (tracks.swatch(shade), row)
            for shade, row in zip(
                display.shades(row.estimate for row in self.rows), self.rows, strict=True
            )
        ]


@dataclass(frozen=True)
class Section:
    """What a page shows of one question. A kind's template asks only for what it needs."""

    release: Release
    choice: IntervalChoice
    by: Question | None
    asked: Asked
    concerned: str  # whom a follow-up is about, in words
    everybody: Tables
    groups: Tables | None
    headline: TableRow
    cost: ErrorParts | None
    differences: Differences | None

    @property
    def question(self) -> Question:
        return self.asked.question

    @property
    def block(self) -> Block:
        return self.asked.blocks[0]

    @property
    def blocks(self) -> str:
        keys = [block.key for block in self.asked.blocks]
        return f"block {keys[0]}" if len(keys) == 1 else f"blocks {', '.join(keys)}"

    @property
    def template(self) -> str:
        return RESULTS[self.question.kind]

    @property
    def channel(self) -> Channel:
        """The channel of “yes”, or of the last option."""
        return (self.asked.channels or self.asked.values)[-1]

    @property
    def tables(self) -> list[EstimatesTable]:
        """The tables to show: those of everybody, or by group with everybody in the first row."""
        if not self.groups:
            return [*self.everybody.values()]
        return [
            replace(table, groups=[Group(whole.about, whole.rows), *table.groups])
            for table, whole in zip(self.groups.values(), self.everybody.values(), strict=True)
        ]

    @cached_property
    def worth(self) -> findings.Worth | None:
        """How many direct answers are as precise."""
        if self.cost is None:
            return None
        n, people = self.headline.estimate.n, self.release.survey.population
        return findings.worth(n, self.cost.sampling, self.cost.error, people)

    @property
    def yes_no(self) -> bool:
        return display.plain_yes_no(self.question)

    @property
    def instead(self) -> bool:
        """Whether people can prefer not to say."""
        return any(option.key == DECLINED for option in self.question.options)

    @cached_property
    def leader(self) -> findings.Leading | None:
        """Which option leads; of no interest for groups."""
        if self.block.background:
            return None
        counts = self.release.tally[self.question.key][""][0]
        return findings.leading(self.asked, counts, self.choice)

    @cached_property
    def total(self) -> findings.Total | None:
        """The total of a number over the known population, unless only some were asked."""
        row, survey = self.everybody["mean"].rows[0].estimate, self.release.survey
        if self.concerned:
            return None
        return findings.total(row, survey.population, self.question)

    @property
    def levels(self) -> str:
        """The levels to which a number is rounded, in words."""
        quantity, scores = self.everybody["mean"].quantity, self.question.measures()[0]
        numbers = [quantity.tick(each) for each in scores.weights[: self.asked.first]]
        if len(numbers) > MOST_LEVELS:
            return f"{len(numbers)} levels from {numbers[0]} to {numbers[-1]}"
        return f"{len(numbers)} levels ({', '.join(numbers)})"

    @cached_property
    def curator(self) -> findings.Curator | None:
        """What a mean would be worth if a curator knew all true answers."""
        shares = self.everybody["share"].rows if "share" in self.everybody else []
        declined = math.fsum(row.estimate.bounded or 0.0 for row in shares)
        return findings.curator(
            self.everybody["mean"].rows[0].estimate, self.asked, max(0.0, 1 - declined)
        )

    @property
    def bar(self) -> Bar:
        """The bar of a scale over everybody, or of those concerned."""
        return _bars(self.everybody[self._main])[0]

    @property
    def bars(self) -> list[Bar]:
        """The bars of a scale by group."""
        return _bars(self.groups[self._main]) if self.groups else []

    @property
    def _main(self) -> str:
        return "share_of_concerned" if self.concerned else "share"


def sections(
    release: Release, by: Question | None, choice: IntervalChoice | None = None
) -> list[Section]:
    """Return the estimates of everybody by question, and by group of one background question.

    Only one, because a page with all groups of ten background questions would be megabytes.
    """
    choice = choice or IntervalChoice.headline(release.final)
    design = release.survey.frozen_design()
    questions = {key: asked(design, key, release.tally) for key in design.places}
    rows = list(release.estimates.filter(by__in=["", by.key] if by else [""]))
    restate(release, rows, choice)
    found: dict[str, list[list[Estimate]]] = {
        key: [list(table) for _, table in groupby(some, key=lambda row: row.by)]
        for key, some in groupby(rows, key=lambda row: row.question)
    }
    compared = compare_groups(release, questions, by, choice) if by else {}
    result = []
    for question in display.in_order(design):
        one, (everybody, *groups) = questions[question.key], found[question.key]
        concerned = display.concerned(design.questions, question)
        tables = make_tables(question, concerned, None, everybody, choice)
        shown = display.headline(question, everybody)
        headline = next(
            row for table in tables.values() for row in table.rows if row.estimate is shown
        )
        result.append(
            Section(
                release=release,
                choice=choice,
                by=by if groups else None,
                asked=one,
                concerned=concerned,
                everybody=tables,
                groups=make_tables(question, concerned, by, groups[0], choice) if groups else None,
                headline=headline,
                cost=_cost(tables[shown.measure].rows),
                differences=compared.get(question.key),
            )
        )
    return result


def _bars(table: EstimatesTable) -> list[Bar]:
    return [_bar(group) for group in table.groups]


def _bar(group: Group) -> Bar:
    parts = display.stacked([row.estimate for row in group.rows])
    if parts is None:
        return Bar(group.name, group.rows, None)
    words = ", ".join(f"{row.label} {row.value}" for row in group.rows)
    shades = display.shades(row.estimate for row in group.rows)
    description = f"{group.name}: {words}" if group.name else words
    picture = tracks.stack(list(zip(parts, shades, strict=True)), description)
    return Bar(group.name, group.rows, picture)


# --- The parts of the error -----------------------------------------------------------------------


def _cost(rows: list[TableRow]) -> ErrorParts | None:
    """Return None if nobody was asked, or if the parts of some estimate do not add up."""
    parts = [display.error_parts(row.estimate) for row in rows]
    known = [each for each in parts if each]
    if len(known) < len(parts):
        return None
    sampling, noise = (_mean_square(each) for each in zip(*known, strict=True))
    if not noise:
        return None
    return ErrorParts(sampling, noise)


def _mean_square(values: Iterable[float]) -> float:
    squares = [value * value for value in values]
    return math.sqrt(math.fsum(squares) / len(squares))
