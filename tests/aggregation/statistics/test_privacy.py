"""What reports reveal, what an audit can prove, and what forgers can do."""

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from aggregation.statistics import sequence
from aggregation.statistics.privacy import (
    audit,
    audit_limits,
    composed,
    forgery,
    group,
    least_errors,
    loss,
    manipulated,
    manipulations,
    posterior,
    price,
    shuffled,
    trade_off,
)
from aggregation.statistics.privacy.shuffling import clones_bound, least_epsilon
from aggregation.statistics.proportion import Channel, interval
from tests.support.channels import TWO_COINS, warner

LN3 = math.log(3)


def test_posterior_has_its_reference_values():
    assert posterior(0.1, TWO_COINS) == pytest.approx((1 / 4, 1 / 28), rel=1e-14)
    assert posterior(0.1, TWO_COINS).positive > posterior(0.1, TWO_COINS).negative


@pytest.mark.parametrize("channel", [TWO_COINS, Channel(0.79, 0.09), Channel(0.9, 0.5)])
def test_odds_move_by_at_most_epsilon_and_beliefs_average_out(channel):
    reached = 0.0
    for prior in (1e-6, 0.1, 0.5, 0.999):
        after = posterior(prior, channel)
        moves = [math.log(p / (1 - p) / (prior / (1 - prior))) for p in after]
        assert moves[0] > 0 > moves[1]
        reached = max(reached, *map(abs, moves))
        # Law of total probability: the mean of the posterior is the prior.
        rate = channel.rate(prior)
        assert rate * after.positive + (1 - rate) * after.negative == pytest.approx(prior)
    assert reached == pytest.approx(channel.epsilon, rel=1e-9)


def test_prior_certainty_stays_and_noiseless_reports_reveal():
    for channel in (TWO_COINS, Channel(1, 0), Channel(0.5, 0), Channel(1, 0.5)):
        assert posterior(0, channel) == (0, 0)
        assert posterior(1, channel) == (1, 1)
    assert posterior(0.3, Channel(1, 0)) == (1, 0)


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan, True, "0.1", None])
def test_bad_priors_are_refused(prior):
    with pytest.raises(ValueError, match="prior must be"):
        posterior(prior, TWO_COINS)


def test_a_posterior_needs_a_channel():
    with pytest.raises(ValueError, match="channel must be a Channel, got 0.75"):
        posterior(0.1, 0.75)


def test_audit_has_its_reference_value():
    assert audit(750, 1000, 250, 1000) == pytest.approx(0.9541548998, abs=1e-10)


def test_audit_follows_its_definition():
    rng = np.random.default_rng(7)
    for _ in range(50):
        n1, n0 = (int(x) for x in rng.integers(20, 2000, size=2))
        k1 = int(rng.integers(n1 // 2, n1))
        k0 = int(rng.integers(1, n0 // 2))
        alpha = float(rng.uniform(0.001, 0.3))
        low = beta.ppf(alpha / 2, k1, n1 - k1 + 1)
        high = beta.ppf(1 - alpha / 2, k0 + 1, n0 - k0)
        expected = max(0, math.log(low / high), math.log((1 - high) / (1 - low)))
        assert audit(k1, n1, k0, n0, alpha) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p1, p0", [(0.75, 0.25), (0.5, 0.5), (0.9, 0.6), (0.95, 0.05)])
def test_audit_seldom_accuses_an_honest_randomizer(p1, p0):
    """Exact, 60 reports an arm, alpha = 0.1: no false alarm above alpha, and power elsewhere."""
    n, alpha, k = 60, 0.1, np.arange(61)
    bound = np.array([[audit(int(i), n, int(j), n, alpha) for j in k] for i in k])
    true = max(abs(math.log(p1 / p0)), abs(math.log((1 - p0) / (1 - p1))))

    def alarm(p1, p0):
        return binom.pmf(k, n, p1) @ (bound > true) @ binom.pmf(k, n, p0)

    assert alarm(p1, p0) <= alpha
    assert alarm(1, 0) > 0.99 if true < 2 else alarm(1, 0) > alarm(p1, p0)


def test_audit_finds_a_randomizer_that_does_nothing():
    # 1000 reports an arm without noise: far above the ln 3 it declares.
    assert audit(1000, 1000, 0, 1000) > 5
    # Counts that speak for no difference, or for the other direction, prove nothing.
    assert audit(500, 1000, 500, 1000) == audit(0, 10, 10, 10) == audit(0, 1, 0, 1) == 0


def test_audit_is_the_same_for_both_output_events():
    assert audit(90, 100, 30, 120) == pytest.approx(audit(90, 120, 10, 100), rel=1e-12)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"k1": 101}, "k1 must be at most n1=100, got 101"),
        ({"k0": 201}, "k0 must be at most n0=200, got 201"),
        ({"k0": -1}, "k0 must be at least 0, got -1"),
        ({"n1": 0, "k1": 0}, "n1 must be at least 1, got 0"),
        ({"n0": 200.0}, "n0 must be an integer, got 200.0"),
        ({"k1": True}, "k1 must be an integer, got True"),
        ({"alpha": 0}, "alpha must be strictly between 0 and 1, got 0"),
        ({"alpha": 1.0}, "alpha must be strictly between 0 and 1, got 1.0"),
        ({"alpha": math.nan}, "alpha must be between 0 and 1, got nan"),
    ],
)
def test_bad_audits_are_refused(change, message):
    given = {"k1": 75, "n1": 100, "k0": 50, "n0": 200} | change
    with pytest.raises(ValueError, match=message):
        audit(**given)


