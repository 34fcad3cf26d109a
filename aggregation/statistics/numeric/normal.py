"""Quantiles of the normal distribution."""

from scipy.special import ndtri

from aggregation.statistics.numeric.arguments import strictly_between


def quantile(level: float) -> float:
    """Return how many standard errors a two-sided interval at this level reaches."""
    return -float(ndtri((1 - strictly_between("level", level)) / 2))
