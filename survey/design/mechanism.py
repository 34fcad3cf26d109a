"""The mechanism `cells/1`, which randomizes the answers of one block on the respondent's device.

A block has K allowed cells: the combinations of answers that a person can have. With probability
keep/2^32 the person's own cell is reported, otherwise a uniformly random allowed cell.

Pure: no Django, no clock, and no randomness except the caller's `draw`. The same procedure is in
static/respond/randomizer.js; the vectors in tests/vectors keep the two in step. The meaning of a
name never changes: another procedure gets another name.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import product

MECHANISM = "cells/1"
SCALE = 2**32  # probabilities on the wire are integers over this
MAX_EPSILON = 8  # up to here, 32 bits resolve the keep probability well
MAX_CELLS = 2**20
MAX_BOUND = 2**31  # for a number's bounds, so that browsers compute its level exactly

Draw = Callable[[], int]  # an integer, uniform on [0, SCALE), fresh at every call
Value = int | None  # an option's position, a number's level, or None: not asked, nothing picked
Cell = tuple[Value, ...]
# A position, a number, None if not asked, or a list of positions: the picks of multiple choice, or
# the one option chosen instead of a number.
Answer = int | None | Sequence[int]


class MechanismError(ValueError):
    """Parameters that the mechanism does not support, or impossible answers."""


def uniform(size: int, draw: Draw) -> int:
    """Draw a uniform integer from [0, size). Rejection sampling makes it exact for every size."""
    limit = SCALE - SCALE % size
    while (word := draw()) >= limit:
        pass
    return word % size


@dataclass(frozen=True)
class Shape:
    """What the mechanism needs to know about a question."""

    size: int  # how many values it can have: options, and the levels of a number
    only_if: tuple[int, frozenset[int]] | None = None  # a question, and the values that lead here
    bounds: tuple[int, int] | None = None  # the least and the greatest number
    picks: int = 0  # multiple choice: how many options may be picked
    instead: int = 0  # options that can be chosen instead of a number; they follow the levels

    @property
    def steps(self) -> int:
        """The number of steps from the lowest level of a number to the highest."""
        return self.size - self.instead - 1

    @property
    def values(self) -> int:
        """The number of values that can be drawn, including the blanks of multiple choice."""
        return self.size + self.picks

    def is_asked(self, before: Sequence[Value]) -> bool:
        """Return whether the question is asked, given the values of the questions before it."""
        return self.only_if is None or before[self.only_if[0]] in self.only_if[1]


@dataclass(frozen=True)
class Cells:
    """Randomized response on the allowed cells of one block.

    On K cells this is k-ary randomized response, whose loss is exactly ln(1 + cK/(1-c)) with
    c = keep/SCALE (Kairouz, Oh and Viswanath 2016; Warner 1965 for K = 2). Multiple choice, "pick
    up to r of d", is alone in its block: the picks are padded with blanks to r slots, one slot is
    drawn, and its cells are the d options and r blanks. Because the slot is random, the loss is
    ln(1 + cK/(r(1-c))). A number is first rounded at random to one of its levels, independently of
    everything else, which costs no privacy.
    """

    keep: int
    questions: tuple[Shape, ...]

    def __post_init__(self) -> None:
        if not self.questions:
            raise MechanismError("questions: a block needs at least one question")
        for place, question in enumerate(self.questions):
            self._check_question(place, question)
        if self.cells > MAX_CELLS:
            raise MechanismError(
                f"questions: a block may have at most {MAX_CELLS:,} combinations of answers"
            )
        if type(self.keep) is not int or not 0 < self.keep < SCALE:
            raise MechanismError(f"keep: must be an integer from 1 to {SCALE - 1}, not {self.keep}")

    def _check_question(self, place: int, question: Shape) -> None:
        where = f"questions[{place}]"
        if not _is_whole(question.size, 2, MAX_CELLS):
            raise MechanismError(f"{where}: needs 2 or more values, not {question.size}")
        if question.bounds:
            least, most = question.bounds
            within = all(_is_whole(bound, -MAX_BOUND, MAX_BOUND) for bound in question.bounds)
            if not within or least >= most:
                raise MechanismError(f"{where}: two whole numbers in order, within ±{MAX_BOUND}")
            if not _is_whole(question.instead, 0, question.size) or question.steps < 1:
                raise MechanismError(f"{where}: needs 2 or more levels")
            if question.steps > most - least:
                raise MechanismError(f"{where}: has more levels than numbers")
        if question.picks != 0:
            if len(self.questions) > 1 or question.only_if or question.bounds:
                raise MechanismError(f"{where}: multiple choice must be alone in its block")
            if not _is_whole(question.picks, 1, question.size):
                raise MechanismError(f"{where}: 1 to {question.size} picks, not {question.picks}")
        if question.only_if:
            gate, values = question.only_if
            earlier = 0 <= gate < place and not self.questions[gate].bounds
            if not earlier or not values or not values <= set(range(self.questions[gate].size)):
                raise MechanismError(f"{where}: must depend on options of an earlier question")

    @classmethod
    def for_epsilon(cls, epsilon: float, questions: Sequence[Shape]) -> "Cells":
        """Return the most truthful mechanism whose loss does not exceed `epsilon`.

        `keep` is rounded down in 80-digit arithmetic, so the real loss never exceeds the stated
        loss, whatever the rounding of binary floating point.
        """
        if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
            raise MechanismError(f"epsilon: must be a number, not {epsilon!r}")
        if not 0 < epsilon <= MAX_EPSILON:
            raise MechanismError(f"epsilon: above 0 and at most {MAX_EPSILON}, not {epsilon}")
        block = cls(1, tuple(questions))  # checks the questions
        with localcontext() as context:
            context.prec = 80
            gain = (Decimal(epsilon).exp() - 1) * block.slots
            keep = int((SCALE * gain / (gain + block.cells)).to_integral_value(ROUND_FLOOR))
            if keep * block.cells > gain * (SCALE - keep):
                raise ArithmeticError("the rounded keep probability exceeds the stated epsilon")
        if keep == 0:
            raise MechanismError(
                f"epsilon: {epsilon} is too close to 0 for a block with {block.cells:,} "
                "combinations of answers"
            )
        return cls(keep, block.questions)

    @property
    def slots(self) -> int:
        """The number of slots that picks are padded to; 1 unless this is multiple choice."""
        return self.questions[0].picks or 1

    @cached_property
    def cells(self) -> int:
        """The number of cells that can be drawn; only exact up to MAX_CELLS."""
        return self.completions(())

    @property
    def epsilon(self) -> float:
        """The privacy loss of the whole block, computed from the integer `keep`."""
        return math.log1p(self.keep * self.cells / (self.slots * (SCALE - self.keep)))

    def channel(self, question: int, value: int = 0) -> tuple[float, float]:
        """Return (a, b): how likely a value is reported if it is true, and if it is not.

        All options of a question have the same channel unless another question depends on it.
        """
        kept, chance = Fraction(self.keep, SCALE * self.slots), Fraction(SCALE - self.keep, SCALE)
        b = chance * Fraction(self.count(question, value), self.cells)
        return float(kept + b), float(b)

    def chances(self, question: int) -> list[float]:
        """Return the probability of each value in a cell drawn at random, None coming last.

        None has a place only if it can occur.
        """
        shape = self.questions[question]
        counts = [self.count(question, value) for value in range(shape.size)]
        if shape.picks or shape.only_if:
            counts.append(self.cells - sum(counts))
        return [float(Fraction(count, self.cells)) for count in counts]

    def count(self, question: int, value: Value) -> int:
        """Return how many cells have this value of a question, or None for "not asked"."""
        return self._completions((), {question: value})

    def completions(self, before: Cell) -> int:
        """Return how many cells begin with these values."""
        return self._completions(before, {})

    def _completions(self, before: Cell, fixed: dict[int, Value]) -> int:
        """Count the cells with this beginning and the fixed values; stop above MAX_CELLS."""
        place = len(before)
        if place == len(self.questions):
            return 1
        values = self._values(before)
        if place in fixed:
            values = [fixed[place]] if fixed[place] in values else []
        if place not in self._gates:  # later questions do not depend on its value
            return len(values) and len(values) * self._completions((*before, values[0]), fixed)
        total = 0
        for value in values:
            total += self._completions((*before, value), fixed)
            if total > MAX_CELLS:
                break
        return total

    @cached_property
    def _gates(self) -> frozenset[int]:
        """The questions that decide which of the later ones are asked."""
        return frozenset(question.only_if[0] for question in self.questions if question.only_if)

    def _values(self, before: Cell) -> Sequence[Value]:
        """Return the values that the next question can have."""
        question = self.questions[len(before)]
        return range(question.values) if question.is_asked(before) else (None,)

    def cell(self, number: int) -> Cell:
        """Return the cell with this number, counting from 0 in lexicographic order.

        The blanks of multiple choice have different numbers, but in a report each of them is None.
        """
        cell: Cell = ()
        while len(cell) < len(self.questions):
            for value in self._values(cell):
                completions = self.completions((*cell, value))
                if number < completions:
                    break
                number -= completions
            cell = (*cell, value)
        return cell

    def as_sent(self, cell: Cell) -> Cell:
        """Return a cell as it is reported, with every blank as None."""
        pairs = zip(self.questions, cell, strict=True)
        return tuple(None if value is None or value >= q.size else value for q, value in pairs)

    def allows(self, report: Sequence[object]) -> bool:
        """Return whether a list of values is a cell of this block in the form that is sent."""
        if len(report) != len(self.questions):
            return False
        for question, value in zip(self.questions, report, strict=True):
            if value is None and question.picks:
                continue
            if not question.is_asked(report):  # type: ignore[arg-type]
                if value is not None:
                    return False
            elif not _is_whole(value, 0, question.size - 1):
                return False
        return True

    def probability(self, answers: Sequence[Answer], report: Sequence[Value]) -> Fraction:
        """Return the exact P(report | answers), which is 0 if the report is not allowed."""
        self._check_answers(answers)
        if not self.allows(report):
            return Fraction(0)
        keep, chance = Fraction(self.keep, SCALE), Fraction(SCALE - self.keep, SCALE)
        blanks = self.slots if self.questions[0].picks and report[0] is None else 1
        own = self._own_cells(answers).get(tuple(report), Fraction(0))
        return keep * own + chance * Fraction(blanks, self.cells)

    def _own_cells(self, answers: Sequence[Answer]) -> dict[Cell, Fraction]:
        """Return the cells that can represent these answers, with their probabilities."""
        pairs = zip(self.questions, answers, strict=True)
        each = [_own_values(question, answer) for question, answer in pairs]
        return {
            tuple(value for value, _ in cell): math.prod(
                (chance for _, chance in cell), start=Fraction(1)
            )
            for cell in product(*(values.items() for values in each))
        }

    def randomize(self, answers: Sequence[Answer], draw: Draw) -> Cell:
        """Return the report for these answers.

        Always draw in this order, whatever the answers are: the coin, one rounding for each number,
        one slot for multiple choice, one cell.
        """
        self._check_answers(answers)
        kept = draw() < self.keep
        own: list[Value] = []
        for question, answer in zip(self.questions, answers, strict=True):
            if question.bounds:
                u = uniform(question.bounds[1] - question.bounds[0], draw)
                own.append(_level(question, answer, u))
            elif question.picks:
                own.append(_in_slot(answer, uniform(question.picks, draw)))
            else:
                own.append(_value(answer))
        chance = self.cell(uniform(self.cells, draw))
        return tuple(own) if kept else self.as_sent(chance)

    def _check_answers(self, answers: Sequence[Answer]) -> None:
        if len(answers) != len(self.questions):
            raise MechanismError(f"answers: {len(self.questions)} needed, not {len(answers)}")
        for place, (question, answer) in enumerate(zip(self.questions, answers, strict=True)):
            if not question.is_asked(answers):  # type: ignore[arg-type]
                if answer is not None:
                    raise MechanismError(f"answers[{place}]: must be None, as it was not asked")
            elif question.picks:
                if not _are_picks(answer, question):
                    raise MechanismError(
                        f"answers[{place}]: must be up to {question.picks} positions, in order"
                    )
            elif not (question.bounds and _is_instead(answer, question)):
                low, high = question.bounds or (0, question.size - 1)
                if not _is_whole(answer, low, high):
                    raise MechanismError(f"answers[{place}]: a whole number from {low} to {high}")


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _are_picks(answer: Answer, question: Shape) -> bool:
    if not isinstance(answer, list | tuple) or len(answer) > question.picks:
        return False
    if not all(_is_whole(pick, 0, question.size - 1) for pick in answer):
        return False
    return all(one < other for one, other in zip(answer, answer[1:], strict=False))


def _is_instead(answer: Answer, question: Shape) -> bool:
    """Return whether this is a list of one option chosen instead of a number."""
    if not isinstance(answer, list | tuple) or len(answer) != 1:
        return False
    return _is_whole(answer[0], 0, question.instead - 1)


def _in_slot(answer: Answer, slot: int) -> Value:
    assert isinstance(answer, list | tuple)  # noqa: S101  # checked before
    return answer[slot] if slot < len(answer) else None


def _value(answer: Answer) -> Value:
    assert answer is None or isinstance(answer, int)  # noqa: S101
    return answer


def _own_values(question: Shape, answer: Answer) -> dict[Value, Fraction]:
    """Return the values that can represent an answer, each with its probability."""
    if question.picks:
        slots = Counter(_in_slot(answer, slot) for slot in range(question.picks))
        return {value: Fraction(count, question.picks) for value, count in slots.items()}
    if question.bounds and isinstance(answer, int):
        level, rest, span = _level_below(question, answer)
        up: dict[Value, Fraction] = {level + 1: Fraction(rest, span)} if rest else {}
        return {level: Fraction(span - rest, span)} | up
    if question.bounds:
        return {_level(question, answer, 0): Fraction(1)}
    return {_value(answer): Fraction(1)}


def _level_below(question: Shape, number: int) -> tuple[int, int, int]:
    """Return the level below a number, and the numerator and denominator of its distance."""
    assert question.bounds  # noqa: S101  # for the type checker
    least, most = question.bounds
    return (*divmod((number - least) * question.steps, most - least), most - least)


def _level(question: Shape, answer: Answer, u: int) -> Value:
    """Round a number to a level at random, so that it is right on average."""
    if answer is None:
        return None
    if not isinstance(answer, int):  # an option chosen instead
        return question.steps + 1 + answer[0]
    level, rest, _ = _level_below(question, answer)
    return level + (u < rest)
