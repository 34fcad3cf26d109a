"""survey/design/: the frozen design, the choice of blocks, and the best grouping."""

import hashlib
import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from survey.design import (
    BACKGROUND_EPSILON,
    MAX_OPTIONS,
    MAX_QUESTIONS,
    Background,
    Design,
    DesignError,
    Option,
    Question,
    block_epsilon,
    build,
    canonical_json,
    make_block,
    options_from_texts,
)
from survey.design import grouping as groupings
from survey.design.grouping import Item
from survey.design.kinds.choice import Choice
from survey.design.mechanism import MAX_CELLS, MAX_EPSILON, SCALE, Cells
from survey.design.questions import shapes
from tests.vectors.generate import Words, after, designs, number, question, questions, several

KNOWN = designs()


# --- The frozen form ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KNOWN)
def test_a_design_survives_its_canonical_form(name: str) -> None:
    design = KNOWN[name]
    again = Design.from_json(design.canonical)
    assert again == design
    assert again.canonical == design.canonical
    assert again.hash == design.hash


@pytest.mark.parametrize("name", KNOWN)
def test_the_order_and_the_spaces_of_json_do_not_matter(name: str) -> None:
    design = KNOWN[name]
    turned = {key: value for key, value in reversed(json.loads(design.canonical).items())}
    assert Design.from_json(json.dumps(turned, indent=4, ensure_ascii=True)) == design


def test_the_hash_of_a_design_never_changes() -> None:
    """It must never change, because existing reports contain it."""
    design = build(math.log(3), [Choice("q1", "Äh?", options_from_texts(["No", "Yes"]))])
    assert design.canonical == (
        '{"ask":1,"blocks":[{"epsilon":1.0986122886681098,"keep":2147483648,"key":"b1",'
        '"questions":[{"key":"q1","kind":"choice","options":[{"key":"no","text":"No"},'
        '{"key":"yes","text":"Yes"}],"text":"Äh?"}]}],"epsilon":1.0986122886681098,'
        '"mechanism":"cells/1","scale":4294967296}'
    )
    assert design.hash == "sha256:" + hashlib.sha256(design.canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.0000000000000002},
        {"ask": 2},
        {"background": []},
        {"background": [Background(question("age", 3), 2.5)]},
        {"questions": [question("q1", 2, "Question q1!"), question("q2", 2)]},
        {"blocks": [["q2"], ["q1"]]},
        {"questions": [question("q1", 3), question("q2", 2)]},
        {"blocks": [["q1", "q2"]], "ask": 1},
    ],
)
def test_the_hash_changes_with_anything_that_is_promised(change: dict[str, Any]) -> None:
    promised: dict[str, Any] = {
        "epsilon": 1.0,
        "questions": questions(2, 2),
        "background": [Background(question("age", 3))],
        "blocks": [["q1"], ["q2"]],
        "ask": 1,
    }
    assert build(**promised).hash == build(**promised).hash
    assert build(**{**promised, **change}).hash != build(**promised).hash


def test_numbers_and_texts_have_one_canonical_form() -> None:
    for value, text in (
        (2.0, "2"),
        (0.1, "0.1"),
        (1e-05, "0.00001"),
        (1e-07, "1e-7"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        ('ä\u2028😀\x1f\n"\\/', '"ä\u2028😀\\u001f\\n\\"\\\\/"'),
        ({"b": [], "a": {}}, '{"a":{},"b":[]}'),
    ):
        assert canonical_json(value) == text
        assert json.loads(text) == value


def test_numpy_numbers_are_accepted() -> None:
    assert build(np.float64(2.0), questions(2, 2)).hash == build(2, questions(2, 2)).hash


@pytest.mark.parametrize(("key", "value"), [("mechanism", "cells/2"), ("scale", 2**31)])
def test_an_unknown_mechanism_or_scale_is_not_read(key: str, value: Any) -> None:
    data = json.loads(KNOWN["2 x 2 at 2"].canonical)
    with pytest.raises(DesignError):
        Design.from_json(json.dumps({**data, key: value}))


# --- Who is asked what ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "ask"), [(blocks, ask) for blocks in range(1, 6) for ask in range(1, blocks + 1)]
)
def test_every_set_of_blocks_is_equally_likely(blocks: int, ask: int) -> None:
    """uniform(n) is word % n for small words, so these words give every outcome once."""
    asked = questions(*[2] * blocks)
    design = build(1.0, asked, blocks=[[q.key] for q in asked], ask=ask)
    chosen = Counter(
        tuple(block.key for block in design.choose(Words(words)))
        for words in product(*(range(blocks - i) for i in range(ask)))
    )
    keys = [block.key for block in design.blocks]
    assert set(chosen) == set(combinations(keys, ask))
    assert len(set(chosen.values())) == 1


