"""The estimates of one question over the releases of a survey."""

from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.safestring import SafeString

from aggregation.models import Estimate
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.estimate import positions_of_everybody
from aggregation.releases.intervals import restate
from aggregation.svg import tracks
from aggregation.templatetags.figures import NONE
from survey.design import Question
from survey.models import Survey

MOST = 30  # releases in a picture, so that their points stand apart on a phone


@dataclass(frozen=True)
class ReleasedRow:
    """The estimate of one release, with its numbers in words."""

    estimate: Estimate
    value: str
    interval: str
    unbiased: str


@dataclass(frozen=True)
class Trend:
    """The estimates of one option or mean, with their picture."""

    label: str
    rows: list[ReleasedRow]
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
    shown = display.shown_options(question, rows)
    for release in {row.release for row in shown}:
        some = [row for row in shown if row.release == release]
        restate(release, some, replace(IntervalChoice.headline(release.final), level=level))
    return [
        _trend(question, list(members))
        for _, members in groupby(shown, key=lambda row: row.position)
    ]


def _trend(question: Question, rows: list[Estimate]) -> Trend:
    first = rows[0]
    quantity = display.quantity_of(question, first.measure)
    label = display.label_of(question, first.measure, first.option)
    if not first.option:
        label = quantity.name
    if first.measure == "share_of_concerned":
        label = f"{label}, of those concerned"
    description = f"{label}: estimates of {len(rows)} releases. The table below has the numbers."
    points = [_point(row, quantity) for row in rows]
    picture = tracks.trend(points, description, quantity.step, quantity.tick)
    return Trend(label, [_released(row, quantity) for row in rows], picture)


def _released(row: Estimate, quantity: Quantity) -> ReleasedRow:
    value = display.headline_words(quantity, row)
    unbiased = NONE if row.value is None else quantity.words(row.value)
    return ReleasedRow(row, value, quantity.interval(row.low, row.high), unbiased)


def _point(row: Estimate, quantity: Quantity) -> tracks.Released:
    release = row.release
    made = f"Release {release.number}, {release.made_at:%-d %b %Y}, {row.n:,} responses"
    words = f"interval {quantity.interval(row.low, row.high)}"
    point, value = display.point(quantity, row), display.headline_words(quantity, row)
    words = "too few responses to tell" if value == NONE else f"{value}, {words}"
    return tracks.Released(release.number, point, made, words)
