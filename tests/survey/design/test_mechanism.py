"""survey/design/mechanism.py: its losses, results and errors, in exact arithmetic.

What is compared with is written out by brute force: every allowed cell and every answer that
anybody can have (tests/support/cells.py), and every draw of `randomize` with its probability.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from survey.design.mechanism import (
    MAX_BOUND,
    MAX_CELLS,
    MECHANISM,
    SCALE,
    Answer,
    Cell,
    Cells,
    MechanismError,
    Shape,
    Value,
    uniform,
)
from tests.support.cells import Block, all_answers, exact_channel, reports
from tests.vectors.generate import Words, draws, take

Law = dict[Cell, Fraction]


def plain(*sizes: int) -> Block:
    return tuple(Shape(size) for size in sizes)


def after(size: int, gate: int, *values: int) -> Shape:
    return Shape(size, only_if=(gate, frozenset(values)))


def number(least: int, most: int, levels: int, *gate: int, instead: int = 0) -> Shape:
    only_if = (gate[0], frozenset(gate[1:])) if gate else None
    return Shape(levels + 1 + instead, only_if, (least, most), instead=instead)


PLAIN = [plain(2), plain(3), plain(5), plain(20), plain(2, 2), plain(3, 2), plain(2, 2, 2, 2)]
PLAIN.append(plain(2, 3, 5))
FOLLOW_UPS = {
    "gate and 4": (Shape(2), after(4, 0, 1)),
    "gate and 4, 3, 2": (Shape(2), after(4, 0, 1), after(3, 0, 1), after(2, 0, 1)),
    "a follow-up of a follow-up": (Shape(2), after(3, 0, 1), after(2, 1, 0, 2)),
    "before a plain question": (Shape(3), after(5, 0, 1), Shape(2)),
    "after a plain question": (Shape(2), Shape(3), after(2, 1, 0, 1)),
    "two gates": (Shape(2), Shape(3), after(2, 0, 1), after(3, 1, 2)),
    "after every option": (Shape(2), after(2, 0, 0, 1)),
}
NUMBERS = {
    "one of 2 levels": (number(18, 100, 1),),
    "one of 3 levels": (number(0, 40, 2),),
    "as many levels as numbers": (number(-2, 2, 4),),
    "levels that do not divide": (number(-3, 4, 3),),
    "a number and a choice": (number(0, 5, 2), Shape(3)),
}
DECLINED = {
    "a number or an option": (number(0, 5, 2, instead=1),),
    "a number or two options, and a choice": (number(-2, 1, 1, instead=2), Shape(2)),
    "a number or an option, after a gate": (Shape(2), number(0, 4, 3, 0, 1, instead=1)),
}
SEVERAL = {f"up to {r} of {d}": (Shape(d, picks=r),) for d, r in ((10, 3), (4, 1), (2, 2), (3, 2))}
MIXTURES = {
    "a number after a gate, and another": (Shape(2), number(-3, 4, 3, 0, 1), number(5, 6, 1)),
    "a gate, a number and a follow-up": (Shape(3), number(0, 3, 2), after(2, 0, 0, 2)),
    "a number after a follow-up": (Shape(2), after(3, 0, 1), number(0, 4, 3, 1, 1, 2)),
}
KINDS: dict[str, Block] = FOLLOW_UPS | NUMBERS | DECLINED | SEVERAL | MIXTURES
BLOCKS: dict[str, Block] = {
    **{" x ".join(str(question.size) for question in block): block for block in PLAIN},
    **KINDS,
}
EPSILONS = (1e-05, 0.001, 0.1, 0.5, 1.0, math.log(3), 1.5, 2, math.log(9), 3.3, 4, 5.5, 7.999, 8)
SOME = (0.1, math.log(3), 2, 8)
GRID = [
    *((epsilon, block) for epsilon in EPSILONS for block in PLAIN),
    *((epsilon, block) for epsilon in SOME for block in KINDS.values()),
]

blocks = pytest.mark.parametrize("block", BLOCKS.values(), ids=list(BLOCKS))
grid = pytest.mark.parametrize(("epsilon", "block"), GRID)


# --- What is compared with ------------------------------------------------------------------------


def matrix(mechanism: Cells) -> list[list[Fraction]]:
    """Return P(report | answers): answers in rows, reports in columns."""
    block = mechanism.questions
    return [
        [mechanism.probability(answers, report) for report in reports(block)]
        for answers in all_answers(block)
    ]


def enumerated(mechanism: Cells, answers: tuple[Answer, ...]) -> Law:
    """Return the law of the report from every possible draw of `randomize`.

    The coin falls one way or the other, and uniform(n) is 0 to n - 1, each once, for the words 0 to
    n - 1 (which is tested below).
    """
    sizes = draws(mechanism)
    law: Counter[Cell] = Counter()
    for coin, weight in ((0, mechanism.keep), (mechanism.keep, SCALE - mechanism.keep)):
        for words in product(*map(range, sizes)):
            draw = Words([coin, *words])
            law[mechanism.randomize(answers, draw)] += weight
            assert draw.used == 1 + len(sizes)
    return {report: Fraction(count, SCALE * math.prod(sizes)) for report, count in law.items()}


def share(question: Shape, answer: Answer, value: Value) -> Fraction:
    """Return how much of a person has this value; a number between levels has some of both."""
    if question.bounds and answer is not None and value is not None:
        levels = question.size - question.instead - 1
        if isinstance(answer, tuple):
            return Fraction(value == levels + 1 + answer[0])
        least, most = question.bounds
        place = Fraction((answer - least) * levels, most - least)
        return max(Fraction(0), 1 - abs(place - value)) if value <= levels else Fraction(0)
    if isinstance(answer, tuple):
        return Fraction(value in answer)
    return Fraction(answer == value)


# --- What it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "block", "keep"),
    [
        (math.log(3), plain(2), 2147483648),
        (2, plain(3), 2922635322),
        (2, plain(2, 2), 2641316663),
        (4, plain(2, 2, 2, 2), 3307592247),
        (2, FOLLOW_UPS["gate and 4"], 2409399581),
        (2, FOLLOW_UPS["gate and 4, 3, 2"], 874215105),
        (2, plain(5), 2409399581),
        (1.5, plain(7), 1426653718),
        (1, plain(11), 580264249),
        (2, SEVERAL["up to 3 of 10"], 2559204473),
    ],
)
def test_keep_has_its_known_values(epsilon: float, block: Block, keep: int) -> None:
    assert Cells.for_epsilon(epsilon, block).keep == keep


@pytest.mark.parametrize(
    ("block", "cells"),
    [
        (plain(2, 3, 5), 30),
        (FOLLOW_UPS["gate and 4"], 5),
        (FOLLOW_UPS["gate and 4, 3, 2"], 25),
        (FOLLOW_UPS["a follow-up of a follow-up"], 6),
        (SEVERAL["up to 3 of 10"], 13),
        (NUMBERS["one of 3 levels"], 3),
    ],
)
def test_blocks_have_their_known_numbers_of_cells(block: Block, cells: int) -> None:
    assert Cells(1, block).cells == cells


def test_multiple_choice_has_its_known_channel() -> None:
    mechanism = Cells.for_epsilon(2, SEVERAL["up to 3 of 10"])
    assert mechanism.keep / SCALE == pytest.approx(0.5958612247, abs=3e-10)
    for option in range(10):
        a, b = mechanism.channel(0, option)
        assert (a, b) == pytest.approx((0.2297080063, 0.0310875981), abs=2e-10)
        assert math.exp(2) - 1e-8 < a / b <= math.exp(2)


def test_real_losses_are_just_below_the_stated_ones() -> None:
    real = Cells.for_epsilon(2, FOLLOW_UPS["gate and 4"]).epsilon
    assert real == pytest.approx(1.999999999679, abs=1e-12)
    assert 2 - 1e-9 < Cells.for_epsilon(2, SEVERAL["up to 3 of 10"]).epsilon < 2


@pytest.mark.parametrize(
    ("epsilon", "threshold"),
    [
        (0.5, 2673442470),
        (1, 3139872686),
        (math.log(3), 3221225472),
        (2, 3782994644),
        (math.log(9), 3865470566),
        (4, 4217717112),
        (8, 4293526978),
    ],
)
def test_one_yes_no_question_has_its_known_thresholds(epsilon: float, threshold: int) -> None:
    """Symmetric randomized response reports the truth with t/2^32; here t is (2^32 + keep)/2."""
    keep = Cells.for_epsilon(epsilon, plain(2)).keep
    assert (SCALE + keep) // 2 == threshold


@grid
def test_the_loss_of_the_whole_channel_is_the_stated_one_and_not_above(
    epsilon: float, block: Block
) -> None:
    """Check every pair of answers and every report."""
    mechanism = Cells.for_epsilon(epsilon, block)
    rows = matrix(mechanism)
    assert all(sum(row) == 1 for row in rows)
    ratio = max(max(column) / min(column) for column in zip(*rows, strict=True))
    with localcontext() as context:
        context.prec = 100
        real = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        stated = Decimal(epsilon)
        assert real <= stated
        assert real > stated - Decimal("1e-6"), "accuracy is given away"
    assert mechanism.epsilon == pytest.approx(float(real), rel=1e-12)


@grid
def test_keep_is_the_largest_within_epsilon(epsilon: float, block: Block) -> None:
    mechanism = Cells.for_epsilon(epsilon, block)
    keep = mechanism.keep + 1
    with localcontext() as context:
        context.prec = 100
        gain = (Decimal(epsilon).exp() - 1) * (block[0].picks or 1)
        assert keep * mechanism.cells > gain * (SCALE - keep)


def test_whole_numbers_and_floats_are_the_same_epsilon() -> None:
    assert Cells.for_epsilon(2, [Shape(2)]) == Cells.for_epsilon(2.0, (Shape(2),))


# --- What it does ---------------------------------------------------------------------------------


@blocks
def test_probabilities_are_those_of_all_draws(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    for answers in all_answers(block):
        law = enumerated(mechanism, answers)
        assert set(law) <= set(reports(block))
        stated = {report: mechanism.probability(answers, report) for report in reports(block)}
        assert stated == law


@blocks
def test_cells_are_numbered_in_lexicographic_order(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    found = [mechanism.cell(i) for i in range(mechanism.cells)]
    blanks = [(block[0].size + i,) for i in range(block[0].picks)]
    expected = [report for report in reports(block) if report != (None,)]
    assert found == [*expected, *blanks]
    assert {mechanism.as_sent(cell) for cell in found} == set(reports(block))


@blocks
def test_cells_are_counted_by_what_they_have_and_how_they_begin(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    every = [mechanism.cell(i) for i in range(mechanism.cells)]
    for place, question in enumerate(block):
        for value in (None, *range(question.values + 1)):
            assert mechanism.count(place, value) == sum(cell[place] == value for cell in every)
    for beginning in {cell[:i] for cell in every for i in range(len(block) + 1)}:
        same = sum(cell[: len(beginning)] == beginning for cell in every)
        assert mechanism.completions(beginning) == same


@blocks
def test_exactly_the_cells_are_allowed(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    candidates = product(*((None, -1, *range(1 + question.values)) for question in block))
    allowed = [one for one in candidates if mechanism.allows(one)]
    assert sorted(allowed, key=str) == sorted(reports(block), key=str)
    for report in reports(block)[:5]:
        for place, wrong in product(range(len(block)), (True, 0.0, "0", [0])):
            assert not mechanism.allows([*report[:place], wrong, *report[place + 1 :]])
        assert not mechanism.allows(report[1:])
        assert not mechanism.allows([*report, 0])


@grid
def test_the_channel_of_a_value_is_the_marginal_of_the_whole(epsilon: float, block: Block) -> None:
    """And so (reported - b)/(a - b) is, on average, the share of each person that has the value.

    A number between two levels has some of both, in the proportion that makes rounding right.
    """
    mechanism = Cells.for_epsilon(epsilon, block)
    rows = matrix(mechanism)
    for place, question in enumerate(block):
        for value in range(question.size):
            a, b = exact_channel(mechanism, place, value)
            assert mechanism.channel(place, value) == (float(a), float(b))
            for answers, row in zip(all_answers(block), rows, strict=True):
                reported = sum(
                    p for report, p in zip(reports(block), row, strict=True)
                    if report[place] == value
                )  # fmt: skip
                assert (reported - b) / (a - b) == share(question, answers[place], value)


@pytest.mark.parametrize("block", NUMBERS.values(), ids=list(NUMBERS))
def test_a_number_is_right_on_average(block: Block) -> None:
    """(mean level/G - (1 - c)/2)/c is where the number lies between its bounds, for all of them."""
    mechanism = Cells.for_epsilon(2, block)
    least, most = block[0].bounds or (0, 0)
    c = Fraction(mechanism.keep, SCALE)
    for answers in all_answers(block):
        law = enumerated(mechanism, answers)
        level = sum(p * (report[0] or 0) for report, p in law.items()) / (block[0].size - 1)
        assert isinstance(answers[0], int)
        assert least + (most - least) * (level - (1 - c) / 2) / c == answers[0]


SMALL = [
    (math.log(3), plain(2)),
    (0.5, plain(2, 2)),
    (1.5, plain(2, 3)),
    (3, plain(5)),
    (2, FOLLOW_UPS["a follow-up of a follow-up"]),
    (2, NUMBERS["one of 3 levels"]),
    (2, NUMBERS["a number and a choice"]),
    (1, SEVERAL["up to 2 of 3"]),
    (3, MIXTURES["a number after a gate, and another"][:2]),
]


@pytest.mark.parametrize(("epsilon", "block"), SMALL)
def test_the_estimate_is_exactly_unbiased_for_three_respondents(
    epsilon: float, block: Block
) -> None:
    """Every combination of three reports, weighted by its probability: no simulation, no rounding.

    The mean of (count/n - b)/(a - b) over all of them is the true share, for every question and
    every value, whatever the three answered.
    """
    mechanism = Cells.for_epsilon(epsilon, block)
    possible = reports(block)
    channels = {
        (place, value): exact_channel(mechanism, place, value)
        for place, question in enumerate(block)
        for value in range(question.size)
    }
    for truths in some_truths(all_answers(block)):
        # The mean over joint outcomes; respondents are independent, so probabilities multiply.
        means = dict.fromkeys(channels, Fraction(0))
        total = Fraction(0)
        chances = [[mechanism.probability(truth, cell) for cell in possible] for truth in truths]
        for outcome in product(range(len(possible)), repeat=3):
            weight = math.prod(
                (chances[person][cell] for person, cell in enumerate(outcome)), start=Fraction(1)
            )
            total += weight
            for (place, value), (a, b) in channels.items():
                count = sum(possible[cell][place] == value for cell in outcome)
                means[place, value] += weight * (Fraction(count, 3) - b) / (a - b)
        assert total == 1
        for (place, value), mean in means.items():
            assert mean == sum(share(block[place], truth[place], value) for truth in truths) / 3


def some_truths(
    possible: list[tuple[Answer, ...]],
) -> Iterator[tuple[tuple[Answer, ...], ...]]:
    """Return truths that are all alike, all different, and two alike."""
    first, last, middle = possible[0], possible[-1], possible[len(possible) // 2]
    yield first, first, first
    yield first, middle, last
    yield last, last, middle


def test_shares_have_their_known_estimates() -> None:
    gated = Cells.for_epsilon(2, FOLLOW_UPS["gate and 4"])
    several = Cells.for_epsilon(2, SEVERAL["up to 3 of 10"])
    for channel, count, estimate in (
        (gated.channel(0, 1), 700, 0.6217411786),
        (gated.channel(1, 2), 240, 0.2713035286),
        (several.channel(0, 7), 180, 0.7497336413),
    ):
        a, b = channel
        assert (count / 1000 - b) / (a - b) == pytest.approx(estimate, abs=5e-9)


def test_means_have_their_known_estimates() -> None:
    for epsilon, block, counts, estimate in (
        (math.log(3), NUMBERS["one of 2 levels"], (570, 430), 47.52),
        (2, NUMBERS["one of 3 levels"], (300, 450, 250), 18.5304470716),
    ):
        mechanism = Cells.for_epsilon(epsilon, block)
        shares = []
        for value, count in enumerate(counts):
            a, b = mechanism.channel(0, value)
            shares.append((count / 1000 - b) / (a - b))
        least, most = block[0].bounds or (0, 0)
        mean = sum(share * level for level, share in enumerate(shares)) / (len(counts) - 1)
        assert least + (most - least) * mean == pytest.approx(estimate, abs=5e-8)


@blocks
def test_answers_are_kept_below_keep_and_replaced_above(block: Block) -> None:
    mechanism = Cells.for_epsilon(1.5, block)
    *before, cells = draws(mechanism)
    for answers in all_answers(block):
        for coin, chance in product((0, mechanism.keep - 1, mechanism.keep, SCALE - 1), range(3)):
            words = [coin, *(0 for _ in before), chance % cells]
            report = mechanism.randomize(answers, Words(words))
            if coin >= mechanism.keep:
                assert report == mechanism.as_sent(mechanism.cell(chance % cells))
            else:
                assert all(share(*one) > 0 for one in zip(block, answers, report, strict=True)
                           if not one[0].picks)  # fmt: skip


def test_words_are_drawn_in_their_order() -> None:
    """The order is coin, a rounding for each number (asked or not), slot, cell."""
    two = Cells.for_epsilon(2, MIXTURES["a number after a gate, and another"])
    assert draws(two) == [7, 1, 10]
    for answers, words, report in (
        ((1, -2, 5), [0, 2, 0, 9], (1, 1, 0)),  # -2 is 3/7 of a level above the first
        ((1, -2, 5), [0, 3, 0, 9], (1, 0, 0)),
        ((0, None, 6), [0, 2, 0, 9], (0, None, 1)),
        ((0, None, 6), [two.keep, 2, 0, 9], (1, 3, 1)),
        ((0, None, 6), [two.keep, 2, 0, 1], (0, None, 1)),
    ):
        draw = Words(words)
        assert (two.randomize(answers, draw), draw.used) == (report, 4)
    picks = Cells.for_epsilon(2, SEVERAL["up to 3 of 10"])
    for answer, words, value in (
        ((4, 8), [0, 0, 12], 4),
        ((4, 8), [0, 1, 12], 8),
        ((4, 8), [0, 2, 12], None),
        ((), [0, 0, 12], None),
        ((4, 8), [picks.keep, 0, 9], 9),
        ((4, 8), [picks.keep, 0, 10], None),
        ((4, 8), [picks.keep, 0, 12], None),
    ):
        draw = Words(words)
        assert (picks.randomize((answer,), draw), draw.used) == ((value,), 3)


@blocks
def test_the_words_drawn_do_not_depend_on_the_answers(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    sizes = draws(mechanism)
    rejected = [SCALE - 1] * 2 if SCALE % sizes[0] else []
    used = set()
    for coin in (0, SCALE - 1):
        for answers in all_answers(block):
            draw = Words([coin, *rejected, *take("words", 12)])
            mechanism.randomize(answers, draw)
            used.add(draw.used)
    assert len(used) == 1 and used.pop() >= 1 + len(sizes) + len(rejected)


def test_the_widest_numbers_are_rounded_exactly() -> None:
    """Integer arithmetic keeps levels exact for the widest bounds."""
    levels = 2**20 - 1
    widest = Cells(1, (number(-MAX_BOUND, MAX_BOUND, levels),))
    for answer in (-MAX_BOUND, -MAX_BOUND + 1, -1, 0, 1, MAX_BOUND - 1, MAX_BOUND):
        exact = Fraction((answer + MAX_BOUND) * levels, 2 * MAX_BOUND)
        for u in (0, SCALE // 2, SCALE - 1):
            up = Fraction(u, SCALE) < exact - math.floor(exact)
            (level,) = widest.randomize((answer,), Words([0, u, 0]))
            assert level == math.floor(exact) + up


@pytest.mark.parametrize("size", range(1, 22))
def test_uniform_is_exact(size: int) -> None:
    """Equally many words lead to every option, because the limit is a multiple."""
    limit = SCALE - SCALE % size
    assert limit % size == 0 and SCALE - limit < size
    for word in (*range(2 * size), *range(limit - 2 * size, limit)):
        assert uniform(size, Words([word])) == word % size
    for word in range(limit, SCALE):
        draw = Words([word, word, 5])
        assert uniform(size, draw) == 5 % size
        assert draw.used == 3


def test_uniform_rejects_exactly_one_word_for_three_options() -> None:
    assert uniform(3, Words([SCALE - 2])) == 2
    draw = Words([SCALE - 1, 1])
    assert uniform(3, draw) == 1
    assert draw.used == 2


@pytest.mark.parametrize("size", [1, 2, 3, 20, 21, 100, 1000, SCALE])
def test_uniform_never_leaves_its_range(size: int) -> None:
    draw = Words(take("range", 2000))
    seen = {uniform(size, draw) for _ in range(1500)}
    assert min(seen) >= 0 and max(seen) < size
    assert len(seen) == size or size > 100


def test_the_mechanism_has_its_name() -> None:
    assert MECHANISM == "cells/1"


def test_a_mechanism_is_a_frozen_value() -> None:
    mechanism = Cells.for_epsilon(1.0, plain(2))
    with pytest.raises(AttributeError):
        mechanism.keep = 1  # type: ignore[misc]
    assert hash(mechanism) == hash(Cells(mechanism.keep, (Shape(2),)))


# --- What it refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [0, 0.0, -1, -1e-9, 8.0001, 9, math.nan, math.inf, -math.inf, True, "1", None]
)
def test_an_epsilon_out_of_range_is_refused(epsilon: Any) -> None:
    with pytest.raises(MechanismError, match="^epsilon: "):
        Cells.for_epsilon(epsilon, plain(2))


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-10, SCALE**-1])
def test_an_epsilon_that_is_too_small_is_refused(epsilon: float) -> None:
    with pytest.raises(MechanismError, match="^epsilon: .* too close to 0"):
        Cells.for_epsilon(epsilon, plain(2))


def test_the_smallest_possible_epsilons_work() -> None:
    assert Cells.for_epsilon(1e-9, plain(2)).keep == 2
    assert Cells.for_epsilon(1, plain(*[2] * 20)).keep == math.floor(
        SCALE * math.expm1(1) / (math.expm1(1) + MAX_CELLS)
    )


FEW: Any = [[], [1], [2, 0], [2, -3], [2, True], [0], [2, 2.5], [2, None]]


@pytest.mark.parametrize("sizes", FEW)
def test_questions_need_two_values(sizes: list[int]) -> None:
    with pytest.raises(MechanismError, match="^questions"):
        Cells.for_epsilon(1.0, plain(*sizes))
    with pytest.raises(MechanismError, match="^questions"):
        Cells(1000, plain(*sizes))


@pytest.mark.parametrize(
    "block",
    [
        plain(*[2] * 21),
        plain(*[20] * 5),
        plain(2**20 + 1),
        plain(*[2] * 60),
        (Shape(2), *[after(2, 0, 1)] * 20),
        (*[Shape(2)] * 30, *(after(2, i, 1) for i in range(30))),
        (Shape(2**20, picks=1),),
        (number(0, MAX_BOUND, 2**20),),
    ],
)
def test_too_many_combinations_are_refused_soon(block: Block) -> None:
    start = time.process_time()
    with pytest.raises(MechanismError, match="^questions"):
        Cells.for_epsilon(8, block)
    assert time.process_time() - start < 5


def test_many_follow_ups_are_counted_and_drawn_soon() -> None:
    block = (Shape(2), *[after(2, 0, 1)] * 19)
    start = time.process_time()
    mechanism = Cells.for_epsilon(8, block)
    assert mechanism.cells == 2**19 + 1
    assert mechanism.cell(2**19) == (1,) * 20
    assert mechanism.cell(0) == (0, *[None] * 19)
    assert time.process_time() - start < 5


WRONG_SHAPES: dict[str, Any] = {
    "bounds in the wrong order": Shape(2, bounds=(5, 5)),
    "a bound too far": Shape(2, bounds=(0, MAX_BOUND + 1)),
    "a bound that is no integer": Shape(2, bounds=(0.5, 3)),  # type: ignore[arg-type]
    "more levels than numbers": Shape(5, bounds=(0, 3)),
    "a number with picks": Shape(3, bounds=(0, 5), picks=2),
    "no levels beside the options": Shape(2, bounds=(0, 5), instead=1),
    "fewer options than none": Shape(3, bounds=(0, 5), instead=-1),
    "more picks than options": Shape(3, picks=4),
    "fewer picks than none": Shape(3, picks=-1),
    "picks that are no integer": Shape(3, picks=1.5),  # type: ignore[arg-type]
    "a follow-up of itself": after(2, 0, 1),
    "a follow-up of a later question": after(2, 1, 1),
    "a follow-up of an earlier one, from behind": after(2, -1, 1),
}


@pytest.mark.parametrize("shape", WRONG_SHAPES.values(), ids=list(WRONG_SHAPES))
def test_impossible_questions_are_refused(shape: Shape) -> None:
    with pytest.raises(MechanismError, match=r"^questions\[0\]: "):
        Cells.for_epsilon(1, (shape,))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Shape(3), Shape(3, picks=2)),
        (Shape(3), after(2, 0)),
        (Shape(3), after(2, 0, 3)),
        (Shape(3), after(2, 0, -1)),
        (number(0, 5, 2), after(2, 0, 1)),
    ],
)
def test_questions_that_do_not_go_together_are_refused(first: Shape, second: Shape) -> None:
    with pytest.raises(MechanismError, match=r"^questions\[1\]: "):
        Cells.for_epsilon(1, (first, second))


@pytest.mark.parametrize("keep", [0, -1, SCALE, SCALE + 1, 0.5, 5.0, True, None, "5"])
def test_a_keep_out_of_range_is_refused(keep: Any) -> None:
    with pytest.raises(MechanismError, match="^keep: "):
        Cells(keep, plain(2))


SECRET = 987654


@pytest.mark.parametrize(
    ("block", "answers"),
    [
        *((plain(2, 3), answers) for answers in (
            [], [0], [0, 0, 0], [2, 0], [0, 3], [-1, 0], [True, 0], [0, 1.0], ["0", 0], [None, 0],
            [[0], 0], [0, SECRET], [0, str(SECRET)],
        )),
        *((FOLLOW_UPS["gate and 4"], answers) for answers in (
            [0, 0], [1, None], [1, 4], [None, None], [None, 2], [[1], 2], [0, SECRET], [True, 1],
        )),
        *((NUMBERS["one of 2 levels"], [answer]) for answer in (
            17, 101, 18.0, True, None, "18", [18], SECRET,
        )),
        *((DECLINED["a number or an option"], [answer]) for answer in (
            6, -1, None, [], [1], [-1], [0, 0], [True], "0", [SECRET],
        )),
        *((SEVERAL["up to 3 of 10"], [answer]) for answer in (
            None, 1, "1", [0, 1, 2, 3], [1, 0], [1, 1], [10], [-1], [True], [0.0], {1}, [SECRET],
        )),
    ],
)  # fmt: skip
def test_impossible_answers_are_refused_without_repeating_them(
    block: Block, answers: list[Any]
) -> None:
    mechanism = Cells.for_epsilon(1.0, block)
    draw = Words([0] * 5)
    with pytest.raises(MechanismError, match="^answers") as refusal:
        mechanism.randomize(answers, draw)
    assert draw.used == 0
    assert str(SECRET) not in str(refusal.value)
    with pytest.raises(MechanismError, match="^answers"):
        mechanism.probability(answers, reports(block)[0])


def test_an_error_depends_on_the_place_alone() -> None:
    for block, wrong in (
        (plain(2, 3), (3, 77, SECRET, -1, "secret", 0.25)),
        ((Shape(2), number(0, 5, 2)), (-1, 6, SECRET, "secret", None, [0])),
    ):
        mechanism = Cells.for_epsilon(1.0, block)
        messages = set()
        for one in wrong:
            with pytest.raises(MechanismError) as refusal:
                mechanism.randomize([0, one], Words([0] * 4))  # type: ignore[list-item]
            messages.add(str(refusal.value))
        assert len(messages) == 1


@blocks
def test_what_is_no_report_has_no_probability(block: Block) -> None:
    mechanism = Cells.for_epsilon(2, block)
    answers = all_answers(block)[-1]
    for wrong in (-1, block[-1].size, "0", True):
        report: Any = (*reports(block)[-1][:-1], wrong)
        assert mechanism.probability(answers, report) == 0
    assert mechanism.probability(answers, (*reports(block)[0], 0)) == 0
