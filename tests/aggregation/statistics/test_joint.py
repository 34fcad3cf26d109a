"""Joint distributions, their association and independence, against dense matrices and sums."""

import itertools
import math
import time
from dataclasses import FrozenInstanceError
from functools import cache, reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import chi2, chi2_contingency, fisher_exact

from aggregation.statistics.joint import (
    Block,
    Effect,
    association,
    cells,
    cells_for_channels,
    conditional,
    independence,
    mle,
)
from aggregation.statistics.proportion import Channel, estimate

SEPARATE = [Block(0.5, (0,)), Block(math.tanh(0.5), (1,))]  # epsilon ln 3 and 1
COUNTS = np.array([[410, 230], [190, 170]])


def block_matrix(keep, size):
    return keep * np.eye(size) + (1 - keep) / size


def channel_matrix(channel):
    return np.array([[1 - channel.b, 1 - channel.a], [channel.b, channel.a]])


def dense(shape, blocks):
    """Return the whole matrix P(reports | answers), blocks first, then axes in order."""
    axes = [axis for block in blocks for axis in block[1]]
    sizes = [math.prod(shape[axis] for axis in block[1]) for block in blocks]
    matrices = [block_matrix(block[0], size) for block, size in zip(blocks, sizes, strict=True)]
    grouped = reduce(np.kron, matrices)
    position = np.arange(math.prod(shape)).reshape([shape[axis] for axis in axes])
    order = position.transpose(np.argsort(axes)).ravel()
    return grouped[np.ix_(order, order)]


def dense_cells(table, matrix):
    n = table.sum()
    f = table.ravel() / n
    inverse = np.linalg.inv(matrix)
    return inverse @ f, inverse @ (np.diag(f) - np.outer(f, f)) @ inverse.T / n


DESIGNS = [
    ((2, 2), [Block(0.5, (0,)), Block(0.4, (1,))]),
    ((2, 2), [Block(0.6, (0, 1))]),
    ((2, 2), [Block(0.6, (1, 0))]),
    ((2, 3, 4), [Block(0.5, (0, 2)), Block(0.7, (1,))]),
    ((2, 3, 4), [Block(0.7, (1,)), Block(0.3, (2, 0))]),
    ((3, 2, 2, 3), [Block(0.5, (3, 1)), Block(1, (0,)), Block(0.9, (2,))]),
    ((5,), [Block(0.25, (0,))]),
    ((2,) * 6, [Block(0.6, (0, 3)), Block(0.6, (1, 4)), Block(0.6, (2, 5))]),
    ((1, 2), [Block(0.5, (0, 1))]),
]
designs = pytest.mark.parametrize("shape, blocks", DESIGNS)


def draw(shape, seed=1, n=500):
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, rng.dirichlet(np.ones(math.prod(shape)))).reshape(shape)


# --- cells --------------------------------------------------------------------------------------


def test_cells_have_their_reference_values():
    theta, _ = cells(COUNTS, SEPARATE)
    expected = [[0.6713139438, 0.1086860562], [0.0450813976, 0.1749186024]]
    assert theta == pytest.approx(np.array(expected), abs=1e-10)
    theta, _ = cells([[50, 22], [20, 8]], [(0.5, [0]), (0.5, [1])])
    assert theta == pytest.approx(np.array([[0.83, 0.11], [0.07, -0.01]]), abs=1e-14)


@designs
def test_cells_and_covariance_agree_with_dense_matrices(shape, blocks):
    table = draw(shape)
    theta, covariance = cells(table, blocks)
    expected, spread = dense_cells(table, dense(shape, blocks))
    assert theta.shape == table.shape
    assert theta.ravel() == pytest.approx(expected, abs=1e-13)
    assert covariance.matrix() == pytest.approx(spread, abs=1e-14)
    assert np.asarray(covariance) == pytest.approx(spread, abs=1e-14)
    assert covariance.variances.ravel() == pytest.approx(np.diag(spread), abs=1e-14)
    assert covariance.standard_errors**2 == pytest.approx(covariance.variances)
    weights = np.random.default_rng(2).normal(size=(2, *shape))
    flat = weights.reshape(2, -1)
    assert covariance.among(weights) == pytest.approx(flat @ spread @ flat.T, abs=1e-13)
    assert covariance.variance(weights[0]) == pytest.approx(flat[0] @ spread @ flat[0], abs=1e-13)


