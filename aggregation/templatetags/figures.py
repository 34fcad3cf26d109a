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
