"""The price of trusting nobody.

References
    Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211 (the Laplace mechanism)
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import FARTHEST, counts, positive, probability
from aggregation.statistics.planning.levels import mean_variance


@dataclass(frozen=True, slots=True)
class Price:
    """The price of trusting nobody: standard errors of one share or mean from n reports.

    sampling   without any privacy.
    curator    with a trusted curator who adds Laplace noise to the true count or sum, of scale
               1/epsilon in what one person can change.
    local      with reports randomized by the respondents themselves.
    people     how many times as many respondents local needs for the curator's precision.
    """

    sampling: float
    curator: float
    local: float
    people: float


def price(n: int, channel: Channel, share: float = 0.5, epsilon: float | None = None) -> Price:
    """Compare the standard errors with and without a trusted curator, at the same epsilon.

    The count of yes answers changes by 1 at most when one person's answer does, so the curator's
    share has variance pi(1-pi)/n + 2/(n epsilon)^2 (Dwork & Roth 2014). ``epsilon``
    is the channel's unless given: in a block the channel of one question alone has less.
    """
    n = counts(0, n)[1]
    check_channel(channel)
    share = probability("share", share)
    epsilon = positive("epsilon", channel.epsilon if epsilon is None else epsilon)
    sampling = share * (1 - share) / n
    rate = channel.rate(share)
    local = rate / channel.contrast * (1 - rate) / channel.contrast / n
    curator = sampling + 2 / (n * epsilon) ** 2
    # N people give the curator's precision when rate (1 - rate)/(N c^2) = curator.
    return Price(math.sqrt(sampling), math.sqrt(curator), math.sqrt(local), local / curator)


def laplace_error(n: int, epsilon: float, least: float = 0.0, most: float = 1.0) -> float:
    """Return the standard error that a curator's Laplace noise adds to the mean of n answers.

    One answer between ``least`` and ``most`` changes the mean by (most - least)/n at most, so the
    noise has that over epsilon as its scale, and the root of 2 times it as its standard deviation.
    """
    n = counts(0, n)[1]
    span = _span(least, most)
    return math.sqrt(2) * span / n / positive("epsilon", epsilon)


def price_of_mean(
    n: int,
    epsilon: float,
    levels: int,
    least: float = 0.0,
    most: float = 1.0,
    deviation: float | None = None,
    others: int = 1,
) -> Price:
    """Compare the standard errors of a mean with and without a trusted curator.

    ``deviation`` is the standard deviation of the answers; without it half of them are taken to be
    at either end. Locally, numbers are rounded to ``levels`` levels above the least; ``others`` is
    the product of the numbers of options of the other questions in the block.
    """
    n = counts(0, n)[1]
    span = _span(least, most)
    noise = laplace_error(n, epsilon, least, most)
    part = None if deviation is None else positive("deviation", deviation, span / 2) / span
    variance = mean_variance(epsilon, levels, others, part) * span**2 / n
    sampling = (span * (0.5 if part is None else part)) ** 2 / n
    curator = sampling + noise**2
    return Price(math.sqrt(sampling), math.sqrt(curator), math.sqrt(variance), variance / curator)


def _span(least: Any, most: Any) -> float:
    for name, value in (("least", least), ("most", most)):
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not abs(value) <= FARTHEST / 4:
            raise ValueError(f"{name} must be a number, got {value!r}")
    if not least < most:
        raise ValueError(f"least must be below most, got {least!r} and {most!r}")
    return positive("most - least", most - least)
