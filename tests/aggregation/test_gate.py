"""The gate: small cells are hidden, and no two tables tell apart fewer than a crowd."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregation import gate

CROWD = 20


def test_small_and_empty_groups_are_hidden() -> None:
    assert gate.shown([100, 19, 0, 20, 30], CROWD) == {0, 4}  # 20 goes with the 19
    assert gate.shown([19], CROWD) == set()
    assert gate.shown([20], CROWD) == {0}


def test_an_empty_group_alone_hides_no_other() -> None:
    assert gate.shown([100, 50, 0], CROWD) == {0, 1}


def test_the_smallest_group_is_hidden_with_a_small_rest() -> None:
    assert gate.shown([100, 50, 3], CROWD) == {0}
    assert gate.shown([100, 10, 10], CROWD) == {0}


def may_replace(before: list[int], shown: set[int], now: list[int]) -> bool:
    return gate.may_replace(gate.Table(before, shown), now, CROWD)


def test_a_table_changes_only_by_whole_crowds() -> None:
    assert may_replace([100], {0}, [120])
    assert not may_replace([100], {0}, [119])
    assert not may_replace([100], {0}, [100])
    assert may_replace([100, 50], {0, 1}, [120, 50])
    assert not may_replace([100, 50], {0, 1}, [120, 51])
    assert not may_replace([100, 50, 0], {0, 1}, [200, 200, 1])


def test_a_table_that_showed_nothing_appears_as_soon_as_it_may() -> None:
    assert not may_replace([10], set(), [19])
    assert may_replace([19], set(), [20])


def test_a_stratum_changes_only_with_the_overall_table() -> None:
    before = {"": gate.Table([119], {0}), "age": gate.Table([40, 40], {0, 1})}
    now = {"": [120], "age": [60, 60]}
    assert gate.fresh(before, now, CROWD, final=False) == set()
    assert gate.fresh(before, now, CROWD, final=True) == {"", "age"}
    assert gate.fresh(before, {"": [139], "age": [60, 79]}, CROWD, final=False) == {"", "age"}


sizes = st.lists(st.integers(0, 60), min_size=1, max_size=5)


@settings(max_examples=500)
@given(sizes, st.integers(2, 30))
def test_no_difference_within_a_table_is_smaller_than_a_crowd(
    groups: list[int], crowd: int
) -> None:
    """Total less any groups shown: empty of hidden ones, or a crowd at least."""
    shown = gate.shown(groups, crowd)
    for count in range(len(shown) + 1):
        for some in combinations(shown, count):
            rest = sum(groups) - sum(groups[i] for i in some)
            assert rest == 0 or rest >= crowd or not shown


def span_isolates(published: list[list[int]], reports: list[int], crowd: int) -> bool:
    """Whether adding and subtracting published tables can single out a small set of reports.

    A cell is one group in one period, with so many reports; a published number is a sum of cells.
    """
    matrix = np.array(published, dtype=float).reshape(len(published), len(reports))
    rank = np.linalg.matrix_rank(matrix) if published else 0
    for bits in range(1, 2 ** len(reports)):
        chosen = [float(bits >> i & 1) for i in range(len(reports))]
        size = sum(count for i, count in enumerate(reports) if bits >> i & 1)
        if 0 < size < crowd and np.linalg.matrix_rank(np.vstack([matrix, chosen])) == rank:
            return True
    return False


def publish(growth: list[list[int]], crowd: int, rules: Callable[..., set[str]]) -> list[list[int]]:
    """The sums of cells that releases after each period show, one question with one stratum."""
    groups = len(growth[0])
    total = [0] * groups
    before: dict[str, gate.Table] = {}
    published: list[list[int]] = []
    for period, grown in enumerate(growth):
        total = [a + b for a, b in zip(total, grown, strict=True)]
        now = {"": [sum(total)], "age": list(total)}
        for stratum in rules(before, now, crowd, False):
            visible = gate.shown(now[stratum], crowd)
            before[stratum] = gate.Table(now[stratum], visible)
            for group in visible:
                published.append(
                    [
                        int(time <= period and (stratum == "" or where == group))
                        for time in range(len(growth))
                        for where in range(groups)
                    ]
                )
    return published


periods = st.integers(2, 3).flatmap(
    lambda groups: st.lists(
        st.lists(st.integers(0, 7), min_size=groups, max_size=groups), min_size=2, max_size=3
    )
)


@settings(max_examples=400, deadline=None)
@given(periods)
def test_nothing_published_over_time_singles_out_fewer_than_a_crowd(
    growth: list[list[int]],
) -> None:
    published = publish(growth, 3, gate.fresh)
    reports = [count for period in growth for count in period]
    assert not span_isolates(published, reports, 3)


def test_the_same_search_finds_the_leak_without_the_third_rule() -> None:
    def each_on_its_own(
        before: dict[str, gate.Table], now: dict[str, list[int]], crowd: int, final: bool
    ) -> set[str]:
        return {
            s for s, sizes in now.items()
            if s not in before or gate.may_replace(before[s], sizes, crowd)
        }  # fmt: skip

    growth = [
        [4, 4],
        [3, 2],
        [0, 1],
    ]  # everybody changes with the second, the groups with the third
    reports = [count for period in growth for count in period]
    assert span_isolates(publish(growth, 3, each_on_its_own), reports, 3)
    assert not span_isolates(publish(growth, 3, gate.fresh), reports, 3)


# --- Two tables that overlap ----------------------------------------------------------------------


def least_cut(counts: list[list[int]]) -> int:
    """By trying all cuts: the smallest that cuts anything, or more than there are reports."""
    rows, columns = len(counts), len(counts[0])
    least = 1 + sum(map(sum, counts))
    for bits in range(2 ** (rows + columns)):
        up = [bits >> i & 1 for i in range(rows + columns)]
        edges = [counts[i][j] for i in range(rows) for j in range(columns) if up[i] != up[rows + j]]
        least = min(least, sum(edges) or least)
    return least


tables = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2, 5, 9, 30]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@settings(max_examples=500, deadline=None)
@given(tables, st.integers(1, 40))
@pytest.mark.slow
def test_a_cut_is_found_where_there_is_one(counts: list[list[int]], crowd: int) -> None:
    found = gate.cut(np.array(counts), crowd)
    least = least_cut(counts)
    assert (found is not None) == (least < crowd and least <= sum(map(sum, counts)))
    if found is not None:
        assert not found.one & found.other


@settings(max_examples=300, deadline=None)
@given(tables, st.integers(2, 40))
@pytest.mark.slow
def test_hiding_until_safe_leaves_no_small_difference(counts: list[list[int]], crowd: int) -> None:
    sizes = [sum(row) for row in counts]
    others = [np.array(counts)]
    found = gate.settle(sizes, gate.shown(sizes, crowd), others, crowd)
    assert found is not None and found <= gate.shown(sizes, crowd)
    columns = [sum(column) for column in zip(*counts, strict=True)]
    if found and all(size == 0 or size >= crowd for size in columns):
        assert least_cut(gate.merged(others[0], found, len(sizes)).tolist()) >= crowd
    kept = gate.settle(sizes, gate.shown(sizes, crowd), others, crowd, keep={0})
    assert kept is None or 0 in kept


def test_a_group_nearly_equal_to_another_is_hidden() -> None:
    """Region and town: all but two of the first region live in the first town."""
    towns = np.array([[98, 0, 0], [2, 80, 0], [0, 0, 90], [0, 0, 40]])  # by region
    assert gate.shown([98, 82, 90, 40], CROWD) == {0, 1, 2, 3}
    # The first two regions are told apart by the towns but for two people, so they become one.
    assert gate.settle([98, 82, 90, 40], {0, 1, 2, 3}, [towns], CROWD) == {2, 3}
    assert gate.settle([98, 82, 90, 40], {0, 1, 2, 3}, [towns], CROWD, keep={2}) == {2, 3}
    assert gate.settle([98, 82, 90, 40], {0, 1, 2, 3}, [towns], CROWD, keep={1}) is None


def test_well_mixed_groups_stay_visible() -> None:
    mixed = np.array([[30, 19, 25], [18, 40, 2], [3, 30, 50]])
    assert gate.cut(mixed, CROWD) is None
    assert gate.settle([74, 60, 83], {0, 1, 2}, [mixed], CROWD) == {0, 1, 2}


def test_a_signed_difference_of_a_few_is_a_cut() -> None:
    """One group less the other: two people more, three fewer, and a hundred that cancel."""
    counts = np.array([[100, 2], [3, 100]])
    assert gate.cut(counts, 5) is None
    assert gate.cut(counts, 6) == gate.Cut({1}, {0})
