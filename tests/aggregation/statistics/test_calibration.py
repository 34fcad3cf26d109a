"""Shares weighted to a population by randomized groups: matrices, rows of people, simulation."""

import json
import math
from dataclasses import FrozenInstanceError, asdict
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, root

from aggregation.statistics import proportion
from aggregation.statistics.joint import Block, cells
from aggregation.statistics.proportion import Channel
from aggregation.statistics.weights import TooFew, Unreachable, poststratified, rake

CLEAR = 1.0


def keep(epsilon, cells):
    """Return the keep probability of a block with this many cells."""
    return math.expm1(epsilon) / (math.expm1(epsilon) + cells)


def coins(*keeps):
    """A block for each axis."""
    return [Block(kept, (axis,)) for axis, kept in enumerate(keeps)]


def channel_matrix(shape, keeps):
    """Return M[report, truth] for separately randomized axes."""
    parts = [c * np.eye(k) + (1 - c) / k for c, k in zip(keeps, shape, strict=True)]
    return reduce(np.kron, parts)


# --- groups in clear ----------------------------------------------------------------------------


def test_post_strata_in_clear_have_their_reference_values():
    no, yes = poststratified([[60, 110], [40, 90]], coins(0.5, CLEAR), [0.6, 0.4])
    assert yes.value == pytest.approx(0.34, abs=1e-12)
    assert yes.standard_error**2 == pytest.approx(0.00428688899, abs=1e-11)
    assert no.value == pytest.approx(0.66, abs=1e-12)
    assert no.standard_error == pytest.approx(yes.standard_error, rel=1e-12)
    assert yes.n == 300
    half = 1.959963984540054 * yes.standard_error
    assert (yes.low, yes.high) == pytest.approx((0.34 - half, 0.34 + half), rel=1e-12)
    assert yes.effective_size == pytest.approx(0.34 * 0.66 / yes.standard_error**2, rel=1e-12)
    raw = proportion.estimate(130, 300, Channel(0.75, 0.25))
    effect = (yes.standard_error / raw.standard_error) ** 2
    assert yes.design_effect == pytest.approx(effect, rel=1e-12)


SIZES = np.array([[[30, 41], [25, 0], [12, 33]], [[60, 22], [35, 51], [40, 28]]])
COUNTS = np.array([[[11, 20], [8, 0], [2, 15]], [[20, 12], [15, 20], [22, 9]]])
MARGINS = [[0.45, 0.55], [0.3, 0.3, 0.4], [0.62, 0.38]]


def calibrated(sizes, margins):
    """Solve exp(sum of one number per category) for the margins, which is equivalent to raking."""
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


def test_raking_in_clear_is_a_weighted_regression_on_the_rows_of_people():
    """Residuals of u on the margins, each over the root of 1 minus its leverage."""
    table = np.stack([SIZES - COUNTS, COUNTS])
    _, one = rake(table, coins(0.5, CLEAR, CLEAR, CLEAR), MARGINS)
    w = calibrated(SIZES, MARGINS)
    rows = []
    for place in np.ndindex(SIZES.shape):
        x = [1, place[0] == 1, place[1] == 1, place[1] == 2, place[2] == 1]
        for i in range(SIZES[place]):
            rows.append([(float(i < COUNTS[place]) - 0.25) / 0.5, w[place], *x])
    rows = np.array(rows, dtype=float)
    u, weights, x = rows[:, 0], rows[:, 1], rows[:, 2:]
    gram = np.linalg.inv(x.T @ (weights[:, None] * x))
    left = u - x @ (gram @ x.T @ (weights * u))
    leverage = weights * np.einsum("ij,jk,ik->i", x, gram, x)
    assert one.value == pytest.approx(weights @ u, rel=1e-7)
    slopes = weights * left / np.sqrt(1 - leverage)
    n = len(u)
    variance = (slopes**2).sum() - slopes.sum() ** 2 / n
    assert one.standard_error**2 == pytest.approx(variance, rel=1e-6)
    assert leverage.sum() == pytest.approx(5)


