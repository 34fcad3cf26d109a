"""Health checks and metrics.

Supervisors, load balancers and monitors request `healthz`, `readyz` and `metrics` by address. They
are served by the first middleware, so that they work with any host name and without TLS.
"""

import hmac
import sqlite3
from collections.abc import Callable

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

from aggregation.models import heartbeat
from operations import metrics
from operations.broker import FILES
from operations.error_pages import RETRY_AFTER

RECENT = 60  # seconds since the last tick
REDIS_SECONDS = 2  # for Redis to answer
OK = "ok"
UNAVAILABLE = "not available"

View = Callable[[HttpRequest], HttpResponseBase]


def health_checks(get_response: View) -> View:
    views: dict[str, View] = {"/healthz": healthz, "/readyz": readyz, "/metrics": prometheus}

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return views.get(request.path, get_response)(request)

    return middleware


def healthz(request: HttpRequest) -> JsonResponse:
    """Report whether the process is alive and can reach its database."""
    return status_response({"database": database()})


def readyz(request: HttpRequest) -> JsonResponse:
    """Report whether the broker, the migrations and the worker are in order as well."""
    parts = {"database": database(), "broker": broker()}
    if parts["database"] == OK:
        parts |= {"migrations": migrations(), "worker": worker()}
    return status_response(parts)


def status_response(parts: dict[str, str]) -> JsonResponse:
    if all(part == OK for part in parts.values()):
        return JsonResponse(parts)
    response = JsonResponse(parts, status=503, headers={"Retry-After": RETRY_AFTER})
    # Monitors ask every few seconds, and Django would log each time.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return UNAVAILABLE
    return OK


def migrations() -> str:
    """Check the migrations. Once they are applied, the result is remembered."""
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
        return UNAVAILABLE
    return OK


def redis() -> str:
    from redis import Redis, RedisError  # slow to import, and small sites do not use it

    limits = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
    try:
        with Redis.from_url(settings.REDIS_URL, **limits) as server:
            server.ping()
    except (RedisError, OSError):
        return UNAVAILABLE
    return OK


def worker() -> str:
    """Check the last tick, which the beat sends through the broker and a worker records."""
    try:
        since = heartbeat.age()
    except DatabaseError:  # no such table yet
        since = None
    if since is None:
        return "no tick yet: are a worker and the beat running?"
    if since > RECENT:
        return f"the last tick was {since:.0f} s ago: are a worker and the beat running?"
    return OK


def prometheus(request: HttpRequest) -> HttpResponse:
    """Return the metrics to clients with the token, or 404 if the settings have no token."""
    if not settings.METRICS_TOKEN:
        return HttpResponse(status=404)
    authorization = request.headers.get("Authorization", "").encode()
    if not hmac.compare_digest(authorization, f"Bearer {settings.METRICS_TOKEN}".encode()):
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