def test_channels_agree_with_dense_matrices():
    channels = [Channel(0.8, 0.1), Channel(0.95, 0.6), Channel(0.3, 0), Channel(1, 0)]
    table = draw((2,) * 4)
    theta, covariance = cells_for_channels(table, channels)
    expected, spread = dense_cells(table, reduce(np.kron, map(channel_matrix, channels)))
    assert theta.ravel() == pytest.approx(expected, abs=1e-12)
    assert np.asarray(covariance, dtype=float) == pytest.approx(spread, abs=1e-12)
    assert covariance.variances.ravel() == pytest.approx(np.diag(spread), abs=1e-12)


def test_symmetric_channels_are_blocks_of_one_question():
    table = draw((2, 2, 2))
    keeps = (0.5, 0.3, 0.8)
    one, spread = cells(table, [Block(c, (j,)) for j, c in enumerate(keeps)])
    channels = [Channel((1 + c) / 2, (1 - c) / 2) for c in keeps]
    two, other = cells_for_channels(table, channels)
    assert one == pytest.approx(two, abs=1e-13)
    assert spread.matrix() == pytest.approx(other.matrix(), abs=1e-14)


def test_one_question_is_the_estimate_of_a_share():
    for counts in ([700, 300], [55, 20, 25]):
        k, n = len(counts), sum(counts)
        theta, covariance = cells(counts, [Block(0.5, (0,))])
        for option, count in enumerate(counts):
            share = estimate(count, n, Channel(0.5 + 0.5 / k, 0.5 / k))
            assert theta[option] == pytest.approx(share.value, abs=1e-14)
            # One divides by n, the other by n - 1.
            variance = covariance.variances[option] * n / (n - 1)
            assert variance == pytest.approx(share.standard_error**2, rel=1e-12)


def small_tables(n, k):
    """Return every table of n reports in k cells and the logs of their multinomial coefficients."""
    rows = [c for c in itertools.product(range(n + 1), repeat=k - 1) if sum(c) <= n]
    tables = np.array([(*row, n - sum(row)) for row in rows])
    return tables, gammaln(n + 1) - gammaln(tables + 1).sum(axis=1)


@pytest.mark.parametrize("blocks", [[Block(0.6, (0, 1))], [Block(0.5, (0,)), Block(0.8, (1,))]])
def test_cells_are_unbiased_with_this_covariance(blocks):
    """Exact: the mean and the covariance over all 84 tables of 6 reports."""
    truth, n = np.array([0.7, 0.1, 0.05, 0.15]), 6
    rates = dense((2, 2), blocks) @ truth
    tables, logs = small_tables(n, 4)
    law = np.exp(logs + tables @ np.log(rates))
    found = [cells(table.reshape(2, 2), blocks) for table in tables]
    theta = np.array([one.ravel() for one, _ in found])
    assert law @ theta == pytest.approx(truth, abs=1e-13)
    spread = (theta - truth).T @ ((theta - truth) * law[:, None])
    mean = sum(p * covariance.matrix() for p, (_, covariance) in zip(law, found, strict=True))
    assert mean * n / (n - 1) == pytest.approx(spread, abs=1e-13)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_cells_follow_relabelling_and_add_up(data):
    shape, blocks = data.draw(st.sampled_from(DESIGNS))
    tables = [draw(shape, data.draw(st.integers(0, 99)), n) for n in (50, 80)]
    (one, _), (two, _) = (cells(table, blocks) for table in tables)
    both, covariance = cells(tables[0] + tables[1], blocks)
    assert (50 * one + 80 * two) / 130 == pytest.approx(both, abs=1e-12)
    assert both.sum() == pytest.approx(1)
    assert covariance.variance(np.ones(shape)) == pytest.approx(0, abs=1e-18)
    # Options in another order, and axes in another order.
    axis = data.draw(st.integers(0, len(shape) - 1))
    flipped, _ = cells(np.flip(tables[0], axis), blocks)
    assert np.flip(flipped, axis) == pytest.approx(one, abs=1e-12)
    order = data.draw(st.permutations(range(len(shape))))
    moved = [Block(keep, tuple(order.index(axis) for axis in axes)) for keep, axes, _ in blocks]
    turned, _ = cells(tables[0].transpose(order), moved)
    assert turned == pytest.approx(one.transpose(order), abs=1e-12)


