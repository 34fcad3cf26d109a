"""Design weights and pooled channels, against formulas, enumeration and simulation."""

import json
import math
import warnings
from dataclasses import FrozenInstanceError, asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from aggregation.statistics import proportion
from aggregation.statistics.proportion import Channel
from aggregation.statistics.weights import (
    estimate,
    kish,
    pooled,
    privacy_effect,
)
from tests.support.channels import FORCED, NO_NOISE, TWO_COINS, warner

Y, W = [1, 0, 1, 1, 0, 0, 1, 0], [1, 2, 1, 3, 1, 2, 2, 1]


# --- reference values ---------------------------------------------------------------------------


def test_a_weighted_estimate_has_its_reference_values():
    one = estimate(Y, W, TWO_COINS)
    assert one.value == pytest.approx(0.5769230769, abs=1e-10)
    assert one.standard_error**2 == pytest.approx(0.1648601740, abs=1e-10)
    assert one.kish == pytest.approx(1.1834319527, abs=1e-10)
    assert kish(W) == pytest.approx(1.1834319527, abs=1e-10)
    assert one.n == 8
    assert (one.low + one.high) / 2 == pytest.approx(one.value)
    assert (one.high - one.low) / 2 == pytest.approx(1.959963984540054 * one.standard_error)


@pytest.mark.parametrize(
    "epsilon, expected",
    [
        (0.5, (83.5, 44.5, 16.7)),
        (1, (20.4, 11.2, 4.68)),
        (math.log(3), (16.8, 9.33, 4)),
        (2, (4.81, 3.01, 1.72)),
        (4, (1.40, 1.21, 1.08)),
    ],
)
def test_privacy_design_effects_have_their_reference_values(epsilon, expected):
    for share, value in zip((0.05, 0.1, 0.5), expected, strict=True):
        assert privacy_effect(share, warner(epsilon)) == pytest.approx(value, rel=4e-3)
    # The same from the known variance of the noise: 1 + 1 / (4 sinh(epsilon/2)^2 p (1-p)).
    noise = 1 / (4 * math.sinh(epsilon / 2) ** 2)
    assert privacy_effect(0.1, warner(epsilon)) == pytest.approx(1 + noise / 0.09, rel=1e-12)
    assert privacy_effect(0.1, NO_NOISE) == pytest.approx(1)


# --- against the formula and the plain estimate -------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_an_estimate_follows_its_formula(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    w = rng.uniform(0, 3, 60) * (rng.random(60) < 0.8) + (np.arange(60) == 0)
    channels = [warner(e) for e in rng.uniform(0.5, 4, 60)]
    single = estimate(y, w, channels)
    u = np.array([(r - one.b) / one.contrast for r, one in zip(y, channels, strict=True)])
    n = int((w > 0).sum())
    value = (w * u).sum() / w.sum()
    variance = n / (n - 1) * (w**2 * (u - value) ** 2).sum() / w.sum() ** 2
    assert single.n == n
    assert single.value == pytest.approx(value, rel=1e-12)
    assert single.standard_error**2 == pytest.approx(variance, rel=1e-12)
    assert single.kish == pytest.approx(n * (w**2).sum() / w.sum() ** 2, rel=1e-12)
    assert single.kish == pytest.approx(kish(w), rel=1e-12)
    order = rng.permutation(60)
    shuffled = estimate(y[order], w[order], [channels[i] for i in order])
    assert asdict(shuffled) == pytest.approx(asdict(single), rel=1e-12)
    scaled = estimate(y, w * 1e300, channels)
    assert asdict(scaled) == pytest.approx(asdict(single), rel=1e-12)


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, NO_NOISE])
def test_without_weights_it_is_the_plain_estimate(channel):
    for count, n in ((0, 10), (3, 10), (40, 100), (100, 100), (1, 1), (0, 1)):
        plain = proportion.estimate(count, n, channel)
        for one in (
            estimate([1] * count + [0] * (n - count), [0.3] * n, channel),
            pooled([count], [n], [channel]),
        ):
            assert one.value == pytest.approx(plain.value, rel=1e-12, abs=1e-12)
            assert one.standard_error == pytest.approx(plain.standard_error, rel=1e-7, abs=1e-9)
            assert one.kish == pytest.approx(1)
            assert one.n == n
            if 0 < plain.value < 1:
                assert one.privacy == pytest.approx(privacy_effect(plain.value, channel))
                assert one.effective_size == pytest.approx(n / one.privacy)
            else:
                assert one.privacy is one.effective_size is None or abs(plain.value % 1) < 1e-9


def test_people_without_weight_do_not_count():
    assert kish([3, 0, 1, 0]) == kish([3, 1]) == pytest.approx(1.25)
    one = estimate([1, 0, 1, 1], [3, 0, 1, 2], TWO_COINS)
    assert one == estimate([1, 1, 1], [3, 1, 2], TWO_COINS)
    assert one.n == 3


