"""Regression on randomized reports: against reference values, brute force and simulation."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import binom, chi2, norm

from aggregation.statistics.proportion import Channel, estimate
from aggregation.statistics.regression import (
    likelihood_ratio,
    logistic,
    profile,
    shares,
    tallies,
    wald,
)
from tests.support.channels import FORCED, NO_NOISE, TWO_COINS, warner


def reference():
    """Return 400 fixed rows, of which 190 say yes."""
    i = np.arange(400)
    X = np.column_stack([np.ones(400), (i % 20 - 9.5) / 5, i // 20 % 2])
    y = 7919 * i % 1000 < 1000 * (0.25 + 0.5 * expit(X @ [-0.5, 0.8, 0.4]))
    return X, y.astype(int)


def draw(rng, X, beta, channel):
    return (rng.random(len(X)) < channel.b + channel.contrast * expit(X @ beta)).astype(int)


def log_likelihood(beta, X, y, a, b, w=1.0):
    """Return the log-likelihood by definition, ignoring rounding."""
    rate = b + (a - b) * expit(X @ beta)
    return np.sum(w * np.where(y == 1, np.log(rate), np.log(1 - rate)))


# --- reference and brute force ------------------------------------------------------------------


def test_fit_has_its_reference_values():
    X, y = reference()
    assert y.sum() == 190
    fit = logistic(X, y, TWO_COINS)
    close = {"abs": 2e-10}
    assert fit.coefficients == pytest.approx([-0.5239771060, 0.8358426112, 0.5686273495], **close)
    errors = [0.3523528812, 0.2452570258, 0.4871170903]
    assert fit.standard_errors == pytest.approx(errors, **close)
    observed = [0.3466842730, 0.2487213409, 0.4850135423]
    assert fit.observed_standard_errors == pytest.approx(observed, **close)
    assert fit.log_likelihood == pytest.approx(-267.3528494034, abs=1e-9)
    assert fit.converged and not fit.separated and fit.iterations < 15
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(fit.standard_errors, rel=1e-14)


def curvature(function, at, step=1e-4):
    """Second derivatives by differences of fourth order along every pair of directions."""
    p = len(at)
    out = np.zeros((p, p))
    unit = np.eye(p) * step

    def second(d):
        values = [function(at + k * d) for k in (-2, -1, 0, 1, 2)]
        return np.dot([-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12], values)

    for i in range(p):
        for j in range(p):
            mixed = (second(unit[i] + unit[j]) - second(unit[i] - unit[j])) / 4
            out[i, j] = (second(unit[i]) if i == j else mixed) / step**2
    return out


@pytest.mark.parametrize("channel", [TWO_COINS, FORCED, warner(4), NO_NOISE], ids=str)
def test_fit_is_what_a_general_optimizer_finds(channel):
    rng = np.random.default_rng(11)
    X = np.column_stack([np.ones(1500), rng.normal(size=(1500, 2)), rng.integers(0, 2, 1500)])
    y = draw(rng, X, np.array([-0.7, 0.9, -0.5, 0.6]), channel)
    w = rng.integers(0, 4, 1500)
    fit = logistic(X, y, channel, weights=w)

    def negative(beta):
        return -log_likelihood(beta, X, y, channel.a, channel.b, w)

    found = minimize(negative, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    assert fit.converged
    assert fit.log_likelihood >= -found.fun - 1e-9
    assert fit.coefficients == pytest.approx(found.x, abs=1e-4)
    information = curvature(negative, fit.coefficients, 1e-3)
    assert fit.observed_covariance == pytest.approx(np.linalg.inv(information), rel=1e-4, abs=1e-7)


def test_expected_information_is_the_mean_of_the_observed():
    """Exactly: the expectation of the curvature over all reports of four rows."""
    X = np.array([[1, -1.0], [1, 0.2], [1, 0.9], [1, 2.0]])
    beta, expected, mean = np.array([-0.3, 0.8]), 0, 0
    rate = FORCED.b + FORCED.contrast * expit(X @ beta)
    slope = FORCED.contrast * expit(X @ beta) * expit(-X @ beta)
    expected = X.T @ ((slope**2 / rate / (1 - rate))[:, None] * X)
    for reports in np.ndindex(2, 2, 2, 2):
        y = np.array(reports)
        chance = np.prod(np.where(y == 1, rate, 1 - rate))
        curve = curvature(lambda at, y=y: -log_likelihood(at, X, y, FORCED.a, FORCED.b), beta, 1e-3)
        mean = mean + chance * curve
    assert mean == pytest.approx(expected, abs=1e-8)
    # And that is what the fit uses: 10^6 reports a row, at their expected rates.
    counts = np.round(rate * 10**6).astype(int)
    fit = tallies(X, counts, [10**6] * 4, FORCED)
    assert fit.coefficients == pytest.approx(beta, abs=1e-4)
    assert fit.covariance == pytest.approx(np.linalg.inv(expected) / 10**6, rel=1e-4)


def test_an_intercept_alone_is_the_share():
    for count, n, channel in [(300, 1000, TWO_COINS), (45, 100, FORCED), (12, 40, NO_NOISE)]:
        fit = tallies([[1]], [count], [n], channel)
        known = estimate(count, n, channel)
        share = expit(fit.coefficients[0])
        assert share == pytest.approx(known.value, rel=1e-12)
        # Delta method; the unbiased variance has n - 1 where maximum likelihood has n.
        error = fit.standard_errors[0] * share * (1 - share)
        assert error == pytest.approx(known.standard_error * math.sqrt((n - 1) / n), rel=1e-10)
        assert fit.observed_standard_errors == pytest.approx(fit.standard_errors, rel=1e-9)
        assert shares(fit, [[1]])[0] == pytest.approx(known.value, rel=1e-12)


def test_saturated_strata_give_their_own_shares_and_the_difference_of_logits():
    fit = tallies([[1, 0], [1, 1]], [300, 350], [1000, 900], TWO_COINS)
    first, second = estimate(300, 1000, TWO_COINS).value, estimate(350, 900, TWO_COINS).value
    assert fit.coefficients == pytest.approx([logit(first), logit(second) - logit(first)], rel=1e-9)


# --- invariance ---------------------------------------------------------------------------------


def test_tallies_rows_and_weights_are_the_same_regression():
    X, y = reference()
    rows = logistic(X, y, TWO_COINS)
    kinds, which = np.unique(X, axis=0, return_inverse=True)
    which = which.ravel()
    sizes, counts = np.bincount(which), np.bincount(which, weights=y)
    by_tally = tallies(kinds, counts, sizes, TWO_COINS)
    both = np.vstack([kinds, kinds])
    by_weight = logistic(
        both, [1] * 40 + [0] * 40, TWO_COINS, np.concatenate([counts, sizes - counts])
    )
    for other in (by_tally, by_weight):
        assert other.coefficients == pytest.approx(rows.coefficients, abs=1e-9)
        assert other.covariance == pytest.approx(rows.covariance, rel=1e-8)
        assert other.observed_covariance == pytest.approx(rows.observed_covariance, rel=1e-8)
        assert other.log_likelihood == pytest.approx(rows.log_likelihood, rel=1e-12)


def test_a_billion_people_cost_no_more_than_forty():
    X = np.column_stack([np.ones(40), np.linspace(-2, 2, 40)])
    rate = 0.25 + 0.5 * expit(X @ [-1, 0.7])
    fit = tallies(X, np.round(rate * 25e6), np.full(40, 25e6), TWO_COINS)
    assert fit.converged and fit.iterations < 15
    assert fit.coefficients == pytest.approx([-1, 0.7], abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_order_relabelling_and_units_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    y = draw(rng, X, np.array([0.2, 0.8, -0.5]), FORCED)
    fit = logistic(X, y, FORCED)
    if not fit.converged:
        return
    order = rng.permutation(300)
    shuffled = logistic(X[order], y[order], FORCED)
    assert shuffled.coefficients == pytest.approx(fit.coefficients, abs=1e-7)
    # Reports of "no" through the mirrored channel: the same answers said the other way round.
    mirrored = logistic(X, 1 - y, Channel(1 - FORCED.b, 1 - FORCED.a))
    assert mirrored.coefficients == pytest.approx(-fit.coefficients, abs=1e-7)
    assert mirrored.standard_errors == pytest.approx(fit.standard_errors, rel=1e-6)
    # Other units, another origin: the same model.
    A = np.array([[1, 5, 20.0], [0, 1e6, 0], [0, 0, 1e-3]])
    changed = logistic(X @ A, y, FORCED)
    assert A @ changed.coefficients == pytest.approx(fit.coefficients, abs=1e-6)
    assert changed.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-10)


def test_each_row_may_have_its_own_channel():
    X, y = reference()
    channels = [TWO_COINS if i % 3 else warner(2) for i in range(400)]
    fit = logistic(X, y, channels)
    a, b = np.array([(one.a, one.b) for one in channels]).T
    found = minimize(
        lambda beta: -log_likelihood(beta, X, y, a, b), np.zeros(3), options={"gtol": 1e-6}
    )
    assert fit.coefficients == pytest.approx(found.x, abs=1e-5)
    same = logistic(X, y, [TWO_COINS] * 400)
    assert (same.coefficients == logistic(X, y, TWO_COINS).coefficients).all()


def test_no_noise_is_ordinary_logistic_regression():
    """Compare with Newton's method: with a = 1, b = 0 both kinds of information agree."""
    X, y = reference()
    beta = np.zeros(3)
    for _ in range(30):
        s = expit(X @ beta)
        information = X.T @ ((s * (1 - s))[:, None] * X)
        beta = beta + np.linalg.solve(information, X.T @ (y - s))
    fit = logistic(X, y, NO_NOISE)
    assert fit.coefficients == pytest.approx(beta, abs=1e-10)
    assert fit.covariance == pytest.approx(np.linalg.inv(information), rel=1e-9)
    assert fit.observed_covariance == pytest.approx(fit.covariance, rel=1e-9)
    # Little noise is nearly none, and more noise costs precision.
    near = logistic(X, y, warner(25))
    assert near.coefficients == pytest.approx(beta, abs=1e-8)


