"""Numbers as pages show them."""

from django import template

register = template.Library()


@register.filter
def percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace("-", "−").replace(" ", "\u202f")


@register.filter
def points(share: float) -> str:
    """A standard error, in percentage points."""
    return f"{100 * share:.1f}"


@register.filter
def thousands(count: int) -> str:
    return f"{count:,}"


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
