"""The intervals that a reader chose, for stored estimates. They do not depend on who reads them."""

from collections.abc import Iterable

import numpy as np

from aggregation.counting.tables import Counts
from aggregation.models import Estimate, Release
from aggregation.releases import estimate
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.estimate import Wanted
from survey.design import Question

MISFIT = 0.001  # below this, the reports do not look like what the channel can produce


def restate(release: Release, rows: Iterable[Estimate], choice: IntervalChoice) -> None:
    """Give rows of a release, in memory only, the limits of a choice."""
    rows = list(rows)
    if (choice.level, choice.forged) == (95, 0.0):
        for row in rows:
            row.always = choice.always
        return
    design = release.survey.frozen_design()
    wanted = Wanted(choice.coverage, release.survey.population, choice.forged / 100)
    found: dict[tuple[str, ...], estimate.Figures] = {}
    for question, by in {(row.question, row.by) for row in rows}:
        one, counts = estimate.asked(design, question, release.tally), release.tally[question][by]
        if by:
            block = design.places[by][0][0]
            figures = estimate.by_group(one, block, counts, wanted.level)
        else:
            figures = estimate.everybody(one, counts[0], wanted)
        for each in figures:
            found[question, by, each.get("group", ""), each["measure"], each["option"]] = each
    for row in rows:
        row.always = choice.always
        key = row.question, row.by, row.group, row.measure, row.option
        for name, value in found[key].items():
            setattr(row, name, value)


def counts_of(release: Release, question: str, by: str) -> Counts:
    """Return the reports of a table by group: one row per group, one column per value."""
    return np.array(release.tally[question][by], dtype=np.int64)


def says_nothing(row: Estimate) -> bool:
    """Return whether too few people answered: the interval is all that is possible."""
    return row.value is None or bool(row.option and row.low <= 0 and row.high >= 1)


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
