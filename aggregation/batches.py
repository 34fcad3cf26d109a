"""Reports as bit planes, shuffled together, and the counts of such planes.

Pure NumPy: bytes in, counts out. A batch keeps no id, no time and no order of arrival.

A batch is a few planes, each a bit a report, padded with zeros to whole words of 64. A question of
k options has a plane for each binary digit of 0 … k-1; a stratum for those of 0 … k, where k is
"not given"; and where not everybody is asked everything, each block has a plane that tells who was
asked it. In the other planes of a question, those who were not asked it are 0. So a question that
everybody is asked costs a report one bit if it is yes/no, and to count it is to count bits.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.design import Design

ABSENT = 255  # in a report's bytes: the question was not asked, or the stratum not given
MAX_CELLS = 2**20  # of one table
FEW_CELLS = 128  # counted by AND and popcount; more are faster by one pass over the reports
MAX_PAIRS = 2**22  # counts of two groups together, in `overlaps`
CHUNK = 256  # tallies that are added at a time
EVERYTHING = ""  # the set of all reports, where everybody is asked everything

# Eight bytes before the planes, so that these lie on whole words.
PLAIN, SMALLER = b"planes/1", b"zplane/1"
PAYS = 0.75  # compressed where that leaves at most this much: unpacking takes five times counting

Rows = NDArray[np.uint8]  # one row a report, one column a question or stratum: as they come
Columns = NDArray[np.uint8]  # one row a question or stratum, one column a report
Planes = NDArray[np.uint64]  # one row a plane, one column for 64 reports
Counts = NDArray[np.int64]
Axis = tuple[str, str]  # ("question", key) or ("stratum", key): the two may have the same key
Data = bytes | memoryview  # what `pack` made, as a database gives it back
Part = tuple[Data, int]  # and of how many reports

# question key → "" (everybody) or stratum key → counts by [group][option]; everybody is one group,
# and the last group of a stratum is "not given". Only sums of these ever leave a batch.
Tally = dict[str, dict[str, list[list[int]]]]


# --- Where everything lies ------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """One question or stratum: how many values it has, and its planes, the lowest digit first."""

    size: int
    planes: tuple[int, ...]
    asked: int | None = None  # the plane of those who were asked it, where not everybody was
    absent: int = 0  # what is stored for those who were not, or did not say


@dataclass(frozen=True)
class Layout:
    columns: dict[Axis, Column]  # in the order of a report's bytes
    planes: int


@lru_cache(maxsize=1024)
def layout(design: Design) -> Layout:
    """The planes of a design's batches; never changed for a design that has any.

    Strata come first, then who was asked, then the questions. `_count` begins a set of planes at
    its first, and so goes through the few groups once and through all the questions at a time.
    """
    free = count()

    def digits(values: int) -> tuple[int, ...]:
        return tuple(next(free) for _ in range((values - 1).bit_length()))

    strata = {
        ("stratum", stratum.key): Column(
            stratum.size + 1, digits(stratum.size + 1), absent=stratum.size
        )
        for stratum in design.strata
    }
    everything = design.ask == len(design.blocks)
    asked = [None if everything else next(free) for _ in design.blocks]
    questions = {
        ("question", question.key): Column(question.size, digits(question.size), plane)
        for block, plane in zip(design.blocks, asked, strict=True)
        for question in block.questions
    }
    return Layout(questions | strata, next(free))


# --- Packing --------------------------------------------------------------------------------------


def rows(contents: Sequence[bytes], design: Design) -> Rows:
    """The contents of reports, one below the other."""
    width = len(layout(design).columns)
    if any(len(content) != width for content in contents):
        raise ValueError(f"a report of this design has {width} bytes")
    return np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(len(contents), width)


def shuffled(rows: Rows, draw: Callable[[int], bytes] = os.urandom) -> Rows:
    """The reports in random order: in that of as many random numbers, no two of them the same.

    Every order is equally likely, because the numbers are drawn alike and drawn again on a tie.
    """
    while True:
        keys = np.frombuffer(draw(8 * len(rows)), dtype=np.uint64)
        order = np.argsort(keys)
        if not np.any(keys[order[1:]] == keys[order[:-1]]):
            return rows[order]


def pack(rows: Rows, design: Design) -> bytes:
    """The planes of these reports, in their order; ValueError for one that the design rules out."""
    found = layout(design)
    columns = np.ascontiguousarray(rows.T)
    planes = np.zeros((found.planes, _words(len(rows))), dtype="<u8")
    for column, values in zip(found.columns.values(), columns, strict=True):
        given = values != ABSENT
        codes = np.where(given, values, np.uint8(column.absent))
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
    """The columns of a batch, a byte a value, as `pack` was given them."""
    found = layout(design)
    planes = _planes(data, reports, found)
    columns = np.empty((len(found.columns), reports), dtype=np.uint8)
    for column, values in zip(found.columns.values(), columns, strict=True):
        values[:] = _codes(planes, column, reports)
        if column.asked is not None:
            values[~_bits(planes[column.asked], reports)] = ABSENT
        elif column.absent:
            values[values == column.absent] = ABSENT
    return columns


def _words(reports: int) -> int:
    return -(-reports // 64)


def _write(plane: NDArray[Any], bits: NDArray[Any]) -> None:
    packed = np.packbits(bits, bitorder="little")
    plane.view(np.uint8)[: len(packed)] = packed


def _planes(data: Data, reports: int, found: Layout) -> Planes:
    kind = bytes(data[:8])
    if kind == SMALLER:
        words = np.frombuffer(zlib.decompress(memoryview(data)[8:]), dtype="<u8")
    elif kind == PLAIN:
        words = np.frombuffer(data, dtype="<u8", offset=8)
    else:
        raise ValueError("not a batch, or one of a later version")
    return words.reshape(found.planes, _words(reports))


def _bits(plane: NDArray[np.uint64], reports: int) -> NDArray[np.bool_]:
    octets = plane.view(np.uint8)
    return np.unpackbits(octets, count=reports, bitorder="little").view(np.bool_)


def _codes(planes: Planes, column: Column, reports: int) -> NDArray[np.uint8]:
    codes = np.zeros(reports, dtype=np.uint8)
    for digit, plane in enumerate(column.planes):
        codes |= _bits(planes[plane], reports).view(np.uint8) << np.uint8(digit)
    return codes


# --- Counting -------------------------------------------------------------------------------------


def tally(data: Data, reports: int, design: Design) -> Tally:
    """Counts of every option of every question, over everybody and by stratum."""
    return recount([(data, reports)], design)


def table(data: Data, reports: int, design: Design, axes: Sequence[Axis]) -> Counts:
    """The joint counts of one batch over questions and strata; see `tables`."""
    return tables([(data, reports)], design, [axes])[0]


def recount(parts: Iterable[Part], design: Design) -> Tally:
    """The tally of several batches together, from their reports."""
    groups = ["", *(stratum.key for stratum in design.strata)]
    places = [(question.key, group) for question in design.questions for group in groups]
    wanted: list[list[Axis]] = [
        [*([("stratum", group)] if group else []), ("question", question)]
        for question, group in places
    ]
    result: Tally = {question.key: {} for question in design.questions}
    for (question, group), counts in zip(places, tables(parts, design, wanted), strict=True):
        result[question][group] = counts.tolist() if group else [counts.tolist()]
    return result


def tables(parts: Iterable[Part], design: Design, wanted: Sequence[Sequence[Axis]]) -> list[Counts]:
    """Joint counts over several batches, for several tables in one pass.

    An axis is ("question", key) or ("stratum", key). It has a place for every option, and a stratum
    one more, the last, for "not given". A table counts the reports in which all its questions were
    asked. Tables of the same design can be added up.
    """
    keys = [tuple(axes) for axes in wanted]
    plan = _plan(design, tuple(keys))
    counts = np.zeros(plan.counts, dtype=np.int64)
    result = {axes: np.zeros(plan.shape(axes), dtype=np.int64) for axes in plan.many}
    for data, reports in parts:
        planes = _planes(data, reports, plan.layout)
        counts[0] += reports
        if plan.first.planes:
            _count(planes, plan.first, None, counts)
        for axes in plan.many:
            result[axes] += _cells(planes, reports, plan.columns(axes))
    for axes in plan.few:
        result[axes] = plan.arrange(counts, axes)
    return [result[axes] for axes in keys]


# --- Groups that overlap --------------------------------------------------------------------------


def asked_sets(design: Design) -> dict[str, str]:
    """The sets of reports that questions are about: of each block, or one where all are asked.

    And of each a question, since all that are about the same reports have the same groups.
    """
    if design.ask == len(design.blocks):
        return {EVERYTHING: design.questions[0].key}
    return {block.key: block.questions[0].key for block in design.blocks}


def spans(design: Design) -> dict[str, slice]:
    """Where the groups of each stratum lie in `overlaps`; everybody, as one group, is first.

    Strata are left out from where the counts of all pairs would be too many.
    """
    found, end = {"": slice(0, 1)}, 1
    sets = len(asked_sets(design))
    for stratum in design.strata:
        start, end = end, end + stratum.size + 1
        if sets * end**2 > MAX_PAIRS:
            break
        found[stratum.key] = slice(start, end)
    return found


def overlaps(parts: Iterable[Part], design: Design) -> Counts:
    """How many reports any two groups share, by [set of reports][group][group]."""
    found = layout(design)
    places = spans(design)
    strata = [key for key in places if key]
    sets = asked_sets(design)
    size = max(place.stop for place in places.values())
    result = np.zeros((len(sets), size, size), dtype=np.int64)
    for data, reports in parts:
        planes = _planes(data, reports, found)
        codes = [_codes(planes, found.columns["stratum", key], reports) for key in strata]
        for counts, name in zip(result, sets, strict=True):
            asked = _asked(planes, found, design, name, reports)
            groups = [code.astype(np.intp) if asked is None else code[asked] for code in codes]
            counts[0, 0] += reports if asked is None else np.count_nonzero(asked)
            for i, (key, one) in enumerate(zip(strata, groups, strict=True)):
                here = places[key]
                sizes = np.bincount(one, minlength=here.stop - here.start)
                counts[0, here] += sizes
                counts[here, 0] += sizes
                counts[here, here] += np.diag(sizes)
                for other, two in zip(strata[:i], groups, strict=False):
                    there = places[other]
                    width = there.stop - there.start
                    cells = len(sizes) * width
                    both = np.bincount(one.astype(np.intp) * width + two, minlength=cells)
                    counts[here, there] += both.reshape(-1, width)
                    counts[there, here] += both.reshape(-1, width).T
    return result


@dataclass(frozen=True)
class Split:
    """Reports divided into parts by strata; those that were not asked all blocks are one more."""

    strata: tuple[str, ...]
    parts: NDArray[np.intp]  # the part of each combination of their groups
    number: int  # of parts
    blocks: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        return self.number + 1


def crossed(
    parts: Iterable[Part], design: Design, block: str, one: Split, others: Sequence[Split]
) -> list[Counts]:
    """Of the reports that were asked a block, how many are in each part of one and of another."""
    found = layout(design)
    result = [np.zeros((one.size, other.size), dtype=np.int64) for other in others]
    for data, reports in parts:
        planes = _planes(data, reports, found)
        asked = _asked(planes, found, design, block, reports)
        rows = _parts(planes, found, design, one, reports)
        for counts, other in zip(result, others, strict=True):
            cells = rows * other.size + _parts(planes, found, design, other, reports)
            cells = cells if asked is None else cells[asked]
            counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
    return result


def _parts(
    planes: Planes, found: Layout, design: Design, split: Split, reports: int
) -> NDArray[np.intp]:
    """The part of each report."""
    index = np.zeros(reports, dtype=np.intp)
    for key in split.strata:
        column = found.columns["stratum", key]
        index = index * column.size + _codes(planes, column, reports)
    index = split.parts[index]
    for block in split.blocks:
        asked = _asked(planes, found, design, block, reports)
        if asked is not None:
            index[~asked] = split.number
    return index


def _asked(
    planes: Planes, found: Layout, design: Design, block: str, reports: int
) -> NDArray[np.bool_] | None:
    """Who was asked a block; None for everybody."""
    for one in design.blocks:
        plane = found.columns["question", one.questions[0].key].asked
        if one.key == block and plane is not None:
            return _bits(planes[plane], reports)
    return None


# --- Adding up ------------------------------------------------------------------------------------


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies of one design."""
    result: Tally = {}
    for some in _chunks(tallies, CHUNK):
        those = [result, *some] if result else some
        result = {
            question: {
                group: np.sum([one[question][group] for one in those], axis=0).tolist()
                for group in groups
            }
            for question, groups in those[0].items()
        }
    return result