def test_everybody_is_asked_every_background_question() -> None:
    background = [Background(question("job", 4)), Background(question("age", 3), 2)]
    asked = questions(2, 2, 2)
    design = build(1.0, asked, background, blocks=[[q.key] for q in asked], ask=2)
    assert [block.key for block in design.background_blocks] == ["g1", "g2"]
    assert [block.key for block in design.sensitive_blocks] == ["b1", "b2", "b3"]
    for words in product(range(3), range(2)):
        draw = Words(words)
        chosen = [block.key for block in design.choose(draw)]
        assert chosen[2:] == ["g1", "g2"] and len(set(chosen) & {"b1", "b2", "b3"}) == 2
        assert draw.used == 2  # none for the background


def test_choosing_rejects_the_words_that_would_favour_a_block() -> None:
    design = build(1.0, questions(2, 2, 2), blocks=[["q1"], ["q2"], ["q3"]], ask=1)
    draw = Words([SCALE - 1, SCALE - 1, 1])
    assert [block.key for block in design.choose(draw)] == ["b2"]
    assert draw.used == 3


# --- What it costs --------------------------------------------------------------------------------


def test_the_shares_never_add_up_to_more_than_the_whole() -> None:
    rounded_down = 0
    for epsilon in (0.1, 1.0, 1.1, math.log(3), 2.2, 3.3, 7.7, 100 / 3):
        for ask in range(1, 101):
            share = block_epsilon(epsilon, ask)
            assert Fraction(share) * ask <= Fraction(epsilon)
            assert share == pytest.approx(epsilon / ask, rel=1e-15)
            rounded_down += share < epsilon / ask
    assert rounded_down > 100  # the rounding was needed


@pytest.mark.parametrize("name", KNOWN)
def test_blocks_cost_what_is_stated_and_add_up_to_it(name: str) -> None:
    design = KNOWN[name]
    for block in design.blocks:
        assert block.mechanism == Cells.for_epsilon(block.epsilon, shapes(block.questions))
        assert block.mechanism.epsilon <= block.epsilon
    dearest = sorted((Fraction(block.epsilon) for block in design.sensitive_blocks), reverse=True)
    assert sum(dearest[: design.ask]) <= Fraction(design.epsilon)


def test_background_answers_cost_their_own_and_the_report_all_of_it() -> None:
    background = [Background(question("job", 4)), Background(question("age", 3), 2.5)]
    design = build(1.1, questions(2, 3), background)
    assert [block.epsilon for block in design.background_blocks] == [BACKGROUND_EPSILON, 2.5]
    assert design.epsilon == 1.1 and design.report_epsilon == pytest.approx(1.1 + 3 + 2.5)
    alone = build(1.1, questions(2, 3))
    assert design.sensitive_blocks == alone.blocks  # they take nothing from the others
    assert alone.report_epsilon == alone.epsilon
    assert [one.key for one in design.background] == ["job", "age"]
    assert [one.key for one in design.questions] == ["q1", "q2", "job", "age"]


def test_the_kinds_of_questions_have_their_shapes() -> None:
    gate = question("q1", 3)
    asked = (gate, after("q2", 4, "q1", "option-1", "option-3"), number("q3", -3, 40, 2))
    first, second, third = shapes(asked)
    assert (first.size, first.only_if, first.bounds, first.picks) == (3, None, None, 0)
    assert (second.size, second.only_if) == (4, (0, frozenset({0, 2})))
    assert (third.size, third.bounds) == (3, (-3, 40))
    assert shapes([several("q4", 5, 2)])[0].picks == 2
    assert make_block("b1", 2.0, asked).mechanism.cells == (1 + 2 * 4) * 3


# --- Which blocks are best ------------------------------------------------------------------------