# --- tests and intervals ------------------------------------------------------------------------


def test_likelihood_ratio_compares_with_the_fit_without_the_columns():
    X, y = reference()
    fit = logistic(X, y, TWO_COINS)
    one = likelihood_ratio(fit, [2])
    smaller = logistic(X[:, :2], y, TWO_COINS)
    assert one.statistic == pytest.approx(2 * (fit.log_likelihood - smaller.log_likelihood))
    assert one.p_value == pytest.approx(chi2.sf(one.statistic, 1), rel=1e-10)
    both = likelihood_ratio(fit, [1, 2])
    assert both.degrees == 2 and both.statistic > one.statistic
    everything = likelihood_ratio(fit, [0, 1, 2])
    # Without columns every answer is a coin flip, and so is every report of a symmetric channel.
    toss_up = 400 * math.log(0.5)
    assert everything.statistic == pytest.approx(2 * (fit.log_likelihood - toss_up))


def test_wald_limits_follow_their_formula_and_are_nested():
    X, y = reference()
    fit = logistic(X, y, TWO_COINS)
    z = norm.ppf(0.975)
    low, high = wald(fit).T
    assert low == pytest.approx(fit.coefficients - z * fit.standard_errors)
    assert high == pytest.approx(fit.coefficients + z * fit.standard_errors)
    assert (wald(fit, 0.99)[:, 0] < low).all() and (wald(fit, 0.9)[:, 0] > low).all()
    half = np.diff(wald(fit, observed=True)).ravel() / 2
    assert half == pytest.approx(z * fit.observed_standard_errors)


