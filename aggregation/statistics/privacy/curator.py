"""The price of trusting nobody.

References
    Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211 (the Laplace mechanism)
"""

import math
from dataclasses import dataclass

from aggregation.statistics.channel import Channel, check_channel
from aggregation.statistics.numeric.arguments import counts, positive, probability


@dataclass(frozen=True, slots=True)
class Price:
    """The price of trusting nobody: standard errors of one share from n reports.

    sampling   without any privacy.
    curator    with a trusted curator who adds Laplace noise of scale 1/epsilon to the true count.
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