def test_audit_limits_have_their_reference_values():
    expected = (0.9541548998, 1.2457862793)
    assert audit_limits(750, 1000, 250, 1000) == pytest.approx(expected, abs=1e-10)
    assert audit_limits(1000, 1000, 0, 1000)[1] == math.inf
    low, high = audit_limits(500, 1000, 500, 1000)
    assert low == 0 < high < 0.3


@pytest.mark.parametrize("n, power", [(5100, 0.50), (10_000, 0.83), (15_000, 0.95)])
def test_the_audit_has_its_known_power(n, power):
    """Exact: the chance that the lower bound exceeds 0.95 ln 3 when the loss is ln 3."""
    k1 = np.arange(int(n * 0.72), int(n * 0.78))
    k0 = n - k1
    low, high = beta.ppf(0.025, k1, n - k1 + 1)[:, None], beta.ppf(0.975, k0 + 1, n - k0)
    bound = np.maximum(np.log(low / high), np.log((1 - high) / (1 - low)))
    found = binom.pmf(k1, n, 0.75) @ (bound >= 0.95 * LN3) @ binom.pmf(k0, n, 0.25)
    assert found == pytest.approx(power, abs=0.01)
    i, j = 40, 70
    one = audit(int(k1[i]), n, int(k0[j]), n)
    assert one == pytest.approx(bound[i, j], rel=1e-9)


# --- loss, composition, groups, testing ---------------------------------------------------------


def cells_matrix(epsilon, cells):
    """Return the matrix of randomized response over cells: answers in rows, reports in columns."""
    matrix = np.ones((cells, cells)) + np.eye(cells) * math.expm1(epsilon)
    return matrix / matrix.sum(axis=1, keepdims=True)


def test_channels_and_matrices_have_their_known_loss():
    assert loss(TWO_COINS) == pytest.approx(LN3, rel=1e-15)
    for channel in (TWO_COINS, Channel(0.79, 0.09), Channel(0.9, 0.5)):
        a, b = channel.a, channel.b
        assert loss([[a, 1 - a], [b, 1 - b]]) == pytest.approx(channel.epsilon, rel=1e-12)
    for cells in (2, 3, 16):
        assert loss(cells_matrix(2.0, cells)) == pytest.approx(2, rel=1e-12)
    assert loss([[0.5, 0.5, 0], [0.5, 0.5, 0]]) == 0
    assert loss([[0.5, 0.5, 0], [0.5, 0.4, 0.1]]) == loss(Channel(1, 0)) == math.inf


def test_composition_has_its_reference_value_and_is_hardly_less_than_the_sum():
    assert composed([LN3] * 10) == pytest.approx(10.98612, abs=5e-6)
    assert composed([LN3] * 10, 1e-6) == pytest.approx(10.98611, abs=6e-6)
    assert composed([]) == 0
    # With many small losses it is much less.
    assert composed([0.1] * 1000, 1e-6) < 21 < composed([0.1] * 1000)


