"""QR codes of addresses, for pages."""

from typing import Any

import segno
from django.utils.safestring import SafeString


def qr_code(text: str, border: int = 4, **options: Any) -> SafeString:
    """Return a QR code as SVG, black on white in every colour scheme, so that cameras can read it.

    It has no style attribute, which the Content-Security-Policy would refuse.
    """
    look = {"dark": "#000", "light": "#fff", "svgclass": None, "lineclass": None}
    drawn = segno.make(text, error="m", micro=False).svg_inline(border=border, **look | options)
    return SafeString(drawn)  # noqa: S308  # made by segno
