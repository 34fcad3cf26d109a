"""The picture of profiles: a row of bars for each option, with a column for each profile."""

from collections.abc import Sequence

from aggregation.svg.canvas import ACCENT, GROUND, MARGIN, RISE, Canvas

LABELS = (MARGIN, MARGIN + 214.0)
BARS = MARGIN + 230.0  # the left end of the bars
COLUMN, LONG, THICK = 156, 68, 10

# A question, and the probability of each of its options in each profile, also in words.
QuestionBars = tuple[str, Sequence[tuple[str, Sequence[tuple[float, str]]]]]


def picture(
    title: str, notes: Sequence[str], shares: Sequence[str], parts: Sequence[QuestionBars]
) -> bytes:
    width = max(BARS + COLUMN * len(shares) + MARGIN, 528)
    canvas = Canvas(title, " ".join(notes), width=width)
    canvas.heading(title, notes)
    canvas.skip(26)
    for i, share in enumerate(shares):
        canvas.text(BARS + i * COLUMN, f"Profile {i + 1}: {share}", size=12, bold=True)
    for question, options in parts:
        canvas.skip(14)
        canvas.lines(question, bold=True)
        canvas.skip(4)
        for option, values in options:
            height = canvas.height(option, LABELS, 12) + 9
            canvas.around(canvas.y + height / 2, option, LABELS, size=12)
            for i, (value, words) in enumerate(values):
                _bar(canvas, BARS + i * COLUMN, height / 2, value, words)
            canvas.skip(height)
    return canvas.done()


def _bar(canvas: Canvas, x: float, middle: float, share: float, words: str) -> None:
    top = canvas.y + middle - THICK / 2
    canvas.rectangle(x, top, LONG, THICK, GROUND)
    canvas.rectangle(x, top, LONG * min(max(share, 0), 1), THICK, ACCENT)
    canvas.text(x + LONG + 6, words, size=11, dy=middle + RISE * 11)
