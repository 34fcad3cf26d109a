"""The reports of a release for its files: distinct reports and their numbers, sorted.

Every answer was randomized on the device that sent it, so these files are as private as the reports
themselves. They have no ids and no order of arrival, and the files of two releases differ by at
least a crowd, because releases do.
"""

import heapq
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from tempfile import SpooledTemporaryFile

import numpy as np
from numpy.typing import NDArray

from aggregation.counting.planes import Columns, Packed, unpack
from aggregation.models import Batch, Release
from survey.design import ABSENT, Design
from survey.spreadsheets import LINES

IN_MEMORY = 32 << 20  # bytes of sorted reports; more are moved to a file
RUN = 1 << 19  # reports that are sorted together, unless one batch has more
AT_ONCE = 4096  # reports of a sorted run that are read back together
BATCHES = 8  # read in one statement; other statements can run in between
READ, MERGED = 0.1, 0.6  # the progress when all reports are read, and then merged

Watch = Callable[[float], None]  # called with the progress
Content = tuple[bytes, int]  # a distinct report, with a byte for each question, and its number


def distinct(parts: Iterable[Packed], design: Design) -> Iterator[Content]:
    """Yield the distinct reports of some batches, sorted, and how many there are of each.

    To limit the memory, some batches at a time are sorted and set aside, in an unnamed file if
    there are many, and then all are merged.
    """
    record = _record(len(design.questions))
    with SpooledTemporaryFile(IN_MEMORY) as file:
        runs: list[tuple[int, int]] = []
        for columns in _joined(parts, design):
            lines = _sorted(columns, record)
            runs.append((file.tell(), len(lines)))
            file.write(lines.tobytes())

        def run(start: int, length: int) -> Iterator[Content]:
            for done in range(0, length, AT_ONCE):
                file.seek(start + done * record.itemsize)
                data = file.read(min(AT_ONCE, length - done) * record.itemsize)
                for line in np.frombuffer(data, record):
                    yield line["values"].tobytes(), int(line["count"])

        for content, same in groupby(heapq.merge(*(run(*one) for one in runs)), itemgetter(0)):
            yield content, sum(count for _, count in same)


def _record(width: int) -> np.dtype[np.void]:
    return np.dtype([("values", np.uint8, (width,)), ("count", "<u4")])


def _joined(parts: Iterable[Packed], design: Design) -> Iterator[Columns]:
    """Unpack batches and join small ones, so that few runs are merged."""
    waiting: list[Columns] = []
    for data, reports in parts:
        waiting.append(unpack(data, reports, design))
        if sum(columns.shape[1] for columns in waiting) >= RUN:
            yield np.concatenate(waiting, axis=1)
            waiting.clear()
    if waiting:
        yield np.concatenate(waiting, axis=1)


def _sorted(columns: Columns, record: np.dtype[np.void]) -> NDArray[np.void]:
    """Return the distinct reports of these columns, sorted, with their numbers."""
    rows = columns[:, np.lexsort(columns[::-1])].T
    first = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    lines = np.empty(len(first), dtype=record)
    lines["values"] = rows[first]
    lines["count"] = np.diff(np.r_[first, len(rows)])
    return lines


def read(keys: Sequence[int], watch: Watch = lambda _: None) -> Iterator[Packed]:
    """Yield the reports of these batches, batch by batch."""
    for start in range(0, len(keys), BATCHES):
        yield from Batch.objects.packed(keys[start : start + BATCHES])
        watch(READ * min(1, (start + BATCHES) / len(keys)))


class Lines:
    """The distinct reports of a release with their numbers, in an unnamed file.

    They are merged once for all formats, after which `rows` is known. `watch` gets the progress.
    """

    def __init__(self, release: Release, watch: Watch = lambda _: None) -> None:
        design = release.survey.frozen_design()
        self.rows = self.given = 0
        self.formats = 1  # how many will be made
        self.watch = watch
        self._record = _record(len(design.questions))
        self._file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # it lives as long as this
        weakref.finalize(self, self._file.close)
        found = distinct(read(release.batch_keys(), watch), design)
        done = 0
        while some := list(islice(found, LINES)):
            lines = np.empty(len(some), dtype=self._record)
            joined = np.frombuffer(b"".join(content for content, _ in some), np.uint8)
            lines["values"] = joined.reshape(len(some), -1)
            lines["count"] = [count for _, count in some]
            self._file.write(lines.tobytes())
            self.rows += len(some)
            done += int(lines["count"].sum())
            self.watch(READ + (MERGED - READ) * done / release.reports)
        if done != release.reports:
            raise RuntimeError("the batches do not contain the reports of the release")

    def pieces(self) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """Yield some at a time: their values, with a row for each report, and their numbers."""
        self._file.seek(0)
        while data := self._file.read(LINES * self._record.itemsize):
            lines = np.frombuffer(data, dtype=self._record)
            yield lines["values"], lines["count"].astype(np.int64)
            self.given += len(lines)
            self.watch(MERGED + (1 - MERGED) * self.given / (self.rows * self.formats))


def csv_parts(lines: Lines, names: Sequence[str]) -> Iterator[bytes]:
    """Yield the reports as CSV with these names for the columns, followed by `count`.

    A value is the position of an option or a level, one more for "not asked" or "nothing picked",
    or empty if the block was not asked.
    """
    text = [*(str(i) for i in range(ABSENT)), ""]
    yield (",".join([*names, "count"]) + "\n").encode()
    for values, counts in lines.pieces():
        some = [
            ",".join([*(text[value] for value in content), str(count)])
            for content, count in zip(values.tolist(), counts.tolist(), strict=True)
        ]
        yield ("\n".join(some) + "\n").encode()
