"""Bit planes: packing, unpacking and counting against counting by hand."""

import os
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from aggregation import batches
from aggregation.batches import Axis, Rows
from survey.design import Design, Option, Question, build

pytestmark = pytest.mark.once

SIZES = [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000]


def question(key: str, size: int) -> Question:
    return Question(key, "?", tuple(Option(f"o{i}", f"{i}") for i in range(size)))


def design(
    sizes: Sequence[int], blocks: Sequence[Sequence[int]], ask: int, strata: Sequence[int] = ()
) -> Design:
    """Questions q0, q1, … in these blocks, and strata s0, s1, … of these sizes."""
    return build(
        ask * 2.0,
        [question(f"q{i}", size) for i, size in enumerate(sizes)],
        [question(f"s{i}", size) for i, size in enumerate(strata)],
        [[f"q{i}" for i in block] for block in blocks],
        ask,
    )


DESIGNS = {
    "ten yes/no in a block": design([2] * 10, [range(10)], 1),
    "blocks of two, one asked": design([2] * 10, [(i, i + 1) for i in range(0, 10, 2)], 1),
    "blocks of one, two of three asked, strata": design([2, 3, 5], [[0], [1], [2]], 2, [2, 3]),
    "every size": design([2, 3, 4, 7, 8, 20], [[0, 1], [2, 3], [4], [5]], 3, [7, 8, 100]),
    "all blocks asked": design([3, 2, 4], [[0], [1, 2]], 2, [4]),
}


def reports(design: Design, n: int, seed: int = 1) -> Rows:
    """Random reports: `ask` of the blocks, every stratum or none."""
    rng = np.random.default_rng(seed)
    asked = np.argsort(rng.random((n, len(design.blocks))), axis=1) < design.ask
    columns = [
        np.where(asked[:, i], rng.integers(0, question.size, n), batches.ABSENT)
        for i, block in enumerate(design.blocks)
        for question in block.questions
    ]
    for stratum in design.strata:
        given = rng.integers(0, stratum.size + 1, n)
        columns.append(np.where(given == stratum.size, batches.ABSENT, given))
    return np.array(columns, dtype=np.uint8).T


def by_hand(rows: Rows, design: Design, axes: Sequence[Axis]) -> dict[tuple[int, ...], int]:
    names = [("question", q.key) for q in design.questions]
    names += [("stratum", s.key) for s in design.strata]
    sizes = {("stratum", s.key): s.size for s in design.strata}
    cells: Counter[tuple[int, ...]] = Counter()
    for row in rows.tolist():
        cell = []
        for axis in axes:
            value = row[names.index(axis)]
            cell.append(sizes.get(axis, -1) if value == batches.ABSENT else value)
        if -1 not in cell:
            cells[tuple(cell)] += 1
    return dict(cells)


def as_dict(table: batches.Counts) -> dict[tuple[int, ...], int]:
    return {cell: int(n) for cell, n in np.ndenumerate(table) if n}


def axes_of(design: Design) -> list[Axis]:
    return [
        *(("stratum", stratum.key) for stratum in design.strata),
        *(("question", question.key) for question in design.questions),
    ]


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", SIZES)
def test_packed_reports_can_be_unpacked(name: str, n: int) -> None:
    rows = reports(DESIGNS[name], n)
    data = batches.pack(rows, DESIGNS[name])
    assert np.array_equal(batches.unpack(data, n, DESIGNS[name]), rows.T)
    assert batches.unpack(memoryview(data), n, DESIGNS[name]).shape == rows.T.shape


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.slow
def test_every_table_of_one_two_and_three_agrees_with_counting_by_hand(name: str, n: int) -> None:
    """Both ways of counting, at sizes around whole words: padding is never counted."""
    design = DESIGNS[name]
    rows = reports(design, n)
    data = batches.pack(rows, design)
    wanted = [axes for r in range(4) for axes in combinations(axes_of(design), r)][:90]
    for axes in wanted:
        expected = by_hand(rows, design, axes)
        assert as_dict(batches.table(data, n, design, axes)) == expected, axes
        columns = [batches.layout(design).columns[axis] for axis in axes]
        planes = batches._planes(data, n, batches.layout(design))
        assert as_dict(batches._cells(planes, n, columns)) == expected, axes
    together = batches.tables([(data, n)], design, wanted)
    for axes, table in zip(wanted, together, strict=True):
        assert np.array_equal(table, batches.table(data, n, design, axes))
        assert table.dtype == np.int64


