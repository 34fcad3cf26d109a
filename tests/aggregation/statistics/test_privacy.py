"""What a report reveals and what an audit can prove."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from aggregation.statistics.privacy import audit, posterior
from aggregation.statistics.proportion import Channel

TWO_COINS = Channel(0.75, 0.25)


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


def test_certainty_stays_and_no_noise_reveals():
    for channel in (TWO_COINS, Channel(1, 0), Channel(0.5, 0), Channel(1, 0.5)):
        assert posterior(0, channel) == (0, 0)
        assert posterior(1, channel) == (1, 1)
    assert posterior(0.3, Channel(1, 0)) == (1, 0)


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan, True, "0.1", None])
def test_bad_priors_are_refused(prior):
    with pytest.raises(ValueError, match="prior must be"):
        posterior(prior, TWO_COINS)


def test_a_channel_is_wanted():
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