# --- pooling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_pooling_is_as_good_as_maximum_likelihood(seed):
    rng = np.random.default_rng(seed)
    channels = [warner(0.5), TWO_COINS, FORCED, warner(4)]
    sizes = rng.integers(2000, 9000, 4)
    counts = rng.binomial(sizes, [one.rate(0.2) for one in channels])
    a, b = np.array([(one.a, one.b) for one in channels]).T

    def loss(share):
        rate = b + (a - b) * share
        return -(counts * np.log(rate) + (sizes - counts) * np.log(1 - rate)).sum()

    best = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    rate = b + (a - b) * 0.2
    known = 1 / math.sqrt((sizes * (a - b) ** 2 / (rate * (1 - rate))).sum())
    one = pooled(counts, sizes, channels)
    assert one.value == pytest.approx(best.x, abs=0.01 * known)
    assert one.standard_error == pytest.approx(known, rel=0.05)
    # Better than the plain average of all reports, whose variance is this:
    plain = math.sqrt((sizes * rate * (1 - rate) / (a - b) ** 2).sum()) / sizes.sum()
    assert one.standard_error < plain
    # The product of the two effects is that of the actual variance, without strata.
    deff = one.n * one.standard_error**2 / (one.value * (1 - one.value))
    assert one.kish * one.privacy == pytest.approx(deff, rel=0.05)


def test_pooling_one_channel_is_adding_tallies():
    one = pooled([30, 50], [100, 120], [TWO_COINS, TWO_COINS])
    assert one.value == pytest.approx(proportion.estimate(80, 220, TWO_COINS).value, rel=1e-12)
    for counts in ([0, 0], [100, 120]):  # without noise, at the edge
        edge = pooled(counts, [100, 120], [NO_NOISE, TWO_COINS])
        assert math.isfinite(edge.value) and math.isfinite(edge.standard_error)


# --- what the estimates promise -----------------------------------------------------------------


def test_weighted_estimates_are_unbiased_exactly():
    """Over all 2^8 sets of reports: the mean is the share, the variance estimate nearly so."""
    weights = np.array(W, dtype=float)
    channels = [TWO_COINS, FORCED] * 4
    share = 0.3
    rates = np.array([one.rate(share) for one in channels])
    law, values, variances = [], [], []
    for y in product((0, 1), repeat=8):
        one = estimate(y, weights, channels)
        law.append(np.prod(np.where(y, rates, 1 - rates)))
        values.append(one.value)
        variances.append(one.standard_error**2)
    law, values, variances = map(np.array, (law, values, variances))
    assert law.sum() == pytest.approx(1)
    assert law @ values == pytest.approx(share, abs=1e-12)
    exact = law @ (values - share) ** 2
    contrasts = np.array([one.contrast for one in channels])
    known = (weights**2 * rates * (1 - rates) / contrasts**2).sum() / weights.sum() ** 2
    assert exact == pytest.approx(known, rel=1e-12)
    assert law @ variances == pytest.approx(exact, rel=0.05)  # linearised, n = 8


@pytest.mark.slow
def test_limits_cover_with_unequal_weights_and_channels():
    # 3000 surveys of 500 people, seed 12, level 0.95, bound of 4 standard errors (0.0159). Limits
    # from the number of reports as if weights were equal are rejected.
    rng = np.random.default_rng(12)
    sizes = [200, 200, 60, 40]
    w = np.repeat([0.3, 1, 4, 9.0], sizes)
    channels = [TWO_COINS] * 200 + [warner(2)] * 200 + [FORCED] * 60 + [warner(2)] * 40
    rates = np.array([one.rate(0.3) for one in channels])
    results = [estimate((rng.random(500) < rates).astype(int), w, channels) for _ in range(3000)]
    covered = np.mean([one.low <= 0.3 <= one.high for one in results])
    assert covered == pytest.approx(0.95, abs=0.0159)
    naive = [(one.high - one.value) / math.sqrt(one.kish) for one in results]
    misses = [abs(one.value - 0.3) <= half for one, half in zip(results, naive, strict=True)]
    assert np.mean(misses) < 0.85


# --- what is given and what is returned ---------------------------------------------------------


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.slow
def test_every_estimate_is_finite_nested_and_silent(data):
    size = data.draw(st.integers(1, 6), label="cells")

    def draw(name, strategy):
        return [data.draw(strategy, label=name) for _ in range(size)]

    sizes = draw("size", st.integers(1, 10) | st.integers(1, 2**50))
    counts = [data.draw(st.integers(0, n), label="count") for n in sizes]
    ends = draw("rates", st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
    channels = [Channel(a, b) if a - b > 1e-9 else TWO_COINS for b, a in ends]
    w = draw("weight", st.floats(0, 1e300))
    w[0] = max(w[0], 1e-300)
    y = draw("report", st.integers(0, 1))
    level = data.draw(st.floats(0.01, 1 - 1e-9), label="level")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda level: estimate(y, w, channels, level),
            lambda level: pooled(counts, sizes, channels, level),
        ):
            one, wide = call(level), call((1 + level) / 2)
            numbers = [x for x in asdict(one).values() if x is not None]
            assert all(math.isfinite(x) for x in numbers)
            assert wide.low <= one.low <= one.value <= one.high <= wide.high
            assert one.kish >= 1 - 1e-9
            assert (one.privacy is None) == (not 0 < one.value < 1)
            if one.privacy is not None:
                assert one.privacy >= 1 - 1e-9
                assert one.effective_size <= one.n * (1 + 1e-9)


