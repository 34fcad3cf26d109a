"""The reports that researchers may take home: which, and in an order that says nothing.

A report is noise enough to be shown. Two things beside it are not: when it came, which two copies
taken at different times would tell, and the background answers, by which its sender may be known.
So there is one copy, of a survey that is finished; and background answers come along only as far
as whatever they tell apart is a crowd.
"""

import heapq
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from tempfile import SpooledTemporaryFile

import numpy as np
from numpy.typing import NDArray

from aggregation import batches, gate, overlaps
from aggregation.batches import Axis, Counts
from aggregation.columns import HIDDEN, NOT_TOLD
from aggregation.models import Batch, Release, unfinished
from aggregation.sheets import LINES
from survey.design import Design, Question
from survey.models import ABSENT

IN_MEMORY = 32 << 20  # bytes of sorted reports, before a file takes them
AT_ONCE = 4096  # reports of a batch that are read back together
BATCHES = 8  # read in one statement where somebody is told how far it is
READ, MERGED = 0.1, 0.6  # of the time, reading and sorting takes; and then merging

Content = tuple[bytes, int]  # a distinct report, and how many there are of it


def withheld(release: Release) -> str:
    """Why the reports of a release cannot be taken home; empty if they can.

    One copy in all, of everything: two copies that differ by fewer than a crowd would show what
    those few reported. A survey may be asked in blocks, so that a crowd of new reports is less than
    one for some question; therefore not even the releases of an open survey are copied.
    """
    survey = release.survey
    if survey.state != survey.State.CLOSED:
        return (
            "The reports can be taken home when the survey is closed. Before that, two copies "
            "could differ by a few people, and show what those few reported."
        )
    if unfinished(survey):
        return "The last reports are still being counted. Look again in a minute."
    if not release.final or survey.releases.filter(number__gt=release.number).exists():
        return "The reports can be taken home with the last release only, which has all of them."
    return ""


@dataclass(frozen=True)
class Background:
    """A stratum that comes along, and the groups of it that are not told apart.

    A group is the position of an option; the last one is of those who did not say.
    """

    stratum: Question
    hidden: frozenset[int]

    def codes(self) -> NDArray[np.uint8]:
        """What stands for each value of a report."""
        codes = np.arange(256, dtype=np.uint8)
        codes[[ABSENT if group == self.stratum.size else group for group in self.hidden]] = HIDDEN
        return codes

    def merged(self, sizes: Counts, axis: int) -> Counts:
        """Sizes of groups, in which the hidden ones are one."""
        told = [group for group in range(self.stratum.size + 1) if group not in self.hidden]
        rest = sizes.take(sorted(self.hidden), axis).sum(axis, keepdims=True)
        return np.concatenate([sizes.take(told, axis), rest], axis)


def backgrounds(release: Release) -> list[Background]:
    """The background answers that come along with the reports.

    By itself, a stratum tells apart no more than its tables in the release do: what is hidden for
    any question is one group here. Together, in the survey's order, strata come along as long as
    every combination of their groups that occurs at all was given by a crowd, in every block, and
    no table of the release beside them tells fewer than a crowd apart.
    """
    tables: overlaps.Shown = release.overlap.shown
    found: list[Background] = []
    for stratum in release.survey.frozen_design().strata:
        told = set.intersection(*(set(one.get(stratum.key, ())) for one in tables.values()))
        new = Background(stratum, frozenset(range(stratum.size + 1)) - told)
        tried = [*found, new]
        if told and _crowded(release, tried) and _apart(release, tables, tried):
            found.append(new)
    return found


def _crowded(release: Release, tried: Sequence[Background]) -> bool:
    try:
        sizes = _sizes(release, [one.stratum for one in tried])
    except ValueError:  # more combinations than a table may have
        return False
    for axis, one in enumerate(tried):
        sizes = [one.merged(size, axis) for size in sizes]
    return all(((size == 0) | (size >= release.survey.crowd)).all() for size in sizes)


def _apart(release: Release, tables: overlaps.Shown, tried: Sequence[Background]) -> bool:
    """Whether no table of the release, beside these combinations, tells too few apart."""
    survey, design = release.survey, release.survey.frozen_design()
    for name, shown in tables.items():
        others = [overlaps.whole(design, key) for key in shown]
        parts = Batch.objects.parts(survey)
        found = batches.crossed(parts, design, name, split(tried), others)
        for groups, counts in zip(shown.values(), found, strict=True):
            beside = gate.merged(counts.T, set(groups), counts.shape[1] - 1)
            if gate.cut(beside, survey.crowd):
                return False
    return True


def split(known: Sequence[Background]) -> batches.Split:
    """The parts into which these backgrounds divide the reports."""
    parts, number = np.zeros(1, dtype=np.intp), 1
    for one in known:
        told = [group for group in range(one.stratum.size + 1) if group not in one.hidden]
        place = np.full(one.stratum.size + 1, len(told), dtype=np.intp)
        place[told] = np.arange(len(told))
        number *= len(told) + 1
        parts = (parts[:, None] * (len(told) + 1) + place).ravel()
    return batches.Split(tuple(one.stratum.key for one in known), parts, number)


