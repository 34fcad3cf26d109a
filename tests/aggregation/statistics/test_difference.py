"""Comparisons of groups, against SciPy, slow definitions and exact enumeration."""

import json
import math
import warnings
from dataclasses import FrozenInstanceError, asdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, chi2_contingency, false_discovery_control, norm

from aggregation.statistics import proportion
from aggregation.statistics.difference import Result, groups, holm, homogeneity, interval, z_test
from aggregation.statistics.proportion import Channel
from tests.support.channels import FORCED, NO_NOISE, TWO_COINS, warner


def test_limits_have_their_reference_values():
    one = interval(300, 1000, 350, 900, TWO_COINS)
    assert one == pytest.approx((-8 / 45, -0.2626757009, -0.0922513892), abs=1e-10)
    assert one.difference == one[0]


def test_limits_have_the_values_that_newcombe_published():
    # Newcombe (1998), table II, method 10, without noise; four decimals.
    for tally, low, high in [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ]:
        _, *limits = interval(*tally, NO_NOISE)
        assert limits == pytest.approx((low, high), abs=5.1e-5)


def slow_score_limits(count, n, z):
    """Find by bisection where the score test of a rate is just significant."""
    y = count / n

    def excess(q):
        return (y - q) ** 2 * n - z * z * q * (1 - q)

    low = 0.0 if count == 0 else brentq(excess, 0, y * (1 - 1e-9), xtol=1e-15)
    high = 1.0 if count == n else brentq(excess, y + (1 - y) * 1e-9, 1, xtol=1e-15)
    return low, high


@pytest.mark.parametrize("seed", range(50))
def test_limits_follow_the_definition(seed):
    rng = np.random.default_rng(seed)
    n1, n2 = (int(n) for n in rng.integers(1, 2000, 2))
    count1, count2 = int(rng.integers(0, n1 + 1)), int(rng.integers(0, n2 + 1))
    level = float(rng.uniform(0.2, 0.999))
    channel = warner(rng.uniform(0.3, 5)) if seed % 2 else FORCED
    z = norm.ppf((1 + level) / 2)
    (l1, u1), (l2, u2) = slow_score_limits(count1, n1, z), slow_score_limits(count2, n2, z)
    y1, y2 = count1 / n1, count2 / n2
    expected = [
        y1 - y2,
        y1 - y2 - math.sqrt((y1 - l1) ** 2 + (u2 - y2) ** 2),
        y1 - y2 + math.sqrt((u1 - y1) ** 2 + (y2 - l2) ** 2),
    ]
    ours = interval(count1, n1, count2, n2, channel, level)
    assert ours == pytest.approx([x / channel.contrast for x in expected], abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_tests_agree_with_scipy(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 400, (int(rng.integers(2, 6)), int(rng.integers(2, 7))))
    table[:, 0] += 1
    known = chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False)
    ours = homogeneity(table)
    assert ours.statistic == pytest.approx(known.statistic, rel=1e-10)
    assert ours.freedom == known.dof
    assert ours.p_value == pytest.approx(known.pvalue, rel=1e-9)
    (yes1, no1), (yes2, no2) = table[:2, :2].tolist()
    z = z_test(yes1, yes1 + no1, yes2, yes2 + no2)
    known = chi2_contingency([[yes1, no1], [yes2, no2]], correction=False)
    assert z.statistic**2 == pytest.approx(known.statistic, rel=1e-9, abs=1e-12)
    assert z.p_value == pytest.approx(known.pvalue, rel=1e-9)


# --- what the methods promise, by enumeration ---------------------------------------------------


def coverage(low, high, n, channel, shares):
    """The coverage at every pair of ``shares``; limits indexed by the two counts."""
    law = binom.pmf(np.arange(n + 1), n, channel.b + channel.contrast * shares[:, None])
    result = np.empty((len(shares), len(shares)))
    for i, share1 in enumerate(shares):
        for j, share2 in enumerate(shares):
            covered = (low <= share1 - share2) & (share1 - share2 <= high)
            result[i, j] = law[i] @ covered @ law[j]
    return result


