"""Figures to take home: a question of a release, or the curves of a plan, as one SVG file.

A figure stands alone: it is made for a paper or a slide, so its colours, its size and its words are
in it, and black print loses nothing. Presentation attributes and no style, which our own
Content-Security-Policy would refuse, and a generic font. What is drawn are the estimates of the
release, with the intervals that the reader chose on its page.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from aggregation.models import Estimate, Release
from aggregation.releases.intervals import (
    MISFIT,
    Choice,
    asked,
    restate,
    says_nothing,
    shown_options,
)
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.svg.canvas import (
    ACCENT,
    LABELS,
    LEAD,
    LINE,
    MARGIN,
    QUIET,
    RISE,
    WIDTH,
    Canvas,
    right_to_left,
    rounded,
)
from aggregation.templatetags.figures import percent
from survey.design import Design, Question

TRACK = (252, 590)
ESTIMATE, INTERVAL = 662, WIDTH - MARGIN  # where the numbers end


# --- Which there are ------------------------------------------------------------------------------


def name_of(question: str, by: str = "") -> str:
    """No key has a dot in it, so no two figures have one name."""
    return f"figure-{question}.by-{by}.svg" if by else f"figure-{question}.svg"


def names(design: Design) -> dict[str, tuple[str, str]]:
    """Every figure of a survey: its question, and the background question or nothing."""
    return {
        name_of(question.key, by): (question.key, by)
        for question in design.questions
        for by in ["", *(one.key for one in design.background if one.key != question.key)]
    }


def one(release: Release, question: str, by: str, choice: Choice) -> bytes:
    rows = list(release.estimates.filter(question=question, by=by))
    restate(rows, asked(release.survey.frozen_design()), choice)
    return drawn(release, rows, choice)


def every(release: Release, choice: Choice) -> Iterator[tuple[str, bytes]]:
    """The name of each figure and what is in it; the estimates are read once."""
    questions = asked(release.survey.frozen_design())
    for question, some in groupby(release.estimates.iterator(), key=lambda row: row.question):
        rows = list(some)
        restate(rows, questions, choice)
        for by, table in groupby(rows, key=lambda row: row.by):
            yield name_of(question, by), drawn(release, list(table), choice)


# --- A question -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Everybody, or one group: its options with their estimates."""

    name: str
    rows: list[tuple[str, Estimate]]


def drawn(release: Release, rows: list[Estimate], choice: Choice) -> bytes:
    """The table of one question, over everybody or by a background question, as whiskers."""
    survey, first = release.survey, rows[0]
    questions = {each.key: each for each in survey.frozen_design().questions}
    question, by = questions[first.question], questions.get(first.by)
    groups = list(_groups(question, by, rows))
    level = f"{choice.level}\u00a0%"
    canvas = Table(question.text, _told(groups, level), survey.language)
    canvas.from_right = right_to_left(question.text)
    canvas.lines(question.text, size=18, bold=True)
    if by:
        canvas.skip(4)
        canvas.lines(by.text, size=15)
    canvas.skip(26)
    for x, text in ((ESTIMATE, "Estimate"), (INTERVAL, f"{level} interval")):
        canvas.text(x, text, size=12, fill=QUIET, anchor="end")
    canvas.skip(8)
    canvas.track(groups, by=by is not None)
    canvas.skip(18)
    canvas.lines(survey.title, bold=True)
    for sentence in _caption(release, rows, choice):
        canvas.lines(sentence, size=12, fill=QUIET, own=False)
    return canvas.done()


def _groups(question: Question, by: Question | None, rows: list[Estimate]) -> Iterator[Group]:
    names = {option.key: option.text for option in by.options} if by else {"": "Everybody"}
    options = {option.key: option.text for option in question.options}
    for group, some in groupby(shown_options(question, rows), key=lambda row: row.group):
        yield Group(names[group], [(options[row.option], row) for row in some])


def _told(groups: list[Group], level: str) -> str:
    """The figure in words, with all its numbers, for those who do not see it."""
    words = [f"Estimated shares with their {level} intervals."]
    for group in groups:
        for label, row in group.rows:
            words.append(f"{group.name}, {label}: {_share(row)}, {_limits(row)}.")
    return " ".join(words)


