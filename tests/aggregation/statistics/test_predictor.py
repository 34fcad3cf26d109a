"""Regression on randomized groups and answers: against brute force, closed forms and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import binom, norm

from aggregation.statistics.joint import Block, cells
from aggregation.statistics.proportion import Channel
from aggregation.statistics.regression import PredictorFit, logistic, predictors
from tests.support.channels import TWO_COINS


def keep(epsilon, cells):
    """Return the keep probability of a block with this many cells."""
    return math.expm1(epsilon) / (math.expm1(epsilon) + cells)


def channel_matrix(shape, blocks, options):
    """M[report, truth], entry by entry."""
    places = list(product(*map(range, shape)))
    M = np.ones((len(places), len(places)))
    for r, report in enumerate(places):
        for h, truth in enumerate(places):
            for kept, axes in blocks:
                replaced = math.prod(options[j][report[j]] / sum(options[j]) for j in axes)
                same = all(report[j] == truth[j] for j in axes)
                M[r, h] *= kept * same + (1 - kept) * replaced
    return M


def dummies(groups):
    """Return a row per combination of groups: 1 and an indicator of each position but the first."""
    columns = [(axis, i) for axis, size in enumerate(groups) for i in range(1, size)]
    places = product(*map(range, groups))
    return np.array([[1.0, *(float(z[axis] == i) for axis, i in columns)] for z in places])


def hidden(groups, beta):
    """Return a distribution in which outcome and groups are related."""
    places = np.indices(groups).reshape(len(groups), -1)
    shares = np.prod([1.5 - at / size for at, size in zip(places, groups, strict=True)], axis=0)
    shares = shares * np.exp(0.5 * (places.sum(axis=0) % 2))
    yes = expit(dummies(groups) @ beta)
    return np.stack([shares * (1 - yes), shares * yes]).ravel() / shares.sum()


def explicit(parameters, X, table, M):
    """Return the log-likelihood by definition; the last combination has a logarithm of 0."""
    width = X.shape[1]
    yes = 1 / (1 + np.exp(-X @ parameters[:width]))
    shares = np.exp(np.append(parameters[width:], 0.0))
    shares = shares / shares.sum()
    law = M @ np.concatenate([shares * (1 - yes), shares * yes])
    return float(table.ravel() @ np.log(law))


def curvature(function, at, step=1e-3):
    """Second derivatives by differences of fourth order along every pair of directions."""
    unit = np.eye(len(at)) * step

    def second(d):
        values = [function(at + k * d) for k in (-2, -1, 0, 1, 2)]
        return np.dot([-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12], values) / step**2

    return np.array(
        [[(second(d + e) - second(d - e)) / 4 if d is not e else second(d) for e in unit]
         for d in unit]
    )  # fmt: skip


# Blocks of the outcome, axis 0, and of the predictors; and of each axis the options behind its
# positions.
BRUTE = {
    "ten groups": ([(0.6, (0,)), (keep(3, 10), (1,))], [(1, 1), (1,) * 10]),
    "two background questions": (
        [(0.6, (0,)), (keep(3, 4), (1,)), (keep(4, 3), (2,))],
        [(1, 1), (1,) * 4, (1,) * 3],
    ),
    "groups and an answer of the same block": (
        [(0.7, (0, 2)), (keep(3, 3), (1,))],
        [(3, 1), (1,) * 3, (2, 1)],
    ),
    "answers together": ([(0.6, (0,)), (0.7, (1, 2))], [(2, 1), (1, 1), (3, 1)]),
    "all together": ([(0.7, (0, 1, 2))], [(1, 1), (1, 1), (1, 1)]),
    "two options of one question": ([(0.7, (0,)), (0.8, (1,))], [(1, 1), (3, 1, 1)]),
    "groups in clear": ([(0.6, (0,)), (1.0, (1,)), (0.8, (2,))], [(1, 1), (1,) * 3, (1, 1)]),
}


@pytest.mark.parametrize("case", BRUTE)
def test_the_fit_is_the_maximum_of_the_explicit_likelihood(case):
    blocks, options = BRUTE[case]
    shape = tuple(map(len, options))
    X = dummies(shape[1:])
    rng = np.random.default_rng(4)
    M = channel_matrix(shape, blocks, options)
    assert M.sum(axis=0) == pytest.approx(1)
    beta = np.resize([-0.4, 0.8, -0.6, 0.5], X.shape[1])
    table = rng.multinomial(40_000, M @ hidden(shape[1:], beta)).reshape(shape)
    fit = predictors(table, blocks, options)
    assert fit.converged and not fit.separated and fit.iterations < 60
    logs = np.log(fit.shares.ravel())
    at = np.concatenate([fit.coefficients, (logs - logs[-1])[:-1]])

    def negative(parameters):
        return -explicit(parameters, X, table, M)

    assert fit.log_likelihood == pytest.approx(-negative(at), rel=1e-12)
    start = np.zeros(at.size)
    found = minimize(negative, start, method="BFGS", options={"gtol": 1e-3})
    assert fit.log_likelihood >= -found.fun - 1e-7
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-4)
    assert np.abs(at - found.x).max() < 0.01
    inverse = np.linalg.inv(curvature(negative, at))
    width = X.shape[1]
    assert fit.covariance == pytest.approx(inverse[:width, :width], rel=1e-3, abs=1e-6)
    assert fit.standard_errors == pytest.approx(np.sqrt(np.diag(fit.covariance)), rel=1e-12)


# --- closed forms -------------------------------------------------------------------------------


def test_a_table_of_two_answers_has_its_reference_values():
    """The log odds ratio of the joint table, and its error."""
    channels = [Channel(1 / (1 + math.exp(-1)), 1 / (1 + math.e)), TWO_COINS]
    fit = predictors([[410, 190], [230, 170]], channels)
    assert fit.converged and not fit.separated
    assert fit.coefficients[1] == pytest.approx(3.1766244394, abs=1e-9)
    assert fit.standard_errors[1] == pytest.approx(1.2864635084, abs=1e-9)
    assert fit.shares[1] == pytest.approx(0.0450813976 + 0.1749186024, abs=1e-9)


def test_one_background_question_gives_the_logits_of_its_groups():
    """With one predictor nothing is modelled: the unbiased joint table, and the delta method."""
    table = np.array([[900, 700, 500], [400, 500, 450]])
    blocks = [Block(keep(2, 4), (0,)), Block(keep(3, 3), (1,))]
    theta, covariance = cells(table, blocks)
    assert (theta > 0).all()
    share = theta[1] / theta.sum(axis=0)
    fit = predictors(table, blocks)
    expected = [logit(share[0]), *(logit(share[1:]) - logit(share[0]))]
    assert fit.coefficients == pytest.approx(expected, abs=1e-9)
    logits = np.stack([-1 / theta[0], 1 / theta[1]])  # slopes of log(theta_1g / theta_0g)
    gradients = []
    for group in range(3):
        one = np.zeros_like(theta)
        one[:, group] += logits[:, group]
        if group:
            one[:, 0] -= logits[:, 0]
        gradients.append(one.ravel())
    gradients = np.array(gradients)
    assert fit.covariance == pytest.approx(gradients @ covariance.matrix() @ gradients.T, rel=1e-8)
    assert fit.shares == pytest.approx(theta.sum(axis=0), abs=1e-10)


def test_without_any_noise_it_is_ordinary_logistic_regression():
    """Newton's method written out on the rows."""
    rng = np.random.default_rng(9)
    groups, beta = (4, 3), np.array([-0.5, 0.4, -0.3, 0.9, 0.5, -0.7])
    table = rng.multinomial(3000, hidden(groups, beta)).reshape(2, *groups)
    X, (no, yes) = dummies(groups), table.reshape(2, -1)
    at = np.zeros(6)
    for _ in range(30):
        s = expit(X @ at)
        information = X.T @ (((no + yes) * s * (1 - s))[:, None] * X)
        at = at + np.linalg.solve(information, X.T @ (yes - (no + yes) * s))
    clear = [(1.0, (0,)), (1.0, (1,)), (1.0, (2,))]
    fit = predictors(table, clear)
    assert fit.coefficients == pytest.approx(at, abs=1e-9)
    assert fit.covariance == pytest.approx(np.linalg.inv(information), rel=1e-8)
    nearly = predictors(table, [(1 - 1e-9, axes) for _, axes in clear])
    assert nearly.coefficients == pytest.approx(at, abs=1e-6)


