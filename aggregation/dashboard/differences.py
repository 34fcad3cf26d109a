"""Whether the groups of a background question differ, for one look.

All that a page says is one family. The tests of its questions are adjusted for each other (Holm).
A difference of two groups is adjusted for all differences of its table (Holm) and for the tables of
the page (Bonferroni), and is never called clearer than its question's test: so no table contradicts
the sentence above it. The intervals hold for all differences of the page.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aggregation.counting.tables import Counts
from aggregation.models import Release
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.estimate import Asked
from aggregation.releases.intervals import counts_of
from aggregation.statistics import difference
from aggregation.statistics.difference import Pairs
from survey.design import Question
from survey.design.mechanism import SCALE

MOST_PAIRS = 60  # to compare for one question; with more, there is only the test
FEW = 5  # expected reports in a cell below which a chi-square test is rough


@dataclass(frozen=True)
class GroupDifference:
    """The difference of a share or a mean between two groups, adjusted for the page."""

    quantity: Quantity
    option: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    alone: float  # the p-value that is adjusted for its table alone
    p_value: float

    @property
    def groups(self) -> str:
        return f"{self.first} minus {self.second}"

    @property
    def cell(self) -> str:
        return self.quantity.change(self.difference)

    @property
    def words(self) -> str:
        return display.with_unit(self.cell, self.quantity.unit_of_changes)

    @property
    def interval(self) -> str:
        return f"{self.quantity.change(self.low)} to {self.quantity.change(self.high)}"


def clearest(pairs: Sequence[GroupDifference]) -> GroupDifference | None:
    """Return the difference with the smallest p-value; of several, the largest."""
    return min(pairs, key=lambda pair: (pair.alone, -abs(pair.difference)), default=None)


@dataclass(frozen=True)
class Comparison:
    """The differences between every two groups in one measure: a mean, or the shares of options."""

    measure: str
    name: str  # in a sentence, such as “the mean”
    quantity: Quantity
    pairs: list[GroupDifference] | None  # of groups with enough responses; None if not listed

    @property
    def of_shares(self) -> bool:
        return self.measure == "share"

    @property
    def clearest(self) -> GroupDifference | None:
        """The largest one is often that of a small group, about which nothing is known."""
        return clearest(self.pairs or [])


@dataclass(frozen=True)
class Differences:
    """Whether the groups of a table differ, for one look."""

    groups: int
    p_value: float  # of "all groups answer alike", adjusted for the questions of the page
    questions: int  # on the page
    family: int  # tables of differences on the page
    rough: bool
    comparisons: list[Comparison]  # means come first
    alpha: float

    @property
    def differ(self) -> bool:
        return self.p_value <= self.alpha

    @property
    def pairs(self) -> list[GroupDifference]:
        return [pair for compared in self.comparisons for pair in compared.pairs or []]

    @property
    def hidden(self) -> GroupDifference | None:
        """The clearest difference, if the other tables of the page make it unclear."""
        found = clearest(self.pairs)
        clear = found and found.alone <= self.alpha < self.family * found.alone
        return found if clear and not self.differ else None

    @property
    def unconfirmed(self) -> GroupDifference | None:
        """The clearest difference, if only the test of all groups together makes it unclear."""
        found = clearest(self.pairs)
        clear = found and self.family * found.alone <= self.alpha
        return found if clear and not self.differ else None

    @property
    def unclear(self) -> bool:
        """Whether the groups differ, but no two of those compared clearly."""
        return self.differ and bool(self.pairs) and min(p.p_value for p in self.pairs) > self.alpha


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
    family = sum(len(_compared(questions[key].question)) for key in tables)
    level = 1 - (1 - choice.coverage) / max(1, family)
    return {
        key: Differences(
            groups=by.size,
            p_value=adjusted,
            questions=len(tables),
            family=family,
            rough=_rough(table),
            comparisons=[
                _on_page(compared, adjusted, family)
                for compared in _comparisons(questions[key], questions[by.key], table, level)
            ],
            alpha=1 - choice.coverage,
        )
        for (key, table), adjusted in zip(tables.items(), difference.holm(tests), strict=True)
    }


def _rough(table: Counts) -> bool:
    """Return whether an expected count of the test is small."""
    options, groups = table.sum(axis=0), table.sum(axis=1)
    least = options[options > 0].min() * groups[groups > 0].min()
    return bool(least < FEW * table.sum())


def _compared(question: Question) -> list[str]:
    """Return the measures that are compared: all means, and shares unless it is a number."""
    means = [one.name for one in question.measures() if not one.option and one.scores is not None]
    return means if question.measures()[0].name == "mean" else [*means, "share"]


def _on_page(compared: Comparison, p_value: float, family: int) -> Comparison:
    """Adjust differences for the other tables of the page; their question has this p-value."""
    pairs = [
        replace(pair, p_value=max(p_value, min(1.0, family * pair.alone)))
        for pair in compared.pairs or []
    ]
    return replace(compared, pairs=None if compared.pairs is None else pairs)


def _comparisons(one: Asked, by: Asked, table: Counts, level: float) -> Iterator[Comparison]:
    """Compare every mean and every option between every two groups, each adjusted for its table."""
    question, keep = one.question, by.blocks[0].keep / SCALE
    for measure in question.measures():
        levels = None if measure.option else measure.scores
        if levels is None:
            continue
        found = None
        if math.comb(by.question.size, 2) <= MOST_PAIRS:
            found = difference.means(table, levels, keep, one.values, level)
        yield _comparison(one, by, measure.name, [""], found)
    if question.measures()[0].name == "mean":
        return  # a number: what people chose instead is not compared
    plain = display.plain_yes_no(question)
    options = [1] if plain else list(range(len(question.options)))
    found = None
    if math.comb(by.question.size, 2) * len(options) <= MOST_PAIRS:
        found = difference.groups(
            table[:, [one.first + i for i in options]],
            table.sum(axis=1),
            keep,
            [one.channels[i] for i in options],
            level,
        )
    texts = [""] if plain else [question.options[i].text for i in options]
    yield _comparison(one, by, "share", texts, found)


def _comparison(
    one: Asked, by: Asked, measure: str, options: list[str], found: Pairs | None
) -> Comparison:
    quantity = display.quantity_of(one.question, measure)
    name = "shares"
    if measure != "share":
        label = display.label_of(one.question, measure)
        name = f"the {label[:1].lower()}{label[1:]}"
    if found is None:
        return Comparison(measure, name, quantity, None)
    widest = quantity.axis.high - quantity.axis.low
    groups = [option.text for option in by.question.options]
    shape = len(found.first), len(options)
    gap, low, high = (
        np.clip(np.reshape(each, shape), -widest, widest)
        for each in (found.difference, found.low, found.high)
    )
    adjusted, clear = (np.reshape(each, shape) for each in (found.adjusted, found.clear))
    pairs = (
        GroupDifference(
            quantity,
            option,
            groups[found.first[i]],
            groups[found.second[i]],
            float(gap[i, j]),
            float(low[i, j]),
            float(high[i, j]),
            alone=float(adjusted[i, j]),
            p_value=1.0,  # until it is adjusted for the page
        )
        for j, option in enumerate(options)
        for i in range(len(found.first))
        if clear[i, j]
    )
    some = [pair for pair in pairs if pair.low > -widest or pair.high < widest]
    return Comparison(measure, name, quantity, some)  # the others are useless