def _chunks(tallies: Iterable[Tally], size: int) -> Iterator[list[Tally]]:
    some: list[Tally] = []
    for one in tallies:
        some.append(one)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


# A table of few cells comes from counts of reports that have a set of bits all set, which is an AND
# and a popcount for each set of planes: with two yes/no questions, those who said yes to both, to
# one, to the other, and all. Padding is in none of them. What has exactly these bits and no other
# follows by subtraction (`Plan.arrange`). Sets with a common beginning share the work for it.

Set = tuple[int, ...]  # planes, in order


@dataclass(frozen=True)
class Step:
    """Sets that have one more plane than another: those planes, and where their counts go."""

    planes: slice | list[int]
    places: slice
    further: list[tuple[int, "Step"]]  # which of these sets go on, and how


@dataclass(frozen=True)
class Plan:
    """What is to be counted for some tables of a design."""

    layout: Layout
    few: dict[tuple[Axis, ...], NDArray[np.intp]]  # whose count stands for which codes
    many: list[tuple[Axis, ...]]
    counts: int
    first: Step

    def columns(self, axes: tuple[Axis, ...]) -> list[Column]:
        return [self.layout.columns[axis] for axis in axes]

    def shape(self, axes: tuple[Axis, ...]) -> tuple[int, ...]:
        return tuple(column.size for column in self.columns(axes))

    def arrange(self, counts: Counts, axes: tuple[Axis, ...]) -> Counts:
        """From the reports with at least these bits to those with exactly these."""
        places = self.few[axes]
        bits = counts[places].reshape((2,) * (places.size - 1).bit_length())
        for axis in range(bits.ndim):
            with_bit_first = np.moveaxis(bits, axis, 0)
            with_bit_first[0] -= with_bit_first[1]
        return bits.reshape(places.shape)[tuple(map(slice, self.shape(axes)))].copy()


