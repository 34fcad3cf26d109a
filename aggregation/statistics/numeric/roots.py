"""Where a continuous function is zero."""

from collections.abc import Callable

import numpy as np

from aggregation.statistics.numeric.arguments import Floats


def root(function: Callable[[float], float], low: float, high: float, **tolerances: float) -> float:
    """Find a root by Brent's method, between two places where the function differs in sign."""
    from scipy.optimize import brentq  # slow to load, and most processes do without

    return float(brentq(function, low, high, **tolerances))


def elementwise_roots(
    function: Callable[..., Floats],
    low: Floats,
    high: Floats,
    *arguments: Floats,
    ends: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Find a root of function(x, *arguments) for each element, between ``low`` and ``high``.

    The function has opposite signs at these ends, and ``ends`` are its values there, if known. Each
    step is a secant that keeps the root between its ends; an end that stays twice gets half its
    value, so that it moves next time (the Illinois rule).
    """
    stays, x = low, high
    far, value = ends or (function(low, *arguments), function(high, *arguments))
    found, rest, others = high.copy(), np.arange(high.size), list(arguments)
    for _ in range(200):
        wide = (np.abs(x - stays) > 1e-14 * np.abs(x)) & (value != 0)
        if not wide.any():
            break
        if not wide.all():
            rest, stays, far, x, value = (each[wide] for each in (rest, stays, far, x, value))
            others = [each[wide] for each in others]
        step = value / (value - far) * (x - stays)
        # Once at the root, a last step crosses it.
        step = np.copysign(np.maximum(np.abs(step), 4e-15 * np.abs(x)), step)
        before, last, x = x, value, x - step
        value = function(x, *others)
        crossed = (value < 0) != (last < 0)
        stays, far = np.where(crossed, before, stays), np.where(crossed, last, far / 2)
        found[rest] = x
    return found
