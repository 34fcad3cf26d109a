"""What randomization does to one yes/no answer."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aggregation.statistics.numeric.arguments import probability


@dataclass(frozen=True, slots=True)
class Channel:
    """The channel of a yes/no answer: a = P(report yes | yes), b = P(report yes | not yes)."""

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
        """c = a - b: how much of a difference in answers remains in the reports."""
        return self.a - self.b

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report: the larger of ln(a/b) and ln((1-b)/(1-a))."""
        rarest = min(self.b, 1 - self.a)
        return math.log1p(self.contrast / rarest) if rarest > 0 else math.inf

    def rate(self, share: float) -> float:
        """Return lambda, the probability that a report says yes at this share of yes answers."""
        return min(self.a, self.b + self.contrast * share)


def channels_of(channel: Channel | Sequence[Channel], number: int, each: str) -> list[Channel]:
    """Return a list of one channel, or of one for each; refuse any other number."""
    channels = list(channel) if isinstance(channel, Sequence | np.ndarray) else [channel]
    for one in channels:
        check_channel(one)
    if len(channels) not in (1, number):
        raise ValueError(f"channel must be one, or one for each {each}, got {len(channels)}")
    return channels


def check_channel(value: object, name: str = "channel") -> None:
    """Refuse anything but a ``Channel``, by name."""
    if not isinstance(value, Channel):
        raise ValueError(f"{name} must be a Channel, got {value!r}")