def test_profile_limits_invert_the_likelihood_ratio_test():
    X, y = reference()
    fit = logistic(X, y, TWO_COINS)
    for column in range(3):
        kept = [j for j in range(3) if j != column]
        for limit in profile(fit, column):
            found = minimize(
                lambda rest, limit=limit, kept=kept, column=column: (
                    -log_likelihood(np.insert(rest, column, limit), X, y, 0.75, 0.25)
                ),
                fit.coefficients[kept],
                method="BFGS",
                options={"gtol": 1e-7},
            )
            assert 2 * (fit.log_likelihood + found.fun) == pytest.approx(
                chi2.ppf(0.95, 1), rel=1e-6
            )
        low, high = profile(fit, column)
        wide = profile(fit, column, 0.99)
        assert wide[0] < low < fit.coefficients[column] < high < wide[1]


def test_a_profile_limit_may_be_infinite():
    """26 of 100 two-coin reports: a share of 0, an infinite intercept, is well within reach."""
    fit = tallies([[1]], [26], [100], TWO_COINS)
    low, high = profile(fit, 0)
    assert low == -math.inf
    # The other end solves the binomial deviance.
    share = expit(high)
    rate = 0.25 + 0.5 * share
    top, there = binom.logpmf(26, 100, 0.26), binom.logpmf(26, 100, rate)
    assert 2 * (top - there) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-8)
    assert wald(fit)[0, 0] < fit.coefficients[0] < wald(fit)[0, 1]