def test_groups_in_clear_are_columns():
    rng = np.random.default_rng(10)
    groups, beta = (3, 2), np.array([-0.5, 0.4, 0.9, -0.7])
    law = hidden(groups, beta)
    blocks = [(0.5, (0,)), (1.0, (1,)), (1.0, (2,))]
    law = channel_matrix((2, *groups), blocks, [(1, 1), (1, 1, 1), (1, 1)]) @ law
    table = rng.multinomial(4000, law).reshape(2, -1)
    fit = predictors(table.reshape(2, *groups), blocks)
    X = dummies(groups)
    rows = logistic(np.vstack([X, X]), [0] * 6 + [1] * 6, TWO_COINS, table.ravel())
    assert fit.coefficients == pytest.approx(rows.coefficients, abs=1e-8)
    assert fit.standard_errors == pytest.approx(rows.observed_standard_errors, rel=1e-7)


# --- invariance ---------------------------------------------------------------------------------


def example(n=20_000, seed=12):
    """A table of reports on an outcome, four groups and three others, and its blocks."""
    blocks = [(0.6, (0,)), (keep(3, 4), (1,)), (keep(3, 3), (2,))]
    M = channel_matrix((2, 4, 3), blocks, [(1, 1), (1,) * 4, (1,) * 3])
    law = M @ hidden((4, 3), np.array([-0.4, 0.8, -0.6, 0.5, -0.4, 0.8]))
    return np.random.default_rng(seed).multinomial(n, law).reshape(2, 4, 3), blocks


