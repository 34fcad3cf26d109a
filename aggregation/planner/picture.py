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
from aggregation.svg.tracks import in_percent, rules
from aggregation.templatetags.figures import WIDEST, half_width

PLOT = 300  # pixels high
LABEL = 17  # pixels between two labels, at the least
NICE = [digit * 10.0**exponent for exponent in range(-7, 0) for digit in (1, 2, 5)]


def half_widths(grid: Grid, terms: Terms, description: str) -> SafeString:
    """Return a line for each ε and one without noise, and a dot for the plan."""
    axes = Axes.of(grid)
    curves = axes.drawable(grid)
    return format_html(
        '<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}{}{}{}</svg>',
        PLOT + 56,
        description,
        _axes(axes),
        _lines(axes, grid.people, curves, terms.epsilon),
        _labels(axes, grid, curves, terms.epsilon),
        _plan(axes, terms),
    )


Place = tuple[float, float]  # people and half-width
STRAIGHT = 0.5  # how many pixels a curve may differ from a straight line


@dataclass(frozen=True)
class Axes:
    """The ranges of people and half-widths, and their positions in the plot."""

    few: int
    many: int
    narrow: float
    wide: float

    @classmethod
    def of(cls, grid: Grid) -> "Axes":
        values = [value for curve in grid.curves for value in curve.half_widths if value] or [0]
        widest = min(max(values), WIDEST)
        wide = min([tick for tick in NICE if tick >= widest], default=WIDEST)
        below = [tick for tick in NICE if tick <= min(values) and tick < wide]
        return cls(grid.people[0], grid.people[-1], max(below, default=NICE[0]), wide)

    def part(self, people: float) -> float:
        return math.log(people / self.few) / math.log(self.many / self.few)

    def x(self, people: float) -> str:
        return in_percent(self.part(people))

    def y(self, half_width: float) -> float:
        share = math.log(self.wide / half_width) / math.log(self.wide / self.narrow)
        return round(20 + PLOT * share, 1)

    def ticks(self) -> list[float]:
        return [tick for tick in NICE if self.narrow <= tick <= self.wide]

    def decades(self) -> list[int]:
        return [10**e for e in range(1, 11) if self.few <= 10**e <= self.many]

    def drawable(self, grid: Grid) -> list[Curve]:
        return [curve for curve in grid.curves if self.points(curve.half_widths, grid.people)]

    def points(self, half_widths: list[float | None], people: list[int]) -> list[Place]:
        """Return the points of a curve in the plot, or only its ends if it is straight.

        A curve that does not end in the plot has no points.
        """
        given = [(n, w) for n, w in zip(people, half_widths, strict=True) if w is not None]
        if len(given) < 2 or not self.narrow <= given[-1][1] < self.wide:
            return []
        inside = [(float(n), w) for n, w in given if w <= self.wide]
        before = len(given) - len(inside)
        if before:
            (n1, w1), (n2, w2) = given[before - 1], given[before]
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

    def labels(self, grid: Grid, curves: list[Curve]) -> list[tuple[Curve, float]]:
        """Return the y for the name of each curve: at its end, but apart from other names."""
        ends = [(self.y(self.points(c.half_widths, grid.people)[-1][1]), c) for c in curves]
        placed: list[tuple[Curve, float]] = []
        lowest = -math.inf
        for y, curve in sorted(ends, key=lambda end: end[0]):
            lowest = max(y, lowest + LABEL)
            placed.append((curve, lowest))
        excess = max(0.0, lowest - PLOT - 24)
        return [(curve, round(y - excess, 1)) for curve, y in placed]


def _axes(axes: Axes) -> SafeString:
    across = rules((axes.y(tick), f"{100 * tick:g}") for tick in axes.ticks())
    upright = format_html_join(
        "",
        '<line class="rule" x1="{0}%" x2="{0}%" y1="20" y2="{1}"/>'
        '<text class="middle" x="{0}%" y="{2}">{3}</text>',
        ((axes.x(n), PLOT + 20, PLOT + 38, short(n)) for n in axes.decades()),
    )
    titles = format_html(
        '<text x="0%" y="8" dx="-8">± points</text><text class="end" x="100%" y="{}">people</text>',
        PLOT + 54,
    )
    return across + upright + titles


def _lines(axes: Axes, people: list[int], curves: list[Curve], epsilon: float) -> SafeString:
    lines, dots = [], []
    for curve in curves:
        kind = _kind(curve, curves, epsilon)
        lines += [
            (kind, axes.x(n1), axes.x(n2), axes.y(w1), axes.y(w2))
            for (n1, w1), (n2, w2) in pairwise(axes.points(curve.half_widths, people))
        ]
        dots += [
            (
                kind,
                axes.x(n),
                axes.y(w),
                f"{curve_name(curve)}, {n:,} people: {half_width(w)} points",
            )
            for n, w in zip(people, curve.half_widths, strict=True)
            if w is not None and axes.narrow <= w <= axes.wide
        ]
    drawn = format_html_join(
        "", '<line class="curve {}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>', lines
    )
    return drawn + format_html_join(
        "", '<circle class="point {}" cx="{}%" cy="{}" r="3"><title>{}</title></circle>', dots
    )