def test_population_like_the_sample_changes_nothing():
    """Weighting to the reports' own margins gives the plain estimate."""
    table = np.array([[300, 200, 90], [120, 150, 140]])
    blocks = coins(0.5, 0.7)
    theta = cells(table, blocks)[0]
    _, one = poststratified(table, blocks, theta.sum(axis=0))
    plain = proportion.estimate(410, 1000, Channel(0.75, 0.25))
    assert one.value == pytest.approx(plain.value, rel=1e-12)
    assert one.design_effect == pytest.approx(1, abs=0.2)


def test_one_group_is_the_plain_estimate():
    for count, n in ((40, 100), (0, 50), (50, 50)):
        _, one = poststratified([[n - count], [count]], coins(0.5, 0.7), [1])
        plain = proportion.estimate(count, n, Channel(0.75, 0.25))
        assert one.value == pytest.approx(plain.value, rel=1e-12)
        assert one.standard_error == pytest.approx(plain.standard_error, rel=1e-9, abs=1e-12)


# --- randomized groups --------------------------------------------------------------------------

SHAPE, KEEPS = (3, 4, 3), (keep(2, 6), keep(3, 4), keep(4, 3))


def example(n=2_000, seed=5):
    """Reports on a question of three options by four groups and by three."""
    rng = np.random.default_rng(seed)
    shares = np.multiply.outer([0.35, 0.3, 0.2, 0.15], [0.5, 0.3, 0.2]) * rng.uniform(
        0.7, 1.3, SHAPE[1:]
    )
    given = rng.dirichlet([4, 3, 2], SHAPE[1:]).transpose(2, 0, 1)
    theta = given * shares / shares.sum()
    law = channel_matrix(SHAPE, KEEPS) @ theta.ravel()
    return rng.multinomial(n, law).reshape(SHAPE), theta


POPULATION = np.array([[0.1, 0.1, 0.05], [0.1, 0.05, 0.1], [0.1, 0.1, 0.1], [0.1, 0.05, 0.05]])


def by_cells(theta, option):
    theta = theta.reshape(SHAPE)
    return float((POPULATION * theta[option] / theta.sum(axis=0)).sum())


def by_margins(theta, option):
    theta = theta.reshape(SHAPE)
    margins = [POPULATION.sum(axis=1), POPULATION.sum(axis=0)]
    return float((calibrated(theta.sum(axis=0), margins) * theta[option]).sum())


@pytest.mark.parametrize("option", range(3))
@pytest.mark.parametrize("kind", ["cells", "margins"])
def test_variances_are_those_of_the_delta_method_with_the_whole_matrix(kind, option):
    """Compare with numerical derivatives and an explicit inverse of the channel matrix.

    10^4 times the reports: leverage, of the order of 1/n, is then nothing.
    """
    table = example()[0] * 10**4
    n = table.sum()
    inverse = np.linalg.inv(channel_matrix(SHAPE, KEEPS))
    f = table.ravel() / n
    theta = inverse @ f
    covariance = inverse @ (np.diag(f) - np.outer(f, f)) @ inverse.T / n
    value = by_cells if kind == "cells" else by_margins
    slope = approx_fprime(theta, value, 1e-7, option)
    if kind == "cells":
        one = poststratified(table, coins(*KEEPS), POPULATION)[option]
    else:
        one = rake(table, coins(*KEEPS), [POPULATION.sum(axis=1), POPULATION.sum(axis=0)])[option]
    assert one.value == pytest.approx(value(theta, option), rel=1e-6)
    assert one.standard_error**2 == pytest.approx(slope @ covariance @ slope, rel=1e-4)
    plain = np.repeat(np.arange(3) == option, 12)
    unweighted = plain @ covariance @ plain
    assert one.design_effect == pytest.approx(one.standard_error**2 / unweighted, rel=1e-6)


