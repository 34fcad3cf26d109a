"""The hot path: parse, validate, store, acknowledge. Protocol 1, docs/protocol.md.

Plain views without session, cookie or serializer. Nothing of a body is ever logged or put in an
error message beyond the name of the place that is wrong, and no 2xx is sent before the report is
durable.
"""

import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from survey.design import Design
from survey.models import ABSENT, Recorded, Report, Survey, parse_design

logger = logging.getLogger(__name__)

MAX_BODY = 16 * 1024
MAX_REPORTS = 1_000
MAX_BATCH_BODY = 2 * 1024 * 1024
RETRY_AFTER = "5"  # seconds

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I)

Errors = dict[str, list[str]]

STATUS: dict[Recorded, int] = {"stored": 201, "known": 200, "conflict": 409, "closed": 410}
WHY: dict[int, Errors] = {
    409: {"id": ["this id was used before, with another content"]},
    410: {"survey": ["this survey is closed"]},
}


class Refused(Exception):
    """A request that gets no further: the status and the reason."""

    def __init__(self, status: int, errors: Errors) -> None:
        super().__init__(status)
        self.status = status
        self.errors = errors


class Validator:
    """Checks reports against one frozen design and turns them into bytes."""

    def __init__(self, design: Design) -> None:
        self.hash = design.hash
        self.ask = design.ask
        self.blocks: dict[str, tuple[int, tuple[int, ...]]] = {}
        offset = 0
        for block in design.blocks:
            self.blocks[block.key] = offset, block.mechanism.sizes
            offset += len(block.questions)
        self.questions = offset
        self.strata = [(stratum.key, stratum.size) for stratum in design.strata]

    def check(self, report: Any) -> tuple[UUID, bytes]:
        """The id and the content, or Refused with every place that is wrong."""
        if not isinstance(report, dict):
            raise Refused(400, {"report": ["an object with id, design, blocks and strata"]})
        errors = _keys("", report, ("id", "design", "blocks", "strata"))
        content = bytearray([ABSENT]) * (self.questions + len(self.strata))
        if "id" in report and not (isinstance(report["id"], str) and UUID4.fullmatch(report["id"])):
            errors["id"] = ["a version 4 UUID, such as crypto.randomUUID() makes"]
        if "design" in report and report["design"] != self.hash:
            errors["design"] = ["not the design of this survey; load the survey again"]
        if "blocks" in report:
            self._blocks(report["blocks"], content, errors)
        if "strata" in report:
            self._strata(report["strata"], content, errors)
        if errors:
            raise Refused(400, errors)
        return UUID(report["id"]), bytes(content)

    def _blocks(self, blocks: Any, content: bytearray, errors: Errors) -> None:
        if not isinstance(blocks, dict):
            errors["blocks"] = ["an object: block key to a list of option positions"]
            return
        if len(blocks) != self.ask:
            errors["blocks"] = [f"exactly {self.ask} of the design's blocks, not {len(blocks)}"]
        for key, values in blocks.items():
            where = f"blocks.{key[:50]}"
            if key not in self.blocks:
                errors[where] = ["there is no such block"]
                continue
            offset, sizes = self.blocks[key]
            if not isinstance(values, list) or len(values) != len(sizes):
                errors[where] = [f"a list of {len(sizes)} option positions, one a question"]
                continue
            for i, (value, size) in enumerate(zip(values, sizes, strict=True)):
                if type(value) is int and 0 <= value < size:
                    content[offset + i] = value
                else:
                    errors[f"{where}.{i}"] = [f"an option position from 0 to {size - 1}"]

    def _strata(self, strata: Any, content: bytearray, errors: Errors) -> None:
        if not isinstance(strata, dict):
            errors["strata"] = ["an object: stratum key to an option position or null"]
            return
        errors |= _keys("strata.", strata, [key for key, _ in self.strata])
        for i, (key, size) in enumerate(self.strata):
            value = strata.get(key)
            if type(value) is int and 0 <= value < size:
                content[self.questions + i] = value
            elif value is not None:
                errors[f"strata.{key}"] = [f"an option position from 0 to {size - 1}, or null"]


def _keys(prefix: str, given: dict[str, Any], wanted: Any) -> Errors:
    missing = {prefix + key: ["missing"] for key in wanted if key not in given}
    return missing | {prefix + key[:50]: ["unknown key"] for key in given if key not in wanted}


@dataclass(frozen=True)
class Target:
    survey: int
    validator: Validator


@lru_cache(maxsize=1024)
def target(slug: str) -> Target:
    """The survey that a path names. Kept for good: an opened design never changes."""
    row = Survey.objects.filter(slug=slug).exclude(state="draft").values_list("pk", "design")
    if not row:
        raise Refused(404, {"survey": ["there is no survey here, or it is not open yet"]})
    return Target(row[0][0], Validator(parse_design(row[0][1])))


