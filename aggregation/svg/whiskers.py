"""A file with a row for each estimate: its label, its point and interval, and its figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.svg.axis import Axis, Point
from aggregation.svg.canvas import (
    ACCENT,
    LINE,
    MARGIN,
    PAPER,
    QUIET,
    RISE,
    SIZE,
    Canvas,
    breadth,
    rounded,
)

LABELS = (MARGIN, 236.0)
TRACK = (252.0, 590.0)  # shorter if the figures need room
ESTIMATE = 662.0  # the right end of the first figure, or further left
GAP = 8


@dataclass(frozen=True)
class Row:
    """A label, points, and an estimate and interval as text. Without points, a heading."""

    label: str
    points: Sequence[Point] = ()
    figures: tuple[str, str] = ("", "")


def picture(
    title: str, notes: Sequence[str], axis: Axis, rows: Sequence[Row], names: tuple[str, str],
    unit: str,
) -> bytes:  # fmt: skip
    """Return a file with these rows. `names` are those of the two figures."""
    texts = (f"{row.label}: {' '.join(row.figures)}." for row in rows if row.points)
    canvas = Canvas(title, " ".join([*notes, *texts]))
    canvas.heading(title, notes)
    draw(canvas, axis, rows, names, unit)
    return canvas.done()


def draw(
    canvas: Canvas, axis: Axis, rows: Sequence[Row], names: tuple[str, str], unit: str,
    side: str = "",
) -> None:  # fmt: skip
    """Draw the rows, with labels on this side or, by default, on the side of their script."""
    canvas.skip(26)
    right = canvas.width - MARGIN
    first, second = (max(breadth(row.figures[i], SIZE * 1.08) for row in rows) for i in (0, 1))
    estimate = min(ESTIMATE, right - second - GAP)
    table = _Table(canvas, axis, min(TRACK[1], estimate - first - GAP), (estimate, right), side)
    for x, name in zip(table.columns, names, strict=True):
        canvas.text(x, name, size=12, fill=QUIET, anchor="end")
    canvas.skip(8)
    table.grid(sum(map(table.height, rows)) + 4)
    for row in rows:
        table.row(row)
    canvas.skip(40)
    canvas.text((TRACK[0] + table.end) / 2, unit, size=12, fill=QUIET, anchor="middle")


@dataclass(frozen=True)
class _Table:
    canvas: Canvas
    axis: Axis
    end: float  # of the track
    columns: tuple[float, float]  # where the figures end
    side: str

    def height(self, row: Row) -> float:
        space = (6, 10, 13)[len(row.points)]
        return space + self.canvas.height(row.label, LABELS, bold=not row.points)

    def grid(self, height: float) -> None:
        for value, text in self.axis.ticks:
            x, zero = self._x(value), value == self.axis.zero
            y = (self.canvas.y, self.canvas.y + height)
            self.canvas.line((x, x), y, QUIET if zero else LINE)
            self.canvas.text(x, text, size=12, fill=QUIET, anchor="middle", dy=height + 18)

    def row(self, row: Row) -> None:
        canvas, height = self.canvas, self.height(row)
        middle = canvas.y + height / 2
        heading = not row.points
        canvas.around(middle + 3 * heading, row.label, LABELS, side=self.side, bold=heading)
        spread = [0] if len(row.points) == 1 else [-6, 6]
        for point, dy in zip(row.points, spread, strict=False):
            self._whisker(point, middle + dy, small=len(row.points) > 1)
        if row.points:
            for x, words, bold in zip(self.columns, row.figures, (True, False), strict=True):
                canvas.text(x, words, anchor="end", bold=bold, dy=height / 2 + RISE * SIZE)
        canvas.skip(height)

    def _whisker(self, point: Point, y: float, small: bool) -> None:
        low, high = self._x(point.low), self._x(point.high)
        colour, cap = QUIET if point.quiet else ACCENT, 4 if small else 5
        if point.low < point.high:
            self.canvas.line((low, high), (y, y), colour, 2 if small else 3)
            for end in (low, high):
                self.canvas.line((end, end), (y - cap, y + cap), colour, 2)
        if point.value is not None:
            place = {"cx": rounded(self._x(point.value)), "cy": rounded(y)}
            ring = {"stroke": colour, "stroke_width": 2} if point.open else {}
            fill, radius = PAPER if point.open else ACCENT, 4.5 if small else 6
            self.canvas.draw("circle", **place, r=radius, fill=fill, **ring)

    def _x(self, value: float) -> float:
        return TRACK[0] + (self.end - TRACK[0]) * self.axis.part(value)