@lru_cache(maxsize=256)
def _plan(design: Design, wanted: tuple[tuple[Axis, ...], ...]) -> Plan:
    found = layout(design)
    few: dict[tuple[Axis, ...], list[Set | None]] = {}
    many: list[tuple[Axis, ...]] = []
    for axes in dict.fromkeys(wanted):
        _check(axes, found)
        columns = [found.columns[axis] for axis in axes]
        if prod(2 ** len(column.planes) for column in columns) > FEW_CELLS:
            many.append(axes)
        else:
            few[axes] = _sets(columns)
    chosen = {one for sets in few.values() for one in sets if one is not None}
    beginnings = {one[:length] for one in chosen for length in range(len(one) + 1)}
    # Everybody first; sets with the same beginning are neighbours; nobody last.
    ordered = sorted(beginnings | {()}, key=lambda one: (len(one), one))
    places: dict[Set | None, int] = {one: place for place, one in enumerate([*ordered, None])}
    shapes = {axes: [2 ** len(found.columns[axis].planes) for axis in axes] for axes in few}
    arranged = {
        axes: np.array([places[one] for one in sets], dtype=np.intp).reshape(shapes[axes])
        for axes, sets in few.items()
    }
    return Plan(found, arranged, many, len(places), _steps(ordered))


