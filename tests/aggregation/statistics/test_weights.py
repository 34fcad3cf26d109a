"""Weighted estimates, against matrix algebra on single reports, enumeration and simulation."""

import json
import math
import warnings
from dataclasses import FrozenInstanceError, asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar, root
from scipy.stats import binom

from aggregation.statistics import proportion
from aggregation.statistics.proportion import Channel
from aggregation.statistics.weights import (
    estimate,
    kish,
    pooled,
    poststratified,
    privacy_effect,
    rake,
    rake_weights,
    tallied,
)


def warner(epsilon):
    a = 1 / (1 + math.exp(-epsilon))
    return Channel(a, 1 - a)


TWO_COINS = Channel(0.75, 0.25)
FORCED = Channel(0.79, 0.09)
NO_NOISE = Channel(1, 0)
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


def test_a_poststratified_estimate_has_its_reference_values():
    one = poststratified([40, 90], [100, 200], [0.6, 0.4], TWO_COINS)
    assert one.value == pytest.approx(0.34, abs=1e-12)
    assert one.standard_error**2 == pytest.approx(0.00428688899, abs=1e-11)


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


# --- against single reports and matrices --------------------------------------------------------


def rows(counts, sizes, *columns):
    """One row a person from tallies: the report, then each column's entry for the cell."""
    reports, others = [], [[] for _ in columns]
    for i, (s, n) in enumerate(zip(np.ravel(counts), np.ravel(sizes), strict=True)):
        reports += [1] * s + [0] * (n - s)
        for column, values in zip(others, columns, strict=True):
            column += [np.ravel(values)[i]] * n
    return np.array(reports), *(np.array(column) for column in others)


@pytest.mark.parametrize("seed", range(20))
def test_tallies_and_rows_and_the_formula_agree(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, 6)
    counts = rng.binomial(sizes, 0.4)
    weights = rng.uniform(0, 3, 6) * (rng.random(6) < 0.8) + (np.arange(6) == 0)
    channels = [warner(e) for e in rng.uniform(0.5, 4, 6)]
    cells = tallied(counts, sizes, weights, channels)
    y, w, place = rows(counts, sizes, weights, np.arange(6))
    single = estimate(y, w, [channels[i] for i in place])
    assert asdict(single) == pytest.approx(asdict(cells), rel=1e-12)
    u = np.array(
        [(r - channels[i].b) / channels[i].contrast for r, i in zip(y, place, strict=True)]
    )
    n = int((w > 0).sum())
    value = (w * u).sum() / w.sum()
    variance = n / (n - 1) * (w**2 * (u - value) ** 2).sum() / w.sum() ** 2
    assert cells.n == n
    assert cells.value == pytest.approx(value, rel=1e-12)
    assert cells.standard_error**2 == pytest.approx(variance, rel=1e-12)
    assert cells.kish == pytest.approx(n * (w**2).sum() / w.sum() ** 2, rel=1e-12)
    order = rng.permutation(len(y))
    shuffled = estimate(y[order], w[order], [channels[place[i]] for i in order])
    assert asdict(shuffled) == pytest.approx(asdict(single), rel=1e-12)
    scaled = estimate(y, w * 1e300, [channels[i] for i in place])
    assert asdict(scaled) == pytest.approx(asdict(single), rel=1e-12)


