"""CSV and Excel tables in which no text is ever read as a formula.

Spreadsheets compute anything that looks like a formula, and question texts are written by users. In
CSV, such a text gets a leading apostrophe; in Excel, texts are stored as texts.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile

import xlsxwriter

LINES = 10_000  # encoded at a time
LONGEST = 32_767  # characters in a cell of Excel
PIECE = 1 << 16  # bytes

Value = str | int | float | None
Line = Sequence[Value]

# A cell begins at the start of a text and after anything that some programs treat as a separator:
# Excel does so with semicolons in half of Europe. Full-width signs count in East Asia.
FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=\s*[=+\-@'＝＋－＠]|[\t\r\n])")


def cell(text: str) -> str:
    """Return the text in a form that no spreadsheet reads as a formula."""
    return FORMULA.sub("'", text)


def csv_parts(lines: Iterable[Line]) -> Iterator[bytes]:
    """Yield CSV in UTF-8, some lines at a time. Numbers have full precision, None is empty."""
    return csv_of_cells(
        [cell(value) if isinstance(value, str) else value for value in line] for line in lines
    )


def csv_of_cells(lines: Iterable[Line]) -> Iterator[bytes]:
    """Yield the same for texts that `cell` has already converted, for files that repeat a few."""
    rest = iter(lines)
    while chunk := list(islice(rest, LINES)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(chunk)
        yield text.getvalue().encode()


def workbook(sheets: Mapping[str, Iterable[Line]], made_at: datetime) -> Iterator[bytes]:
    """Yield an Excel file with these sheets. The first line of each has the column names.

    Sheets are written to a temporary file, so that a large one does not fill the memory.
    """
    with TemporaryFile() as file:
        options = {"constant_memory": True, "remove_timezone": True}
        with xlsxwriter.Workbook(file, options) as book:
            book.set_properties({"created": made_at})
            bold = book.add_format({"bold": True})
            for name, lines in sheets.items():
                sheet = book.add_worksheet(name)
                sheet.freeze_panes(1, 0)
                for row, line in enumerate(lines):
                    for column, value in enumerate(line):
                        if isinstance(value, str):
                            sheet.write_string(row, column, value[:LONGEST], None if row else bold)
                        elif value is not None:
                            sheet.write_number(row, column, value)
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece
