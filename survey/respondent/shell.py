"""The pages that handle answers: constant shells with strict headers, and their manifest."""

from collections.abc import Callable
from functools import cache

from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from survey.api import definitions
from survey.respondent import manifest

# Browser features to disable: all that a page could ask for. clipboard-write is not among them,
# because there is a button that copies.
FEATURES = (
    "accelerometer attribution-reporting autoplay browsing-topics camera captured-surface-control "
    "clipboard-read compute-pressure cross-origin-isolated deferred-fetch deferred-fetch-minimal "
    "digital-credentials-create digital-credentials-get display-capture encrypted-media "
    "fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection "
    "interest-cohort join-ad-interest-group keyboard-map language-detector language-model "
    "local-fonts magnetometer media-playback-while-not-visible microphone midi "
    "on-device-speech-recognition otp-credentials payment picture-in-picture private-aggregation "
    "private-state-token-issuance private-state-token-redemption publickey-credentials-create "
    "publickey-credentials-get run-ad-auction screen-wake-lock serial shared-storage "
    "speaker-selection storage-access summarizer sync-xhr translator usb window-management "
    "xr-spatial-tracking"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": manifest.policy(manifest.DIRECTIVES),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in FEATURES.split()),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


PROTECTED = ("/s/", "/verify/", "/.well-known/")
SENT = ("/reports/", "/passes/")  # POST from previews and invitations
SAME_FOR_ALL = (*PROTECTED, "/results/", "/designs/")  # without cookies, caches may keep them


def respondent_protection(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return middleware that protects respondents' pages: strict headers, and no cookies.

    It must come before all middleware that reads cookies, because Django answers a broken cookie
    with a new one. It also covers error pages.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        protected = request.path.startswith(PROTECTED)
        if request.path.startswith(SAME_FOR_ALL) or request.path.endswith(SENT):
            request.COOKIES = {}
        response = get_response(request)
        if protected:
            for name, value in HEADERS.items():
                response[name] = value
        return response

    return middleware


@cache
def files() -> dict[str, bytes]:
    return manifest.files(staticfiles_storage)  # type: ignore[arg-type]  # a lazy wrapper


@cache
def published() -> bytes:
    return manifest.manifest(files())


@csrf_exempt  # it changes nothing
@gzip_page
@require_safe
def respond(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Return the same bytes for every survey and visitor; the script fetches the definition."""
    return HttpResponse(files()["/s/"])


@csrf_exempt
@gzip_page
def definition(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the API's definition at an address that the constant shell can preload."""
    return definitions.DefinitionView.as_view()(request, slug=slug)


@csrf_exempt
@gzip_page
@require_safe
def verify(request: HttpRequest) -> HttpResponse:
    return HttpResponse(files()["/verify/"])


@csrf_exempt
@gzip_page
@require_safe
def hashes(request: HttpRequest) -> HttpResponse:
    return HttpResponse(published(), content_type="application/json")
