"""What reports give away, what an experiment can prove of it, and what it costs.

Statements about privacy and tampering; estimates of shares live in ``proportion``.

References
    Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211 (odds, groups, the Laplace mechanism)
    Wasserman & Zhou 2010, J. Am. Stat. Assoc. 105:375 (privacy as a bound on testing)
    Kairouz, Oh & Viswanath 2015, ICML 32:1376 (exact composition)
    Feldman, McMillan & Talwar 2021, FOCS (shuffling: hiding among clones)
    Jagielski, Ullman & Oprea 2020, NeurIPS 33 (lower bounds from Clopper-Pearson limits)
    Darroch 1964, Ann. Math. Stat. 35:1317 (the mode of a sum of unequal trials)
    Cheu, Smith & Ullman 2021, J. Priv. Confid. (manipulation of local reports)
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, expit

from aggregation.statistics import proportion, sequence
from aggregation.statistics.binomial import Floats, lower_limit, upper_limit
from aggregation.statistics.proportion import (
    LARGEST,
    Channel,
    array_of,
    check_channel,
    counts,
    integer,
    interval,
    items,
    probability,
    strictly_between,
    tallies,
)
from aggregation.statistics.roots import root

ATOMS = 10**6  # different losses that a composition may have
ALL = 500  # with so few reports every data set of the others is looked at
FEW = 64  # with more, those with up to so many yes answers, or 8 times if the noise is strong,
GROUPS = 1024  # of numbers of clones: more would change epsilon by less than a part in 10,000
WORK = 6e8  # and not all of these if that took more than a second or so
FARTHEST = 1e100  # of positive numbers, as of their inverses: what has a square
ENOUGH = 10**9  # more reports hide better; beyond this, what is said of so many is said


class Posterior(NamedTuple):
    """The probability of a yes answer once its report is known to be yes, or to be no."""

    positive: float
    negative: float


def posterior(prior: float, channel: Channel) -> Posterior:
    """What somebody who believed ``prior`` should believe after each of the two reports.

    The odds change by a factor between exp(-epsilon) and exp(epsilon), whatever the prior.
    """
    prior = probability("prior", prior)
    check_channel(channel)
    return Posterior(
        positive=_bayes(prior, channel.a, channel.b),
        negative=_bayes(prior, 1 - channel.a, 1 - channel.b),
    )


def audit(k1: int, n1: int, k0: int, n0: int, alpha: float = 0.05) -> float:
    """Lower bound on a randomizer's epsilon from an experiment, wrong with probability <= alpha.

    ``k1`` of ``n1`` reports say yes when the answer is yes, ``k0`` of ``n0`` when it is no. Epsilon
    is at least ln(p1/p0) and ln((1-p0)/(1-p1)); the same two one-sided limits at alpha/2, p1 from
    below and p0 from above, serve both. More than the declared epsilon refutes it; less proves
    nothing. A randomizer that answers the wrong way round shows with the arms exchanged.
    """
    k1, n1 = counts(k1, n1, ("k1", "n1"))
    k0, n0 = counts(k0, n0, ("k0", "n0"))
    each = strictly_between("alpha", alpha) / 2
    return max(
        0.0,
        _log_ratio(lower_limit(k1, n1, each), upper_limit(k0, n0, each)),
        # The complements 1 - p, as limits for the no reports: no digits are lost near 1.
        _log_ratio(lower_limit(n0 - k0, n0, each), upper_limit(n1 - k1, n1, each)),
    )


def audit_limits(k1: int, n1: int, k0: int, n0: int, alpha: float = 0.05) -> tuple[float, float]:
    """Lower and upper bound on epsilon, each wrong with probability <= alpha.

    The lower one is ``audit``'s. The upper one takes both limits the other way round; it is about
    these two inputs alone, and no experiment shows that there are no worse ones.
    """
    low = audit(k1, n1, k0, n0, alpha)
    each = alpha / 2
    pairs = [(k1, n1, k0, n0), (n0 - k0, n0, n1 - k1, n1)]
    pairs += [(k0, n0, k1, n1), (n1 - k1, n1, n0 - k0, n0)]
    high = max(
        -_log_ratio(lower_limit(kb, nb, each), upper_limit(ka, na, each))
        for ka, na, kb, nb in pairs
    )
    return low, high


def loss(channel: Channel | ArrayLike) -> float:
    """Epsilon of a channel: the largest log ratio of a report's chances under two answers.

    Either a ``Channel`` or a matrix with a row an answer, a column a report, rows summing to 1.
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
    """Epsilon of several reports by one person: blocks, waves, or the same answer asked anew.

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
    """(epsilon, delta) for ``people`` persons at once, of a mechanism that has it for one.

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
    """The least chance to miss, for anybody who tests "the answer is no" against "it is yes".

    max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)); randomized response attains it
    (Wasserman & Zhou 2010; Kairouz, Oh & Viswanath 2015).
    """
    alpha, delta = probability("false_alarm", false_alarm), probability("delta", delta)
    factor = math.exp(-positive("epsilon", epsilon))
    steep = 1 - delta - alpha / factor if factor > 0 else (1 - delta if alpha == 0 else 0.0)
    return max(0.0, steep, factor * (1 - delta - alpha))


