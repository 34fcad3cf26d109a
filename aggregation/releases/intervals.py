"""The intervals that a reader chose, for stored estimates. They do not depend on who reads them."""

from collections.abc import Iterable, Iterator, Set

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
    wanted = Wanted(choice.coverage, release.survey.population, choice.forged / 100)
    found: dict[tuple[str, ...], estimate.Figures] = {}
    for figures in _figures(release, {(row.question, row.by) for row in rows}, wanted):
        for each in figures:
            by, group = each.get("by", ""), each.get("group", "")
            found[each["question"], by, group, each["measure"], each["option"]] = each
    for row in rows:
        row.always = choice.always
        key = row.question, row.by, row.group, row.measure, row.option
        for name, value in found[key].items():
            setattr(row, name, value)


def _figures(
    release: Release, tables: Set[tuple[str, str]], wanted: Wanted
) -> Iterator[Iterable[estimate.Figures]]:
    """Yield the figures of these tables, each a question and by what."""
    design, tally = release.survey.frozen_design(), release.tally
    questions = {
        key: estimate.asked(design, key, tally) for key in sorted({key for key, _ in tables})
    }
    for key, by in tables:
        if by:
            block = design.places[by][0][0]
            yield estimate.by_group(questions[key], block, tally[key][by], wanted.level)
    of_everybody = [one for key, one in questions.items() if (key, "") in tables]
    counts = [tally[one.question.key][""][0] for one in of_everybody]
    yield from estimate.everybody(of_everybody, counts, wanted)


def counts_of(release: Release, question: str, by: str) -> Counts:
    """Return the reports of a table by group: one row per group, one column per value."""
    return np.array(release.tally[question][by], dtype=np.int64)
