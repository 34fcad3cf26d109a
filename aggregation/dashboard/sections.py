"""The estimates of a release by question, with the chosen intervals, for all readers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from django.utils.safestring import SafeString

from aggregation.counting.tables import Counts
from aggregation.models import Estimate, Release
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.estimate import Asked, asked
from aggregation.releases.intervals import (
    MISFIT,
    counts_of,
    label_of,
    plain_yes_no,
    restate,
    says_nothing,
    shown_options,
    telling,
)
from aggregation.statistics import difference
from aggregation.statistics.channel import Channel
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg import tracks
from aggregation.svg.axis import Point
from survey.design import Block, Question
from survey.design.mechanism import SCALE

MOST_PAIRS = 60  # to compare for one question; with more, there is only the test
FEW = 5  # expected reports in a cell below which a chi-square test is rough


@dataclass(frozen=True)
class OptionRow:
    """The estimate of one option, with its words and picture."""

    label: str
    estimate: Estimate
    picture: SafeString

    @property
    def misfit(self) -> bool:
        return self.estimate.misfit is not None and self.estimate.misfit < MISFIT


class Group(NamedTuple):
    """The options for one group, or for everybody if the name is empty."""

    name: str
    rows: list[OptionRow]

    @property
    def too_few(self) -> bool:
        return all(says_nothing(row.estimate) for row in self.rows)


@dataclass(frozen=True)
class EstimatesTable:
    """The estimates of a question over everybody, or by one background question."""

    title: str
    groups: list[Group]
    one_look: bool  # because there are too few responses for the chosen intervals


@dataclass(frozen=True)
class ErrorParts:
    """The parts of the standard error of a question, as root mean squares over its options."""

    sampling: float
    noise: float
    picture: SafeString

    @property
    def error(self) -> float:
        return math.hypot(self.sampling, self.noise)

    @property
    def private(self) -> float:
        """The part of the variance that comes from privacy."""
        return (self.noise / self.error) ** 2


@dataclass(frozen=True)
class GroupDifference:
    """The difference of a share between two groups, adjusted for all pairs of the question."""

    option: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Differences:
    """Whether the groups of a table differ, for one look."""

    groups: int
    p_value: float  # of "all groups answer alike", adjusted for the questions of the page
    questions: int  # on the page
    rough: bool
    pairs: list[GroupDifference] | None  # of groups with enough responses; None if too many
    alpha: float

    @property
    def differ(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def largest(self) -> GroupDifference | None:
        return max(self.pairs or [], key=lambda pair: abs(pair.difference), default=None)


@dataclass(frozen=True)
class Section:
    question: Question
    block: Block
    asked: Asked
    everybody: EstimatesTable
    groups: EstimatesTable | None
    cost: ErrorParts | None
    differences: Differences | None

    @property
    def channel(self) -> Channel:
        """The channel of “yes”, or of the last option."""
        return (self.asked.channels or self.asked.values)[-1]

    @property
    def yes_no(self) -> bool:
        return plain_yes_no(self.question)

    @property
    def headline(self) -> OptionRow:
        """The most informative row."""
        rows = [row for _, rows in self.everybody.groups for row in rows]
        return max(rows, key=lambda row: telling(row.estimate))


def sections(
    release: Release, by: Question | None, choice: IntervalChoice | None = None
) -> list[Section]:
    """Return the estimates of everybody by question, and by group of one background question.

    Only one, because a page with all groups of ten background questions would be megabytes.
    """
    choice = choice or IntervalChoice.headline(release.final)
    design = release.survey.frozen_design()
    questions = {key: asked(design, key, release.tally) for key in design.places}
    wanted = release.estimates.filter(by__in=["", by.key] if by else [""])
    found: dict[str, list[list[Estimate]]] = {
        key: [list(table) for _, table in groupby(rows, key=lambda row: row.by)]
        for key, rows in groupby(wanted, key=lambda row: row.question)
    }
    for key, (everybody, *_) in found.items():
        found[key][0] = shown_options(questions[key].question, everybody)
    restate(release, (row for tables in found.values() for rows in tables for row in rows), choice)
    compared = _differences(release, questions, by, choice) if by else {}
    result = []
    for key, (everybody, *groups) in found.items():
        one = questions[key]
        result.append(
            Section(
                question=one.question,
                block=one.blocks[0],
                asked=one,
                everybody=_table(one.question, None, everybody, choice),
                groups=_table(one.question, by, groups[0], choice) if groups else None,
                cost=_cost(everybody),
                differences=compared.get(key),
            )
        )
    return result


def _table(
    question: Question, by: Question | None, rows: list[Estimate], choice: IntervalChoice
) -> EstimatesTable:
    names = {option.key: option.text for option in by.options} if by else {"": ""}
    groups = [
        Group(names[group], [_row(question, names[group], row) for row in members])
        for group, members in groupby(shown_options(question, rows), key=lambda row: row.group)
    ]
    one_look = by is not None and choice.always and rows[0].n < ALWAYS_FROM
    return EstimatesTable(by.text if by else "Everybody", groups, one_look)


def _row(question: Question, group: str, row: Estimate) -> OptionRow:
    label = label_of(question, row)
    where = f"{label}, {group}" if group else label
    limits = f"{row.level:.0%} interval {row.low:.1%} to {row.high:.1%}"
    if says_nothing(row):
        limits = "too few responses"
    share = "" if row.bounded is None else f" {row.bounded:.1%},"
    picture = tracks.track([Point(row.bounded, row.low, row.high)], f"{where}:{share} {limits}")
    return OptionRow(label, row, picture)


# --- The parts of the error -----------------------------------------------------------------------


def _cost(rows: list[Estimate]) -> ErrorParts | None:
    """Return None if nobody was asked or the estimates have no noise."""
    sampling = _mean_square(row.sampling_error or 0.0 for row in rows)
    noise = _mean_square(row.privacy_error or 0.0 for row in rows)
    if not noise:
        return None
    picture = tracks.bar(sampling**2 / (sampling**2 + noise**2), "parts", 12)
    return ErrorParts(sampling, noise, picture)


def _mean_square(values: Iterable[float]) -> float:
    squares = [value * value for value in values]
    return math.sqrt(math.fsum(squares) / len(squares))


# --- Whether groups differ ------------------------------------------------------------------------


def _differences(
    release: Release, questions: dict[str, Asked], by: Question, choice: IntervalChoice
) -> dict[str, Differences]:
    """Compare the groups of every table: with one test, and in pairs."""
    tables = {
        key: table
        for key in questions
        if key != by.key and (table := counts_of(release, key, by.key)).any()
    }
    tests = [difference.homogeneity(table.tolist()).p_value for table in tables.values()]
    return {
        key: Differences(
            groups=by.size,
            p_value=adjusted,
            questions=len(tables),
            rough=_rough(table),
            pairs=_pairs(questions[key], questions[by.key], table, choice),
            alpha=1 - choice.coverage,
        )
        for (key, table), adjusted in zip(tables.items(), difference.holm(tests), strict=True)
    }


def _rough(table: Counts) -> bool:
    """Return whether an expected count of the test is small."""
    options, groups = table.sum(axis=0), table.sum(axis=1)
    least = options[options > 0].min() * groups[groups > 0].min()
    return bool(least < FEW * table.sum())


def _pairs(
    one: Asked, by: Asked, table: Counts, choice: IntervalChoice
) -> list[GroupDifference] | None:
    """Compare every option between every two groups, adjusted for all of them (Holm)."""
    plain = plain_yes_no(one.question)
    options = [1] if plain else list(range(len(one.question.options)))
    if math.comb(by.question.size, 2) * len(options) > MOST_PAIRS:
        return None
    keep = by.blocks[0].keep / SCALE
    channels = [one.channels[i] for i in options]
    found = difference.groups(
        table[:, [one.first + i for i in options]],
        table.sum(axis=1),
        keep,
        channels,
        choice.coverage,
    )
    groups = [option.text for option in by.question.options]
    pairs = (
        GroupDifference(
            "" if plain else one.question.options[option].text,
            groups[found.first[i]],
            groups[found.second[i]],
            _possible(found.difference[i, j]),
            _possible(found.low[i, j]),
            _possible(found.high[i, j]),
            float(found.adjusted[i, j]),
        )
        for j, option in enumerate(options)
        for i in range(len(found.first))
        if found.clear[i, j]
    )
    return [pair for pair in pairs if pair.low > -1 or pair.high < 1]  # others are useless


def _possible(difference: float) -> float:
    """Return a difference of two shares, moved to between -1 and 1."""
    return min(max(float(difference), -1.0), 1.0)
