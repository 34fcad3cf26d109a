"""The horizontal axis and points of pictures, on pages and in files."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """A range of values, with the ticks that have a number."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    zero: float | None = None  # where “no difference” is

    def part(self, value: float) -> float:
        """Return the position of a value, from 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    @property
    def ends(self) -> tuple[str, str]:
        return signed(self.low), signed(self.high)


def signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


SHARES = Axis(0, 1, [(i / 4, f"{25 * i}\u00a0%") for i in range(5)])


@dataclass(frozen=True)
class Point:
    """An estimate, if there is one, and its interval.

    `open` points are circles: the interval reaches an end of what is possible, so that it is only a
    bound. `quiet` points are grey.
    """

    value: float | None
    low: float
    high: float
    open: bool = False
    quiet: bool = False


def nice(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers within these limits."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(s for s in (step, 2 * step, 5 * step, 10 * step) if (high - low) / s <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]
