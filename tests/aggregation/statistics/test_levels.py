"""To how many levels numbers are rounded: reference values, and the mechanism itself on a grid."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from aggregation.statistics import mean, planning
from aggregation.statistics.channel import Channel
from aggregation.statistics.planning import (
    best_levels,
    half_width_of_mean,
    mean_variance,
    noise_variance,
)
from aggregation.statistics.privacy import laplace_error, price_of_mean

LN3 = math.log(3)


def kept(epsilon, cells):
    return math.expm1(epsilon) / (math.expm1(epsilon) + cells)


@pytest.mark.parametrize(
    "epsilon, variance, levels",
    [
        (0.5, 16.671, 1),
        (1, 4.683, 1),
        (1.5, 1.936, 2),
        (2, 1.000, 2),
        (3, 0.388, 3),
        (4, 0.1767, 4),
    ],
)
def test_the_least_noise_has_its_reference_value(epsilon, variance, levels):
    """Measured on [-1, 1], where variances are four times those on [0, 1]."""
    assert best_levels(epsilon) == levels
    assert 4 * noise_variance(epsilon, levels) == pytest.approx(variance, rel=3e-4)


def test_more_levels_are_worth_it_from_known_values_on():
    for levels, expected in ((1, LN3), (2, 2.534), (3, 3.473), (4, 4.188)):

        def gain(epsilon, levels=levels):
            return noise_variance(epsilon, levels) - noise_variance(epsilon, levels + 1)

        found = brentq(gain, 0.8, 8)
        assert found == pytest.approx(expected, abs=5e-4)
        assert (best_levels(found - 1e-6), best_levels(found + 1e-6)) == (levels, levels + 1)


def variance_of_number(x, levels, c):
    """n Var of the estimate if everybody's number is x in [0, 1], from its definition."""
    place = np.linspace(0, 1, levels + 1)
    rates = c * np.maximum(0, 1 - levels * np.abs(place - x)) + (1 - c) / (levels + 1)
    return (rates @ place**2 - (rates @ place) ** 2) / c**2


@pytest.mark.parametrize("others", [1, 2, 6])
def test_the_worst_number_is_found(others):
    for epsilon in (0.3, 1, 2, 3.3, 5, 8):
        best = None
        for levels in range(1, 25):
            c = kept(epsilon, others * (levels + 1))
            worst = max(variance_of_number(x, levels, c) for x in np.linspace(0, 1, 961))
            found = noise_variance(epsilon, levels, others)
            assert worst <= found * (1 + 1e-12) and found == pytest.approx(worst, rel=1e-4)
            best = min(best or (math.inf, 0), (found, levels))
        assert best_levels(epsilon, others) == best[1]


def test_a_planned_half_width_is_that_of_the_normal_approximation():
    """Half of the people at either end; and a given spread around the middle."""
    for epsilon, levels in ((1, 1), (2, 2), (4, 4)):
        c = kept(epsilon, levels + 1)
        channel = Channel(c + (1 - c) / (levels + 1), (1 - c) / (levels + 1))
        answers = np.eye(levels + 1)[0] / 2 + np.eye(levels + 1)[-1] / 2
        counts = np.rint(10**6 * (c * answers + channel.b)).astype(int)
        found = mean.estimate(counts, list(np.linspace(0, 1, levels + 1)), channel)
        planned = half_width_of_mean(10**6, epsilon, levels)
        assert planned == pytest.approx(1.959964 * found.standard_error, rel=1e-4)
        assert (found.high - found.low) / 2 == pytest.approx(planned, rel=2e-3)
        some = half_width_of_mean(10**6, epsilon, levels, deviation=0.1)
        assert some == planned if levels == 1 else some < planned
    assert half_width_of_mean(1000, 2.0) == half_width_of_mean(1000, 2.0, levels=2)


def test_two_levels_are_planned_like_a_share():
    channel = Channel(0.75, 0.25)
    assert half_width_of_mean(1000, LN3, 1) == pytest.approx(planning.half_width(1000, channel))
    c = kept(2, 8)
    wide = planning.half_width(500, Channel((1 + c) / 2, (1 - c) / 2))
    assert half_width_of_mean(500, 2.0, 1, others=4) == pytest.approx(wide)


def test_with_little_noise_the_spread_of_the_answers_is_left():
    assert mean_variance(30.0, 100, deviation=0.2) == pytest.approx(0.04, abs=1e-4)


def test_the_price_of_a_mean_has_its_known_value():
    """The textbooks' example: salaries from 20,000 to 200,000, 1,000 people, epsilon = 1."""
    assert laplace_error(1000, 1.0, 20_000, 200_000) == pytest.approx(180 * math.sqrt(2))
    found = price_of_mean(1000, 1.0, 1, 20_000, 200_000, deviation=30_000)
    assert found.sampling == pytest.approx(30_000 / math.sqrt(1000))
    assert found.curator == pytest.approx(math.hypot(found.sampling, 254.5584))
    assert found.local == pytest.approx(90_000 / kept(1, 2) / math.sqrt(1000))
    assert found.people == pytest.approx((found.local / found.curator) ** 2)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="levels must be at least 1, got 0"):
        noise_variance(1.0, 0)
    with pytest.raises(ValueError, match="others must be at most"):
        best_levels(1.0, 2**20)
    with pytest.raises(ValueError, match="deviation must be positive"):
        mean_variance(1.0, 1, deviation=-1)
    with pytest.raises(ValueError, match="least must be below most, got 3 and 2"):
        laplace_error(10, 1.0, 3, 2)