def test_summing_out_questions_before_or_after_is_the_same():
    table = draw((2, 3, 2, 2))
    theta, covariance = cells(table, [Block(0.5, (0, 1)), Block(0.3, (2, 3))])
    margin, spread = cells(table.sum(axis=(1, 3)), [Block(0.5, (0,)), Block(0.3, (1,))])
    assert margin == pytest.approx(theta.sum(axis=(1, 3)), abs=1e-13)
    weights = np.zeros((2, 3, 2, 2))
    weights[1, :, 0] = 1
    assert covariance.variance(weights) == pytest.approx(spread.variances[1, 0], abs=1e-15)


def test_strata_are_blocks_without_noise():
    table = draw((2, 2, 3), n=3000)
    theta, _ = cells(table, [Block(0.6, (0, 1)), Block(1, (2,))])
    assert theta.sum(axis=(0, 1)) == pytest.approx(table.sum(axis=(0, 1)) / 3000)
    for stratum in range(3):
        within, _ = cells(table[..., stratum], [Block(0.6, (0, 1))])
        joint = theta[..., stratum] / theta[..., stratum].sum()
        assert within == pytest.approx(joint, abs=1e-13)


def test_without_noise_cells_are_frequencies_and_with_more_they_spread():
    table = draw((2, 2))
    theta, covariance = cells(table, [Block(1, (0, 1))])
    assert theta == pytest.approx(table / 500, abs=1e-15)
    assert covariance.variances == pytest.approx(theta * (1 - theta) / 500, abs=1e-15)
    near, _ = cells(table, [Block(1 - 1e-9, (0, 1))])
    assert near == pytest.approx(theta, abs=1e-8)
    spreads = [cells(table, [Block(c, (0, 1))])[1].variances for c in (0.9, 0.5, 0.1, 0.01)]
    assert all((a < b).all() for a, b in itertools.pairwise(spreads))
    assert spreads[-1] == pytest.approx(table / 500 * (1 - table / 500) / 500 / 0.01**2)


@pytest.mark.measured
def test_large_tables_are_quick():
    """Ten questions take far less than 50 ms."""
    table = draw((2,) * 10, n=5000)
    blocks = [Block(0.6, (j, j + 1)) for j in range(0, 10, 2)]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        cells(table, blocks)[1].variances  # noqa: B018
        times.append(time.perf_counter() - start)
    assert sorted(times)[2] < 0.05


def test_twenty_questions_are_a_million_cells():
    large = np.random.default_rng(3).poisson(2, size=(2,) * 20)
    theta, covariance = cells(large, [Block(0.9, (j,)) for j in range(20)])
    assert theta.sum() == pytest.approx(1)
    assert (covariance.variances > 0).all()
    margin, spread = cells(
        large.sum(axis=tuple(range(2, 20))), [Block(0.9, (0,)), Block(0.9, (1,))]
    )
    assert theta.sum(axis=tuple(range(2, 20))) == pytest.approx(margin, abs=1e-12)
    weights = np.zeros((2,) * 20)
    weights[1, 1] = 1
    assert covariance.variance(weights) == pytest.approx(spread.variances[1, 1], rel=1e-9)
    with pytest.raises(ValueError, match="at most 4096 cells, got 1048576"):
        covariance.matrix()


# --- maximum likelihood -------------------------------------------------------------------------


def test_likeliest_cells_have_their_reference_values():
    shares = np.array([[0.5, 0.22], [0.2, 0.08]])
    # The tolerance bounds the likelihood; ten digits of the cells ask for a little more.
    fit = mle(shares, [Block(0.5, (0,)), Block(0.5, (1,))], tolerance=1e-12)
    expected = [[0.8382257201, 0.1006701671], [0.0611041128, 0]]
    assert fit.converged
    assert fit.theta == pytest.approx(np.array(expected), abs=2e-10)
    assert fit.mean_log_likelihood == pytest.approx(-1.203701095589, abs=1e-12)
    of_counts = mle(100 * shares, [Channel(0.75, 0.25)] * 2)
    assert of_counts.theta == pytest.approx(fit.theta, abs=2e-9)


@pytest.mark.parametrize("seed", range(5))
def test_likeliest_cells_of_one_block_agree_with_bisection(seed):
    """q_y is the larger of the floor (1-c)/K and a multiple of f_y: the multiple by bisection."""
    f = draw((2, 3, 2), seed, 60) / 60
    keep = 0.4
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(0.6 / 12, middle * f).sum() < 1 else (low, middle)
    expected = (np.maximum(0.6 / 12, low * f) - 0.6 / 12) / keep
    fit = mle(f, [Block(keep, (0, 1, 2))])
    assert fit.converged
    assert fit.theta == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("shape, blocks", DESIGNS[:7])
