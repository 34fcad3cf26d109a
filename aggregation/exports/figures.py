"""Figures of a release for papers and slides: one question in one SVG file.

A figure is self-contained: it includes its colours, size and words, and can be printed in black. It
shows the estimates of the release with the intervals that the reader chose on its page.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from aggregation.models import Estimate, Release
from aggregation.releases import display
from aggregation.releases.choice import IntervalChoice
from aggregation.releases.display import Quantity
from aggregation.releases.intervals import MISFIT, restate
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg import stacked, whiskers
from aggregation.svg.canvas import QUIET, Canvas, right_to_left
from aggregation.templatetags.figures import NONE
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


# The group, or everybody; what is estimated; and the estimate.
Entry = tuple[str, str, Estimate]


@dataclass(frozen=True)
class Panel:
    """The estimates of one measure, on one axis."""

    title: str
    quantity: Quantity
    entries: list[Entry]


def _draw(release: Release, rows: list[Estimate], choice: IntervalChoice) -> bytes:
    """Draw the estimates of one question, of everybody or by a background question."""
    survey, first = release.survey, rows[0]
    questions = {each.key: each for each in survey.frozen_design().questions}
    question, by = questions[first.question], questions.get(first.by)
    concerned = display.concerned(questions.values(), question)
    panels = list(_panels(question, by, concerned, rows))
    level = f"{choice.level}\u00a0%"
    canvas = Canvas(question.text, _describe(panels, level), survey.language)
    canvas.lines(question.text, size=18, bold=True)
    if concerned:
        canvas.lines(f"Asked only of {concerned}", size=12, fill=QUIET)
    if by:
        canvas.skip(4)
        canvas.lines(by.text, size=15)
    side = "right" if right_to_left(question.text) else ""
    if display.has_scores(question):
        _draw_bars(canvas, question, by, rows, side)
    for panel in panels:
        canvas.skip(12 if len(panels) > 1 else 0)
        if len(panels) > 1 and panel.title:
            canvas.lines(panel.title, bold=True)
        names = ("Estimate", f"{level} interval")
        lines = list(_lines(panel, by is not None))
        whiskers.draw(canvas, panel.quantity.axis, lines, names, panel.quantity.name, side)
    canvas.skip(18)
    canvas.lines(survey.title, bold=True)
    bars = display.has_scores(question)
    for sentence in [*_caption(release, rows, choice, bars), *_remarks(panels)]:
        canvas.lines(sentence, size=12, fill=QUIET, own=False)
    return canvas.done()


def _panels(
    question: Question, by: Question | None, concerned: str, rows: list[Estimate]
) -> Iterator[Panel]:
    names = _names(by)
    for measure, some in display.tables(question, rows).items():
        entries = [
            (names[row.group], display.label_of(question, measure, row.option), row) for row in some
        ]
        quantity = display.quantity_of(question, measure)
        yield Panel(display.title_of(question, some[0], concerned), quantity, entries)


def _names(by: Question | None) -> dict[str, str]:
    return {option.key: option.text for option in by.options} if by else {"": "Everybody"}


def _draw_bars(
    canvas: Canvas, question: Question, by: Question | None, rows: list[Estimate], side: str
) -> None:
    """Draw the shares of a scale's options as stacked bars."""
    shown = display.tables(question, rows)
    some = shown.get("share_of_concerned") or shown["share"]
    groups = {key: list(members) for key, members in groupby(some, key=lambda row: row.group)}
    names = _names(by)
    bars = [stacked.Bar(names[key], display.stacked(members)) for key, members in groups.items()]
    first = next(iter(groups.values()))
    parts = [
        stacked.Part(display.label_of(question, row.measure, row.option), shade)
        for row, shade in zip(first, display.shades(first), strict=True)
    ]
    stacked.draw(canvas, parts, bars, side)


def _lines(panel: Panel, by: bool) -> Iterator[whiskers.Row]:
    """Yield a line for every estimate, below the name of its group where that has several."""
    quantity = panel.quantity
    for _, some in groupby(panel.entries, key=lambda entry: entry[2].group):
        members = list(some)
        several = by and len(members) > 1
        if several:
            yield whiskers.Row(members[0][0])
        for name, label, row in members:
            yield whiskers.Row(
                name if by and not several else label,
                [display.point(quantity, row)],
                (
                    display.headline_words(quantity, row),
                    f"{quantity.plain(row.low)} to {quantity.plain(row.high)}",
                ),
            )


def _describe(panels: list[Panel], level: str) -> str:
    """Describe the figure in words, with all its numbers, for people who cannot see it."""
    words = [f"Estimates with their {level} intervals."]
    for panel in panels:
        if len(panels) > 1 and panel.title:
            words.append(f"{panel.title}.")
        for name, label, row in panel.entries:
            quantity = panel.quantity
            value = display.headline_words(quantity, row).replace(NONE, "no estimate")
            words.append(f"{name}, {label}: {value}, {quantity.interval(row.low, row.high)}.")
    return " ".join(words)


def _caption(
    release: Release, rows: list[Estimate], choice: IntervalChoice, bars: bool
) -> Iterator[str]:
    survey, first = release.survey, rows[0]
    everybody = not first.by
    always = choice.always and (everybody or first.n >= ALWAYS_FROM)
    looks = "valid at every look" if always else "for one look"
    if choice.is_headline:
        looks = f"{choice.kind}, {'but ' if choice.always != always else ''}{looks}"
    forged = f", with up to {choice.forged:g} % fake responses" if choice.forged else ""
    dots = "estimates, moved to what is possible"
    if all(row.option for row in rows):
        dots = "estimated shares, moved to between 0 and 100 %"
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    yield (
        f"Release {release.number} of {release.made_at:%-d %B %Y}, {first.n:,} responses, "
        f"ε = {survey.epsilon:g} for the sensitive answers. "
        f"Dots: {dots}. "
        f"Whiskers: {choice.level}\u00a0% intervals, {looks}{forged if everybody else ''} "
        f"({methods}). Made with Candor, design {survey.design_hash[:19]}."
    )
    if bars:
        yield "Bars: shares below 0 count as 0, and the others are shown as parts of their sum."
    if any(row.misfit is not None and row.misfit < MISFIT for row in rows):
        yield "Some of these responses do not look like what this survey’s randomizer can produce."


def _remarks(panels: list[Panel]) -> Iterator[str]:
    """Explain open dots, and intervals without one."""
    shown = [(panel.quantity, row) for panel in panels for *_, row in panel.entries]
    points = [display.point(quantity, row) for quantity, row in shown]
    if any(point.open and point.value is not None for point in points):
        yield "Open dots: the interval reaches an end of the axis, so only a bound is known."
    if any(display.says_nothing(quantity, row) for quantity, row in shown):
        yield "An interval over the whole axis: too few responses to say anything."