def test_order_of_groups_and_questions_and_answers_does_not_matter():
    table, blocks = example()
    fit = predictors(table, blocks)
    # Another group to compare with: contrasts of the same coefficients.
    turned = predictors(table[:, [2, 0, 1, 3]], blocks)
    b = fit.coefficients
    expected = [b[0] + b[2], -b[2], b[1] - b[2], b[3] - b[2], b[4], b[5]]
    assert turned.coefficients == pytest.approx(expected, abs=1e-8)
    assert turned.standard_errors[1] == pytest.approx(fit.standard_errors[2], rel=1e-7)
    swapped = predictors(
        table.transpose(0, 2, 1), [blocks[0], (blocks[2][0], (1,)), (blocks[1][0], (2,))]
    )
    order = [0, 4, 5, 1, 2, 3]
    assert swapped.coefficients == pytest.approx(fit.coefficients[order], abs=1e-8)
    assert swapped.covariance == pytest.approx(
        fit.covariance[np.ix_(order, order)], rel=1e-6, abs=1e-12
    )
    mirrored = predictors(table[::-1], blocks)
    assert mirrored.coefficients == pytest.approx(-fit.coefficients, abs=1e-8)
    assert mirrored.standard_errors == pytest.approx(fit.standard_errors, rel=1e-7)


def test_a_billion_people_take_no_more_steps():
    table, blocks = example()
    small, large = predictors(table, blocks), predictors(table * 10**5, blocks)
    assert large.converged and large.iterations < 30
    assert large.coefficients == pytest.approx(small.coefficients, abs=1e-6)
    assert large.standard_errors == pytest.approx(small.standard_errors / 10**2.5, rel=1e-5)


def test_fitted_shares_are_a_distribution_and_results_cannot_be_changed():
    fit = predictors(*example(300))
    assert fit.shares.sum() == pytest.approx(1) and fit.shares.shape == (4, 3)
    assert (fit.shares >= 0).all()
    for values in (fit.coefficients, fit.standard_errors, fit.covariance, fit.shares):
        with pytest.raises(ValueError, match="read-only"):
            values.flat[0] = 1


# --- no maximum ---------------------------------------------------------------------------------


