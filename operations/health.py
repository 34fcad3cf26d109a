"""Whether this process can serve, and what it says when it cannot.

`healthz`, `readyz` and `metrics` are asked by the supervisor, by load balancers and monitors, by
address: a middleware before all others, so that they answer whatever the host name and without TLS.
"""

import hmac
import sqlite3
import sys
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.defaults import page_not_found, server_error

from aggregation.models import heartbeat
from operations import metrics
from operations.broker import FILES

RETRY_AFTER = "5"  # seconds
RECENT = 60  # seconds since the last tick
REDIS_SECONDS = 2  # seconds for Redis to answer
API = "/api/v1/"
OK = "ok"


def healthz(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    asked = {"/healthz": check, "/readyz": readyz, "/metrics": measured}

    def middleware(request: HttpRequest) -> HttpResponseBase:
        found = asked.get(request.path)
        return found(request) if found else get_response(request)

    return middleware


def check(request: HttpRequest) -> JsonResponse:
    """Whether the process lives and reaches its database."""
    return said({"database": database()})


def readyz(request: HttpRequest) -> JsonResponse:
    """Whether everything behind the pages works as well."""
    parts = {"database": database(), "broker": broker()}
    if parts["database"] == OK:
        parts |= {"migrations": migrations(), "worker": worker()}
    return said(parts)


def said(parts: dict[str, str]) -> JsonResponse:
    if all(part == OK for part in parts.values()):
        return JsonResponse(parts)
    return JsonResponse(parts, status=503, headers={"Retry-After": RETRY_AFTER})


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "not available"
    return OK


def migrations() -> str:
    """Once applied they stay so: asked until they are."""
    if not applied:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "not applied: manage.py migrate"
        applied.append(True)
    return OK


applied: list[bool] = []


def broker() -> str:
    if settings.REDIS_URL:
        return redis()
    try:
        FILES.open(str(settings.VAR_DIR / "broker.sqlite3")).execute("SELECT 1 FROM message")
    except (sqlite3.Error, OSError):
        return "not available"
    return OK


def redis() -> str:
    from redis import Redis, RedisError  # slow to load, and small sites do without

    limits = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
    try:
        with Redis.from_url(settings.REDIS_URL, **limits) as server:
            server.ping()
    except (RedisError, OSError):
        return "not available"
    return OK


def worker() -> str:
    """The beat sends a tick through the broker, and a worker notes it in the database."""
    try:
        since = heartbeat.age()
    except DatabaseError:  # no such table yet
        since = None
    if since is None:
        return "no tick yet: are a worker and the beat running?"
    if since > RECENT:
        return f"the last tick was {since:.0f} s ago: are a worker and the beat running?"
    return OK


def measured(request: HttpRequest) -> HttpResponse:
    """The metrics, for whoever has the token; without one in the settings there is no such page."""
    if not settings.METRICS_TOKEN:
        return HttpResponse(status=404)
    given = request.headers.get("Authorization", "").encode()
    if not hmac.compare_digest(given, f"Bearer {settings.METRICS_TOKEN}".encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        text = metrics.exposition()
    except DatabaseError:
        return HttpResponse(status=503, headers={"Retry-After": RETRY_AFTER})
    headers = {
        "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
        "Cache-Control": "no-store",
    }
    return HttpResponse(text, headers=headers)


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