def test_likeliest_cells_agree_with_a_general_optimizer(shape, blocks):
    table = draw(shape, 5, 80)
    matrix, f = dense(shape, blocks), table.ravel() / 80
    fit = mle(table, blocks)

    def loss(theta):
        return -(f @ np.log(np.maximum(matrix @ theta, 1e-12)))

    other = minimize(
        loss,
        np.full(f.size, 1 / f.size),
        bounds=[(0, 1)] * f.size,
        constraints={"type": "eq", "fun": lambda theta: theta.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert fit.converged
    assert fit.theta.sum() == pytest.approx(1)
    assert fit.theta.min() >= 0
    assert loss(fit.theta.ravel()) == pytest.approx(-fit.mean_log_likelihood, abs=1e-12)
    assert fit.mean_log_likelihood >= -other.fun - 1e-10
    assert fit.theta.ravel() == pytest.approx(other.x, abs=2e-4)


def test_likeliest_cells_are_the_unbiased_ones_where_these_are_positive():
    fit = mle(COUNTS, SEPARATE)
    assert fit.theta == pytest.approx(cells(COUNTS, SEPARATE)[0], abs=1e-8)


def test_the_gap_bounds_what_is_left_and_giving_up_is_reported():
    table = draw((2,) * 6, 4, 200)
    blocks = [Block(0.3, (0, 1, 2)), Block(0.3, (3, 4, 5))]
    best = mle(table, blocks, tolerance=1e-11)
    assert best.converged and best.gap <= 1e-11
    for limit in (1, 2, 5, 20):
        fit = mle(table, blocks, max_iterations=limit)
        left = best.mean_log_likelihood - fit.mean_log_likelihood
        assert -1e-11 <= left <= fit.gap + 1e-11
        assert fit.converged is (fit.gap <= 1e-10)
    assert not mle(table, blocks, max_iterations=1).converged
    with pytest.raises(FrozenInstanceError):
        best.gap = 0


def test_empty_strata_stay_empty():
    table = np.array([[[5, 0], [3, 0]], [[2, 0], [7, 0]]])
    fit = mle(table, [Block(0.5, (0, 1)), Block(1, (2,))])
    assert fit.converged
    assert fit.theta[..., 1].sum() == 0


# --- association --------------------------------------------------------------------------------


def test_association_has_its_reference_values():
    found = association(COUNTS, SEPARATE, cautious=0)
    assert found.risk_difference == pytest.approx((0.6557434587, 0.1957506890), abs=1e-10)
    assert found.log_odds_ratio == pytest.approx((3.1766244394, 1.2864635084), abs=1e-10)
    assert found.phi == pytest.approx((0.6026422169, 0.1749977503), abs=1e-10)
    # One cell is 0.045 with a standard error of 0.038: no odds ratio to show.
    assert association(COUNTS, SEPARATE).log_odds_ratio is None


def four_cells(theta, options):
    """Return the cells [first][second] of two options against the rest."""
    yes = theta[options[0], options[1]]
    first, second = theta[options[0]].sum() - yes, theta[:, options[1]].sum() - yes
    return np.array([1 - yes - first - second, second, first, yes])


MEASURES = {
    "covariance": lambda t: t[3] - (t[2] + t[3]) * (t[1] + t[3]),
    "risk_difference": lambda t: t[3] / (t[2] + t[3]) - t[1] / (t[0] + t[1]),
    "phi": lambda t: (
        (t[3] * t[0] - t[1] * t[2])
        / math.sqrt((t[2] + t[3]) * (t[0] + t[1]) * (t[1] + t[3]) * (t[0] + t[2]))
    ),
    "log_odds_ratio": lambda t: math.log(t[3] * t[0] / t[1] / t[2]),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "shape, blocks, options",
    [
        ((2, 2), [Block(0.6, (0, 1))], (1, 1)),
        ((2, 2), SEPARATE, (1, 1)),
        ((2, 2), [Channel(0.8, 0.1), Channel(0.9, 0.3)], (0, 1)),
        ((3, 4), [Block(0.6, (0, 1))], (2, 0)),
        ((3, 4), [Block(0.7, (0,)), Block(0.6, (1,))], (1, 3)),
    ],
)
def test_association_is_the_delta_method(shape, blocks, options, measure):
    """Numeric derivatives of the measure as a function of the report frequencies."""
    table = np.rint(2e4 * (1 + np.random.default_rng(8).random(shape))).astype(int)
    n, f = table.sum(), table.ravel() / table.sum()
    found = getattr(association(table, blocks, options), measure)

    def value(shares):
        theta, _ = cells(np.rint(shares * 2**50 / 2).reshape(shape), blocks)
        return MEASURES[measure](four_cells(theta, options))

    h = 1e-4 * np.eye(f.size)
    slope = np.array([(value(f + (d - d.mean())) - value(f - (d - d.mean()))) for d in h]) / 2e-4
    variance = (f @ slope**2 - (f @ slope) ** 2) / n
    assert found.value == pytest.approx(value(f), rel=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-5)


def test_association_follows_relabelling():
    plain = association(COUNTS, SEPARATE, cautious=0)
    turned = association(COUNTS.T, [Block(SEPARATE[1].keep, (0,)), Block(0.5, (1,))])
    assert turned.phi == pytest.approx(plain.phi)
    assert turned.covariance == pytest.approx(plain.covariance)
    flipped = association(COUNTS[::-1], SEPARATE, cautious=0)
    same = association(COUNTS, SEPARATE, options=(0, 1), cautious=0)
    for name in MEASURES:
        value, error = getattr(plain, name)
        assert getattr(flipped, name) == pytest.approx((-value, error))
        assert getattr(same, name) == pytest.approx((-value, error))


def test_association_without_noise_is_the_textbook():
    table = np.array([[50, 20], [10, 20]])
    found = association(table, [Block(1, (0, 1))])
    assert found.log_odds_ratio.value == pytest.approx(math.log(5))
    assert found.log_odds_ratio.standard_error == pytest.approx(math.sqrt((1 / table).sum()))
    rates = np.array([20 / 70, 20 / 30])
    variance = (rates * (1 - rates) / [70, 30]).sum()
    assert found.risk_difference == pytest.approx((rates[1] - rates[0], math.sqrt(variance)))
    assert found.phi.value == pytest.approx(
        math.sqrt(chi2_contingency(table, False).statistic / 100)
    )


def test_measures_that_cannot_be_computed_are_none():
    found = association([[90, 40], [10, 2]], [Block(0.5, (0,)), Block(0.5, (1,))])
    assert found.theta.sum(axis=1)[1] < 0  # a share below 0
    assert found.risk_difference is found.phi is found.log_odds_ratio is None
    assert math.isfinite(found.covariance.value)
    assert association([[50, 1], [1, 50]], [Block(0.5, (0, 1))]).phi.value > 1


@pytest.mark.parametrize(
    "shape, blocks",
    [
        ((2, 2), SEPARATE),
        ((3, 4), [Block(0.7, (0, 1))]),
        ((2, 3, 2), [Block(0.8, (0, 2)), Block(0.6, (1,))]),
    ],
)
def test_conditional_shares_are_the_delta_method(shape, blocks):
    """Against slopes by small steps in the frequencies, with dense matrices."""
    matrix = dense(shape, blocks)
    theta = np.random.default_rng(5).dirichlet(np.full(math.prod(shape), 5.0))
    table = np.rint(50_000 * matrix @ theta).reshape(shape)
    n, inverse = table.sum(), np.linalg.inv(matrix)
    f = table.ravel() / n
    spread = (np.diag(f) - np.outer(f, f)) / n
    for axis in range(len(shape)):

        def shares(frequencies, axis=axis):
            theta = (inverse @ frequencies).reshape(shape)
            return (theta / theta.sum(axis=axis, keepdims=True)).ravel()

        steps = 1e-6 * np.eye(f.size)
        slopes = np.array([(shares(f + h) - shares(f - h)) / 2e-6 for h in steps]).T
        found = conditional(table, blocks, axis)
        assert np.allclose(found.shares.ravel(), shares(f), rtol=1e-9)
        by_hand = np.sqrt(np.diag(slopes @ spread @ slopes.T))
        assert np.allclose(found.standard_errors.ravel(), by_hand, rtol=1e-5)
        assert np.allclose(found.shares.sum(axis=axis), 1)


def test_conditional_shares_vary_as_much_as_they_say():
    """2000 surveys of 4000 people, alpha 1e-4 for each of 4 standard deviations.

    Of 2000 draws a standard deviation is known to 1/sqrt(4000) of itself, so that 4 of these are
    0.063. Taking the condition for known instead (the error of the cell over the share of the
    condition) would be wrong by more.
    """
    generator = np.random.default_rng(20)
    truth = np.array([[0.4, 0.1], [0.2, 0.3]])
    rates = (dense((2, 2), SEPARATE) @ truth.ravel()).clip(0)
    tables = generator.multinomial(4000, rates, size=2000).reshape(-1, 2, 2)
    found = [conditional(table, SEPARATE, 1) for table in tables]
    spread = np.std([one.shares for one in found], axis=0)
    stated = np.mean([one.standard_errors for one in found], axis=0)
    assert np.all(np.abs(stated / spread - 1) < 0.063)
    wrong = cells(tables[0], SEPARATE)[1].standard_errors / truth.sum(axis=1, keepdims=True)
    assert np.any(np.abs(wrong / spread - 1) > 0.063)


def test_a_condition_that_hardly_anybody_meets_has_no_shares():
    rare = np.array([[430, 400], [220, 210]])  # yes to the first: hardly more than by noise
    found = conditional(rare, [Block(0.33, (0,)), Block(0.9, (1,))], 1)
    assert np.isfinite(found.shares[0]).all() and np.isnan(found.shares[1]).all()
    assert np.isnan(found.standard_errors[1]).all()
    always = conditional(rare, [Block(0.33, (0,)), Block(0.9, (1,))], 1, cautious=0)
    assert np.isfinite(always.shares[1]).all()


def test_effects_have_intervals():
    low, high = Effect(1.0, 0.5).interval()
    assert (low, high) == pytest.approx((1 - 0.9799819923, 1 + 0.9799819923), abs=1e-9)
    wider = Effect(1.0, 0.5).interval(0.99)
    assert wider[0] < low < high < wider[1]


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.slow
def test_effect_intervals_cover_as_often_as_promised(within):
    """1500 surveys of 1000, epsilon 2 a block: coverage in 0.95 +- 0.02 (3.5 standard errors).

    Leaving the noise out of the standard error, as for answers in clear, covers far less.
    """
    truth = np.array([0.55, 0.15, 0.1, 0.2])
    c = math.expm1(2) / (math.expm1(2) + (4 if within else 2))
    blocks = [Block(c, (0, 1))] if within else [Block(c, (0,)), Block(c, (1,))]
    tables = np.random.default_rng(11).multinomial(1000, dense((2, 2), blocks) @ truth, 1500)
    hits = {"risk_difference": 0, "phi": 0, "covariance": 0}
    naive = 0
    for table in tables.reshape(-1, 2, 2):
        found = association(table, blocks)
        for name in hits:
            low, high = getattr(found, name).interval()
            hits[name] += low <= MEASURES[name](truth) <= high
        clear = association(table, [Block(1, (0, 1))]).phi.standard_error
        low, high = Effect(found.phi.value, clear).interval()
        naive += low <= MEASURES["phi"](truth) <= high
    for hit in hits.values():
        assert 0.93 <= hit / 1500 <= 0.97
    assert naive / 1500 < 0.9


# --- independence -------------------------------------------------------------------------------


def test_independence_has_its_reference_values():
    found = independence(COUNTS, SEPARATE)
    assert found.g2 == pytest.approx((12.1551347170, 1, 0.0004895291), abs=1e-10)
    assert found.x2.statistic == pytest.approx(12.2251157407, abs=1e-10)
    assert found.fisher == pytest.approx(0.0005953849, abs=1e-10)
    assert found.p_value == found.g2.p_value


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (4, 3)])
def test_tests_on_reports_agree_with_scipy(shape):
    table = draw(shape, 3, 200) + 1
    found = independence(table, [Block(0.5, (0,)), Block(0.7, (1,))])
    for test, kind in ((found.x2, "pearson"), (found.g2, "log-likelihood")):
        other = chi2_contingency(table, False, kind)
        assert test == pytest.approx((other.statistic, other.dof, other.pvalue))
    expected = fisher_exact(table).pvalue if shape == (2, 2) else None
    assert found.fisher == expected


