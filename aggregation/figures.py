"""Figures to take home: a question of a release, or the curves of a plan, as one SVG file.

A figure stands alone: it is made for a paper or a slide, so its colours, its size and its words are
in it, and black print loses nothing. Presentation attributes and no style, which our own
Content-Security-Policy would refuse, and a generic font. What is drawn are the estimates of the
release, with the intervals that the reader chose on its page.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.etree import ElementTree

from aggregation.charts import PLOT, Axes, curve_name, short
from aggregation.models import Estimate, Release
from aggregation.plan import Curve, Grid, Terms
from aggregation.sections import (
    MISFIT,
    Choice,
    asked,
    restate,
    says_nothing,
    shown_options,
)
from aggregation.statistics.ratio import ALWAYS_FROM
from aggregation.templatetags.figures import half_width, percent
from survey.design import Design, Question

SVG = "http://www.w3.org/2000/svg"
WIDTH, MARGIN = 800, 24
INK, QUIET, LINE, ACCENT = "#1d2426", "#4a5456", "#d5d2cb", "#0f6b66"
LABELS: tuple[float, float] = (MARGIN, 236)  # from and to
TRACK = (252, 590)
ESTIMATE, INTERVAL = 662, WIDTH - MARGIN  # where the numbers end
SIZE, LEAD = 13, 17  # of letters, and from one line to the next
RISE = 4.5  # from the foot of a letter to its middle
BREAK = r"[^\S\u00a0\u202f]+"  # where a line may end


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
    canvas = Canvas(question.text, _told(groups, level), survey.language)
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


class Canvas:
    """An SVG that grows downwards; `y` is where the next thing stands."""

    def __init__(self, title: str, description: str, language: str = "en") -> None:
        self.root = ElementTree.Element(
            "svg", {"xmlns": SVG, "role": "img", "font-family": "sans-serif", "fill": INK}
        )
        self.language = language
        self.from_right = False  # labels stand at the right of their column
        for tag, words in (("title", title), ("desc", description)):
            ElementTree.SubElement(self.root, tag).text = _printable(words)
        self.paper = self.draw("rect", width="100%", height="100%", fill="#ffffff")
        self.y = float(MARGIN)

    def draw(self, tag: str, **attributes: object) -> ElementTree.Element:
        given = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
        return ElementTree.SubElement(self.root, tag, given)

    def skip(self, height: float) -> None:
        self.y += height

    def text(
        self, x: float, words: str, size: int = SIZE, fill: str = INK, anchor: str = "start",
        bold: bool = False, dy: float = 0, more: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        where = {"x": _round(x), "y": _round(self.y + dy)}
        element = self.draw("text", **where, font_size=size, **(more or {}))
        for name, value, usual in (
            ("fill", fill, INK),
            ("text-anchor", anchor, "start"),
            ("font-weight", "bold" if bold else "normal", "normal"),
        ):
            if value != usual:
                element.set(name, value)
        element.text = _printable(words)

    def lines(
        self, words: str, span: tuple[float, float] = (MARGIN, WIDTH - MARGIN), size: int = SIZE,
        fill: str = INK, bold: bool = False, own: bool = True,
    ) -> None:  # fmt: skip
        """A text in as many lines as it needs; each script begins on its own side.

        `own`: a text of the survey, in its language; the others are ours.
        """
        more = {"xml:lang": self.language} if own else {}
        x, anchor = span[0], "start"
        if right_to_left(words):
            x, more["direction"] = span[1], "rtl"
        elif self.from_right and span == LABELS:
            x, anchor = span[1], "end"
        for line in wrapped(words, span[1] - span[0], size * 1.08 if bold else size):
            self.y += round(size * 1.3)
            self.text(x, line, size=size, fill=fill, bold=bold, anchor=anchor, more=more)

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
                line.set(name, _round(value))
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
        stroke = {"stroke": ACCENT, "y1": _round(middle - 5), "y2": _round(middle + 5)}
        self.draw("line", x1=low, x2=high, y1=_round(middle), y2=_round(middle),
                  stroke=ACCENT, stroke_width=3)  # fmt: skip
        for end in (low, high):
            self.draw("line", x1=end, x2=end, stroke_width=2, **stroke)
        if row.bounded is not None:
            self.draw("circle", cx=_x(row.bounded), cy=_round(middle), r=6, fill=ACCENT)
        interval = f"{_bare(percent(row.low))} to {_bare(percent(row.high))}"
        share = "–" if row.bounded is None else percent(row.bounded)
        for x, words, bold in ((ESTIMATE, share, True), (INTERVAL, interval, False)):
            self.text(x, words, anchor="end", bold=bold, dy=middle - self.y + RISE)

    def done(self) -> bytes:
        height = round(self.y + MARGIN)
        sizes = {"viewBox": f"0 0 {WIDTH} {height}", "width": str(WIDTH), "height": str(height)}
        for name, value in sizes.items():
            self.root.set(name, value)
        text = ElementTree.tostring(self.root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _x(share: float) -> str:
    left, right = TRACK
    return _round(left + (right - left) * share)


def _round(place: float) -> str:
    return f"{place:.1f}".removesuffix(".0")


def _bare(number: str) -> str:
    """A percentage without its sign, below a heading that has it."""
    return number.partition("\u202f")[0]


# --- Words ----------------------------------------------------------------------------------------


def _printable(text: str) -> str:
    """Without what XML has no place for; and a space that every font has."""
    kept = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    return "".join(kept).replace("\u202f", "\u00a0").replace("\ufffe", "").replace("\uffff", "")


def right_to_left(text: str) -> bool:
    """By the first letter that has a direction."""
    strong = (unicodedata.bidirectional(one) for one in text)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Lines that fit, by the letters of a wide font; a word that is too long is cut."""
    found = [""]
    for word in re.split(BREAK, text.strip()):
        longer = f"{found[-1]} {word}" if found[-1] else word
        if breadth(longer, size) <= width:
            found[-1] = longer
            continue
        if breadth(word, size) <= width:
            found.append(word)
            continue
        line = f"{found[-1]} " if found[-1] else ""
        for letter in word:
            if breadth(line + letter, size) > width and breadth(letter, size) > 0:
                found[-1] = line
                found.append("")
                line = ""
            line += letter
        found[-1] = line
    return found


