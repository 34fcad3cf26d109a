"""The part of protocol 1 that reports and passes share: JSON in, a status with reasons out.

Nothing from a body is ever logged or put into an error message, except the name of the member that
is wrong. docs/protocol.md lists every status.
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
    """A refused request, with its status and the reasons."""

    def __init__(self, status: int, errors: Errors) -> None:
        super().__init__(status)
        self.status = status
        self.errors = errors


class Full(Exception):
    """Too many reports are waiting in this process or in the database."""


@dataclass(frozen=True)
class Reply:
    """A reply to a client, with `headers` in addition to HEADERS."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, content: Any, headers: Mapping[str, str] | None = None) -> Self:
        return cls(status, dump(content), headers or {})

    def as_django(self) -> HttpResponse:
        return HttpResponse(self.body, status=self.status, headers={**HEADERS, **self.headers})


def _no_constant(name: str) -> None:
    raise ValueError(name)


# Made once: json.loads and json.dumps would make new ones for every report.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def dump(content: Any) -> bytes:
    return _encode(content).encode()


def error_reply(error: Exception) -> Reply:
    """Return the reply for an error, without logging anything from the body."""
    if isinstance(error, Refused):
        headers = {"Retry-After": "60"} if error.status == 429 else {}
        return Reply.of(error.status, {"errors": error.errors}, headers)
    if isinstance(error, DatabaseError | TimeoutError | Full):
        if not isinstance(error, Full):  # Full is not a fault, and would be logged very often.
            logger.error("a report could not be stored: %s", type(error).__name__)
        errors = {"store": ["temporarily unavailable; send the same report again later"]}
        return Reply.of(503, {"errors": errors}, {"Retry-After": RETRY_AFTER})
    logger.error("ingest failed: %s", type(error).__name__)
    errors = {"server": ["internal error; send the same report again later"]}
    return Reply.of(500, {"errors": errors})


def parse(content_type: str, body: bytes, limit: int) -> Any:
    """Parse a JSON body; Refused if it is not valid or too large."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, {"body": ["send JSON with Content-Type: application/json"]})
    if len(body) > limit:
        raise too_large(limit)
    try:
        return _decode(body.decode())
    except (ValueError, RecursionError):
        raise Refused(400, {"body": ["not valid JSON in UTF-8"]}) from None


def parse_django(request: HttpRequest, limit: int) -> Any:
    """Parse the JSON body of a Django request."""
    try:
        body = request.read(limit + 1)
    except OSError:
        raise Refused(400, {"body": ["the body did not arrive completely"]}) from None
    return parse(request.META.get("CONTENT_TYPE", ""), body, limit)


def too_large(limit: int) -> Refused:
    return Refused(413, {"body": [f"at most {limit // 1024} KiB"]})


def check_keys(prefix: str, data: dict[str, Any], wanted: Any) -> Errors:
    missing = {prefix + key: ["missing"] for key in wanted if key not in data}
    return missing | {prefix + key[:50]: ["unknown key"] for key in data if key not in wanted}