def slow_statistic(table, blocks):
    """The statistic on the cells for 2 by 2, from the dense matrix."""
    n = table.sum()
    matrix = dense((2, 2), blocks)
    theta = np.linalg.solve(matrix, table.ravel() / n)
    first, second = theta[2] + theta[3], theta[1] + theta[3]
    p, q = np.clip([first, second], 0, 1)
    rates = matrix @ np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])
    weight = np.linalg.solve(matrix.T, np.array([0, -first, -second, 1 - first - second]))
    variance = (rates @ weight**2 - (rates @ weight) ** 2) / n
    return (theta[3] - first * second) ** 2 / variance


@pytest.mark.parametrize("blocks", [[Block(0.6, (0, 1))], SEPARATE])
def test_the_test_on_cells_follows_its_definition(blocks):
    for seed in range(20):
        table = draw((2, 2), seed, 100)
        found = independence(table, blocks).cells
        expected = slow_statistic(table, blocks)
        assert found == pytest.approx((expected, 1, chi2.sf(expected, 1)), rel=1e-8, abs=1e-12)


def test_without_noise_the_test_on_cells_is_pearsons():
    for shape in ((2, 2), (3, 4)):
        table = draw(shape, 3, 300) + 1
        found = independence(table, [Block(1, (0,)), Block(1, (1,))])
        assert found.cells == pytest.approx(found.x2, rel=1e-9)


