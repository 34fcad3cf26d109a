"""Formats for numbers on pages and in pictures."""

import math
from collections.abc import Callable

from django import template

register = template.Library()


def _signed(text: str) -> str:
    return text.replace("-", "−").replace(" ", "\u202f")


@register.filter
def percent(share: float) -> str:
    return _signed(f"{100 * share:.1f} %")


NONE = "–"  # instead of a number, where there are too few to tell


def one_sided(low: float, high: float, ends: tuple[float, float] = (0.0, 1.0)) -> bool:
    """Return whether a limit of an interval is at an end of what is possible."""
    return low <= ends[0] or high >= ends[1]


def headline(
    value: float | None,
    low: float,
    high: float,
    ends: tuple[float, float] = (0.0, 1.0),
    words: Callable[[float], str] = percent,
) -> str:
    """Return an estimate, or a bound if its interval reaches an end of what is possible.

    Nobody reads that a share is 0 or 100 %, which no noisy count can show. "–" if the interval
    covers everything.
    """
    least, most = ends
    if value is None or (low <= least and high >= most):
        return NONE
    shown, smallest = words(value), (most - least) / 1000
    if low <= least or shown == words(least):
        return f"below {words(max(high, least + smallest))}"
    if high >= most or shown == words(most):
        return f"above {words(min(low, most - smallest))}"
    return shown


@register.filter
def in_100(probability: float) -> str:
    """Return how often in 100, without rounding to never or always."""
    count = round(100 * probability)
    if 0 < probability < 1 and count in (0, 100):
        return "less than 1" if count == 0 else "more than 99"
    return str(count)


@register.filter
def whole_percent(share: float) -> str:
    """Return a share in whole percent, without rounding to none or all."""
    if 0 < share < 0.01:
        return "less than 1\u202f%"
    return "more than 99\u202f%" if 0.99 < share < 1 else f"{100 * share:.0f}\u202f%"


@register.filter
def two_digits(number: float) -> str:
    """Return an upper bound with two digits, rounded up."""
    digits = max(0, 1 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{math.ceil(number * 10**digits - 1e-6) / 10**digits:.{digits}f}"


@register.filter
def power_of_ten(number: float) -> str:
    """Return a power of ten, such as 10⁻⁷."""
    exponent = f"{math.log10(number):.0f}"
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


@register.filter
def thousands(count: float) -> str:
    return f"{count:,.0f}"


@register.filter
def plain(number: float) -> str:
    return f"{number:.6g}"


WIDEST = 0.5  # a half-width above this says nothing about a share


@register.filter
def half_width(share: float) -> str:
    """Return how far an interval reaches to either side, in percentage points."""
    return f"± {reach(share)}".replace("± > ", "> ± ").replace(" ", "\u202f")


@register.filter
def reach(share: float) -> str:
    """Return the same without a sign, for tables."""
    if share > WIDEST:
        return f"> {100 * WIDEST:g}"
    return f"{100 * share:.1f}" if share >= 0.01 else f"{100 * share:.2g}"


@register.filter
def times(factor: float) -> str:
    """Return a factor with two digits, because a plan is no more exact."""
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"


@register.filter
def hundred(share: float) -> str:
    """Return a share in percent, or an error in points, without the unit."""
    return _signed(f"{100 * share:.1f}")


@register.filter
def decimal(number: float) -> str:
    return _signed(f"{number:.2f}")


@register.filter
def change(share: float) -> str:
    """Return a difference of shares in points, with its sign."""
    return _signed(f"{100 * share:+.1f}")


@register.filter
def grouped(number: float) -> str:
    return _signed(f"{number:,.1f}")


def fixed(number: float, digits: int) -> str:
    """Return a number with this many decimals, and with commas between thousands."""
    return _signed(f"{number:,.{digits}f}")


def fixed_change(number: float, digits: int) -> str:
    """Return a difference like a fixed number, with its sign."""
    return _signed(f"{number:+,.{digits}f}")


@register.filter
def p_value(probability: float) -> str:
    return "< 0.001" if probability < 0.001 else f"{probability:.3f}"


@register.filter
def p_words(probability: float) -> str:
    return f"p {'' if probability < 0.001 else '= '}{p_value(probability)}"