def least_errors(epsilon: float) -> float:
    """The least sum of both error probabilities of such a test, 2/(1 + e^epsilon)."""
    factor = math.exp(-positive("epsilon", epsilon))
    return 2 * factor / (1 + factor)


def shuffled(epsilon: float, n: int, delta: float, cells: int = 2) -> float:
    """Epsilon, at this delta, for readers of nothing but the tally of n reports.

    Each report is randomized response with ``epsilon`` over ``cells`` possible answers. For two
    cells the value is exact: the worst data set of the other n - 1 people. For more it is the
    smaller of two upper bounds, see ``_clones``. It holds for one publication; publishing again
    after every report tells the reports apart and gives ``epsilon``. Whoever collects the reports
    has ``epsilon`` in any case.
    """
    epsilon = positive("epsilon", epsilon, most=500)
    n = min(integer("n", n, minimum=1), ENOUGH)
    delta = strictly_between("delta", delta)
    if delta < 1e-100:
        raise ValueError(f"delta must be at least 1e-100, got {delta!r}")
    cells = integer("cells", cells, 2, LARGEST)
    if cells == 2:
        return _least_epsilon(_binary(epsilon, n, delta), epsilon, delta)
    factor = math.exp(-epsilon)
    rare = factor / (1 + (cells - 1) * factor)  # of any one other cell
    if rare == 0:
        return epsilon
    pair = rare / factor + rare
    return min(
        _least_epsilon(_clones(epsilon, n, delta, factor, 1.0, GROUPS), epsilon, delta),
        _least_epsilon(_clones(epsilon, n, delta, 2 * rare, pair, GROUPS), epsilon, delta),
    )


def manipulated(
    count: int, n: int, channel: Channel, forged: int, level: float = 0.95
) -> tuple[float, float]:
    """Limits for the share among honest people if up to ``forged`` of the n reports are forged.

    Whatever the forgers send, the other n - forged reports follow the channel and between
    count - forged and count of them say yes. The limits are exact and use nothing else.
    """
    count, n = counts(count, n)
    check_channel(channel)
    level = strictly_between("level", level)
    honest = n - counts(forged, n, ("forged", "n"))[0]
    if honest == 0:
        return 0.0, 1.0
    low, _ = interval(max(0, count - n + honest), honest, channel, level)
    _, high = interval(min(count, honest), honest, channel, level)
    return low, high


Intervals = Callable[[ArrayLike, ArrayLike, Channel, float], tuple[Floats, Floats]]
KINDS: dict[str, Intervals] = {"fixed": proportion.intervals, "always": sequence.intervals}