@cache
def rejected_by(table, blocks):
    """Return whether the test on cells and X2 on reports reject at 5 %."""
    table = np.reshape(table, (2, 2))
    reports = independence(table, [Block(1, (0,)), Block(1, (1,))])
    return independence(table, blocks).cells.p_value <= 0.05, reports.x2.p_value <= 0.05


def sizes_of_tests(blocks, truth, n):
    """Return the exact rejection probability of each test over all tables of n."""
    tables, logs = small_tables(n, 4)
    law = np.exp(logs + tables @ np.log(dense((2, 2), blocks) @ truth))
    likely = law > 1e-7
    found = [rejected_by(tuple(table), tuple(blocks)) for table in tables[likely].tolist()]
    return law[likely] @ np.array(found)


def product(p, q):
    return np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])


@pytest.mark.xdist_group("all tables")  # whose decisions are made once
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.slow
def test_within_a_block_only_the_test_on_cells_has_its_size(share):
    """n = 24, all 2925 tables. Independent answers are rejected seldom, dependent ones often."""
    blocks = [Block(0.75, (0, 1))]
    on_cells, on_reports = sizes_of_tests(blocks, product(share, share), 24)
    assert on_cells <= 0.06
    if share == 0.1:
        assert on_reports > 0.08
    rejected, _ = sizes_of_tests(blocks, np.array([0.5, 0, 0, 0.5]), 24)
    assert rejected > 0.9
    found = independence([[10, 2], [2, 10]], blocks)
    assert found.g2 is found.x2 is found.fisher is None
    assert found.p_value == found.cells.p_value