@pytest.mark.parametrize("losses", [[1.0], [0.5, 0.5, 0.5], [LN3, 1, 0.3, 1], [2, 0.1]])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
def test_composition_agrees_with_all_report_vectors(losses, delta):
    epsilon = composed(losses, delta)

    def chance(vector, answer):
        a = [1 / (1 + math.exp(-one)) for one in losses]
        return math.prod(p if x == answer else 1 - p for p, x in zip(a, vector, strict=True))

    vectors = list(itertools.product((0, 1), repeat=len(losses)))
    exact = sum(max(0, chance(v, 1) - math.exp(epsilon) * chance(v, 0)) for v in vectors)
    assert exact == pytest.approx(delta, rel=1e-7) if epsilon > 0 else exact <= delta
    assert epsilon <= sum(losses)


def test_group_privacy_has_its_known_values():
    assert group(LN3, 1) == (LN3, 0)
    assert group(0.5, 4) == (2, 0)
    # Changing one person after the other: delta adds up with growing factors.
    assert group(0.5, 3, 1e-6) == pytest.approx((1.5, 1e-6 * (1 + math.e**0.5 + math.e)))
    assert group(5, 1000, 1e-6) == (5000, 1)
    # A large group of people who each reveal almost nothing: delta (e - 1)/(e^epsilon - 1).
    assert group(1e-9, 10**9, 1e-12) == pytest.approx((1, 1e-12 * (math.e - 1) / 1e-9), rel=1e-6)
    assert group(1e-100, 3, 0.1)[1] == pytest.approx(0.3, rel=1e-12)


def test_trade_off_is_attained_by_randomized_response():
    for epsilon in (0.3, LN3, 2.5):
        channel = warner(epsilon)
        # "Yes" iff the report says so errs with b and 1 - a; always with 1 and 0; mixtures between.
        assert trade_off(channel.b, epsilon) == pytest.approx(1 - channel.a, rel=1e-12)
        assert trade_off(channel.b / 2, epsilon) == pytest.approx(1 - channel.a / 2, rel=1e-12)
        assert trade_off(0, epsilon) == 1 and trade_off(1, epsilon) == 0
        alphas = np.linspace(0, 1, 1001)
        sums = [alpha + trade_off(float(alpha), epsilon) for alpha in alphas]
        assert min(sums) >= least_errors(epsilon) - 1e-12
        assert least_errors(epsilon) == pytest.approx(2 * channel.b, rel=1e-12)
    assert least_errors(LN3) == pytest.approx(0.5, rel=1e-15)
    assert trade_off(0.1, LN3) == pytest.approx(0.7)
    assert trade_off(0.1, LN3, 0.05) == pytest.approx(0.65)
    assert trade_off(0.1, 1000) == 0 and trade_off(0, 1000) == 1


# --- shuffling ----------------------------------------------------------------------------------

# epsilon, n, then at delta = 1e-6: clones 2021, clones with chance 2/(e^eps + 1), exact binary.
SHUFFLED = [
    (LN3, 10**3, 0.2094107738, 0.1682828196, 0.1420576735),
    (LN3, 10**4, 0.0608306280, 0.0489149355, 0.0398833512),
    (LN3, 10**5, 0.0175620291, 0.0140913397, 0.0113472355),
    (LN3, 10**6, 0.0049920707, 0.0039915403, 0.0031928302),
    (2, 10**3, 0.5454979655, 0.3970870586, 0.3233235454),
    (2, 10**4, 0.1550452425, 0.1143996153, 0.0870197198),
    (2, 10**5, 0.0450255803, 0.0331872490, 0.0246606593),
    (2, 10**6, 0.0129583699, 0.0095172306, 0.0069997254),
    (4, 10**3, 3.9899635979, 1.8529065545, 1.6910063200),
    (4, 10**4, 0.6009087636, 0.4108122931, 0.3146431157),
    (4, 10**5, 0.1697697473, 0.1181530665, 0.0847161764),
    (4, 10**6, 0.0493070744, 0.0342797677, 0.0240139671),
]