@pytest.mark.parametrize(
    "epsilon, n, least",
    [(0.5, 50, 0.942), (1, 50, 0.942), (2, 50, 0.940), (math.log(3), 200, 0.946), (4, 50, 0.902)],
)
def test_newcombes_limits_cover_as_often_as_known(epsilon, n, least):
    channel = warner(epsilon)
    limits = np.array(
        [[interval(i, n, j, n, channel)[1:] for j in range(n + 1)] for i in range(n + 1)]
    )
    shares = np.linspace(0, 1, 11)
    exact = coverage(limits[..., 0], limits[..., 1], n, channel, shares)
    assert exact.min() > least - 5e-4
    assert exact.mean() == pytest.approx(0.95, abs=0.004 if epsilon <= 2 else 0.008)


def test_limits_from_clamped_intervals_cover_too_little():
    # The same formula with intervals of shares that stay in [0, 1]: found out by enumeration.
    n, channel = 50, warner(1)
    estimates = [min(max((s / n - channel.b) / channel.contrast, 0), 1) for s in range(n + 1)]
    limits = [proportion.interval(s, n, channel, method="wilson") for s in range(n + 1)]
    below = np.array(estimates) - np.array(limits)[:, 0]
    above = np.array(limits)[:, 1] - np.array(estimates)
    gap = np.subtract.outer(estimates, estimates)
    low, high = gap - np.hypot.outer(below, above), gap + np.hypot.outer(above, below)
    assert coverage(low, high, n, channel, np.linspace(0, 1, 11)).min() < 0.8


@pytest.mark.parametrize(
    "epsilon, n, power", [(math.log(3), 1377, 0.8001), (2, 484, 0.8018), (4, 229, 0.8045)]
)
def test_the_z_test_has_its_known_size_and_power(epsilon, n, power):
    # n a group, alpha = 0.05, share 0.1 against 0.1 (size) and 0.2 (power), exact.
    channel = warner(epsilon)
    s1, s2 = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    pooled = (s1 + s2) / (2 * n)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (s1 - s2) / n / np.sqrt(pooled * (1 - pooled) * 2 / n)
    rejected = np.abs(z) >= norm.ppf(0.975)
    low, high = (binom.pmf(np.arange(n + 1), n, channel.rate(share)) for share in (0.1, 0.2))
    assert low @ rejected @ low == pytest.approx(0.05, abs=1e-3)
    assert low @ rejected @ high == pytest.approx(power, abs=5e-5)
    rng = np.random.default_rng(1)
    for i, j in rng.integers(0, n + 1, (200, 2)).tolist():
        assert (z_test(i, n, j, n).p_value <= 0.05) == rejected[i, j]


@pytest.mark.parametrize("channel", [warner(1), TWO_COINS, FORCED])
def test_the_test_of_three_groups_has_its_size(channel):
    # n = 60 a group, every table, alpha = 0.05; and three shares that differ are noticed.
    n = 60
    s = np.arange(n + 1)
    total = s[:, None, None] + s[None, :, None] + s[None, None, :]
    squares = (s**2)[:, None, None] + (s**2)[None, :, None] + (s**2)[None, None, :]
    rate = total / (3 * n)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = (squares - total**2 / 3) / (n * rate * (1 - rate))
    rejected = statistic >= 5.991464547107979
    for share in (0, 0.3, 0.9):
        law = binom.pmf(s, n, channel.rate(share))
        assert 0.04 < np.einsum("i,j,k,ijk", law, law, law, rejected) < 0.056
    laws = [binom.pmf(s, n, channel.rate(share)) for share in (0.1, 0.5, 0.9)]
    assert np.einsum("i,j,k,ijk", *laws, rejected) > 0.7
    for table in ([3, 20, 30], [0, 0, 1], [10, 10, 10], [60, 5, 33]):
        ours = homogeneity([count, n - count] for count in table)
        assert ours.statistic == pytest.approx(statistic[tuple(table)], rel=1e-12)
        assert (ours.p_value <= 0.05) == rejected[tuple(table)]


