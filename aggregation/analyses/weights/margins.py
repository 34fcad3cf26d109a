"""The sizes of a population's groups as CSV, in shares or in people.

There is one line for each group (question, group, share), or one for each combination of groups (a
column for each question, then the share). As spreadsheets of all countries write CSV, it may have
commas, semicolons or tabs, a byte order mark and decimal commas. Errors name their line.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from aggregation.analyses.weights.computation import groups_of, has_groups
from survey.design import DECLINED, Design, Option, Question
from survey.spreadsheets import Line, cell

LONGEST = 200_000  # characters
NUMBERS = ("share", "count")
MOST_PROBLEMS = 10  # shown at once
HEADER = "The first line names the columns: question, group, and share or count."


Named = TypeVar("Named", Question, Option)


class MarginsError(ValueError):
    """Everything that is wrong with a CSV."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(*problems)
        self.problems = list(problems[:MOST_PROBLEMS])
        if len(problems) > MOST_PROBLEMS:
            self.problems.append(f"And {len(problems) - MOST_PROBLEMS} more.")


class CsvRow(NamedTuple):
    line: int
    cells: list[str]


MarginEntry = tuple[CsvRow, float]  # with its share or count


def template(design: Design) -> Iterator[Line]:
    """Yield a line for each group of the background questions, with the share left open."""
    yield ["question", "group", "share"]
    for question in design.background:
        for option in groups_of(question):
            yield [question.key, option.text, None]


def decode(data: bytes) -> str:
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise MarginsError(["This is not text in UTF-8. Save it as “CSV UTF-8”."]) from None


def read(text: str, design: Design) -> dict[str, Any]:
    """Return `margins` or `cells` for a request; MarginsError if the CSV is not valid."""
    header, rows, comma = _rows(text)
    names = [name.strip().casefold() for name in header.cells]
    if not names or names[-1] not in NUMBERS or len(names) < 2:
        raise MarginsError([f"Line {header.line}: {HEADER}"])
    problems = Problems()
    entries = [
        (row, problems.number(row, row.cells[-1], comma) or 0.0)
        for row in rows
        if problems.width(row, len(names))
    ]
    if names[:-1] == ["question", "group"]:
        found = _margins(entries, design, problems)
    else:
        found = _cells(header, entries, design, problems)
    if not problems and names[-1] == "share":
        _check_sums(found, problems)
    if problems:
        raise MarginsError(problems)
    return found


def _rows(text: str) -> tuple[CsvRow, list[CsvRow], bool]:
    """Return the header, the other rows, and whether numbers may have decimal commas."""
    text = text.removeprefix("\ufeff").strip("\r\n")
    if not text.strip():
        raise MarginsError(["There is no CSV yet. " + HEADER])
    if len(text) > LONGEST:
        raise MarginsError([f"More than {LONGEST:,} characters. Is this the right file?"])
    first = text.splitlines()[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[CsvRow] = []
    try:
        for cells in reader:
            if any(one.strip() for one in cells):
                rows.append(CsvRow(reader.line_num, [one.strip() for one in cells]))
    except csv.Error as error:
        raise MarginsError([f"Line {reader.line_num}: this is not CSV ({error})."]) from None
    if len(rows) == 1:
        raise MarginsError(["There is no line after the column names."])
    return rows[0], rows[1:], separator != ","


class Problems(list[str]):
    """The problems found so far."""

    def at(self, row: CsvRow, what: str) -> None:
        self.append(f"Line {row.line}: {what}")

    def width(self, row: CsvRow, wanted: int) -> bool:
        if len(row.cells) != wanted:
            self.at(
                row, f"there must be {wanted} columns, as in the first line, not {len(row.cells)}."
            )
        return len(row.cells) == wanted

    def number(self, row: CsvRow, text: str, comma: bool) -> float | None:
        """Read a share or a number of people; None if it is not valid."""
        digits = text.removesuffix("%").strip()
        if comma:
            digits = digits.replace(",", ".")
        plain = digits.removeprefix("-")
        if not digits:
            self.at(row, "the share or count is missing.")
        elif not (plain.isascii() and plain.replace(".", "", 1).isdigit() and len(plain) < 30):
            self.at(row, f"“{text[:30]}” is not a number.")
        elif digits.startswith("-"):
            self.at(row, f"{text[:30]} is negative.")
        else:
            return float(plain)
        return None

    def question(self, row: CsvRow, text: str, design: Design) -> Question | None:
        usable = [question for question in design.questions if has_groups(question)]
        found = _named(text, usable)
        if found is None:
            some = design.background or usable
            known = ", ".join(question.key for question in some[:10])
            self.at(row, f"there is no question “{text[:50]}”. Choose from {known}.")
        return found

    def group(self, row: CsvRow, text: str, question: Question) -> Option | None:
        found = _named(text, question.options)
        if found is None:
            known = ", ".join(option.text for option in groups_of(question)[:10])
            self.at(row, f"there is no group “{text[:50]}” in {question.key}. Choose from {known}.")
        elif found.key == DECLINED:
            self.at(row, f"“{found.text}” has no share in a population. Delete this line.")
            return None
        return found


def _named(text: str, among: Iterable[Named]) -> Named | None:
    """Find a question or option by its key or text, in any case, also as `cell` writes it."""
    wanted = text.strip().casefold()
    for one in among:
        if wanted in (one.key.casefold(), one.text.casefold(), cell(one.text).casefold()):
            return one
    return None


def _margins(entries: list[MarginEntry], design: Design, problems: Problems) -> dict[str, Any]:
    margins: dict[str, dict[str, float]] = {}
    for row, number in entries:
        question = problems.question(row, row.cells[0], design)
        group = question and problems.group(row, row.cells[1], question)
        if question and group:
            if group.key in margins.setdefault(question.key, {}):
                problems.at(row, f"“{group.text}” of {question.key} appears twice.")
            margins[question.key][group.key] = number
    return {"margins": margins}


def _cells(
    header: CsvRow, entries: list[MarginEntry], design: Design, problems: Problems
) -> dict[str, Any]:
    questions = [problems.question(header, name, design) for name in header.cells[:-1]]
    known = [question for question in questions if question]
    if problems and len(known) < len(questions):
        raise MarginsError([f"Line {header.line}: {HEADER}", *problems])
    if len({question.key for question in known}) < len(known):
        raise MarginsError([f"Line {header.line}: the same question appears twice."])
    cells: dict[tuple[str, ...], float] = {}
    for row, number in entries:
        pairs = zip(row.cells[:-1], known, strict=True)
        groups = [problems.group(row, text, question) for text, question in pairs]
        place = tuple(group.key for group in groups if group)
        if len(place) == len(known):
            if place in cells:
                problems.at(row, "this combination appears twice.")
            cells[place] = number
    keys = [question.key for question in known]
    return {
        "cells": [
            {"groups": dict(zip(keys, place, strict=True)), "share": share}
            for place, share in cells.items()
        ]
    }


def _check_sums(found: dict[str, Any], problems: Problems) -> None:
    """Check that shares add up to 1 or 100 except for rounding, because a line may be wrong."""
    sums = {key: sum(groups.values()) for key, groups in found.get("margins", {}).items()}
    if "cells" in found:
        sums["The combinations"] = sum(one["share"] for one in found["cells"])
    for name, total in sums.items():
        if abs(total - 1) > 0.01 and abs(total - 100) > 1:
            problems.append(
                f"{name}: the shares add up to {total:.6g}, not to 1 or 100. "
                "For numbers of people, name the column count."
            )