@pytest.mark.parametrize("epsilon, n, clones, strong, exact", SHUFFLED)
def test_shuffling_has_its_reference_values(epsilon, n, clones, strong, exact):
    def bound(chance):
        return least_epsilon(clones_bound(epsilon, n, 1e-6, chance, 1.0), epsilon, 1e-6)

    assert shuffled(epsilon, n, 1e-6) == pytest.approx(exact, abs=2e-10)
    assert bound(math.exp(-epsilon)) == pytest.approx(clones, abs=2e-10)
    # For two cells the decomposition into cells is the one with chance 2/(e^epsilon + 1).
    assert bound(2 / (math.exp(epsilon) + 1)) == pytest.approx(strong, abs=2e-10)


@pytest.mark.parametrize(
    "epsilon, expected",
    [
        (LN3, [0.8527, 0.5501, 0.3603, 0.2105]),
        (1, [0.7488, 0.4837, 0.3182, 0.1871]),
        (2, [1.9994, 1.6064, 0.9315, 0.4968]),
    ],
)
def test_shuffling_small_batches_has_its_known_epsilon(epsilon, expected):
    found = [shuffled(epsilon, n, 1e-6) for n in (50, 100, 200, 500)]
    assert found == pytest.approx(expected, abs=6e-5)


def histogram_law(matrix, data):
    """Return the law of the tally by enumerating every vector of reports."""
    law = Counter()
    for vector in itertools.product(range(matrix.shape[1]), repeat=len(data)):
        tally = tuple(vector.count(cell) for cell in range(matrix.shape[1]))
        law[tally] += math.prod(matrix[x, y] for x, y in zip(data, vector, strict=True))
    return law


def exact_delta(epsilon, matrix, n):
    """Return the worst delta over all data sets of the others and all pairs of answers."""
    cells, worst = len(matrix), 0.0
    for others in itertools.combinations_with_replacement(range(cells), n - 1):
        laws = [histogram_law(matrix, (x, *others)) for x in range(cells)]
        for one, two in itertools.permutations(laws, 2):
            told = sum(max(0, p - math.exp(epsilon) * two[tally]) for tally, p in one.items())
            worst = max(worst, told)
    return worst


@pytest.mark.parametrize("n", [1, 2, 5, 7])
@pytest.mark.parametrize("epsilon, delta", [(LN3, 0.01), (1, 0.1), (3, 1e-4)])
def test_shuffling_two_cells_agrees_with_full_enumeration(n, epsilon, delta):
    found = shuffled(epsilon, n, delta)
    told = exact_delta(found, cells_matrix(epsilon, 2), n)
    assert told == pytest.approx(delta, rel=1e-8) if found > 0 else told <= delta


@pytest.mark.parametrize("cells, n", [(3, 2), (3, 5), (4, 3)])
@pytest.mark.parametrize("epsilon, delta", [(LN3, 0.02), (1, 0.05), (3, 0.01)])
def test_shuffling_more_cells_is_an_upper_bound(cells, n, epsilon, delta):
    found = shuffled(epsilon, n, delta, cells)
    assert exact_delta(found, cells_matrix(epsilon, cells), n) <= delta * (1 + 1e-9)
    assert found <= epsilon
    if found < 0.999 * epsilon:  # the bound is tight: a little less would be wrong
        assert exact_delta(0.5 * found, cells_matrix(epsilon, cells), n) > delta / 10


def test_shuffling_agrees_with_decimal_arithmetic():
    """1000 two-coin reports, all other answers no: C(999, k) 3^(999-k)/4^999, in Decimal."""
    epsilon = shuffled(LN3, 1000, 1e-6)
    with localcontext() as context:
        context.prec = 60
        factor, scale = Decimal(epsilon).exp(), Decimal(4) ** 1000
        law = [math.comb(999, k) * 3 ** (999 - k) for k in range(1000)]
        told = sum(
            max(Decimal(0), Decimal(3 * here + before) - factor * Decimal(here + 3 * before))
            for here, before in zip([*law, 0], [0, *law], strict=True)
        )
        assert float(told / scale) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.02, LN3, 2, 6])
def test_no_other_data_set_is_worse(epsilon):
    """For 700 reports the function searches only some data sets; this test searches all."""
    n, a = 700, 1 / (1 + math.exp(-epsilon))
    found, worst, k = shuffled(epsilon, n, 1e-6), 0.0, np.arange(n)
    for m in range(n):
        law = np.convolve(binom.pmf(k[: m + 1], m, a), binom.pmf(k[: n - m], n - 1 - m, 1 - a))
        here, before = np.append(law, 0), np.append(0, law)
        yes, no = a * before + (1 - a) * here, (1 - a) * before + a * here
        for one, two in ((yes, no), (no, yes)):
            worst = max(worst, np.maximum(one - math.exp(found) * two, 0).sum())
    assert worst == pytest.approx(1e-6, rel=1e-6)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(300)