def _guarded(
    view: Callable[[HttpRequest, str], JsonResponse],
) -> Callable[[HttpRequest, str], HttpResponseBase]:
    """Turn every way to fail into its status, and let nothing of the body into a log."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str) -> HttpResponse:
        try:
            _throttle(request)
            return view(request, slug)
        except Refused as refused:
            response = JsonResponse({"errors": refused.errors}, status=refused.status)
            if refused.status == 429:
                response["Retry-After"] = "60"
            return response
        except DatabaseError as error:
            logger.error("a report could not be stored: %s", type(error).__name__)
            errors = {"store": ["not available just now; send the same report again later"]}
            response = JsonResponse({"errors": errors}, status=503)
            response["Retry-After"] = RETRY_AFTER
            return response
        except Exception as error:
            logger.error("ingest failed: %s", type(error).__name__)
            errors = {"server": ["something is wrong here; nothing was stored"]}
            return JsonResponse({"errors": errors}, status=500)

    return csrf_exempt(require_POST(guarded))


@_guarded
def report(request: HttpRequest, slug: str) -> JsonResponse:
    """POST /api/v1/surveys/{slug}/reports/"""
    here = target(slug)
    pk, content = here.validator.check(_parse(request, MAX_BODY))
    status = STATUS[Report.objects.record(here.survey, pk, content)]
    if status in WHY:
        raise Refused(status, WHY[status])
    return JsonResponse({"id": str(pk)}, status=status)


@_guarded
def reports(request: HttpRequest, slug: str) -> JsonResponse:
    """POST /api/v1/surveys/{slug}/reports/batch/: one status for each report, in order."""
    target(slug)  # an unknown survey is a 404, whatever the body
    return JsonResponse({"reports": accept(slug, _parse(request, MAX_BATCH_BODY))})


def accept(slug: str, body: Any) -> list[dict[str, Any]]:
    """Store many reports in one transaction; a bad one does not harm its neighbours."""
    here = target(slug)
    listed = body.get("reports") if isinstance(body, dict) and len(body) == 1 else None
    if not isinstance(listed, list):
        raise Refused(400, {"reports": ["an object with one key, reports, and a list in it"]})
    if len(listed) > MAX_REPORTS:
        raise Refused(400, {"reports": [f"at most {MAX_REPORTS:,}, not {len(listed):,}"]})
    with transaction.atomic():
        # In one order for everybody, lest two batches with the same ids wait for each other.
        order = sorted(range(len(listed)), key=lambda i: _id(listed[i]))
        outcome = {i: _one_of_many(here, listed[i]) for i in order}
        return [outcome[i] for i in range(len(listed))]


def _id(one: Any) -> str:
    given = one.get("id") if isinstance(one, dict) else None
    return given.lower() if isinstance(given, str) else ""


def _one_of_many(here: Target, one: Any) -> dict[str, Any]:
    try:
        pk, content = here.validator.check(one)
    except Refused as refused:
        given = one.get("id") if isinstance(one, dict) else None
        known = given if isinstance(given, str) and UUID4.fullmatch(given) else None
        return {"id": known, "status": refused.status, "errors": refused.errors}
    status = STATUS[Report.objects.record(here.survey, pk, content)]
    return {"id": str(pk), "status": status} | ({"errors": WHY[status]} if status in WHY else {})


def _parse(request: HttpRequest, limit: int) -> Any:
    if request.content_type != "application/json":
        raise Refused(415, {"body": ["send JSON, with Content-Type: application/json"]})
    try:
        body = request.read(limit + 1)
    except OSError:
        raise Refused(400, {"body": ["the body did not arrive whole"]}) from None
    if len(body) > limit:
        raise Refused(413, {"body": [f"at most {limit // 1024} KiB"]})
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, {"body": ["not well-formed JSON in UTF-8"]}) from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


# Requests of this minute by address: in the memory of this process, thrown away every minute.
_minute = 0
_requests: Counter[str] = Counter()


def _throttle(request: HttpRequest) -> None:
    global _minute
    if not settings.INGEST_PER_MINUTE:
        return
    minute = int(time.monotonic() // 60)
    if minute != _minute:
        _requests.clear()
        _minute = minute
    address = _address(request)
    _requests[address] += 1
    if _requests[address] > settings.INGEST_PER_MINUTE:
        raise Refused(429, {"rate": ["too many requests; wait a minute and send the same again"]})


def _address(request: HttpRequest) -> str:
    """Where the request comes from, past the proxies of our own."""
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    hops = settings.TRUSTED_PROXIES
    if hops and len(forwarded) >= hops:
        return forwarded[-hops].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