@pytest.mark.parametrize("channel", [warner(0.5), TWO_COINS, FORCED, NO_NOISE])
def test_without_weights_it_is_the_plain_estimate(channel):
    for count, n in ((0, 10), (3, 10), (40, 100), (100, 100), (1, 1), (0, 1)):
        plain = proportion.estimate(count, n, channel)
        share = [1.0]
        for one in (
            estimate([1] * count + [0] * (n - count), [0.3] * n, channel),
            tallied([count], [n], [7], channel),
            poststratified([count], [n], share, channel),
            pooled([count], [n], [channel]),
            rake([count], [n], [share], channel),
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


def test_poststrata_with_their_sampling_shares_are_the_plain_estimate():
    counts, sizes = np.array([30, 60, 5]), np.array([100, 150, 50])
    one = poststratified(counts, sizes, sizes / 300, TWO_COINS)
    plain = proportion.estimate(95, 300, TWO_COINS)
    assert one.value == pytest.approx(plain.value, rel=1e-12)
    assert one.kish == pytest.approx(1)
    assert one.standard_error < plain.standard_error  # less what lies between the strata
    order = [2, 0, 1]
    other = poststratified(counts[order], sizes[order], (sizes / 300)[order], TWO_COINS)
    assert asdict(other) == pytest.approx(asdict(one), rel=1e-12)


def test_people_without_weight_do_not_count():
    assert kish([3, 0, 1, 0]) == kish([3, 1]) == pytest.approx(1.25)
    one = poststratified([40, 90], [100, 200], [1, 0], TWO_COINS)
    assert one == poststratified([40], [100], [1], TWO_COINS)
    assert one.n == 100


# --- raking -------------------------------------------------------------------------------------


SIZES = np.array([[[30, 41], [25, 0], [12, 33]], [[60, 22], [35, 51], [40, 28]]])
COUNTS = np.array([[[11, 20], [8, 0], [2, 15]], [[20, 12], [15, 20], [22, 9]]])
MARGINS = [[0.45, 0.55], [0.3, 0.3, 0.4], [0.62, 0.38]]


def calibrated(sizes, margins):
    """exp(sum of one number a category), solved for the margins: the other way to say raking."""
    shape = sizes.shape
    place = np.indices(shape).reshape(len(shape), -1)
    starts = np.concatenate([[0], np.cumsum(shape)])

    def weights(x):
        return np.exp(sum(x[starts[j] + place[j]] for j in range(len(shape))))

    def gaps(x):
        mass = (weights(x) * sizes.ravel()).reshape(shape)
        return np.concatenate(
            [
                mass.sum(axis=tuple(i for i in range(len(shape)) if i != j)) - margins[j]
                for j in range(len(shape))
            ]
        )

    start = np.full(starts[-1], -math.log(sizes.sum()) / len(shape))
    solution = root(gaps, start, method="lm", options={"xtol": 1e-15, "ftol": 1e-15})
    return weights(solution.x).reshape(shape)


def test_raked_weights_meet_the_margins_and_are_products():
    weights = rake_weights(SIZES, MARGINS)
    mass = weights * SIZES
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    for axis, margin in enumerate(MARGINS):
        others = tuple(i for i in range(3) if i != axis)
        assert mass.sum(axis=others) == pytest.approx(margin, abs=1e-12)
    filled = SIZES > 0
    assert weights[filled] == pytest.approx(calibrated(SIZES, MARGINS)[filled], rel=1e-7)
    assert weights[~filled] == pytest.approx(0)


def test_a_raked_estimate_agrees_with_matrices_on_single_reports():
    one = rake(COUNTS, SIZES, MARGINS, TWO_COINS)
    weights = calibrated(SIZES, MARGINS)
    places = np.indices(SIZES.shape).reshape(3, -1)
    y, w, *labels = rows(COUNTS, SIZES, weights, *places)
    u = (y - 0.25) / 0.5
    # Indicators without the redundant ones: rank 1 + 1 + 2 + 1.
    x = np.stack(
        [np.ones(len(y)), labels[0] == 1, labels[1] == 1, labels[1] == 2, labels[2] == 1], axis=1
    ).astype(float)
    fitted = x @ np.linalg.solve(x.T @ (w[:, None] * x), x.T @ (w * u))
    n = len(y)
    variance = n / (n - 5) * (w**2 * (u - fitted) ** 2).sum() / w.sum() ** 2
    assert one.value == pytest.approx((w * u).sum() / w.sum(), rel=1e-7)
    assert one.standard_error**2 == pytest.approx(variance, rel=1e-7)
    assert one.kish == pytest.approx(n * (w**2).sum() / w.sum() ** 2, rel=1e-7)
    assert one.n == n == SIZES.sum()


def test_raking_does_not_depend_on_the_order_of_axes_and_categories():
    one = rake(COUNTS, SIZES, MARGINS, FORCED)
    turned = rake(COUNTS.T, SIZES.T, MARGINS[::-1], FORCED)
    assert asdict(turned) == pytest.approx(asdict(one), rel=1e-9)
    flipped = rake(
        COUNTS[:, ::-1], SIZES[:, ::-1], [MARGINS[0], MARGINS[1][::-1], MARGINS[2]], FORCED
    )
    assert asdict(flipped) == pytest.approx(asdict(one), rel=1e-9)


def test_raking_one_margin_is_poststratification():
    counts, sizes, shares = [40, 70, 30], [100, 100, 100], [0.5, 0.3, 0.2]
    one, other = (
        rake(counts, sizes, [shares], FORCED),
        poststratified(counts, sizes, shares, FORCED),
    )
    assert asdict(one) == pytest.approx(asdict(other), rel=1e-9)


def test_raking_to_the_margins_of_the_sample_changes_nothing():
    margins = [SIZES.sum(axis=(1, 2)), SIZES.sum(axis=(0, 2)), SIZES.sum(axis=(0, 1))]
    one = rake(COUNTS, SIZES, [m / m.sum() for m in margins], TWO_COINS)
    plain = proportion.estimate(int(COUNTS.sum()), int(SIZES.sum()), TWO_COINS)
    assert one.value == pytest.approx(plain.value, rel=1e-12)
    assert one.kish == pytest.approx(1)


def test_margins_that_empty_cells_make_impossible_are_refused():
    with pytest.raises(ValueError, match="margins cannot be met by weights"):
        rake([[1, 0], [0, 1]], [[5, 0], [0, 5]], [[0.3, 0.7], [0.5, 0.5]], TWO_COINS)


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
    assert one.standard_error < tallied(counts, sizes, np.ones(4), channels).standard_error
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


def test_poststratified_estimates_and_variances_are_unbiased_exactly():
    sizes, parts, shares = (4, 7, 5), (0.2, 0.5, 0.3), (0.1, 0.6, 0.9)
    laws = [
        binom.pmf(np.arange(n + 1), n, FORCED.rate(p)) for n, p in zip(sizes, shares, strict=True)
    ]
    mean = square = variance = 0.0
    for counts in product(*(range(n + 1) for n in sizes)):
        one = poststratified(counts, sizes, parts, FORCED)
        mass = math.prod(law[s] for law, s in zip(laws, counts, strict=True))
        mean += mass * one.value
        square += mass * one.value**2
        variance += mass * one.standard_error**2
    assert mean == pytest.approx(np.dot(parts, shares), abs=1e-12)
    assert variance == pytest.approx(square - mean**2, rel=1e-10)


def surveys(rng, times, n, sampled, shares, channel):
    """Tables of tallies: n people fall into cells, answer and report."""
    for _ in range(times):
        sizes = rng.multinomial(n, sampled.ravel()).reshape(sampled.shape)
        yield rng.binomial(sizes, channel.b + channel.contrast * shares), sizes


@pytest.mark.slow
def test_raked_variances_are_those_of_raked_estimates():
    # 2000 surveys of 400 people, seed 11; the cells of a 2 by 3 table differ much and are sampled
    # in other proportions than in the population. Tolerance: 4 standard errors of a variance ratio,
    # 4 sqrt(2/2000) = 0.126. A variance that ignores the margins is rejected by the same bound.
    rng = np.random.default_rng(11)
    sampled = np.array([[0.25, 0.15, 0.1], [0.1, 0.15, 0.25]])
    shares = np.array([[0.0, 0.3, 0.5], [0.5, 0.8, 1.0]])
    margins = [[0.4, 0.6], [0.3, 0.3, 0.4]]
    channel = warner(4)
    results, ignoring = [], []
    for counts, sizes in surveys(rng, 2000, 400, sampled, shares, channel):
        results.append(rake(counts, sizes, margins, channel))
        w = rake_weights(sizes, margins)
        flat = tallied(counts.ravel(), sizes.ravel(), w.ravel(), channel)
        assert flat.value == pytest.approx(results[-1].value, rel=1e-9)
        ignoring.append(flat.standard_error**2)
    values = np.array([one.value for one in results])
    # The target has the odds ratios of the sample and the margins of the population.
    target = (rake_weights(sampled, margins) * sampled * shares).sum()
    spread = values.var(ddof=1)
    assert abs(values.mean() - target) < 4 * math.sqrt(spread / 2000)
    assert np.mean([one.standard_error**2 for one in results]) / spread == pytest.approx(
        1, abs=0.126
    )
    assert np.mean(ignoring) / spread > 1.2
    covered = np.mean([one.low <= target <= one.high for one in results])
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 2000))