class Tilted:
    """delta of one count for any data set, by Fourier's formula and the tilted law of the count.

    See docs/statistics.md. ``k`` is the distance from the tilted mean, and need not be an integer.
    """

    def __init__(self, e, epsilon, n):
        a, b = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
        self.n, self.gain = n, a - math.exp(e) * b
        self.t = t = self.gain / (math.exp(e) * a - b)
        self.a, self.b = a * t / (b + a * t), b * t / (a + b * t)
        self.yes = self.a * math.log(t) - math.log(b + a * t)  # KL(a' || a)
        self.no = self.b * math.log(t) - math.log(a + b * t)  # KL(b' || b)
        assert self.yes > self.no and self.a * (1 - self.a) > self.b * (1 - self.b)
        reach = min(math.pi, 12 / math.sqrt((n - 1) * self.b * (1 - self.b)))
        self.u, self.weights = reach / 2 * (1 + NODES), reach / 2 * WEIGHTS / math.pi
        self.log_yes = np.log1p(self.a * np.expm1(1j * self.u))
        self.log_no = np.log1p(self.b * np.expm1(1j * self.u))
        self.less = -np.expm1(1j * self.u) / (1 - t * np.exp(1j * self.u))  # 1 - E exp(iuG)

    def mean(self, m):
        return (self.n - 1 - m) * self.b + m * self.a

    def delta(self, m, k):
        """For each m and each k."""
        m, k = np.atleast_1d(m), np.atleast_1d(k)
        others = self.n - 1.0 - m
        law = np.multiply.outer(others, self.log_no) + np.multiply.outer(m, self.log_yes)
        law = np.exp(law - 1j * np.multiply.outer(self.mean(m), self.u))
        size = self.gain * np.outer(np.exp(-others * self.no - m * self.yes), self.t**-k)
        return size * (law * self.less * self.weights @ np.exp(-1j * np.outer(self.u, k))).real

    def ceiling(self):
        """No m has more: each factor of ``delta`` replaced by a bound that holds for all m.

        |law| is largest for m = 0, the phase of the law is within ``bend`` of that of a normal one,
        and real(e^(ix) (R - iJ)) <= R + J sin x up to a right angle.
        """
        n, u = self.n, self.u
        bends = [np.abs(self.log_no.imag - self.b * u), np.abs(self.log_yes.imag - self.a * u)]
        bend, size = (n - 1) * np.maximum(*bends), np.exp((n - 1) * self.log_no.real)
        best = 0.0
        for k in np.linspace(-1, 1, 81):
            sine = np.where(bend + abs(k) * u > math.pi / 2, 1.0, np.sin(bend - k * u))
            bracket = size * (self.less.real - self.less.imag * sine) @ self.weights
            best = max(best, self.gain * math.exp(-(n - 1) * self.no) * self.t**-k * bracket)
        return best


@pytest.mark.parametrize("m", [0, 3, 100, 500, 999])
def test_the_tilted_law_gives_the_same_delta(m):
    """Compare with the sum over the law itself: the best count is the mode of the tilted law."""
    n, e, k = 1000, shuffled(LN3, 1000, 1e-6), np.arange(1000)
    law = np.convolve(binom.pmf(k[: m + 1], m, 0.75), binom.pmf(k[: n - m], n - 1 - m, 0.25))
    here, before = np.append(law, 0), np.append(0, law)
    told = np.maximum(0.25 * before + 0.75 * here - math.exp(e) * (0.75 * before + 0.25 * here), 0)
    tilted = Tilted(e, LN3, n)
    best = np.argmax(law * tilted.t**k)
    assert abs(best - tilted.mean(m)) < 1
    found = tilted.delta(m, best - tilted.mean(m)).item()
    assert found == pytest.approx(told.sum(), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-6, 1e-10])
