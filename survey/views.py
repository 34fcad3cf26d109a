"""The page that a respondent opens."""

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe


@cache
def shell() -> bytes:
    return render_to_string("respond.html").encode()


@require_safe
def respond(request: HttpRequest, slug: str) -> HttpResponse:
    """The same bytes for every survey and every visitor; its script fetches the definition."""
    return HttpResponse(
        shell(), headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )
