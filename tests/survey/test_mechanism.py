"""survey/mechanism.py: what it costs, what it does, and what it refuses; in exact arithmetic."""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from survey.mechanism import MAX_CELLS, MECHANISMS, SCALE, MechanismError, Replacement, uniform
from tests.vectors.generate import Words, take

EPSILONS = (1e-05, 0.001, 0.1, 0.5, 1.0, math.log(3), 1.5, 2, math.log(9), 3.3, 4, 5.5, 7.999, 8)
SHAPES = ((2,), (3,), (5,), (20,), (2, 2), (2, 3), (3, 2), (2, 2, 2, 2), (2, 3, 5))
GRID = [(epsilon, sizes) for epsilon in EPSILONS for sizes in SHAPES]
SMALL = [(math.log(3), (2,)), (0.5, (2, 2)), (1.5, (2, 3)), (1.0, (3,)), (2, (4,)), (3, (5,))]


def cells(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*map(range, sizes)))


def matrix(mechanism: Replacement) -> list[list[Fraction]]:
    """P(report | answers): a row for all answers, a column for all reports."""
    return [
        [mechanism.probability(answers, report) for report in cells(mechanism.sizes)]
        for answers in cells(mechanism.sizes)
    ]


def exact_channel(mechanism: Replacement, question: int) -> tuple[Fraction, Fraction]:
    size = mechanism.sizes[question]
    b = Fraction(SCALE - mechanism.keep, SCALE * size)
    return Fraction(mechanism.keep, SCALE) + b, b


# --- What it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "sizes", "keep"),
    [(math.log(3), [2], 2147483648), (2, [2, 2], 2641316663), (4, [2, 2, 2, 2], 3307592247)],
)
def test_keep_has_its_known_values(epsilon: float, sizes: list[int], keep: int) -> None:
    assert Replacement.for_epsilon(epsilon, sizes).keep == keep


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
    keep = Replacement.for_epsilon(epsilon, [2]).keep
    assert (SCALE + keep) // 2 == threshold


@pytest.mark.parametrize(("epsilon", "sizes"), GRID)
def test_the_loss_of_the_whole_channel_is_the_stated_one_and_not_above(
    epsilon: float, sizes: tuple[int, ...]
) -> None:
    mechanism = Replacement.for_epsilon(epsilon, sizes)
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


@pytest.mark.parametrize(("epsilon", "sizes"), GRID)
def test_keep_is_the_largest_within_epsilon(epsilon: float, sizes: tuple[int, ...]) -> None:
    keep = Replacement.for_epsilon(epsilon, sizes).keep + 1
    with localcontext() as context:
        context.prec = 100
        gain = Decimal(epsilon).exp() - 1
        assert keep * math.prod(sizes) > gain * (SCALE - keep)


def test_whole_numbers_and_floats_are_the_same_epsilon() -> None:
    assert Replacement.for_epsilon(2, [2]) == Replacement.for_epsilon(2.0, (2,))


# --- What it does ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "sizes"), GRID)
def test_the_channel_of_a_question_is_the_marginal_of_the_whole(
    epsilon: float, sizes: tuple[int, ...]
) -> None:
    mechanism = Replacement.for_epsilon(epsilon, sizes)
    rows, reports = matrix(mechanism), cells(sizes)
    for question, size in enumerate(sizes):
        a, b = exact_channel(mechanism, question)
        assert mechanism.channel(question) == (float(a), float(b))
        for answers, row in zip(reports, rows, strict=True):
            for option in range(size):
                reported = sum(
                    p for report, p in zip(reports, row, strict=True) if report[question] == option
                )
                assert reported == (a if answers[question] == option else b)


@pytest.mark.parametrize(("epsilon", "sizes"), SMALL)
def test_the_estimate_is_exactly_unbiased_for_three_respondents(
    epsilon: float, sizes: tuple[int, ...]
) -> None:
    """Every combination of three reports, weighted by its probability: no simulation, no rounding.

    The mean of (count/n - b)/(a - b) over all of them is the true share, for every question and
    every option, whatever the three answered.
    """
    mechanism = Replacement.for_epsilon(epsilon, sizes)
    possible = cells(sizes)
    for truths in some_truths(possible):
        # The mean over joint outcomes; respondents are independent, so probabilities multiply.
        means: dict[tuple[int, int], Fraction] = {}
        total = Fraction(0)
        chances = [[mechanism.probability(truth, cell) for cell in possible] for truth in truths]
        for outcome in product(range(len(possible)), repeat=3):
            weight = math.prod(
                (chances[person][cell] for person, cell in enumerate(outcome)), start=Fraction(1)
            )
            total += weight
            for question, size in enumerate(sizes):
                a, b = exact_channel(mechanism, question)
                for option in range(size):
                    count = sum(possible[cell][question] == option for cell in outcome)
                    estimate = (Fraction(count, 3) - b) / (a - b)
                    key = question, option
                    means[key] = means.get(key, Fraction(0)) + weight * estimate
        assert total == 1
        for (question, option), mean in means.items():
            assert mean == Fraction(sum(truth[question] == option for truth in truths), 3)


def some_truths(possible: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All alike, all different, and two of one kind."""
    first, last, middle = possible[0], possible[-1], possible[len(possible) // 2]
    yield first, first, first
    yield first, middle, last
    yield last, last, middle


@pytest.mark.parametrize("sizes", [(2,), (2, 3), (5,), (2, 2, 2)])
def test_answers_are_kept_below_keep_and_replaced_above(sizes: tuple[int, ...]) -> None:
    mechanism = Replacement.for_epsilon(1.5, sizes)
    for answers, chance in product(cells(sizes), repeat=2):
        for coin in (0, mechanism.keep - 1, mechanism.keep, SCALE - 1):
            draw = Words([coin, *chance])
            report = mechanism.randomize(answers, draw)
            assert report == (answers if coin < mechanism.keep else chance)
            assert draw.used == 1 + len(sizes)


@pytest.mark.parametrize("sizes", [(3,), (2, 3, 5), (20, 7)])
def test_the_words_drawn_do_not_depend_on_the_answers(sizes: tuple[int, ...]) -> None:
    mechanism = Replacement.for_epsilon(2, sizes)
    rejected = [SCALE - 1] * 2
    used = set()
    for coin in (0, SCALE - 1):
        for answers in cells(sizes):
            draw = Words([coin, *rejected, *take("words", 8)])
            mechanism.randomize(answers, draw)
            used.add(draw.used)
    assert len(used) == 1 and used.pop() > 1 + len(sizes)


@pytest.mark.parametrize("size", range(1, 22))
def test_uniform_is_exact(size: int) -> None:
    """As many words lead to every option: those below the limit, and the limit is a multiple."""
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


@pytest.mark.parametrize("size", [1, 2, 3, 20, 21, 100, 1000])
def test_uniform_never_leaves_its_range(size: int) -> None:
    draw = Words(take("range", 2000))
    seen = {uniform(size, draw) for _ in range(1500)}
    assert min(seen) >= 0 and max(seen) < size
    assert len(seen) == size or size > 100


def test_a_mechanism_is_registered_under_its_name() -> None:
    assert list(MECHANISMS.items()) == [("replace/1", Replacement)]


def test_a_mechanism_is_a_frozen_value() -> None:
    mechanism = Replacement.for_epsilon(1.0, [2])
    with pytest.raises(AttributeError):
        mechanism.keep = 1  # type: ignore[misc]
    assert hash(mechanism) == hash(Replacement(mechanism.keep, (2,)))


# --- What it refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [0, 0.0, -1, -1e-9, 8.0001, 9, math.nan, math.inf, -math.inf, True, "1", None]
)
def test_an_epsilon_out_of_range_is_refused(epsilon: Any) -> None:
    with pytest.raises(MechanismError, match="^epsilon: "):
        Replacement.for_epsilon(epsilon, [2])


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-10, SCALE**-1])
def test_an_epsilon_that_is_too_small_is_refused(epsilon: float) -> None:
    with pytest.raises(MechanismError, match="^epsilon: .* too small"):
        Replacement.for_epsilon(epsilon, [2])


def test_the_smallest_possible_epsilons_work() -> None:
    assert Replacement.for_epsilon(1e-9, [2]).keep == 2
    assert Replacement.for_epsilon(1, [2] * 20).keep == math.floor(
        SCALE * math.expm1(1) / (math.expm1(1) + MAX_CELLS)
    )


@pytest.mark.parametrize("sizes", [[], [1], [2, 0], [2, -3], [2, True], [0]])
def test_questions_need_two_options(sizes: list[int]) -> None:
    with pytest.raises(MechanismError, match="^sizes: "):
        Replacement.for_epsilon(1.0, sizes)
    with pytest.raises(MechanismError, match="^sizes: "):
        Replacement(1000, tuple(sizes))


@pytest.mark.parametrize("sizes", [[2] * 21, [20] * 5, [2**20 + 1], [2] * 60])
def test_too_many_combinations_are_refused(sizes: list[int]) -> None:
    with pytest.raises(MechanismError, match="^sizes: .* combinations"):
        Replacement.for_epsilon(8, sizes)


@pytest.mark.parametrize("keep", [0, -1, SCALE, SCALE + 1, 0.5, 5.0, True, None, "5"])
def test_a_keep_out_of_range_is_refused(keep: Any) -> None:
    with pytest.raises(MechanismError, match="^keep: "):
        Replacement(keep, (2,))


@pytest.mark.parametrize(
    "answers",
    [[], [0], [0, 0, 0], [2, 0], [0, 3], [-1, 0], [True, 0], [0, 1.0], ["0", 0], [None, 0]],
)
def test_impossible_answers_are_refused(answers: list[Any]) -> None:
    mechanism = Replacement.for_epsilon(1.0, [2, 3])
    draw = Words([0] * 3)
    with pytest.raises(MechanismError, match="^answers"):
        mechanism.randomize(answers, draw)
    assert draw.used == 0


def test_an_error_repeats_no_answer() -> None:
    mechanism = Replacement.for_epsilon(1.0, [2, 3])
    messages = set()
    for wrong in (3, 77, 987654, -1, "secret", 0.25):
        with pytest.raises(MechanismError) as refusal:
            mechanism.randomize([0, wrong], Words([0] * 3))  # type: ignore[list-item]
        messages.add(str(refusal.value))
    assert len(messages) == 1