def test_options_of_a_choice_question_are_compared_on_raw_reports():
    # 4 options, keep = 0.5, 2 groups of 400: 2000 surveys with seed 5. Size 0.05 within 4 standard
    # errors (0.0195); with another distribution in the second group most surveys notice.
    rng = np.random.default_rng(5)
    answers = np.array([0.6, 0.2, 0.15, 0.05])
    others = np.array([0.4, 0.2, 0.15, 0.25])

    def rejections(first, second):
        tables = np.stack(
            [rng.multinomial(400, 0.5 * x + 0.5 / 4, size=2000) for x in (first, second)], axis=1
        )
        return np.mean([homogeneity(table).p_value <= 0.05 for table in tables])

    assert abs(rejections(answers, answers) - 0.05) < 0.0195
    assert rejections(answers, others) > 0.8


def test_pairs_are_wrong_together_no_more_often_than_promised():
    # Four groups of 150 with equal shares, 1000 surveys with seed 6, alpha = 0.05: any rejection
    # by Holm, and any limits that miss 0. Unadjusted p-values reject in about a fifth.
    rng = np.random.default_rng(6)
    tables = rng.binomial(150, TWO_COINS.rate(0.3), size=(1000, 4))
    results = [groups(row, [150] * 4, 1, TWO_COINS) for row in tables]
    bound = 0.05 + 4 * math.sqrt(0.05 * 0.95 / 1000)
    assert np.mean([(one.adjusted <= 0.05).any() for one in results]) < bound
    assert np.mean([((one.low > 0) | (one.high < 0)).any() for one in results]) < bound
    assert np.mean([(one.p_value <= 0.05).any() for one in results]) > 0.15


# --- properties ---------------------------------------------------------------------------------


def closed_holm(p_values):
    """Return the largest Bonferroni p-value of all sets that contain a test."""
    m = len(p_values)
    sets = [[i for i in range(m) if bits >> i & 1] for bits in range(1, 2**m)]
    return [
        max(min(1, len(s) * min(p_values[i] for i in s)) for s in sets if j in s) for j in range(m)
    ]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(p_values):
    assert holm(p_values) == pytest.approx(closed_holm(p_values), abs=1e-15)


def test_holm_does_not_depend_on_the_order():
    values = (0.01, 0.02, 0.02, 0.5)
    expected = dict(zip(values, holm(values), strict=True))
    assert holm(values) == pytest.approx((0.04, 0.06, 0.06, 0.5))
    for order in permutations(values):
        assert holm(order) == tuple(expected[p] for p in order)
    assert (np.array(holm(values)) >= false_discovery_control(values)).all()  # stricter than FDR
    assert holm([]) == ()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_comparisons_are_finite_ordered_symmetric_and_silent(data):
    b, a = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1)), label="rates"))
    if a - b < 1e-100:
        return
    sizes = st.integers(1, 10) | st.integers(1, 10**4) | st.integers(1, 2**50)
    n1, n2 = data.draw(sizes, label="n1"), data.draw(sizes, label="n2")
    count1 = data.draw(st.integers(0, n1), label="count1")
    count2 = data.draw(st.integers(0, n2), label="count2")
    level = data.draw(st.floats(1e-9, 1 - 1e-9), label="level")
    channel = Channel(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d, low, high = interval(count1, n1, count2, n2, channel, level)
        assert low <= d <= high and math.isfinite(low) and math.isfinite(high)
        other = interval(count2, n2, count1, n1, channel, level)
        assert other == pytest.approx((-d, -high, -low), rel=1e-12)
        mirrored = Channel(1 - b, 1 - a) if 1 - b > 1 - a else channel
        if mirrored.contrast == channel.contrast:
            swapped = interval(n1 - count1, n1, n2 - count2, n2, mirrored, level)
            scale = 1e-12 / channel.contrast
            assert swapped == pytest.approx((-d, -high, -low), rel=1e-6, abs=scale)
        test = z_test(count1, n1, count2, n2)
        assert 0 <= test.p_value <= 1 and math.copysign(1, test.statistic) * d >= 0


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, NO_NOISE])
def test_intervals_are_nested_in_the_level(channel):
    levels = [0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9]
    for tally in [(0, 10, 10, 10), (3, 10, 7, 50), (300, 1000, 350, 900), (0, 5, 0, 7)]:
        limits = np.array([interval(*tally, channel, level)[1:] for level in levels])
        assert (np.diff(limits[:, 0]) <= 0).all() and (np.diff(limits[:, 1]) >= 0).all()


