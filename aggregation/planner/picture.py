"""The curves of a plan, half-width against people, on its page and as a file.

Both axes are logarithmic, so that most curves are straight. On the page, labels are outside the
plot, where its CSS leaves room for them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.planner.grid import Curve, Grid
from aggregation.planner.terms import Terms
from aggregation.svg.canvas import ACCENT, MARGIN, PAPER, QUIET, Canvas, rounded
from aggregation.svg.tracks import in_percent, joined, rules
from aggregation.templatetags.figures import WIDEST, half_width

PLOT = 300  # pixels high
LABEL = 17  # pixels between two labels, at the least
NICE = [digit * 10.0**exponent for exponent in range(-7, 0) for digit in (1, 2, 5)]
STRAIGHT = 0.5  # how many pixels a curve may differ from a straight line

Place = tuple[float, float]  # people and half-width


@dataclass(frozen=True)
class DrawnCurve:
    name: str
    kind: str  # its CSS class, which gives it its own dashes
    points: list[Place]  # of its line: only its ends if it is straight
    values: list[Place]
    label: float  # the y of its name


class Plot:
    """The positions of everything in the plot. Curves that end outside are left out."""

    def __init__(self, grid: Grid, terms: Terms) -> None:
        widths = [value for curve in grid.curves for value in curve.half_widths if value] or [0]
        self.few, self.many = grid.people[0], grid.people[-1]
        widest = min(max(widths), WIDEST)
        self.wide = min([tick for tick in NICE if tick >= widest], default=WIDEST)
        below = [tick for tick in NICE if tick <= min(widths) and tick < self.wide]
        self.narrow = max(below, default=NICE[0])
        self.ticks = [tick for tick in NICE if self.holds(tick)]
        self.decades = [10**e for e in range(1, 11) if self.few <= 10**e <= self.many]
        self.curves = list(self._curves(grid, terms))

    def holds(self, half_width: float) -> bool:
        return self.narrow <= half_width <= self.wide

    def part(self, people: float) -> float:
        return math.log(people / self.few) / math.log(self.many / self.few)

    def x(self, people: float) -> str:
        return in_percent(self.part(people))

    def y(self, half_width: float) -> float:
        share = math.log(self.wide / half_width) / math.log(self.wide / self.narrow)
        return round(20 + PLOT * share, 1)

    def _curves(self, grid: Grid, terms: Terms) -> Iterator[DrawnCurve]:
        values = [_values(grid, curve) for curve in grid.curves]
        drawn = [
            (curve, every, points)
            for curve, every in zip(grid.curves, values, strict=True)
            if (points := self._points(every))
        ]
        labels = _apart([self.y(points[-1][1]) for _, _, points in drawn])
        for i, (curve, every, points) in enumerate(drawn):
            kind = "here" if curve.epsilon == terms.epsilon else f"dash{i}"
            kind = "clear" if curve.epsilon is None else kind
            inside = [(n, width) for n, width in every if self.holds(width)]
            yield DrawnCurve(curve_name(curve), kind, points, inside, labels[i])

    def _points(self, values: list[Place]) -> list[Place]:
        if len(values) < 2 or not self.narrow <= values[-1][1] < self.wide:
            return []
        inside = [(n, width) for n, width in values if width <= self.wide]
        before = len(values) - len(inside)
        if before:  # begin where the curve enters the plot
            (n1, w1), (n2, w2) = values[before - 1], values[before]
            part = math.log(w1 / self.wide) / math.log(w1 / w2)
            inside.insert(0, (round(n1 * (n2 / n1) ** part), self.wide))
        first, last = inside[0], inside[-1]
        if all(abs(self.y(w) - self._between(first, last, n)) <= STRAIGHT for n, w in inside):
            return [first, last]
        return inside

    def _between(self, first: Place, last: Place, people: float) -> float:
        """Return the y of a straight line from the first to the last place."""
        if last[0] == first[0]:
            return self.y(first[1])
        part = math.log(people / first[0]) / math.log(last[0] / first[0])
        return self.y(first[1]) + part * (self.y(last[1]) - self.y(first[1]))


def _values(grid: Grid, curve: Curve) -> list[Place]:
    pairs = zip(grid.people, curve.half_widths, strict=True)
    return [(n, width) for n, width in pairs if width is not None]


def _apart(ends: list[float]) -> list[float]:
    """Return the y of each label: at the end of its curve, but apart from the others."""
    placed, lowest = dict.fromkeys(range(len(ends)), 0.0), -math.inf
    for i in sorted(placed, key=lambda i: ends[i]):
        placed[i] = lowest = max(ends[i], lowest + LABEL)
    excess = max(0.0, lowest - PLOT - 24)
    return [round(y - excess, 1) for y in placed.values()]


def curve_name(curve: Curve) -> str:
    return "no noise" if curve.epsilon is None else f"ε = {curve.epsilon:.4g}"


def short(people: int) -> str:
    """Abbreviate a large round number, so that it fits on a phone."""
    if people >= 10**9:
        return "1 bn" if people == 10**9 else "10 bn"
    if people >= 10**6:
        return f"{people // 10**6} m"
    return f"{people // 1000} k" if people >= 10_000 else f"{people:,}"


# --- On the page ----------------------------------------------------------------------------------


def half_widths(grid: Grid, terms: Terms, description: str) -> SafeString:
    """Return a line for each ε and one without noise, and a dot for the plan."""
    plot = Plot(grid, terms)
    upright = '<line class="rule" x1="{0}%" x2="{0}%" y1="20" y2="{1}"/>'
    upright += '<text class="middle" x="{0}%" y="{2}">{3}</text>'
    titles = '<text x="0%" y="8" dx="-8">± points</text>'
    titles += '<text class="end" x="100%" y="{}">people</text>'
    dot = '<circle class="point {}" cx="{}%" cy="{}" r="3"><title>{}</title></circle>'
    drawn = [
        rules((plot.y(tick), f"{100 * tick:g}") for tick in plot.ticks),
        format_html_join(
            "", upright, ((plot.x(n), PLOT + 20, PLOT + 38, short(n)) for n in plot.decades)
        ),
        format_html(titles, PLOT + 54),
        format_html_join(
            "",
            '<line class="curve {}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>',
            (
                (curve.kind, plot.x(n1), plot.x(n2), plot.y(w1), plot.y(w2))
                for curve in plot.curves
                for (n1, w1), (n2, w2) in pairwise(curve.points)
            ),
        ),
        format_html_join(
            "",
            dot,
            (
                (curve.kind, plot.x(n), plot.y(width),
                 f"{curve.name}, {n:,} people: {half_width(width)} points")
                for curve in plot.curves
                for n, width in curve.values
            ),
        ),
        format_html_join(
            "",
            '<text class="{}" x="100%" dx="10" dy="4" y="{}">{}</text>',
            ((curve.kind, curve.label, curve.name) for curve in plot.curves),
        ),
    ]  # fmt: skip
    if plot.holds(terms.half_width):
        here = '<circle class="dot" cx="{0}%" cy="{1}" r="7"><title>{2} people: {3} points</title>'
        here += '</circle><text class="plan" x="{0}%" dx="10" y="{1}" dy="-10">{3}</text>'
        x, y = plot.x(terms.people), plot.y(terms.half_width)
        drawn.append(format_html(here, x, y, f"{terms.people:,}", half_width(terms.half_width)))
    return format_html(
        '<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}</svg>',
        PLOT + 56,
        description,
        joined(drawn),
    )


# --- As a file ------------------------------------------------------------------------------------

ACROSS = (72, 668)  # the left and right ends of the curves
DASHES = ("1 6", "6 5", "11 5", "14 5 2 5")
STROKES = {
    "clear": {"stroke": QUIET, "stroke-width": 1},
    "here": {"stroke": ACCENT, "stroke-width": 3},
    **{
        f"dash{i}": {"stroke": QUIET, "stroke-width": 2, "stroke-dasharray": dashes}
        for i, dashes in enumerate(DASHES)
    },
}


def half_widths_file(grid: Grid, terms: Terms, description: str, caption: Sequence[str]) -> bytes:
    """Return the picture of the planner's page as a file."""
    title = "Half-width against people"
    canvas = Canvas(title, " ".join([description, *_numbers(grid)]))
    canvas.lines(title, size=18, bold=True, own=False)
    canvas.skip(16)
    plot, top = Plot(grid, terms), canvas.y

    def x(people: float) -> float:
        return ACROSS[0] + (ACROSS[1] - ACROSS[0]) * plot.part(people)

    def place(people: float, width: float) -> tuple[str, str]:
        return rounded(x(people)), rounded(top + plot.y(width))

    for tick in plot.ticks:
        canvas.line(ACROSS, (top + plot.y(tick),) * 2)
        canvas.text(ACROSS[0] - 8, f"{100 * tick:g}", size=12, fill=QUIET, anchor="end",
                    dy=plot.y(tick) + 4)  # fmt: skip
    for tens in plot.decades:
        canvas.line((x(tens),) * 2, (top + 20, top + PLOT + 20))
        canvas.text(x(tens), short(tens), size=12, fill=QUIET, anchor="middle", dy=PLOT + 38)
    canvas.text(MARGIN, "± percentage points", size=12, fill=QUIET, dy=6)
    canvas.text(ACROSS[1], "people who answer", size=12, fill=QUIET, anchor="end", dy=PLOT + 56)
    for curve in plot.curves:
        line = " ".join(",".join(place(*point)) for point in curve.points)
        canvas.draw("polyline", points=line, fill="none", **STROKES[curve.kind])
        here = curve.kind == "here"
        for cx, cy in (place(*point) for point in curve.points if here):
            canvas.draw("circle", cx=cx, cy=cy, r=3, fill=ACCENT)
        canvas.text(ACROSS[1] + 10, curve.name, bold=here, dy=curve.label + 4)
    if plot.holds(terms.half_width):
        cx, cy = place(terms.people, terms.half_width)
        canvas.draw("circle", cx=cx, cy=cy, r=7, fill=ACCENT, stroke=PAPER, stroke_width=2)
        halo = {"stroke": PAPER, "stroke-width": "4", "paint-order": "stroke"}
        canvas.text(x(terms.people) + 10, half_width(terms.half_width), size=14, bold=True,
                    dy=plot.y(terms.half_width) - 10, more=halo)  # fmt: skip
    canvas.skip(PLOT + 70)
    for sentence in caption:
        canvas.lines(sentence, size=12, fill=QUIET, own=False)
    return canvas.done()


def _numbers(grid: Grid) -> Iterator[str]:
    for curve in grid.curves:
        texts = [f"{n:,} people {half_width(width)}" for n, width in _values(grid, curve)]
        yield f"{curve_name(curve)}: {', '.join(texts)}."
