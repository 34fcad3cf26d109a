"""To how many levels a number is rounded, and how precise its mean is.

A number from ``least`` to ``most`` is rounded at random to one of G + 1 levels at equal distances,
without bias, and a report keeps the level with probability c = (e^epsilon - 1)/(e^epsilon - 1 + K),
K = others (G + 1), or shows a random one. ``others`` is the product of the numbers of options of
the other questions in its block. Everything here is in parts of the range most - least.

References
    Duchi, Jordan & Wainwright 2018, J. Am. Stat. Assoc. 113:182 (one bit for a mean)
    Wang et al. 2019, IEEE ICDE 35:638 (numbers under local privacy)
"""

import math

from aggregation.statistics.numeric.arguments import counts, integer, positive
from aggregation.statistics.numeric.normal import quantile

MOST_CELLS = 2**20
MOST_LEVELS = 1000  # above the least one


def mean_variance(
    epsilon: float, levels: int, others: int = 1, deviation: float | None = None
) -> float:
    """Return n times the variance of a mean with ``levels`` levels above the least.

    ``deviation`` is the standard deviation of the answers, in parts of the range; without it the
    worst is taken, half of the people at either end. Otherwise the mean is taken to be in the
    middle, where reports vary most, and rounding to add what it can add at most, 1/(4 G^2).
    """
    epsilon, levels, others = _checked(epsilon, levels, others)
    c = _kept(epsilon, levels, others)
    if deviation is None:
        square = 0.5
    else:
        square = min(0.25 + positive("deviation", deviation, 0.5) ** 2 + 0.25 / levels**2, 0.5)
    # The second moment of a random level, less the square of the mean of all reports.
    return square / c + (1 - c) * (2 * levels + 1) / (6 * levels) / c**2 - 0.25 / c**2


def noise_variance(epsilon: float, levels: int, others: int = 1) -> float:
    """Return n times the variance that rounding and randomizing add to a mean, at worst.

    If all answers are x, measured from the middle, the reports have the second moment
    c (x^2 + rounding) + (1-c) r and the mean c x. Between two levels rounding adds the product of
    the distances to both, and the sum is a parabola with its peak at their middle over c.
    """
    epsilon, levels, others = _checked(epsilon, levels, others)
    c = _kept(epsilon, levels, others)
    random = (levels + 2) / (12 * levels)  # the mean square of a random level, from the middle
    worst = 0.0
    for step in range(levels):
        low, high = step / levels - 0.5, (step + 1) / levels - 0.5
        x = min(max((low + high) / 2 / c, low), high)
        square = x**2 + (x - low) * (high - x)
        worst = max(worst, c * square + (1 - c) * random - (c * x) ** 2)
    return worst / c**2


def best_levels(epsilon: float, others: int = 1) -> int:
    """Return how many levels above the least leave the least noise at worst.

    1 up to an epsilon of ln 3 for a number on its own, then 2 up to 2.534, 3 up to 3.473 and 4 up
    to 4.188: more levels are rounded to more finely but kept less often.
    """
    epsilon, _, others = _checked(epsilon, 1, others)
    best, least = 1, noise_variance(epsilon, 1, others)
    for levels in range(2, min(MOST_LEVELS, MOST_CELLS // others - 1) + 1):
        # Less than the random levels alone add, which grows with their number, it cannot be.
        c = _kept(epsilon, levels, others)
        if (1 - c) / (12 * c**2) > least:
            break
        variance = noise_variance(epsilon, levels, others)
        if variance < least * (1 - 1e-12):
            best, least = levels, variance
    return best


def half_width_of_mean(
    n: int,
    epsilon: float,
    levels: int | None = None,
    others: int = 1,
    deviation: float | None = None,
    level: float = 0.95,
) -> float:
    """Return how far the interval for a mean reaches to either side, in parts of the range.

    Without ``levels`` the best number of them is taken. The normal approximation; the interval of
    ``mean.estimate`` is a little wider.
    """
    n = counts(0, n)[1]
    if levels is None:
        levels = best_levels(epsilon, others)
    variance = mean_variance(epsilon, levels, others, deviation)
    return quantile(level) * math.sqrt(variance / n)


def _kept(epsilon: float, levels: int, others: int) -> float:
    """Return c."""
    try:
        more = math.expm1(epsilon)
    except OverflowError:
        return 1.0
    return more / (more + others * (levels + 1))


def _checked(epsilon: object, levels: object, others: object) -> tuple[float, int, int]:
    levels = integer("levels", levels, 1, MOST_LEVELS)
    others = integer("others", others, 1, MOST_CELLS // (levels + 1))
    return positive("epsilon", epsilon), levels, others
