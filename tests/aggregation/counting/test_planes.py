"""Bit planes: packing, unpacking and counting against counting by hand."""

import os
import zlib
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from aggregation.counting import planes, tables
from aggregation.counting.planes import Rows
from aggregation.counting.tables import Axes
from survey.design import ABSENT, Background, Design, Option, Question, build
from survey.design.kinds.choice import Choice

pytestmark = pytest.mark.once

SIZES = [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000]


def question(key: str, size: int) -> Question:
    return Choice(key, "?", tuple(Option(f"o{i}", f"{i}") for i in range(size)))


def design(
    sizes: Sequence[int], blocks: Sequence[Sequence[int]], ask: int, background: Sequence[int] = ()
) -> Design:
    """Return questions q0, q1, … in these blocks, and background questions g0, g1, …"""
    return build(
        ask * 2.0,
        [question(f"q{i}", size) for i, size in enumerate(sizes)],
        [Background(question(f"g{i}", size)) for i, size in enumerate(background)],
        [[f"q{i}" for i in block] for block in blocks],
        ask,
    )


DESIGNS = {
    "ten yes/no in a block": design([2] * 10, [range(10)], 1),
    "blocks of two, one asked": design([2] * 10, [(i, i + 1) for i in range(0, 10, 2)], 1),
    "blocks of one, two of three asked, background": design([2, 3, 5], [[0], [1], [2]], 2, [2, 3]),
    "every size": design([2, 3, 4, 7, 8, 20], [[0, 1], [2, 3], [4], [5]], 3, [7, 8, 21]),
    "all blocks asked": design([3, 2, 4], [[0], [1, 2]], 2, [4]),
}


def reports(design: Design, n: int, seed: int = 1) -> Rows:
    """Return random reports: `ask` of the blocks, and all background questions."""
    rng = np.random.default_rng(seed)
    asked = np.argsort(rng.random((n, len(design.sensitive_blocks))), axis=1) < design.ask
    columns = [
        np.where(asked[:, i], rng.integers(0, question.size, n), ABSENT)
        for i, block in enumerate(design.sensitive_blocks)
        for question in block.questions
    ]
    columns += [rng.integers(0, question.size, n) for question in design.background]
    return np.array(columns, dtype=np.uint8).T


def by_hand(rows: Rows, design: Design, axes: Axes) -> dict[tuple[int, ...], int]:
    places = [[question.key for question in design.questions].index(axis) for axis in axes]
    cells = Counter(tuple(row[place] for place in places) for row in rows.tolist())
    return {cell: n for cell, n in cells.items() if ABSENT not in cell}


def as_dict(table: tables.Counts) -> dict[tuple[int, ...], int]:
    return {cell: int(n) for cell, n in np.ndenumerate(table) if n}


def table_of(data: bytes, n: int, design: Design, axes: Axes) -> tables.Counts:
    return tables.tables([(data, n)], design, [axes])[0]


def axes_of(design: Design) -> Axes:
    """Return all questions, the background ones first."""
    return tuple(
        question.key for question in dict.fromkeys((*design.background, *design.questions))
    )


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", SIZES)
def test_packed_reports_can_be_unpacked(name: str, n: int) -> None:
    rows = reports(DESIGNS[name], n)
    data = planes.pack(rows, DESIGNS[name])
    assert np.array_equal(planes.unpack(data, n, DESIGNS[name]), rows.T)
    assert planes.unpack(memoryview(data), n, DESIGNS[name]).shape == rows.T.shape


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.slow
def test_every_table_of_one_two_and_three_agrees_with_counting_by_hand(name: str, n: int) -> None:
    """Test both ways of counting at sizes around whole words: padding is never counted."""
    design = DESIGNS[name]
    rows = reports(design, n)
    data = planes.pack(rows, design)
    wanted = [axes for r in range(4) for axes in combinations(axes_of(design), r)][:90]
    for axes in wanted:
        expected = by_hand(rows, design, axes)
        assert as_dict(table_of(data, n, design, axes)) == expected, axes
        columns = [planes.layout(design).columns[axis] for axis in axes]
        bits = planes.planes_of(data, n, planes.layout(design))
        assert as_dict(tables._cells(bits, n, columns)) == expected, axes
    together = tables.tables([(data, n)], design, wanted)
    for axes, table in zip(wanted, together, strict=True):
        assert np.array_equal(table, table_of(data, n, design, axes))
        assert table.dtype == np.int64


def test_the_order_of_axes_is_that_of_the_table() -> None:
    design = DESIGNS["every size"]
    data = planes.pack(reports(design, 500), design)
    table = table_of(data, 500, design, ("q5", "g2"))
    assert table.shape == (20, 21)
    assert np.array_equal(table.T, table_of(data, 500, design, ("g2", "q5")))


@pytest.mark.parametrize("name", DESIGNS)
def test_a_tally_is_the_tables_of_its_questions(name: str) -> None:
    design = DESIGNS[name]
    rows = reports(design, 777)
    tally = tables.tally(planes.pack(rows, design), 777, design)
    assert list(tally) == [question.key for question in design.questions]
    for key, groups in tally.items():
        assert list(groups) == ["", *(one.key for one in design.background if one.key != key)]
        for by, counts in groups.items():
            expected = by_hand(rows, design, (by, key) if by else (key,))
            found = np.array(counts if by else counts[0])
            assert as_dict(found) == expected
            assert all(type(n) is int for group in counts for n in group)


