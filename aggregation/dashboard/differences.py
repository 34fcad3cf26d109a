"""Whether the groups of a background question differ, for one look."""

import math
from dataclasses import dataclass

from aggregation.counting.tables import Counts
from aggregation.models import Release
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import plain_yes_no
from aggregation.releases.estimate import Asked
from aggregation.releases.intervals import counts_of
from aggregation.statistics import difference
from aggregation.templatetags.figures import change
from survey.design import Question
from survey.design.mechanism import SCALE

MOST_PAIRS = 60  # to compare for one question; with more, there is only the test
FEW = 5  # expected reports in a cell below which a chi-square test is rough


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

    @property
    def groups(self) -> str:
        return f"{self.first} minus {self.second}"

    @property
    def interval(self) -> str:
        return f"{change(self.low)} to {change(self.high)}"


@dataclass(frozen=True)
class Differences:
    """Whether the groups of a table differ, for one look."""

    groups: int
    p_value: float  # of "all groups answer alike", adjusted for the questions of the page
    questions: int  # on the page
    rough: bool
    pairs: list[GroupDifference] | None  # of groups with enough responses; None if not listed
    of_means: bool  # which are not compared in pairs
    alpha: float

    @property
    def differ(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def largest(self) -> GroupDifference | None:
        return max(self.pairs or [], key=lambda pair: abs(pair.difference), default=None)


def compare_groups(
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
            of_means=_of_mean(questions[key].question),
            alpha=1 - choice.coverage,
        )
        for (key, table), adjusted in zip(tables.items(), difference.holm(tests), strict=True)
    }


def _of_mean(question: Question) -> bool:
    """Return whether a question is above all about a mean: a number."""
    return question.measures()[0].name == "mean"


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
    compared = math.comb(by.question.size, 2) * len(options)
    if _of_mean(one.question) or compared > MOST_PAIRS:
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
