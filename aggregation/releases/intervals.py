"""The intervals that a reader chose, for stored estimates. They do not depend on who reads them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aggregation.counting.tables import Counts
from aggregation.models import Estimate, Release
from aggregation.releases.estimate import METHODS, by_group
from aggregation.statistics import privacy
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, Question

MISFIT = 0.001  # below this p-value, the reports do not look like the output of the channel
FIXED, ALWAYS = "fixed", "always"


@dataclass(frozen=True)
class IntervalChoice:
    """A choice of intervals. Without arguments, these are the stored ones.

    While a survey is open people look again and again, so pages default to valid at every look.
    """

    level: int = 95  # percent
    interval: str = FIXED
    forged: float = 0.0  # percent of all reports; ignored for results by group

    @classmethod
    def default(cls, release: Release) -> "IntervalChoice":
        return cls(interval=FIXED if release.final else ALWAYS)

    @property
    def always(self) -> bool:
        return self.interval == ALWAYS

    @property
    def coverage(self) -> float:
        return self.level / 100

    @property
    def wrong(self) -> int:
        """In how many of 100 surveys an interval may miss the truth."""
        return 100 - self.level


@dataclass(frozen=True)
class PlacedQuestion:
    """A question of a design, and the block that it is in."""

    question: Question
    block: Block
    channel: Channel


def placed_questions(design: Design) -> dict[str, PlacedQuestion]:
    return {
        question.key: PlacedQuestion(question, block, Channel(*block.mechanism.channel(position)))
        for block in design.blocks
        for position, question in enumerate(block.questions)
    }


def restate(
    rows: Iterable[Estimate], questions: dict[str, PlacedQuestion], choice: IntervalChoice
) -> None:
    """Replace the limits of these rows by the chosen ones, in memory only.

    For a table by group, all its rows are needed, in their order.
    """
    if choice == IntervalChoice():
        return
    everybody: dict[Channel, list[Estimate]] = {}
    groups: dict[tuple[str, str], list[Estimate]] = {}
    for row in rows:
        if row.by:
            groups.setdefault((row.question, row.by), []).append(row)
        else:
            row.level, row.method = choice.coverage, METHODS[choice.interval]
            if row.n:
                everybody.setdefault(questions[row.question].channel, []).append(row)
    for channel, some in everybody.items():  # one call for each channel is fastest
        _restate_everybody(some, channel, choice)
    for (question, by), some in groups.items():
        one, other = questions[question], questions[by]
        counts = counts_of(some, other.question).tolist()
        kept = choice.coverage, choice.interval
        found = by_group(one.question, one.channel, other.block, counts, *kept)
        for row, figures in zip(some, found, strict=True):
            for name, value in figures.items():
                setattr(row, name, value)


def _restate_everybody(rows: list[Estimate], channel: Channel, choice: IntervalChoice) -> None:
    lows, highs = privacy.manipulations(
        [row.count for row in rows],
        [row.n for row in rows],
        channel,
        choice.forged / 100,
        choice.coverage,
        choice.interval,
    )
    for row, low, high in zip(rows, lows.tolist(), highs.tolist(), strict=True):
        row.low, row.high = low, high


def counts_of(rows: Sequence[Estimate], by: Question) -> Counts:
    """Return the reports of a table by group, with a row per group and a column per option."""
    return np.array([row.count for row in rows], dtype=np.int64).reshape(by.size, -1)


def says_nothing(row: Estimate) -> bool:
    """Return whether the interval is 0 to 1, because too few people answered."""
    return row.low <= 0 and row.high >= 1


def telling(row: Estimate) -> tuple[bool, float]:
    """Return a sort key that puts the most telling estimate last: “yes”, or the largest share."""
    return row.option == "yes", row.bounded or 0.0


def plain_yes_no(question: Question) -> bool:
    return [option.key for option in question.options] == ["no", "yes"]


def shown_options(question: Question, rows: list[Estimate]) -> list[Estimate]:
    """Return all options, or only “yes” for a plain yes/no question, where “no” is the rest."""
    if plain_yes_no(question):
        return [row for row in rows if row.option == "yes"]
    return rows


def label_of(question: Question, row: Estimate) -> str:
    return next(option.text for option in question.options if option.key == row.option)
