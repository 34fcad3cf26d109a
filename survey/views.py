"""The pages that handle answers: constant shells with strict headers, and the hashes of it all."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from survey import manifest

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",  # a shell narrows it to the hashes of its modules
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",  # answers are read by script; the forms themselves go nowhere
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
# What a page could ask a browser for: none of it is wanted. Writing to the clipboard is left alone,
# for a button that copies.
FEATURES = (
    "accelerometer attribution-reporting autoplay browsing-topics camera clipboard-read "
    "compute-pressure cross-origin-isolated display-capture encrypted-media fullscreen gamepad "
    "geolocation gyroscope hid identity-credentials-get idle-detection join-ad-interest-group "
    "keyboard-map local-fonts magnetometer microphone midi otp-credentials payment "
    "picture-in-picture private-aggregation publickey-credentials-create "
    "publickey-credentials-get run-ad-auction screen-wake-lock serial shared-storage "
    "storage-access sync-xhr usb window-management xr-spatial-tracking"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in FEATURES.split()),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def sealed(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Nothing comes from elsewhere, nothing is kept, and no cookie is read or set."""

    # Compressed, because phones are slow; there is no secret here that its length could betray.
    # Not the attributes of an API view: the API's description lists that one already.
    @gzip_page
    @wraps(view, updated=())
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        request.COOKIES = {}  # else the cookie of a broken session would be deleted: Set-Cookie
        response = view(request, *args, **kwargs)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    return wrapped


@cache
def files() -> dict[str, bytes]:
    return manifest.files(staticfiles_storage)  # type: ignore[arg-type]  # it stands for the real one


@cache
def published() -> bytes:
    return manifest.manifest(files())


@sealed
@require_safe
def respond(request: HttpRequest, slug: str = "") -> HttpResponse:
    """The same bytes for every survey and every visitor; its script fetches the definition."""
    return HttpResponse(files()["/s/"])


@sealed
@require_safe
def verify(request: HttpRequest) -> HttpResponse:
    return HttpResponse(files()["/verify/"])


@sealed
@require_safe
def hashes(request: HttpRequest) -> HttpResponse:
    return HttpResponse(published(), content_type="application/json")
