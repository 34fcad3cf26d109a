"""The pages that handle answers: constant shells with strict headers, and the hashes of it all."""

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

# What a page could ask a browser for: none of it is wanted. Writing to the clipboard is left alone,
# for a button that copies.
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


SEALED = ("/s/", "/verify/", "/.well-known/")
SENT = ("/reports/", "/passes/")  # of previews, and for invitations
SAME_FOR_ALL = (*SEALED, "/results/", "/designs/")  # so that a cache may keep it


def sealed(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """On respondents' addresses nothing comes from elsewhere, nothing is kept, no cookie is set.

    A middleware before all that look at cookies, because a broken one is answered with a new one;
    and so it holds for errors as well.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        page = request.path.startswith(SEALED)
        if request.path.startswith(SAME_FOR_ALL) or request.path.endswith(SENT):
            request.COOKIES = {}
        response = get_response(request)
        if page:
            for name, value in HEADERS.items():
                response[name] = value
        return response

    return middleware


@cache
def files() -> dict[str, bytes]:
    return manifest.files(staticfiles_storage)  # type: ignore[arg-type]  # it stands for the real one


@cache
def published() -> bytes:
    return manifest.manifest(files())


@csrf_exempt  # there is nothing to forge
@gzip_page
@require_safe
def respond(request: HttpRequest, slug: str = "") -> HttpResponse:
    """The same bytes for every survey and every visitor; its script fetches the definition."""
    return HttpResponse(files()["/s/"])


@csrf_exempt
@gzip_page
def definition(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the API gives, at an address that the constant shell can preload."""
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
