"""What randomization does to one yes/no answer."""

import math
import sys
from dataclasses import dataclass

from aggregation.statistics.numeric.arguments import probability


@dataclass(frozen=True, slots=True)
class Channel:
    """What one yes/no answer passes through: a = P(report yes | yes), b = P(report yes | not)."""

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, probability(name, getattr(self, name)))
        # A contrast below the smallest normal float would make estimates overflow.
        if not self.a - self.b >= sys.float_info.min:
            raise ValueError(f"a must exceed b, got a={self.a!r}, b={self.b!r}")

    @property
    def contrast(self) -> float:
        """c = a - b: how much of a difference in answers survives in the reports."""
        return self.a - self.b

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report: the larger of ln(a/b) and ln((1-b)/(1-a))."""
        rarest = min(self.b, 1 - self.a)
        return math.log1p(self.contrast / rarest) if rarest > 0 else math.inf

    def rate(self, share: float) -> float:
        """Return lambda, the probability that a report says yes at this share of yes answers."""
        return min(self.a, self.b + self.contrast * share)


def check_channel(value: object, name: str = "channel") -> None:
    """Refuse anything but a ``Channel``, by name."""
    if not isinstance(value, Channel):
        raise ValueError(f"{name} must be a Channel, got {value!r}")
