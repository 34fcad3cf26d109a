"""Published analyses, recomputed: survey results, textbook fits, tables, examples of programs."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from aggregation.statistics import difference
from aggregation.statistics.planning import power_of_difference, sample_size_of_difference
from aggregation.statistics.privacy import loss
from aggregation.statistics.privacy.shuffling import clones_bound, least_epsilon
from aggregation.statistics.proportion import Channel, estimate, interval
from aggregation.statistics.regression import logistic, tallies, wald
from tests.support.channels import NO_NOISE


def test_the_nigeria_survey_has_its_published_estimate():
    """Blair, Imai & Zhou 2015, J. Am. Stat. Assoc. 110:1304: forced response with a die.

    1 forces no, 6 forces yes, anything else the truth; 831 of 2,435 reports say yes.
    """
    channel = Channel(2 / 3 + 1 / 6, 1 / 6)
    found = estimate(831, 2435, channel)
    assert round(found.value, 4) == 0.2619
    assert round(found.standard_error, 4) == 0.0144
    assert found.low < 0.2619 - 1.9 * 0.0144 and found.high > 0.2619 + 1.9 * 0.0144
    assert found.misfit > 0.999
    assert channel.epsilon == pytest.approx(math.log(5))
    # As a regression with an intercept only, which is how their program gets it.
    fit = tallies([[1]], [831], [2435], channel)
    share = expit(fit.coefficients[0])
    assert round(share, 4) == 0.2619
    assert round(fit.standard_errors[0] * share * (1 - share), 4) == 0.0144


def test_the_tax_return_example_has_its_published_estimate():
    """Pennsylvania State University, STAT 506, example 12-2: a coin decides between two questions.

    The second has an even chance of yes. 128 of 400 say yes: 2 (128/400 - 1/4), and a variance of
    4/n times that of the reports.
    """
    found = estimate(128, 400, Channel(0.75, 0.25))
    assert found.value == pytest.approx(0.14, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(4 / 399 * 0.32 * 0.68, rel=1e-12)


@pytest.mark.parametrize("p", [0.6, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("share", [0.5, 0.6])
def test_both_parts_of_warners_variance_are_unbiased(p, share):
    """Warner 1965, J. Am. Stat. Assoc. 60:63, the designs that he compares.

    (1/(16 (p - 1/2)^2) - (share - 1/2)^2)/n, of which (1/(16 (p - 1/2)^2) - 1/4)/n is due to the
    random device: what our estimates of both have to be on average, over every outcome of n = 50.
    """
    n, channel = 50, Channel(p, 1 - p)
    law = binom.pmf(range(n + 1), n, channel.rate(share))
    found = [estimate(count, n, channel) for count in range(n + 1)]
    device = 1 / (16 * (p - 0.5) ** 2)
    assert law @ [one.value for one in found] == pytest.approx(share, rel=1e-12)
    total = law @ [one.standard_error**2 for one in found]
    assert total == pytest.approx((device - (share - 0.5) ** 2) / n, rel=1e-9)
    assert law @ [one.privacy_error**2 for one in found] == pytest.approx((device - 0.25) / n)


@pytest.mark.parametrize(
    "truth, yes",
    [
        (3 / 4, 1 / 6),  # two dice: 2 to 4 force yes, 11 and 12 force no
        (3 / 4, 1 / 4 * 1 / 4),  # otherwise, whether one's mother was born in the first quarter
        (0.8 - 0.2, 0.2),  # Kuk's cards: 80 % are red in one pack, 20 % in the other
    ],
)
def test_the_dutch_compliance_designs_have_their_published_estimates(truth, yes):
    """Utrecht University, randomizedresponse.wp.hum.uu.nl: how these surveys ask and estimate.

    (rate - yes)/truth, with variance rate (1 - rate)/(n truth^2), where ``yes`` is the chance of a
    yes that says nothing and ``truth`` that of an answer; forced response is Boruch's (1972, Soc.
    Sci. Res. 1:403), the unrelated question that of Greenberg et al. (1969, J. Am. Stat. Assoc.
    64:520).
    """
    found = estimate(300, 1000, Channel(truth + yes, yes))
    assert found.value == pytest.approx((0.3 - yes) / truth, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(0.3 * 0.7 / 999 / truth**2, rel=1e-12)


@pytest.mark.parametrize("channel", [Channel(0.7, 0.3), Channel(0.8, 0.2), Channel(0.9, 0.15)])
def test_the_privacy_error_agrees_with_rrtcs(channel):
    """RRTCS, a package for R: r = (z - b)/(a - b) for each report z, and r (r - 1) its variance."""
    r = (np.repeat([0, 1], [83, 42]) - channel.b) / channel.contrast
    found = estimate(42, 125, channel)
    assert found.value == pytest.approx(r.mean(), rel=1e-12)
    assert found.privacy_error**2 == pytest.approx((r * (r - 1)).mean() / 125, rel=1e-12)


def test_two_coins_are_ln_3_private():
    """Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211."""
    assert loss(Channel(0.75, 0.25)) == pytest.approx(math.log(3), rel=1e-15)


@pytest.mark.parametrize(
    "count, n, exact, score",
    [
        (81, 263, (0.2527, 0.3676), (0.2553, 0.3662)),
        (15, 148, (0.0578, 0.1617), (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1684), (0.0000, 0.1611)),
        (1, 29, (0.0009, 0.1776), (0.0061, 0.1718)),
    ],
)
def test_noiseless_intervals_match_newcombes_table(count, n, exact, score):
    """Newcombe 1998, Stat. Med. 17:857, table I: Clopper-Pearson and Wilson."""
    found = interval(count, n, NO_NOISE, method="clopper-pearson")
    assert np.round(found, 4) == pytest.approx(exact, abs=1e-12)
    found = interval(count, n, NO_NOISE, method="wilson")
    assert np.round(found, 4) == pytest.approx(score, abs=1e-12)


def test_a_noiseless_difference_matches_newcombes_table():
    """Newcombe 1998, Stat. Med. 17:873, table II, 56/70 against 48/80 by method 10."""
    found = difference.interval(56, 70, 48, 80, NO_NOISE)
    assert np.round(found, 4) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-12)


def test_the_noiseless_beetle_regression_matches_the_literature():
    """Bliss 1935, Ann. Appl. Biol. 22:134; logistic fit in Dobson 2002."""
    doses = [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839]
    killed, sizes = [6, 13, 18, 28, 52, 53, 61, 60], [59, 60, 62, 56, 63, 59, 62, 60]
    fit = tallies(np.column_stack([np.ones(8), doses]), killed, sizes, NO_NOISE)
    assert np.round(fit.coefficients, 2) == pytest.approx([-60.72, 34.27])
    assert np.round(fit.standard_errors, 2) == pytest.approx([5.18, 2.91])


TEMPERATURES = [
    66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58,
]  # fmt: skip
DISTRESS = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_the_noiseless_o_ring_regression_matches_the_literature():
    """Dalal, Fowlkes & Hoadley 1989, J. Am. Stat. Assoc. 84:945: any distress on 23 flights."""
    fit = logistic(np.column_stack([np.ones(23), TEMPERATURES]), DISTRESS, NO_NOISE)
    assert np.round(fit.coefficients, 4) == pytest.approx([15.0429, -0.2322])
    assert np.round(fit.standard_errors, 4) == pytest.approx([7.3786, 0.1082])
    assert wald(fit)[1, 1] < 0  # cold is dangerous


def test_the_o_ring_effect_disappears_with_noise():
    """If the same reports were randomized, the fit reports far wider limits."""
    fit = logistic(np.column_stack([np.ones(23), TEMPERATURES]), DISTRESS, Channel(0.9, 0.1))
    assert fit.separated or fit.standard_errors[1] > 2 * 0.1082


def test_noiseless_sample_size_and_power_match_r():
    """The examples of power.prop.test in R's stats package: n = 76.7 and power = 0.740."""
    assert sample_size_of_difference(0.5, 0.75, NO_NOISE, power=0.9) == 77
    found = power_of_difference(0.5, 0.75, 50, 50, NO_NOISE, method="normal")
    assert round(found, 3) == 0.740
    exact = power_of_difference(0.5, 0.75, 50, 50, NO_NOISE)
    assert exact == pytest.approx(found, abs=0.03)


def test_the_clone_bound_lies_in_its_published_bracket():
    """Feldman, McMillan & Talwar 2021: their program brackets epsilon for 10^5 reports at 4."""
    found = least_epsilon(clones_bound(4.0, 10**5, 1e-6, math.exp(-4), 1.0), 4.0, 1e-6)
    assert 0.16754 <= found <= 0.17279