def test_the_order_of_axes_is_that_of_the_table() -> None:
    design = DESIGNS["every size"]
    data = batches.pack(reports(design, 500), design)
    one, two = ("question", "q5"), ("stratum", "s2")
    table = batches.table(data, 500, design, [one, two])
    assert table.shape == (20, 101)
    assert np.array_equal(table.T, batches.table(data, 500, design, [two, one]))


@pytest.mark.parametrize("name", DESIGNS)
def test_a_tally_is_the_tables_of_its_questions(name: str) -> None:
    design = DESIGNS[name]
    rows = reports(design, 777)
    tally = batches.tally(batches.pack(rows, design), 777, design)
    assert list(tally) == [question.key for question in design.questions]
    for key, groups in tally.items():
        assert list(groups) == ["", *(stratum.key for stratum in design.strata)]
        for stratum, counts in groups.items():
            axes = [("stratum", stratum)] if stratum else []
            expected = by_hand(rows, design, [*axes, ("question", key)])
            found = np.array(counts if stratum else counts[0])
            assert as_dict(found) == expected
            assert all(type(n) is int for group in counts for n in group)


def test_tallies_and_tables_of_parts_add_up() -> None:
    design = DESIGNS["every size"]
    rows = reports(design, 1000)
    cut = [rows[a:b] for a, b in ((0, 100), (100, 101), (101, 1000))]
    parts = [(batches.pack(part, design), len(part)) for part in cut]
    whole = batches.tally(batches.pack(rows, design), 1000, design)
    assert batches.total(batches.tally(*part, design) for part in parts) == whole
    assert batches.recount(parts, design) == whole
    assert batches.total([whole] * 600) == batches.total([batches.total([whole] * 300)] * 2)
    assert batches.total([]) == {} and batches.tables([], design, [[]])[0] == 0


def test_question_and_stratum_may_have_the_same_key() -> None:
    same = build(2, [question("age", 2)], [question("age", 3)])
    rows = np.array([[1, 2], [0, batches.ABSENT], [1, 2]], dtype=np.uint8)
    data = batches.pack(rows, same)
    table = batches.table(data, 3, same, [("stratum", "age"), ("question", "age")])
    assert as_dict(table) == {(2, 1): 2, (3, 0): 1}
    assert batches.tally(data, 3, same)["age"]["age"] == table.tolist()


def test_impossible_tables_are_refused() -> None:
    wide = design([20] * 5, [[i] for i in range(5)], 5)
    data = batches.pack(reports(wide, 10), wide)
    every: list[Axis] = [("question", f"q{i}") for i in range(5)]
    for axes, why in (
        ([("question", "q9")], "no question q9"),
        ([("stratum", "q0")], "no stratum q0"),
        ([every[0], every[0]], "once"),
        (every, "at most 1,048,576 cells"),
    ):
        with pytest.raises(ValueError, match=why):
            batches.table(data, 10, wide, axes)
    assert batches.table(data, 10, wide, every[:4]).size == 160_000


def test_reports_that_the_design_rules_out_are_never_packed() -> None:
    design = DESIGNS["blocks of one, two of three asked, strata"]
    good = reports(design, 100)
    asked = int(np.flatnonzero(good[:, 1] != batches.ABSENT)[0])
    for column, value in ((1, 3), (1, 200), (3, 2), (3, 254)):
        bad = good.copy()
        bad[asked, column] = value
        with pytest.raises(ValueError, match="an option that there is not|whole blocks"):
            batches.pack(bad, design)
    halved = DESIGNS["blocks of two, one asked"]
    bad = reports(halved, 100)
    bad[0, :2] = 0, batches.ABSENT
    with pytest.raises(ValueError, match="whole blocks"):
        batches.pack(bad, halved)
    everything = DESIGNS["ten yes/no in a block"]
    bad = reports(everything, 100)
    bad[5, 3] = batches.ABSENT
    with pytest.raises(ValueError, match="whole blocks"):
        batches.pack(bad, everything)
    with pytest.raises(ValueError, match="10 bytes"):
        batches.rows([b"\0" * 10, b"\0" * 9, b"\0" * 11], everything)


