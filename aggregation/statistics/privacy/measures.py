"""What reports reveal, whatever somebody knows already.

References
    Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211 (odds, groups)
    Wasserman & Zhou 2010, J. Am. Stat. Assoc. 105:375 (privacy as a bound on testing)
    Kairouz, Oh & Viswanath 2015, ICML 32:1376 (exact composition)
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    Floats,
    array_of,
    integer,
    items,
    positive,
    probability,
)
from aggregation.statistics.numeric.binomial import binomial_law
from aggregation.statistics.numeric.roots import root

ATOMS = 10**6  # different losses that a composition may have


class Posterior(NamedTuple):
    """The probability of a yes answer once its report is known to be yes, or to be no."""

    positive: float
    negative: float


def posterior(prior: float, channel: Channel) -> Posterior:
    """Return what somebody who believed ``prior`` should believe after each of the two reports.

    The odds change by a factor between exp(-epsilon) and exp(epsilon), whatever the prior.
    """
    prior = probability("prior", prior)
    check_channel(channel)
    return Posterior(
        positive=_bayes(prior, channel.a, channel.b),
        negative=_bayes(prior, 1 - channel.a, 1 - channel.b),
    )


def loss(channel: Channel | ArrayLike) -> float:
    """Return epsilon: the largest log ratio of a report's chances under two answers.

    Either a ``Channel``, or a matrix with a row for each answer and a column for each report, whose
    rows sum to 1.
    """
    if isinstance(channel, Channel):
        return channel.epsilon
    matrix = array_of("channel", channel)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf" or len(matrix) < 2:
        raise ValueError(
            f"channel must be a Channel or a matrix of 2 rows or more, got {channel!r}"
        )
    if not ((matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1, rtol=0, atol=1e-9)):
        raise ValueError(f"channel must have rows of probabilities that sum to 1, got {channel!r}")
    high, low = matrix.max(axis=0), matrix.min(axis=0)
    high, low = high[high > 0], low[high > 0]
    return float(np.log(high / low).max()) if (low > 0).all() else math.inf


def composed(losses: Sequence[float], delta: float = 0.0) -> float:
    """Return epsilon of several reports by one person: blocks, waves, or an answer asked anew.

    With delta = 0 the sum. With delta > 0 the least epsilon such that (epsilon, delta) holds
    whatever the mechanisms: randomized response is the worst of all with its loss, and for it the
    losses add up to sums of +/- epsilon_j (Kairouz, Oh & Viswanath 2015). For a few
    reports that hardly helps; for hundreds it does. Memoized reports are one report.
    """
    values = [positive("losses", one) for one in items("losses", losses)]
    delta = probability("delta", delta)
    total = math.fsum(values)
    if delta == 0 or not values:
        return total
    sums, weights = _loss_law(values)

    def excess(epsilon: float) -> float:
        above = sums > epsilon
        return float(weights[above] @ -np.expm1(epsilon - sums[above])) - delta

    return root(excess, 0, total, xtol=1e-14) if excess(0) > 0 else 0.0


def group(epsilon: float, people: int, delta: float = 0.0) -> tuple[float, float]:
    """Return (epsilon, delta) for ``people`` people at once, from those for one person.

    Reports of a whole family reveal up to k epsilon of something they share, and delta grows to
    delta (e^(k epsilon) - 1)/(e^epsilon - 1) (Dwork & Roth 2014).
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    people = integer("people", people, 1, LARGEST)
    total = people * epsilon
    if delta == 0:
        return total, 0.0
    # The growth as e^(total - epsilon) (1 - e^-total)/(1 - e^-epsilon), which does not overflow.
    log = math.log(delta) + total - epsilon + math.log(math.expm1(-total) / math.expm1(-epsilon))
    return total, math.exp(min(log, 0.0))


def trade_off(false_alarm: float, epsilon: float, delta: float = 0.0) -> float:
    """Return the least chance of a miss in any test of "the answer is no" against "yes".

    max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)); randomized response attains it
    (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015).
    """
    alpha, delta = probability("false_alarm", false_alarm), probability("delta", delta)
    factor = math.exp(-positive("epsilon", epsilon))
    steep = 1 - delta - alpha / factor if factor > 0 else (1 - delta if alpha == 0 else 0.0)
    return max(0.0, steep, factor * (1 - delta - alpha))


def least_errors(epsilon: float) -> float:
    """Return the least sum of both error probabilities of such a test, 2/(1 + e^epsilon)."""
    factor = math.exp(-positive("epsilon", epsilon))
    return 2 * factor / (1 + factor)


def _bayes(prior: float, if_yes: float, if_no: float) -> float:
    """Return the posterior; a report that cannot happen under the prior leaves it as it is."""
    yes, no = prior * if_yes, (1 - prior) * if_no
    return yes / (yes + no) if yes + no > 0 else prior


def _loss_law(values: list[float]) -> tuple[Floats, Floats]:
    """Return the sums of losses of independent reports, and their probabilities under one input."""
    sums, weights = np.zeros(1), np.ones(1)
    for value, times in sorted(Counter(values).items()):
        if len(sums) * (times + 1) > ATOMS:
            raise ValueError(f"losses must have fewer different values, got {len(values)} losses")
        _, law = binomial_law(times, max(float(expit(-value)), 1e-300))
        signs = times - 2 * np.arange(times + 1)
        sums = np.add.outer(sums, value * signs).ravel()
        weights = np.multiply.outer(weights, law).ravel()
    return sums, weights
