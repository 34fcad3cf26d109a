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

HEIGHT = 28
MIDDLE = HEIGHT // 2


def dot_and_whisker(
    value: float | None, low: float, high: float, description: str = ""
) -> SafeString:
    """The track of one estimate on [0, 1]: `value` is the bounded one, if there is any.

    Without a description it is hidden from screen readers, for words that stand beside it.
    """
    dot = format_html(
        '<circle class="dot" cx="{}%" cy="{}" r="6"/>', in_percent(value or 0), MIDDLE
    )
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
        low=in_percent(low),
        high=in_percent(high),
        dot=SafeString("") if value is None else dot,
        spoken=spoken if description else SafeString('aria-hidden="true"'),
    )


def parts(first: float) -> SafeString:
    """A bar in two parts, the first of them this much of it; the words for it stand beside it."""
    return format_html(
        '<svg class="parts" width="100%" height="12" aria-hidden="true">'
        '<rect class="first" x="0%" width="{}%" y="1" height="10"/>'
        '<rect class="rest" x="{}%" width="{}%" y="1" height="10"/></svg>',
        in_percent(first),
        in_percent(first),
        in_percent(1 - first),
    )


def in_percent(share: float) -> str:
    return f"{100 * share:.2f}"


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
        return in_percent((i + 0.5) * column)

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
                "left": in_percent(i * column),
                "column": in_percent(column),
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
