"""Counts of reports from their bit planes. Pure NumPy: planes in, counts out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from aggregation.counting.planes import (
    Data,
    Layout,
    Packed,
    Planes,
    QuestionPlanes,
    bits_of,
    codes_of,
    layout,
    planes_of,
)
from survey.design import Design

MAX_CELLS = 2**20  # of one table
FEW_CELLS = 128  # up to this, AND and popcount are faster than one pass over the reports

Counts = NDArray[np.int64]
Axes = tuple[str, ...]  # keys of questions

# By question, then by "" (everybody, as one group) or background question: counts[group][option].
# Only sums of these leave a batch.
Tally = dict[str, dict[str, list[list[int]]]]


def tally(data: Data, reports: int, design: Design) -> Tally:
    """Count every option of every question, over everybody and by every background question."""
    return recount([(data, reports)], design)


def recount(parts: Iterable[Packed], design: Design) -> Tally:
    """Return the tally of several batches together, from their reports."""
    places = [
        (question.key, by)
        for question in design.questions
        for by in ["", *(one.key for one in design.background if one.key != question.key)]
    ]
    wanted = [(by, question) if by else (question,) for question, by in places]
    result: Tally = {question.key: {} for question in design.questions}
    for (question, by), counts in zip(places, tables(parts, design, wanted), strict=True):
        result[question][by] = counts.tolist() if by else [counts.tolist()]
    return result


def tables(parts: Iterable[Packed], design: Design, wanted: Sequence[Axes]) -> list[Counts]:
    """Return joint counts over several batches, for several tables in one pass.

    An axis is the key of a question and has a place for every option. A table counts the reports
    in which all its questions were asked. Tables of the same design can be added up.
    """
    plan = _plan(design, tuple(wanted))
    counts = np.zeros(plan.counts, dtype=np.int64)
    result = {axes: np.zeros(plan.shape(axes), dtype=np.int64) for axes in plan.by_bincount}
    for data, reports in parts:
        planes = planes_of(data, reports, plan.layout)
        counts[0] += reports
        if plan.first.planes:
            _count(planes, plan.first, None, counts)
        for axes in plan.by_bincount:
            result[axes] += _cells(planes, reports, plan.columns(axes))
    for axes in plan.by_popcount:
        result[axes] = plan.arrange(counts, axes)
    return [result[axes] for axes in wanted]


def total(tallies: Sequence[Tally]) -> Tally:
    """Add up tallies of one design."""
    return {
        question: {
            by: np.sum([tally[question][by] for tally in tallies], axis=0).tolist() for by in counts
        }
        for question, counts in tallies[0].items()
    }


# --- Counting -------------------------------------------------------------------------------------
#
# A small table is computed from counts of the reports in which all planes of a set are 1, each of
# which takes an AND and a popcount. For two yes/no questions these are the people who said yes to
# both, to the first, to the second, and all people. `CountPlan.arrange` then subtracts to find the
# reports with exactly these bits. Padding is in no set, and sets with the same beginning share the
# work for it.

PlaneSet = tuple[int, ...]  # planes, in order


@dataclass(frozen=True)
class CountNode:
    """The sets that add one plane to another set: these planes, and the places of their counts."""

    planes: slice | list[int]
    places: slice
    further: list[tuple[int, "CountNode"]]  # the sets to which more planes are added, by position


@dataclass(frozen=True)
class CountPlan:
    """What to count for some tables of a design."""

    layout: Layout
    by_popcount: dict[Axes, NDArray[np.intp]]  # the place of the count for each cell
    by_bincount: list[Axes]
    counts: int
    first: CountNode

    def columns(self, axes: Axes) -> list[QuestionPlanes]:
        return [self.layout.columns[axis] for axis in axes]

    def shape(self, axes: Axes) -> tuple[int, ...]:
        return tuple(column.size for column in self.columns(axes))

    def arrange(self, counts: Counts, axes: Axes) -> Counts:
        """Return the table of reports with exactly these bits, from counts with at least these."""
        places = self.by_popcount[axes]
        bits = counts[places].reshape((2,) * (places.size - 1).bit_length())
        for axis in range(bits.ndim):
            with_bit_first = np.moveaxis(bits, axis, 0)
            with_bit_first[0] -= with_bit_first[1]
        return bits.reshape(places.shape)[tuple(map(slice, self.shape(axes)))].copy()


@lru_cache(maxsize=256)
def _plan(design: Design, wanted: tuple[Axes, ...]) -> CountPlan:
    found = layout(design)
    by_popcount: dict[Axes, list[PlaneSet | None]] = {}
    by_bincount: list[Axes] = []
    for axes in dict.fromkeys(wanted):
        _check(axes, found)
        columns = [found.columns[axis] for axis in axes]
        if prod(2 ** len(column.planes) for column in columns) > FEW_CELLS:
            by_bincount.append(axes)
        else:
            by_popcount[axes] = _sets(columns)
    chosen = {one for sets in by_popcount.values() for one in sets if one is not None}
    beginnings = {one[:length] for one in chosen for length in range(len(one) + 1)}
    # Everybody comes first, then sets with the same beginning together, and nobody last.
    ordered = sorted(beginnings | {()}, key=lambda one: (len(one), one))
    places: dict[PlaneSet | None, int] = {one: place for place, one in enumerate([*ordered, None])}
    shapes = {axes: [2 ** len(found.columns[axis].planes) for axis in axes] for axes in by_popcount}
    arranged = {
        axes: np.array([places[one] for one in sets], dtype=np.intp).reshape(shapes[axes])
        for axes, sets in by_popcount.items()
    }
    return CountPlan(found, arranged, by_bincount, len(places), _nodes(ordered))


def _check(axes: Axes, found: Layout) -> None:
    for axis in axes:
        if axis not in found.columns:
            raise ValueError(f"there is no question {axis!r} in this design")
    if len(set(axes)) < len(axes):
        raise ValueError("a table can have each question only once")
    if prod(found.columns[axis].size for axis in axes) > MAX_CELLS:
        raise ValueError(f"a table can have at most {MAX_CELLS:,} cells")


def _sets(columns: list[QuestionPlanes]) -> list[PlaneSet | None]:
    """Return the planes that are 1 in each combination of codes; None if it is impossible."""
    sets: list[PlaneSet | None] = []
    for codes in product(*(range(2 ** len(column.planes)) for column in columns)):
        planes: set[int] = set()
        asked = {column.asked for column in columns if column.asked is not None}
        possible = True
        for column, code in zip(columns, codes, strict=True):
            planes |= {plane for digit, plane in enumerate(column.planes) if code >> digit & 1}
            possible &= any(value & code == code for value in range(column.size))
            if code:  # implies that the block was asked
                asked -= {column.asked}
        sets.append(tuple(sorted(planes | asked)) if possible else None)
    return sets


def _nodes(ordered: list[PlaneSet]) -> CountNode:
    longer: dict[PlaneSet, list[int]] = {}  # beginning → places of the sets with one more plane
    for place, one in enumerate(ordered):
        if one:
            longer.setdefault(one[:-1], []).append(place)

    def node(beginning: PlaneSet) -> CountNode:
        places = longer.get(beginning, [])
        sets = [ordered[place] for place in places]
        further = [(row, node(one)) for row, one in enumerate(sets) if one in longer]
        first = places[0] if places else 0
        return CountNode(
            _slice([one[-1] for one in sets]), slice(first, first + len(sets)), further
        )

    return node(())


def _slice(numbers: list[int]) -> slice | list[int]:
    """Return consecutive numbers as a slice, which NumPy need not copy."""
    if numbers and numbers[-1] - numbers[0] + 1 == len(numbers):
        return slice(numbers[0], numbers[-1] + 1)
    return numbers


def _count(
    planes: Planes, node: CountNode, mask: NDArray[np.uint64] | None, counts: Counts
) -> None:
    chosen = planes[node.planes] if mask is None else planes[node.planes] & mask
    counts[node.places] += np.bitwise_count(chosen).sum(axis=1, dtype=np.uint32)
    for row, further in node.further:
        _count(planes, further, chosen[row], counts)


def _cells(planes: Planes, reports: int, columns: list[QuestionPlanes]) -> Counts:
    """Count a large table in one pass over the cells of the reports."""
    shape = tuple(column.size for column in columns)
    index = np.zeros(reports, dtype=np.intp)
    for column in columns:
        index *= column.size
        index += codes_of(planes, column, reports)
    asked = [column.asked for column in columns if column.asked is not None]
    if asked:
        index = index[bits_of(np.bitwise_and.reduce(planes[asked]), reports)]
    return np.bincount(index, minlength=prod(shape)).reshape(shape)
