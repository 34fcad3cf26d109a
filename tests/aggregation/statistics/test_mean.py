"""Means of numbers and scores: exact fractions, enumeration, other formulas and simulation."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import binom, norm

from aggregation.statistics import difference, proportion, ratio
from aggregation.statistics import sequence as sequences
from aggregation.statistics.channel import Channel
from aggregation.statistics.mean import by_group, estimate, intervals, picks, sequence, total
from aggregation.statistics.tables import betting
from aggregation.statistics.tables.scored import Scores

TWO_COINS = Channel(0.75, 0.25)
Z = norm.ppf(0.975)


def kept(epsilon, cells):
    return math.expm1(epsilon) / (math.expm1(epsilon) + cells)


def alone(epsilon, values):
    """The channel of a question alone in its block."""
    c = kept(epsilon, values)
    return Channel(c + (1 - c) / values, (1 - c) / values)


def uneven(c, chances):
    """The channels of values that random reports do not show equally often."""
    return [Channel(c + (1 - c) * h, (1 - c) * h) for h in chances]


def tallies(n, values):
    if values == 1:
        return [[n]]
    return [[i, *rest] for i in range(n + 1) for rest in tallies(n - i, values - 1)]


def chances_of(reports, rates):
    """P(tally) for every tally, a row each, and every row of rates."""
    reports = np.array(reports)
    ways = gammaln(reports.sum(axis=1) + 1) - gammaln(reports + 1).sum(axis=1)
    return np.exp(ways[:, None] + reports @ np.log(rates).T)


# --- what is known ------------------------------------------------------------------------------


def test_a_mean_of_two_levels_has_its_reference_value():
    found = estimate([570, 430], [18, 100], TWO_COINS)
    assert found.value == pytest.approx(47.52, abs=1e-10)
    assert found.standard_error == pytest.approx(2.5688, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((42.50, 52.60), abs=5e-3)
    assert found.method == "restricted Blaker" and found.clear


def test_a_mean_of_three_levels_has_its_reference_value():
    c = 2922635322 / 2**32  # epsilon = 2, three cells
    found = estimate([300, 450, 250], [0, 20, 40], Channel(c + (1 - c) / 3, (1 - c) / 3))
    assert found.value == pytest.approx(18.5304470716, abs=1e-10)
    assert found.standard_error == pytest.approx(0.6880572033, abs=1e-10)
    assert found.low < found.value - Z * 0.688 and found.high > found.value + Z * 0.688


@pytest.mark.parametrize("n, count", [(40, 9), (100, 20), (1000, 430)])
def test_two_levels_are_a_share_on_another_scale(n, count):
    share = proportion.estimate(count, n, TWO_COINS)
    found = estimate([n - count, count], [-5, 15], TWO_COINS)
    for name in ("value", "bounded", "low", "high"):
        assert getattr(found, name) == pytest.approx(-5 + 20 * getattr(share, name))
    for name in ("standard_error", "sampling_error", "privacy_error"):
        assert getattr(found, name) == pytest.approx(20 * getattr(share, name))
    assert found.misfit == pytest.approx(share.misfit)
    limits = sequences.interval(count, n, TWO_COINS)
    expected = tuple(-5 + 20 * limit for limit in limits)
    assert sequence([n - count, count], [-5, 15], TWO_COINS) == pytest.approx(expected)


def test_options_with_equal_scores_are_one_option():
    channels = uneven(0.6, [0.2, 0.3, 0.5])
    merged = uneven(0.6, [0.5, 0.5])
    one = estimate([200, 300, 500], [1, 1, 4], channels)
    two = estimate([500, 500], [1, 4], merged)
    for name in ("value", "standard_error", "privacy_error", "low", "high", "method"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))


def test_the_mean_is_that_of_the_unbiased_shares():
    rng = np.random.default_rng(1)
    for _ in range(20):
        h = rng.dirichlet(np.ones(4))
        c, levels = rng.uniform(0.2, 0.9), rng.uniform(-3, 9, 4)
        counts = rng.multinomial(500, c * rng.dirichlet(np.ones(4)) + (1 - c) * h)
        found = estimate(counts, list(levels), uneven(c, h))
        assert found.value == pytest.approx(((counts / 500 - (1 - c) * h) / c) @ levels)
        q = counts / 500
        spread = (np.diag(q) - np.outer(q, q)) / 499 / c**2
        assert found.standard_error == pytest.approx(math.sqrt(levels @ spread @ levels))


def test_both_parts_of_the_variance_are_unbiased():
    """Every outcome of three people who were drawn from five, in exact fractions."""
    c, h = Fraction(3, 5), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    levels, people = (0, 1, 3), (0, 0, 1, 2, 2)
    rows = [[(1 - c) * h[v] + c * (v == own) for v in range(3)] for own in range(3)]
    offset = (1 - c) * sum(p * x for p, x in zip(h, levels, strict=True))

    def spread(row):
        first, second = (sum(p * x**k for p, x in zip(row, levels, strict=True)) for k in (1, 2))
        return second - first**2

    values = squares = privacy = Fraction(0)
    found_privacy = found_variance = 0.0
    for drawn in itertools.combinations(people, 3):
        privacy += sum(spread(rows[own]) for own in drawn) / 9 / c**2 / 10
        for reports in itertools.product(range(3), repeat=3):
            chance = math.prod(rows[own][v] for own, v in zip(drawn, reports, strict=True)) / 10
            value = (sum(Fraction(levels[v]) for v in reports) / 3 - offset) / c
            values += chance * value
            squares += chance * value**2
            counts = [reports.count(v) for v in range(3)]
            found = estimate(counts, levels, uneven(float(c), map(float, h)), population=5)
            assert found.value == pytest.approx(float(value))
            noise = found.privacy_error**2
            sample = np.var([levels[v] for v in reports], ddof=1) / 3 / float(c) ** 2
            found_privacy += float(chance) * noise
            found_variance += float(chance) * (0.4 * sample + 0.6 * noise)
            assert found.standard_error**2 == pytest.approx(0.4 * sample + 0.6 * noise)
    assert values == Fraction(sum(levels[own] for own in people), 5)
    assert found_privacy == pytest.approx(float(privacy))
    assert found_variance == pytest.approx(float(squares - values**2))


def test_scores_may_be_shifted_scaled_and_reordered():
    counts, c, h = [120, 300, 80, 100], 0.5, [0.1, 0.4, 0.3, 0.2]
    for levels in ([0, 1, 2, 5], [0, 1, None, 5]):
        one = estimate(counts, levels, uneven(c, h))
        moved = [None if x is None else 7 - 3 * x for x in levels]
        two = estimate(counts, moved, uneven(c, h))
        assert two.value == pytest.approx(7 - 3 * one.value)
        assert (two.low, two.high) == pytest.approx((7 - 3 * one.high, 7 - 3 * one.low))
        assert two.standard_error == pytest.approx(3 * one.standard_error)
        order = [2, 0, 3, 1]
        three = estimate(
            [counts[i] for i in order], [levels[i] for i in order], uneven(c, [h[i] for i in order])
        )
        assert (three.value, three.low, three.high) == pytest.approx((one.value, one.low, one.high))
        limits = sequence(counts, levels, uneven(c, h))
        other = sequence(counts, moved, uneven(c, h))
        assert other == pytest.approx((7 - 3 * limits[1], 7 - 3 * limits[0]), abs=1e-8)


# --- values without a score ---------------------------------------------------------------------

FOLLOW_UP = 2409399581 / 2**32  # what is kept of a gate and four options at epsilon 2
OPTION = Channel(FOLLOW_UP + (1 - FOLLOW_UP) / 5, (1 - FOLLOW_UP) / 5)
GATE = Channel(FOLLOW_UP + (1 - FOLLOW_UP) * 4 / 5, (1 - FOLLOW_UP) * 4 / 5)


def test_scores_of_0_and_1_among_those_asked_are_a_share_among_those_concerned():
    expected = ratio.interval(240, 700, 1000, OPTION, GATE)
    found = estimate([240, 150, 150, 160, 300], [1, 0, 0, 0, None], OPTION)
    assert found.value == pytest.approx(0.4363608812, abs=1e-10)
    assert found.standard_error == pytest.approx(expected.standard_error)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-11)
    assert found.clear and found.method == "score"


def test_the_standard_error_of_a_ratio_is_that_of_the_delta_method():
    counts = np.array([240, 150, 150, 160, 300])
    levels = [4, 1, 2, 3, math.nan]
    found = estimate(counts, levels, OPTION)
    q = counts / 1000
    theta = (q - (1 - FOLLOW_UP) / 5) / FOLLOW_UP
    x, asked = np.nan_to_num(levels), np.array([1, 1, 1, 1, 0])
    assert found.value == pytest.approx(theta @ x / (theta @ asked))
    gradient = (x - found.value * asked) / (theta @ asked)
    spread = (np.diag(q) - np.outer(q, q)) / 999 / FOLLOW_UP**2
    assert found.standard_error == pytest.approx(math.sqrt(gradient @ spread @ gradient))
    parts = found.sampling_error**2 + found.privacy_error**2
    assert parts == pytest.approx(found.standard_error**2)


def test_a_mean_among_nobody_is_not_told():
    counts = [70, 65, 66, 69, 730]  # 270 of 1000 scored, fewer than noise alone makes
    found = estimate(counts, [4, 1, 2, 3, None], OPTION)
    assert not found.clear and (found.low, found.high) == (1, 4)
    assert math.isnan(found.value) and math.isnan(found.standard_error)
    assert sequence(counts, [4, 1, 2, 3, None], OPTION) == (1, 4)


def test_limits_among_those_asked_are_where_the_score_test_is_just_significant():
    """By its definition: people who have a score move to one end until the mean is R."""
    counts, n = np.array([240, 150, 150, 160, 300]), 1000
    x, asked = np.array([1, 0, 1 / 3, 2 / 3, 0]), np.array([1, 1, 1, 1, 0])
    found = estimate(counts, [4, 1, 2, 3, None], OPTION)
    theta = (counts / n - OPTION.b) / FOLLOW_UP
    whole = theta @ asked
    r, s = theta @ x / whole, theta @ x**2 / whole
    for limit, end in ((found.low, 0), (found.high, 1)):
        R = (limit - 1) / 3
        part = (R - r) / (end - r)
        square = (1 - part) * s + part * end
        t = (x - R) * asked
        e = (1 - FOLLOW_UP) / 5 * t.sum()
        second = (1 - FOLLOW_UP) / 5 * (t**2).sum()
        second += FOLLOW_UP * whole * (square - R**2)  # the mean of (x - R)^2 if that of x is R
        variance = (second - e**2) / FOLLOW_UP**2
        assert n * (whole * (r - R)) ** 2 == pytest.approx(Z**2 * variance, rel=1e-8)


# --- coverage, exactly --------------------------------------------------------------------------


def corners(values, steps):
    """Distributions of answers: a grid of the simplex, and rare answers beside others."""
    grid = np.array(tallies(steps, values)) / steps
    rare = [
        (1 - part) * base + part * np.eye(values)[to]
        for part in (0.01, 0.03)
        for base in np.eye(values)
        for to in range(values)
    ]
    return np.vstack([grid, rare])


def least_coverage(levels, chances, epsilon, n, level, answers, limits=intervals):
    c = kept(epsilon, len(levels))
    reports = tallies(n, len(levels))
    low, high = limits(reports, levels, uneven(c, chances), level)
    law = chances_of(reports, c * answers + (1 - c) * np.array(chances))
    truth = answers @ np.array(levels, dtype=float)
    held = (low[:, None] <= truth) & (truth <= high[:, None])
    return (law * held).sum(axis=0).min()


THIRDS = [1 / 3, 1 / 3, 1 / 3]
DESIGNS = {
    "three levels": ([0, 1, 2], THIRDS),
    "unequal chances": ([0, 1, 2], [0.1, 0.1, 0.8]),
    "unequal scores": ([0, 1, 10], THIRDS),
    "nearly two": ([0, 9.5, 10], THIRDS),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_the_interval_covers_every_mean(design):
    for epsilon, n in itertools.product((1, 4), (5, 20)):
        coverage = least_coverage(*DESIGNS[design], epsilon, n, 0.95, corners(3, 10))
        assert coverage >= 0.95


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.slow
def test_the_interval_covers_every_mean_at_every_size(design):
    """The grid of docs/statistics.md: 255 distributions of three answers, and every tally."""
    answers = corners(3, 20)
    epsilons, sizes = (0.5, 1, 1.5, 2, 3, 4, 6, 8), (2, 3, 5, 7, 10, 15, 20, 30, 45, 60)
    for level in (0.9, 0.95, 0.99):
        for epsilon, n in itertools.product(epsilons, sizes):
            assert least_coverage(*DESIGNS[design], epsilon, n, level, answers) >= level


@pytest.mark.parametrize("values, n, steps", [(4, 20, 8), (5, 12, 5)])
@pytest.mark.slow
def test_the_interval_covers_every_mean_of_more_levels(values, n, steps):
    answers, even = corners(values, steps), [1 / values] * values
    uneven_scores = list(range(values - 1)) + [10]
    for levels in (list(range(values)), uneven_scores):
        for epsilon, level in itertools.product((1, 2, 4, 8), (0.9, 0.95, 0.99)):
            assert least_coverage(levels, even, epsilon, n, level, answers) >= level


def plain_limits(reports, levels, channels, level):
    """The estimate and so many standard errors, which is not used."""
    reports, x = np.array(reports, dtype=float), np.array(levels, dtype=float)
    n, c = reports.sum(axis=1), channels[0].contrast
    mine = reports @ x / n
    spread = np.maximum(reports @ x**2 / n - mine**2, 0) / (n - 1)
    value = (mine - np.array([each.b for each in channels]) @ x) / c
    half = norm.ppf((1 + level) / 2) * np.sqrt(spread) / c
    return np.clip(value - half, x[0], x[-1]), np.clip(value + half, x[0], x[-1])


def test_an_interval_of_standard_errors_covers_too_little():
    """The same computation finds it out."""
    for epsilon, worst in ((2, 0.93), (4, 0.80)):
        found = least_coverage(
            [0, 1, 2], THIRDS, epsilon, 20, 0.95, corners(3, 10), limits=plain_limits
        )
        assert found < worst


def test_the_interval_is_hardly_wider_than_the_normal_one():
    for epsilon, values in ((1, 3), (2, 3), (4, 5), (4, 11)):
        channel, levels = alone(epsilon, values), list(range(values))
        answers = np.exp(-8 * (np.linspace(0, 1, values) - 0.4) ** 2)
        rates = channel.contrast * answers / answers.sum() + channel.b
        for n, most in ((60, 1.1), (300, 1.04), (10_000, 1.01)):
            found = estimate(np.rint(n * rates).astype(int), levels, channel)
            assert 1 < (found.high - found.low) / (2 * Z * found.standard_error) < most


@pytest.mark.parametrize("values, epsilon", [(3, 2), (5, 4), (11, 4), (9, 6)])
@pytest.mark.slow
def test_simulated_intervals_cover_their_means(values, epsilon):
    """10,000 surveys of each design: below 0.9411 with probability 1e-5 if the coverage is 0.95."""
    rng = np.random.default_rng(values)
    channel, x = alone(epsilon, values), np.linspace(0, 1, values)
    shapes = [np.exp(-8 * (x - middle) ** 2) for middle in (0.1, 0.5)]
    shapes += [np.eye(values)[0] + np.eye(values)[-1], 0.97 * np.eye(values)[0] + 0.03]
    for n, shape in itertools.product((100, 300, 1000, 5000), shapes):
        answers = shape / shape.sum()
        rates = channel.contrast * answers + channel.b
        low, high = intervals(rng.multinomial(n, rates, 10_000), list(x), channel)
        truth = answers @ x
        assert ((low <= truth) & (truth <= high)).mean() > 0.9411


@pytest.mark.slow
def test_simulated_means_among_those_asked_are_covered():
    """5,000 surveys of each design: below 0.937 with probability 1e-5 if the coverage is 0.95."""
    rng = np.random.default_rng(5)
    for epsilon, n, asked in itertools.product((1, 2, 4), (300, 1000, 5000), (1, 0.6, 0.3)):
        channel = alone(epsilon, 4)
        for shape in ((0.2, 0.3, 0.5), (0.5, 0, 0.5), (0.95, 0, 0.05)):
            answers = np.append(asked * np.array(shape), 1 - asked)
            counts = rng.multinomial(n, channel.contrast * answers + channel.b, 5000)
            low, high = intervals(counts, [0, 1, 2, None], channel)
            truth = shape[1] + 2 * shape[2]
            assert ((low <= truth) & (truth <= high)).mean() > 0.937


# --- at every look ------------------------------------------------------------------------------


def weight_of(level, n_opt=300):
    return sequences.concentration(n_opt, level)


@pytest.mark.parametrize("levels", [[0, 1, 2], [0, 1, 2, None], [0, 1, 7, None]])
def test_the_fortune_is_a_martingale(levels):
    """If the mean is R, it is 1 on average after any number of reports: every tally of six."""
    rng = np.random.default_rng(len(levels))
    c, h = 0.6, rng.dirichlet(np.ones(len(levels)))
    scores, k = Scores.of(levels, uneven(c, h)), weight_of(0.95)
    reports = np.array(tallies(6, len(levels)), dtype=float)
    for _ in range(5):
        answers = rng.dirichlet(np.ones(len(levels)))
        R = np.array([(answers @ scores.x) / (answers @ scores.scored)])
        law = chances_of(reports, (c * answers + (1 - c) * h)[None])[:, 0]
        wealth = [math.exp(betting.log_wealth(R, each, scores, k)[0]) for each in reports]
        assert law @ wealth == pytest.approx(1, abs=1e-9)
        wrong = np.clip(R + 0.2, 0, 1)
        wealth = [math.exp(betting.log_wealth(wrong, each, scores, k)[0]) for each in reports]
        assert law @ wealth > 1


def test_limits_at_every_look_are_where_the_fortune_is_twenty():
    for levels, counts in (([0, 1, 2], [300, 450, 250]), ([0, 1, None], [300, 450, 250])):
        scores = Scores.of(levels, alone(2, 3))
        low, high = sequence(counts, levels, alone(2, 3))
        ends = (np.array([low, high]) - scores.least) / scores.span
        found = betting.log_wealth(ends, np.array(counts, dtype=float), scores, weight_of(0.95))
        assert found == pytest.approx([math.log(20)] * 2, abs=1e-6)


def missed(counts, R, scores, level):
    """Whether a path ever leaves the truth out: reports by [path][look][value]."""
    k, bar = weight_of(level), -math.log1p(-level)
    ever = np.zeros(len(counts), dtype=bool)
    for look in range(counts.shape[1]):
        for path in np.flatnonzero(~ever):
            ever[path] = betting.log_wealth(np.array([R]), counts[path, look], scores, k)[0] > bar
    return ever


@pytest.mark.parametrize(
    "levels, epsilon, answers",
    [
        ([0, 1, 2], 2, [0.3, 0.4, 0.3]),
        ([0, 1, 2], 4, [0.95, 0.0, 0.05]),
        ([1, 2, 3, 4, None], 3, [0.1, 0.2, 0.2, 0.2, 0.3]),
    ],
)
@pytest.mark.slow
def test_looking_again_and_again_is_wrong_no_more_often_than_promised(levels, epsilon, answers):
    """400 paths, 60 looks: at 0.05 more than 39 are wrong with probability 1e-4."""
    rng = np.random.default_rng(11)
    channel = alone(epsilon, len(levels))
    answers = np.array(answers)
    scores = Scores.of(levels, channel)
    sizes = np.unique(np.geomspace(5, 5000, 60).astype(int))
    rates = channel.contrast * answers + channel.b
    steps = np.stack([rng.multinomial(m, rates, 400) for m in np.diff(sizes, prepend=0)], axis=1)
    counts = steps.cumsum(axis=1).astype(float)
    truth = (answers @ scores.x) / (answers @ scores.scored)
    wrong = missed(counts, truth, scores, 0.95)
    assert wrong.sum() <= 39
    # The interval for one look is found out.
    low, high = zip(
        *(intervals(counts[:, i].astype(int), levels, channel) for i in range(sizes.size)),
        strict=True,
    )
    low, high = (np.array(each) for each in (low, high))
    mean_ = scores.rescaled(truth)
    assert ((low > mean_) | (high < mean_)).any(axis=0).sum() > 60


def test_limits_at_every_look_are_as_wide_as_those_of_shares():
    for epsilon, values in ((1, 3), (2, 3), (4, 5), (4, 11)):
        channel, levels = alone(epsilon, values), list(range(values))
        for n, least, most in (
            (100, 1.2, 1.7),
            (300, 1.2, 1.6),
            (1000, 1.3, 1.7),
            (10**6, 1.8, 2.2),
        ):
            answers = np.exp(-4 * (np.linspace(0, 1, values) - 0.5) ** 2)
            rates = channel.contrast * answers / answers.sum() + channel.b
            counts = np.rint(n * rates).astype(int)
            low, high = sequence(counts, levels, channel)
            once = estimate(counts, levels, channel)
            assert least < (high - low) / (once.high - once.low) < most


def test_there_is_one_crossing_on_either_side():
    """Of the fortune with its bar, wherever it was looked for: the limits leave nothing out."""
    rng, k = np.random.default_rng(1), weight_of(0.95)
    R = np.linspace(0, 1, 201)
    for _ in range(60):
        values = int(rng.integers(3, 6))
        levels = [*np.sort(rng.choice([0, 1, 5, 30, 50, 80, 95, 100], values, replace=False))]
        levels = [float(x) for x in levels] + [None] * int(rng.integers(2))
        c, h = kept(rng.uniform(0.3, 6), len(levels)), rng.dirichlet(np.ones(len(levels)))
        n = int(rng.choice([5, 30, 300, 3000, 100_000]))
        answers = rng.dirichlet(np.full(len(levels), rng.choice([0.2, 1])))
        counts = rng.multinomial(n, c * answers + (1 - c) * h)
        scores = Scores.of(levels, uneven(c, h))
        limits = sequence(counts, levels, uneven(c, h))
        low, high = ((x - scores.least) / scores.span for x in limits)
        if (low, high) == (0, 1):
            continue
        held = betting.log_wealth(R, counts.astype(float), scores, k) < math.log(20)
        clear = np.minimum(np.abs(R - low), np.abs(R - high)) > 1e-9
        assert (held == ((low <= R) & (high >= R)))[clear].all()


# --- finite populations -------------------------------------------------------------------------


def law_of_people(answers, rates):
    """P(tally) if these people report, as an array by the first two of three counts."""
    law = np.zeros((len(answers) + 1, len(answers) + 1))
    law[0, 0] = 1
    for own in answers:
        after = rates[own][2] * law
        after[1:] += rates[own][0] * law[:-1]
        after[:, 1:] += rates[own][1] * law[:, :-1]
        law = after
    return law


def census_coverage(people, epsilon, level=0.95):
    n, channel = len(people), alone(epsilon, 3)
    rates = channel.b + channel.contrast * np.eye(3)
    law, covered = law_of_people(people, rates), 0.0
    for tally in tallies(n, 3):
        found = estimate(tally, [0, 1, 2], channel, level, population=n)
        covered += law[tally[0], tally[1]] * (found.low <= np.mean(people) <= found.high)
    return covered


@pytest.mark.parametrize("epsilon", [1, 2, 4])
def test_the_limits_of_a_census_cover_the_mean_of_the_people(epsilon):
    """Every tally of 12 people, exactly, for very different answers."""
    for people in ([0] * 12, [2] * 12, [1] * 12, [0, 2] * 6, [0, 0, 1] * 4, [0] * 10 + [2] * 2):
        assert census_coverage(people, epsilon) >= 0.95


@pytest.mark.slow
def test_the_limits_of_a_larger_census_cover_the_mean_of_the_people():
    for epsilon, zeros, ones in itertools.product((1, 2, 4, 6), (0, 7, 13, 20), (0, 7, 13)):
        if zeros + ones <= 20:
            people = [0] * zeros + [1] * ones + [2] * (20 - zeros - ones)
            assert census_coverage(people, epsilon) >= 0.95


def test_asking_nearly_everybody_is_more_precise():
    counts, channel = [300, 450, 250], alone(2, 3)
    everybody, most, few, unlimited = (
        estimate(counts, [0, 20, 40], channel, population=size)
        for size in (1000, 1250, 10**7, None)
    )
    assert everybody.sampling_error == 0
    assert everybody.standard_error == pytest.approx(unlimited.privacy_error)
    assert everybody.standard_error < most.standard_error < few.standard_error
    assert few.standard_error == pytest.approx(unlimited.standard_error, rel=1e-3)
    assert everybody.high - everybody.low < 0.82 * (unlimited.high - unlimited.low)
    # A number that was rounded keeps the error of rounding, a quarter of a squared step at most.
    rounded = estimate(counts, [0, 20, 40], channel, population=1000, rounded=True)
    extra = rounded.standard_error**2 - everybody.standard_error**2
    assert 0 < extra <= 20**2 / 4 / 1000
    two = estimate([570, 430], [18, 100], TWO_COINS, population=1000, rounded=True)
    endless = estimate([570, 430], [18, 100], TWO_COINS)
    assert (two.low, two.high) == (endless.low, endless.high)
    assert two.standard_error == pytest.approx(endless.standard_error, rel=1e-3)
    exact = estimate([570, 430], [18, 100], TWO_COINS, population=1000)
    share = proportion.estimate(430, 1000, TWO_COINS, population=1000)
    assert (exact.low, exact.high) == pytest.approx((18 + 82 * share.low, 18 + 82 * share.high))


def test_rounding_adds_no_more_than_is_said():
    """The worst numbers for given levels, by linear programming."""
    from scipy.optimize import linprog

    from aggregation.statistics.tables.score_errors import rounding

    numbers = np.linspace(0, 1, 241)
    rng = np.random.default_rng(3)
    for values in (2, 3, 4, 6):
        levels = np.linspace(0, 1, values)
        near = np.maximum(0, 1 - np.abs(numbers[None] - levels[:, None]) * (values - 1))
        variance = levels**2 @ near - numbers**2
        for _ in range(5):
            shares = near @ rng.dirichlet(np.full(numbers.size, 0.05))
            worst = -linprog(-variance, A_eq=near, b_eq=shares, bounds=(0, None)).fun
            scores = Scores.of(list(levels), Channel(1, 0))
            bound = rounding(shares, scores)
            assert worst <= bound + 1e-9
            if values == 2:
                assert bound == pytest.approx(worst, abs=1e-4)


def test_a_total_is_the_mean_times_the_population():
    found = estimate([300, 450, 250], [0, 20, 40], alone(2, 3), population=1200)
    whole = total(found, 1200)
    assert (whole.value, whole.high) == (1200 * found.value, 1200 * found.high)
    assert whole.standard_error == 1200 * found.standard_error
    assert (whole.misfit, whole.method, whole.clear) == (found.misfit, found.method, True)
    with pytest.raises(ValueError, match="found must be an Estimate of a mean, got 3"):
        total(3, 1200)


# --- picks of several options -------------------------------------------------------------------

SEVERAL = 2559204473 / 2**32  # up to 3 of 10 at epsilon 2
PICKED = Channel(SEVERAL / 3 + (1 - SEVERAL) / 13, (1 - SEVERAL) / 13)


def test_picks_have_their_reference_values():
    assert (PICKED.a, PICKED.b) == pytest.approx((0.2297080063, 0.0310875981), abs=1e-10)
    item = proportion.estimate(180, 1000, PICKED)
    assert item.value == pytest.approx(0.7497336413, abs=1e-10)
    assert item.standard_error == pytest.approx(0.0611979063, abs=1e-10)
    # The mean number of picks is the sum of the shares, whatever their counts.
    counts = [180, 120, 90, 80, 75, 60, 60, 50, 45, 40]
    found = picks(sum(counts), 1000, 10, 3, PICKED)
    shares = [proportion.estimate(count, 1000, PICKED).value for count in counts]
    assert found.value == pytest.approx(sum(shares))
    assert found.low < found.value < found.high <= 3


def test_a_report_shows_an_option_as_often_as_the_derivation_says():
    """In exact fractions, for people who pick 0 to 2 of 4: pad, draw a slot, keep or replace it."""
    c, options, most = Fraction(2, 5), 4, 2
    cells = options + most
    for own in ([], [1], [0, 3]):
        slots = own + [None] * (most - len(own))
        kept_ = sum(Fraction(slot is not None) for slot in slots) / most
        shown = c * kept_ + (1 - c) * Fraction(options, cells)
        channel = Channel(float(c / most + (1 - c) / cells), float((1 - c) / cells))
        rate = options * channel.b + most * channel.contrast * len(own) / most
        assert rate == pytest.approx(float(shown))
        found = picks(int(10**6 * shown), 10**6, options, most, channel)
        assert found.value == pytest.approx(len(own), abs=1e-4)


# --- by group -----------------------------------------------------------------------------------


def joint_law(sizes, answers, keep, channel):
    groups = len(sizes)
    spread = keep * np.eye(groups) + (1 - keep) / groups
    values = answers.shape[1]
    coin = channel.contrast * np.eye(values) + channel.b
    return spread @ (np.array(sizes)[:, None] * answers) @ coin


def test_scores_of_0_and_1_by_group_are_shares_by_group():
    table = np.array([[290, 210], [260, 120], [75, 45]])
    for channel, keep, kind in ((TWO_COINS, 0.8, "fixed"), (TWO_COINS, 0.5, "always")):
        expected = ratio.by_group(table[:, 1], table.sum(axis=1), keep, channel, kind=kind)
        found = by_group(table, [0, 1], keep, channel, kind=kind)
        for name in ("value", "standard_error", "low", "high"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), nan_ok=True)
        assert (found.clear == expected.clear).all() and (found.kind == expected.kind).all()


def test_one_group_known_exactly_is_everybody():
    counts = [240, 150, 150, 160, 300]
    one = estimate(counts, [4, 1, 2, 3, None], OPTION)
    found = by_group([counts], [4, 1, 2, 3, None], 1.0, OPTION)
    assert found.value[0] == pytest.approx(one.value)
    assert found.standard_error[0] == pytest.approx(one.standard_error)
    assert (found.low[0], found.high[0]) == pytest.approx((one.low, one.high))


def test_means_by_group_agree_with_dense_matrices():
    rng = np.random.default_rng(2)
    levels, x = [1, 2, 3, None], np.array([1, 2, 3, 0])
    asked, channel, keep = np.array([1, 1, 1, 0]), alone(3, 4), 0.7
    answers = rng.dirichlet(np.ones(4), 3)
    table = rng.multinomial(3000, joint_law([0.5, 0.3, 0.2], answers, keep, channel).ravel())
    q = table / 3000
    groups = np.linalg.inv(keep * np.eye(3) + (1 - keep) / 3)
    values = np.linalg.inv(channel.contrast * np.eye(4) + channel.b)
    theta = groups @ q.reshape(3, 4) @ values
    found = by_group(table.reshape(3, 4), levels, keep, channel)
    means = (theta @ x) / (theta @ asked)
    assert found.value == pytest.approx(means)
    spread = (np.diag(q) - np.outer(q, q)) / 2999
    for g in range(3):
        gradient = np.zeros((3, 4))
        gradient[g] = (x - means[g] * asked) / (theta[g] @ asked)
        gradient = (groups.T @ gradient @ values.T).ravel()
        assert found.standard_error[g] == pytest.approx(math.sqrt(gradient @ spread @ gradient))


def test_a_group_that_may_be_empty_has_the_whole_range():
    table = [[200, 250, 150], [100, 100, 100], [30, 35, 35]]  # noise alone makes 100
    found = by_group(table, [1, 2, 3], 0.7, alone(2, 3))
    assert found.clear.tolist() == [True, True, False]
    assert math.isnan(found.value[2]) and (found.low[2], found.high[2]) == (1, 3)


def test_a_stack_of_tables_is_a_stack_of_means():
    tables = np.random.default_rng(1).integers(50, 200, (4, 3, 3))
    together = by_group(tables, [1, 2, None], 0.7, alone(2, 3), kind="always")
    for i, table in enumerate(tables):
        alone_ = by_group(table, [1, 2, None], 0.7, alone(2, 3), kind="always")
        for name in ("value", "standard_error", "low", "high"):
            expected = pytest.approx(getattr(alone_, name), nan_ok=True)
            assert getattr(together, name)[i] == expected
        assert (together.clear[i] == alone_.clear).all() and (together.kind == "always").all()


GROUPED = {
    "three levels": (2, [0, 1, 2]),
    "five scores": (4, [1, 2, 3, 4, 5]),
    "some not asked": (3, [1, 2, 3, 4, None]),
}
SIZES = {3: [0.4, 0.3, 0.3], 10: [0.25, 0.18, 0.14, 0.11, 0.09, 0.08, 0.06, 0.04, 0.03, 0.02]}


def answers_of(groups, levels):
    """Groups that answer differently: at both ends, in the middle, rarely at the top."""
    scored = sum(x is not None for x in levels)
    x = np.linspace(0, 1, scored)
    shapes = [np.eye(scored)[0] + np.eye(scored)[-1], np.exp(-8 * (x - 0.3) ** 2)]
    shapes.append(0.95 * np.eye(scored)[0] + 0.05 * np.eye(scored)[-1])
    rows = [shapes[g % 3] / shapes[g % 3].sum() for g in range(groups)]
    part = [1.0, 0.6, 0.4] if scored < len(levels) else [1.0]
    parts = np.array([part[g % len(part)] for g in range(groups)])
    answers = np.array(rows) * parts[:, None]
    return np.column_stack([answers, 1 - parts]) if scored < len(levels) else answers


@pytest.mark.parametrize("groups", SIZES)
@pytest.mark.parametrize("design", GROUPED)
@pytest.mark.slow
def test_means_by_group_are_covered(groups, design):
    """4,000 surveys of each size: below 0.935 with probability 1e-5 if the coverage is 0.95."""
    rng = np.random.default_rng(groups)
    epsilon, levels = GROUPED[design]
    channel, keep = alone(epsilon, len(levels)), kept(4, groups)
    answers = answers_of(groups, levels)
    x = np.array([math.nan if x is None else x for x in levels])
    truth = answers @ np.nan_to_num(x) / answers[:, ~np.isnan(x)].sum(axis=1)
    law = joint_law(SIZES[groups], answers, keep, channel)
    for n in (300, 1250, 5000):
        tables = rng.multinomial(n, law.ravel(), 4000).reshape(4000, *law.shape)
        found = by_group(tables, levels, keep, channel)
        held = (found.low <= truth) & (truth <= found.high)
        assert held.mean(axis=0).min() > 0.935
        # And limits that ignore how the group was randomized are found out.
        naive = np.abs(found.value - truth) <= 0.8 * Z * found.standard_error
        assert naive[:, 0].mean() < 0.93


@pytest.mark.parametrize("design", GROUPED)
@pytest.mark.slow
def test_means_by_group_are_covered_at_every_look_from_300_reports_on(design):
    """500 paths and 60 looks: at 0.05 more than 44 are wrong with probability 1e-4."""
    rng = np.random.default_rng(8)
    epsilon, levels = GROUPED[design]
    channel, keep = alone(epsilon, len(levels)), kept(4, 3)
    answers = answers_of(3, levels)
    x = np.array([math.nan if x is None else x for x in levels])
    truth = answers @ np.nan_to_num(x) / answers[:, ~np.isnan(x)].sum(axis=1)
    law = joint_law(SIZES[3], answers, keep, channel)
    sizes = np.unique(np.geomspace(300, 10_000, 60).astype(int))
    steps = [rng.multinomial(m, law.ravel(), 500) for m in np.diff(sizes, prepend=0)]
    tables = np.cumsum(steps, axis=0).reshape(sizes.size, 500, *law.shape)
    missed_ever = {}
    for kind in ("always", "fixed"):
        found = by_group(tables, levels, keep, channel, kind=kind)
        wrong = (found.low > truth) | (truth > found.high)
        missed_ever[kind] = wrong.any(axis=0).sum(axis=0)
    assert missed_ever["always"].max() <= 44
    assert missed_ever["fixed"].min() > 44


# --- differences between groups -----------------------------------------------------------------


def test_differences_of_scores_0_and_1_are_differences_of_shares():
    table = np.array([[290, 210], [260, 120], [75, 45], [101, 99]])
    for channel, keep in ((TWO_COINS, 0.8), (Channel(0.9, 0.05), 0.4)):
        uneven_channels = [Channel(1 - channel.b, 1 - channel.a), channel]
        expected = difference.groups(table[:, 1], table.sum(axis=1), keep, channel, 0.9)
        found = difference.means(table, [0, 1], keep, uneven_channels, 0.9)
        for name in ("first", "second", "clear"):
            assert (getattr(found, name) == getattr(expected, name)).all()
        for name in ("difference", "low", "high", "p_value", "adjusted"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), nan_ok=True)
        shifted = difference.means(table, [-3, 7], keep, uneven_channels, 0.9)
        assert shifted.difference == pytest.approx(10 * expected.difference, nan_ok=True)
        assert shifted.low == pytest.approx(10 * expected.low)
        assert shifted.p_value == pytest.approx(expected.p_value)


def moved(answers, scores, asked, R):
    """Return answers of which a part has moved to the greatest or least score, so that R fits."""
    scored = answers * asked
    mean = scored @ scores / scored.sum()
    place = np.argmax if mean < R else np.argmin
    end = np.flatnonzero(asked)[place(scores[asked == 1])]
    part = (R - mean) / (scores[end] - mean)
    return answers - part * scored + part * scored.sum() * np.eye(len(answers))[end]


@pytest.mark.parametrize(
    "epsilon, levels", [(3, [0, 1, 3]), (4, [5, 1, 2, None]), (3, [1, 2, 3, 4])]
)
def test_differences_of_means_follow_the_definition(epsilon, levels):
    """Every report of every person is enumerated, and limits are found by bisection."""
    rng = np.random.default_rng(epsilon * len(levels))
    scores = np.array([0 if x is None else x for x in levels])
    asked = np.array([float(x is not None) for x in levels])
    channel, keep, n = alone(epsilon, len(levels)), kept(3, 3), 8000
    shapes = rng.dirichlet([4] * len(levels), 3)
    table = rng.multinomial(n, joint_law([0.3, 0.5, 0.2], shapes, keep, channel).ravel())
    table = table.reshape(3, -1)
    groups = keep * np.eye(3) + (1 - keep) / 3
    coin = channel.contrast * np.eye(len(levels)) + channel.b
    inside, out = np.linalg.inv(groups), np.linalg.inv(coin)
    theta = inside @ (table / n) @ out
    assert theta.min() > 0
    sizes, answers = theta.sum(axis=1), theta / theta.sum(axis=1)[:, None]
    below, means = theta @ asked, theta @ scores / (theta @ asked)
    u, t = out @ scores, out @ asked  # of a report, with the scores as means over the people

    def variance(weights, R, about):
        """Return the mean square of (u - R t) times a weight of the group reported."""
        found = 0.0
        for h in range(3):
            people = moved(answers[h], scores, asked, R) if h in about else answers[h]
            found += sizes[h] * (groups[h] @ weights**2) * (people @ coin @ (u - R * t) ** 2)
        return found

    def limit(g, end):
        def excess(R):
            far = (theta[g] @ scores - R * below[g]) ** 2
            return far - z * z / n * variance(inside[:, g], R, [g])

        return brentq(excess, means[g], end)

    z = norm.isf(0.05 / 2 / 3)
    least, most = scores[asked == 1].min(), scores[asked == 1].max()
    lows, highs = [limit(g, least) for g in range(3)], [limit(g, most) for g in range(3)]
    psi = [np.outer(inside[:, g], u - means[g] * t) / below[g] for g in range(3)]
    spread = [[float((x * y * table / n).sum()) for y in psi] for x in psi]
    found = difference.means(table, levels, keep, channel)
    for m, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        assert (found.first[m], found.second[m], found.clear[m]) == (i, j, True)
        gap = means[i] - means[j]
        assert found.difference[m] == pytest.approx(gap)
        r = spread[i][j] / math.sqrt(spread[i][i] * spread[j][j])
        down, up = (
            (means[i] - lows[i], highs[j] - means[j]),
            (highs[i] - means[i], means[j] - lows[j]),
        )
        ends = [math.sqrt(a * a + b * b - 2 * r * a * b) for a, b in (down, up)]
        assert (found.low[m], found.high[m]) == pytest.approx((gap - ends[0], gap + ends[1]))
        R = (theta[i] + theta[j]) @ scores / (below[i] + below[j])
        weights = inside[:, i] / below[i] - inside[:, j] / below[j]
        error = math.sqrt(variance(weights, R, [i, j]) / n)
        assert found.p_value[m] == pytest.approx(2 * norm.sf(abs(gap) / error))
    assert found.adjusted == pytest.approx(difference.holm(found.p_value))


def test_a_group_that_may_be_empty_is_not_compared():
    table = [[200, 250, 150], [100, 100, 100], [30, 35, 35]]  # noise alone makes 100
    found = difference.means(table, [1, 2, 5], 0.7, alone(2, 3))
    assert found.clear.tolist() == [True, False, False]
    assert np.isnan(found.difference[1:]).all() and (found.p_value[1:] == 1).all()
    assert (found.low[1:] == -4).all() and (found.high[1:] == 4).all()


@pytest.mark.parametrize(
    "table, message",
    [([[3, 4, 5]], "table must have at least 2 groups"), ([[[1, 2, 3]] * 2] * 2, "a row for each")],
)
def test_only_the_groups_of_one_table_are_compared(table, message):
    with pytest.raises(ValueError, match=message):
        difference.means(table, [1, 2, 3], 0.7, alone(2, 3))


# The first two groups have the same mean, of answers at both ends and in the middle.
ALIKE = {
    "five scores": ([1, 2, 3, 4, 5], [[0.5, 0, 0, 0, 0.5], [0, 0, 1, 0, 0], [0.9, 0, 0, 0, 0.1]]),
    "rarely high": ([0, 1, 10], [[0.9, 0, 0.1], [0.45, 0.5, 0.05], [0, 0.1, 0.9]]),
    "some not asked": (
        [0, 1, 2, None], [[0.2, 0.1, 0.2, 0.5], [0.1, 0.4, 0.1, 0.4], [0.6, 0.2, 0, 0.2]]
    ),
}  # fmt: skip


@pytest.mark.parametrize("epsilon, sizes", [(5, [0.4, 0.3, 0.3]), (3, [0.5, 0.2, 0.3])])
@pytest.mark.parametrize("design", ALIKE)
@pytest.mark.slow
def test_differences_of_means_are_covered_and_tested_at_their_level(design, epsilon, sizes):
    """2,000 surveys of each size, three pairs at once at 0.85, so that the level of each is 0.95.

    No pair is missed significantly more often than in 6 %, nor does the test of equal means,
    alpha = 0.05, reject significantly more often; alpha = 0.001 for both. Other means are found.
    Means of the people who report a group are drawn towards those of others: they reject equality.
    """
    number, (levels, answers) = 2000, ALIKE[design]
    rng = np.random.default_rng(epsilon + len(levels))
    channel, keep, answers = alone(4, len(levels)), kept(epsilon, 3), np.array(answers)
    x = np.array([math.nan if x is None else x for x in levels])
    truth = answers @ np.nan_to_num(x) / answers[:, ~np.isnan(x)].sum(axis=1)
    assert truth[0] == pytest.approx(truth[1])
    law, most = joint_law(sizes, answers, keep, channel), binom.isf(0.001 / 3, number, 0.06)
    for n in (300, 1250, 5000):
        tables = rng.multinomial(n, law.ravel(), number).reshape(number, *law.shape)
        missed, rejected, naive = np.zeros(3), np.zeros(3), 0
        for table in tables:
            found = difference.means(table, levels, keep, channel, level=0.85)
            gaps = truth[found.first] - truth[found.second]
            missed += (found.low > gaps) | (gaps > found.high)
            rejected += found.p_value <= 0.05
            naive += difference.means(table, levels, 1.0, channel).p_value[0] <= 0.05
        assert (missed <= most).all()
        assert rejected[0] <= most
        if n == 5000:
            assert (rejected[1:] > 0.9 * number).all()
            assert epsilon > 3 or naive > most


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        ({"counts": [1, 2]}, "levels must be 2, one for each of counts, got 3"),
        ({"counts": [0, 0, 0]}, "counts must be at least 0 and add up to 1 to"),
        ({"counts": [-1, 2, 3]}, "counts must be at least 0 .* got from -1"),
        ({"counts": [1.5, 2, 3]}, "counts must be integers, got"),
        ({"counts": [[1, 2, 3]]}, "counts must be a list with one for each value, got"),
        ({"levels": [1, 1, None]}, "levels must have at least two different scores, got"),
        ({"levels": [1, "2", 3]}, "levels must be numbers, or None .* got '2'"),
        ({"levels": [1, True, 3]}, "levels must be numbers, or None .* got True"),
        ({"levels": [1, math.inf, 3]}, "levels must be numbers, or None .* got inf"),
        ({"channel": TWO_COINS}, "channel must be that of one of 3 values .* got Channel"),
        ({"channel": [TWO_COINS] * 2}, "channel must be one, or one for each value, got 2"),
        ({"channel": (0.7, 0.2)}, "channel must be a Channel, got 0.7"),
        ({"level": 1}, "level must be strictly between 0 and 1, got 1"),
        ({"population": 5}, "population must be at least 1000, got 5"),
        ({"rounded": 1}, "rounded must be True or False, got 1"),
        ({"levels": [0, 1, 5], "rounded": True}, "levels must be equally spaced .* got other gaps"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    given = {"counts": [300, 450, 250], "levels": [0, 1, 2], "channel": alone(2, 3)} | change
    with pytest.raises(ValueError, match=message):
        estimate(**given)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
@pytest.mark.slow
def test_every_mean_is_finite_ordered_and_silent(data):
    values = data.draw(st.integers(2, 6), label="values")
    scores = st.integers(-3, 3) | st.floats(-1e6, 1e6) | st.none()
    levels = data.draw(st.lists(scores, min_size=values, max_size=values), label="levels")
    if len({float(x) for x in levels if x is not None}) < 2:
        return
    c = data.draw(st.floats(1e-9, 1), label="c")
    counts = data.draw(
        st.lists(st.integers(0, 40) | st.integers(0, 2**40), min_size=values, max_size=values),
        label="counts",
    )
    level = data.draw(st.floats(0.5, 1 - 1e-9), label="level")
    if not sum(counts):
        return
    channel = Channel(min(c + (1 - c) / values, 1), (1 - c) / values)
    least, most = (pick(x for x in levels if x is not None) for pick in (min, max))
    slack = 1e-9 * (abs(least) + abs(most))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = estimate(counts, levels, channel, level)
        looks = sequence(counts, levels, channel, level)
        groups = by_group([counts, counts[::-1]], levels, 0.5, channel, level)
    for low, high in ((one.low, one.high), looks, *zip(groups.low, groups.high, strict=True)):
        assert least - slack <= low < high <= most + slack
    if one.clear:
        assert one.low - slack <= one.bounded <= one.high + slack
        assert math.isfinite(one.standard_error)
