"""Exact coverage of the intervals for the worst share, without simulation.

Between two neighbouring limits the set of counts whose interval holds the share is fixed, a run of
consecutive counts, and its probability rises and then falls in the share. The infimum of the
coverage is therefore reached on one side or the other of a limit: looking at the nearest floating
point numbers beside every limit finds it. Bad intervals are measured too, by the same function, to
show that it would notice.
"""

import numpy as np
import pytest
from scipy.stats import beta, binom, hypergeom, norm

from aggregation.statistics.proportion import Channel, estimate, interval, intervals
from tests.support.channels import NO_NOISE, TWO_COINS, warner

ROUNDING = 1e-9  # of the probabilities computed here


CHANNELS = {
    "epsilon 0.5": warner(0.5),
    "epsilon 1": warner(1),
    "two coins": TWO_COINS,
    "epsilon 2": warner(2),
    "epsilon 4": warner(4),
    "forced": Channel(0.79, 0.09),
    "no false yes": Channel(0.6, 0),
    "no false no": Channel(1, 0.3),
    "one option of thirty": Channel(0.06, 0.03),
    "high rates": Channel(0.99, 0.93),
    "no noise": NO_NOISE,
}
channels = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)


def worst_case(limits, n, channel):
    """The infimum of the coverage, and the largest chance of an empty or one-point interval.

    ``limits`` holds (low, high) for every count from 0 to n.
    """
    low, high = np.array(limits).T
    ends = np.unique(np.clip(np.concatenate([low, high, np.linspace(0, 1, 101)]), 0, 1))
    between = (ends[1:] + ends[:-1]) / 2
    beside = [np.nextafter(ends, 0), np.nextafter(ends, 1)]
    shares = np.unique(np.concatenate([ends, between, *beside]))
    law = binom.pmf(np.arange(n + 1), n, channel.b + channel.contrast * shares[:, None])
    covered = (low <= shares[:, None]) & (shares[:, None] <= high)
    return (law * covered).sum(axis=1).min(), (law * (low >= high)).sum(axis=1).max()


@channels
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 100, 300])
@pytest.mark.slow
def test_default_interval_covers_every_share(channel, n):
    for level in (0.8, 0.95, 0.99) if n <= 100 else (0.95,):
        limits = np.transpose(intervals(range(n + 1), n, channel, level))
        coverage, empty = worst_case(limits, n, channel)
        assert coverage >= level - ROUNDING
        assert empty == 0


def test_default_interval_covers_every_share_in_a_larger_survey():
    limits = np.transpose(intervals(range(1001), 1000, TWO_COINS))
    coverage, empty = worst_case(limits, 1000, TWO_COINS)
    assert 0.95 - ROUNDING <= coverage < 0.951  # exact, and hardly wider than it must be
    assert empty == 0


@channels
@pytest.mark.parametrize("n", [1, 10, 100])
def test_clopper_pearson_at_the_clamped_count_covers_every_share(channel, n):
    limits = np.transpose(intervals(range(n + 1), n, channel, method="clopper-pearson"))
    coverage, empty = worst_case(limits, n, channel)
    assert coverage >= 0.95 - ROUNDING
    assert empty == 0


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_the_default_is_narrower_than_clopper_pearson(epsilon):
    for s in range(0, 101, 4):
        low, high = interval(s, 100, warner(epsilon))
        wide = interval(s, 100, warner(epsilon), method="clopper-pearson")
        assert wide[0] <= low + 1e-10 and high <= wide[1] + 1e-10


# --- intervals that are wrong, and found out ----------------------------------------------------


def to_shares(low, high, channel):
    """Convert limits for the rate to shares, clipped to [0, 1]."""
    b, c = channel.b, channel.contrast
    return list(zip(np.maximum((low - b) / c, 0), np.minimum((high - b) / c, 1), strict=True))


def test_clipped_clopper_pearson_is_empty_too_often():
    n, s = 100, np.arange(101)
    low = np.concatenate([[0], beta.ppf(0.025, s[1:], n - s[1:] + 1)])
    high = np.concatenate([beta.ppf(0.975, s[:-1] + 1, n - s[:-1]), [1]])
    coverage, empty = worst_case(to_shares(low, high, TWO_COINS), n, TWO_COINS)
    assert coverage >= 0.95 - ROUNDING
    assert 0.01 < empty < 0.025


