"""The site's error pages, which Django asks for: in the reader's language, or JSON for the API."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import get_template

from survey.words.errors import error_page
from survey.words.reader import reader, varies

RETRY_AFTER = "5"  # seconds
API = "/api/v1/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, "bad_request", 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, "forbidden", 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_page(request, "csrf", 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(API):
        return JsonResponse({"detail": "Not found."}, status=404)
    return error_page(request, "not_found", 404)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Return the page for errors, with status 503 if the database is unavailable or full.

    It needs no style sheet and no user, because little may be left that works.
    """
    unavailable = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    response: HttpResponseBase
    if request.path.startswith(API):
        detail = "Temporarily unavailable." if unavailable else "Server error."
        response = JsonResponse({"detail": detail})
    else:
        response = HttpResponse(get_template("500.html").render({"words": reader(request)}))
        varies(response)
    response.status_code = 503 if unavailable else 500
    if unavailable:
        response["Retry-After"] = RETRY_AFTER
    return response
