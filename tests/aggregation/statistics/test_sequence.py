"""Limits that hold at every look: against their definition, and by exact recursion over looks."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaln, xlog1py, xlogy
from scipy.stats import beta, binom

from aggregation.statistics import proportion
from aggregation.statistics.proportion import Channel
from aggregation.statistics.sequence import (
    _log_tuned,
    concentration,
    interval,
    intervals,
    robbins,
    uniform,
)
from tests.support.channels import FORCED, NO_NOISE, TWO_COINS, warner

ALL = (interval, uniform, robbins)


@pytest.mark.parametrize(
    "function, count, n, channel, low, high",
    [
        (interval, 300, 1000, TWO_COINS, 0.0182674630, 0.1910692329),
        (interval, 20, 100, warner(1), 0, 0.2180409875),
        (interval, 30_000, 100_000, TWO_COINS, 0.0894914668, 0.1106222758),
        (interval, 1, 1, TWO_COINS, 0, 1),
        (uniform, 300, 1000, TWO_COINS, 0.0060789090, 0.1998936308),
        (robbins, 300, 1000, TWO_COINS, 0.0040182642, 0.1959817358),
    ],
)
def test_limits_have_their_reference_values(function, count, n, channel, low, high):
    assert function(count, n, channel) == pytest.approx((low, high), abs=1e-10)


# --- the limits against their definition --------------------------------------------------------


def slow_log_m(rate, count, n, channel, k):
    """log M by the incomplete beta functions, tails taken on the side where they are small."""

    def log_mass(yes, no):
        mean = yes / (yes + no)
        left = betainc(yes, no, channel.a) - betainc(yes, no, channel.b)
        right = betaincc(yes, no, channel.b) - betaincc(yes, no, channel.a)
        return np.log(np.where(mean < (channel.a + channel.b) / 2, right, left))

    yes, no = k * rate, k * (1 - rate)
    untruncated = betaln(yes + count, no + n - count) - betaln(yes, no)
    likelihood = xlogy(count, rate) + xlog1py(n - count, -rate)
    return untruncated - likelihood + log_mass(yes + count, no + n - count) - log_mass(yes, no)


def random_case(seed, largest=3.5):
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(0, largest))
    b = rng.uniform(0.01, 0.6)
    a = b + rng.uniform(0.1, 0.95) * (1 - b)
    channel = warner(rng.uniform(0.3, 5)) if seed % 2 else Channel(a, b)
    rate = channel.b + channel.contrast * rng.uniform(0, 1)
    return int(rng.binomial(n, rate)), n, channel, float(rng.choice([0.5, 0.8, 0.95, 0.99]))


@pytest.mark.parametrize("seed", range(60))
def test_limits_follow_the_definition(seed):
    """The hull of the rates with M below 1/alpha on a grid, and M = 1/alpha at its ends."""
    count, n, channel, level = random_case(seed)
    n_opt = (10, 300, 5000)[seed % 3]
    k = n_opt / (-2 * math.log(1 - level) + math.log(1 - 2 * math.log(1 - level)))
    bar = -math.log(1 - level)
    low, high = interval(count, n, channel, level, n_opt)
    shares = np.linspace(0, 1, 1001)
    rates = np.clip(channel.b + channel.contrast * shares, channel.b, channel.a)
    kept = slow_log_m(rates, count, n, channel, k) < bar
    inside = np.flatnonzero(kept)
    if not inside.size:  # narrower than the grid
        assert high - low < 2e-3
    else:
        assert kept[inside[0] : inside[-1] + 1].all()  # it is an interval
        assert low <= shares[inside[0]] + 1e-9 and high >= shares[inside[-1]] - 1e-9
        assert low >= shares[max(inside[0] - 1, 0)] - 1e-9
        assert high <= shares[min(inside[-1] + 1, 1000)] + 1e-9
    for end in (low, high):
        if 0 < end < 1:
            rate = channel.b + channel.contrast * end
            assert slow_log_m(rate, count, n, channel, k) == pytest.approx(bar, abs=1e-6)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.slow
def test_many_limits_agree_with_each(seed):
    """Mix cases that need more nodes or more steps, or are searched separately."""
    rng = np.random.default_rng(seed)
    b = rng.uniform(0, 0.5) * (seed % 3 > 0)
    channel = Channel(b + rng.uniform(0.05, 1) * (1 - b), b)
    sizes = np.rint(10 ** rng.uniform(0, 12, size=(3, 4))).astype(int)
    counts = np.rint(sizes * rng.beta(0.3, 0.3, size=(3, 4))).astype(int)
    low, high = intervals(counts, sizes, channel, 0.9, 100)
    assert (low >= 0).all() and (low < high).all() and (high <= 1).all()
    for place in np.ndindex(3, 4):
        one = interval(int(counts[place]), int(sizes[place]), channel, 0.9, 100)
        assert (low[place], high[place]) == pytest.approx(one, abs=1e-12 / channel.contrast, rel=0)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.slow
def test_limits_of_many_channels_agree_with_each(seed):
    rng = np.random.default_rng(seed)
    b = rng.uniform(0, 0.5, 40) * (rng.uniform(size=40) < 0.8)
    a = np.where(rng.uniform(size=40) < 0.8, b + rng.uniform(0.05, 1, 40) * (1 - b), 1.0)
    channels = [Channel(*pair) for pair in zip(a.tolist(), b.tolist(), strict=True)]
    sizes = np.rint(10 ** rng.uniform(0, 9, size=40)).astype(int)
    counts = np.rint(sizes * rng.beta(0.3, 0.3, size=40)).astype(int)
    low, high = intervals(counts, sizes, channels, 0.9)
    for i, channel in enumerate(channels):
        one = interval(int(counts[i]), int(sizes[i]), channel, 0.9)
        assert (low[i], high[i]) == pytest.approx(one, abs=1e-12 / channel.contrast, rel=0)
    with pytest.raises(ValueError, match="one for each count, got 39"):
        intervals(counts, sizes, channels[1:])


def test_limits_searched_in_several_parts_agree_with_each():
    low, high = intervals(range(2501), 2500, TWO_COINS)
    for count in (0, 700, 999, 1000, 1250, 2001, 2500):
        one = interval(count, 2500, TWO_COINS)
        assert (low[count], high[count]) == pytest.approx(one, abs=1e-12, rel=0)


@pytest.mark.parametrize("seed", range(20))
def test_mixtures_agree_with_adaptive_quadrature(seed):
    count, n, channel, level = random_case(seed, largest=2.5)
    a, b = channel.a, channel.b
    for rate in np.linspace(b + 0.02 * (a - b), a - 0.02 * (a - b), 5):
        k = 40.0

        def ratio(x, rate=rate):
            return math.exp(xlogy(count, x / rate) + xlogy(n - count, (1 - x) / (1 - rate)))

        def prior(x, rate=rate, k=k):
            return math.exp(xlogy(k * rate - 1, x / rate) + xlogy(k - k * rate - 1, 1 - x))

        middle = [min(max(count / n, b), a)]
        top = quad(lambda x: ratio(x) * prior(x), b, a, points=middle, epsabs=0, limit=200)[0]
        bottom = quad(prior, b, a, points=[rate], epsabs=0, limit=200)[0]
        ours = _log_tuned(k, rate, count, n, a, b)
        assert ours == pytest.approx(math.log(top / bottom), abs=1e-7)
    low, high = uniform(count, n, channel, level)
    for end in (low, high):
        if 0 < end < 1:
            r = b + (a - b) * end
            top = quad(
                lambda x, r=r: math.exp(xlogy(count, x / r) + xlogy(n - count, (1 - x) / (1 - r))),
                b,
                a,
                points=middle,
                epsabs=0,
                limit=200,
            )[0]
            assert top / (a - b) * (1 - level) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 2**50])
def test_limits_for_a_billion_reports_follow_the_formula(n):
    """Then log M = ln(k/(k+n))/2 + n^2/(n+k) d^2 / (2 l(1-l)) - ln(mass of the prior in [b, a])."""
    count = 3 * n // 10
    k = concentration(300, 0.95)
    for end, sign in zip(interval(count, n, TWO_COINS), (-1, 1), strict=True):
        rate = 0.25 + 0.5 * end
        spread = rate * (1 - rate) / n
        mass = np.diff(betainc(k * rate, k * (1 - rate), [0.25, 0.75]))[0]
        d = math.sqrt(spread * (2 * math.log(20 * mass) + math.log((n + k) / k)) * (1 + k / n))
        assert end == pytest.approx((count / n + sign * d - 0.25) / 0.5, abs=5e-3 * d)


# --- looking after every report -----------------------------------------------------------------


def boundaries(kept, sizes, rate):
    """The first and last count kept at each n: bisection in the count, for all n at once.

    Counts more than 12 standard deviations of 1/(2 sqrt n) away are not looked at.
    """
    edges = []
    for sign in (-1, 1):
        inside = np.floor(sizes * rate) if sign < 0 else np.ceil(sizes * rate)
        outside = np.clip(inside + sign * np.ceil(6 * np.sqrt(sizes)), -1, sizes + 1)
        while (abs(outside - inside) > 1).any():
            middle = np.trunc((inside + outside) / 2)
            good = kept(np.clip(middle, 0, sizes), sizes) & (abs(outside - inside) > 1)
            bad = ~good & (abs(outside - inside) > 1)
            inside, outside = np.where(good, middle, inside), np.where(bad, middle, outside)
        edges.append(inside.astype(int))
    return edges


def missed(first, last, rates):
    """Return P(some count up to n was not kept) for every n, by recursion over the reports.

    The law of the counts of those that were never missed gains one report and loses what is no
    longer kept. The rates may differ from report to report.
    """
    law, start, lost, history = np.array([1.0]), 0, 0.0, []
    for low, high, rate in zip(first, last, rates, strict=True):
        law = np.append(law, 0) * (1 - rate) + np.append(0, law) * rate
        left, right = max(low - start, 0), max(start + len(law) - 1 - high, 0)
        lost += law[:left].sum() + law[len(law) - right :].sum()
        law, start = law[left : len(law) - right], start + left
        history.append(lost)
    return np.array(history)


def tuned_boundaries(channel, share, last, level=0.95, n_opt=300):
    sizes = np.arange(1, last + 1)
    rate = channel.b + channel.contrast * share
    k = concentration(n_opt, level)
    bar = -math.log(1 - level)

    def kept(count, n):
        with np.errstate(divide="ignore", invalid="ignore"):
            return ~(slow_log_m(rate, count, n, channel, k) >= bar)

    return boundaries(kept, sizes, rate)


@pytest.mark.parametrize("share", [0, 0.1, 0.5])
@pytest.mark.parametrize("epsilon", [1, math.log(3), 4])
@pytest.mark.slow
def test_looking_after_every_report_is_wrong_less_often_than_promised(epsilon, share):
    # n up to 3000, alpha = 0.05, exact. The naive interval below is rejected by the same recursion.
    channel = warner(epsilon)
    first, last = tuned_boundaries(channel, share, 3000)
    rate = channel.b + channel.contrast * share
    history = missed(first, last, [rate] * 3000)
    assert 0.025 < history[-1] < 0.0425  # close to alpha too: the sequence is not wasteful
    for n in (1, 10, 57, 300, 1000, 3000):  # the limits themselves keep exactly these counts
        for count, kept in ((first[n - 1], True), (first[n - 1] - 1, False)):
            if count >= 0 and (kept or share > 0):
                low, high = interval(int(count), n, channel)
                assert (low <= share <= high) == kept
        for count, kept in ((last[n - 1], True), (last[n - 1] + 1, False)):
            if count <= n:
                low, high = interval(int(count), n, channel)
                assert (low <= share <= high) == kept


@pytest.mark.slow
def test_miscoverage_in_twenty_thousand_looks_has_its_reference_value():
    # eps = 1, share = 0.1: 0.0407 exactly, and 0.0411 in a simulation of 20,000 paths.
    first, last = tuned_boundaries(warner(1), 0.1, 20_000)
    rate = warner(1).rate(0.1)
    assert missed(first, last, [rate] * 20_000)[-1] == pytest.approx(0.0407, abs=5e-5)


@pytest.mark.slow
def test_the_recursion_follows_the_limits_count_by_count():
    """Up to n = 40 by asking for the interval of every count, for all three and two levels."""
    for function in ALL:
        for level, channel in ((0.95, TWO_COINS), (0.6, FORCED)):
            share, top = 0.3, 40
            alive = {0: 1.0}
            for n in range(1, top + 1):
                after = {}
                for count, mass in alive.items():
                    for yes, p in ((1, channel.rate(share)), (0, 1 - channel.rate(share))):
                        after[count + yes] = after.get(count + yes, 0) + mass * p
                limits = {s: function(s, n, channel, level) for s in after}
                alive = {s: m for s, m in after.items() if limits[s][0] <= share <= limits[s][1]}
            assert 1 - sum(alive.values()) <= 1 - level


def test_the_interval_for_one_look_fails_when_looking_repeatedly():
    # Clopper and Pearson's at every report, share = 0.5: the known 0.227, 0.408 and 0.595.
    sizes = np.arange(1, 20_001)
    first, last = binom.ppf(0.025, sizes, 0.5), binom.isf(0.025, sizes, 0.5)
    first = np.where(binom.cdf(first, sizes, 0.5) > 0.025, first, first + 1).astype(int)
    last = np.where(binom.sf(last - 1, sizes, 0.5) > 0.025, last, last - 1).astype(int)
    history = missed(first, last, [0.5] * 20_000)
    assert history[[99, 999, 19_999]] == pytest.approx([0.227, 0.408, 0.595], abs=6e-4)
    for n in (100, 1000):  # these are the limits of the interval for one look
        for count, kept in ((first[n - 1], True), (first[n - 1] - 1, False)):
            if count >= 0:
                low, high = proportion.interval(int(count), n, TWO_COINS, method="clopper-pearson")
                assert (low <= 0.5 <= high) == kept


DRIFTS = {
    "none": lambda i: np.full(i.shape, 0.1),
    "step": lambda i: (i >= 500) * 1.0,
    "wave": lambda i: 0.5 + 0.5 * np.sin(i / 40),
    "alternating": lambda i: i % 2 * 1.0,
    "trend": lambda i: i / i[-1],
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_robbins_covers_the_running_share_however_it_drifts(drift):
    # n up to 3000, alpha = 0.05, exact for these fixed answers.
    i = np.arange(3000)
    rates = 0.25 + 0.5 * DRIFTS[drift](i)
    sizes = i + 1
    mean = np.cumsum(rates) / sizes
    r = concentration(1000, 0.95) / 4
    half = np.sqrt((sizes / 4 + r) * np.log((sizes / 4 + r) / (r * 0.05**2)))
    first = np.maximum(np.ceil(sizes * mean - half), 0).astype(int)
    last = np.minimum(np.floor(sizes * mean + half), sizes).astype(int)
    assert missed(first, last, rates)[-1] <= 0.05
    for n in (300, 1000, 3000):
        share = (mean[n - 1] - 0.25) / 0.5
        low, high = robbins(int(last[n - 1]), n, TWO_COINS)
        assert low <= share <= high


# --- properties ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, NO_NOISE])
@pytest.mark.slow
def test_intervals_are_nested_in_the_level(function, channel):
    levels = [0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9]
    for n in (1, 30, 1000):
        for count in {0, n // 10, n // 2, n}:
            limits = np.array([function(count, n, channel, level) for level in levels])
            assert (np.diff(limits[:, 0]) <= 1e-10).all()
            assert (np.diff(limits[:, 1]) >= -1e-10).all()


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("channel", [warner(1), FORCED, NO_NOISE])
def test_exchanging_yes_and_no_mirrors_the_limits(function, channel):
    mirrored = Channel(1 - channel.b, 1 - channel.a)
    for n in (1, 7, 100, 10_000):
        for count in {0, 1, n // 3, n}:
            low, high = function(count, n, channel)
            other = function(n - count, n, mirrored)
            assert (1 - high, 1 - low) == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("function", ALL)
def test_improbable_counts_leave_an_interval(function):
    for n in (1, 100, 10_000, 10**6):
        for count in {0, n // 8, n // 4, n - n // 8, n}:
            low, high = function(count, n, TWO_COINS)
            bounded = min(max((count / n - 0.25) / 0.5, 0), 1)
            assert 0 <= low <= bounded <= high <= 1
            assert low < high


@pytest.mark.parametrize("function", ALL)
def test_limits_are_wider_than_the_interval_for_one_look(function):
    for n in (10, 300, 1000, 100_000):
        for count in (n // 3, n // 2):
            low, high = function(count, n, TWO_COINS)
            once = proportion.interval(count, n, TWO_COINS)
            assert low <= once[0] and once[1] <= high
            assert n < 300 or high - low < 2.1 * (once[1] - once[0])


def test_tuning_serves_the_size_it_is_tuned_for():
    widths = {}
    for n_opt in (30, 300, 3000, 30_000):
        for n in (30, 3000, 30_000):
            low, high = interval(n // 2, n, NO_NOISE, n_opt=n_opt)
            widths[n_opt, n] = high - low
    for n in (30, 3000, 30_000):
        assert min((300, 30, 3000, 30_000), key=lambda n_opt: widths[n_opt, n]) == n


def test_no_noise_is_the_limit_of_little_noise_and_much_noise_says_nothing():
    for function in ALL:
        for count in (0, 1, 2, 30, 99, 100):
            # A prior that is all but a point at 0 feels its truncation at 2e-16 a little.
            close = 1e-9 if count == 30 else 1e-3
            nearly = function(count, 100, warner(36))
            assert nearly == pytest.approx(function(count, 100, NO_NOISE), abs=close)
            assert function(count, 100, warner(1e-4)) == (0, 1)


def test_without_truncation_it_is_the_beta_mixture():
    """No noise: rates in [0, 1], where M is a ratio of beta functions (Robbins 1970)."""
    k = concentration(300, 0.95)

    def excess(rate):
        yes, no = k * rate, k * (1 - rate)
        ratio = betaln(yes + 30, no + 70) - betaln(yes, no)
        return ratio - 30 * math.log(rate) - 70 * math.log(1 - rate) - math.log(20)

    roots = brentq(excess, 0.01, 0.3), brentq(excess, 0.3, 0.99)
    assert interval(30, 100, NO_NOISE) == pytest.approx(roots, abs=1e-10)

    def flat(rate):
        return math.exp(betaln(31, 71) - 30 * math.log(rate) - 70 * math.log(1 - rate)) - 20

    roots = brentq(flat, 0.01, 0.3), brentq(flat, 0.3, 0.99)
    assert uniform(30, 100, NO_NOISE) == pytest.approx(roots, abs=1e-10)
    assert beta(31, 71).pdf(roots[0]) == pytest.approx(1 / 20, rel=1e-6)  # posterior over prior


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.slow
def test_every_interval_is_finite_ordered_and_silent(data):
    b, a = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1)), label="rates"))
    if a - b < 1e-300:
        return
    n = data.draw(st.integers(1, 10) | st.integers(1, 10**4) | st.integers(1, 2**50), label="n")
    count = data.draw(st.integers(0, n), label="count")
    level = data.draw(st.floats(1e-9, 1 - 1e-9), label="level")
    n_opt = data.draw(st.integers(1, 10**4) | st.integers(1, 2**50), label="n_opt")
    channel = Channel(a, b)
    bounded = min(max((count / n - b) / channel.contrast, 0), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for low, high in (
            interval(count, n, channel, level, n_opt),
            uniform(count, n, channel, level),
            robbins(count, n, channel, level, n_opt),
        ):
            assert type(low) is float and type(high) is float
            assert 0 <= low <= bounded <= high <= 1


@pytest.mark.parametrize(
    "count, n, channel, level",
    [
        (0, 2**50, TWO_COINS, 0.95),
        (2**50, 2**50, TWO_COINS, 1 - 2**-53),
        (1, 10**9, NO_NOISE, 0.95),
        (300, 1000, TWO_COINS, 5e-324),
        (7, 9, Channel(1, 1 - 2**-53), 0.95),
        (5, 100, Channel(1e-300, 0), 0.95),
        (5, 10, Channel(0.5, 8.1e-309), 0.95),
        (1, 2, Channel(1, 5e-324), 0.95),
    ],
)
def test_hard_cases_have_finite_and_ordered_limits(count, n, channel, level):
    for function in ALL:
        for n_opt in (1, 300, 2**50):
            extra = {} if function is uniform else {"n_opt": n_opt}
            low, high = function(count, n, channel, level, **extra)
            assert 0 <= low <= high <= 1


BAD_ARGUMENTS = [
    ({"count": -1}, "count must be at least 0, got -1"),
    ({"count": 101}, "count must be at most n=100, got 101"),
    ({"count": 30.0}, "count must be an integer, got 30.0"),
    ({"count": True}, "count must be an integer, got True"),
    ({"n": 0, "count": 0}, "n must be at least 1, got 0"),
    ({"n": math.nan}, "n must be an integer, got nan"),
    ({"n": 2**50 + 1}, "n must be at most 1125899906842624"),
    ({"channel": (0.75, 0.25)}, "channel must be a Channel, got"),
    ({"level": 0}, "level must be strictly between 0 and 1, got 0"),
    ({"level": 1}, "level must be strictly between 0 and 1, got 1"),
    ({"level": 95}, "level must be between 0 and 1, got 95"),
    ({"level": math.nan}, "level must be between 0 and 1, got nan"),
    ({"n_opt": 0}, "n_opt must be at least 1, got 0"),
    ({"n_opt": 300.0}, "n_opt must be an integer, got 300.0"),
    ({"n_opt": math.inf}, "n_opt must be an integer, got inf"),
    ({"n_opt": 2**60}, "n_opt must be at most 1125899906842624"),
]


@pytest.mark.parametrize("change, message", BAD_ARGUMENTS)
def test_bad_arguments_are_refused(change, message):
    given = {"count": 30, "n": 100, "channel": TWO_COINS} | change
    for function in ALL:
        if function is uniform and "n_opt" in change:
            continue
        with pytest.raises(ValueError, match=message):
            function(**given)


def test_numpy_integers_are_integers():
    for function in ALL:
        assert function(np.int32(30), np.int64(100), TWO_COINS) == function(30, 100, TWO_COINS)