@pytest.mark.parametrize("epsilon, expected", [(1, 0.945), (4, 0.80)])
def test_clipped_wald_covers_too_little(epsilon, expected):
    n, s = 100, np.arange(101)
    channel = warner(epsilon)
    half = norm.ppf(0.975) * np.sqrt(s / n * (1 - s / n) / n)
    coverage, empty = worst_case(to_shares(s / n - half, s / n + half, channel), n, channel)
    assert coverage < expected
    assert empty > 0.01


def test_wilson_covers_too_little_at_its_worst():
    limits = [interval(s, 10, warner(4), method="wilson") for s in range(11)]
    coverage, empty = worst_case(limits, 10, warner(4))
    assert 0.85 < coverage < 0.93
    assert empty == 0


def test_rounding_inward_opens_gaps():
    """Limits of neighbouring counts coincide, so rounding by 1e-12 is enough to lose coverage."""
    inward = 3e-12 / TWO_COINS.contrast
    limits = [interval(s, 100, TWO_COINS) for s in range(101)]
    pinched = [(low + inward * (low > 0), high - inward * (high < 1)) for low, high in limits]
    assert worst_case(limits, 100, TWO_COINS)[0] >= 0.95 - ROUNDING
    assert worst_case(pinched, 100, TWO_COINS)[0] < 0.94


# --- finite populations -------------------------------------------------------------------------


def finite_coverage(limits, n, population, channel):
    """Coverage of yes / population for every number of yes answers.

    Had everybody reported, S = Bin(yes, a) + Bin(population - yes, b) of the reports would say yes;
    which n people were drawn does not depend on that, so the count is hypergeometric given S.
    """
    low, high = np.array(limits).T
    everybody = np.arange(population + 1)
    drawn = hypergeom.pmf(np.arange(n + 1), population, everybody[:, None], n)
    coverage = []
    for yes in everybody:
        no = population - yes
        reports = np.convolve(
            binom.pmf(everybody[: yes + 1], yes, channel.a),
            binom.pmf(everybody[: no + 1], no, channel.b),
        )
        covered = (low <= yes / population) & (yes / population <= high)
        coverage.append((reports @ drawn)[covered].sum())
    return np.array(coverage)


def finite_limits(n, population, channel, level=0.95):
    found = [estimate(s, n, channel, level, population) for s in range(n + 1)]
    return [(one.low, one.high) for one in found]


@channels
@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
@pytest.mark.slow
def test_census_interval_covers_every_population(channel, n):
    for level in (0.8, 0.95):
        limits = finite_limits(n, n, channel, level)
        assert finite_coverage(limits, n, n, channel).min() >= level - ROUNDING


def test_census_interval_is_not_needlessly_wide():
    limits = finite_limits(60, 60, TWO_COINS)
    pinched = [(low + 1 / 60, high - 1 / 60) for low, high in limits]
    assert finite_coverage(pinched, 60, 60, TWO_COINS).min() < 0.95
    wide = [interval(s, 60, TWO_COINS) for s in range(61)]
    assert np.mean(np.diff(limits)) < np.mean(np.diff(wide))


@channels
@pytest.mark.parametrize("n, population", [(2, 3), (5, 40), (20, 30), (39, 40)])
def test_interval_of_a_sample_covers_every_finite_population(channel, n, population):
    for level in (0.8, 0.95):
        limits = finite_limits(n, population, channel, level)
        assert finite_coverage(limits, n, population, channel).min() >= level - ROUNDING


def test_the_finite_population_interval_covers_a_single_yes():
    """51 of 1000 people, one of whom would say yes, without noise: the chance to meet her is 0.051.

    The binomial puts it at 0.0497 and would reject; the interval for finite populations does not.
    """
    n, population = 51, 1000
    law = hypergeom.pmf(np.arange(n + 1), population, 1, n)

    def coverage(limits):
        return sum(law[s] for s, (low, high) in enumerate(limits) if low <= 1 / population <= high)

    assert coverage([interval(s, n, NO_NOISE) for s in range(n + 1)]) == pytest.approx(0.949)
    assert coverage(finite_limits(n, population, NO_NOISE)) >= 0.95
