"""Channels that the tests of statistics share."""

import math

from aggregation.statistics.proportion import Channel

TWO_COINS = Channel(0.75, 0.25)
FORCED = Channel(0.79, 0.09)
NO_NOISE = Channel(1, 0)


def warner(epsilon: float) -> Channel:
    """Return the channel of symmetric randomized response with this loss."""
    a = 1 / (1 + math.exp(-epsilon))
    return Channel(a, 1 - a)
