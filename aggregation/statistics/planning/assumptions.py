"""What every plan assumes: a rate of yes reports, a level, and who drops out or forges."""

import math

from aggregation.statistics.channel import Channel
from aggregation.statistics.numeric.arguments import (
    LARGEST,
    counts,
    integer,
    probability,
)


def report_rate(channel: Channel, share: float | None) -> float:
    """Return lambda; without a share the one nearest to 1/2, which has the largest variance."""
    if share is None:
        return min(max(0.5, channel.b), channel.a)
    return channel.rate(probability("share", share))


def fraction(name: str, value: float) -> float:
    """Return ``value`` as a float; refuse it by name unless it is at least 0 and below 1."""
    result = probability(name, value)
    if result == 1:
        raise ValueError(f"{name} must be below 1, got {value!r}")
    return result


def rounded_up(n: float) -> int:
    """Round up to whole people, but not for a rounding error."""
    if not n <= LARGEST:
        raise ValueError(f"half_width or shares must need at most {LARGEST} people, got {n:.3g}")
    return max(1, math.ceil(n * (1 - 1e-12)))


def reports_after(n: int, dropout: float, name: str = "n") -> int:
    """Return how many of n people report; refuse n by name if nobody does."""
    n = counts(0, n, ("count", name))[1]
    left = math.floor(n * (1 - fraction("dropout", dropout)) + 1e-9)
    if left < 1:
        raise ValueError(f"{name} must leave somebody after dropout={dropout!r}, got {n}")
    return left


def options_and_cells(options: int, cells: int | None) -> tuple[int, int]:
    """Return both as ints; by default a block has one cell for each option."""
    options = integer("options", options, 2, LARGEST)
    return options, options if cells is None else integer("cells", cells, options, LARGEST)
