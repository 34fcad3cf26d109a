"""What an experiment can prove about a randomizer.

References
    Jagielski, Ullman & Oprea 2020, NeurIPS 33 (lower bounds from Clopper-Pearson limits)
"""

import math

from aggregation.statistics.numeric.arguments import Floats, counts, strictly_between
from aggregation.statistics.numeric.binomial import lower_limit, upper_limit


def audit(k1: int, n1: int, k0: int, n0: int, alpha: float = 0.05) -> float:
    """Return a lower bound on a randomizer's epsilon that is wrong with probability <= alpha.

    ``k1`` of ``n1`` reports say yes when the answer is yes, ``k0`` of ``n0`` when it is no. Epsilon
    is at least ln(p1/p0) and ln((1-p0)/(1-p1)); the same two one-sided limits at alpha/2, p1 from
    below and p0 from above, serve both. More than the declared epsilon refutes it; less proves
    nothing. To find a randomizer that reports the opposite answer, exchange the two samples.
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


def audit_limits(k1: int, n1: int, k0: int, n0: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return a lower and an upper bound on epsilon, each wrong with probability <= alpha.

    The lower one is that of ``audit``. The upper one uses the opposite limits. It is about these
    inputs only: no experiment can show that there are no worse ones.
    """
    low = audit(k1, n1, k0, n0, alpha)
    each = alpha / 2
    pairs = [(k1, n1, k0, n0), (n0 - k0, n0, n1 - k1, n1)]
    pairs += [(k0, n0, k1, n1), (n1 - k1, n1, n0 - k0, n0)]
    high = max(
        -_log_ratio(lower_limit(kb, nb, each), upper_limit(ka, na, each))
        for ka, na, kb, nb in pairs
    )
    return low, high


def _log_ratio(numerator: Floats, denominator: Floats) -> float:
    return math.log(numerator / denominator) if numerator > 0 else -math.inf
