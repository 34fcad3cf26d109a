"""Privacy and tampering: what reports reveal, what tests can prove about it, and what it costs."""

from aggregation.statistics.privacy.auditing import audit, audit_limits
from aggregation.statistics.privacy.curator import Price, laplace_error, price, price_of_mean
from aggregation.statistics.privacy.forgeries import forgery, manipulated, manipulations
from aggregation.statistics.privacy.measures import (
    Posterior,
    composed,
    group,
    least_errors,
    loss,
    posterior,
    trade_off,
)
from aggregation.statistics.privacy.shuffling import shuffled

__all__ = [
    "Posterior",
    "Price",
    "audit",
    "audit_limits",
    "composed",
    "forgery",
    "group",
    "laplace_error",
    "least_errors",
    "loss",
    "manipulated",
    "manipulations",
    "posterior",
    "price",
    "price_of_mean",
    "shuffled",
    "trade_off",
]
