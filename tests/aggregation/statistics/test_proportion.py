"""Estimates and limits of a share, compared with published values and slow definitions."""

import json
import math
import warnings
from dataclasses import FrozenInstanceError, asdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import bisect
from scipy.stats import binom, hypergeom

from aggregation.statistics.proportion import (
    METHODS,
    Channel,
    Estimate,
    estimate,
    estimates,
    interval,
    intervals,
    p_value,
)
from tests.support.channels import NO_NOISE, warner

TWO_COINS = Channel(0.75, 0.25)  # epsilon = ln 3
FORCED = Channel(0.7 + 0.3 * 0.3, 0.3 * 0.3)  # truth with probability .7, else yes with .3

# From independent implementations, ten digits: low and high by Blaker, Clopper-Pearson, Wilson.
LIMITS = [
    (20, 100, warner(1), 0, 0.1835077544, 0, 0.1912299518, 0, 0.1834350268),
    (40, 100, warner(1), 0.1051347978, 0.5, 0.0743390432, 0.5060392685, 0.0875532631, 0.4956664955),
    (90, 100, warner(1), 0.8164922456, 1, 0.8087700482, 1, 0.8165649732, 1),
    (0, 10, TWO_COINS, 0, 0.5138026021, 0, 0.6121909246, 0, 0.5196750569),
    (3, 10, TWO_COINS, 0, 0.7132484322, 0, 0.8049057001, 0, 0.7064437051),
    (60, 100, TWO_COINS, 0.5, 0.8649479695, 0.4944183008, 0.8934104626, 0.5040051736, 0.8811974271),
    (300, 1000, TWO_COINS)
    + (0.0496976304, 0.1586801028, 0.0434422243, 0.1589233574, 0.0448136850, 0.1582477218),
    (3000, 10_000, TWO_COINS)
    + (0.0820604432, 0.1181639074, 0.0820552226, 0.1181779940, 0.0821930252, 0.1181141735),
    (300_000, 1_000_000, TWO_COINS)
    + (0.0982046199, 0.1017976233, 0.0982038239, 0.1017984933, 0.0982052027, 0.1017978704),
    (45, 100, FORCED)
    + (0.3767764331, 0.6577867961, 0.3718860418, 0.6610283018, 0.3802076854, 0.6536485286),
    (12, 40, NO_NOISE)
    + (0.1672432869, 0.4616356200, 0.1656272044, 0.4653162853, 0.1807484523, 0.4543001882),
]


@pytest.mark.parametrize("row", LIMITS, ids=lambda row: f"{row[0]} of {row[1]}")
def test_limits_have_their_reference_values(row):
    count, n, channel, *limits = row
    expected = zip(("blaker", "clopper-pearson", "wilson"), limits[::2], limits[1::2], strict=True)
    for method, low, high in expected:
        assert interval(count, n, channel, method=method) == pytest.approx((low, high), abs=2e-10)
    assert interval(count, n, channel) == interval(count, n, channel, method="blaker")


def test_limits_at_99_percent_have_their_reference_values():
    limits = interval(300, 1000, TWO_COINS, level=0.99)
    assert limits == pytest.approx((0.0332824603, 0.1773945061), abs=2e-10)


@pytest.mark.parametrize(
    "count, expected",
    [
        (20, 0.036154425599),
        (26, 0.059746237440),
        (30, 0.345434492116),
        (40, 0.296013115357),
        (45, 0.045744184610),
    ],
)
def test_p_values_have_their_reference_values(count, expected):
    assert p_value(0.2, count, 100, TWO_COINS) == pytest.approx(expected, abs=1e-12)


# --- the interval against its definition --------------------------------------------------------


def clamp(n, channel):
    """floor(nb) and ceil(na); 0.09 * 400 is 36 although the float 0.09 is below 9/100."""
    return math.floor(n * channel.b + 1e-9), math.ceil(n * channel.a - 1e-9)