def _check(axes: tuple[Axis, ...], found: Layout) -> None:
    for axis in axes:
        if axis not in found.columns:
            raise ValueError(f"there is no {' '.join(axis)} in this design")
    if len(set(axes)) < len(axes):
        raise ValueError("a table has each question and stratum once")
    if prod(found.columns[axis].size for axis in axes) > MAX_CELLS:
        raise ValueError(f"a table has at most {MAX_CELLS:,} cells")


def _sets(columns: list[Column]) -> list[Set | None]:
    """For each combination of codes, the planes that are set in it; None if nobody has them all."""
    sets: list[Set | None] = []
    for codes in product(*(range(2 ** len(column.planes)) for column in columns)):
        planes: set[int] = set()
        asked = {column.asked for column in columns if column.asked is not None}
        possible = True
        for column, code in zip(columns, codes, strict=True):
            planes |= {plane for digit, plane in enumerate(column.planes) if code >> digit & 1}
            possible &= any(value & code == code for value in range(column.size))
            if code:  # whoever has a bit of a block set was asked that block
                asked -= {column.asked}
        sets.append(tuple(sorted(planes | asked)) if possible else None)
    return sets


def _steps(ordered: list[Set]) -> Step:
    longer: dict[Set, list[int]] = {}  # beginning → the places of the sets with one plane more
    for place, one in enumerate(ordered):
        if one:
            longer.setdefault(one[:-1], []).append(place)

    def step(beginning: Set) -> Step:
        places = longer.get(beginning, [])
        sets = [ordered[place] for place in places]
        further = [(row, step(one)) for row, one in enumerate(sets) if one in longer]
        first = places[0] if places else 0
        return Step(_slice([one[-1] for one in sets]), slice(first, first + len(sets)), further)

    return step(())


def _slice(numbers: list[int]) -> slice | list[int]:
    """Neighbours as a slice, which NumPy need not copy."""
    if numbers and numbers[-1] - numbers[0] + 1 == len(numbers):
        return slice(numbers[0], numbers[-1] + 1)
    return numbers


def _count(planes: Planes, step: Step, mask: NDArray[np.uint64] | None, counts: Counts) -> None:
    chosen = planes[step.planes] if mask is None else planes[step.planes] & mask
    counts[step.places] += np.bitwise_count(chosen).sum(axis=1, dtype=np.uint32)
    for row, further in step.further:
        _count(planes, further, chosen[row], counts)


def _cells(planes: Planes, reports: int, columns: list[Column]) -> Counts:
    """A table of many cells: the cell of each report, counted."""
    shape = tuple(column.size for column in columns)
    index = np.zeros(reports, dtype=np.intp)
    for column in columns:
        index *= column.size
        index += _codes(planes, column, reports)
    asked = [column.asked for column in columns if column.asked is not None]
    if asked:
        index = index[_bits(np.bitwise_and.reduce(planes[asked]), reports)]
    return np.bincount(index, minlength=prod(shape)).reshape(shape)
