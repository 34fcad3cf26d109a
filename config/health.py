"""Whether this process can serve, and what it says when it cannot.

`healthz` is asked by the supervisor, by load balancers, by address: a middleware before all others,
so that it answers whatever the host name and without TLS.
"""

import sys
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.defaults import page_not_found, server_error

RETRY_AFTER = "5"  # seconds
API = "/api/v1/"


def healthz(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        return check() if request.path == "/healthz" else get_response(request)

    return middleware


def check() -> JsonResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        away = {"database": "not available"}
        return JsonResponse(away, status=503, headers={"Retry-After": RETRY_AFTER})
    return JsonResponse({"database": "ok"})


def failed(request: HttpRequest) -> HttpResponseBase:
    """The page for errors; a 503 when it is only that the database is away or full."""
    away = isinstance(sys.exc_info()[1], OperationalError | InterfaceError)
    response: HttpResponseBase
    if request.path.startswith(API):
        response = JsonResponse({"detail": "Not available just now." if away else "A fault here."})
    else:
        response = server_error(request)
    response.status_code = 503 if away else 500
    if away:
        response["Retry-After"] = RETRY_AFTER
    return response


def missing(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """The page for addresses that there are not; programs are told in their own language."""
    if request.path.startswith(API):
        return JsonResponse({"detail": "There is no such address."}, status=404)
    return page_not_found(request, exception)