def slow_acceptability(q, t, n, lowest, highest):
    """Blaker's p-values of the clamped count for an array of rates, by summing the definition."""
    pmf = binom.pmf(np.arange(n + 1), n, np.atleast_1d(q)[:, None])
    kept = pmf[:, lowest : highest + 1].copy()
    kept[:, 0] += pmf[:, :lowest].sum(axis=1)
    kept[:, -1] += pmf[:, highest + 1 :].sum(axis=1)
    below = kept.cumsum(axis=1)
    above = kept[:, ::-1].cumsum(axis=1)[:, ::-1]
    tail = np.minimum(below, above)
    as_extreme = tail <= tail[:, [t - lowest]] * (1 + 1e-9)
    return (kept * as_extreme).sum(axis=1)


def slow_limits(t, n, channel, lowest, highest, alpha):
    """Return the hull of the shares with a p-value above alpha, by grid and bisection."""
    a, b = channel.a, channel.b

    def excess(q):
        return slow_acceptability(q, t, n, lowest, highest) - alpha

    grid = np.linspace(b, a, 4001)
    kept = np.flatnonzero(excess(grid) > 0)
    first, last = kept[0], kept[-1]
    low = grid[0] if first == 0 else bisect(lambda q: excess(q)[0], grid[first - 1], grid[first])
    high = grid[-1] if last == 4000 else bisect(lambda q: excess(q)[0], grid[last], grid[last + 1])
    return (low - b) / channel.contrast, (high - b) / channel.contrast