def test_shares_of_all_options_add_up_to_one():
    table, _ = example()
    for found in (
        poststratified(table, coins(*KEEPS), POPULATION),
        rake(table, coins(*KEEPS), [POPULATION.sum(axis=1), POPULATION.sum(axis=0)]),
    ):
        assert len(found) == 3
        assert sum(one.value for one in found) == pytest.approx(1, abs=1e-12)


def test_order_of_groups_and_questions_does_not_matter():
    table, _ = example()
    margins = [POPULATION.sum(axis=1), POPULATION.sum(axis=0)]
    one = rake(table, coins(*KEEPS), margins)[1]
    turned = rake(table.transpose(0, 2, 1), coins(KEEPS[0], KEEPS[2], KEEPS[1]), margins[::-1])[1]
    flipped = rake(table[:, ::-1], coins(*KEEPS), [margins[0][::-1], margins[1]])[1]
    for other in (turned, flipped):
        assert asdict(other) == pytest.approx(asdict(one), rel=1e-8)


def test_raking_one_margin_is_poststratification():
    table = example()[0].sum(axis=2)
    shares = POPULATION.sum(axis=1)
    for one, other in zip(
        rake(table, coins(*KEEPS[:2]), [shares]),
        poststratified(table, coins(*KEEPS[:2]), shares),
        strict=True,
    ):
        assert asdict(one) == pytest.approx(asdict(other), rel=1e-9)


def test_a_question_may_share_no_coin_or_one_with_a_group():
    """Blocks are those of joint: also one of the question and of what it is weighted by."""
    table = np.array([[400, 250], [150, 200]])
    together = poststratified(table, [Block(0.6, (0, 1))], [0.5, 0.5])[1]
    theta = (table / 1000 - 0.1) / 0.6
    expected = 0.5 * theta[1, 0] / theta[:, 0].sum() + 0.5 * theta[1, 1] / theta[:, 1].sum()
    assert together.value == pytest.approx(expected, rel=1e-12)
    apart = poststratified(table, coins(0.6, 0.6), [0.5, 0.5])[1]
    assert apart.value != pytest.approx(together.value, rel=1e-3)


def test_groups_that_the_population_does_not_have_are_left_out():
    """Without noise, the result is as if these people had not reported."""
    table = np.array([[60, 110, 35], [40, 90, 25]])
    _, one = poststratified(table, coins(0.5, CLEAR), [0.6, 0.4, 0])
    _, without = poststratified(table[:, :2], coins(0.5, CLEAR), [0.6, 0.4])
    assert one.value == pytest.approx(without.value, rel=1e-12)
    assert one.standard_error == pytest.approx(without.standard_error, rel=1e-12)
    assert one.n == 360
    noisy, _ = example(20_000)
    theta = cells(noisy, coins(*KEEPS))[0][:, :3, 1:]
    _, raked, _ = rake(noisy, coins(*KEEPS), [[0.5, 0.3, 0.2, 0], [0, 0.6, 0.4]])
    w = calibrated(theta.sum(axis=0), [[0.5, 0.3, 0.2], [0.6, 0.4]])
    assert raked.value == pytest.approx((w * theta[1]).sum(), rel=1e-6)


# --- too few ------------------------------------------------------------------------------------


def test_a_group_that_may_be_empty_is_refused_by_its_place():
    table = np.array([[300, 200, 90], [120, 150, 140]])
    table[:, 2] = [75, 80]
    with pytest.raises(
        TooFew, match="too few reports to weight by position 2 of axis 1"
    ) as refusal:
        poststratified(table, coins(0.5, 0.5), [0.4, 0.3, 0.3])
    assert refusal.value.place == (2,)
    # A group outside the population may be empty.
    assert poststratified(table, coins(0.5, 0.5), [0.5, 0.5, 0])[1].standard_error > 0
    few, _ = example(150)
    population = np.zeros((4, 3))
    population[0, 0] = population[3, 2] = 0.5
    with pytest.raises(TooFew, match="position 3 of axis 1 and position 2 of axis 2") as refusal:
        poststratified(few, coins(*KEEPS), population)
    assert refusal.value.place == (3, 2)
    # Of the third group on the second axis, only those count who are in the population at all.
    with pytest.raises(TooFew, match="position 2 of axis 2: estimated") as refusal:
        rake(few, coins(*KEEPS), [[0, 0, 0, 1], [0.2, 0.4, 0.4]])
    assert refusal.value.place == (None, 2)


