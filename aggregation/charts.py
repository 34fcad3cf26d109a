"""Pictures of estimates, drawn on the server as SVG.

A row's picture is a track: whisker for the interval, dot for the estimate, in percent of the track,
so that it fits any width and the words stay real text beside it. Colours come from the page's CSS;
no style attribute, because the Content-Security-Policy allows none.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.plan import Curve, Grid, Terms
from aggregation.templatetags.figures import WIDEST, half_width

HEIGHT = 28
MIDDLE = HEIGHT // 2


def dot_and_whisker(
    value: float | None, low: float, high: float, description: str = ""
) -> SafeString:
    """The track of one estimate on [0, 1]: `value` is the bounded one, if there is any.

    Without a description it is hidden from screen readers, for words that stand beside it.
    """
    dot = format_html('<circle class="dot" cx="{}%" cy="{}" r="6"/>', _percent(value or 0), MIDDLE)
    spoken = format_html('role="img" aria-label="{}"', description)
    return format_html(
        '<svg class="track" width="100%" height="{h}" {spoken}>'
        '<line class="axis" x1="0%" x2="100%" y1="{m}" y2="{m}"/>'
        '<line class="whisker" x1="{low}%" x2="{high}%" y1="{m}" y2="{m}"/>'
        '<line class="cap" x1="{low}%" x2="{low}%" y1="{top}" y2="{bottom}"/>'
        '<line class="cap" x1="{high}%" x2="{high}%" y1="{top}" y2="{bottom}"/>'
        "{dot}</svg>",
        h=HEIGHT,
        m=MIDDLE,
        top=MIDDLE - 5,
        bottom=MIDDLE + 5,
        low=_percent(low),
        high=_percent(high),
        dot=SafeString("") if value is None else dot,
        spoken=spoken if description else SafeString('aria-hidden="true"'),
    )


def parts(first: float) -> SafeString:
    """A bar in two parts, the first of them this much of it; the words for it stand beside it."""
    return format_html(
        '<svg class="parts" width="100%" height="12" aria-hidden="true">'
        '<rect class="first" x="0%" width="{}%" y="1" height="10"/>'
        '<rect class="rest" x="{}%" width="{}%" y="1" height="10"/></svg>',
        _percent(first),
        _percent(first),
        _percent(1 - first),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


# --- Half-width against people --------------------------------------------------------------------
#
# Both axes are logarithmic, so that most curves are straight lines, and lines can be drawn in
# percent. Labels stand outside of the plot, where the page's CSS leaves room for them.

PLOT = 300  # pixels high
LABEL = 17  # pixels between two labels, at the least
NICE = [digit * 10.0**exponent for exponent in range(-7, 0) for digit in (1, 2, 5)]


def half_widths(grid: Grid, terms: Terms, description: str) -> SafeString:
    """A line for each ε and one without noise, with a dot where the plan is."""
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
STRAIGHT = 0.5  # pixels by which a curve may leave the line between its ends


@dataclass(frozen=True)
class Axes:
    """From people and half-widths to places in the plot."""

    few: int
    many: int
    narrow: float
    wide: float

    @classmethod
    def of(cls, grid: Grid) -> "Axes":
        values = [value for curve in grid.curves for value in curve.half_widths if value]
        return cls.around(
            grid.people[0], grid.people[-1], min(values, default=0), max(values, default=0)
        )

    @classmethod
    def around(cls, few: int, many: int, narrow: float, wide: float) -> "Axes":
        wide = min([tick for tick in NICE if tick >= min(wide, WIDEST)], default=WIDEST)
        below = [tick for tick in NICE if tick <= narrow and tick < wide]
        return cls(few, many, max(below, default=NICE[0]), wide)

    def part(self, people: float) -> float:
        return math.log(people / self.few) / math.log(self.many / self.few)

    def x(self, people: float) -> str:
        return _percent(self.part(people))

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
        """A curve from where it enters the plot; its ends alone where it is straight.

        Nothing, if it does not end in the plot.
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
        """How low a straight line from the first to the last place is at so many people."""
        if last[0] == first[0]:
            return self.y(first[1])
        part = math.log(people / first[0]) / math.log(last[0] / first[0])
        return self.y(first[1]) + part * (self.y(last[1]) - self.y(first[1]))

    def labels(self, grid: Grid, curves: list[Curve]) -> list[tuple[Curve, float]]:
        """How low the name of each curve stands: where it ends, moved apart from the others."""
        ends = [(self.y(self.points(c.half_widths, grid.people)[-1][1]), c) for c in curves]
        placed: list[tuple[Curve, float]] = []
        lowest = -math.inf
        for y, curve in sorted(ends, key=lambda end: end[0]):
            lowest = max(y, lowest + LABEL)
            placed.append((curve, lowest))
        excess = max(0.0, lowest - PLOT - 24)
        return [(curve, round(y - excess, 1)) for curve, y in placed]