def breadth(text: str, size: float) -> float:
    return size * sum(_breadth(letter) for letter in text)


def _breadth(letter: str) -> float:
    """In parts of the size, as wide as common fonts have it at the most."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in " .,:;'’|!()[]/-ijlft":
        return 0.4
    return 0.98 if letter in "mwMW@%—" else 0.76 if letter.isupper() else 0.64


# --- The curves of a plan -------------------------------------------------------------------------

ACROSS = (72, 668)  # the curves: their names stand to the right
DASHES = ("1 6", "6 5", "11 5", "14 5 2 5")


def half_widths(grid: Grid, terms: Terms, description: str, caption: Sequence[str]) -> bytes:
    """Half-width against people, as on the page of the planner."""
    title = "Half-width against people"
    canvas = Canvas(title, " ".join([description, *_numbers(grid)]))
    canvas.lines(title, size=18, bold=True, own=False)
    canvas.skip(16)
    axes = Axes.of(grid)
    top = canvas.y

    def x(people: float) -> str:
        return _round(ACROSS[0] + (ACROSS[1] - ACROSS[0]) * axes.part(people))

    def y(width: float) -> str:
        return _round(top + axes.y(width))

    for tick in axes.ticks():
        canvas.draw("line", x1=ACROSS[0], x2=ACROSS[1], y1=y(tick), y2=y(tick), stroke=LINE)
        canvas.text(ACROSS[0] - 8, f"{100 * tick:g}", size=12, fill=QUIET, anchor="end",
                    dy=axes.y(tick) + 4)  # fmt: skip
    for tens in axes.decades():
        canvas.draw("line", x1=x(tens), x2=x(tens), y1=_round(top + 20), y2=_round(top + PLOT + 20),
                    stroke=LINE)  # fmt: skip
        canvas.text(float(x(tens)), short(tens), size=12, fill=QUIET, anchor="middle", dy=PLOT + 38)
    canvas.text(MARGIN, "± percentage points", size=12, fill=QUIET, dy=6)
    canvas.text(ACROSS[1], "people who answer", size=12, fill=QUIET, anchor="end", dy=PLOT + 56)
    curves = axes.drawable(grid)
    for number, curve in enumerate(curves):
        points = axes.points(curve.half_widths, grid.people)
        canvas.draw("polyline", points=" ".join(f"{x(n)},{y(width)}" for n, width in points),
                    fill="none", **_stroke(number, curve, terms))  # fmt: skip
        if curve.epsilon == terms.epsilon:
            for n, width in points:
                canvas.draw("circle", cx=x(n), cy=y(width), r=3, fill=ACCENT)
    for curve, low in axes.labels(grid, curves):
        bold = curve.epsilon == terms.epsilon
        canvas.text(ACROSS[1] + 10, curve_name(curve), bold=bold, dy=low + 4)
    if axes.narrow <= terms.half_width <= axes.wide:
        place = {"cx": x(terms.people), "cy": y(terms.half_width)}
        canvas.draw("circle", **place, r=7, fill=ACCENT, stroke="#ffffff", stroke_width=2)
        halo = {"stroke": "#ffffff", "stroke-width": "4", "paint-order": "stroke"}
        canvas.text(float(place["cx"]) + 10, half_width(terms.half_width), size=14, bold=True,
                    dy=axes.y(terms.half_width) - 10, more=halo)  # fmt: skip
    canvas.skip(PLOT + 70)
    for sentence in caption:
        canvas.lines(sentence, size=12, fill=QUIET, own=False)
    return canvas.done()


def _numbers(grid: Grid) -> Iterator[str]:
    for curve in grid.curves:
        widths = zip(grid.people, curve.half_widths, strict=True)
        some = [f"{n:,} people {half_width(width)}" for n, width in widths if width is not None]
        yield f"{curve_name(curve)}: {', '.join(some)}."


def _stroke(number: int, curve: Curve, terms: Terms) -> dict[str, object]:
    """Each curve has its own dashes, so that it is known without its colour."""
    if curve.epsilon is None:
        return {"stroke": QUIET, "stroke-width": 1}
    if curve.epsilon == terms.epsilon:
        return {"stroke": ACCENT, "stroke-width": 3}
    return {"stroke": QUIET, "stroke-width": 2, "stroke-dasharray": DASHES[number % len(DASHES)]}