def test_exchanging_yes_and_no_mirrors_the_estimates():
    counts, sizes = np.array([40, 90, 7]), np.array([100, 200, 10])
    mirrored = Channel(1 - FORCED.b, 1 - FORCED.a)
    for one, other in (
        (estimate(Y, W, FORCED), estimate([1 - y for y in Y], W, mirrored)),
        (pooled(counts, sizes, [FORCED] * 3), pooled(sizes - counts, sizes, [mirrored] * 3)),
    ):
        assert other.value == pytest.approx(1 - one.value, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-9)
        assert other.privacy == pytest.approx(one.privacy, rel=1e-9)


def test_results_are_frozen_values_that_json_can_carry():
    one = pooled(np.array([4]), np.array([10]), [TWO_COINS])
    with pytest.raises(FrozenInstanceError):
        one.value = 0.5
    assert json.loads(json.dumps(asdict(one), allow_nan=False)) == asdict(one)
    assert {type(x) for x in asdict(one).values()} == {float, int}
    assert estimate([0, 0], [1, 1], TWO_COINS).value == -0.5  # not clipped


BAD = [
    (lambda: estimate([1, 2], [1, 1], TWO_COINS), "y must be 0 or 1, got 2 at 1"),
    (lambda: estimate([1, math.nan], [1, 1], TWO_COINS), "y must be finite, got .*nan.* at 1"),
    (lambda: estimate([], [], TWO_COINS), r"y must have reports, got \[\]"),
    (lambda: estimate("10", [1, 1], TWO_COINS), "y must be a list of numbers, got '10'"),
    (lambda: estimate([1, "0"], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([[1], [0]], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([1, None], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([1, 0], [1], TWO_COINS), "w must have one entry for each of y, 2, got 1"),
    (lambda: estimate([1, 0], [1, -1], TWO_COINS), "w must be at least 0, got -1 at 1"),
    (lambda: estimate([1, 0], [1, math.inf], TWO_COINS), "w must be finite, got .*inf.* at 1"),
    (lambda: estimate([1, 0], [0, 0], TWO_COINS), "w must not be 0 everywhere"),
    (
        lambda: estimate([1, 0], [1, 1], None),
        "channel must be a Channel or a list of them, got None",
    ),
    (lambda: estimate([1, 0], [1, 1], [TWO_COINS]), "channel must be one or 2, got 1"),
    (lambda: estimate([1, 0], [1, 1], [TWO_COINS, 3]), "channel must be a Channel, got 3"),
    (lambda: estimate([1], [1], Channel(1e-200, 0)), "channel must have a contrast of 1e-100"),
    (
        lambda: estimate([1, 0], [1, 1], TWO_COINS, level=95),
        "level must be between 0 and 1, got 95",
    ),
    (lambda: estimate([1], [1], TWO_COINS, level=0), "level must be strictly between 0 and 1"),
    (lambda: pooled([3], [2], [TWO_COINS]), "counts must be at most the size there, got 3 at 0"),
    (lambda: pooled([3.5], [4], [TWO_COINS]), "counts must be whole numbers from 0 .*3.5.* at 0"),
    (lambda: pooled([-1], [4], [TWO_COINS]), "counts must be whole numbers from 0 .* got -1 at 0"),
    (lambda: pooled([0], [0], [TWO_COINS]), "sizes must be whole numbers from 1 .* got 0 at 0"),
    (lambda: pooled([0], [2**51], [TWO_COINS]), "sizes must be whole numbers from 1 to 11258999"),
    (lambda: pooled([0, 1], [3], [TWO_COINS] * 2), "sizes must be one for each of counts"),
    (lambda: pooled([], [], []), "sizes must be one for each of counts"),
    (lambda: pooled([1], [2], []), "channels must be one or 1, got 0"),
    (lambda: kish([1, math.nan]), "w must be finite, got .*nan.* at 1"),
    (lambda: kish([0]), "w must not be 0 everywhere"),
    (lambda: privacy_effect(0, TWO_COINS), "share must be strictly between 0 and 1, got 0"),
    (lambda: privacy_effect(math.nan, TWO_COINS), "share must be between 0 and 1, got nan"),
    (lambda: privacy_effect(0.5, None), "channel must be a Channel, got None"),
]


@pytest.mark.parametrize("call, message", BAD)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