def _axes(axes: Axes) -> SafeString:
    across = format_html_join(
        "",
        '<line class="rule" x1="0%" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="end" x="0%" dx="-8" dy="4" y="{0}">{1}</text>',
        ((axes.y(tick), f"{100 * tick:g}") for tick in axes.ticks()),
    )
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
    """At the right end of each line."""
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
    """The class of a curve: each has its own dashes in the page's CSS."""
    if curve.epsilon is None:
        return "clear"
    return "here" if curve.epsilon == epsilon else f"dash{curves.index(curve)}"


def curve_name(curve: Curve) -> str:
    return "no noise" if curve.epsilon is None else f"ε = {curve.epsilon:.4g}"


def short(people: int) -> str:
    """Large round numbers in few letters, so that they fit on a phone."""
    if people >= 10**9:
        return "1 bn" if people == 10**9 else "10 bn"
    if people >= 10**6:
        return f"{people // 10**6} m"
    return f"{people // 1000} k" if people >= 10_000 else f"{people:,}"


# --- Estimates over releases ----------------------------------------------------------------------
#
# One column a release, evenly spaced. Every point can have the focus; its figures then stand above
# the plot, as they do while the pointer is on it.

TALL = 180  # pixels
ABOVE = 44  # for the figures of a point
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Point:
    release: int
    value: float
    low: float
    high: float
    made: str
    figures: str


def trend(points: list[Point], description: str) -> SafeString:
    """A dot and a whisker for each release, on an axis as long as the intervals need."""
    bottom, top, step = _range(min(p.low for p in points), max(p.high for p in points))
    column = 1 / len(points)

    def x(i: int) -> str:
        return _percent((i + 0.5) * column)

    def y(share: float) -> float:
        return round(ABOVE + TALL * (top - share) / (top - bottom), 1)

    ticks = [bottom + i * step for i in range(round((top - bottom) / step) + 1)]
    rules = format_html_join(
        "",
        '<line class="rule" x1="0%" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="end" x="0%" dx="-8" dy="4" y="{0}">{1}</text>',
        ((y(tick), f"{100 * tick:.0f}\u202f%") for tick in ticks),
    )
    every = math.ceil(len(points) / 10)  # so that the numbers stand apart on a phone
    numbers = format_html_join(
        "",
        '<text class="middle" x="{}%" y="{}">{}</text>',
        (
            (x(i), ABOVE + TALL + 20, point.release)
            for i, point in enumerate(points)
            if (len(points) - 1 - i) % every == 0
        ),
    )
    line = format_html_join(
        "",
        '<line class="between" x1="{}%" x2="{}%" y1="{}" y2="{}"/>',
        (
            (x(i), x(i + 1), y(before.value), y(after.value))
            for i, (before, after) in enumerate(pairwise(points))
        ),
    )
    marks = format_html_join(
        "",
        '<g class="mark" tabindex="0" role="img" aria-label="{made}: {figures}">'
        '<rect class="reach" x="{left}%" width="{column}%" y="{above}" height="{tall}"/>'
        '<line class="whisker" x1="{x}%" x2="{x}%" y1="{low}" y2="{high}"/>'
        '<circle class="dot" cx="{x}%" cy="{value}" r="4.5"/>'
        '<text class="tip" x="0%" y="0"><tspan x="0%" y="10">{made}</tspan>'
        '<tspan class="strong" x="0%" y="28">{figures}</tspan></text></g>',
        (
            {
                "made": point.made,
                "figures": point.figures,
                "left": _percent(i * column),
                "column": _percent(column),
                "above": ABOVE,
                "tall": TALL,
                "x": x(i),
                "low": y(point.low),
                "high": y(point.high),
                "value": y(point.value),
            }
            for i, point in enumerate(points)
        ),
    )
    return format_html(
        '<svg class="plot trend" width="100%" height="{}" role="group" aria-label="{}">{}{}{}{}'
        '<text class="end" x="100%" y="{}">release</text></svg>',
        ABOVE + TALL + 44,
        description,
        rules,
        numbers,
        line,
        marks,
        ABOVE + TALL + 38,
    )


def _range(low: float, high: float) -> tuple[float, float, float]:
    """The ends of the axis, and the step between its ticks: five at the most."""
    for step in STEPS:
        bottom, top = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        if top - bottom <= 5 * step + 1e-9:
            break
    return bottom, max(top, bottom + step), step
