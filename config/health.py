"""Whether this process can serve: asked by the supervisor, by load balancers, by address.

A middleware before all others, so that it answers whatever the host name and without TLS.
"""

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse


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
        return JsonResponse({"database": "not available"}, status=503)
    return JsonResponse({"database": "ok"})
