"""The estimates of everybody over the releases of a survey."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.safestring import SafeString

from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.estimate import positions_of_everybody
from aggregation.releases.intervals import restate
from aggregation.svg import tracks
from aggregation.templatetags.figures import NONE
from survey.design import Question
from survey.models import Survey
from survey.spreadsheets import Line

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

    @property
    def now(self) -> ReleasedRow:
        return self.rows[-1]


def chosen(last: int) -> list[int]:
    """Return the numbers of the releases to draw, evenly spaced."""
    if last <= MOST:
        return list(range(1, last + 1))
    return [1 + round(i * (last - 1) / (MOST - 1)) for i in range(MOST)]


def trends(survey: Survey, question: Question, last: int, level: int) -> list[Trend]:
    """Return all estimates of a question, without releases in which nobody was asked."""
    positions = positions_of_everybody(survey.frozen_design())[question.key]
    rows = _rows(survey, positions, last, level)
    shown = display.shown_options(question, rows)
    return [
        _trend(question, list(members))
        for _, members in groupby(shown, key=lambda row: row.position)
    ]


def headlines(survey: Survey, release: Release, level: int) -> list[tuple[Question, Trend]]:
    """Return every question with the estimate that the latest release says first."""
    design = survey.frozen_design()
    newest: dict[str, list[Estimate]] = {}
    for row in release.estimates.filter(by=""):
        newest.setdefault(row.question, []).append(row)
    questions = {
        display.headline(question, newest[question.key]).position: question
        for question in display.in_order(design)
    }
    rows = _rows(survey, questions, release.number, level)
    found = {position: list(some) for position, some in groupby(rows, key=lambda r: r.position)}
    return [
        (question, _trend(question, found[position], small=True))
        for position, question in questions.items()
        if position in found
    ]


def _rows(survey: Survey, positions: Iterable[int], last: int, level: int) -> list[Estimate]:
    """Return estimates in the order of their position, each with its headline interval."""
    # Each release once, and not once per estimate: its tally is large.
    releases = {one.pk: one for one in survey.releases.filter(number__in=chosen(last))}
    found = Estimate.objects.filter(release__in=list(releases), position__in=positions, n__gt=0)
    rows = list(found.order_by("position", "release__number"))
    by_release: dict[int, list[Estimate]] = {}
    for row in rows:
        row.release = releases[row.release_id]
        by_release.setdefault(row.release_id, []).append(row)
    for key, some in by_release.items():
        choice = replace(IntervalChoice.headline(releases[key].final), level=level)
        restate(releases[key], some, choice)
    return rows


def lines(survey: Survey) -> Iterator[Line]:
    """Yield a line for each estimate over everybody in each release, the column names first."""
    yield (
        "release date question question_text measure option n estimate bounded low high level "
        "interval"
    ).split()
    texts = {one.key: one.text for one in survey.frozen_design().questions}
    rows = Estimate.objects.filter(release__survey=survey, by="").select_related("release")
    rows = rows.defer("release__tally")
    for row in rows.order_by("release__number", "position").iterator():
        yield [
            *(row.release.number, f"{row.release.made_at:%Y-%m-%d}"),
            *(row.question, texts[row.question], row.measure, row.option, row.n),
            *(row.value, row.bounded, row.low, row.high, row.level),
            "interim" if row.always else "final",
        ]


def _trend(question: Question, rows: list[Estimate], small: bool = False) -> Trend:
    first = rows[0]
    quantity = display.quantity_of(question, first.measure)
    label = display.label_of(question, first.measure, first.option)
    if not first.option:
        label = quantity.name
    if first.measure == "share_of_concerned":
        label = f"{label}, of those concerned"
    released = [_released(row, quantity) for row in rows]
    newest = f"{released[-1].value}, interval {released[-1].interval}"
    description = f"{label}: estimates of {len(rows)} releases. The table below has the numbers."
    if small:
        description = f"{question.text} {label}, estimates of {len(rows)} releases. Now {newest}."
    points = [_point(row, quantity) for row in rows]
    picture = tracks.trend(points, description, quantity.step, quantity.tick, small)
    return Trend(label, released, picture)


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
    return tracks.Released(f"{release.made_at:%-d %b %Y}", point, made, words)