@pytest.mark.parametrize("epsilon", [0.3, LN3, 2, 4])
@pytest.mark.parametrize(
    "n, slack, proved", [(10**4, 2e-3, 0.03), (10**6, 1e-5, 2e-3), (10**8, 1e-6, 2e-4)]
)
def test_no_data_set_can_be_much_worse_than_those_near_zero(n, slack, proved, epsilon, delta):
    """For every m, at real counts, which bound integer counts; and by a proof."""
    found = shuffled(epsilon, n, delta)
    tilted = Tilted(found, epsilon, n)
    m = np.concatenate([np.arange(20), np.linspace(20, n - 1, 60)])
    most = tilted.delta(m, np.linspace(-1, 1, 81)).max(axis=1)
    assert most[0] == most.max() == pytest.approx(delta, rel=slack)
    assert (np.diff(most) <= 1e-8 * delta).all()
    # A little more epsilon, and not even the proven bound exceeds delta; at this one it does.
    assert Tilted(found * (1 + proved), epsilon, n).ceiling() <= delta < tilted.ceiling()


@pytest.mark.parametrize("cells, n", [(2, 6), (3, 4), (5, 4), (16, 3)])
@pytest.mark.parametrize("epsilon", [0.5, LN3, 3])
def test_clones_agree_with_every_outcome_of_the_game(cells, n, epsilon):
    """Enumerate every outcome for a reader who is told the clones, and for one who is not."""
    rare = 1 / (math.exp(epsilon) + cells - 1)
    pair = rare * (math.exp(epsilon) + 1)
    told = clones_bound(epsilon, n, 1e-12, 2 * rare, pair)
    for e in (0.0, 0.3 * epsilon, 0.9 * epsilon):
        delta = 0.0
        for flags in itertools.product((0, 1), repeat=n - 1):
            clones = sum(flags)
            chance = (2 * rare) ** clones * (1 - 2 * rare) ** (n - 1 - clones)
            laws = [
                Counter(),
                Counter(),
            ]  # of how many reports are x0, when this person's answer is
            for coins in itertools.product((0, 1), repeat=clones):
                laws[0][sum(coins) + 1] += rare * math.exp(epsilon) / 2**clones
                laws[0][sum(coins)] += rare / 2**clones
                laws[1][sum(coins) + 1] += rare / 2**clones
                laws[1][sum(coins)] += rare * math.exp(epsilon) / 2**clones
            excess = [max(0, p - math.exp(e) * laws[1][x0]) for x0, p in laws[0].items()]
            delta += chance * sum(excess)
        assert told(e) == pytest.approx(delta, rel=1e-9, abs=1e-15)
        if cells <= 3:
            assert exact_delta(e, cells_matrix(epsilon, cells), n) <= told(e) * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 8), st.integers(1, 3000), st.floats(1e-12, 0.2), st.integers(2, 20))
def test_people_hide_better_with_more_people_more_delta_or_less_loss(epsilon, n, delta, cells):
    found = shuffled(epsilon, n, delta, cells)
    slack = 1e-9
    assert 0 <= found <= epsilon
    assert shuffled(epsilon, n + 1, delta, cells) <= found + slack
    assert shuffled(epsilon, n, delta * 2, cells) <= found + slack
    assert shuffled(epsilon * 1.1, n, delta, cells) >= found - slack


def test_shuffling_stays_correct_at_extreme_values():
    assert shuffled(LN3, 10**15, 1e-6) == shuffled(LN3, 10**9, 1e-6) < 6e-5
    assert shuffled(500, 10, 1e-6) == pytest.approx(500, abs=1e-5)
    assert shuffled(500, 10, 1e-6, 16) == pytest.approx(500, abs=1e-5)
    assert shuffled(0.001, 100, 0.01) == 0
    # Noise so strong that a and b are the same float.
    assert shuffled(1e-17, 1000, 1e-18) == 0
    for cells in (2, 4):
        assert 0 < shuffled(1e-17, 1000, 1e-50, cells) <= 1e-17
    # One report: a - e^x b = delta.
    assert shuffled(LN3, 1, 1e-6) == pytest.approx(math.log((0.75 - 1e-6) / 0.25), rel=1e-12)
    # A block of four yes/no questions hides less well than one question with the same epsilon.
    assert shuffled(4, 10**4, 1e-6) < shuffled(4, 10**4, 1e-6, 16) < 0.6009087636


# --- forged reports, and the price of trusting nobody -------------------------------------------