def test_raking_bears_cells_estimated_below_zero():
    """The result follows the definition as long as the groups exist."""
    theta = np.array([[[0.1, 0.2, 0.05], [0.15, -0.01, 0.1]], [[0.1, 0.1, 0.05], [0.1, 0.0, 0.06]]])
    shape, keeps = (2, 2, 3), (0.7, 0.6, 0.6)
    law = channel_matrix(shape, keeps) @ theta.ravel()
    table = np.rint(law * 10**7).astype(int).reshape(shape)
    assert cells(table, coins(*keeps))[0].sum(axis=0).min() < 0
    margins = [[0.5, 0.5], [0.4, 0.3, 0.3]]
    _, one = rake(table, coins(*keeps), margins)
    weights = calibrated(theta.sum(axis=0), margins)
    assert one.value == pytest.approx((weights * theta[1]).sum(), abs=1e-5)


def test_margins_that_nobody_could_meet_are_refused():
    diagonal = np.array([[[30, 0], [0, 30]], [[20, 0], [0, 20]]])
    with pytest.raises(Unreachable, match="margins cannot be met by weights"):
        rake(diagonal, coins(0.5, CLEAR, CLEAR), [[0.3, 0.7], [0.5, 0.5]])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_any_table_has_finite_limits_or_is_refused_in_words(data):
    """Test small, noisy tables in which cells and groups are estimated below 0."""
    shape = data.draw(st.sampled_from([(2, 2), (2, 3), (3, 2, 2), (2, 3, 3)]))
    size = math.prod(shape)
    counts = data.draw(st.lists(st.integers(0, 40), min_size=size, max_size=size))
    table = np.array(counts).reshape(shape)
    table.flat[0] += 1
    blocks = coins(*(data.draw(st.floats(0.2, 1)) for _ in shape))
    parts = [
        np.array(data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k))) for k in shape[1:]
    ]
    margins = [(part + (part.sum() == 0)) / (part + (part.sum() == 0)).sum() for part in parts]
    for call in (
        lambda level: rake(table, blocks, margins, level),
        lambda level: poststratified(table, blocks, reduce(np.multiply.outer, margins), level),
    ):
        try:
            found, wide = call(0.8), call(0.99)
        except (TooFew, Unreachable):
            continue
        for one, other in zip(found, wide, strict=True):
            assert all(math.isfinite(x) for x in asdict(one).values() if x is not None)
            assert other.low <= one.low <= one.value <= one.high <= other.high
            assert json.loads(json.dumps(asdict(one), allow_nan=False)) == asdict(one)


# --- simulation ---------------------------------------------------------------------------------