def test_tallies_and_tables_of_parts_add_up() -> None:
    design = DESIGNS["every size"]
    rows = reports(design, 1000)
    cut = [rows[a:b] for a, b in ((0, 100), (100, 101), (101, 1000))]
    parts = [(planes.pack(part, design), len(part)) for part in cut]
    whole = tables.tally(planes.pack(rows, design), 1000, design)
    assert tables.total([tables.tally(*part, design) for part in parts]) == whole
    assert tables.recount(parts, design) == whole
    assert tables.total([whole] * 600) == tables.total([tables.total([whole] * 300)] * 2)
    assert tables.tables([], design, [()])[0] == 0


def test_impossible_tables_are_refused() -> None:
    wide = design([20] * 5, [[i] for i in range(5)], 5)
    data = planes.pack(reports(wide, 10), wide)
    every = tuple(f"q{i}" for i in range(5))
    for axes, why in (
        (("q9",), "no question 'q9'"),
        (("q0", "q0"), "once"),
        (every, "at most 1,048,576 cells"),
    ):
        with pytest.raises(ValueError, match=why):
            table_of(data, 10, wide, axes)
    assert table_of(data, 10, wide, every[:4]).size == 160_000


def test_reports_that_the_design_rules_out_are_never_packed() -> None:
    design = DESIGNS["blocks of one, two of three asked, background"]
    good = reports(design, 100)
    asked = int(np.flatnonzero(good[:, 1] != ABSENT)[0])
    for column, value in ((1, 3), (1, 200), (3, 2), (3, 254), (3, ABSENT)):
        bad = good.copy()
        bad[asked, column] = value
        with pytest.raises(ValueError, match="an option that does not exist|whole blocks"):
            planes.pack(bad, design)
    halved = DESIGNS["blocks of two, one asked"]
    bad = reports(halved, 100)
    bad[0, :2] = 0, ABSENT
    with pytest.raises(ValueError, match="whole blocks"):
        planes.pack(bad, halved)
    everything = DESIGNS["ten yes/no in a block"]
    bad = reports(everything, 100)
    bad[5, 3] = ABSENT
    with pytest.raises(ValueError, match="whole blocks"):
        planes.pack(bad, everything)
    with pytest.raises(ValueError, match="10 bytes"):
        planes.rows([b"\0" * 10, b"\0" * 9, b"\0" * 11], everything)


def test_a_batch_of_another_kind_or_length_is_refused() -> None:
    design = DESIGNS["ten yes/no in a block"]
    data = planes.pack(reports(design, 100), design)
    for bad in (b"", data[8:], b"planes/2" + data[8:], data[:-8]):
        with pytest.raises(ValueError, match=r"later version|reshape|offset"):
            planes.unpack(bad, 100, design)


def test_ten_yes_no_questions_and_a_background_question_cost_less_than_two_bytes() -> None:
    n = 65_536
    asked = design([2] * 10, [(i, i + 1) for i in range(0, 10, 2)], 1, [4])
    assert len(planes.pack(reports(asked, n), asked)) < 2 * n


def test_ten_yes_no_questions_cost_ten_bits() -> None:
    n = 65_536
    plain, halved = DESIGNS["ten yes/no in a block"], DESIGNS["blocks of two, one asked"]
    assert len(planes.pack(reports(plain, n), plain)) == 8 + n * 10 // 8
    assert len(planes.pack(reports(halved, n), halved)) < 1.3 * n
    assert halved.ask < len(halved.sensitive_blocks) and planes.layout(halved).planes == 15


def test_a_batch_is_compressed_only_when_that_saves_space() -> None:
    design = DESIGNS["ten yes/no in a block"]
    even = planes.pack(reports(design, 6400), design)
    rare = planes.pack((np.random.default_rng(2).random((6400, 10)) < 0.02).astype("u1"), design)
    assert even[:8] == planes.PLAIN and len(zlib.compress(even[8:], 1)) > 0.75 * len(even)
    assert rare[:8] == planes.COMPRESSED and len(rare) < 0.5 * len(even)


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
    orders = [tuple(planes.shuffled(rows, rng.bytes)[:, 0].tolist()) for _ in range(24_000)]
    assert p_value(orders) > 0.001
    coarse = rng.integers(0, 4, (24_000, 4))
    assert p_value([tuple(o) for o in np.argsort(coarse, axis=1, kind="stable").tolist()]) < 1e-6


def test_a_tie_is_drawn_again() -> None:
    drawn = [b"\0" * 24, b"\1" * 8 + b"\0" * 8 + b"\1" * 8, b"\2" * 8 + b"\3" * 8 + b"\1" * 8]
    rows = np.array([[0], [1], [2]], dtype=np.uint8)
    shuffled = planes.shuffled(rows, lambda n: drawn.pop(0) if n == 24 else b"")
    assert shuffled[:, 0].tolist() == [2, 0, 1] and not drawn
    assert planes.shuffled.__defaults__ == (os.urandom,)


def test_the_order_of_arrival_is_lost() -> None:
    """Spearman's rank correlation of arrival and place; alpha = 0.001, n = 2000.

    The same test rejects a batch that was not shuffled.
    """
    places = np.arange(2000, dtype=">u2").view(np.uint8).reshape(2000, 2)

    def p_value(rows: Rows) -> float:
        return float(stats.spearmanr(rows[:, 0].astype(int) * 256 + rows[:, 1], range(2000)).pvalue)

    assert p_value(planes.shuffled(places, np.random.default_rng(5).bytes)) > 0.001
    assert p_value(planes.shuffled(places, lambda n: np.arange(n // 8).tobytes())) < 1e-6