def test_manipulated_has_its_reference_value():
    limits = manipulated(300, 1000, TWO_COINS, 50)
    assert limits == pytest.approx((0, 0.1923312790), abs=2e-10)
    assert manipulated(300, 1000, TWO_COINS, 0) == interval(300, 1000, TWO_COINS)
    assert manipulated(3, 10, TWO_COINS, 10) == (0, 1)


@pytest.mark.parametrize("n, forged", [(100, 5), (300, 15)])
def test_manipulated_covers_whatever_forgers_do(n, forged):
    """Exact: forgers see the honest count S and choose; covered if all S..S+forged cover."""
    limits = np.array([manipulated(s, n, TWO_COINS, forged) for s in range(n + 1)])
    honest = np.arange(n - forged + 1)
    worst, plain = 1.0, 1.0
    unaware = np.array([interval(s, n, TWO_COINS) for s in range(n + 1)])
    for share in np.linspace(0, 1, 201):
        law = binom.pmf(honest, n - forged, 0.25 + 0.5 * share)
        for which, name in ((limits, "worst"), (unaware, "plain")):
            covers = (which[:, 0] <= share) & (share <= which[:, 1])
            covered = law @ np.lib.stride_tricks.sliding_window_view(covers, forged + 1).all(axis=1)
            if name == "worst":
                worst = min(worst, covered)
            else:
                plain = min(plain, covered)
    assert 0.95 <= worst < 0.956
    assert plain < 0.9  # the interval that trusts everybody fails the same test


def test_more_forgers_widen_the_limits():
    wide = [manipulated(300, 1000, TWO_COINS, forged) for forged in (0, 10, 100, 300, 999)]
    for (low, high), (lower, higher) in itertools.pairwise(wide):
        assert lower <= low and high <= higher


@pytest.mark.parametrize("epsilon, n, cells", [(2, 10**5, 4), (4, 10**6, 16), (6, 10**6, 64)])
def test_grouping_clone_counts_errs_on_the_safe_side(epsilon, n, cells):
    rare = 1 / (math.exp(epsilon) + cells - 1)
    ways = ((math.exp(-epsilon), 1.0), (2 * rare, rare * (math.exp(epsilon) + 1)))
    exact = min(least_epsilon(clones_bound(epsilon, n, 1e-9, *way), epsilon, 1e-9) for way in ways)
    found = shuffled(epsilon, n, 1e-9, cells)
    assert exact < found < exact * 1.0001


def test_many_tallies_are_manipulated_at_once():
    counts, sizes = np.array([[300, 0, 7], [1000, 30, 3]]), np.array([[1000, 50, 7], [1000, 40, 3]])
    for forged in (0.0, 0.05, 0.1, 0.5, 1.0):
        lows, highs = manipulations(counts, sizes, TWO_COINS, forged, 0.9)
        for place in np.ndindex(counts.shape):
            bad = int(Fraction(str(forged)) * int(sizes[place]))
            one = manipulated(int(counts[place]), int(sizes[place]), TWO_COINS, bad, 0.9)
            assert (lows[place], highs[place]) == pytest.approx(one, abs=1e-12)


@pytest.mark.slow
def test_limits_for_every_look_hold_whenever_forgers_come():
    """10,000 looks at 200 surveys; forgers send a yes wherever that keeps them below a tenth.

    At most 5 % may ever be missed; less the forgers' part, more than half are.
    """
    rng, share, missed, unaware = np.random.default_rng(6), 0.1, 0, 0
    n = np.arange(1, 1001)
    forger = np.floor(n / 10) > np.floor((n - 1) / 10)
    for _ in range(200):
        reports = np.where(forger, 1, rng.random(1000) < TWO_COINS.rate(share))
        count = np.cumsum(reports)
        looks = slice(19, None, 20)
        low, high = manipulations(count[looks], n[looks], TWO_COINS, 0.1, kind="always")
        missed += bool(((low > share) | (high < share)).any())
        low, high = sequence.intervals(count[looks], n[looks], TWO_COINS)
        unaware += bool(((low > share) | (high < share)).any())
    assert missed <= 17  # of 200: more by chance once in 100, were it 5 %
    assert unaware > 100


