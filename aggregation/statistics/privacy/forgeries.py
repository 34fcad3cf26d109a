"""What forged reports can do to an estimate.

References
    Cheu, Smith & Ullman 2021, J. Priv. Confid. (manipulation of local reports)
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from aggregation.statistics import proportion, sequence
from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import (
    Floats,
    counts,
    one_of,
    probability,
    strictly_between,
    tallies,
)
from aggregation.statistics.proportion import interval


def manipulated(
    count: int, n: int, channel: Channel, forged: int, level: float = 0.95
) -> tuple[float, float]:
    """Return limits for the share among honest people if up to ``forged`` of n reports are forged.

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
    """Return ``manipulated`` of many counts, with a part ``forged`` of each size.

    ``kind`` "always" gives limits that hold at every look. Forgers may come at any time, because
    these limits are about the sequence of the honest reports.
    """
    s, n = tallies(counts, sizes)
    check_channel(channel)
    forged, level = probability("forged", forged), strictly_between("level", level)
    intervals = KINDS[one_of("kind", kind, KINDS)]
    bad = np.floor(n * forged * (1 + 2**-50))  # a tenth of 1000 is 100, whatever the rounding
    honest = np.maximum(n - bad, 1)
    fewest, most = np.clip(s - bad, 0, honest), np.minimum(s, honest)
    if not bad.any():
        return intervals(s.astype(int), n.astype(int), channel, level)
    lows, highs = intervals(
        np.stack([fewest, most]).astype(int), np.stack([honest, honest]).astype(int), channel, level
    )
    nobody = bad >= n
    return np.where(nobody, 0.0, lows[0]), np.where(nobody, 1.0, highs[1])


def forgery(share: float, channel: Channel, forged: float) -> tuple[float, float]:
    """Return how far a part ``forged`` of the reports can move the expected estimate, down and up.

    -forged lambda/c and +forged (1-lambda)/c: 1/c times what the same people could do by lying in
    a survey without noise (Cheu, Smith & Ullman 2021). Liars who use the real randomizer move it
    by ``forged`` at most.
    """
    share, forged = probability("share", share), probability("forged", forged)
    check_channel(channel)
    rate = channel.rate(share)
    return -forged * rate / channel.contrast, forged * (1 - rate) / channel.contrast