def test_within_a_block_reports_are_dependent_though_answers_are_not():
    """Expected reports of 10 000 people, two independent rare traits: X2 is far in the tail."""
    block = [Block(0.75, (0, 1))]
    table = np.rint(10_000 * dense((2, 2), block) @ product(0.1, 0.1)).reshape(2, 2)
    assert chi2_contingency(table, False).pvalue < 1e-9
    assert independence(table, block).p_value > 0.9


@pytest.mark.slow
def test_across_blocks_the_tests_on_reports_have_their_size():
    """600 surveys of 1000 at 5 %: rejected in 0.05 +- 0.027 (3 standard errors) if independent."""
    blocks = [Block(0.5, (0,)), Block(0.5, (1,))]
    rng = np.random.default_rng(5)

    def rejected(truth):
        tables = rng.multinomial(1000, dense((2, 2), blocks) @ truth, 600).reshape(-1, 2, 2)
        found = [independence(table, blocks) for table in tables]
        x2 = np.mean([one.x2.p_value <= 0.05 for one in found])
        return x2, np.mean([one.fisher <= 0.05 for one in found])

    x2, fisher = rejected(product(0.3, 0.2))
    assert 0.023 <= x2 <= 0.077
    assert fisher <= 0.077
    assert rejected(np.array([0.65, 0.05, 0.05, 0.25]))[0] > 0.9


