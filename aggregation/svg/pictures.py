"""Pictures of analyses, as SVG.

Two kinds from the same rows. On a page a picture is a track in each row of a table, in percent of
its width, so that it fits a phone and its words stay real text; colours come from the page's CSS.
As a file it is one drawing with a viewBox, its words in it, on white, with presentation attributes
alone: it looks the same in every program, in print and without the page.
"""

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

PAPER, INK, QUIET, LINE, ACCENT = "#ffffff", "#1d2426", "#5a6567", "#dfdcd5", "#0f6b66"
SHADES = 8
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LETTER = 0.6  # of its size, the width of a letter, rather too much than too little
NOTHING = SafeString("")


@dataclass(frozen=True)
class Axis:
    """Values from left to right, with the places that have a number."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    zero: float | None = None  # where “no difference” is

    def part(self, value: float) -> float:
        """Where a value is, from 0 to 1; what lies beyond an end is drawn at it."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def percent(self, value: float) -> str:
        return f"{100 * self.part(value):.2f}"

    @property
    def ends(self) -> tuple[str, str]:
        low, high = (f"{end:g}".replace("-", "−") for end in (self.low, self.high))
        return low, high


SHARES = Axis(0, 1, [(0, "0 %"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (1, "100 %")])


@dataclass(frozen=True)
class Point:
    """An estimate with its interval; `open` ones are the raw beside the weighted."""

    value: float
    low: float
    high: float
    open: bool = False


@dataclass(frozen=True)
class Row:
    """A line of a picture: words, points, and the same in figures. Without points: a heading."""

    label: str
    points: Sequence[Point] = ()
    figures: str = ""


@dataclass(frozen=True)
class Cell:
    value: float | None
    low: float | None
    high: float | None
    shade: int  # 0 to SHADES


@dataclass(frozen=True)
class Grid:
    """A table of two questions with a share in every cell."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]

    @property
    def body(self) -> SafeString:
        """The rows of a page's table, made here: a template takes ten times as long."""
        return format_html_join(
            "",
            '<tr><th scope="row">{}</th>{}</tr>',
            ((label, _joined(_shaded(cell) for cell in cells)) for label, cells in self.rows),
        )


def _shaded(cell: Cell) -> SafeString:
    if cell.value is None or cell.low is None or cell.high is None:
        return SafeString("<td>–</td>")
    return SafeString(
        f'<td class="s{cell.shade}"><b>{percent(cell.value)}\u202f%</b> '
        f"<span>{percent(cell.low)} to {percent(cell.high)}</span></td>"
    )


def nice(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers within these limits, not too many."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


# --- In a row of a page ---------------------------------------------------------------------------


def track(axis: Axis, points: Sequence[Point], description: str) -> SafeString:
    """Whiskers and dots of one row; two of them one above the other."""
    height = 28
    ys = [height / 2] if len(points) == 1 else [8.0, 20.0]
    parts = [
        format_html('<line class="axis" x1="0%" x2="100%" y1="{0}" y2="{0}"/>', _number(height / 2))
    ]
    if axis.zero is not None:
        x = axis.percent(axis.zero)
        parts.append(
            format_html('<line class="zero" x1="{0}%" x2="{0}%" y1="0" y2="{1}"/>', x, height)
        )
    for point, y in zip(points, ys, strict=False):
        low, high = axis.percent(point.low), axis.percent(point.high)
        ends = [(end, _number(y - 4), _number(y + 4)) for end in (low, high)]
        caps = format_html_join(
            "", '<line class="cap" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>', ends
        )
        parts.append(
            format_html(
                '<g class="{0}"><line class="whisker" x1="{1}%" x2="{2}%" y1="{3}" y2="{3}"/>'
                '{4}<circle class="dot" cx="{5}%" cy="{3}" r="5"/></g>',
                *("raw" if point.open else "found", low, high, _number(y), caps),
                axis.percent(point.value),
            )
        )
    return format_html(
        '<svg class="track" width="100%" height="{}" role="img" aria-label="{}">{}</svg>',
        height,
        description,
        _joined(parts),
    )


def bar(share: float) -> SafeString:
    """A share as a bar; the number stands beside it, so that nobody needs to be told of it."""
    return format_html(
        '<svg class="bar" width="100%" height="8" aria-hidden="true">'
        '<rect class="whole" width="100%" height="8"/>'
        '<rect class="part" width="{}%" height="8"/></svg>',
        SHARES.percent(share),
    )


# --- As a file ------------------------------------------------------------------------------------


def whiskers(title: str, notes: Sequence[str], axis: Axis, rows: Sequence[Row]) -> str:
    """Dots and whiskers below each other, with their words left and their figures right."""
    label, plot, figures, gap = 300, 340, 190, 24
    left = label + gap
    head = _Text(title, notes, label + plot + figures + 2 * gap)
    y = head.height + 8
    parts = [head.markup]
    top = y
    drawn: list[SafeString] = []
    for row in rows:
        lines = _wrapped(row.label, label, 13)
        height = max(18 * len(lines) + 10, 30)
        middle = y + height / 2
        weight = "600" if not row.points else "400"
        drawn.append(_lines(lines, 0, middle - 9 * (len(lines) - 1), 13, INK, weight))
        offsets = [0.0] if len(row.points) < 2 else [-6.0, 6.0]
        for point, offset in zip(row.points, offsets, strict=False):
            drawn.append(_whisker(axis, point, left, plot, middle + offset))
        drawn.append(_text(left + plot + gap, middle, row.figures, 12, QUIET))
        y += height
    for value, text in axis.ticks:
        x = left + plot * axis.part(value)
        strong = axis.zero is not None and abs(value - axis.zero) < 1e-12
        parts.append(_line(x, x, top, y + 4, QUIET if strong else LINE, 1.5 if strong else 1))
        parts.append(_text(x, y + 18, text, 11, QUIET, "middle"))
    return _document(title, notes, label + plot + figures + 2 * gap, y + 36, [*parts, *drawn])


def heat(title: str, notes: Sequence[str], grids: Sequence[Grid]) -> str:
    """Tables with a shade and a number in every cell."""
    label, height = 190, 46
    most = max(len(grid.columns) for grid in grids)
    cell = max(96, min(160, 560 // most))
    width = max(label + most * cell, 480)
    head = _Text(title, notes, width)
    parts, y = [head.markup], head.height + 6.0
    for grid in grids:
        if grid.caption:
            caption = _wrapped(grid.caption, width, 13)
            parts.append(_lines(caption, 0, y + 14, 13, INK, "600"))
            y += 18 * len(caption) + 10
        names = [_wrapped(name, cell - 10, 11) for name in grid.columns]
        deep = max(len(lines) for lines in names)
        for i, lines in enumerate(names):
            parts.append(
                _lines(lines, label + i * cell + cell / 2, y + 14, 11, QUIET, "400", "middle")
            )
        y += 18 * deep + 8
        for name, cells in grid.rows:
            lines = _wrapped(name, label - 14, 12)[:3]
            parts.append(_lines(lines, 0, y + height / 2 - 9 * (len(lines) - 1), 12, INK))
            for i, one in enumerate(cells):
                parts.append(_cell(one, label + i * cell, y, cell, height))
            y += height
        y += 22
    return _document(title, notes, width, y, parts)


@dataclass(frozen=True)
class Bars:
    """A question with the probability of every option in each class."""

    label: str
    options: Sequence[tuple[str, Sequence[tuple[float, str]]]]  # share and its figures, by class


def bars(title: str, notes: Sequence[str], columns: Sequence[str], parts: Sequence[Bars]) -> str:
    """Small bars: a row an option, a column a class."""
    label, column = 230, 130
    width = max(label + column * len(columns), 480)
    head = _Text(title, notes, width)
    drawn, y = [head.markup], head.height + 10.0
    for i, name in enumerate(columns):
        drawn.append(_text(label + i * column, y + 8, name, 12, INK, weight="600"))
    y += 26
    for part in parts:
        lines = _wrapped(part.label, width, 13)
        drawn.append(_lines(lines, 0, y + 12, 13, INK, "600"))
        y += 18 * len(lines) + 8
        for option, shares in part.options:
            lines = _wrapped(option, label - 16, 12)[:2]
            height = 18 * len(lines) + 8
            middle = y + height / 2
            drawn.append(_lines(lines, 0, middle - 9 * (len(lines) - 1), 12, INK))
            for i, (share, figures) in enumerate(shares):
                x, long = label + i * column, column - 62
                drawn.append(_rectangle(x, middle - 5, long, 10, "#ecebe6"))
                drawn.append(_rectangle(x, middle - 5, long * SHARES.part(share), 10, ACCENT))
                drawn.append(_text(x + long + 6, middle, figures, 11, INK))
            y += height
        y += 12
    return _document(title, notes, width, y, drawn)


# --- Parts of a drawing ---------------------------------------------------------------------------


class _Text:
    """The title and the notes above a drawing."""

    def __init__(self, title: str, notes: Sequence[str], width: float) -> None:
        lines = _wrapped(title, width, 17)
        self.markup = _lines(lines, 0, 14, 17, INK, "600", step=23)
        self.height = 23.0 * len(lines) + 4
        for note in notes:
            wrapped = _wrapped(note, width, 12)
            self.markup += _lines(wrapped, 0, self.height + 12, 12, QUIET, step=17)
            self.height += 17 * len(wrapped)
        self.height += 8


def _document(
    title: str, notes: Sequence[str], width: float, height: float, parts: Iterable[SafeString]
) -> str:
    margin = 24
    wide, high = _number(width + 2 * margin), _number(height + 2 * margin)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}"'
        ' role="img" font-family="{2}"><title>{3}</title><desc>{4}</desc>'
        '<rect width="{0}" height="{1}" fill="{5}"/><g transform="translate({6} {6})">{7}</g>'
        "</svg>\n",
        wide,
        high,
        FONT,
        _clean(title),
        _clean(" ".join(notes)),
        PAPER,
        margin,
        _joined(parts),
    )


def _whisker(axis: Axis, point: Point, left: float, width: float, y: float) -> SafeString:
    low, high, x = (left + width * axis.part(v) for v in (point.low, point.high, point.value))
    colour = QUIET if point.open else ACCENT
    dot = format_html(
        '<circle cx="{}" cy="{}" r="4.5" fill="{}" stroke="{}" stroke-width="2"/>',
        *(_number(x), _number(y), PAPER if point.open else ACCENT, colour),
    )
    caps = [_line(end, end, y - 4, y + 4, colour, 2) for end in (low, high)]
    return _joined([_line(low, high, y, y, colour, 2), *caps, dot])


def _cell(cell: Cell, x: float, y: float, width: float, height: float) -> SafeString:
    colour = shade(cell.shade)
    box = _rectangle(x + 1, y + 1, width - 2, height - 2, colour)
    middle = x + width / 2
    if cell.value is None or cell.low is None or cell.high is None:
        return box + _text(middle, y + height / 2, "–", 13, INK, "middle")
    limits = f"{percent(cell.low)} to {percent(cell.high)}"
    return (
        box
        + _text(middle, y + height / 2 - 8, f"{percent(cell.value)} %", 13, INK, "middle", "600")
        + _text(middle, y + height / 2 + 10, limits, 10, INK, "middle")
    )


def shade(step: int) -> str:
    """White, and more of the accent the larger the share; dark letters stay legible on all."""
    part = 0.6 * step / SHADES
    mixed = [
        round((1 - part) * int(PAPER[i : i + 2], 16) + part * int(ACCENT[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def percent(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


def _line(x1: float, x2: float, y1: float, y2: float, colour: str, width: float = 1) -> SafeString:
    return format_html(
        '<line x1="{}" x2="{}" y1="{}" y2="{}" stroke="{}" stroke-width="{}"/>',
        *(_number(x1), _number(x2), _number(y1), _number(y2), colour, width),
    )


def _rectangle(x: float, y: float, width: float, height: float, colour: str) -> SafeString:
    return format_html(
        '<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="{}" stroke-width="0.5"/>',
        *(_number(x), _number(y), _number(width), _number(height), colour, LINE),
    )


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    colour: str,
    anchor: str = "start",
    weight: str = "400",
) -> SafeString:
    return format_html(
        '<text x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{}" font-weight="{}">{}</text>',
        *(_number(x), _number(y + size * 0.35), size, colour, anchor, weight, _clean(text)),
    )


def _lines(
    lines: Sequence[str],
    x: float,
    y: float,
    size: float,
    colour: str,
    weight: str = "400",
    anchor: str = "start",
    step: float = 18,
) -> SafeString:
    return _joined(
        _text(x, y + i * step, line, size, colour, anchor, weight) for i, line in enumerate(lines)
    )


def _wrapped(text: str, width: float, size: float) -> list[str]:
    return textwrap.wrap(text, max(int(width / (LETTER * size)), 6)) or [""]


def _clean(text: str) -> str:
    """Without what XML does not take at all."""
    return "".join(c for c in text if c >= " " and c not in "\ufffe\uffff")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _joined(parts: Iterable[SafeString]) -> SafeString:
    return mark_safe("".join(parts))  # noqa: S308  # each of them was escaped