def test_the_contrast_scales_everything_and_the_test_ignores_it():
    plain = interval(30, 100, 45, 90, NO_NOISE)
    for channel in (warner(0.1), TWO_COINS, FORCED, warner(36)):
        scaled = [x * channel.contrast for x in interval(30, 100, 45, 90, channel)]
        assert scaled == pytest.approx(plain, abs=1e-12)
    assert interval(10, 10, 0, 10, TWO_COINS).difference == 2  # not clipped


def test_limits_and_test_tend_to_agree_in_large_samples():
    for gap in (1.90, 1.95, 1.97, 2.02):
        n = 10**8
        count = round(n * 0.3 + gap * math.sqrt(2 * 0.3 * 0.7 * n))
        _, low, _ = interval(count, n, round(n * 0.3), n, TWO_COINS)
        assert (low > 0) == (z_test(count, n, round(n * 0.3), n).p_value < 0.05)


def test_groups_known_exactly_are_compared_as_two_tallies_are():
    counts, sizes = [300, 350, 40, 12], [1000, 900, 100, 50]
    for channel in (TWO_COINS, FORCED, warner(1)):
        found = groups(counts, sizes, 1, channel, level=0.7)
        for m, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
            two = (counts[i], sizes[i], counts[j], sizes[j])
            limits = found.difference[m], found.low[m], found.high[m]
            assert limits == pytest.approx(interval(*two, channel, level=0.95), abs=1e-12)
            assert found.p_value[m] == pytest.approx(z_test(*two).p_value, rel=1e-9)
        assert found.adjusted == pytest.approx(holm(found.p_value))
        assert found.clear.all() and len(found.first) == 6


def test_the_order_of_groups_does_not_matter():
    counts, sizes = [300, 350, 120, 12], [1000, 900, 300, 50]
    one = groups(counts, sizes, 0.8, TWO_COINS)
    other = groups(counts[::-1], sizes[::-1], 0.8, TWO_COINS)
    pairs = np.stack([3 - other.second, 3 - other.first], axis=1).tolist()
    for m, pair in enumerate(np.stack([one.first, one.second], axis=1).tolist()):
        twin = pairs.index(pair)
        assert other.difference[twin] == pytest.approx(-one.difference[m], nan_ok=True)
        assert (-other.high[twin], -other.low[twin]) == pytest.approx((one.low[m], one.high[m]))
        assert other.clear[twin] == one.clear[m] == (3 not in pair)  # too few name the last
        assert other.adjusted[twin] == pytest.approx(one.adjusted[m], rel=1e-9)


def test_identical_reports_show_no_difference():
    assert z_test(0, 10, 0, 20) == z_test(10, 10, 20, 20) == Result(0, 1, 1)
    assert homogeneity([[5, 0], [7, 0]]) == Result(0, 0, 1)
    assert set(groups([0, 0, 0], [5, 6, 7], 1, TWO_COINS).adjusted) == {1}


def test_groups_and_options_that_nobody_reported_are_left_out():
    whole = homogeneity([[5, 0, 9], [7, 0, 2], [0, 0, 0]])
    assert whole == homogeneity([[5, 9], [7, 2]])
    assert homogeneity([[5, 9], [0, 0]]) == Result(0, 0, 1)


