"""The estimates of one question over the releases of a survey."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString

from aggregation import charts
from aggregation.models import Estimate, places
from aggregation.sections import ALWAYS, Choice, asked, label_of, restate, shown_options
from aggregation.templatetags.figures import percent
from survey.design import Question
from survey.models import Survey

MOST = 30  # releases in a picture, so that their points stand apart on a phone


@dataclass(frozen=True)
class Trend:
    """One option: an estimate for each release that is shown, and the picture of them."""

    label: str
    estimates: list[Estimate]
    picture: SafeString


def chosen(last: int, most: int = MOST) -> list[int]:
    """The numbers of at most so many releases, evenly from the first to the last."""
    if last <= most:
        return list(range(1, last + 1))
    return [1 + round(i * (last - 1) / (most - 1)) for i in range(most)]


def trends(survey: Survey, question: Question, last: int, level: int) -> list[Trend]:
    """Of everybody. A release in which the table stood as before has no point of its own."""
    design = survey.frozen_design()
    first = places(design)[question.key]
    found = Estimate.objects.filter(
        release__survey=survey,
        release__number__in=chosen(last),
        position__range=(first, first + question.size - 1),
        n__isnull=False,
    )
    rows = list(found.select_related("release").order_by("option", "as_of", "release__number"))
    new = [next(same) for _, same in groupby(rows, key=lambda row: (row.option, row.as_of))]
    shown = sorted(shown_options(question, new), key=lambda row: (row.position, row.as_of))
    restate(shown, asked(design), Choice(level, ALWAYS))
    return [
        _trend(question, list(members))
        for _, members in groupby(shown, key=lambda row: row.position)
    ]


def _trend(question: Question, rows: list[Estimate]) -> Trend:
    label = label_of(question, rows[0])
    description = f"{label}: estimates of {len(rows)} releases. The table below has the numbers."
    return Trend(label, rows, charts.trend(list(_points(rows)), description))


def _points(rows: list[Estimate]) -> Iterator[charts.Point]:
    for row in rows:
        if row.bounded is None or row.low is None or row.high is None:
            continue  # never: these rows have figures
        made = f"Release {row.release.number}, {row.release.made_at:%-d %b %Y}, {row.n:,} reports"
        figures = f"{percent(row.bounded)}, interval {percent(row.low)} to {percent(row.high)}"
        yield charts.Point(row.release.number, row.bounded, row.low, row.high, made, figures)