def test_a_batch_of_another_kind_or_length_is_refused() -> None:
    design = DESIGNS["ten yes/no in a block"]
    data = batches.pack(reports(design, 100), design)
    for bad in (b"", data[8:], b"planes/2" + data[8:], data[:-8]):
        with pytest.raises(ValueError, match=r"later version|reshape|offset"):
            batches.unpack(bad, 100, design)


def test_ten_yes_no_questions_cost_ten_bits() -> None:
    n = 65_536
    plain, halved = DESIGNS["ten yes/no in a block"], DESIGNS["blocks of two, one asked"]
    assert len(batches.pack(reports(plain, n), plain)) == 8 + n * 10 // 8
    assert len(batches.pack(reports(halved, n), halved)) < 1.3 * n
    assert halved.ask < len(halved.blocks) and batches.layout(halved).planes == 15


def test_a_batch_is_compressed_only_when_that_saves_space() -> None:
    design = DESIGNS["ten yes/no in a block"]
    even = batches.pack(reports(design, 6400), design)
    rare = batches.pack((np.random.default_rng(2).random((6400, 10)) < 0.02).astype("u1"), design)
    assert even[:8] == batches.PLAIN and len(zlib.compress(even[8:], 1)) > 0.75 * len(even)
    assert rare[:8] == batches.SMALLER and len(rare) < 0.5 * len(even)


@pytest.mark.slow
def test_every_order_is_equally_likely() -> None:
    """All 24 orders of 4 reports, n = 24,000, alpha = 0.001; orders by 2-bit keys are not uniform.

    With keys of two bits and no second draw on a tie, argsort favours the order of arrival.
    """
    rows = np.arange(4, dtype=np.uint8).reshape(4, 1)

    def p_value(orders: list[tuple[int, ...]]) -> float:
        found = Counter(orders)
        return float(stats.chisquare([found[o] for o in product(range(4), repeat=4)
                                      if len(set(o)) == 4]).pvalue)  # fmt: skip

    rng = np.random.default_rng(4)
    orders = [tuple(batches.shuffled(rows, rng.bytes)[:, 0].tolist()) for _ in range(24_000)]
    assert p_value(orders) > 0.001
    coarse = rng.integers(0, 4, (24_000, 4))
    assert p_value([tuple(o) for o in np.argsort(coarse, axis=1, kind="stable").tolist()]) < 1e-6


def test_a_tie_is_drawn_again() -> None:
    drawn = [b"\0" * 24, b"\1" * 8 + b"\0" * 8 + b"\1" * 8, b"\2" * 8 + b"\3" * 8 + b"\1" * 8]
    rows = np.array([[0], [1], [2]], dtype=np.uint8)
    shuffled = batches.shuffled(rows, lambda n: drawn.pop(0) if n == 24 else b"")
    assert shuffled[:, 0].tolist() == [2, 0, 1] and not drawn
    assert batches.shuffled.__defaults__ == (os.urandom,)


def test_the_order_of_arrival_is_lost() -> None:
    """Spearman's rank correlation of arrival and place; alpha = 0.001, n = 2000.

    The same test rejects a batch that was not shuffled.
    """
    places = np.arange(2000, dtype=">u2").view(np.uint8).reshape(2000, 2)

    def p_value(rows: Rows) -> float:
        return float(stats.spearmanr(rows[:, 0].astype(int) * 256 + rows[:, 1], range(2000)).pvalue)

    assert p_value(batches.shuffled(places, np.random.default_rng(5).bytes)) > 0.001
    assert p_value(batches.shuffled(places, lambda n: np.arange(n // 8).tobytes())) < 1e-6