SKEWED, ROWS, COLUMNS = np.linspace(1.6, 0.4, 10) / 10, np.array([0.45, 0.3, 0.25]), 4
# The sample's groups, the population's, the share of yes in each, epsilon of the groups, people.
SURVEYS = {
    "three groups, 300": ([0.6, 0.25, 0.15], [0.4, 0.3, 0.3], [0.1, 0.3, 0.6], 3, 300),
    "three groups, 5000": ([0.6, 0.25, 0.15], [0.4, 0.3, 0.3], [0.1, 0.3, 0.6], 3, 5000),
    "ten groups, 1250": (SKEWED, [0.1] * 10, np.linspace(0.1, 0.6, 10), 4, 1250),
    "ten groups, 5000": (SKEWED, [0.1] * 10, np.linspace(0.1, 0.6, 10), 3, 5000),
    "three by four, 1250": (
        np.array([[0.2, 0.1, 0.05, 0.05], [0.1, 0.1, 0.1, 0.05], [0.05, 0.05, 0.1, 0.05]]),
        np.full((3, 4), 1 / 12),
        np.add.outer([0.05, 0.2, 0.4], [0, 0.1, 0.2, 0.3]), 3, 1250,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SURVEYS)
@pytest.mark.slow
def test_limits_cover_and_variances_are_those_of_the_estimates(case):
    """2000 surveys, question at epsilon 2 in a block of two: bounds of 4 standard errors.

    The same with the groups taken as reported must fail.
    """
    sampled, population, shares, epsilon, n = map(np.asarray, SURVEYS[case])
    rng, runs = np.random.default_rng(31), 2000
    groups = sampled.shape
    keeps = (keep(2, 4), *(keep(epsilon, size) for size in groups))
    theta = np.stack([sampled * (1 - shares), sampled * shares])
    law = channel_matrix(theta.shape, keeps) @ theta.ravel()
    margins = [
        population.sum(axis=tuple(i for i in range(len(groups)) if i != axis))
        for axis in range(len(groups))
    ]
    if len(groups) == 1:
        target = float((population * shares).sum())
    else:  # the odds ratios of the sample, the margins of the population
        target = float((calibrated(sampled, margins) * sampled * shares).sum())
    found, naive = [], []
    for _ in range(runs):
        table = rng.multinomial(n, law).reshape(theta.shape)
        for results, blocks in (
            (found, coins(*keeps)),
            (naive, coins(keeps[0], *[CLEAR] * len(groups))),
        ):
            try:
                results.append(rake(table, blocks, margins)[1])
            except TooFew:
                continue
    assert len(found) > 0.98 * runs
    values = np.array([one.value for one in found])
    spread = values.std(ddof=1)
    # Ratios are biased by a part of 1/n; 0.1 of a standard error is far above that.
    assert abs(values.mean() - target) < (4 / math.sqrt(runs) + 0.1) * spread
    mean = np.mean([one.standard_error**2 for one in found])
    assert mean / spread**2 == pytest.approx(1, abs=4 * math.sqrt(2 / runs) + 0.03)
    covered = np.mean([one.low <= target <= one.high for one in found])
    assert covered > 0.94
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / runs))
    if n >= 1250:
        assert np.mean([one.low <= target <= one.high for one in naive]) < 0.93


# --- arguments ----------------------------------------------------------------------------------


def test_results_are_frozen():
    one = poststratified([[60, 110], [40, 90]], coins(0.5, 0.8), [0.6, 0.4])[0]
    with pytest.raises(FrozenInstanceError):
        one.value = 0.5
    assert {type(x) for x in asdict(one).values()} == {float, int}


TABLE, BLOCKS = [[60, 110], [40, 90]], coins(0.5, 0.8)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: poststratified([60, 40], coins(0.5), []), "table must have the question on its"),
        (lambda: poststratified(TABLE, BLOCKS, [0.6, 0.3]), "shares must add up to 1, got 0.9"),
        (lambda: poststratified(TABLE, BLOCKS, [1]), r"shares must have the shape \(2,\), got"),
        (lambda: poststratified(TABLE, BLOCKS, [[0.6, 0.4]]), "shares must be a list of numbers"),
        (lambda: poststratified(TABLE, BLOCKS, [1.5, -0.5]), "shares must be between 0 and 1"),
        (lambda: poststratified(TABLE, BLOCKS, [0.6, 0.4], 95), "level must be between 0 and 1"),
        (lambda: poststratified(TABLE, coins(0.5), [0.6, 0.4]), "blocks must hold each of the 2"),
        (lambda: rake(TABLE, BLOCKS, [[0.6, 0.4]] * 2), "margins must be one for each of 1 axes"),
        (lambda: rake(TABLE, BLOCKS, [[0.6, 0.3]]), r"margins\[0\] must add up to 1, got 0.9"),
        (lambda: rake(TABLE, BLOCKS, [[0.6, math.nan]]), r"margins\[0\] must be finite"),
        (lambda: rake(TABLE, BLOCKS, 3), "margins must be a sequence, got 3"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
