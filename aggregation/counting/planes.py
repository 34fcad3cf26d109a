"""Reports as bit planes, shuffled together. Pure NumPy.

A batch keeps no id, no time and no order of arrival. It consists of planes with one bit per report,
padded with zeros to whole words of 64 bits. A question with k options has a plane for each binary
digit of 0 … k-1. If people are asked only some of the blocks, each sensitive block also has a plane
that shows who was asked; for everybody else, the bits of its questions are 0. So a yes/no question
that everybody is asked takes one bit per report, and counting its answers means counting bits.
"""

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.design import ABSENT, Design

# The first eight bytes of the data, so that the planes begin at a whole word.
PLAIN, COMPRESSED = b"planes/1", b"zplane/1"
# Compress only to this part or less, because unpacking takes five times as long as counting.
WORTHWHILE = 0.75

Rows = NDArray[np.uint8]  # a row per report, a column per question, as reports are stored
Columns = NDArray[np.uint8]  # a row per question, a column per report
Planes = NDArray[np.uint64]  # a row per plane, a column per 64 reports
Data = bytes | memoryview  # the output of `pack`, as a database returns it
Packed = tuple[Data, int]  # with the number of reports


# --- Layout ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuestionPlanes:
    """A question: how many values it has, and its planes, the lowest digit first."""

    size: int
    planes: tuple[int, ...]
    asked: int | None = None  # the plane that shows who was asked; None if everybody was


@dataclass(frozen=True)
class Layout:
    columns: dict[str, QuestionPlanes]  # by the key of a question, in the order of a report's bytes
    planes: int


@lru_cache(maxsize=1024)
def layout(design: Design) -> Layout:
    """Return the layout of a design's batches. It must never change, or no batch could be read.

    Background questions come first, then who was asked, then the other questions. Counting combines
    planes in this order, so that each group is combined with all questions at once.
    """
    free = count()

    def column(size: int, asked: int | None = None) -> QuestionPlanes:
        return QuestionPlanes(
            size, tuple(next(free) for _ in range((size - 1).bit_length())), asked
        )

    columns = {question.key: column(question.values) for question in design.background}
    everything = design.ask == len(design.sensitive_blocks)
    asked = {} if everything else {block.key: next(free) for block in design.sensitive_blocks}
    for block in design.sensitive_blocks:
        for question in block.questions:
            if question.key in columns:
                continue
            plane = asked.get(block.key)
            if (copies := len(design.places[question.key])) > 1:  # the gate of several blocks
                plane = None if copies == len(asked) else next(free)
            columns[question.key] = column(question.values, plane)
    return Layout(
        {question.key: columns[question.key] for question in design.questions}, next(free)
    )


# --- Packing --------------------------------------------------------------------------------------


def rows(contents: Sequence[bytes], design: Design) -> Rows:
    """Return the contents of reports as rows."""
    width = len(layout(design).columns)
    if any(len(content) != width for content in contents):
        raise ValueError(f"a report of this design has {width} bytes")
    return np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(len(contents), width)


def shuffled(rows: Rows, draw: Callable[[int], bytes] = os.urandom) -> Rows:
    """Return the reports in random order, every order being equally likely.

    They are sorted by random numbers, which are drawn again if two are equal.
    """
    while True:
        keys = np.frombuffer(draw(8 * len(rows)), dtype=np.uint64)
        order = np.argsort(keys)
        if not np.any(keys[order[1:]] == keys[order[:-1]]):
            return rows[order]


def pack(rows: Rows, design: Design) -> bytes:
    """Return the planes of these reports, in their order; ValueError if one is not valid."""
    found = layout(design)
    columns = np.ascontiguousarray(rows.T)
    planes = np.zeros((found.planes, _words(len(rows))), dtype="<u8")
    for column, values in zip(found.columns.values(), columns, strict=True):
        given = values != ABSENT
        codes = np.where(given, values, np.uint8(0))
        if np.any(codes >= column.size):
            raise ValueError("a report has an option that does not exist")
        if column.asked is not None:
            _write(planes[column.asked], given)
        for digit, plane in enumerate(column.planes):
            _write(planes[plane], codes >> digit & 1)
    plain = planes.tobytes()
    compressed = zlib.compress(plain, 1)
    worthwhile = len(compressed) <= WORTHWHILE * len(plain)
    data = COMPRESSED + compressed if worthwhile else PLAIN + plain
    # The reports are about to be deleted, so check that they can be read again.
    if not np.array_equal(unpack(data, len(rows), design), columns):
        raise ValueError("a report does not consist of whole blocks")
    return data


def unpack(data: Data, reports: int, design: Design) -> Columns:
    """Return the columns of a batch with one byte per value, as `pack` received them."""
    found = layout(design)
    planes = planes_of(data, reports, found)
    columns = np.empty((len(found.columns), reports), dtype=np.uint8)
    for column, values in zip(found.columns.values(), columns, strict=True):
        values[:] = codes_of(planes, column, reports)
        if column.asked is not None:
            values[~bits_of(planes[column.asked], reports)] = ABSENT
    return columns


def _words(reports: int) -> int:
    return -(-reports // 64)


def _write(plane: NDArray[Any], bits: NDArray[Any]) -> None:
    packed = np.packbits(bits, bitorder="little")
    plane.view(np.uint8)[: len(packed)] = packed


def planes_of(data: Data, reports: int, found: Layout) -> Planes:
    kind = bytes(data[:8])
    if kind == COMPRESSED:
        words = np.frombuffer(zlib.decompress(memoryview(data)[8:]), dtype="<u8")
    elif kind == PLAIN:
        words = np.frombuffer(data, dtype="<u8", offset=8)
    else:
        raise ValueError("not a batch, or one of a later version")
    return words.reshape(found.planes, _words(reports))


def bits_of(plane: NDArray[np.uint64], reports: int) -> NDArray[np.bool_]:
    octets = plane.view(np.uint8)
    return np.unpackbits(octets, count=reports, bitorder="little").view(np.bool_)


def codes_of(planes: Planes, column: QuestionPlanes, reports: int) -> NDArray[np.uint8]:
    codes = np.zeros(reports, dtype=np.uint8)
    for digit, plane in enumerate(column.planes):
        codes |= bits_of(planes[plane], reports).view(np.uint8) << np.uint8(digit)
    return codes
