"""Pictures of estimates, drawn on the server as SVG.

A picture is a row's track: whisker for the interval, dot for the estimate, in percent of the track,
so that it fits any width and the words stay real text beside it. Colours come from the page's CSS;
no style attribute, because the Content-Security-Policy allows none.
"""

from django.utils.html import format_html
from django.utils.safestring import SafeString

HEIGHT = 28
MIDDLE = HEIGHT // 2


def dot_and_whisker(value: float, low: float, high: float, description: str) -> SafeString:
    """The track of one estimate on [0, 1]: `value` is the bounded one."""
    return format_html(
        '<svg class="track" width="100%" height="{h}" role="img" aria-label="{text}">'
        '<line class="axis" x1="0%" x2="100%" y1="{m}" y2="{m}"/>'
        '<line class="whisker" x1="{low}%" x2="{high}%" y1="{m}" y2="{m}"/>'
        '<line class="cap" x1="{low}%" x2="{low}%" y1="{top}" y2="{bottom}"/>'
        '<line class="cap" x1="{high}%" x2="{high}%" y1="{top}" y2="{bottom}"/>'
        '<circle class="dot" cx="{value}%" cy="{m}" r="6"/></svg>',
        h=HEIGHT,
        m=MIDDLE,
        top=MIDDLE - 5,
        bottom=MIDDLE + 5,
        low=_percent(low),
        high=_percent(high),
        value=_percent(value),
        text=description,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"
