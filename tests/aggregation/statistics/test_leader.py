"""Which option leads: reference values, exact enumeration, and options that may not be compared."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binomtest

from aggregation.statistics.channel import Channel
from aggregation.statistics.difference import holm
from aggregation.statistics.leader import compare

OPTION = Channel(0.7, 0.1)


def test_the_test_has_its_reference_value():
    found = compare([420, 350], OPTION)
    assert found.p_values[1] == pytest.approx(0.0128468779, abs=1e-10)
    assert found.largest == 0 and found.may_lead == (0,)
    assert compare([420, 350], OPTION, level=0.99).may_lead == (0, 1)


def test_p_values_are_those_of_the_binomial_test_and_of_holm():
    counts = [310, 420, 415, 350, 0]
    found = compare(counts, [OPTION] * 5)
    others = [i for i in range(5) if i != 1]
    expected = [binomtest(420, 420 + counts[i]).pvalue for i in others]
    assert [found.p_values[i] for i in others] == pytest.approx(expected)
    assert [found.adjusted[i] for i in others] == pytest.approx(holm(expected))
    assert found.p_values[1] == found.adjusted[1] == 1
    assert found.largest == 1 and found.may_lead == (1, 2)


def test_options_that_tie_may_all_lead():
    assert compare([40, 40, 1], OPTION).may_lead == (0, 1)
    assert compare([0, 0, 1], OPTION).may_lead == (0, 1, 2)


def test_the_order_of_options_does_not_matter():
    counts = [310, 420, 415, 350]
    found = compare(counts, OPTION)
    for order in itertools.permutations(range(4)):
        other = compare([counts[i] for i in order], OPTION)
        assert {order[i] for i in other.may_lead} == set(found.may_lead)


@pytest.mark.parametrize("shares", [(1, 1, 1), (2, 2, 1), (1, 1, 0), (6, 5, 5)])
@pytest.mark.parametrize("kind", ["fixed", "always"])
def test_the_leader_is_left_out_no_more_often_than_promised(shares, kind):
    """Every tally of 60 reports, three options, of which the first has the largest share."""
    n = 60
    rates = 0.1 / 3 + 0.9 * np.array(shares) / sum(shares)
    left_out = not_largest = 0.0
    for i, j in itertools.product(range(n + 1), repeat=2):
        if i + j <= n:
            tally = (i, j, n - i - j)
            ways = gammaln(n + 1) - sum(gammaln(count + 1) for count in tally)
            chance = math.exp(ways + np.log(rates) @ tally)
            left_out += chance * (0 not in compare(tally, OPTION, kind=kind).may_lead)
            not_largest += chance * (i < max(tally))
    assert left_out <= 0.05
    assert not_largest > 0.05  # so often would it be wrong to name the largest count


def test_a_test_at_every_look_holds_at_every_look():
    """The chance that two equal options are ever told apart in 2,000 reports, by recursion."""
    alive, lost, most = {0: 1.0}, 0.0, 0
    for n in range(1, 2001):
        after = {}
        for count, mass in alive.items():
            for step in (0, 1):
                after[count + step] = after.get(count + step, 0.0) + mass / 2
        # The largest count that is still told from nothing: more reports only raise it.
        most = max(most, (n + 1) // 2)
        while most < n and compare([most + 1, n - most - 1], OPTION, kind="always").may_lead == (
            0,
            1,
        ):
            most += 1
        alive = {count: mass for count, mass in after.items() if n - most <= count <= most}
        lost += sum(after.values()) - sum(alive.values())
    assert 0.02 < lost <= 0.05


def test_options_with_different_channels_are_refused():
    gate = Channel(0.9, 0.3)
    with pytest.raises(ValueError, match="channel must be the same for all options"):
        compare([420, 350], [OPTION, gate])
    with pytest.raises(ValueError, match="channel must be one, or one for each option, got 2"):
        compare([420, 350, 10], [OPTION, OPTION])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"counts": [3]}, "counts must be a list of at least 2, got"),
        ({"counts": [0, 0]}, "counts must be from 0, and add up to 1 to"),
        ({"counts": [-1, 5]}, "counts must be from 0"),
        ({"counts": [1.0, 5]}, "counts must be integers, got"),
        ({"channel": (0.7, 0.1)}, "channel must be a Channel, got 0.7"),
        ({"level": 0}, "level must be strictly between 0 and 1, got 0"),
        ({"kind": "once"}, "kind must be one of fixed, always, got 'once'"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        compare(**({"counts": [420, 350], "channel": OPTION} | change))