def _sizes(release: Release, strata: Sequence[Question]) -> list[Counts]:
    """How many reports there are in each block, by these strata."""
    design = release.survey.frozen_design()
    groups: list[Axis] = [("stratum", stratum.key) for stratum in strata]
    wanted = [[*groups, ("question", block.questions[0].key)] for block in design.blocks]
    tables = batches.tables(Batch.objects.parts(release.survey), design, wanted)
    return [table.sum(axis=-1) for table in tables]


def columns(design: Design, strata: Sequence[Question]) -> list[int]:
    """The places of the questions and of these strata among the values of a report."""
    first = len(design.questions)
    return [*range(first), *(first + design.strata.index(stratum) for stratum in strata)]


def distinct(
    parts: Iterable[batches.Part],
    design: Design,
    columns: Sequence[int],
    backgrounds: Sequence[Background] = (),
) -> Iterator[Content]:
    """The distinct reports of some batches, sorted, with their numbers; of each these columns.

    The last ones are those of the backgrounds, if any are given.

    Memory is bounded: each batch is sorted by itself and put aside, in a file without a name if
    there are many, and then all are merged.
    """
    with SpooledTemporaryFile(IN_MEMORY) as file:
        runs: list[tuple[int, int]] = []
        for data, reports in parts:
            values = batches.unpack(data, reports, design)[list(columns)]
            for row, one in zip(values[::-1], backgrounds[::-1], strict=False):
                row[:] = one.codes()[row]
            order = np.lexsort(values[::-1])
            runs.append((file.tell(), reports))
            file.write(np.ascontiguousarray(values[:, order].T).tobytes())

        def run(start: int, reports: int) -> Iterator[bytes]:
            width = len(columns)
            for done in range(0, reports, AT_ONCE):
                file.seek(start + done * width)
                some = file.read(min(AT_ONCE, reports - done) * width)
                yield from (some[i : i + width] for i in range(0, len(some), width))

        for content, same in groupby(heapq.merge(*(run(*one) for one in runs))):
            yield content, sum(1 for _ in same)


def watched(release: Release, watch: Callable[[float], None]) -> Iterator[batches.Part]:
    """The reports of a release, some batches at a time; in between the connection is free.

    While somebody reads them so, they are not merged (`BatchManager.merge`).
    """
    found = release.survey.batches.order_by("pk").values_list("pk", "reports")
    keys, sizes = zip(*found, strict=True)
    if sum(sizes) != release.reports:
        raise RuntimeError("the batches are not those of the release")
    for start in range(0, len(keys), BATCHES):
        yield from Batch.objects.parts(release.survey, keys[start : start + BATCHES])
        watch(READ * min(1, (start + BATCHES) / len(keys)))


class Lines:
    """The distinct reports of a release with their numbers, in a file without a name.

    They are merged once, for whichever forms are wanted of them, and their number is known then.
    `watch` is told now and then how much is done.
    """

    def __init__(self, release: Release, watch: Callable[[float], None] | None = None) -> None:
        design = release.survey.frozen_design()
        known = backgrounds(release)
        chosen = columns(design, [one.stratum for one in known])
        self.width = len(chosen)
        self.rows = self.given = 0
        self.forms = 1  # how many will be made
        self.watch = watch or (lambda _: None)
        self._record = np.dtype([("values", np.uint8, (self.width,)), ("count", "<u4")])
        self._file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # it lives as long as this
        weakref.finalize(self, self._file.close)
        parts = watched(release, watch) if watch else Batch.objects.parts(release.survey)
        found = distinct(parts, design, chosen, known)
        done = 0
        while some := list(islice(found, LINES)):
            lines = np.empty(len(some), dtype=self._record)
            joined = np.frombuffer(b"".join(content for content, _ in some), np.uint8)
            lines["values"] = joined.reshape(-1, self.width)
            lines["count"] = [count for _, count in some]
            self._file.write(lines.tobytes())
            self.rows += len(some)
            done += int(lines["count"].sum())
            self.watch(READ + (MERGED - READ) * done / release.reports)

    def pieces(self) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
        """Some at a time: their values, a row for each, and how many there are of each."""
        self._file.seek(0)
        while data := self._file.read(LINES * self._record.itemsize):
            lines = np.frombuffer(data, dtype=self._record)
            yield lines["values"], lines["count"].astype(np.int64)
            self.given += len(lines)
            self.watch(MERGED + (1 - MERGED) * self.given / (self.rows * self.forms))


def csv_parts(lines: Lines, names: Sequence[str]) -> Iterator[bytes]:
    """The reports as CSV, with these names for the columns and a last one, `count`.

    A value is the position of an option, NOT_TOLD for a group that is not told apart, and nothing
    where a question was not asked or a stratum was not given. There is nothing to escape.
    """
    text = [*(str(i) for i in range(HIDDEN)), str(NOT_TOLD), ""]
    yield (",".join([*names, "count"]) + "\n").encode()
    for values, counts in lines.pieces():
        some = [
            ",".join([*(text[value] for value in content), str(count)])
            for content, count in zip(values.tolist(), counts.tolist(), strict=True)
        ]
        yield ("\n".join(some) + "\n").encode()