def manipulations(
    counts: ArrayLike,
    sizes: ArrayLike,
    channel: Channel,
    forged: float,
    level: float = 0.95,
    kind: str = "fixed",
) -> tuple[Floats, Floats]:
    """``manipulated`` of many counts of one channel at once, with a part ``forged`` of each size.

    ``kind`` "always" gives limits that hold at every look: forgers may come whenever they like,
    but the honest reports, in their order, are the sequence that those limits are about.
    """
    s, n = tallies(counts, sizes)
    check_channel(channel)
    forged, level = probability("forged", forged), strictly_between("level", level)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    bad = np.floor(n * forged * (1 + 2**-50))  # a tenth of 1000 is 100, whatever the rounding
    honest = np.maximum(n - bad, 1)
    fewest, most = np.clip(s - bad, 0, honest), np.minimum(s, honest)
    if not bad.any():
        return KINDS[kind](s.astype(int), n.astype(int), channel, level)
    lows, highs = KINDS[kind](
        np.stack([fewest, most]).astype(int), np.stack([honest, honest]).astype(int), channel, level
    )
    nobody = bad >= n
    return np.where(nobody, 0.0, lows[0]), np.where(nobody, 1.0, highs[1])


def forgery(share: float, channel: Channel, forged: float) -> tuple[float, float]:
    """How far a part ``forged`` of the reports can move the expected estimate, down and up.

    -forged lambda/c and +forged (1-lambda)/c: 1/c times what the same people could do by lying in
    a survey without noise (Cheu, Smith & Ullman 2021). Liars who use the real randomizer move it
    by ``forged`` at most.
    """
    share, forged = probability("share", share), probability("forged", forged)
    check_channel(channel)
    rate = channel.rate(share)
    return -forged * rate / channel.contrast, forged * (1 - rate) / channel.contrast


@dataclass(frozen=True, slots=True)
class Price:
    """What it costs to trust nobody: standard errors of one share from n reports.

    sampling   without any privacy.
    curator    with a trusted curator who adds Laplace noise of scale 1/epsilon to the true count.
    local      with reports randomized by the respondents themselves.
    people     how many times as many respondents local needs for the curator's precision.
    """

    sampling: float
    curator: float
    local: float
    people: float


def price(n: int, channel: Channel, share: float = 0.5, epsilon: float | None = None) -> Price:
    """The same epsilon with and without a trusted curator.

    The count of yes answers changes by 1 at most when one person's answer does, so the curator's
    share has variance pi(1-pi)/n + 2/(n epsilon)^2 (Dwork & Roth 2014). ``epsilon``
    is the channel's unless given: in a block the channel of one question alone has less.
    """
    n = counts(0, n)[1]
    check_channel(channel)
    share = probability("share", share)
    epsilon = positive("epsilon", channel.epsilon if epsilon is None else epsilon)
    sampling = share * (1 - share) / n
    rate = channel.rate(share)
    local = rate / channel.contrast * (1 - rate) / channel.contrast / n
    curator = sampling + 2 / (n * epsilon) ** 2
    # N people give the curator's precision when rate (1 - rate)/(N c^2) = curator.
    return Price(math.sqrt(sampling), math.sqrt(curator), math.sqrt(local), local / curator)