# --- no maximum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", [NO_NOISE, TWO_COINS, FORCED], ids=str)
@pytest.mark.parametrize("kind", ["all no", "all yes"])
def test_reports_beyond_the_channel_have_no_finite_fit(channel, kind):
    y = [0] * 60 if kind == "all no" else [1] * 60
    fit = logistic(np.ones((60, 1)), y, channel)
    assert fit.separated and not fit.converged
    assert np.isnan(fit.standard_errors).all() and np.isnan(fit.observed_standard_errors).all()
    best = 60 * math.log(1 - channel.b if kind == "all no" else channel.a)
    assert fit.log_likelihood == pytest.approx(best, abs=1e-9)
    for use in (wald, lambda f: profile(f, 0), lambda f: likelihood_ratio(f, [0])):
        with pytest.raises(ValueError, match="fit must have converged, got one that is separated"):
            use(fit)


def test_a_stratum_below_the_channel_separates():
    """A stratum with fewer yes reports than b has share 0: its dummy is infinite."""
    X = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    fit = tallies(X, [400, 500, 200], [1000, 1000, 1000], TWO_COINS)
    assert fit.separated and not fit.converged
    assert not tallies(X, [400, 500, 260], [1000, 1000, 1000], TWO_COINS).separated


def test_perfect_prediction_separates_without_noise_only():
    X = np.column_stack([np.ones(40), np.arange(40) - 19.5])
    y = (np.arange(40) > 19).astype(int)
    assert logistic(X, y, NO_NOISE).separated
    quasi = y.copy()
    quasi[5] = 1
    assert logistic(X, quasi, NO_NOISE).converged


def test_an_outlying_row_is_not_separation():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(500), rng.normal(size=500)])
    X[0, 1] = 60.0
    fit = logistic(X, draw(rng, X, np.array([0, 1.0]), TWO_COINS), TWO_COINS)
    assert fit.converged and not fit.separated


# --- simulation ---------------------------------------------------------------------------------


def test_estimates_are_centred_and_their_errors_are_right():
    """200 surveys of 2000 reports: bias |z| < 4, SD/SE within 4 of its own SE, coverage p > 1e-4.

    The regression that ignores the noise must fail the same test.
    """
    rng = np.random.default_rng(2024)
    X = np.column_stack([np.ones(2000), rng.normal(size=2000), rng.integers(0, 2, 2000)])
    beta = np.array([-0.5, 0.8, 0.4])
    runs = 200
    fits = [logistic(X, draw(rng, X, beta, TWO_COINS), TWO_COINS) for _ in range(runs)]
    assert all(fit.converged for fit in fits)
    found = np.array([fit.coefficients for fit in fits])
    errors = np.array([fit.standard_errors for fit in fits])
    bias = (found.mean(axis=0) - beta) / (found.std(axis=0) / math.sqrt(runs))
    assert np.abs(bias).max() < 4
    ratio = found.std(axis=0) / np.sqrt((errors**2).mean(axis=0))
    assert np.abs(ratio - 1).max() < 4 / math.sqrt(2 * runs)
    covered = (np.abs(found - beta) < norm.ppf(0.975) * errors).sum(axis=0)
    assert (binom.cdf(covered, runs, 0.95) > 1e-4).all()
    naive = [logistic(X, draw(rng, X, beta, TWO_COINS), NO_NOISE).coefficients for _ in range(20)]
    spread = np.std(naive, axis=0) / math.sqrt(20)
    assert (np.abs((np.mean(naive, axis=0) - beta) / spread)[1:] > 4).any()