def _labels(axes: Axes, grid: Grid, curves: list[Curve], epsilon: float) -> SafeString:
    return format_html_join(
        "",
        '<text class="{}" x="100%" dx="10" dy="4" y="{}">{}</text>',
        (
            (_kind(curve, curves, epsilon), y, curve_name(curve))
            for curve, y in axes.labels(grid, curves)
        ),
    )


def _plan(axes: Axes, terms: Terms) -> SafeString:
    if not axes.narrow <= terms.half_width <= axes.wide:
        return SafeString("")
    return format_html(
        '<circle class="dot" cx="{0}%" cy="{1}" r="7"><title>{2} people: {3} points</title>'
        '</circle><text class="plan" x="{0}%" dx="10" y="{1}" dy="-10">{3}</text>',
        axes.x(terms.people),
        axes.y(terms.half_width),
        f"{terms.people:,}",
        half_width(terms.half_width),
    )


def _kind(curve: Curve, curves: list[Curve], epsilon: float) -> str:
    """Return the CSS class of a curve, which gives it its own dashes."""
    if curve.epsilon is None:
        return "clear"
    return "here" if curve.epsilon == epsilon else f"dash{curves.index(curve)}"


def curve_name(curve: Curve) -> str:
    return "no noise" if curve.epsilon is None else f"ε = {curve.epsilon:.4g}"


def short(people: int) -> str:
    """Abbreviate a large round number, so that it fits on a phone."""
    if people >= 10**9:
        return "1 bn" if people == 10**9 else "10 bn"
    if people >= 10**6:
        return f"{people // 10**6} m"
    return f"{people // 1000} k" if people >= 10_000 else f"{people:,}"


ACROSS = (72, 668)  # the left and right ends of the curves
DASHES = ("1 6", "6 5", "11 5", "14 5 2 5")


def half_widths_file(grid: Grid, terms: Terms, description: str, caption: Sequence[str]) -> bytes:
    """Return the picture of the planner's page as a file."""
    title = "Half-width against people"
    canvas = Canvas(title, " ".join([description, *_numbers(grid)]))
    canvas.lines(title, size=18, bold=True, own=False)
    canvas.skip(16)
    axes = Axes.of(grid)
    top = canvas.y

    def x(people: float) -> float:
        return ACROSS[0] + (ACROSS[1] - ACROSS[0]) * axes.part(people)

    def place(people: float, width: float) -> tuple[str, str]:
        return rounded(x(people)), rounded(top + axes.y(width))

    for tick in axes.ticks():
        canvas.line(ACROSS, (top + axes.y(tick),) * 2)
        canvas.text(ACROSS[0] - 8, f"{100 * tick:g}", size=12, fill=QUIET, anchor="end",
                    dy=axes.y(tick) + 4)  # fmt: skip
    for tens in axes.decades():
        canvas.line((x(tens),) * 2, (top + 20, top + PLOT + 20))
        canvas.text(x(tens), short(tens), size=12, fill=QUIET, anchor="middle", dy=PLOT + 38)
    canvas.text(MARGIN, "± percentage points", size=12, fill=QUIET, dy=6)
    canvas.text(ACROSS[1], "people who answer", size=12, fill=QUIET, anchor="end", dy=PLOT + 56)
    curves = axes.drawable(grid)
    for number, curve in enumerate(curves):
        points = axes.points(curve.half_widths, grid.people)
        canvas.draw("polyline", points=" ".join(",".join(place(*point)) for point in points),
                    fill="none", **_stroke(number, curve, terms))  # fmt: skip
        if curve.epsilon == terms.epsilon:
            for cx, cy in (place(*point) for point in points):
                canvas.draw("circle", cx=cx, cy=cy, r=3, fill=ACCENT)
    for curve, low in axes.labels(grid, curves):
        bold = curve.epsilon == terms.epsilon
        canvas.text(ACROSS[1] + 10, curve_name(curve), bold=bold, dy=low + 4)
    if axes.narrow <= terms.half_width <= axes.wide:
        cx, cy = place(terms.people, terms.half_width)
        canvas.draw("circle", cx=cx, cy=cy, r=7, fill=ACCENT, stroke=PAPER, stroke_width=2)
        halo = {"stroke": PAPER, "stroke-width": "4", "paint-order": "stroke"}
        canvas.text(x(terms.people) + 10, half_width(terms.half_width), size=14, bold=True,
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
    """Return the attributes of a curve. Its dashes identify it without colour."""
    if curve.epsilon is None:
        return {"stroke": QUIET, "stroke-width": 1}
    if curve.epsilon == terms.epsilon:
        return {"stroke": ACCENT, "stroke-width": 3}
    return {"stroke": QUIET, "stroke-width": 2, "stroke-dasharray": DASHES[number % len(DASHES)]}