def plan(
    sizes: tuple[int, ...], epsilon: float, ask: int | None = None
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The best grouping of plain questions with these numbers of options, and how many to ask."""
    found = groupings.plan(tuple(map(Item, sizes)), epsilon, ask)
    return found.blocks, found.ask


def variance_factor(
    grouping: Sequence[Sequence[int]], sizes: tuple[int, ...], epsilon: float, ask: int
) -> float:
    """The mean over questions of n Var / (variance without privacy, asking everything)."""
    items = [Item(size) for size in sizes]
    return groupings.variance_factor(grouping, items, epsilon, ask) / len(sizes)


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield every way to divide the items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [first, *block], *blocks[i + 1 :]]


def best_of_all(sizes: tuple[int, ...], epsilon: float) -> float:
    """Return the smallest variance factor over all groupings and numbers of blocks asked."""
    least = math.ceil(epsilon / MAX_EPSILON)
    return min(
        variance_factor(grouping, sizes, epsilon, ask)
        for grouping in partitions(range(len(sizes)))
        if all(math.prod(sizes[i] for i in block) <= MAX_CELLS for block in grouping)
        for ask in range(least, len(grouping) + 1)
    )


def mixed_surveys() -> list[tuple[tuple[int, ...], float]]:
    """Return surveys of up to 6 questions: some hard ones and 300 random ones (seeded)."""
    hard = [
        ((7, 21, 3, 3, 3, 7), 5.0),
        ((21, 7, 3, 7, 3, 3), 10.0),
        ((4, 10, 21, 4, 2, 5), 5.0),
        ((2, 21, 2, 7, 10, 5), 10.0),
        ((7, 20, 3, 5, 3, 4), 10.0),
        ((2, 5, 21, 4, 4, 7), 5.0),
    ]
    chance = random.Random(20)
    some = [
        (
            tuple(
                chance.choice((2, 2, 2, 3, 4, 5, 7, 11, 21)) for _ in range(chance.randint(1, 6))
            ),
            chance.choice((0.1, 0.5, 1.0, 1.4, 2.0, 2.7, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 16.0)),
        )
        for _ in range(300)
    ]
    return hard + [(sizes, epsilon) for sizes, epsilon in some if epsilon <= 8 * len(sizes)]


@pytest.mark.slow
def test_the_plan_is_the_best_of_all_groupings() -> None:
    surveys = mixed_surveys()
    equal = 0
    for sizes, epsilon in surveys:
        grouping, ask = plan(sizes, epsilon)
        assert sorted(i for block in grouping for i in block) == list(range(len(sizes)))
        factor, best = variance_factor(grouping, sizes, epsilon, ask), best_of_all(sizes, epsilon)
        assert factor <= best * 1.001, (sizes, epsilon, grouping, ask, factor / best)
        equal += factor <= best * (1 + 1e-9)
    assert equal >= 0.99 * len(surveys)


@pytest.mark.parametrize(
    ("epsilon", "count", "block", "ask", "variance"),
    [
        (1, 2, 1, 1, 2.341),
        (1, 10, 1, 1, 11.71),
        (1, 20, 1, 1, 23.41),
        (2, 2, 2, 1, 0.661),
        (2, 10, 2, 1, 3.305),
        (2, 20, 2, 1, 6.610),
        (4, 2, 2, 1, 0.289),
        (4, 20, 4, 1, 2.108),
    ],
)
def test_plans_for_yes_no_questions_have_their_known_values(
    epsilon: float, count: int, block: int, ask: int, variance: float
) -> None:
    """n Var of a question with equal shares: a quarter of the factor. Three digits are known."""
    sizes = (2,) * count
    grouping, asked = plan(sizes, epsilon)
    assert asked == ask
    assert {len(members) for members in grouping} == {block}
    found = variance_factor(grouping, sizes, epsilon, ask) / 4
    assert found == pytest.approx(variance, abs=5e-4 * max(1, variance))


@pytest.mark.parametrize(
    ("epsilon", "variance"), [(1, 25.17), (2, 6.417), (4, 1.732)]
)  # fmt: skip
def test_asking_five_questions_one_by_one_has_its_known_variance(
    epsilon: float, variance: float
) -> None:
    alone = [[i] for i in range(5)]
    assert variance_factor(alone, (2,) * 5, epsilon, 5) / 4 == pytest.approx(variance, rel=5e-4)


@pytest.mark.parametrize(
    ("block", "until"), [(1, 1.342454), (2, 2.694489), (3, 3.800260), (4, 4.792099), (5, 5.717919)]
)
def test_the_best_block_grows_with_epsilon(block: int, until: float) -> None:
    """60 questions divide evenly into blocks of 1 to 6; the best size changes at these values."""
    sizes = (2,) * 60
    # Blocks of two sizes may be best close to the change, so look at equal blocks alone.
    equal = {
        m: [list(range(i, i + m)) for i in range(0, 60, m)] for m in (1, 2, 3, 4, 5, 6)
    }  # fmt: skip
    for epsilon, expected in ((until - 1e-4, block), (until + 1e-4, block + 1)):
        factors = {m: variance_factor(equal[m], sizes, epsilon, 1) for m in equal}
        assert min(factors, key=lambda m: factors[m]) == expected
        grouping, ask = plan(sizes, epsilon)
        assert variance_factor(grouping, sizes, epsilon, ask) <= factors[expected] * (1 + 1e-12)


def test_the_variance_factor_is_that_of_the_mechanism() -> None:
    """1/c^2 with the real keep probability, times the share of people who are asked."""
    sizes = (2, 3, 5)
    mechanism = Cells.for_epsilon(1.5, shapes(questions(*sizes)))
    c = mechanism.keep / SCALE
    assert variance_factor([[0, 1, 2]], sizes, 1.5, 1) == pytest.approx(c**-2, rel=1e-8)
    a, b = mechanism.channel(2)
    share = 1 / 5
    reported = b + (a - b) * share
    variance = reported * (1 - reported) / (a - b) ** 2
    assert variance / (share * (1 - share)) == pytest.approx(c**-2, rel=1e-12)


def test_planning_is_quick_even_for_many_kinds_of_questions() -> None:
    sizes = tuple(2 + i % 20 for i in range(40))
    start = time.process_time()
    plan(sizes, 2.0000001)
    assert time.process_time() - start < 2


def test_a_plan_can_be_overruled() -> None:
    asked = questions(2, 2, 2, 2)
    design = build(2.0, asked, blocks=[["q4"], ["q1", "q2", "q3"]], ask=2)
    assert [[q.key for q in block.questions] for block in design.blocks] == [
        ["q4"],
        ["q1", "q2", "q3"],
    ]
    assert (design.ask, design.blocks[0].epsilon) == (2, 1.0)
    assert build(2.0, asked, ask=3).ask == 3
    assert build(2.0, asked, blocks=[["q1"], ["q2"], ["q3"], ["q4"]]).ask == 1


# --- What is refused, and why ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [0, -1, math.nan, math.inf, -math.inf, True, "2", None, 1e-200, 5e-324, 1e-11]
)
def test_a_meaningless_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(DesignError) as refusal:
        build(epsilon, questions(2, 2))
    assert "epsilon" in str(refusal.value)


@pytest.mark.parametrize(
    ("epsilon", "ask", "count"), [(16.1, 2, 3), (8.5, None, 1), (1000.0, 1, 2), (1e308, None, 3)]
)
def test_an_epsilon_above_the_ceiling_of_a_block_is_refused(
    epsilon: float, ask: int | None, count: int
) -> None:
    with pytest.raises(DesignError) as refusal:
        build(epsilon, questions(*[2] * count), ask=ask)
    assert refusal.value.where == "epsilon"
    with pytest.raises(DesignError):
        build(
            epsilon, questions(*[2] * count), blocks=[[f"q{i + 1}"] for i in range(count)], ask=ask
        )


@pytest.mark.parametrize("ask", [0, -1, 3, 0.5, True, "1"])
def test_an_impossible_ask_is_refused(ask: Any) -> None:
    for blocks in (None, [["q1"], ["q2"]]):
        with pytest.raises(DesignError) as refusal:
            build(2.0, questions(2, 2), blocks=blocks, ask=ask)
        assert refusal.value.where == "ask"


@pytest.mark.parametrize(
    ("blocks", "what"),
    [
        ([], "at least one question"),
        ([["q1", "q2"], []], "at least one question"),
        ([["q1"]], "'q2' is in no block"),
        ([["q1", "q2"], ["q1"]], "'q1' is in two blocks"),
        ([["q1", "q1", "q2"]], "'q1' is in two blocks"),
        ([["q1", "q2", "q9"]], "no question 'q9'"),
    ],
)
def test_blocks_must_hold_every_question_once(blocks: list[list[str]], what: str) -> None:
    with pytest.raises(DesignError, match=what) as refusal:
        build(2.0, questions(2, 2), blocks=blocks)
    assert refusal.value.where == "blocks"


def test_a_block_with_too_many_combinations_is_named() -> None:
    asked = questions(*[2] * 21)
    with pytest.raises(DesignError, match="combinations") as refusal:
        build(8.0, asked, blocks=[[q.key for q in asked]], ask=1)
    assert refusal.value.where.startswith("block b1 (q1, q2, ")


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ([], "at least one question"),
        ([question("q1", 2), question("q1", 3)], "used twice"),
        ([question("q1", 1)], "options"),
        ([question("q1", MAX_OPTIONS + 2)], "options"),
        (questions(*[2] * (MAX_QUESTIONS + 1)), f"at most {MAX_QUESTIONS}"),
        ([Choice("q1", "?", (Option("a", "A"), Option("a", "B")))], "same key"),
    ],
)
def test_impossible_questions_are_refused(asked: list[Question], what: str) -> None:
    with pytest.raises(DesignError, match=what):
        build(2.0, asked)


@pytest.mark.parametrize("size", [1, MAX_OPTIONS + 2])
def test_background_questions_with_too_few_or_too_many_options_are_refused(size: int) -> None:
    with pytest.raises(DesignError, match="^background age: "):
        build(2.0, questions(2), [Background(question("age", size))])
    design = build(2.0, questions(2), [Background(question("age", MAX_OPTIONS + 1))])
    assert design.background[0].size == MAX_OPTIONS + 1


def test_a_background_question_with_the_key_of_another_is_refused() -> None:
    for background in (["q1"], ["age", "age"]):
        with pytest.raises(DesignError, match="^background: .* used twice"):
            build(2.0, questions(2), [Background(question(key, 3)) for key in background])


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, True, "3", None, 1e-11, 8.1])
def test_a_background_answer_with_an_impossible_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(DesignError, match="age.*epsilon|^block g1 .*epsilon"):
        build(2.0, questions(2), [Background(question("age", 3), epsilon)])


def test_there_are_no_more_questions_than_allowed_with_the_background() -> None:
    most = questions(*[2] * (MAX_QUESTIONS - 1))
    assert len(build(2.0, most, [Background(question("age", 3))]).questions) == MAX_QUESTIONS
    with pytest.raises(DesignError, match=f"at most {MAX_QUESTIONS} in total"):
        build(2.0, [*most, question("more", 2)], [Background(question("age", 3))])


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ([after("q2", 2, "q1", "yes")], "q2: must depend"),
        ([question("q1", 2), after("q2", 2, "q1", "maybe")], "q2: must depend"),
        ([number("q1", 0, 5, 2), after("q2", 2, "q1", "yes")], "q2: must depend"),
        ([question("q1", 2), several("q2", 3, 2)], "multiple choice must be alone"),
        ([number("q1", 5, 5, 1)], "two whole numbers in order"),
        ([number("q1", 0, 3, 4)], "more levels than numbers"),
    ],
)
def test_questions_that_no_block_can_hold_are_refused(asked: list[Question], what: str) -> None:
    with pytest.raises(DesignError, match=what):
        make_block("b1", 2.0, tuple(asked))


def test_multiple_choice_says_how_many_may_be_picked() -> None:
    with pytest.raises(DesignError, match="q1: multiple choice needs"):
        several("q1", 3, 0)


@pytest.mark.parametrize("key", ["", "-a", "_a", "a b", "ä", "a\n", "a" * 51, "__proto__"])
def test_bad_keys_are_refused(key: str) -> None:
    with pytest.raises(DesignError):
        question(key, 2)


@pytest.mark.parametrize("text", [" ", "\n\t"])
def test_a_question_needs_a_text(text: str) -> None:
    with pytest.raises(DesignError, match="empty"):
        question("q1", 2, text)


def test_a_text_that_cannot_be_written_in_utf_8_is_refused() -> None:
    with pytest.raises(DesignError):
        build(1.0, [question("q1", 2, "half a character: \ud800")])


@pytest.mark.parametrize(
    ("texts", "keys"),
    [
        (["No", "Yes"], ["no", "yes"]),
        (["Prefer not to say"], ["prefer-not-to-say"]),
        (["Yes!", "yes", " YES "], ["yes", "yes-2", "yes-3"]),
        (["a", "a-2", "a"], ["a", "a-2", "a-3"]),
        (["", "…", "--"], ["option", "option-2", "option-3"]),
        (["18–29", "30+", "Ja, öfter", "你好", "a_b"], ["18-29", "30", "ja-öfter", "你好", "a-b"]),
    ],
)
def test_option_keys_are_made_from_texts(texts: list[str], keys: list[str]) -> None:
    options = options_from_texts(texts)
    assert [option.key for option in options] == keys
    assert [option.text for option in options] == texts
