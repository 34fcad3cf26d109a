"""Limits for a mean that hold at every look, by bets on the scores of the reports.

If the mean is R, then with v = 1 for a value that has a score and 0 for others, the number
d = (x - R) v - sum(b (x - R) v) of a report is 0 on average, b being the probability of each value
at random. Whoever stakes the part L of a fortune on d has prod(1 + L d) after all reports: a
martingale for every L that can lose no more than there is. So is the average over many L chosen
beforehand, and it exceeds 1/alpha at any time with probability alpha at most (Ville 1939). The
limits hold the R for which it is below that. Nothing is assumed about the answers, and the product
depends on the counts only.

The list of bets. Against a mean R' the best L is about c (R'-R)/V, V being the variance of d. V is
taken to be that of answers half way between all equal and all at the ends of the range. The bets on
either side go from the best against the end of the range (no answers make a larger one) down by
equal factors, and their weights are those of a normal density of variance 1/(k V): the counterpart
of ``sequence.interval``. An average over such a list is as good as one over all bets, because what
matters at n reports are bets of one size, give or take a quarter.

References
    Ville 1939, Etude critique de la notion de collectif
    Waudby-Smith & Ramdas 2024, J. R. Stat. Soc. B 86:1 (means of bounded numbers by betting)
    Waudby-Smith, Wu & Ramdas 2023, ICML (sequences for randomized reports)
"""

import math

import numpy as np

from aggregation.statistics.numeric.arguments import Floats
from aggregation.statistics.numeric.roots import elementwise_roots
from aggregation.statistics.tables.scored import Scores

FACTOR = 1.25  # between neighbouring bets
BETS = 64  # on either side: down to a millionth of the largest, which serves 10^12 reports
FARTHEST_BET = 8.0  # in standard deviations of the weights
SAFE = 1 - 2**-20  # of what can be lost


def log_wealth(R: Floats, reports: Floats, scores: Scores, k: float) -> Floats:
    """Return the log of the average fortune after these reports, if the mean is R, for each R."""
    c, (h0, h1, h2) = scores.keep, scores.chance
    mean = h1 - R * h0
    d = (scores.x - R[:, None]) * scores.scored - mean[:, None]
    part = 1.0 if scores.everybody else 0.75
    answers = part * (R - R**2) / 2
    variance = np.maximum(c * answers + h2 - 2 * R * h1 + R**2 * h0 - mean**2, 1e-12)
    steps = FACTOR ** -np.arange(BETS)
    bets, weights = [], []
    for sign, room in ((1.0, 1 - R), (-1.0, R)):
        worst = np.maximum((-sign * d).max(axis=1), 1e-100)
        most = np.minimum(c * part * room / variance, SAFE / worst)
        most = np.minimum(most, FARTHEST_BET / np.sqrt(k * variance))
        size = most[:, None] * steps
        bets.append(sign * size)
        weights.append(size * np.exp(-k * variance[:, None] * size**2 / 2))
    bet, weight = np.concatenate(bets, axis=1), np.concatenate(weights, axis=1)
    gains = np.log1p(bet[:, :, None] * d[:, None, :]) @ reports
    gains = np.where(weight > 0, gains, -np.inf)  # at an end of the range one side has no bets
    highest = gains.max(axis=1, keepdims=True)
    average = (weight * np.exp(gains - highest)).sum(axis=1) / weight.sum(axis=1)
    return np.asarray(highest[:, 0] + np.log(average))


def limits(
    reports: Floats, scores: Scores, bounded: float, k: float, alpha: float
) -> tuple[float, float]:
    """Return the R, from 0 to 1, between which the fortune stays below 1/alpha.

    It is at most 1 at ``bounded``, the estimate moved into the range: there every bet on the
    side of the range loses on average, so the limits are never empty.
    """
    bar = -math.log(alpha)
    start, ends = np.full(2, bounded), np.array([0.0, 1.0])
    at_ends = log_wealth(ends, reports, scores, k)
    least = log_wealth(start, reports, scores, k)
    found = np.where(at_ends > bar, start, ends)
    crosses = (at_ends > bar) & (start != ends)
    # The log of the fortune grows like a square, so its root like a line.
    floor = np.minimum(least, 0.0)

    def excess(R: Floats, floor: Floats) -> Floats:
        rise = np.maximum(log_wealth(R, reports, scores, k) - floor, 0.0)
        return np.sqrt(rise) - np.sqrt(bar - floor)

    if crosses.any():
        found[crosses] = elementwise_roots(excess, start[crosses], ends[crosses], floor[crosses])
    return float(found[0]), float(found[1])
