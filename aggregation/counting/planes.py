"""Reports as bit planes, shuffled together.

Pure NumPy: a batch keeps no id, no time and no order of arrival.

A batch is a few planes, each with one bit for each report, padded with zeros to whole words of 64.
A question of k options has a plane for each binary digit of 0 … k-1; and where not everybody is
asked everything, each sensitive block has a plane that tells who was asked it. In the other planes
of a question, those who were not asked it are 0. So a yes/no question that everybody is asked costs
a report one bit, and to count it is to count bits.
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

from survey.design import Design

ABSENT = 255  # in a report's bytes: the question was not asked

# Eight bytes before the planes, so that these lie on whole words.
PLAIN, SMALLER = b"planes/1", b"zplane/1"
PAYS = 0.75  # compressed where that leaves at most this much: unpacking takes five times counting

Rows = NDArray[np.uint8]  # one row for each report, one column for each question: as they come
Columns = NDArray[np.uint8]  # one row for each question, one column for each report
Planes = NDArray[np.uint64]  # one row for each plane, one column for 64 reports
Data = bytes | memoryview  # what `pack` made, as a database gives it back
Packed = tuple[Data, int]  # and of how many reports


# --- Where everything lies ------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """One question: how many values it has, and its planes, the lowest digit first."""

    size: int
    planes: tuple[int, ...]
    asked: int | None = None  # the plane of those who were asked it, where not everybody was


@dataclass(frozen=True)
class Layout:
    columns: dict[str, Column]  # by the key of a question, in the order of a report's bytes
    planes: int


@lru_cache(maxsize=1024)
def layout(design: Design) -> Layout:
    """Return the planes of a design's batches; never changed for a design that has any.

    Background questions come first, then who was asked, then the other questions. Counting begins
    a set of planes at its first, and so goes through the few groups once and through all the
    questions at a time.
    """
    free = count()

    def column(size: int, asked: int | None = None) -> Column:
        return Column(size, tuple(next(free) for _ in range((size - 1).bit_length())), asked)

    columns = {question.key: column(question.size) for question in design.background}
    everything = design.ask == len(design.sensitive_blocks)
    asked = [None if everything else next(free) for _ in design.sensitive_blocks]
    for block, plane in zip(design.sensitive_blocks, asked, strict=True):
        for question in block.questions:
            columns[question.key] = column(question.size, plane)
    return Layout(
        {question.key: columns[question.key] for question in design.questions}, next(free)
    )


# --- Packing --------------------------------------------------------------------------------------


def rows(contents: Sequence[bytes], design: Design) -> Rows:
    """Return the contents of reports, one below the other."""
    width = len(layout(design).columns)
    if any(len(content) != width for content in contents):
        raise ValueError(f"a report of this design has {width} bytes")
    return np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(len(contents), width)


def shuffled(rows: Rows, draw: Callable[[int], bytes] = os.urandom) -> Rows:
    """Return the reports in the order of as many random numbers, no two of them the same.

    Every order is equally likely, because the numbers are drawn alike and drawn again on a tie.
    """
    while True:
        keys = np.frombuffer(draw(8 * len(rows)), dtype=np.uint64)
        order = np.argsort(keys)
        if not np.any(keys[order[1:]] == keys[order[:-1]]):
            return rows[order]


def pack(rows: Rows, design: Design) -> bytes:
    """Return the planes of these reports, in their order.

    ValueError for a report that the design rules out.
    """
    found = layout(design)
    columns = np.ascontiguousarray(rows.T)
    planes = np.zeros((found.planes, _words(len(rows))), dtype="<u8")
    for column, values in zip(found.columns.values(), columns, strict=True):
        given = values != ABSENT
        codes = np.where(given, values, np.uint8(0))
        if np.any(codes >= column.size):
            raise ValueError("a report has an option that there is not")
        if column.asked is not None:
            _write(planes[column.asked], given)
        for digit, plane in enumerate(column.planes):
            _write(planes[plane], codes >> digit & 1)
    plain = planes.tobytes()
    smaller = zlib.compress(plain, 1)
    data = SMALLER + smaller if len(smaller) <= PAYS * len(plain) else PLAIN + plain
    # What it was made of is about to be thrown away, so it is read once more.
    if not np.array_equal(unpack(data, len(rows), design), columns):
        raise ValueError("a report is no set of whole blocks of this design")
    return data


def unpack(data: Data, reports: int, design: Design) -> Columns:
    """Return the columns of a batch, one byte for each value, as `pack` was given them."""
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
    if kind == SMALLER:
        words = np.frombuffer(zlib.decompress(memoryview(data)[8:]), dtype="<u8")
    elif kind == PLAIN:
        words = np.frombuffer(data, dtype="<u8", offset=8)
    else:
        raise ValueError("not a batch, or one of a later version")
    return words.reshape(found.planes, _words(reports))


def bits_of(plane: NDArray[np.uint64], reports: int) -> NDArray[np.bool_]:
    octets = plane.view(np.uint8)
    return np.unpackbits(octets, count=reports, bitorder="little").view(np.bool_)


def codes_of(planes: Planes, column: Column, reports: int) -> NDArray[np.uint8]:
    codes = np.zeros(reports, dtype=np.uint8)
    for digit, plane in enumerate(column.planes):
        codes |= bits_of(planes[plane], reports).view(np.uint8) << np.uint8(digit)
    return codes
