"""The intervals that a reader chose, for stored estimates. They do not depend on who reads them."""

from collections.abc import Iterable

import numpy as np

from aggregation.counting.tables import Counts
from aggregation.models import Estimate, Release
from aggregation.releases import estimate
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.estimate import Wanted

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
