"""Follow-ups: which questions share a block, and what that costs."""

import math
import random
from typing import Any

import pytest

from survey.design import KINDS, Design, DesignError, Question, build
from survey.design.follow_ups import choose_blocks, spread, trees
from survey.design.kinds.several import Several
from survey.design.kinds.yes_no import YesNo
from survey.design.mechanism import SCALE
from survey.design.questions import options_from_texts


def question(key: str, size: int, gate: str = "", *wanted: str) -> Question:
    options = options_from_texts([f"o{i}" for i in range(size)])
    return KINDS["choice"](key, "?", options, (gate, wanted) if gate else None)


def gate(key: str = "gate") -> YesNo:
    return YesNo(key, "?", options_from_texts(["No", "Yes"]))


def family(*sizes: int, key: str = "gate") -> list[Question]:
    """A gate with follow-ups of these sizes."""
    return [gate(key), *(question(f"{key}-{size}", size, key, "yes") for size in sizes)]


def blocks_of(design: Design) -> list[list[str]]:
    return [[one.key for one in block.questions] for block in design.sensitive_blocks]


def test_one_block_per_follow_up_beats_one_large_block() -> None:
    """The factors of the reference: 9.5, 7.9 and 6.5 against 24.1, at ε = 2."""
    asked = family(4, 3, 2)
    apart = [[asked[0], one] for one in asked[1:]]
    factors = [spread([block], 2.0, 1) for block in apart]
    # Alone, a block has its gate and one follow-up, and is asked of everybody.
    assert [3 * factor / 2 for factor in factors] == pytest.approx([9.5, 7.9, 6.5], abs=0.05)
    assert spread([asked], 2.0, 1) / 4 == pytest.approx(24.1, abs=0.05)
    design = build(2.0, asked)
    assert blocks_of(design) == [["gate", "gate-4"], ["gate", "gate-3"], ["gate", "gate-2"]]
    assert design.ask == 1


def test_at_a_large_epsilon_one_block_is_better() -> None:
    design = build(6.0, [gate(), question("a", 2, "gate", "yes"), question("b", 2, "gate", "yes")])
    assert blocks_of(design) == [["gate", "a", "b"]]


def test_a_follow_up_of_a_follow_up_brings_both_its_gates() -> None:
    asked = [
        gate(), question("a", 3, "gate", "yes"), question("b", 4, "a", "o1"),
        question("c", 4, "gate", "yes"),
    ]  # fmt: skip
    assert blocks_of(build(1.5, asked)) == [["gate", "a", "b"], ["gate", "c"]]
    assert [[one.key for one in tree] for tree in trees(asked)] == [["gate", "a", "b", "c"]]


def test_nobody_is_asked_a_gate_in_two_blocks() -> None:
    for ask in (2, 3):
        design = build(2.0, [*family(4, 3), question("x", 2), question("y", 2)], ask=ask)
        assert design.ask == ask
        assert max(len(places) for places in design.places.values()) == 1


def test_multiple_choice_is_alone_in_its_block() -> None:
    asked = [Several("s", "?", question("s", 5).options, picks=2), question("a", 2), gate("b")]
    design = build(2.0, asked)
    assert blocks_of(design) == [["s"], ["a", "b"]]
    with pytest.raises(DesignError, match="multiple choice must be alone"):
        build(2.0, asked, blocks=[["s", "a"], ["b"]])


def test_a_gate_in_several_blocks_is_one_question() -> None:
    design = build(2.0, family(4, 3, 2))
    assert [one.key for one in design.questions] == ["gate", "gate-4", "gate-3", "gate-2"]
    assert [block.key for block, _ in design.places["gate"]] == ["b1", "b2", "b3"]
    assert Design.from_json(design.canonical) == design


@pytest.mark.parametrize(
    ("blocks", "ask", "where", "what"),
    [
        ([["gate"], ["gate-4"], ["gate-3"]], None, "blocks", "'gate-4' depends on 'gate'"),
        ([["gate", "gate-4"], ["gate-3"]], None, "blocks", "put both into the same block"),
        ([["gate", "gate-4", "gate-3"], ["gate"]], None, "blocks", "'gate' is in two blocks"),
        ([["gate", "gate-4"], ["gate", "gate-3", "gate-4"]], None, "blocks", "in two blocks"),
        ([["gate", "gate-4"], ["gate", "gate-3"]], 2, "ask", "must be 1, not 2"),
    ],
)
def test_authors_blocks_keep_gates_and_follow_ups_together(
    blocks: list[list[str]], ask: int | None, where: str, what: str
) -> None:
    with pytest.raises(DesignError) as refusal:
        build(2.0, family(4, 3), blocks=blocks, ask=ask)
    assert refusal.value.where == where and what in refusal.value.what


@pytest.mark.parametrize("blocks", [[["gate", "gate-4", "gate-3"]],
                                    [["gate-4", "gate"], ["gate", "gate-3"]]])  # fmt: skip
def test_authors_may_divide_follow_ups_or_not(blocks: list[list[str]]) -> None:
    design = build(2.0, family(4, 3), blocks=blocks)
    assert [set(block) for block in blocks_of(design)] == [set(block) for block in blocks]
    assert all(block[0] == "gate" for block in blocks_of(design))


def test_follow_ups_with_too_many_combinations_are_named() -> None:
    many: list[Any] = [gate()]
    for i in range(6):
        many.append(question(f"q{i}", 20, many[-1].key, many[-1].options[-1].key))
    wide = [gate(), *(question(f"q{i}", 20, "gate", "yes") for i in range(6))]
    build(2.0, many)  # each after one option of the one before: 116 cells
    build(2.0, wide)  # divided
    with pytest.raises(DesignError, match="combinations of answers"):
        build(2.0, wide, ask=2)
    with pytest.raises(DesignError, match="combinations of answers"):
        build(2.0, wide, blocks=[[one.key for one in wide]])


def test_the_choice_is_no_worse_than_one_block_or_one_per_follow_up() -> None:
    chance = random.Random(16)
    for _ in range(60):
        sizes = [chance.choice((2, 3, 4, 6)) for _ in range(chance.randint(1, 3))]
        asked: list[Question] = [gate()]
        asked += [question(f"f{i}", size, "gate", "yes") for i, size in enumerate(sizes)]
        epsilon = chance.choice((0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0))
        found = choose_blocks(asked, epsilon, 1)
        mine = spread([[asked[i] for i in block] for block in found.blocks], epsilon, found.ask)
        whole = spread([asked], epsilon, 1)
        apart = spread([[asked[0], one] for one in asked[1:]], epsilon, 1)
        assert mine <= min(whole, apart) * (1 + 1e-9)


def test_the_variance_of_a_follow_up_is_that_of_the_mechanism() -> None:
    """1/c^2 per person asked, and the number of blocks for those who are not asked this one."""
    design = build(2.0, family(4, 3, 2))
    c = [block.keep / SCALE for block in design.blocks]
    of_follow_ups = 3 * sum(one**-2 for one in c)
    of_gate = 3 * sum(one**-2 for one in c) / 9  # asked in all three blocks
    total = spread([block.questions for block in design.blocks], 2.0, 1)
    assert total == pytest.approx(of_follow_ups + of_gate, rel=1e-6)


def test_thirty_mixed_questions_are_planned_quickly() -> None:
    import time

    asked: list[Question] = []
    for i in range(6):
        asked += family(4, 3, 2, key=f"g{i}")
        asked.append(Several(f"s{i}", "?", question("s", 6).options, picks=3))
    started = time.process_time()
    choose_blocks(asked, 2.0 + math.pi * 1e-9, None)
    assert time.process_time() - started < 2
