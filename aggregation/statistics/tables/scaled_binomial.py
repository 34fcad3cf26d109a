"""Limits for a mean from those of a binomial rate on another scale.

If some people's answers move to an end of the range so that the mean m of the reports' scores
changes, their variance changes as C + k m - m^2 = (m-A)(B-m): that of a binomial rate (m-A)/(B-A).
Clopper and Pearson's limits for it are quantiles of beta distributions, for any real count. With
two levels A is 0, B is 1, and they are exact. Three things are added; ``mean.intervals`` covers at
least as often as it says in every case that was enumerated, and without one of them it does not.

- Half a count of their continuity correction is half the step by which sums of scores change: the
  largest gap between neighbouring scores that were reported, and more where gaps differ.
- How fast the variance changes is estimated, too: it is the third moment over the second. But
  values that nobody reported may be rare and not absent. So with few random reports near the end,
  where rare ones would be noticed least, k is that of people who all move to the end itself.
- The distances to the limits grow by 1/(4n), because the variance is estimated.

References
    Clopper & Pearson 1934, Biometrika 26:404 (exact limits for a rate)
    Johnson 1978, J. Am. Stat. Assoc. 73:536 (the third moment in limits for a mean)
"""

import numpy as np
from scipy.special import betaincinv

from aggregation.statistics.numeric.arguments import Floats
from aggregation.statistics.tables.grouped import divide
from aggregation.statistics.tables.scored import ScoredTable, Scores, tilts


def limits(reports: Floats, table: ScoredTable, alpha: float) -> tuple[Floats, Floats]:
    """Return limits for the mean of x for every tally, not kept in [0, 1]."""
    scores, n = table.scores, table.n
    means, squares = (part[:, 0] for part in table.likely[2:])
    _, h1, h2 = scores.chance
    c = scores.keep
    middle = h1 + c * means  # of the reports' scores, moved to what it can be
    step, natural = _step(reports, scores), _natural(table)
    ends = []
    for sign, farthest in zip((1, -1), tilts(squares, means), strict=True):
        slope = np.fmin(natural, farthest) if sign > 0 else np.fmax(natural, farthest)
        near = n * float(scores.stray @ (scores.x if sign > 0 else 1 - scores.x) ** 2)
        slope = slope + (farthest - slope) / (1 + near / 2)
        constant = h2 + c * (squares - slope * means) - slope * h1
        width = np.sqrt(np.maximum(slope**2 + 4 * constant, 1e-30))
        first = (slope - width) / 2
        count = np.clip(n * (middle - first) / width, 0.0, n)
        half = 0.5 + sign * step / (2 * width)
        above, below = count + half, n - count + 1 - half
        tail = 1 - alpha / 2 if sign > 0 else alpha / 2
        rate = betaincinv(np.maximum(above, 1e-9), np.maximum(below, 1e-9), tail)
        rate = np.where(below <= 0, 1.0, np.where(above <= 0, 0.0, rate))
        distance = (first + width * rate - middle) * np.sqrt(1 + 0.5 / n)
        ends.append(means + distance / c)
    return ends[1], ends[0]


def _step(reports: Floats, scores: Scores) -> Floats:
    """Return by how much sums of scores may change at once, for every tally."""
    x = np.unique(scores.x)
    gaps = np.diff(x)
    shown = np.stack([(reports[:, scores.x == each] > 0).any(axis=1) for each in x], axis=1)
    last = np.maximum.accumulate(np.where(shown, x, -1.0), axis=1)
    jumps = np.where(shown[:, 1:] & (last[:, :-1] >= 0), x[1:] - last[:, :-1], 0.0)
    largest = jumps.max(axis=1)
    step: Floats = np.where(largest > 0, largest, 1.0) + (gaps.max() - gaps.min())
    return step


def _natural(table: ScoredTable) -> Floats:
    """Return k if the variance changes by the third moment over the second, for every tally.

    nan where the estimate is at an end of the range or beyond it.
    """
    shares, x = table.reports[:, 0], table.scores.x
    mine = shares @ x
    away = x - mine[:, None]
    second, third = ((shares * away**power).sum(axis=1) for power in (2, 3))
    value = table.values[:, 0]
    known = (value > 0) & (value < 1) & (second > 0)
    return np.where(known, 2 * mine + divide(third, second, second > 0), np.nan)