@pytest.mark.slow
def test_limits_cover_with_unequal_weights_and_channels():
    # 3000 surveys of 4 cells, seed 12, level 0.95, bound of 4 standard errors (0.0159). Limits
    # from the number of reports as if weights were equal are rejected.
    rng = np.random.default_rng(12)
    sizes, w = np.array([200, 200, 60, 40]), np.array([0.3, 1, 4, 9.0])
    channels = [TWO_COINS, warner(2), FORCED, warner(2)]
    rates = [one.rate(0.3) for one in channels]
    results = [tallied(rng.binomial(sizes, rates), sizes, w, channels) for _ in range(3000)]
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
    parts = np.array(draw("part", st.integers(1, 100)), dtype=float)
    level = data.draw(st.floats(0.01, 1 - 1e-9), label="level")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda level: tallied(counts, sizes, w, channels, level),
            lambda level: poststratified(counts, sizes, parts / parts.sum(), channels, level),
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
    for call in (
        lambda s, c: tallied(s, sizes, [1, 2, 3], c),
        lambda s, c: poststratified(s, sizes, [0.2, 0.3, 0.5], c),
        lambda s, c: pooled(s, sizes, [c] * 3),
        lambda s, c: rake(s, sizes, [[0.2, 0.3, 0.5]], c),
    ):
        one, other = call(counts, FORCED), call(sizes - counts, mirrored)
        assert other.value == pytest.approx(1 - one.value, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-9)
        assert other.privacy == pytest.approx(one.privacy, rel=1e-9)


