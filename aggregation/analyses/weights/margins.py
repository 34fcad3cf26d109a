"""The margins of a population as CSV: how large each group is, in shares or in people.

One line a group (question, group, share), or one line a combination of groups (a column for each
question, then the share). Spreadsheets of all countries write it: commas, semicolons or tabs, a
mark at the beginning, decimal commas. What cannot be read is said with the number of its line.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

from aggregation.analyses.weights.computation import DECLINED, MOST_GIVEN, groups_of
from survey.design import Design, Option, Question
from survey.spreadsheets import Line, cell

LONGEST = 200_000  # characters
NUMBERS = ("share", "count")
SAID = 10  # problems at a time
HEADER = "The first line names the columns: question, group, and share or count."


Named = TypeVar("Named", Question, Option)


class MarginsError(ValueError):
    """What is wrong, line by line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(*problems)
        self.problems = list(problems[:SAID])
        if len(problems) > SAID:
            self.problems.append(f"And {len(problems) - SAID} more.")


class Row(NamedTuple):
    line: int
    cells: list[str]


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
    """`margins` or `cells`, as an analysis of weights is asked for; MarginsError."""
    header, rows, comma = _rows(text)
    names = [name.strip().casefold() for name in header.cells]
    if not names or names[-1] not in NUMBERS or len(names) < 2:
        raise MarginsError([f"Line {header.line}: {HEADER}"])
    problems = Problems()
    numbers = [
        problems.number(row, row.cells[-1], comma) if problems.width(row, len(names)) else None
        for row in rows
    ]
    rows = [row if len(row.cells) == len(names) else Row(row.line, []) for row in rows]
    if names[:-1] == ["question", "group"]:
        found = _margins(rows, numbers, design, problems)
    else:
        found = _cells(header, rows, numbers, design, problems)
    if not problems and names[-1] == "share":
        _check_sums(found, problems)
    if problems:
        raise MarginsError(problems)
    return found


def _rows(text: str) -> tuple[Row, list[Row], bool]:
    """The header, what follows, and whether commas may stand in numbers."""
    text = text.removeprefix("\ufeff").strip("\r\n")
    if not text.strip():
        raise MarginsError(["Nothing is here yet. " + HEADER])
    if len(text) > LONGEST:
        raise MarginsError([f"More than {LONGEST:,} characters: are these the right margins?"])
    first = text.splitlines()[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    try:
        for cells in reader:
            if any(one.strip() for one in cells):
                rows.append(Row(reader.line_num, [one.strip() for one in cells]))
    except csv.Error as error:
        raise MarginsError([f"Line {reader.line_num}: this is not CSV ({error})."]) from None
    if len(rows) == 1:
        raise MarginsError(["There is a line of names, and no group after it."])
    return rows[0], rows[1:], separator != ","


class Problems(list[str]):
    """What was found wrong so far."""

    def at(self, row: Row, what: str) -> None:
        self.append(f"Line {row.line}: {what}")

    def width(self, row: Row, wanted: int) -> bool:
        if len(row.cells) != wanted:
            self.at(row, f"{wanted} columns, as in the first line, not {len(row.cells)}.")
        return len(row.cells) == wanted

    def number(self, row: Row, text: str, comma: bool) -> float | None:
        """A share or a number of people; None where it is none."""
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

    def question(self, row: Row, text: str, design: Design) -> Question | None:
        found = _named(text, design.questions)
        if found is None:
            some = design.background or design.questions
            known = ", ".join(question.key for question in some[:10])
            self.at(row, f"there is no question “{text[:50]}”. There are: {known}.")
        return found

    def group(self, row: Row, text: str, question: Question) -> Option | None:
        found = _named(text, question.options)
        if found is None:
            known = ", ".join(option.text for option in groups_of(question)[:10])
            self.at(row, f"there is no group “{text[:50]}” in {question.key}. There are: {known}.")
        elif found.key == DECLINED:
            self.at(row, f"“{found.text}” has no share in a population: leave this line out.")
            return None
        return found


def _named(text: str, among: Iterable[Named]) -> Named | None:
    """By its key or by its text, in any case, also as `sheets.cell` would write it."""
    wanted = text.strip().casefold()
    for one in among:
        if wanted in (one.key.casefold(), one.text.casefold(), cell(one.text).casefold()):
            return one
    return None


def _margins(
    rows: list[Row], numbers: list[float | None], design: Design, problems: Problems
) -> dict[str, Any]:
    margins: dict[str, dict[str, float]] = {}
    for row, number in zip(rows, numbers, strict=True):
        question = problems.question(row, row.cells[0], design) if row.cells else None
        group = problems.group(row, row.cells[1], question) if question else None
        if question and group:
            if group.key in margins.setdefault(question.key, {}):
                problems.at(row, f"“{group.text}” of {question.key} stands there twice.")
            margins[question.key][group.key] = number or 0.0
    if not problems:
        for question in design.questions:
            known = margins.get(question.key)
            if known is None:
                continue
            missing = [group.text for group in groups_of(question) if group.key not in known]
            if missing:
                problems.append(f"{question.key}: no line for {', '.join(missing[:5])}.")
            elif not sum(known.values()):
                problems.append(f"{question.key}: the numbers are all 0.")
    return {"margins": margins}


def _cells(
    header: Row,
    rows: list[Row],
    numbers: list[float | None],
    design: Design,
    problems: Problems,
) -> dict[str, Any]:
    questions = [problems.question(header, name, design) for name in header.cells[:-1]]
    known = [question for question in questions if question]
    if problems and len(known) < len(questions):
        raise MarginsError([f"Line {header.line}: {HEADER}", *problems])
    if len({question.key for question in known}) < len(known):
        raise MarginsError([f"Line {header.line}: the same question stands there twice."])
    if (size := math.prod(len(groups_of(question)) for question in known)) > MOST_GIVEN:
        raise MarginsError([f"{size:,} combinations of groups; at most {MOST_GIVEN:,}."])
    cells: dict[tuple[str, ...], float] = {}
    for row, number in zip(rows, numbers, strict=True):
        named = zip(row.cells, known, strict=False)
        groups = [problems.group(row, text, question) for text, question in named]
        place = tuple(group.key for group in groups if group)
        if row.cells and len(place) == len(known):
            if place in cells:
                problems.at(row, "this combination stands there twice.")
            cells[place] = number or 0.0
    if not problems:
        every = list(product(*(groups_of(question) for question in known)))
        missing = [one for one in every if tuple(option.key for option in one) not in cells]
        if missing:
            first = " and ".join(option.text for option in missing[0])
            problems.append(
                f"{len(missing)} of {len(every)} combinations have no line, such as {first}. "
                "Write 0 where there is nobody."
            )
        elif not sum(cells.values()):
            problems.append("The numbers are all 0.")
    keys = [question.key for question in known]
    return {
        "cells": [
            {"groups": dict(zip(keys, place, strict=True)), "share": share}
            for place, share in cells.items()
        ]
    }


def _check_sums(found: dict[str, Any], problems: Problems) -> None:
    """Shares add up to 1, or to 100, but for rounding: a line may be mistaken otherwise."""
    sums = {key: sum(groups.values()) for key, groups in found.get("margins", {}).items()}
    if "cells" in found:
        sums["The combinations"] = sum(one["share"] for one in found["cells"])
    for name, total in sums.items():
        if abs(total - 1) > 0.01 and abs(total - 100) > 1:
            problems.append(
                f"{name}: the shares add up to {total:.6g}, not to 1 or 100. "
                "Name the column count if these are numbers of people."
            )
