"""Stacked bars in a file: shares of a whole beside each other, with a key to their colours."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.svg.canvas import LINE, MARGIN, PAPER, SIZE, Canvas, breadth, lead, tint
from aggregation.svg.whiskers import LABELS

HEIGHT = 26
SWATCH = 12
APART = 20  # between two entries of the key
LEFT = 252.0  # of the bars, below which are the points of estimates


@dataclass(frozen=True)
class Part:
    """An entry of the key. `shade` is the strength of its colour; None is grey."""

    label: str
    shade: float | None

    @property
    def colour(self) -> str:
        return LINE if self.shade is None else tint(self.shade)


@dataclass(frozen=True)
class Bar:
    """A label and the shares of all parts; none if there are too few to tell."""

    label: str
    shares: Sequence[float] | None


def draw(canvas: Canvas, parts: Sequence[Part], bars: Sequence[Bar], side: str = "") -> None:
    """Draw the bars below each other, and then the key."""
    canvas.skip(14)
    for bar in bars:
        _bar(canvas, parts, bar, side)
    canvas.skip(6)
    _key(canvas, parts)


def _bar(canvas: Canvas, parts: Sequence[Part], bar: Bar, side: str) -> None:
    height = max(HEIGHT + 8, canvas.height(bar.label, LABELS) + 6)
    middle = canvas.y + height / 2
    canvas.around(middle, bar.label, LABELS, side=side)
    x, whole = LEFT, canvas.width - MARGIN - LEFT
    if bar.shares is None:
        canvas.around(middle, "too few responses to tell", (LEFT, LEFT + whole), own=False)
    for part, share in zip(parts, bar.shares or [], strict=False):
        canvas.rectangle(x, middle - HEIGHT / 2, whole * share, HEIGHT, part.colour)
        x += whole * share
        canvas.line((x, x), (middle - HEIGHT / 2, middle + HEIGHT / 2), PAPER, 2)
    canvas.skip(height)


def _key(canvas: Canvas, parts: Sequence[Part]) -> None:
    """Write the key in as many lines as it needs."""
    right = canvas.width - MARGIN
    x = LEFT
    canvas.skip(lead(SIZE))
    for part in parts:
        width = min(SWATCH + 6 + breadth(part.label, SIZE), right - LEFT)
        if x + width > right and x > LEFT:
            x = LEFT
            canvas.skip(lead(SIZE) + 3)
        canvas.rectangle(x, canvas.y - SWATCH + 1, SWATCH, SWATCH, part.colour)
        span = (x + SWATCH + 6, right)
        top = canvas.y
        canvas.y -= lead(SIZE)
        canvas.lines(part.label, span, side="left")
        if canvas.y > top:
            x = right
        else:
            x += width + APART
        canvas.y = max(canvas.y, top)
