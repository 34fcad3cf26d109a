"""Tables of two questions with a share in every cell, on pages and as pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.svg.canvas import MARGIN, PAPER, QUIET, RISE, SIZE, Canvas, tint
from aggregation.svg.tracks import joined
from aggregation.templatetags.figures import headline, hundred, percent

SHADES = 8
DARKEST = 0.6  # dark text must stay legible
LABELS = (MARGIN, MARGIN + 176.0)
CELLS = MARGIN + 190.0  # the left end of the cells
ROW = 46


# In place of a cell: too few people to tell, and a combination that cannot occur.
RARE, IMPOSSIBLE = "–", ""


@dataclass(frozen=True)
class ShareCell:
    value: float
    low: float
    high: float
    shade: int  # 0 to SHADES

    @property
    def certain(self) -> bool:
        """Whether it follows from the other answers, without an estimate."""
        return self.value == self.low == self.high == 1

    @property
    def words(self) -> str:
        return percent(1) if self.certain else headline(self.value, self.low, self.high)

    @property
    def limits(self) -> str:
        return "" if self.certain else f"{hundred(self.low)} to {hundred(self.high)}"


@dataclass(frozen=True)
class ShareGrid:
    """A table of two questions. A cell without an estimate is RARE or IMPOSSIBLE."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[ShareCell | str]]]

    @property
    def estimated(self) -> bool:
        """Whether there is anything that does not follow from the other answers."""
        cells = [cell for _, row in self.rows for cell in row]
        return any(isinstance(cell, ShareCell) and not cell.certain for cell in cells)

    @property
    def body(self) -> SafeString:
        """The rows for a page. Made here, because a template takes ten times as long."""
        return format_html_join(
            "",
            '<tr><th scope="row">{}</th>{}</tr>',
            ((label, joined(map(_data, cells))) for label, cells in self.rows),
        )


def _data(cell: ShareCell | str) -> SafeString:
    if isinstance(cell, str):
        return format_html("<td>{}</td>", cell)
    return SafeString(
        f'<td class="s{cell.shade}"><b>{cell.words}</b> <span>{cell.limits}</span></td>'
    )


def picture(title: str, notes: Sequence[str], grids: Sequence[ShareGrid]) -> bytes:
    """Return a file with a shade and a number in every cell."""
    most = max(len(grid.columns) for grid in grids)
    size = max(96, min(160, 560 // most))
    width = max(CELLS + most * size + MARGIN, 528)
    canvas = Canvas(title, " ".join(notes), width=width)
    canvas.heading(title, notes)
    for grid in grids:
        canvas.skip(16)
        _draw(canvas, grid, size)
    return canvas.done()


def _draw(canvas: Canvas, grid: ShareGrid, size: float) -> None:
    if grid.caption:
        canvas.lines(grid.caption, bold=True)
        canvas.skip(6)
    spans = [(CELLS + i * size, CELLS + (i + 1) * size) for i in range(len(grid.columns))]
    within = [(left + 5, right - 5) for left, right in spans]
    names = list(zip(within, grid.columns, strict=True))
    height = max(canvas.height(name, span, 11) for span, name in names)
    for span, name in names:
        canvas.around(canvas.y + 6 + height / 2, name, span, size=11, fill=QUIET, side="middle")
    canvas.skip(height + 12)
    for label, cells in grid.rows:
        row = max(ROW, canvas.height(label, LABELS, 12) + 6)
        canvas.around(canvas.y + row / 2, label, LABELS, size=12)
        for (left, right), cell in zip(spans, cells, strict=True):
            _cell(canvas, cell, left, right - left, row)
        canvas.skip(row)


def _cell(canvas: Canvas, cell: ShareCell | str, left: float, width: float, height: float) -> None:
    fill = PAPER if isinstance(cell, str) else tint(DARKEST * cell.shade / SHADES)
    canvas.rectangle(left + 1, canvas.y + 1, width - 2, height - 2, fill)
    middle, center = height / 2 + RISE * SIZE, left + width / 2
    if isinstance(cell, str):
        if cell:
            canvas.text(center, cell, anchor="middle", dy=middle)
        return
    canvas.text(center, cell.words, anchor="middle", bold=True, dy=middle - 8)
    canvas.text(center, cell.limits, size=10, anchor="middle", dy=middle + 8)