def test_results_are_frozen_values_that_json_can_carry():
    one = homogeneity([[3, 7], [4, 6]])
    with pytest.raises(FrozenInstanceError):
        one.p_value = 0.5
    assert json.loads(json.dumps(asdict(one), allow_nan=False)) == asdict(one)


def test_numpy_integers_are_integers():
    big = np.int32(2 * 10**9)
    same = interval(10**9, 2 * 10**9, 10**8, 2 * 10**9, TWO_COINS)
    assert interval(np.int32(10**9), big, np.int32(10**8), big, TWO_COINS) == same
    assert z_test(np.int32(10**9), big, np.int32(10**9), big) == Result(0, 1, 1)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        ({"count1": -1}, "count1 must be at least 0, got -1"),
        ({"count1": 11}, "count1 must be at most n1=10, got 11"),
        ({"count2": 2.5}, "count2 must be an integer, got 2.5"),
        ({"count2": True}, "count2 must be an integer, got True"),
        ({"n1": 0, "count1": 0}, "n1 must be at least 1, got 0"),
        ({"n2": math.nan}, "n2 must be an integer, got nan"),
        ({"n2": 2**50 + 1}, "n2 must be at most"),
    ],
)
def test_bad_tallies_are_refused(change, message):
    given = {"count1": 3, "n1": 10, "count2": 4, "n2": 12} | change
    with pytest.raises(ValueError, match=message):
        interval(**given, channel=TWO_COINS)
    with pytest.raises(ValueError, match=message):
        z_test(**given)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"channel": (0.75, 0.25)}, "channel must be a Channel, got"),
        ({"level": 0}, "level must be strictly between 0 and 1, got 0"),
        ({"level": 95}, "level must be between 0 and 1, got 95"),
        ({"level": math.nan}, "level must be between 0 and 1, got nan"),
        ({"counts": [3], "sizes": [10]}, r"counts must have at least 2 groups, got \[3\]"),
        ({"counts": 3}, "counts must be a list or a table, got 3"),
        ({"counts": "35"}, "counts must be integers, got '35'"),
        ({"counts": [[[3]], [[4]]]}, "counts must be a list or a table, got"),
        ({"sizes": [10, 10, 10]}, r"sizes must have the shape \(2,\).*, got \(3,\)"),
        ({"counts": [3, 11]}, r"counts must be from 0 to sizes, got 11 at \(1, 0\)"),
        ({"counts": [3, 1.5]}, r"counts must be integers, got \[3, 1.5\]"),
        ({"sizes": [0, 0], "counts": [0, 0]}, "sizes must add up to from 1 to"),
        ({"keep": 0}, "keep must leave 1e-50 of the answers, got 0.0"),
        ({"channel": [TWO_COINS] * 2}, "channel must be one, or one for each column, got 2"),
    ],
)
def test_bad_groups_are_refused(change, message):
    given = {"counts": [3, 4], "sizes": [10, 10], "keep": 0.8, "channel": TWO_COINS} | change
    with pytest.raises(ValueError, match=message):
        groups(**given)
    if "level" in change:
        with pytest.raises(ValueError, match=message):
            interval(3, 10, 4, 10, TWO_COINS, **change)


@pytest.mark.parametrize(
    "table, message",
    [
        (None, "table must be a sequence, got None"),
        ([[1, 2]], "table must have at least 2 entries"),
        ([[1, 2], 3], r"table\[1\] must be a sequence, got 3"),
        ([[1, 2], [3]], r"table\[1\] must have 2 entries, got 1"),
        ([[1, 2], [3, -4]], r"table\[1\]\[1\] must be at least 0, got -4"),
        ([[1, 2], [3, 4.0]], r"table\[1\]\[1\] must be an integer, got 4.0"),
        ([[0, 0], [0, 0]], "the sum of table must be at least 1, got 0"),
        ([[], []], r"table\[0\] must have at least 1 entries"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        homogeneity(table)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "0.5", True])
def test_bad_p_values_are_refused(value):
    with pytest.raises(ValueError, match=r"p_values\[1\] must be"):
        holm([0.5, value])