# --- arguments ----------------------------------------------------------------------------------


def test_results_cannot_be_changed():
    fit = tallies([[1]], [30], [100], TWO_COINS)
    with pytest.raises(FrozenInstanceError):
        fit.converged = False
    with pytest.raises(ValueError, match="read-only"):
        fit.coefficients[0] = 1


GOOD = {"X": [[1, 0], [1, 1], [1, 2], [1, 3]], "y": [0, 1, 1, 0], "channel": TWO_COINS}


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"X": [[1, 0], [1, math.nan], [1, 2], [1, 3]]},
            r"X must be finite, got .*nan.* at \(1, 1",
        ),
        ({"X": [[1, 0], [1, math.inf], [1, 2], [1, 3]]}, "X must be finite"),
        ({"X": [1, 2, 3, 4]}, "X must be a matrix of numbers"),
        ({"X": [["a"], ["b"], ["c"], ["d"]]}, "X must be a matrix of numbers"),
        ({"X": np.zeros((0, 2))}, "X must have rows and columns"),
        ({"X": [[1, 2], [1, 2], [1, 2], [1, 2]]}, "independent columns .* 2 columns of rank 1"),
        ({"X": [[1, 0], [1, 0], [1, 0], [1, 0]]}, "independent columns"),
        ({"y": [0, 1, 2, 0]}, r"y must be 0 or 1, got 2 at 2"),
        ({"y": [0, 1, 0.5, 0]}, "y must be 0 or 1"),
        ({"y": [0, 1, math.nan, 0]}, "y must be finite"),
        ({"y": [0, 1, 1]}, "y must have 4 values, one for each row of X, got 3"),
        ({"channel": 0.75}, "channel must be a Channel, got 0.75"),
        ({"channel": [TWO_COINS] * 3}, r"channel must be one, or one for each row, got 3"),
        ({"channel": [TWO_COINS] * 3 + [None]}, "channel must be a Channel, got None"),
        ({"channel": Channel(1e-200, 0)}, "channel must have a contrast"),
        ({"weights": [1, 1, 1, -1]}, r"weights must be whole numbers .* got -1 at 3"),
        ({"weights": [1, 1.5, 1, 1]}, r"weights must be whole numbers .* got 1.5 at 1"),
        ({"weights": [1, 1]}, "weights must have 4 values"),
        ({"weights": [0, 0, 0, 0]}, "independent columns where there are reports"),
        ({"weights": "1111"}, "weights must be a list of numbers"),
    ],
)
def test_bad_regressions_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        logistic(**GOOD | change)


def test_other_bad_arguments_are_refused():
    fit = tallies([[1]], [30], [100], TWO_COINS)
    bad = [
        (lambda: tallies([[1]], [101], [100], TWO_COINS), "counts must be at most the size"),
        (lambda: tallies([[1]], [-1], [100], TWO_COINS), "counts must be whole numbers"),
        (lambda: wald(fit, 1.0), "level must be strictly between"),
        (lambda: wald("fit"), "fit must be a Fit, got 'fit'"),
        (lambda: profile(fit, 1), "column must be below 1, got 1"),
        (lambda: profile(fit, 0, math.nan), "level must be between"),
        (lambda: likelihood_ratio(fit, [1]), r"columns must name columns from 0 to 0, got \[1\]"),
        (lambda: likelihood_ratio(fit, []), "columns must name columns"),
        (lambda: shares(fit, [[1, 2]]), "X must have 1 columns, got 2"),
    ]
    for call, message in bad:
        with pytest.raises(ValueError, match=message):
            call()
