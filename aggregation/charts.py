"""Pictures of estimates, drawn on the server as SVG.

A row's picture is a track: whisker for the interval, dot for the estimate, in percent of the track,
so that it fits any width and the words stay real text beside it. Colours come from the page's CSS;
no style attribute, because the Content-Security-Policy allows none.
"""

import math
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.plan import Curve, Grid, Terms
from aggregation.templatetags.figures import WIDEST, half_width

HEIGHT = 28
MIDDLE = HEIGHT // 2


def dot_and_whisker(value: float, low: float, high: float, description: str) -> SafeString:
    """The track of one estimate on [0, 1]: `value` is the bounded one."""
    return format_html(
        '<svg class="track" width="100%" height="{h}" role="img" aria-label="{text}">'
        '<line class="axis" x1="0%" x2="100%" y1="{m}" y2="{m}"/>'
        '<line class="whisker" x1="{low}%" x2="{high}%" y1="{m}" y2="{m}"/>'
        '<line class="cap" x1="{low}%" x2="{low}%" y1="{top}" y2="{bottom}"/>'
        '<line class="cap" x1="{high}%" x2="{high}%" y1="{top}" y2="{bottom}"/>'
        '<circle class="dot" cx="{value}%" cy="{m}" r="6"/></svg>',
        h=HEIGHT,
        m=MIDDLE,
        top=MIDDLE - 5,
        bottom=MIDDLE + 5,
        low=_percent(low),
        high=_percent(high),
        value=_percent(value),
        text=description,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


# --- Half-width against people --------------------------------------------------------------------
#
# Both axes are logarithmic, so that every curve is a straight line, and lines can be drawn in
# percent. Labels stand outside of the plot, where the page's CSS leaves room for them.

PLOT = 300  # pixels high
LABEL = 17  # pixels between two labels, at the least
NICE = [digit * 10.0**exponent for exponent in range(-7, 0) for digit in (1, 2, 5)]


def half_widths(grid: Grid, terms: Terms, description: str) -> SafeString:
    """A line for each ε and one without noise, with a dot where the plan is."""
    values = [value for curve in grid.curves for value in curve.half_widths if value is not None]
    axes = Axes.around(grid.people[0], grid.people[-1], min(values), max(values))
    curves = [curve for curve in grid.curves if axes.ends(curve.half_widths, grid.people)]
    return format_html(
        '<svg class="plot" width="100%" height="{}" role="img" aria-label="{}">{}{}{}{}</svg>',
        PLOT + 56,
        description,
        _axes(axes),
        _lines(axes, grid.people, curves, terms.epsilon),
        _labels(axes, grid.people, curves, terms.epsilon),
        _plan(axes, terms),
    )


@dataclass(frozen=True)
class Axes:
    """From people and half-widths to places in the plot."""

    few: int
    many: int
    narrow: float
    wide: float

    @classmethod
    def around(cls, few: int, many: int, narrow: float, wide: float) -> "Axes":
        wide = min([tick for tick in NICE if tick >= min(wide, WIDEST)], default=WIDEST)
        below = [tick for tick in NICE if tick <= narrow and tick < wide]
        return cls(few, many, max(below, default=NICE[0]), wide)

    def x(self, people: float) -> str:
        return _percent(math.log(people / self.few) / math.log(self.many / self.few))

    def y(self, half_width: float) -> float:
        share = math.log(self.wide / half_width) / math.log(self.wide / self.narrow)
        return round(20 + PLOT * share, 1)

    def ends(
        self, half_widths: list[float | None], people: list[int]
    ) -> tuple[float, float, float, float] | None:
        """Where a line enters the plot and where it leaves: people and half-width, twice."""
        points = [(n, w) for n, w in zip(people, half_widths, strict=True) if w is not None]
        if len(points) < 2 or not self.narrow <= points[-1][1] < self.wide:
            return None
        (n1, w1), (n2, w2) = points[0], points[-1]
        if w1 > self.wide:
            part = math.log(w1 / self.wide) / math.log(w1 / w2)
            n1, w1 = round(n1 * (n2 / n1) ** part), self.wide
        return n1, w1, n2, w2


def _axes(axes: Axes) -> SafeString:
    ticks = [tick for tick in NICE if axes.narrow <= tick <= axes.wide]
    across = format_html_join(
        "",
        '<line class="rule" x1="0%" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="end" x="0%" dx="-8" dy="4" y="{0}">{1}</text>',
        ((axes.y(tick), f"{100 * tick:g}") for tick in ticks),
    )
    decades = [10**e for e in range(1, 11) if axes.few <= 10**e <= axes.many]
    upright = format_html_join(
        "",
        '<line class="rule" x1="{0}%" x2="{0}%" y1="20" y2="{1}"/>'
        '<text class="middle" x="{0}%" y="{2}">{3}</text>',
        ((axes.x(n), PLOT + 20, PLOT + 38, _short(n)) for n in decades),
    )
    titles = format_html(
        '<text x="0%" y="8" dx="-8">± points</text><text class="end" x="100%" y="{}">people</text>',
        PLOT + 54,
    )
    return across + upright + titles


def _lines(axes: Axes, people: list[int], curves: list[Curve], epsilon: float) -> SafeString:
    lines, dots = [], []
    for curve in curves:
        n1, w1, n2, w2 = axes.ends(curve.half_widths, people) or (1, 1, 1, 1)
        kind = _kind(curve, curves, epsilon)
        lines.append((kind, axes.x(n1), axes.x(n2), axes.y(w1), axes.y(w2)))
        dots += [
            (kind, axes.x(n), axes.y(w), f"{_name(curve)}, {n:,} people: {half_width(w)} points")
            for n, w in zip(people, curve.half_widths, strict=True)
            if w is not None and axes.narrow <= w <= axes.wide
        ]
    drawn = format_html_join(
        "", '<line class="curve {}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>', lines
    )
    return drawn + format_html_join(
        "", '<circle class="point {}" cx="{}%" cy="{}" r="3"><title>{}</title></circle>', dots
    )


def _labels(axes: Axes, people: list[int], curves: list[Curve], epsilon: float) -> SafeString:
    """At the right end of each line, moved apart where lines end close together."""
    ends = [(axes.y((axes.ends(c.half_widths, people) or (0, 0, 0, 1))[3]), c) for c in curves]
    placed: list[tuple[str, float, str]] = []
    lowest = -math.inf
    for y, curve in sorted(ends, key=lambda end: end[0]):
        lowest = max(y, lowest + LABEL)
        placed.append((_kind(curve, curves, epsilon), lowest, _name(curve)))
    excess = max(0.0, lowest - PLOT - 24)
    return format_html_join(
        "",
        '<text class="{}" x="100%" dx="10" dy="4" y="{}">{}</text>',
        ((kind, round(y - excess, 1), name) for kind, y, name in placed),
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


def _name(curve: Curve) -> str:
    return "no noise" if curve.epsilon is None else f"ε = {curve.epsilon:.4g}"


def _short(people: int) -> str:
    """Large round numbers in few letters, so that they fit on a phone."""
    if people >= 10**9:
        return "1 bn" if people == 10**9 else "10 bn"
    if people >= 10**6:
        return f"{people // 10**6} m"
    return f"{people // 1000} k" if people >= 10_000 else f"{people:,}"