def random_case(seed):
    """Draw n <= 80 reports and an informative channel."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 81))
    b = rng.uniform(0, 0.6)
    a = b + rng.uniform(0.1, 1) * (1 - b)
    channel = [warner(rng.uniform(0.3, 5)), Channel(1, b), Channel(a, 0), Channel(a, b)][seed % 4]
    level = rng.choice([0.8, 0.9, 0.95, 0.99, rng.uniform(0.76, 0.999)])
    return int(rng.integers(0, n + 1)), n, channel, float(level)


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.slow
def test_blaker_limits_and_p_values_follow_the_definition(seed):
    count, n, channel, level = random_case(seed)
    lowest, highest = clamp(n, channel)
    if binom.cdf(lowest, n, channel.b) < 1 / 4 or binom.sf(highest - 1, n, channel.a) < 1 / 4:
        assert interval(count, n, channel, level) == (0, 1)
        return
    t = min(max(count, lowest), highest)
    slow = slow_limits(t, n, channel, lowest, highest, 1 - level)
    assert interval(count, n, channel, level) == pytest.approx(slow, abs=1e-9)
    shares = np.linspace(0, 1, 41)
    rates = channel.b + channel.contrast * shares
    p = [p_value(share, count, n, channel) for share in shares]
    assert p == pytest.approx(slow_acceptability(rates, t, n, lowest, highest), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.slow
def test_many_intervals_agree_with_each_and_with_the_definition(seed):
    """Test every count of one survey and a whole table of surveys; no interval is empty."""
    _, n, channel, level = random_case(seed)
    for method in METHODS:
        low, high = intervals(range(n + 1), n, channel, level, method)
        one_by_one = [interval(s, n, channel, level, method) for s in range(n + 1)]
        assert np.transpose([low, high]) == pytest.approx(np.array(one_by_one), abs=1e-13, rel=0)
        assert (low >= 0).all() and (low < high).all() and (high <= 1).all()
    lowest, highest = clamp(n, channel)
    if binom.cdf(lowest, n, channel.b) < 1 / 4 or binom.sf(highest - 1, n, channel.a) < 1 / 4:
        return
    low, high = intervals(range(n + 1), n, channel, level)
    for count in range(0, n + 1, 1 + n // 5):
        t = min(max(count, lowest), highest)
        slow = slow_limits(t, n, channel, lowest, highest, 1 - level)
        assert (low[count], high[count]) == pytest.approx(slow, abs=1e-9)


def test_many_intervals_agree_with_each_at_any_size():
    rng = np.random.default_rng(7)
    sizes = np.rint(10 ** rng.uniform(0, 15, size=(6, 50))).astype(int)
    counts = np.rint(sizes * rng.beta(0.3, 0.3, size=sizes.shape)).astype(int)
    for channel in (TWO_COINS, FORCED, NO_NOISE, Channel(0.5, 1e-9)):
        low, high = intervals(counts, sizes, channel)
        assert low.shape == high.shape == sizes.shape
        for place in np.ndindex(6, 5):
            one = interval(int(counts[place]), int(sizes[place]), channel)
            # A result must not depend on the other counts in the call.
            assert (low[place], high[place]) == pytest.approx(one, abs=1e-12, rel=0)
    empty = intervals([], [], TWO_COINS)
    assert [len(limits) for limits in empty] == [0, 0]


def test_many_estimates_are_those_of_each():
    counts, sizes = [0, 300, 20, 900, 1], [10, 1000, 100, 1000, 1]
    for channel in (TWO_COINS, FORCED, NO_NOISE):
        for one, count, n in zip(
            estimates(counts, sizes, channel, 0.9), counts, sizes, strict=True
        ):
            expected = asdict(estimate(count, n, channel, 0.9))
            assert asdict(one) == pytest.approx(expected, abs=1e-13, rel=1e-13)


@pytest.mark.parametrize(
    "counts, sizes, message",
    [
        ([1, 2.5], 10, "counts must be integers"),
        ([True], 10, "counts must be integers"),
        ([1], ["10"], "sizes must be integers"),
        ([[1, 2], [3, 11]], 10, r"counts must be from 0 to the size, got 11 at \(1, 1\)"),
        ([1, -1], 10, r"counts must be from 0 to the size, got -1 at 1"),
        ([0, 0], [1, 0], r"sizes must be from 1 to 1125899906842624, got 0 at 1"),
        ([0, 0], [1, 2, 3], r"counts and sizes must have one shape, got \(2,\) and \(3,\)"),
    ],
)
def test_bad_tallies_are_refused_with_their_place(counts, sizes, message):
    with pytest.raises(ValueError, match=message):
        intervals(counts, sizes, TWO_COINS)


@pytest.mark.parametrize("count, n", [(0, 10), (37, 100), (300, 1000), (3000, 10_000)])
def test_the_p_value_crosses_alpha_at_the_limits(count, n):
    for level in (0.8, 0.95, 0.999):
        low, high = interval(count, n, TWO_COINS, level)
        if high < 1:
            assert p_value(high + 1e-8, count, n, TWO_COINS) <= 1 - level
        if low > 0:
            assert p_value(low - 1e-8, count, n, TWO_COINS) <= 1 - level
        inside = [p_value(x, count, n, TWO_COINS) for x in (low + 1e-8, high - 1e-8)]
        assert min(inside) > 1 - level - 1e-4


def test_a_tied_p_value_counts_both_tails():
    # At lambda = 1/2, 40 and 60 of 100 are equally improbable: the p-value is two equal tails.
    for count in (30, 40, 49, 51, 60, 70):
        tail = sum(math.comb(100, k) for k in range(min(count, 100 - count) + 1)) / 2**100
        assert p_value(0.5, count, 100, TWO_COINS) == pytest.approx(2 * tail, rel=1e-10)
    assert p_value(0.5, 50, 100, TWO_COINS) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, NO_NOISE, Channel(0.9, 0.85)])
def test_intervals_are_nested_in_the_level(method, channel):
    levels = [0.01, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9, 0.93, 0.95, 0.96, 0.98, 0.99, 0.999, 1 - 1e-9]
    for n in (1, 2, 5, 30, 101):
        for count in range(0, n + 1, 1 + n // 10):
            limits = np.array([interval(count, n, channel, level, method) for level in levels])
            assert (np.diff(limits[:, 0]) <= 1e-11 / channel.contrast).all()
            assert (np.diff(limits[:, 1]) >= -1e-11 / channel.contrast).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("channel", [warner(1), TWO_COINS, FORCED, NO_NOISE, Channel(0.91, 0.2)])
@pytest.mark.slow
def test_exchanging_yes_and_no_mirrors_everything(method, channel):
    mirrored = Channel(1 - channel.b, 1 - channel.a)
    for n in (1, 7, 100):
        for count in range(0, n + 1, 1 + n // 25):
            low, high = interval(count, n, channel, method=method)
            other = interval(n - count, n, mirrored, method=method)
            assert (1 - high, 1 - low) == pytest.approx(other, abs=1e-9)
            one = estimate(count, n, channel, population=n + 3)
            two = estimate(n - count, n, mirrored, population=n + 3)
            assert one.value == pytest.approx(1 - two.value, abs=1e-9)
            assert one.standard_error == pytest.approx(two.standard_error, rel=1e-9)
            assert one.privacy_error == pytest.approx(two.privacy_error, rel=1e-9, abs=1e-9)
            assert one.misfit == pytest.approx(two.misfit, rel=1e-9)
            one = estimate(count, n, channel, population=n)
            two = estimate(n - count, n, mirrored, population=n)
            assert (one.low, one.high) == pytest.approx((1 - two.high, 1 - two.low), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_count_below_the_range_has_the_same_interval(method):
    assert len({interval(s, 100, TWO_COINS, method=method) for s in range(26)}) == 1
    assert len({interval(s, 100, TWO_COINS, method=method) for s in range(75, 101)}) == 1
    assert interval(0, 100, TWO_COINS, method=method)[1] > 0.1


@pytest.mark.parametrize("channel", [Channel(0.04, 0.01), Channel(0.995, 0.96)])
def test_too_few_reports_give_the_whole_range(channel):
    # One option of thirty and one report: without care, rejecting every share there is.
    for count in (0, 1):
        assert interval(count, 1, channel) == (0, 1)
        one = estimate(count, 1, channel, population=1)
        assert (one.low, one.high) == (0, 1)


def plain_blaker(s, n, alpha):
    """Without noise, from the acceptability function as Blaker (2000) programmed it."""

    def accepted(q):
        above, below = binom.sf(s - 1, n, q), binom.cdf(s, n, q)
        from_above = above + binom.cdf(binom.ppf(above, n, q) - 1, n, q)
        from_below = below + binom.sf(binom.ppf(1 - below, n, q), n, q)
        return np.minimum(from_above, from_below) > alpha

    grid = np.linspace(0, 1, 2001)
    kept = np.flatnonzero(accepted(grid))
    limits = []
    for inside, outside in ((kept[0], kept[0] - 1), (kept[-1], kept[-1] + 1)):
        yes, no = grid[inside], grid[min(max(outside, 0), 2000)]
        for _ in range(40):
            middle = (yes + no) / 2
            yes, no = (middle, no) if accepted(middle) else (yes, middle)
        limits.append(yes)
    return tuple(limits)


@pytest.mark.parametrize("n", [1, 10, 57, 1000])
def test_little_noise_tends_to_no_noise(n):
    nearly = warner(36)
    for count in range(0, n + 1, 1 + n // 5):
        for method in METHODS:
            noisy = interval(count, n, nearly, method=method)
            assert noisy == pytest.approx(interval(count, n, NO_NOISE, method=method), abs=1e-9)
        plain = plain_blaker(count, n, 0.05)
        assert interval(count, n, NO_NOISE) == pytest.approx(plain, abs=1e-9)
        assert estimate(count, n, nearly).value == pytest.approx(count / n, abs=1e-12)


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12])
def test_a_billion_reports_have_normal_limits(n):
    count = 3 * n // 10
    low, high = interval(count, n, TWO_COINS)
    half = 1.959963984540054 * math.sqrt(0.3 * 0.7 / n) / 0.5
    assert (low, high) == pytest.approx((0.1 - half, 0.1 + half), abs=2e-3 * half + 4 / n)
    assert p_value(low - 1e-3 * half, count, n, TWO_COINS) <= 0.05
    assert p_value(high + 1e-3 * half, count, n, TWO_COINS) <= 0.05


# --- the estimate -------------------------------------------------------------------------------


def test_estimate_has_its_reference_values():
    one = estimate(300, 1000, TWO_COINS)
    assert one.value == pytest.approx(0.1, abs=1e-15)
    assert one.standard_error == pytest.approx(0.0289972557, abs=1e-10)
    assert (one.low, one.high) == interval(300, 1000, TWO_COINS)
    assert estimate(300, 1000, TWO_COINS, level=0.99).low == pytest.approx(0.0332824603, abs=2e-10)

    finite = estimate(300, 1000, TWO_COINS, population=5000)
    assert finite.standard_error**2 == pytest.approx(0.000822672673, abs=1e-12)
    assert (finite.low, finite.high) == (one.low, one.high)

    outside = estimate(20, 100, warner(1))
    assert outside.value == pytest.approx(-0.1491860241, abs=1e-10)
    assert outside.bounded == 0
    assert outside.standard_error == pytest.approx(0.0869942005, abs=1e-10)


def test_census_has_its_reference_values():
    large = estimate(300, 1000, TWO_COINS, population=1000)
    assert large.standard_error**2 == pytest.approx(0.00075, rel=1e-14)
    assert large.sampling_error == 0
    assert (large.low, large.high) == (0.045, 0.154)
    small = estimate(40, 100, TWO_COINS, population=100)
    assert (small.low, small.high) == (0.12, 0.47)


def test_the_protocol_example_has_its_stated_estimate():
    keep = 2641316663 / 2**32  # two yes/no questions in a block, epsilon = 2
    one = estimate(1041, 2500, Channel((1 + keep) / 2, (1 - keep) / 2))
    shown = [round(x, 4) for x in asdict(one).values()]
    assert shown == [0.3641, 0.3641, 0.0160, 0.0096, 0.0128, 0.3328, 0.3959, 1.0]


def test_misfit_has_its_reference_value():
    assert estimate(15, 100, TWO_COINS).misfit == pytest.approx(0.0221665350, abs=1e-10)
    assert estimate(85, 100, TWO_COINS).misfit == pytest.approx(0.0221665350, abs=1e-10)
    assert estimate(40, 100, TWO_COINS).misfit == 1
    assert estimate(0, 100, TWO_COINS).misfit == pytest.approx(2 * 0.75**100, rel=1e-9)
    assert estimate(0, 100, NO_NOISE).misfit == 1


def test_misfit_is_a_p_value():
    # Its chance of being at most x is at most x at every share: exact, n = 40, three channels.
    n, s = 40, np.arange(41)
    for channel in (TWO_COINS, FORCED, warner(0.5)):
        misfit = np.array([estimate(int(k), n, channel).misfit for k in s])
        for rate in np.linspace(channel.b, channel.a, 21):
            pmf = binom.pmf(s, n, rate)
            assert all(pmf[misfit <= x].sum() <= x * (1 + 1e-9) for x in misfit)


def test_privacy_error_of_symmetric_channels_is_known_exactly():
    for epsilon in (0.5, 1, 2, 4):
        known = 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(80))
        for count in (0, 20, 40, 80):
            for population in (None, 200, 80):
                one = estimate(count, 80, warner(epsilon), population=population)
                assert one.privacy_error == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("channel", [warner(1), FORCED, Channel(0.6, 0), Channel(1, 0.4), NO_NOISE])
@pytest.mark.parametrize("population", [None, 60, 30])
def test_the_parts_add_up_wherever_both_are_estimable(channel, population):
    exceptions = 0
    for count in range(31):
        one = estimate(count, 30, channel, population=population)
        total = one.sampling_error**2 + one.privacy_error**2
        if total == pytest.approx(one.standard_error**2, rel=1e-12, abs=1e-15):
            continue
        exceptions += 1
        assert not 0 <= one.value <= 1
        assert one.sampling_error == 0
        assert one.privacy_error > one.standard_error
    assert exceptions == 0 or channel != NO_NOISE and population != 30


def finite_pmf(n, population, yes, channel):
    """The law of the count: draw n of the people, then randomize the answers of each kind."""
    law = np.zeros(n + 1)
    for k in range(max(0, n - (population - yes)), min(n, yes) + 1):
        reports = np.convolve(
            binom.pmf(np.arange(k + 1), k, channel.a),
            binom.pmf(np.arange(n - k + 1), n - k, channel.b),
        )
        law += hypergeom.pmf(k, population, yes, n) * reports
    return law


def moments(law, n, channel, population):
    """E and Var of the value, E of the two unbiased variance estimates, by enumeration."""
    ones = [estimate(s, n, channel, population=population) for s in range(n + 1)]
    value = np.array([one.value for one in ones])
    mean = law @ value
    variance = law @ (value - mean) ** 2
    total = law @ [one.standard_error**2 for one in ones]
    privacy = law @ [one.privacy_error**2 for one in ones]
    return mean, variance, total, privacy


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, Channel(0.6, 0), NO_NOISE])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_value_and_variances_are_unbiased(channel, n):
    a, b, c = channel.a, channel.b, channel.contrast
    for share in (0, 0.1, 0.5, 1):
        law = binom.pmf(np.arange(n + 1), n, b + c * share)
        mean, variance, total, privacy = moments(law, n, channel, None)
        known = (share * a * (1 - a) + (1 - share) * b * (1 - b)) / (n * c * c)
        assert mean == pytest.approx(share, abs=1e-10)
        assert total == pytest.approx(variance, rel=1e-10, abs=1e-14)
        assert privacy == pytest.approx(known, rel=1e-10, abs=1e-14)
        assert variance == pytest.approx(known + share * (1 - share) / n, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, Channel(0.6, 0), NO_NOISE])
@pytest.mark.parametrize("n, population", [(2, 3), (5, 30), (20, 30), (30, 30), (1, 1)])
def test_value_and_variances_are_unbiased_in_finite_populations(channel, n, population):
    a, b, c = channel.a, channel.b, channel.contrast
    for yes in {0, 1, population // 3, population}:
        law = finite_pmf(n, population, yes, channel)
        mean, variance, total, privacy = moments(law, n, channel, population)
        share = yes / population
        known = (share * a * (1 - a) + (1 - share) * b * (1 - b)) / (n * c * c)
        correction = (population - n) / max(population - 1, 1)
        assert mean == pytest.approx(share, abs=1e-10)
        assert total == pytest.approx(variance, rel=1e-10, abs=1e-14)
        assert privacy == pytest.approx(known, rel=1e-10, abs=1e-14)
        expected = known + correction * share * (1 - share) / n
        assert variance == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, Channel(0.4, 0.1), NO_NOISE])
def test_one_report_has_the_largest_standard_error_possible(channel):
    rates = np.linspace(channel.b, channel.a, 1001)
    largest = math.sqrt((rates * (1 - rates)).max()) / channel.contrast
    for count in (0, 1):
        for population in (None, 2, 1000):
            one = estimate(count, 1, channel, population=population)
            assert one.standard_error == pytest.approx(largest, rel=1e-5)
    # If one person is the whole population, privacy is the only source of error.
    one = estimate(1, 1, channel, population=1)
    assert one.sampling_error == 0
    assert one.standard_error == one.privacy_error


def test_a_census_without_noise_is_known_exactly():
    for count in (0, 1, 57, 100):
        one = estimate(count, 100, NO_NOISE, population=100)
        assert one == Estimate(count / 100, count / 100, 0, 0, 0, count / 100, count / 100, 1)


@pytest.mark.parametrize(
    "channel",
    [warner(0.5), TWO_COINS, FORCED, Channel(0.995, 0.7), Channel(0.3, 0), Channel(1, 0.2)],
)
@pytest.mark.parametrize("n", [1, 2, 17, 400, 6000])
def test_census_limits_follow_the_definition(channel, n):
    """At the limits both tails exceed alpha/2, and one step further one does not."""
    a, b = channel.a, channel.b

    def tails(yes, t):
        law = np.convolve(
            binom.pmf(np.arange(yes + 1), yes, a), binom.pmf(np.arange(n - yes + 1), n - yes, b)
        )
        return law[: t + 1].sum(), law[t:].sum()

    lowest, highest = clamp(n, channel)
    for count in sorted({0, round(n * b), round(n * (a + b) / 2), round(n * a), n}):
        one = estimate(count, n, channel, level=0.9, population=n)
        t = min(max(count, lowest), highest)
        high, low = round(one.high * n), round(one.low * n)
        assert (low / n, high / n) == (one.low, one.high)
        if t == highest:
            assert high == n
        else:
            assert tails(high, t)[0] > 0.05 or high == 0
            assert high == n or tails(high + 1, t)[0] <= 0.05
        if t == lowest:
            assert low == 0
        else:
            assert tails(low, t)[1] > 0.05 or low == n
            assert low == 0 or tails(low - 1, t)[1] <= 0.05


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_a_census_of_a_nation_has_normal_limits(n):
    # Normal limits: only the noise is left, whose standard error is known.
    one = estimate(3 * n // 10, n, TWO_COINS, population=n)
    half = 1.959963984540054 * math.sqrt(0.75 / n)
    assert (one.low, one.high) == pytest.approx((0.1 - half, 0.1 + half), abs=2e-3 * half + 4 / n)


# --- what is given and what is returned ---------------------------------------------------------


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_every_estimate_is_finite_ordered_and_silent(data):
    b, a = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1)), label="rates"))
    if a - b < 1e-300:
        return
    n = data.draw(st.integers(1, 10) | st.integers(1, 10**4) | st.integers(1, 2**50), label="n")
    count = data.draw(st.integers(0, n), label="count")
    level = data.draw(st.floats(1e-9, 1 - 1e-9), label="level")
    population = data.draw(st.none() | st.just(n) | st.integers(n, 3 * n), label="population")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = estimate(count, n, Channel(a, b), level, population)
        assert all(type(x) is float and math.isfinite(x) for x in asdict(one).values())
        assert 0 <= one.low <= one.bounded <= one.high <= 1
        assert 0 <= one.misfit <= 1
        assert min(one.standard_error, one.sampling_error, one.privacy_error) >= 0
        for method in METHODS:
            low, high = interval(count, n, Channel(a, b), level, method)
            assert 0 <= low <= one.bounded <= high <= 1
        assert p_value(one.bounded, count, n, Channel(a, b)) >= 0.25 - 1e-6


HARD = [
    # a level so low that rounding alone decides on which side of alpha a p-value of 1 falls
    (3954195416, 8697331619, Channel(0.7830789521266457, 0.29275249159084005), 6e-15, None),
    # both tails equal but for rounding
    (51, 102, Channel(0.6795506216615512, 5.4e-67), 0.67, None),
    (45, 90, Channel(0.9999999986469064, 0.4068302920419419), 1.5e-10, 624),
    # rates at the edge of floating point
    (0, 4, Channel(0.9996502101179097, 8.1e-309), 0.5, 4),
    (976206, 3333526, Channel(0.999999999999997, 4e-308), 0.32, 3333526),
    (1, 1, Channel(1e-300, 0), 0.95, None),
    (30, 100, TWO_COINS, 5e-324, 200),
    (3, 100, NO_NOISE, 1 - 2**-53, 200),
    (7, 9, Channel(1, 1 - 2**-53), 0.95, 9),
]


@pytest.mark.parametrize("count, n, channel, level, population", HARD)
def test_hard_cases_have_finite_and_ordered_estimates(count, n, channel, level, population):
    one = estimate(count, n, channel, level, population)
    assert all(math.isfinite(x) for x in asdict(one).values())
    assert 0 <= one.low <= one.bounded <= one.high <= 1
    assert 0.25 <= p_value(one.bounded, count, n, channel) <= 1


def test_numpy_integers_are_integers():
    for kind in (np.int32, np.int64, np.uint8):
        assert estimate(kind(30), kind(100), TWO_COINS) == estimate(30, 100, TWO_COINS)
    # 2e9 * 2e9 does not fit in 32 bits; the arithmetic must not be NumPy's.
    large = estimate(np.int32(10**9), np.int32(2 * 10**9), TWO_COINS, population=np.int64(10**10))
    assert large == estimate(10**9, 2 * 10**9, TWO_COINS, population=10**10)


def test_an_estimate_is_a_frozen_value_that_json_can_carry():
    one = estimate(30, 100, TWO_COINS)
    with pytest.raises(FrozenInstanceError):
        one.value = 0.5
    assert json.loads(json.dumps(asdict(one), allow_nan=False)) == asdict(one)


def test_a_channel_knows_its_contrast_rate_and_loss():
    assert TWO_COINS.contrast == 0.5
    assert TWO_COINS.rate(0.2) == pytest.approx(0.35)
    assert TWO_COINS.epsilon == pytest.approx(math.log(3), rel=1e-15)
    for epsilon in (1e-6, 0.5, 1, 8):
        assert warner(epsilon).epsilon == pytest.approx(epsilon, rel=1e-9)
    assert FORCED.epsilon == pytest.approx(math.log(0.79 / 0.09))
    assert Channel(0.9, 0.5).epsilon == pytest.approx(math.log(0.5 / 0.1))
    assert NO_NOISE.epsilon == Channel(1, 0.5).epsilon == Channel(0.5, 0).epsilon == math.inf
    assert Channel(np.float32(0.75), Fraction(1, 4)) == TWO_COINS


BAD_CHANNELS = [
    (0.25, 0.75, "a must exceed b"),
    (0.5, 0.5, "a must exceed b"),
    (5e-324, 0, "a must exceed b"),
    (1.5, 0.25, "a must be between 0 and 1, got 1.5"),
    (0.75, -0.1, "b must be between 0 and 1, got -0.1"),
    (math.nan, 0.25, "a must be between 0 and 1, got nan"),
    (0.75, math.nan, "b must be between 0 and 1, got nan"),
    (math.inf, 0.25, "a must be between 0 and 1, got inf"),
    (True, 0.25, "a must be a number, got True"),
    ("0.75", 0.25, "a must be a number, got '0.75'"),
    (0.75, None, "b must be a number, got None"),
]


@pytest.mark.parametrize("a, b, message", BAD_CHANNELS)
def test_bad_channels_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        Channel(a, b)


BAD_ARGUMENTS = [
    ({"count": -1}, "count must be at least 0, got -1"),
    ({"count": 101}, "count must be at most n=100, got 101"),
    ({"count": 30.0}, "count must be an integer, got 30.0"),
    ({"count": math.nan}, "count must be an integer, got nan"),
    ({"count": True}, "count must be an integer, got True"),
    ({"count": np.True_}, "count must be an integer, got .*True"),
    ({"count": "30"}, "count must be an integer, got '30'"),
    ({"count": None}, "count must be an integer, got None"),
    ({"count": np.array([30])}, "count must be an integer, got array"),
    ({"n": 0, "count": 0}, "n must be at least 1, got 0"),
    ({"n": -5}, "n must be at least 1, got -5"),
    ({"n": 100.5}, "n must be an integer, got 100.5"),
    ({"n": math.inf}, "n must be an integer, got inf"),
    ({"n": 2**50 + 1}, "n must be at most 1125899906842624, got 1125899906842625"),
    ({"channel": None}, "channel must be a Channel, got None"),
    ({"channel": (0.75, 0.25)}, "channel must be a Channel, got"),
    ({"level": 0}, "level must be strictly between 0 and 1, got 0"),
    ({"level": 1}, "level must be strictly between 0 and 1, got 1"),
    ({"level": 95}, "level must be between 0 and 1, got 95"),
    ({"level": -0.95}, "level must be between 0 and 1, got -0.95"),
    ({"level": math.nan}, "level must be between 0 and 1, got nan"),
    ({"level": True}, "level must be a number, got True"),
    ({"level": "0.95"}, "level must be a number, got '0.95'"),
]


@pytest.mark.parametrize("change, message", BAD_ARGUMENTS)
def test_bad_arguments_are_refused(change, message):
    given = {"count": 30, "n": 100, "channel": TWO_COINS} | change
    for function in (estimate, interval):
        with pytest.raises(ValueError, match=message):
            function(**given)
    if "level" not in change:
        with pytest.raises(ValueError, match=message):
            p_value(0.5, **given)


@pytest.mark.parametrize(
    "population, message",
    [
        (99, "population must be at least 100, got 99"),
        (0, "population must be at least 100, got 0"),
        (math.inf, "population must be an integer, got inf"),
        (200.0, "population must be an integer, got 200.0"),
        (True, "population must be an integer, got True"),
    ],
)
def test_bad_populations_are_refused(population, message):
    with pytest.raises(ValueError, match=message):
        estimate(30, 100, TWO_COINS, population=population)


@pytest.mark.parametrize("method", ["wald", "Blaker", "", None, ["blaker"]])
def test_unknown_methods_are_refused(method):
    with pytest.raises(ValueError, match="method must be one of blaker, wilson, clopper-pearson"):
        interval(30, 100, TWO_COINS, method=method)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, "0.5", True])
def test_bad_shares_are_refused(share):
    with pytest.raises(ValueError, match="share must be"):
        p_value(share, 30, 100, TWO_COINS)
