"""What reports give away: how far one can move a belief, and what an experiment can prove.

Statements about privacy only; estimates of shares live in ``proportion``.

References
    Dwork & Roth 2014, Found. Trends Theor. Comput. Sci. 9:211 (bounded change of the odds)
    Jagielski, Ullman & Oprea 2020, NeurIPS 33 (lower bounds from Clopper-Pearson limits)
"""

import math
from typing import NamedTuple

from aggregation.statistics.proportion import (
    Channel,
    check_channel,
    counts,
    lower_limit,
    probability,
    strictly_between,
    upper_limit,
)


class Posterior(NamedTuple):
    """The probability of a yes answer once its report is known to be yes, or to be no."""

    positive: float
    negative: float


def posterior(prior: float, channel: Channel) -> Posterior:
    """What somebody who believed ``prior`` should believe after each of the two reports.

    The odds change by a factor between exp(-epsilon) and exp(epsilon), whatever the prior.
    """
    prior = probability("prior", prior)
    check_channel(channel)
    return Posterior(
        positive=_bayes(prior, channel.a, channel.b),
        negative=_bayes(prior, 1 - channel.a, 1 - channel.b),
    )


def audit(k1: int, n1: int, k0: int, n0: int, alpha: float = 0.05) -> float:
    """Lower bound on a randomizer's epsilon from an experiment, wrong with probability <= alpha.

    ``k1`` of ``n1`` reports say yes when the answer is yes, ``k0`` of ``n0`` when it is no. Epsilon
    is at least ln(p1/p0) and ln((1-p0)/(1-p1)); the same two one-sided limits at alpha/2, p1 from
    below and p0 from above, serve both. More than the declared epsilon refutes it; less proves
    nothing. A randomizer that answers the wrong way round shows with the arms exchanged.
    """
    k1, n1 = counts(k1, n1, ("k1", "n1"))
    k0, n0 = counts(k0, n0, ("k0", "n0"))
    each = strictly_between("alpha", alpha) / 2
    return max(
        0.0,
        _log_ratio(lower_limit(k1, n1, each), upper_limit(k0, n0, each)),
        # The complements 1 - p, as limits for the no reports: no digits are lost near 1.
        _log_ratio(lower_limit(n0 - k0, n0, each), upper_limit(n1 - k1, n1, each)),
    )


def _bayes(prior: float, if_yes: float, if_no: float) -> float:
    """The posterior; a report that cannot happen under the prior leaves it as it is."""
    yes, no = prior * if_yes, (1 - prior) * if_no
    return yes / (yes + no) if yes + no > 0 else prior


def _log_ratio(numerator: float, denominator: float) -> float:
    return math.log(numerator / denominator) if numerator > 0 else -math.inf
