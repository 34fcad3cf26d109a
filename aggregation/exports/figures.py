"""Figures of a release for papers and slides: one question in one SVG file.

A figure is self-contained: it includes its colours, size and words, and can be printed in black. It
shows the estimates of the release with the intervals that the reader chose on its page.
"""

from collections.abc import Iterator
from itertools import groupby

from aggregation.models import Estimate, Release
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.intervals import (
    MISFIT,
    restate,
    says_nothing,
    shown_options,
)
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg import whiskers
from aggregation.svg.axis import SHARES, Point
from aggregation.svg.canvas import QUIET, Canvas, right_to_left
from aggregation.templatetags.figures import hundred, percent
from survey.design import Design, Question

# --- Names ----------------------------------------------------------------------------------------


def name_of(question: str, by: str = "") -> str:
    """Return the name of a figure, which is unique because no key contains a dot."""
    return f"figure-{question}.by-{by}.svg" if by else f"figure-{question}.svg"


def names(design: Design) -> dict[str, tuple[str, str]]:
    """Return every figure of a survey by name: its question, and the background question or ""."""
    return {
        name_of(question.key, by): (question.key, by)
        for question in design.questions
        for by in ["", *(one.key for one in design.background if one.key != question.key)]
    }


def draw_one(release: Release, question: str, by: str, choice: IntervalChoice) -> bytes:
    rows = list(release.estimates.filter(question=question, by=by))
    restate(release, rows, choice)
    return _draw(release, rows, choice)


def draw_all(release: Release, choice: IntervalChoice) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each figure, reading the estimates only once."""
    for question, some in groupby(release.estimates.iterator(), key=lambda row: row.question):
        rows = list(some)
        restate(release, rows, choice)
        for by, table in groupby(rows, key=lambda row: row.by):
            yield name_of(question, by), _draw(release, list(table), choice)


# --- A question -----------------------------------------------------------------------------------


# The group, or everybody; the option; and the estimate.
LabelledEstimate = tuple[str, str, Estimate]


def _draw(release: Release, rows: list[Estimate], choice: IntervalChoice) -> bytes:
    """Draw the estimates of one question, of everybody or by a background question."""
    survey, first = release.survey, rows[0]
    questions = {each.key: each for each in survey.frozen_design().questions}
    question, by = questions[first.question], questions.get(first.by)
    entries = list(_entries(question, by, rows))
    level = f"{choice.level}\u00a0%"
    canvas = Canvas(question.text, _describe(entries, level), survey.language)
    canvas.lines(question.text, size=18, bold=True)
    if by:
        canvas.skip(4)
        canvas.lines(by.text, size=15)
    names = ("Estimate", f"{level} interval")
    side = "right" if right_to_left(question.text) else ""
    lines = list(_lines(entries, by is not None))
    whiskers.draw(canvas, SHARES, lines, names, "Estimated share of people", side)
    canvas.skip(18)
    canvas.lines(survey.title, bold=True)
    for sentence in _caption(release, rows, choice):
        canvas.lines(sentence, size=12, fill=QUIET, own=False)
    return canvas.done()


def _entries(
    question: Question, by: Question | None, rows: list[Estimate]
) -> Iterator[LabelledEstimate]:
    names = {option.key: option.text for option in by.options} if by else {"": "Everybody"}
    options = {option.key: option.text for option in question.options}
    for row in shown_options(question, rows):
        yield names[row.group], options[row.option], row


def _lines(entries: list[LabelledEstimate], by: bool) -> Iterator[whiskers.Row]:
    """Yield a row for every estimate, below the name of its group if that has several."""
    for _, some in groupby(entries, key=lambda entry: entry[2].group):
        members = list(some)
        several = by and len(members) > 1
        if several:
            yield whiskers.Row(members[0][0])
        for name, label, row in members:
            share = "–" if row.bounded is None else percent(row.bounded)
            yield whiskers.Row(
                name if by and not several else label,
                [Point(row.bounded, row.low, row.high)],
                (share, f"{hundred(row.low)} to {hundred(row.high)}"),
            )


def _describe(entries: list[LabelledEstimate], level: str) -> str:
    """Describe the figure in words, with all its numbers, for people who cannot see it."""
    words = [f"Estimated shares with their {level} intervals."]
    for name, label, row in entries:
        share = "no estimate" if row.bounded is None else percent(row.bounded)
        words.append(f"{name}, {label}: {share}, {percent(row.low)} to {percent(row.high)}.")
    return " ".join(words)


def _caption(release: Release, rows: list[Estimate], choice: IntervalChoice) -> Iterator[str]:
    survey, first = release.survey, rows[0]
    everybody = not first.by
    always = choice.always and (everybody or first.n >= ALWAYS_FROM)
    looks = "valid at every look" if always else "for one look"
    forged = f", with up to {choice.forged:g} % fake responses" if choice.forged else ""
    yield (
        f"Release {release.number} of {release.made_at:%-d %B %Y}, {first.n:,} responses, "
        f"ε = {survey.epsilon:g} for the sensitive answers. "
        "Dots: estimated shares, moved to between 0 and 100 %. "
        f"Whiskers: {choice.level}\u00a0% intervals {looks}{forged if everybody else ''} "
        f"({first.method}). Made with Candor, design {survey.design_hash[:19]}."
    )
    if any(says_nothing(row) for row in rows):
        yield "An interval from 0 to 100 %: too few responses to say anything yet."
    if any(row.misfit is not None and row.misfit < MISFIT for row in rows):
        yield "Some of these responses do not look like what this survey’s randomizer can produce."
