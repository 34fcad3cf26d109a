"""Pictures on pages, in percent of their width, so that they fit any page and text stays text.

Colours come from the page's CSS, because the Content-Security-Policy allows no style attribute.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from aggregation.svg.axis import SHARES, Axis, Point

HEIGHT = 28
MIDDLE = HEIGHT // 2
STACK = 28  # the height of a stacked bar
NOTHING = SafeString("")
HIDDEN = 'aria-hidden="true"'
ZERO = f'<line class="zero" x1="{{0}}%" x2="{{0}}%" y1="0" y2="{HEIGHT}"/>'


def mark(point: Point, axis: Axis = SHARES) -> SafeString:
    """Draw one point with its interval, for a row with its numbers. Heights are in the CSS.

    As short as possible, because a page has hundreds.
    """
    low, high = in_percent(axis.part(point.low)), 100 * axis.part(point.high)
    drawn = f'<rect x="{low}%" width="{high - float(low):.2f}%"/>'
    if point.value is not None:
        kind = ' class="open"' if point.open else ""
        drawn += f'<circle{kind} cx="{in_percent(axis.part(point.value))}%"/>'
    return mark_safe(f"<svg {HIDDEN}>{drawn}</svg>")  # noqa: S308  # only numbers


def track(points: Sequence[Point], description: str = "", axis: Axis = SHARES) -> SafeString:
    """Draw one point with its interval, or two above each other.

    Without a description, it is hidden from screen readers.
    """
    spoken = f'role="img" aria-label="{escape(description)}"' if description else HIDDEN
    middles = [MIDDLE] if len(points) == 1 else [8, 20]
    return joined(
        [
            f'<svg class="track" width="100%" height="{HEIGHT}" {spoken}>'
            f'<line class="axis" x1="0%" x2="100%" y1="{MIDDLE}" y2="{MIDDLE}"/>',
            "" if axis.zero is None else ZERO.format(in_percent(axis.part(axis.zero))),
            *(
                _whisker(axis, point, y, small=len(points) > 1)
                for point, y in zip(points, middles, strict=True)
            ),
            "</svg>",
        ]
    )


def _whisker(axis: Axis, point: Point, y: int, small: bool) -> str:
    """Draw one point. Only numbers are in it, so nothing is escaped: a page has hundreds."""
    cap = 4 if small else 5
    low, high = in_percent(axis.part(point.low)), in_percent(axis.part(point.high))
    drawn = ""
    if point.low < point.high:
        drawn = (
            f'<line class="whisker" x1="{low}%" x2="{high}%" y1="{y}" y2="{y}"/>'
            f'<line class="cap" x1="{low}%" x2="{low}%" y1="{y - cap}" y2="{y + cap}"/>'
            f'<line class="cap" x1="{high}%" x2="{high}%" y1="{y - cap}" y2="{y + cap}"/>'
        )
    if point.value is not None:
        x = in_percent(axis.part(point.value))
        kind = "dot open" if point.open else "dot"
        drawn += f'<circle class="{kind}" cx="{x}%" cy="{y}" r="{cap + 1}"/>'
    return f'<g class="raw">{drawn}</g>' if point.quiet else drawn


def bar(share: float, name: str = "bar", height: int = 8) -> SafeString:
    """Draw a share as a part of a bar, hidden from screen readers."""
    return format_html(
        '<svg class="{0}" width="100%" height="{1}" aria-hidden="true"><rect class="whole" '
        'width="100%" height="{1}"/><rect class="part" width="{2}%" height="{1}"/></svg>',
        name,
        height,
        in_percent(SHARES.part(share)),
    )


def estimate(point: Point, axis: Axis) -> SafeString:
    """Draw an estimate as a bar with its interval above it, hidden from screen readers."""
    low, high = axis.part(point.low), axis.part(point.high)
    return format_html(
        '<svg class="estimate" width="100%" height="16" aria-hidden="true">'
        '<rect class="whole" width="100%" y="4" height="8"/>'
        '<rect class="part" width="{}%" y="4" height="8"/>'
        '<rect class="probable" x="{}%" width="{}%" height="16"/></svg>',
        in_percent(0.0 if point.value is None else axis.part(point.value)),
        in_percent(low),
        in_percent(high - low),
    )


def stack(parts: Sequence[tuple[float, float | None]], description: str) -> SafeString:
    """Draw parts of a whole beside each other, each with the strength of its colour, or grey."""
    place, drawn = 0.0, []
    for width, shade in parts:
        drawn.append((in_percent(place), in_percent(width), STACK, *_colour(shade)))
        place += width
    return format_html(
        '<svg class="stack" width="100%" height="{}" role="img" aria-label="{}">{}</svg>',
        STACK,
        description,
        format_html_join(
            "",
            '<rect x="{}%" width="{}%" height="{}" class="{}" fill-opacity="{}"/>',
            drawn,
        ),
    )


def swatch(shade: float | None) -> SafeString:
    """Draw the colour of a part, for a key."""
    return format_html(
        '<svg class="swatch" width="14" height="14" aria-hidden="true">'
        '<rect width="14" height="14" class="{}" fill-opacity="{}"/></svg>',
        *_colour(shade),
    )


def _colour(shade: float | None) -> tuple[str, str]:
    return ("other", "1") if shade is None else ("part", f"{shade:.2f}")


def in_percent(share: float) -> str:
    return f"{100 * share:.2f}"


def joined(drawn: Iterable[str]) -> SafeString:
    return mark_safe("".join(drawn))  # noqa: S308  # its parts are escaped


def rules(ticks: Iterable[tuple[float, str]]) -> SafeString:
    """Draw horizontal lines across a plot, with numbers at the left."""
    return format_html_join(
        "",
        '<line class="rule" x1="0%" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="end" x="0%" dx="-8" dy="4" y="{0}">{1}</text>',
        ticks,
    )


# --- Estimates over releases ----------------------------------------------------------------------
#
# One column for each release, evenly spaced, with its date below. The figures of the point with the
# focus or the pointer are above a large plot; a small one has only a description.

TALL, SMALL = 180, 96  # pixels
ABOVE, MARGIN = 44, 8  # for the figures of a point, and without them
DATES = 6  # at most, so that they stand apart on a phone
WHISKER = '<line class="whisker" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>{3}'
MARK = (
    '<g class="mark" tabindex="0" role="img" aria-label="{0}: {1}">'
    f'<rect class="reach" x="{{2}}%" width="{{3}}%" y="{ABOVE}" height="{TALL}"/>'
    '{4}<text class="tip" x="0%" y="0"><tspan x="0%" y="10">{0}</tspan>'
    '<tspan class="strong" x="0%" y="28">{1}</tspan></text></g>'
)


@dataclass(frozen=True)
class Released:
    """The estimate of one release, with its words."""

    date: str
    point: Point
    made: str
    figures: str


def trend(
    points: list[Released], description: str, least: float, tick_text: Callable[[float], str],
    small: bool = False,
) -> SafeString:  # fmt: skip
    """Draw the point and interval of each release, on an axis that fits them.

    `least` is the smallest distance between two ticks.
    """
    lows, highs = [one.point.low for one in points], [one.point.high for one in points]
    bottom, top, step = _range(min(lows), max(highs), least)
    above, tall = (MARGIN, SMALL) if small else (ABOVE, TALL)

    def x(place: float) -> str:
        return in_percent(place / len(points))

    def y(share: float) -> float:
        return round(above + tall * (top - share) / (top - bottom), 1)

    ticks = [bottom + i * step for i in range(round((top - bottom) / step) + 1)]
    values = [one.point.value for one in points]
    between = [
        (x(i + 0.5), x(i + 1.5), y(before), y(after))
        for i, (before, after) in enumerate(pairwise(values))
        if before is not None and after is not None
    ]
    drawn = [
        format_html(
            WHISKER, x(i + 0.5), y(one.point.low), y(one.point.high), _dot(x(i + 0.5), one.point, y)
        )
        for i, one in enumerate(points)
    ]
    if not small:
        drawn = [
            format_html(MARK, one.made, one.figures, x(i), x(1), drawn[i])
            for i, one in enumerate(points)
        ]
    return format_html(
        '<svg class="plot trend" width="100%" height="{}" role="{}" aria-label="{}">{}{}{}{}</svg>',
        above + tall + 28,
        "img" if small else "group",
        description,
        rules((y(tick), tick_text(tick)) for tick in ticks),
        format_html_join(
            "",
            '<text class="middle" x="{}%" y="{}">{}</text>',
            ((x(i + 0.5), above + tall + 20, date) for i, date in _dates(points)),
        ),
        format_html_join("", '<line class="between" x1="{}%" x2="{}%" y1="{}" y2="{}"/>', between),
        joined(drawn),
    )


def _dates(points: list[Released]) -> list[tuple[int, str]]:
    """Return the places of the dates to write: at most a few, the last one among them."""
    every = math.ceil(len(points) / DATES)
    found: list[tuple[int, str]] = []
    for i, one in enumerate(points):
        shown = (len(points) - 1 - i) % every == 0
        if shown and (not found or found[-1][1] != one.date):
            found.append((i, one.date))
    return found


def _dot(x: str, point: Point, y: Callable[[float], float]) -> SafeString:
    if point.value is None:
        return NOTHING
    kind = "dot open" if point.open else "dot"
    return format_html('<circle class="{}" cx="{}%" cy="{}" r="4.5"/>', kind, x, y(point.value))


def _range(low: float, high: float, least: float) -> tuple[float, float, float]:
    """Return the ends of the axis and the step between at most five ticks."""
    for step in (digit * least * 10**zeros for zeros in count() for digit in (1, 2, 5)):
        bottom, top = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        if top - bottom <= 5 * step * (1 + 1e-9):
            break
    return bottom, max(top, bottom + step), step
