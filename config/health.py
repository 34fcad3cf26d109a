"""Whether this process can serve, and what it says when it cannot.

`healthz` is asked by the supervisor, by load balancers, by address: a middleware before all others,
so that it answers whatever the host name and without TLS.
"""

import sys
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.defaults import server_error

RETRY_AFTER = "5"  # seconds


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
    response = server_error(request)
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        response.status_code = 503
        response["Retry-After"] = RETRY_AFTER
    return response
