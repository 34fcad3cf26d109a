"""What readers can learn if they see only a tally.

One person's report is yes with probability a or b = 1 - a, the count of the others has a
log-concave law Q, and the count of all is P_yes(k) = a Q(k-1) + b Q(k) or P_no(k) = b Q(k-1) +
a Q(k). Then P_no(k) > e^eps P_yes(k) for k up to some k* only, because Q(k-1)/Q(k) increases, and

    delta(eps) = sum of P_no(k) - e^eps P_yes(k) over k <= k*
               = (a - e^eps b) Q(k*) - (e^eps - 1) sum of Q(k) over k < k*.

References
    Feldman, McMillan & Talwar 2021, FOCS (shuffling: hiding among clones)
    Darroch 1964, Ann. Math. Stat. 35:1317 (the mode of a sum of unequal trials)
"""

import math
from collections.abc import Callable

import numpy as np

from aggregation.statistics.numeric.arguments import LARGEST, integer, positive, strictly_between
from aggregation.statistics.numeric.binomial import binomial_law, cdf
from aggregation.statistics.numeric.roots import root

ALL = 500  # up to this many reports, every data set of the other people is examined
FEW = 64  # beyond, those with up to this many yes answers, or 8 times as many if noise is strong,
WORK = 6e8  # and only some of them if all would take more than about a second
GROUPS = 1024  # of numbers of clones: more would change epsilon by less than a part in 10,000
ENOUGH = 10**9  # more reports hide a person better, so the result for this many holds for them

Delta = Callable[[float], float]


def shuffled(epsilon: float, n: int, delta: float, cells: int = 2) -> float:
    """Return epsilon, at this delta, for readers of nothing but the tally of n reports.

    Each report is randomized response with ``epsilon`` over ``cells`` possible answers. For two
    cells the value is exact: the worst data set of the other n - 1 people. For more it is the
    smaller of two upper bounds, see ``clones_bound``. It holds for one publication; publishing
    again after every report tells the reports apart and gives ``epsilon``. The operator, who
    collects the reports, has ``epsilon`` in any case.
    """
    epsilon = positive("epsilon", epsilon, most=500)
    n = min(integer("n", n, minimum=1), ENOUGH)
    delta = strictly_between("delta", delta)
    if delta < 1e-100:
        raise ValueError(f"delta must be at least 1e-100, got {delta!r}")
    cells = integer("cells", cells, 2, LARGEST)
    if cells == 2:
        return least_epsilon(_binary(epsilon, n, delta), epsilon, delta)
    factor = math.exp(-epsilon)
    rare = factor / (1 + (cells - 1) * factor)  # of any one other cell
    if rare == 0:
        return epsilon
    pair = rare / factor + rare
    return min(
        least_epsilon(clones_bound(epsilon, n, delta, factor, 1.0, GROUPS), epsilon, delta),
        least_epsilon(clones_bound(epsilon, n, delta, 2 * rare, pair, GROUPS), epsilon, delta),
    )


def least_epsilon(delta_of: Delta, epsilon: float, delta: float) -> float:
    """Return where delta(e) comes down to ``delta``, between 0 and ``epsilon``."""
    if delta_of(0.0) <= delta:
        return 0.0
    return root(lambda e: delta_of(e) - delta, 0, epsilon, xtol=1e-14, rtol=1e-14)


def _odds(e: float, epsilon: float) -> tuple[float, float]:
    """Return a - e^e b, and the ratio Q(k-1)/Q(k) below which "no" is likelier by more than e."""
    b = 1 / (1 + math.exp(epsilon))
    # (a - e^e b)/(e^e a - b) with a = e^epsilon b, written so that no digits are lost.
    odds = math.exp(-e) * math.expm1(e - epsilon) / math.expm1(-e - epsilon)
    return b * math.exp(e) * math.expm1(epsilon - e), odds


def _binary(epsilon: float, n: int, delta: float) -> Delta:
    """Return exact delta(e): the maximum over how many (m) of the other n - 1 people say yes.

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
        width = len(binomial_law(n - 1, b, delta)[1])
        some = max(8, min(last + 1, int(WORK / (last * width))))
        others = sorted({round(m) for m in np.linspace(0, last, some)})
    laws = []
    for m in others:
        # The count of m reports of which each says no with probability b, from the other end.
        yes, no = binomial_law(m, b)[1][::-1], binomial_law(n - 1 - m, b, delta)[1]
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


def clones_bound(
    epsilon: float, n: int, delta: float, chance: float, pair: float, groups: int = LARGEST
) -> Delta:
    """Return an upper bound on delta(e) if each other report is a clone with this chance or more.

    This person's answer is x0 or x1. Suppose that readers also know which of the others are clones
    and what the rest reported: to know more never lowers delta, and delta of a mixture whose part
    is known is the mean of the deltas. A clone takes one of two values with probability 1/2
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
    first, weights = binomial_law(n - 1, min(chance, 1 - 2**-53), delta)
    size, weights = first + np.arange(len(weights), dtype=np.float64), pair * weights
    if len(weights) > groups:
        # Taking neighbours together as the smallest of them is enough.
        step = math.ceil(len(weights) / groups)
        size, weights = size[::step], np.add.reduceat(weights, np.arange(0, len(weights), step))

    def delta_of(e: float) -> float:
        if e >= epsilon:
            return 0.0
        gain, odds = _odds(e, epsilon)
        # Bin(size, 1/2): Q(k-1)/Q(k) = k/(size - k + 1).
        k = np.clip(np.ceil(odds / (1 + odds) * (size + 1)) - 1, 0, size)
        before = cdf(k - 1, size, 0.5)
        parts = gain * (cdf(k, size, 0.5) - before) - math.expm1(e) * before
        return float(weights @ np.maximum(parts, 0))

    return delta_of