def test_forgers_shift_the_mean():
    assert forgery(0.1, TWO_COINS, 0.05) == pytest.approx((-0.03, 0.07), rel=1e-12)
    for epsilon, expected in [(0.5, 4.08), (1, 2.16), (LN3, 2), (2, 1.31), (4, 1.04)]:
        down, up = forgery(0.3, warner(epsilon), 0.1)
        assert (up - down) / 0.1 == pytest.approx(expected, abs=0.005)
    assert forgery(0.3, Channel(1, 0), 0.1) == pytest.approx((-0.03, 0.07))


def test_the_price_of_local_privacy_has_its_known_value():
    found = price(1000, TWO_COINS, 0.1)
    assert found.sampling == pytest.approx(math.sqrt(0.09 / 1000))
    assert found.local == pytest.approx(math.sqrt(0.3 * 0.7 / 1000) / 0.5)
    # 10^6 draws of the curator's estimate; its standard deviation is known to 0.1 %.
    rng = np.random.default_rng(1)
    draws = (rng.binomial(1000, 0.1, 10**6) + rng.laplace(scale=1 / LN3, size=10**6)) / 1000
    assert found.curator == pytest.approx(draws.std(), rel=0.005)
    assert found.local != pytest.approx(draws.std(), rel=0.005)
    # n people with a curator are worth n * people with local noise.
    many = price(round(1000 * found.people), TWO_COINS, 0.1)
    assert many.local == pytest.approx(found.curator, rel=1e-3)
    assert price(1000, TWO_COINS, 0.1, epsilon=4).curator < found.curator
    assert price(10**9, warner(10), 0.5).people == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: shuffled(0, 10, 0.1), "epsilon must be positive, finite and at most 500, got 0"),
        (lambda: shuffled(math.nan, 10, 0.1), "epsilon must be positive"),
        (lambda: shuffled(math.inf, 10, 0.1), "epsilon must be positive"),
        (lambda: shuffled(True, 10, 0.1), "epsilon must be a number, got True"),
        (lambda: shuffled("1", 10, 0.1), "epsilon must be a number, got '1'"),
        (lambda: shuffled(1, 0, 0.1), "n must be at least 1, got 0"),
        (lambda: shuffled(1, 10.0, 0.1), "n must be an integer, got 10.0"),
        (lambda: shuffled(1, 10, 0), "delta must be strictly between 0 and 1, got 0"),
        (lambda: shuffled(1, 10, 1e-200), "delta must be at least 1e-100, got 1e-200"),
        (lambda: shuffled(1, 10, 0.1, 1), "cells must be at least 2, got 1"),
        (lambda: manipulated(3, 10, TWO_COINS, 11), "forged must be at most n=10, got 11"),
        (lambda: manipulated(3, 10, TWO_COINS, -1), "forged must be at least 0, got -1"),
        (lambda: manipulated(11, 10, TWO_COINS, 1), "count must be at most n=10, got 11"),
        (lambda: manipulated(3, 10, None, 1), "channel must be a Channel, got None"),
        (lambda: manipulated(3, 10, TWO_COINS, 1, 1), "level must be strictly between 0 and 1"),
        (lambda: forgery(2, TWO_COINS, 0.1), "share must be between 0 and 1, got 2"),
        (lambda: forgery(0.2, TWO_COINS, -0.1), "forged must be between 0 and 1, got -0.1"),
        (lambda: price(0, TWO_COINS), "n must be at least 1, got 0"),
        (lambda: price(10, Channel(1, 0)), "epsilon must be positive, finite, got inf"),
        (lambda: composed([1, -1]), "losses must be positive, finite, got -1"),
        (lambda: composed([1], 2), "delta must be between 0 and 1, got 2"),
        (lambda: composed([1 + i / 99 for i in range(40)], 0.1), "losses must have fewer"),
        (lambda: group(1, 0), "people must be at least 1, got 0"),
        (lambda: trade_off(1.5, 1), "false_alarm must be between 0 and 1, got 1.5"),
        (lambda: least_errors(-1), "epsilon must be positive"),
        (lambda: loss([[0.5, 0.6], [0.5, 0.5]]), "channel must have rows of probabilities"),
        (lambda: loss([[math.nan, 1], [0.5, 0.5]]), "channel must have rows of probabilities"),
        (lambda: loss([0.5, 0.5]), "channel must be a Channel or a matrix"),
        (lambda: audit_limits(3, 2, 1, 2), "k1 must be at most n1=2, got 3"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
