"""Standard errors of a mean, and which part of them is due to what."""

import math

import numpy as np

from aggregation.statistics.numeric.arguments import Floats
from aggregation.statistics.tables.scored import ScoredTable, Scores


def errors(
    table: ScoredTable, n: int, population: int | None, rounded: bool
) -> tuple[float, float, float, float]:
    """Return the standard error, its parts from sampling and privacy, and that of n of infinity.

    With t the score of a value, or for a ratio the influence (x - R)/D of one, and y its mean over
    the reports, the mean variance of a report given its answer is

        V = (1-c) sum(f t^2) - 2 e y + c sum(b t^2) + e^2,    b = (1-c) h, e = sum(b t),

    without bias, because it is linear in the shares. It is (1-c) times the sum of a mean square and
    of c times a variance, so never negative. As for a share, Var = (V + (1-f)(S - V))/(n c^2).
    """
    scores, reports = table.scores, table.reports[0]
    c, b = scores.keep, scores.stray
    concerned = float(table.held[0][0])
    if scores.everybody:
        t, concerned = scores.x, 1.0
    elif concerned > 0:
        t = (scores.x - table.values[0]) * scores.scored / concerned
    else:
        return (math.nan,) * 4
    mean, square, e = float(reports @ t), float(reports @ t**2), float(b @ t)
    noise = max((1 - c) * square - 2 * e * mean + c * float(b @ t**2) + e * e, 0.0)
    if rounded:
        noise += c * c * rounding(reports, scores) / concerned**2
    unseen = 1.0 if population is None else 1 - n / population
    if n > 1:
        spread = max(square - mean**2, 0.0) * n / (n - 1)
    else:
        spread, unseen = float(np.ptp(t)) ** 2 / 4, math.ceil(unseen)
    between = unseen * (spread - noise)
    parts = max(noise + between, 0.0), max(between, 0.0), noise, spread
    whole, sampling, privacy, unlimited = (math.sqrt(part / n) / c for part in parts)
    return whole, sampling, privacy, unlimited


def rounding(reports: Floats, scores: Scores) -> float:
    """Return the largest variance that rounding at random may have added to the levels.

    A number at distances u and 1-u from its neighbours, in steps, has u (1-u), which is at most
    r^2 (1-u) + (1-r)^2 u for any r. With r^2 for even levels and (1-r)^2 for odd ones that is a sum
    over the levels' shares, and the best r makes it the product of the even and the odd part over
    their sum.
    """
    steps = np.unique(scores.x[scores.scored]).size - 1
    place = scores.x * steps
    if not np.allclose(place, np.rint(place), atol=1e-6):
        raise ValueError("levels must be equally spaced if they are rounded, got other gaps")
    shares = np.maximum((reports - scores.stray) / scores.keep, 0.0)
    odd = np.rint(place) % 2 == 1
    parts = [float(shares[scores.scored & which].sum()) for which in (odd, ~odd)]
    whole = sum(parts)
    return parts[0] * parts[1] / whole / steps**2 if whole > 0 else 0.0
