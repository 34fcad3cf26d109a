"""Numbers as pages show them."""

import math

from django import template

from survey.design import Design
from survey.design.mechanism import SCALE

register = template.Library()


@register.filter
def percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace("-", "−").replace(" ", "\u202f")


@register.filter
def in_100(probability: float) -> str:
    """A probability as times in 100; never and always are said only where it is so."""
    count = round(100 * probability)
    if 0 < probability < 1 and count in (0, 100):
        return "less than 1" if count == 0 else "more than 99"
    return str(count)


@register.filter
def whole_percent(share: float) -> str:
    """A part of a whole; none and all are said only where it is so."""
    if 0 < share < 0.01:
        return "less than 1\u202f%"
    return "more than 99\u202f%" if 0.99 < share < 1 else f"{100 * share:.0f}\u202f%"


@register.filter
def two_digits(number: float) -> str:
    """An upper bound, rounded up."""
    digits = max(0, 1 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{math.ceil(number * 10**digits - 1e-6) / 10**digits:.{digits}f}"


@register.filter
def power_of_ten(number: float) -> str:
    """Such as 10⁻⁷, of a power of ten."""
    exponent = f"{math.log10(number):.0f}"
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


@register.filter
def forgers_reach(design: Design) -> float:
    """Percentage points that 1 in 100 forged reports can move an estimate: 1/(a - b) at most."""
    return max(SCALE / block.keep for block in design.blocks)


@register.filter
def thousands(count: float) -> str:
    return f"{count:,.0f}"


@register.filter
def plain(number: float) -> str:
    return f"{number:.6g}"


WIDEST = 0.5  # a half-width above this says nothing about a share


@register.filter
def half_width(share: float) -> str:
    """How far an interval reaches to either side, in percentage points."""
    return f"± {reach(share)}".replace("± > ", "> ± ").replace(" ", "\u202f")


@register.filter
def reach(share: float) -> str:
    """The same without a sign, for tables."""
    if share > WIDEST:
        return f"> {100 * WIDEST:g}"
    return f"{100 * share:.1f}" if share >= 0.01 else f"{100 * share:.2g}"


@register.filter
def times(factor: float) -> str:
    """How many times as many: two digits are as much as a plan is worth."""
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"


@register.filter
def hundred(share: float) -> str:
    """A share in percent, or an error in points, where the sign stands elsewhere."""
    return f"{100 * share:.1f}".replace("-", "−")


@register.filter
def decimal(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


@register.filter
def change(share: float) -> str:
    """A difference of shares in points, with its sign."""
    return f"{100 * share:+.1f}".replace("-", "−")


@register.filter
def grouped(number: float) -> str:
    return f"{number:,.1f}".replace("-", "−")


@register.filter
def p_value(probability: float) -> str:
    return "< 0.001" if probability < 0.001 else f"{probability:.3f}"


@register.filter
def p_words(probability: float) -> str:
    return f"p {p_value(probability)}" if probability < 0.001 else f"p = {p_value(probability)}"
