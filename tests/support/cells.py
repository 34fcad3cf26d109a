"""Every report and every answer of a block, by brute force.

Tests compare the mechanism and the pages with these; nothing here comes from either.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

from survey.design.mechanism import SCALE, Answer, Cell, Cells, Shape, Value

Block = tuple[Shape, ...]


def is_asked(question: Shape, values: Sequence[Any]) -> bool:
    return question.only_if is None or values[question.only_if[0]] in question.only_if[1]


def combine(block: Block, each: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Return every combination in which exactly the questions that are not asked are None."""
    for values in product(*((None, *some) for some in each)):
        if all((one is not None) == is_asked(question, values)
               for question, one in zip(block, values, strict=True)):  # fmt: skip
            yield values


@cache
def reports(block: Block) -> list[Cell]:
    """Return all possible reports."""
    if block[0].picks:
        return [*((option,) for option in range(block[0].size)), (None,)]
    return list(combine(block, [range(question.size) for question in block]))


@cache
def all_answers(block: Block) -> list[tuple[Answer, ...]]:
    """Return all possible answers."""

    def possible(question: Shape) -> Sequence[Answer]:
        if question.bounds:
            numbers = range(question.bounds[0], question.bounds[1] + 1)
            return [*numbers, *((option,) for option in range(question.instead))]
        if question.picks:
            counts = range(question.picks + 1)
            return [pick for n in counts for pick in combinations(range(question.size), n)]
        return range(question.size)

    return list(combine(block, [possible(question) for question in block]))


def exact_channel(mechanism: Cells, question: int, value: Value) -> tuple[Fraction, Fraction]:
    """(a, b) from the definition: the cells that have the value, counted one by one."""
    picks = mechanism.questions[0].picks
    found = sum(report[question] == value for report in reports(mechanism.questions))
    cells = len(reports(mechanism.questions)) + max(0, picks - 1)
    b = Fraction(SCALE - mechanism.keep, SCALE) * Fraction(found, cells)
    return Fraction(mechanism.keep, SCALE * (picks or 1)) + b, b
