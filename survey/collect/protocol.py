"""Protocol 1 as reports and passes share it: JSON in, a status and its reasons out.

Nothing of a body is ever logged or put in an error message beyond the name of the place that is
wrong. docs/protocol.md lists every status.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

RETRY_AFTER = "5"  # seconds
HEADERS = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

Errors = dict[str, list[str]]


class Refused(Exception):
    """A request that gets no further: the status and the reason."""

    def __init__(self, status: int, errors: Errors) -> None:
        super().__init__(status)
        self.status = status
        self.errors = errors


class Full(Exception):
    """More waits than this process, or the database, will hold."""


@dataclass(frozen=True)
class Reply:
    """What a client is told; `headers` come on top of HEADERS."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, content: Any, headers: Mapping[str, str] | None = None) -> Self:
        return cls(status, dump(content), headers or {})

    def as_django(self) -> HttpResponse:
        return HttpResponse(self.body, status=self.status, headers={**HEADERS, **self.headers})


def dump(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def failed(error: Exception) -> Reply:
    """Return the reply for whatever went wrong; nothing of the body gets into a log."""
    if isinstance(error, Refused):
        again = {"Retry-After": "60"} if error.status == 429 else {}
        return Reply.of(error.status, {"errors": error.errors}, again)
    if isinstance(error, DatabaseError | TimeoutError | Full):
        if not isinstance(error, Full):  # which is said to a crowd, and no fault
            logger.error("a report could not be stored: %s", type(error).__name__)
        errors = {"store": ["not available just now; send the same report again later"]}
        return Reply.of(503, {"errors": errors}, {"Retry-After": RETRY_AFTER})
    logger.error("ingest failed: %s", type(error).__name__)
    errors = {"server": ["something is wrong here; send the same report again later"]}
    return Reply.of(500, {"errors": errors})


def parse(content_type: str, body: bytes, limit: int) -> Any:
    """Read a JSON body; Refused if it is none, or too large."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, {"body": ["send JSON, with Content-Type: application/json"]})
    if len(body) > limit:
        raise too_large(limit)
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, {"body": ["not well-formed JSON in UTF-8"]}) from None


def parse_django(request: HttpRequest, limit: int) -> Any:
    """Read the JSON body of a request that came by Django."""
    try:
        body = request.read(limit + 1)
    except OSError:
        raise Refused(400, {"body": ["the body did not arrive whole"]}) from None
    return parse(request.META.get("CONTENT_TYPE", ""), body, limit)


def too_large(limit: int) -> Refused:
    return Refused(413, {"body": [f"at most {limit // 1024} KiB"]})


def keys(prefix: str, given: dict[str, Any], wanted: Any) -> Errors:
    missing = {prefix + key: ["missing"] for key in wanted if key not in given}
    return missing | {prefix + key[:50]: ["unknown key"] for key in given if key not in wanted}


def _no_constant(name: str) -> None:
    raise ValueError(name)