def open_of(fit: PredictorFit):
    assert fit.separated == np.isnan(fit.standard_errors).any()
    return np.isnan(fit.standard_errors).tolist()


def test_a_group_in_which_nobody_says_yes_leaves_the_others_determined():
    """Its coefficient goes to infinity; the others equal those without that group."""
    blocks = [(0.5, (0,)), (0.8, (1,))]
    M = channel_matrix((2, 3), blocks, [(1, 1), (1, 1, 1)])
    table = np.rint(10_000 * M @ [0.3, 0.2, 0.3, 0.1, 0.1, 0.0]).astype(int).reshape(2, 3)
    table[1, 2] -= 40
    fit = predictors(table, blocks)
    assert open_of(fit) == [False, False, True]
    assert fit.converged and fit.coefficients[2] < -10
    # The closed form under the restriction: everybody of the last group says no.
    M3 = np.delete(M, 5, axis=1)

    def negative(p):
        shares = np.exp(np.append(p, 0.0))
        return -float(table.ravel() @ np.log(M3 @ (shares / shares.sum())))

    found = minimize(negative, np.zeros(4), method="BFGS", options={"gtol": 1e-4})
    logs = np.append(found.x, 0.0)
    expected = [logs[3] - logs[0], logs[4] - logs[1] - logs[3] + logs[0]]
    assert fit.coefficients[:2] == pytest.approx(expected, abs=1e-4)
    turn = np.array([[-1, 0, 0, 1], [1, -1, 0, -1]])  # the last logarithm is 0
    inverse = turn @ np.linalg.inv(curvature(negative, found.x)) @ turn.T
    assert fit.standard_errors[:2] == pytest.approx(np.sqrt(np.diag(inverse)), rel=1e-3)


def test_without_a_group_to_compare_with_nothing_is_determined():
    blocks = [(0.5, (0,)), (0.8, (1,))]
    fit = predictors([[950, 500, 500], [280, 400, 400]], blocks)
    assert open_of(fit) == [True, True, True]
    assert not fit.converged


def test_a_group_that_nobody_may_belong_to_is_left_open():
    few = [[600, 400, 20], [300, 500, 30]]
    assert open_of(predictors(few, [(0.8, (0,)), (0.7, (1,))])) == [False, False, True]
    nobody = [[600, 400, 0], [300, 500, 0]]
    fit = predictors(nobody, [(0.8, (0,)), (1.0, (1,))])
    assert open_of(fit) == [False, False, True] and fit.converged
    without = predictors([[600, 400], [300, 500]], [(0.8, (0,)), (1.0, (1,))])
    assert fit.coefficients[:2] == pytest.approx(without.coefficients, abs=1e-9)
    assert fit.standard_errors[:2] == pytest.approx(without.standard_errors, rel=1e-9)


def test_perfect_prediction_has_no_maximum():
    fit = predictors([[0, 100], [100, 0]], [(1.0, (0,)), (1.0, (1,))])
    assert open_of(fit) == [True, True] and not fit.converged


# --- simulation ---------------------------------------------------------------------------------

# Groups, epsilon of the background questions, people, surveys, coefficients; the question has
# epsilon 2 in a block of two yes/no questions.
SURVEYS = {
    "three groups, epsilon 3, 2000": ((3,), 3, 2000, 1000, [-0.5, 0.6, -0.4]),
    "three groups, epsilon 4, 10000": ((3,), 4, 10_000, 1000, [-0.5, 0.6, -0.4]),
    "ten groups, epsilon 3, 10000": ((10,), 3, 10_000, 600, [-0.5, *[0.4, -0.4, 0.8] * 3]),
    "ten groups, epsilon 4, 2000": ((10,), 4, 2000, 600, [-0.5, *[0.4, -0.4, 0.8] * 3]),
    "five by two, epsilon 3, 2000": ((5, 2), 3, 2000, 600, [-0.5, 0.6, -0.4, 0.5, -0.5, 0.8]),
    "three by four, epsilon 4, 10000": ((3, 4), 4, 10_000, 600, [-0.5, 0.6, -0.4, 0.5, -0.5, 0.8]),
    "ten by five by two, epsilon 4, 10000": (
        (10, 5, 2), 4, 10_000, 100, [-0.5, *[0.4, -0.4, 0.8] * 3, 0.3, -0.3, 0.6, 0.2, 0.7]),
}  # fmt: skip


