"""The gate: small cells are hidden, and no two tables tell apart fewer than a crowd."""

from itertools import combinations

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


def test_the_smallest_goes_with_a_small_rest() -> None:
    assert gate.shown([100, 50, 3], CROWD) == {0}
    assert gate.shown([100, 10, 10], CROWD) == {0}


def test_a_table_changes_in_crowds() -> None:
    assert gate.may_replace([100], {0}, [120], CROWD)
    assert not gate.may_replace([100], {0}, [119], CROWD)
    assert not gate.may_replace([100], {0}, [100], CROWD)
    assert gate.may_replace([100, 50], {0, 1}, [120, 50], CROWD)
    assert not gate.may_replace([100, 50], {0, 1}, [120, 51], CROWD)
    assert not gate.may_replace([100, 50, 0], {0, 1}, [200, 200, 1], CROWD)


sizes = st.lists(st.integers(0, 60), min_size=1, max_size=5)


@settings(max_examples=500)
@given(sizes, st.integers(2, 30))
def test_no_difference_within_a_table_is_a_small_crowd(groups: list[int], crowd: int) -> None:
    """Total less any groups shown: empty of hidden ones, or a crowd at least."""
    shown = gate.shown(groups, crowd)
    for count in range(len(shown) + 1):
        for some in combinations(shown, count):
            rest = sum(groups) - sum(groups[i] for i in some)
            assert rest == 0 or rest >= crowd or not shown


@settings(max_examples=500)
@given(st.data(), st.integers(2, 30))
def test_no_difference_over_time_is_a_small_crowd(data: st.DataObject, crowd: int) -> None:
    """A random walk of growing tables: every part that can be told apart is a crowd."""
    groups = data.draw(sizes)
    published = groups
    shown = gate.shown(groups, crowd)
    for _step in range(6):
        growth = data.draw(st.lists(st.integers(0, 40), min_size=len(groups), max_size=len(groups)))
        groups = [a + b for a, b in zip(groups, growth, strict=True)]
        if not gate.may_replace(published, shown, groups, crowd):
            continue
        after = gate.shown(groups, crowd)
        parts = [{i} for i in shown] + [set(range(len(groups))) - shown]
        for part in parts:
            grown = sum(groups[i] - published[i] for i in part)
            assert grown == 0 or grown >= crowd
        assert shown <= after
        published, shown = groups, after