def test_results_are_frozen_values_that_json_can_carry():
    one = tallied(np.array([4]), np.array([10]), np.array([1.0]), TWO_COINS)
    with pytest.raises(FrozenInstanceError):
        one.value = 0.5
    assert json.loads(json.dumps(asdict(one), allow_nan=False)) == asdict(one)
    assert {type(x) for x in asdict(one).values()} == {float, int}
    assert estimate([0, 0], [1, 1], TWO_COINS).value == -0.5  # not clipped


BAD = [
    (lambda: estimate([1, 2], [1, 1], TWO_COINS), r"y\[1\] must be 0 or 1, got 2"),
    (lambda: estimate([1, math.nan], [1, 1], TWO_COINS), r"y\[1\] must be finite, got nan"),
    (lambda: estimate([], [], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate("10", [1, 1], TWO_COINS), "y must be a list of numbers, got '10'"),
    (lambda: estimate([1, "0"], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([[1], [0]], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([1, None], [1, 1], TWO_COINS), "y must be a list of numbers"),
    (lambda: estimate([1, 0], [1], TWO_COINS), "w must have one entry for each of y, got 1"),
    (lambda: estimate([1, 0], [1, -1], TWO_COINS), r"w\[1\] must be at least 0, got -1"),
    (lambda: estimate([1, 0], [1, math.inf], TWO_COINS), r"w\[1\] must be finite, got inf"),
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
    (
        lambda: tallied([3], [2], [1], TWO_COINS),
        r"counts\[0\] must be at most the size there, got 3",
    ),
    (lambda: tallied([3.5], [4], [1], TWO_COINS), r"counts\[0\] must be an integer, got 3.5"),
    (lambda: tallied([-1], [4], [1], TWO_COINS), r"counts\[0\] must be at least 0, got -1"),
    (lambda: tallied([0], [0], [1], TWO_COINS), r"sizes\[0\] must be at least 1, got 0"),
    (lambda: tallied([0], [2**51], [1], TWO_COINS), r"sizes\[0\] must be at most 1125899906842624"),
    (lambda: tallied([0, 1], [3], [1, 1], TWO_COINS), "sizes must have the shape of counts"),
    (lambda: poststratified([1], [2], [0.9], TWO_COINS), "shares must add up to 1, got 0.9"),
    (lambda: poststratified([1], [2], [0.5, 0.5], TWO_COINS), "shares must have 1 entries, got 2"),
    (
        lambda: poststratified([1, 1], [2, 2], [1.5, -0.5], TWO_COINS),
        r"shares\[1\] must be at least 0, got -0.5",
    ),
    (lambda: pooled([1], [2], []), "channels must be one or 1, got 0"),
    (lambda: rake([1], [2], [[1]], None), "channel must be a Channel, got None"),
    (
        lambda: rake([1, 1], [2, 2], [[0.5, 0.5]] * 2, TWO_COINS),
        "margins must have one entry an axis",
    ),
    (lambda: rake([1, 1], [2, 2], 3, TWO_COINS), "margins must have one entry an axis, 1, got 3"),
    (
        lambda: rake([1, 1], [2, 2], [[0.5, 0.4]], TWO_COINS),
        r"margins\[0\] must add up to 1, got 0.9",
    ),
    (
        lambda: rake([1, 0], [2, 0], [[0.5, 0.5]], TWO_COINS),
        r"margins\[0\]\[1\] must be 0 where nobody reported, got 0.5",
    ),
    (
        lambda: rake([1, 0], [2, 2], [[1, 0]], TWO_COINS),
        r"margins\[0\]\[1\] must be above 0 as some reported, got 0",
    ),
    (lambda: rake([[1, 0]], [[2]], [[1], [1]], TWO_COINS), "sizes must have the shape of counts"),
    (
        lambda: rake([[1, 3]], [[2, 2]], [[1], [0.5, 0.5]], TWO_COINS),
        r"counts\[0\]\[1\] must be at",
    ),
    (lambda: rake([0], [0], [[1]], TWO_COINS), "sizes must not be 0 everywhere"),
    (lambda: rake([[1], [2, 3]], [2], [[1]], TWO_COINS), "counts must be a table of numbers"),
    (lambda: rake_weights([-1], [[1]]), r"sizes\[0\] must be at least 0, got -1"),
    (lambda: kish([1, math.nan]), r"w\[1\] must be finite, got nan"),
    (lambda: kish([0]), "w must not be 0 everywhere"),
    (lambda: privacy_effect(0, TWO_COINS), "share must be strictly between 0 and 1, got 0"),
    (lambda: privacy_effect(math.nan, TWO_COINS), "share must be between 0 and 1, got nan"),
    (lambda: privacy_effect(0.5, None), "channel must be a Channel, got None"),
]


@pytest.mark.parametrize("call, message", BAD)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