@pytest.mark.parametrize("case", SURVEYS)
@pytest.mark.slow
def test_estimates_are_centred_and_their_errors_are_right(case):
    """Median bias and spread in standard errors, and coverage; each at 4 of its own errors.

    Groups taken as reported must fail the same test.
    """
    groups, epsilon, n, runs, beta = SURVEYS[case]
    rng, beta = np.random.default_rng(2025), np.array(beta)
    blocks = [(keep(2, 4), (0,))]
    blocks += [(keep(epsilon, size), (1 + axis,)) for axis, size in enumerate(groups)]
    shape = (2, *groups)
    law = channel_matrix(shape, blocks, [(1,) * size for size in shape]) @ hidden(groups, beta)
    fits = [
        predictors(rng.multinomial(n, law).reshape(shape), blocks) for _ in range(runs)
    ]  # fmt: skip
    assert all(fit.converged for fit in fits)
    assert sum(fit.separated for fit in fits) <= runs / 100
    fits = [fit for fit in fits if not fit.separated]
    z = np.array([(fit.coefficients - beta) / fit.standard_errors for fit in fits])
    # 0.1 and 0.1 are what a likelihood in samples of this size is off by.
    assert np.abs(np.median(z, axis=0)).max() < 1.2533 * 4 / math.sqrt(runs) + 0.1
    assert np.abs(z.std(axis=0) - 1).max() < 4 / math.sqrt(2 * runs) + 0.1
    covered = (np.abs(z) < norm.ppf(0.975)).sum(axis=0)
    assert (binom.cdf(covered, len(fits), 0.95) > 1e-4).all()
    assert covered.mean() / len(fits) > 0.94
    blind = [blocks[0], *((1.0, axes) for _, axes in blocks[1:])]
    everybody = np.rint(n * runs * law).astype(int).reshape(shape)
    right, wrong = (predictors(everybody, coins) for coins in (blocks, blind))
    assert (np.abs(right.coefficients - beta) / right.standard_errors).max() < 4
    assert (np.abs(wrong.coefficients - beta) / wrong.standard_errors).max() > 10


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        ({"table": [41, 19]}, "table must have two positions for the outcome"),
        ({"table": [[1, 2], [3, 4], [5, 6]]}, "table must have two positions for the outcome"),
        ({"table": [[1], [2]]}, r"with two positions or more, got shape \(2, 1\)"),
        ({"table": [[0, 0], [0, 0]]}, "table must hold reports"),
        ({"table": [[1, 2], [3, 4.5]]}, "table must hold counts, got 4.5"),
        ({"table": [[1, 2], [3, -4]]}, "table must hold numbers of at least 0, got -4"),
        ({"table": np.ones((2, 8, 8, 9)), "blocks": [(0.5, (0, 1, 2, 3))]}, "at most 1024 cells"),
        ({"options": [(1, 1)]}, "options must be given for 2 axes"),
        ({"options": [(1, 1), (1, 1, 1)]}, "options must be 2 numbers for an axis of 2"),
        ({"options": [(1, 1), (1, 0)]}, "options must be at least 1, got 0"),
        ({"blocks": [(0.5, (0,))]}, "blocks must hold each of the 2 axes once"),
        ({"blocks": [(0.5, (0, 1, 2))]}, "axes must be axes of a table with 2"),
        ({"blocks": [(0.0, (0, 1))]}, "keep must exceed 0"),
        ({"blocks": [TWO_COINS, TWO_COINS]}, "options are for blocks"),
    ],
)
def test_bad_predictors_are_refused(change, message):
    right = {
        "table": [[41, 19], [23, 17]], "blocks": [(0.5, (0, 1))], "options": [(1, 1), (1, 1)],
    }  # fmt: skip
    predictors(**right)
    change = {"options": None} | change if "table" in change else change
    with pytest.raises(ValueError, match=message):
        predictors(**right | change)
