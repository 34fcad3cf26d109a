"""Where a continuous function is zero."""

from collections.abc import Callable


def root(function: Callable[[float], float], low: float, high: float, **tolerances: float) -> float:
    """By Brent's method, between two places where the function differs in sign."""
    from scipy.optimize import brentq  # slow to load, and most processes do without

    return float(brentq(function, low, high, **tolerances))