def positive(name: str, value: Any, most: float = FARTHEST) -> float:
    """``value`` as a float, refused by name unless it is above 0 and of a size to compute with."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real:
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not 1 / FARTHEST <= value <= most:
        bound = f" and at most {most:g}" if most < FARTHEST else ""
        raise ValueError(f"{name} must be positive, finite{bound}, got {value!r}")
    return float(value)


# --- beliefs, losses ----------------------------------------------------------------------------


def _bayes(prior: float, if_yes: float, if_no: float) -> float:
    """The posterior; a report that cannot happen under the prior leaves it as it is."""
    yes, no = prior * if_yes, (1 - prior) * if_no
    return yes / (yes + no) if yes + no > 0 else prior


def _log_ratio(numerator: Floats, denominator: Floats) -> float:
    return math.log(numerator / denominator) if numerator > 0 else -math.inf


def _loss_law(values: list[float]) -> tuple[Floats, Floats]:
    """The log ratio of independent randomized reports, and its law under one of the inputs."""
    sums, weights = np.zeros(1), np.ones(1)
    for value, times in sorted(Counter(values).items()):
        if len(sums) * (times + 1) > ATOMS:
            raise ValueError(f"losses must have fewer different values, got {len(values)} losses")
        _, law = _binomial(times, max(float(expit(-value)), 1e-300))
        signs = times - 2 * np.arange(times + 1)
        sums = np.add.outer(sums, value * signs).ravel()
        weights = np.multiply.outer(weights, law).ravel()
    return sums, weights


# --- shuffling ----------------------------------------------------------------------------------
#
# One person's report is yes with probability a or b = 1 - a, the count of the others has a
# log-concave law Q, and the count of all is P_yes(k) = a Q(k-1) + b Q(k) or P_no(k) = b Q(k-1) +
# a Q(k). Then P_no(k) > e^eps P_yes(k) for k up to some k* only, because Q(k-1)/Q(k) increases, and
#
#     delta(eps) = sum of P_no(k) - e^eps P_yes(k) over k <= k*
#                = (a - e^eps b) Q(k*) - (e^eps - 1) sum of Q(k) over k < k*.

Delta = Callable[[float], float]


def _least_epsilon(delta_of: Delta, epsilon: float, delta: float) -> float:
    if delta_of(0.0) <= delta:
        return 0.0
    return root(lambda e: delta_of(e) - delta, 0, epsilon, xtol=1e-14, rtol=1e-14)


def _odds(e: float, epsilon: float) -> tuple[float, float]:
    """a - e^e b, and the ratio Q(k-1)/Q(k) below which a count speaks for "no" by more than e."""
    b = 1 / (1 + math.exp(epsilon))
    # (a - e^e b)/(e^e a - b) with a = e^epsilon b, written so that no digits are lost.
    odds = math.exp(-e) * math.expm1(e - epsilon) / math.expm1(-e - epsilon)
    return b * math.exp(e) * math.expm1(epsilon - e), odds


def _binary(epsilon: float, n: int, delta: float) -> Delta:
    """Exact delta(e): the maximum over the number m of yes answers among the other n - 1 people.

    By symmetry only "no" has to be hidden. With more than ALL reports only m near 0 are looked at.
    Tilt the law, Q'(k) proportional to t^k Q(k), by the odds t: then k* is the mode of Q', less
    than 1 from its mean (Darroch 1964), and, for a geometric G, P(G = g) = (1-t) t^(g-1),

        delta = gain exp(-L) t^(mean' - k*) E[Q'(k*) - Q'(k* - G)].

    L, the divergence of the tilted reports from the reports, is linear in m and grows, for reports
    of yes, the likelier ones, resist more; the variance of Q' is linear in m and grows, too. Only
    k* - mean' goes up and down. With the worst real number in the place of k* - mean', delta fell
    in m in all cases tried (up to n = 10^8), so that no data set exceeds what m = 0 has then: for
    two coins, more than is found here by a part 1e-3 at n = 1000 and 3e-7 at n = 10^6. A search of
    all m at n = 1000, 2000 and 5000, epsilon from 0.02 to 8, found nothing more. How much of this
    is proved is in docs/statistics.md.
    """
    b = 1 / (1 + math.exp(epsilon))
    if n <= ALL:
        others = list(range(n))
    else:
        last = min(n - 1, max(FEW, math.ceil(min(8 * FEW, 4 / math.tanh(epsilon / 2)))))
        width = len(_binomial(n - 1, b, delta)[1])
        some = max(8, min(last + 1, int(WORK / (last * width))))
        others = sorted({round(m) for m in np.linspace(0, last, some)})
    laws = []
    for m in others:
        # The count of m reports of which each says no with probability b, from the other end.
        yes, no = _binomial(m, b)[1][::-1], _binomial(n - 1 - m, b, delta)[1]
        law = np.trim_zeros(np.convolve(yes, no))
        below, ratio = np.cumsum(law[:-1]), law[:-1] / law[1:]
        laws.append((law, *(np.concatenate([[0.0], each]) for each in (below, ratio))))

    def delta_of(e: float) -> float:
        if e >= epsilon:
            return 0.0
        gain, odds = _odds(e, epsilon)
        worst = 0.0
        for law, below, ratio in laws:
            k = max(0, int(np.searchsorted(ratio, odds)) - 1)
            worst = max(worst, gain * law[k] - math.expm1(e) * below[k])
        return worst

    return delta_of


def _clones(
    epsilon: float, n: int, delta: float, chance: float, pair: float, groups: int = LARGEST
) -> Delta:
    """Upper bound on delta(e) when each other report is a clone with at least this chance.

    This person's answer is x0 or x1. Somebody is told, besides the tally, which of the others are
    clones and what the rest reported; to know more never lowers delta, and delta of a mixture that
    is told apart is the mean of the deltas. A clone takes one of two values with probability 1/2
    each. Among C of them this person's report hides as a binary one does among C fair coins:

        delta(e) <= pair * mean of delta(e | Bin(C, 1/2)),    C ~ Bin(n - 1, chance).

    More clones hide better, so "at least this chance" is enough. Two ways to find clones:
    - Any randomizer with loss epsilon. R(x0) and R(x1) are the two mixtures of some laws T0 and T1
      that a binary report makes (Kairouz, Oh & Viswanath 2015). Every R(x) >= e^-epsilon R(x0), and
      likewise for x1, so R(x) contains T0/2 + T1/2 with weight ``chance`` = e^-epsilon (Feldman,
      McMillan & Talwar 2021). The improvement to 2/(e^epsilon + 1) that was published in 2023 holds
      for some randomizers only, says its erratum; it is not used.
    - Randomized response over cells, of which any wrong one comes with probability r. Whatever the
      answer, x0 and x1 are reported with probability r each at least: ``chance`` = 2r. This
      person's report is x0 or x1 with probability ``pair`` = r e^epsilon + r under both answers,
      and binary with loss epsilon then; otherwise its law is the same under both.
    """
    first, weights = _binomial(n - 1, min(chance, 1 - 2**-53), delta)
    size, weights = first + np.arange(len(weights), dtype=np.float64), pair * weights
    if len(weights) > groups:
        # So many numbers of clones, neighbours taken together as the fewest of them, are enough.
        step = math.ceil(len(weights) / groups)
        size, weights = size[::step], np.add.reduceat(weights, np.arange(0, len(weights), step))

    def delta_of(e: float) -> float:
        if e >= epsilon:
            return 0.0
        gain, odds = _odds(e, epsilon)
        # Bin(size, 1/2): Q(k-1)/Q(k) = k/(size - k + 1).
        k = np.clip(np.ceil(odds / (1 + odds) * (size + 1)) - 1, 0, size)
        before = _half_at_most(k - 1, size)
        parts = gain * (_half_at_most(k, size) - before) - math.expm1(e) * before
        return float(weights @ np.maximum(parts, 0))

    return delta_of


def _half_at_most(k: Floats, size: Floats) -> Floats:
    """P(Bin(size, 1/2) <= k) for -1 <= k <= size."""
    inside = (k >= 0) & (k < size)
    # The incomplete beta function wants positive arguments, also where its value is not used.
    value = betainc(np.where(inside, size - k, 1), np.where(inside, k + 1, 1), 0.5)
    return np.asarray(np.where(inside, value, (k >= size).astype(np.float64)))


def _binomial(n: int, p: float, tail: float = 0.0) -> tuple[int, Floats]:
    """The first count that matters, and the probabilities from there on: products from the mode.

    Left out is less than e^-40 of a ``tail`` of this probability (Bernstein's inequality).
    """
    mode, log = min(n, int((n + 1) * p)), 40 - math.log(tail) if tail else math.inf
    reach = log / 3 + math.sqrt(log**2 / 9 + 2 * n * p * (1 - p) * log) + 1
    first, last = int(max(0, mode - reach)), int(min(n, mode + reach))
    up, down = np.arange(mode, last), np.arange(mode, first, -1)
    law = np.concatenate(
        [
            np.cumprod(down / (n - down + 1) * ((1 - p) / p))[::-1],
            [1.0],
            np.cumprod((n - up) / (up + 1) * (p / (1 - p))),
        ]
    )
    return first, law / law.sum()