def _share(row: Estimate) -> str:
    return "no estimate" if row.bounded is None else percent(row.bounded)


def _limits(row: Estimate) -> str:
    return f"{percent(row.low)} to {percent(row.high)}"


def _caption(release: Release, rows: list[Estimate], choice: Choice) -> Iterator[str]:
    survey, first = release.survey, rows[0]
    everybody = not first.by
    always = choice.always and (everybody or first.n >= ALWAYS_FROM)
    looks = "valid at every look" if always else "for one look"
    forged = f", with up to {choice.forged:g} % fake responses" if choice.forged else ""
    yield (
        f"Release {release.number} of {release.made_at:%-d %B %Y}, {first.n:,} responses, "
        f"ε = {survey.epsilon:g} for the sensitive answers. "
        "Dots: estimated shares, moved into 0 to 100 %. "
        f"Whiskers: {choice.level}\u00a0% intervals {looks}{forged if everybody else ''} "
        f"({first.method}). Made with Candor, design {survey.design_hash[:19]}."
    )
    if any(says_nothing(row) for row in rows):
        yield "An interval from 0 to 100 %: too few responses to say anything yet."
    if any(row.misfit is not None and row.misfit < MISFIT for row in rows):
        yield "Some of these responses do not look like what this survey’s randomizer can produce."


# --- The drawing ----------------------------------------------------------------------------------


class Table(Canvas):
    """A row for every estimate: its words, dot and whisker, and its numbers."""

    def track(self, groups: list[Group], by: bool) -> None:
        """A row for every estimate: its words, dot and whisker, and its numbers."""
        top = self.y
        grid = [self.draw("line", stroke=LINE) for _ in range(5)]  # below what comes later
        for group in groups:
            several = by and len(group.rows) > 1
            if several:
                self.skip(6)
                self.lines(group.name, LABELS, bold=True)
            for label, row in group.rows:
                self._row(label if several or not by else group.name, row)
        self.skip(4)
        left, right = TRACK
        for i, line in enumerate(grid):
            x = left + (right - left) * i / 4
            for name, value in (("x1", x), ("x2", x), ("y1", top), ("y2", self.y)):
                line.set(name, rounded(value))
            self.text(x, f"{25 * i}\u00a0%", size=12, fill=QUIET, anchor="middle", dy=18)
        self.skip(36)
        self.text((left + right) / 2, "Estimated share of people", size=12, fill=QUIET,
                  anchor="middle")  # fmt: skip

    def _label(self, words: str) -> float:
        """Some lines of words; where their middle is."""
        self.skip(5)
        first = self.y + LEAD
        self.lines(words, LABELS)
        middle = (first + self.y) / 2 - RISE
        self.skip(5)
        return middle

    def _row(self, label: str, row: Estimate) -> None:
        middle = self._label(label)
        low, high = _x(row.low), _x(row.high)
        stroke = {"stroke": ACCENT, "y1": rounded(middle - 5), "y2": rounded(middle + 5)}
        self.draw("line", x1=low, x2=high, y1=rounded(middle), y2=rounded(middle),
                  stroke=ACCENT, stroke_width=3)  # fmt: skip
        for end in (low, high):
            self.draw("line", x1=end, x2=end, stroke_width=2, **stroke)
        if row.bounded is not None:
            self.draw("circle", cx=_x(row.bounded), cy=rounded(middle), r=6, fill=ACCENT)
        interval = f"{_bare(percent(row.low))} to {_bare(percent(row.high))}"
        share = "–" if row.bounded is None else percent(row.bounded)
        for x, words, bold in ((ESTIMATE, share, True), (INTERVAL, interval, False)):
            self.text(x, words, anchor="end", bold=bold, dy=middle - self.y + RISE)


def _x(share: float) -> str:
    left, right = TRACK
    return rounded(left + (right - left) * share)


def _bare(number: str) -> str:
    """A percentage without its sign, below a heading that has it."""
    return number.partition("\u202f")[0]
