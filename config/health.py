"""Whether this process can serve: asked by the supervisor and by load balancers."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def healthz(request: HttpRequest) -> JsonResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"database": "not available"}, status=503)
    return JsonResponse({"database": "ok"})
