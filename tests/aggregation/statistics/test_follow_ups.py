"""Tables with follow-ups, least squares and weighted means: enumeration, references, simulation."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from aggregation.statistics import joint, least_squares, profiles, weights
from aggregation.statistics.joint import Block
from aggregation.statistics.tables.blocks import steps_of
from aggregation.statistics.tables.calibrated_measures import Population

# A yes/no gate and a follow-up with two options: of five cells of the block, of which one is no
# and two each are yes with an option, because another question has two options if it is yes.
CHANCES = np.array([[0, 0, 1], [2, 2, 0]]) / 5
GATE = Block(0.6, (0, 1), CHANCES)


def even(keep: float, axis: int, size: int) -> Block:
    return Block(keep, (axis,), np.full(size, 1 / size))


def sent(theta: Any, parts: list[Block]) -> Any:
    """Return the rates of the reports, with every matrix written out."""
    shape, rates = theta.shape, np.zeros(theta.shape)
    for cell, report in product(np.ndindex(*shape), np.ndindex(*shape)):
        chance = theta[cell]
        for keep, axes, chances in parts:
            same = all(cell[axis] == report[axis] for axis in axes)
            chance *= keep * same + (1 - keep) * chances[tuple(report[axis] for axis in axes)]
        rates[report] += chance
    return rates


# --- Tables ---------------------------------------------------------------------------------------


def test_the_shares_of_two_people_are_right_on_average_over_all_reports() -> None:
    """Every report of two people that are asked a gate, its follow-up and a question apart."""
    parts = [GATE, even(0.4, 2, 2)]
    people = [(0, 2, 1), (1, 0, 0)]
    truth = np.zeros((2, 3, 2))
    for one in people:
        truth[one] += 1 / 2
    laws = []
    for one in people:
        alone = np.zeros_like(truth)
        alone[one] = 1
        laws.append(sent(alone, parts))
    mean, spread, stated = np.zeros_like(truth), np.zeros_like(truth), np.zeros_like(truth)
    for first, second in product(np.ndindex(*truth.shape), repeat=2):
        chance = laws[0][first] * laws[1][second]
        if not chance:
            continue
        table = np.zeros(truth.shape, dtype=int)
        table[first] += 1
        table[second] += 1
        theta, covariance = joint.cells(table, parts)
        mean += chance * theta
        spread += chance * (theta - truth) ** 2
        stated += chance * covariance.variances
    assert np.allclose(mean, truth, atol=1e-12)
    # People are fixed here, so the stated variance of a sample, times n/(n-1), is no less.
    assert (2 * stated >= spread - 1e-12).all()


def test_tables_whose_combinations_are_all_equally_likely_are_those_of_joint() -> None:
    table = np.array([[410, 190, 100], [230, 170, 80]])
    for blocks in ([(0.5, (0, 1))], [(0.5, (0,)), (0.7, (1,))]):
        parts = [
            Block(
                keep, axes, np.full(size := tuple(table.shape[a] for a in axes), 1 / np.prod(size))
            )
            for keep, axes in blocks
        ]
        found, spread = joint.cells(table, parts)
        theta, covariance = joint.cells(table, blocks)
        assert np.allclose(found, theta, rtol=1e-12)
        assert np.allclose(spread.variances, covariance.variances, rtol=1e-12)
        likeliest = joint.mle(table, parts).theta
        assert np.allclose(likeliest, joint.mle(table, blocks).theta, atol=1e-8)
        given, expected = (joint.conditional(table, each, 0) for each in (parts, blocks))
        assert np.allclose(given.shares, expected.shares, 1e-12, equal_nan=True)
        assert np.allclose(given.standard_errors, expected.standard_errors, 1e-9, equal_nan=True)
        one, other = joint.independence(table, parts), joint.independence(table, blocks)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9) and one.g2 == other.g2
        assert one.cells.statistic == pytest.approx(other.cells.statistic, rel=1e-9)
        small = table[:, :2]
        halves = [part._replace(chances=np.ones([2] * len(part.axes)) / 2 ** len(part.axes))
                  for part in parts]  # fmt: skip
        one, other = joint.association(small, halves), joint.association(small, blocks)
        for name in ("covariance", "risk_difference", "phi", "log_odds_ratio"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)


def test_the_likeliest_distribution_has_nobody_where_nobody_can_be() -> None:
    table = np.array([[0, 0, 300], [420, 280, 0]])
    fit = joint.mle(table, [GATE])
    assert fit.converged and fit.theta.sum() == pytest.approx(1)
    assert fit.theta[0, 0] == fit.theta[0, 1] == fit.theta[1, 2] == 0
    assert np.allclose(fit.theta, joint.cells(table, [GATE])[0], atol=1e-4)


def test_shares_given_an_answer_are_known_where_only_one_option_can_occur() -> None:
    """By hand: the delta method on the cells of those who are asked."""
    table = np.array([[0, 0, 300], [420, 280, 0]])
    theta, covariance = joint.cells(table, [GATE])
    found = joint.conditional(table, [GATE], 1)
    assert np.isnan(found.shares[0, :2]).all() and np.isnan(found.standard_errors[0, :2]).all()
    assert (found.shares[0, 2], found.standard_errors[0, 2]) == (1, 0)
    assert np.isnan(found.shares[1, 2])
    first, second = theta[1, :2]
    total = first + second
    assert found.shares[1, 0] == pytest.approx(first / total)
    gradient = np.zeros((2, 3))
    gradient[1, :2] = second / total**2, -first / total**2
    error = covariance.variance(gradient) ** 0.5
    assert found.standard_errors[1, :2] == pytest.approx([error, error])
    more = np.random.default_rng(3).integers(300, 400, (2, 3, 3)) * (CHANCES > 0)[..., None]
    beside = joint.conditional(more, [GATE, even(0.37, 2, 3)], 1)
    assert (beside.shares[0, 2] == 1).all() and (beside.standard_errors[0, 2] == 0).all()


BAD: dict[str, tuple[Any, str]] = {
    "an axis twice": ([even(0.5, 0, 2), even(0.5, 0, 2)], "each of the 2 axes once"),
    "an axis missing": ([even(0.5, 0, 2)], "each of the 2 axes once"),
    "nothing kept": ([even(0.0, 0, 2), even(0.5, 1, 3)], "keep must exceed 0"),
    "chances of another shape": ([even(0.5, 0, 3), even(0.5, 1, 3)], "chances must have the shape"),
    "chances that do not add up": (
        [Block(0.5, (0,), [0.5, 0.4]), even(0.5, 1, 3)], "add up to 1",
    ),
    "a chance below 0": ([Block(0.5, (0,), [1.5, -0.5]), even(0.5, 1, 3)], "at least 0"),
    "an axis that is not there": ([even(0.5, 0, 2), even(0.5, 7, 3)], "axes of a table"),
}  # fmt: skip


@pytest.mark.parametrize(("parts", "words"), BAD.values(), ids=BAD)
def test_bad_blocks_are_refused_by_name(parts: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        steps_of((2, 3), parts)


def test_reports_that_cannot_occur_are_refused() -> None:
    with pytest.raises(ValueError, match="cells that cannot occur"):
        joint.cells(np.ones((2, 3), dtype=int), [GATE])
    with pytest.raises(ValueError, match="cells that cannot occur"):
        joint.mle(np.ones((2, 3), dtype=int), [GATE])
    with pytest.raises(ValueError, match="must hold no report that cannot occur"):
        profiles.fit([[0, 0], [0, 2]], [3, 4], [GATE], (2, 2), 2, 7)
    table = np.array([[0, 0, 3], [4, 2, 0]])
    for related in (joint.independence, joint.association):
        with pytest.raises(ValueError, match="rule out one to the other"):
            related(table, [GATE])


# --- Least squares --------------------------------------------------------------------------------


def test_in_clear_it_is_ordinary_least_squares_with_whites_errors() -> None:
    rng = np.random.default_rng(1)
    g, h, y = rng.integers(0, 3, 500), rng.integers(0, 2, 500), rng.integers(0, 5, 500)
    table = np.zeros((5, 3, 2), dtype=int)
    np.add.at(table, (y, g, h), 1)
    parts = [even(1.0, 0, 5), even(1.0, 1, 3), even(1.0, 2, 2)]
    scores = np.array([3.0, 4.0, 7.0, 8.0, 20.0])
    found = least_squares.fit(table, parts, list(scores), [[0, 1, 2], [0, 1]])
    X = np.column_stack([np.ones(500), g == 1, g == 2, h == 1]).astype(float)
    beta = np.linalg.lstsq(X, scores[y], rcond=None)[0]
    left = scores[y] - X @ beta
    bread = np.linalg.inv(X.T @ X)
    hc1 = bread @ (X.T * left**2) @ X @ bread * 500 / 496
    assert np.allclose(found.coefficients, beta, rtol=1e-9)
    assert np.allclose(found.standard_errors, np.sqrt(np.diag(hc1)), rtol=1e-9)
    assert found.share == pytest.approx(1)


def test_it_is_the_same_in_other_units_and_with_columns_that_join_positions() -> None:
    table = np.array([[300, 200, 100], [250, 260, 180], [100, 180, 240]])
    parts = [even(0.6, 0, 3), even(0.7, 1, 3)]
    plain = least_squares.fit(table, parts, [0, 1, 2], [[0, 1, 1]])
    other = least_squares.fit(table, parts, [10, 30, 50], [[0, 1, 1]])
    assert other.coefficients[1] == pytest.approx(20 * plain.coefficients[1])
    assert other.low[0] == pytest.approx(10 + 20 * plain.low[0])
    assert other.p_values[1] == pytest.approx(plain.p_values[1])
    assert (plain.p_values[1] < 0.05) == (not plain.low[1] <= 0 <= plain.high[1])


def surveys(
    n: int, count: int, seed: int
) -> tuple[list[Any], list[Block], list[float], Any, list[list[int | None]]]:
    """Return drawn tables of a number by a randomized group and another question.

    With the blocks, the scores, and the coefficients of the true answers.
    """
    keeps = [0.68, 0.66, 0.56]  # a number at epsilon 2, groups at 3, a yes/no question at 1.3
    parts = [
        even(keep, axis, size)
        for axis, (keep, size) in enumerate(zip(keeps, (3, 3, 2), strict=True))
    ]
    theta = np.zeros((3, 3, 2))
    for group, yes in product(range(3), range(2)):
        mean = 0.2 + 0.1 * group + 0.15 * yes
        people = (0.5, 0.3, 0.2)[group] * ((0.7, 0.3) if group == 0 else (0.4, 0.6))[yes]
        theta[:, group, yes] = people * np.array([(1 - mean) ** 2, 2 * mean * (1 - mean), mean**2])
    rates = sent(theta, parts)
    scores = [0.0, 30.0, 60.0]
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, rates.ravel(), size=count).reshape(count, 3, 3, 2)
    return list(drawn), parts, scores, np.array([12.0, 6.0, 12.0, 9.0]), [[0, 1, 2], [0, 1]]


@pytest.mark.parametrize("n", [300, 2500])
def test_intervals_cover_and_groups_as_reported_would_not(n: int) -> None:
    """1,000 surveys: 0.95 is refused at alpha 1e-5 a coefficient outside of 0.917 to 0.977.

    The wrong alternative takes groups and answers as they were reported. Its differences are drawn
    to 0: of 1,000 surveys of 2,500 people its intervals must miss more than half of the time.
    """
    tables, parts, scores, truth, columns = surveys(n, 1000, n)
    found = [least_squares.fit(table, parts, scores, columns) for table in tables]
    covered = np.mean([(one.low <= truth) & (truth <= one.high) for one in found], axis=0)
    assert ((covered >= 0.917) & (covered <= 0.977)).all(), covered
    values = np.array([one.coefficients for one in found])
    errors = np.median([one.standard_errors for one in found], axis=0)
    assert np.allclose(errors, values.std(axis=0), rtol=0.12)
    assert (np.abs(values.mean(axis=0) - truth) < 4.5 * values.std(axis=0) / 1000**0.5).all()
    if n == 2500:
        clear = [parts[0], *(part._replace(keep=1.0) for part in parts[1:])]
        wrong = [least_squares.fit(table, clear, scores, columns) for table in tables[:200]]
        missed = np.mean([(one.low > truth) | (truth > one.high) for one in wrong], axis=0)
        assert missed[2:].min() > 0.5, missed


def test_p_values_are_uniform_without_an_association_and_small_with_one() -> None:
    """1,000 surveys of 1,000 people in which nothing depends on the group.

    5 % are refused at alpha 1e-5 outside of 2.2 to 8.3 %; with a difference, most must be found.
    """
    parts = [even(0.6, 0, 4), even(0.7, 1, 2)]
    rng = np.random.default_rng(9)
    for slope, low, high in ((0.0, 0.022, 0.083), (0.25, 0.8, 1.0)):
        law = np.array([0.4, 0.3, 0.2, 0.1])
        theta = np.stack([0.6 * law, 0.4 * ((1 - slope) * law + slope * law[::-1])], axis=1)
        rates = sent(theta, parts)
        tables = rng.multinomial(1000 if not slope else 4000, rates.ravel(), size=1000)
        p = [
            least_squares.fit(table.reshape(4, 2), parts, [0, 1, 2, 3], [[0, 1]]).p_values[1]
            for table in tables
        ]
        assert low <= np.mean(np.array(p) < 0.05) <= high


def test_a_group_that_may_be_empty_has_no_figures_and_the_others_have() -> None:
    theta = np.array([[0.3, 0.2, 0.0], [0.2, 0.3, 0.0]])
    parts = [even(0.6, 0, 2), even(0.7, 1, 3)]
    table = np.rint(1e6 * sent(theta, parts)).astype(int)
    table[:, 2] -= 100
    found = least_squares.fit(table, parts, [0, 1], [[0, 1, 2]])
    assert found.coefficients[1] == pytest.approx(0.2, abs=0.01)
    assert np.isnan(found.coefficients[2]) and found.low[2] == -np.inf
    with pytest.raises(least_squares.TooFew):
        least_squares.fit(table, parts, [0, 1], [[1, 1, 0]])


@pytest.mark.parametrize(
    ("scores", "columns", "words"),
    [
        ([0, None], [[0, 1, 2]], "scores must be 2"),
        ([1, 1], [[0, 1, 2]], "different"),
        ([0, 1], [[0, 1]], "columns must number"),
        ([0, 1], [[0, 0, 0]], "compare two groups"),
        ([0, 1], [], "columns must be given"),
    ],
)
def test_bad_scores_and_columns_are_refused(scores: Any, columns: Any, words: str) -> None:
    table = np.array([[30, 20, 10], [20, 30, 10]])
    with pytest.raises(ValueError, match=words):
        least_squares.fit(table, [even(0.6, 0, 2), even(0.7, 1, 3)], scores, columns)


# --- Weights and profiles -------------------------------------------------------------------------


def test_weighted_shares_are_those_of_weights() -> None:
    table = [[[330, 410], [260, 190], [60, 70]], [[150, 120], [230, 280], [50, 60]]]
    blocks, margins = [(0.5, (0,)), (0.8, (1,)), (0.8, (2,))], [[0.5, 0.5, 0], [0.4, 0.6]]
    theta, covariance = joint.cells(table, blocks)
    raked = weights.rake(table, blocks, margins)[1]
    found = Population.of(theta, covariance, margins)
    for one in (found.measure([0, 1]), found.measure([0, 1], [1, 1])):
        assert one and one.value == pytest.approx(raked.value, rel=1e-12)
        assert one.standard_error == pytest.approx(raked.standard_error, rel=1e-12)
        assert one.design_effect == pytest.approx(raked.design_effect, rel=1e-9)
    mean = found.measure([2, 7])
    assert mean and mean.value == pytest.approx(2 + 5 * raked.value)
    two = [[700, 500, 100], [400, 600, 120]]
    theta, covariance = joint.cells(two, blocks[:2])
    stratified = weights.poststratified(two, blocks[:2], [0.6, 0.4, 0])[1]
    one = Population.of(theta, covariance, [[0.6, 0.4, 0]]).measure([0, 1])
    assert one and one.low == pytest.approx(stratified.low, rel=1e-12)


def test_a_weighted_share_among_some_covers() -> None:
    """1,000 surveys of 2,000: a gate, a follow-up and groups; 0.95 is refused outside 0.917-0.977.

    Alpha is 1e-5. Unweighted figures must miss more often.
    """
    theta = np.zeros((4, 2))  # no, option 1, option 2, option 3; by group
    theta[:, 0] = 0.7 * np.array([0.3, 0.5, 0.1, 0.1])
    theta[:, 1] = 0.3 * np.array([0.3, 0.1, 0.1, 0.5])
    parts = [Block(0.6, (0,), np.array([1, 1, 1, 1]) / 4), even(0.8, 1, 2)]
    truth = 0.5 * (0.5 + 0.1) / (0.5 * 0.7 + 0.5 * 0.7)
    rates = sent(theta, parts)
    rng = np.random.default_rng(4)
    hits = raw = 0
    for drawn in rng.multinomial(2000, rates.ravel(), size=1000):
        cells = joint.cells(drawn.reshape(4, 2), parts)
        for margins, weighted in (([[0.5, 0.5]], True), ([[0.7, 0.3]], False)):
            population = Population.of(*cells, margins)
            one = population.measure([0, 1, 0, 0], [0, 1, 1, 1])
            assert one is not None
            hit = one.low <= truth <= one.high
            hits, raw = hits + (weighted and hit), raw + (not weighted and hit)
    assert 917 <= hits <= 977
    assert raw < 500


def test_profiles_of_plain_questions_are_those_of_profiles() -> None:
    rng = np.random.default_rng(2)
    table = rng.multinomial(4000, rng.dirichlet(np.ones(16))).reshape(2, 2, 2, 2)
    blocks = [(0.6, (0, 1)), (0.7, (2,)), (0.8, (3,))]
    parts = [Block(keep, axes, np.full([2] * len(axes), 0.5 ** len(axes))) for keep, axes in blocks]
    patterns = np.argwhere(table)
    found, other = (
        profiles.fit(patterns, table[tuple(patterns.T)], each, (2,) * 4, 2, 7)
        for each in (parts, blocks)
    )
    assert found.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-12)
    assert np.allclose(found.shares, other.shares, atol=1e-9)
    assert np.allclose(found.answers[0], other.answers[0], atol=1e-9)
    assert (found.parameters, found.bic) == (other.parameters, pytest.approx(other.bic))


def test_more_classes_than_the_possible_reports_determine_are_reported() -> None:
    """Three kinds of reports have two free shares; two classes of two answers have five."""
    patterns, counts = [[0, 2], [1, 0], [1, 1]], [300, 420, 280]
    found = profiles.fit(patterns, counts, [GATE], (2, 2), 2, 7)
    assert found.warning == "5 parameters, but the reports determine 2 at most"
