"""Tables for other programs: CSV and Excel, in which no text is ever taken for a formula.

Question texts come from whoever writes a survey, and a spreadsheet computes what looks like a
formula. In CSV such a text gets an apostrophe before it; in Excel, texts are written as texts.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile

import xlsxwriter

LINES = 10_000  # of a table, made into bytes at a time
LONGEST = 32_767  # characters that a cell of Excel holds
PIECE = 1 << 16  # bytes

Value = str | int | float | None
Line = Sequence[Value]

# Where a cell may begin: at the start of a text, and after what some programs take for the end of a
# cell (Excel does so with a semicolon in half of Europe). Full-width signs count in East Asia.
FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=\s*[=+\-@'＝＋－＠]|[\t\r\n])")


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return FORMULA.sub("'", text)


def csv_parts(lines: Iterable[Line]) -> Iterator[bytes]:
    """CSV in UTF-8, some lines at a time; numbers in full, nothing for None."""
    return csv_of_cells(
        [cell(value) if isinstance(value, str) else value for value in line] for line in lines
    )


def csv_of_cells(lines: Iterable[Line]) -> Iterator[bytes]:
    """The same for texts that went through `cell` already: millions of lines repeat a few."""
    waiting = iter(lines)
    while some := list(islice(waiting, LINES)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(some)
        yield text.getvalue().encode()


def workbook(sheets: Mapping[str, Iterable[Line]], made_at: datetime) -> Iterator[bytes]:
    """An Excel file of these sheets, each with its names in the first line.

    Every sheet goes to a file as it comes, so that a large one does not stand in memory.
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
