"""The estimates of one question over the releases of a survey."""

from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString

from aggregation.models import Estimate
from aggregation.releases.choice import ALWAYS, IntervalChoice
from aggregation.releases.estimate import positions_of_everybody
from aggregation.releases.intervals import label_of, restate, shown_options
from aggregation.svg import tracks
from aggregation.templatetags.figures import percent
from survey.design import Question
from survey.models import Survey

MOST = 30  # releases in a picture, so that their points stand apart on a phone


@dataclass(frozen=True)
class Trend:
    """The estimates of one option, with their picture."""

    label: str
    estimates: list[Estimate]
    picture: SafeString


def chosen(last: int) -> list[int]:
    """Return the numbers of the releases to draw, evenly spaced."""
    if last <= MOST:
        return list(range(1, last + 1))
    return [1 + round(i * (last - 1) / (MOST - 1)) for i in range(MOST)]


def trends(survey: Survey, question: Question, last: int, level: int) -> list[Trend]:
    """Return the estimates of everybody, without releases in which nobody was asked."""
    design = survey.frozen_design()
    found = Estimate.objects.filter(
        release__survey=survey,
        release__number__in=chosen(last),
        position__in=positions_of_everybody(design)[question.key],
        n__gt=0,
    )
    rows = found.select_related("release").order_by("position", "release__number")
    shown = shown_options(question, list(rows))
    for release in {row.release for row in shown}:
        some = [row for row in shown if row.release == release]
        restate(release, some, IntervalChoice(level, ALWAYS))
    return [
        _trend(question, list(members))
        for _, members in groupby(shown, key=lambda row: row.position)
    ]


def _trend(question: Question, rows: list[Estimate]) -> Trend:
    label = label_of(question, rows[0])
    description = f"{label}: estimates of {len(rows)} releases. The table below has the numbers."
    return Trend(label, rows, tracks.trend([_point(row) for row in rows], description))


def _point(row: Estimate) -> tracks.Released:
    share, release = row.bounded or 0.0, row.release
    made = f"Release {release.number}, {release.made_at:%-d %b %Y}, {row.n:,} responses"
    figures = f"{percent(share)}, interval {percent(row.low)} to {percent(row.high)}"
    return tracks.Released(release.number, share, row.low, row.high, made, figures)