def test_options_nobody_reported_are_not_tested():
    found = independence([[10, 5, 0], [7, 9, 0]], [Block(0.5, (0,)), Block(0.5, (1,))])
    assert found.x2.degrees == 1
    nothing = independence([[10, 0], [0, 0]], [Block(1, (0,)), Block(1, (1,))])
    assert nothing.g2 == nothing.cells == (0, 0, 1)


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table, blocks, message",
    [
        ([[1, -1], [0, 0]], SEPARATE, "table must hold numbers of at least 0, got -1"),
        ([[1, math.nan], [0, 0]], SEPARATE, "table must hold numbers of at least 0, got nan"),
        ([[1, math.inf], [0, 0]], SEPARATE, "table must hold numbers of at least 0, got inf"),
        ([[1, 0.5], [0, 0]], SEPARATE, "table must hold counts, got 0.5"),
        ([[0, 0], [0, 0]], SEPARATE, "table must hold reports, got a total of 0"),
        ([["1", "2"]], SEPARATE, "table must be an array of numbers"),
        ([[True, False]], SEPARATE, "table must be an array of numbers"),
        (7, [], "table must be an array of numbers, got 7"),
        ([2**51, 1], [Block(0.5, (0,))], "table must hold at most"),
        (COUNTS, [Block(0.5, (0,))], r"each of the 2 axes once, got axes \[0\]"),
        (COUNTS, [Block(0.5, (0, 1)), Block(0.5, (1,))], r"once, got axes \[0, 1, 1\]"),
        (COUNTS, [], r"once, got axes \[\]"),
        (COUNTS, [Block(0.5, (0, 2))], r"axes must be axes of a table with 2, got \(0, 2\)"),
        (COUNTS, [Block(0.5, (0, -1))], "axes must be at least 0, got -1"),
        (COUNTS, [Block(0, (0, 1))], "keep must exceed 0, got 0"),
        (COUNTS, [Block(1.5, (0, 1))], "keep must be between 0 and 1, got 1.5"),
        (COUNTS, [Block(math.nan, (0, 1))], "keep must be between 0 and 1, got nan"),
        (COUNTS, [Block("0.5", (0, 1))], "keep must be a number, got '0.5'"),
        (COUNTS, [0.5, 0.5], "blocks must hold pairs of keep and axes, got 0.5"),
        (COUNTS, [Block(1e-200, (0, 1))], "blocks must keep 1e-100 in all at least, got 1e-200"),
        (COUNTS, [Channel(0.75, 0.25)], r"once, got axes \[0\]"),
        (COUNTS, [Channel(0.75, 0.25)] * 3, r"once, got axes \[0, 1, 2\]"),
        (np.ones((2, 3), int), [Channel(0.75, 0.25)] * 2, "two positions on axis 1, got 3"),
        (COUNTS, None, "blocks must be a sequence, got None"),
    ],
)
def test_bad_tables_and_blocks_are_refused(table, blocks, message):
    with pytest.raises(ValueError, match=message):
        cells(table, blocks)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: cells_for_channels(COUNTS, SEPARATE), "channels must hold a Channel"),
        (lambda: cells_for_channels(COUNTS, 3), "channels must be a sequence, got 3"),
        (lambda: mle(COUNTS, SEPARATE, tolerance=0), "tolerance must be strictly between"),
        (lambda: mle(COUNTS, SEPARATE, max_iterations=0), "max_iterations must be at least 1"),
        (lambda: mle(-COUNTS, SEPARATE), "table must hold numbers of at least 0, got -410"),
        (lambda: association([1, 2], [Block(0.5, (0,))]), "table must have two axes, got 1"),
        (lambda: association(COUNTS, SEPARATE, (1, 2)), "options must be below 2, got 2"),
        (lambda: association(COUNTS, SEPARATE, (1,)), "options must be one option of each"),
        (lambda: association(COUNTS, SEPARATE, (1, 1), -1), "cautious must be a number"),
        (lambda: association(COUNTS, SEPARATE, (1, 1), math.nan), "cautious .* got nan"),
        (lambda: independence(COUNTS[0], SEPARATE), "table must have two axes, got 1"),
        (lambda: Effect(0, 1).interval(1), "level must be strictly between 0 and 1, got 1"),
        (lambda: cells(COUNTS, SEPARATE)[1].among(np.ones(2)), "weights must have shape"),
        (lambda: cells(COUNTS, SEPARATE)[1].variance(np.ones(2)), "weights must have shape"),
        (lambda: cells(COUNTS, SEPARATE)[1].variance([[math.nan, 0], [0, 0]]), "got nan"),
    ],
)
def test_other_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_arguments_are_not_changed():
    table = COUNTS.copy()
    cells(table, SEPARATE)[1].variances  # noqa: B018
    mle(table, SEPARATE)
    association(table, SEPARATE)
    independence(table, SEPARATE)
    assert (table == COUNTS).all()
