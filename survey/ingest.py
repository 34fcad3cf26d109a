"""The hot path: parse, validate, store, acknowledge. Protocol 1, docs/protocol.md.

`read` checks what a request brings and `Delivery.reply` says what became of it. Between the two
stands the store, and that is all in which the two doors differ: the web server's own event loop
(config/asgi.py) hands reports to the inbox, where those of the same moment share a transaction; the
plain Django views at the end of this module, for whatever does not come that way, store their own.

No session, cookie or serializer. Nothing of a body is ever logged or put in an error message beyond
the name of the place that is wrong, and no 2xx is sent before the report is durable.
"""

import hashlib
import json
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_network
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from survey import passes
from survey.design import Design
from survey.inbox import Full
from survey.models import ABSENT, Arrival, Recorded, Report, Survey, parse_design

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


@dataclass(frozen=True)
class Reply:
    """What a client is told."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> bytes:
        return json.dumps(self.body, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Delivery:
    """The well-formed reports of a request, and how to tell its sender what became of them."""

    reports: Sequence[Arrival]
    reply: Callable[[Sequence[Recorded]], Reply]


MEMBERS = ("id", "design", "blocks", "strata")
NONCE = re.compile(r"[0-9a-f]{8}")


class Validator:
    """Checks reports against one frozen design and turns them into bytes.

    A fifth member is looked at and not kept: the pass where people are invited, the proof of work
    where the design asks for one.
    """

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
        self.nothing = bytes([ABSENT]) * (self.questions + len(self.strata))
        self.key = passes.public_key(design.passes) if design.passes else None
        self.work = design.work
        more = ("pass",) if self.key else ("work",) if self.work else ()
        self.members = (*MEMBERS, *more)

    def check(self, report: Any) -> tuple[str, bytes]:
        """The id and the content, or Refused with every place that is wrong."""
        pk, content = self.quick(report) or self.thorough(report)
        if self.key:
            self._pass(self.key, pk, report["pass"])
        if self.work and not works(self.hash, pk, report["work"], self.work):
            raise Refused(403, {"work": ["not a proof of work for this report"]})
        return pk, content

    def _pass(self, key: passes.RSAPublicKey, pk: str, given: Any) -> None:
        """Refused unless it is a pass of this survey, and the one that this id was made of."""
        try:
            found = passes.Pass.from_text(given)
        except passes.PassError as error:
            raise Refused(403, {"pass": [str(error)]}) from None
        if found.id != pk:
            raise Refused(403, {"pass": ["the id of the report is not the one of this pass"]})
        if not passes.verify(key, found.prepared, found.signature):
            raise Refused(403, {"pass": ["not signed for this survey"]})

    def quick(self, report: Any) -> tuple[str, bytes] | None:
        """The same for a report in which nothing is wrong, without looking what could be said."""
        if type(report) is not dict or report.get("design") != self.hash:
            return None
        if len(report) != len(self.members) or self.members[-1] not in report:
            return None
        pk, blocks, strata = report.get("id"), report.get("blocks"), report.get("strata")
        if type(pk) is not str or type(blocks) is not dict or type(strata) is not dict:
            return None
        if len(blocks) != self.ask or len(strata) != len(self.strata) or not UUID4.fullmatch(pk):
            return None
        content = bytearray(self.nothing)
        for key, values in blocks.items():
            offset, sizes = self.blocks.get(key, (0, ()))
            if type(values) is not list or not sizes or len(values) != len(sizes):
                return None
            for value, size in zip(values, sizes, strict=True):
                if type(value) is not int or not 0 <= value < size:
                    return None
            content[offset : offset + len(sizes)] = values
        for i, (key, size) in enumerate(self.strata, self.questions):
            value = strata.get(key, -1)
            if type(value) is int and 0 <= value < size:
                content[i] = value
            elif value is not None:
                return None
        return pk.lower(), bytes(content)

    def thorough(self, report: Any) -> tuple[str, bytes]:
        if not isinstance(report, dict):
            listed = f"{', '.join(self.members[:-1])} and {self.members[-1]}"
            raise Refused(400, {"report": [f"an object with {listed}"]})
        errors = keys("", report, self.members)
        content = bytearray(self.nothing)
        if "id" in report and not (isinstance(report["id"], str) and UUID4.fullmatch(report["id"])):
            errors["id"] = ["a version 4 UUID, such as crypto.randomUUID() makes"]
        if "design" in report and report["design"] != self.hash:
            errors["design"] = ["not the design of this survey; load the survey again"]
        if "blocks" in report:
            self._blocks(report["blocks"], content, errors)
        if "strata" in report:
            self._strata(report["strata"], content, errors)
        if errors in ({"pass": ["missing"]}, {"work": ["missing"]}):
            raise Refused(403, errors)  # a report, from somebody who is not let in
        if errors:
            raise Refused(400, errors)
        return report["id"].lower(), bytes(content)

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
        errors |= keys("strata.", strata, [key for key, _ in self.strata])
        for i, (key, size) in enumerate(self.strata):
            value = strata.get(key)
            if type(value) is int and 0 <= value < size:
                content[self.questions + i] = value
            elif value is not None:
                errors[f"strata.{key}"] = [f"an option position from 0 to {size - 1}, or null"]


def works(design: str, pk: str, nonce: Any, bits: int) -> bool:
    """Whether a nonce is the proof of work for a report: SHA-256 with so many zero bits first."""
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce):
        return False
    found = hashlib.sha256(f"{design}{pk}{nonce}".encode()).digest()
    return not int.from_bytes(found, "big") >> (256 - bits)


def keys(prefix: str, given: dict[str, Any], wanted: Any) -> Errors:
    missing = {prefix + key: ["missing"] for key in wanted if key not in given}
    return missing | {prefix + key[:50]: ["unknown key"] for key in given if key not in wanted}


@dataclass(frozen=True)
class Target:
    """The survey that a path names."""

    survey: int
    validator: Validator


# For good: an opened design never changes.
known: dict[str, Target] = {}


def target(slug: str) -> Target:
    """The survey that a path names; looked up once a process."""
    if slug not in known:
        row = Survey.objects.filter(slug=slug).exclude(state="draft").values_list("pk", "design")
        if not row:
            raise Refused(404, {"survey": ["there is no survey here, or it is not open yet"]})
        known[slug] = Target(row[0][0], Validator(parse_design(row[0][1])))
    return known[slug]


# --- From a body to a reply -----------------------------------------------------------------------


def read(here: Target, path: str, content_type: str, body: bytes) -> Delivery:
    """What a POST to `path` below a survey brings; Refused where it makes no sense."""
    content = parse(content_type, body, LIMITS[path])
    return _single(here, content) if path == SINGLE else many(here, content)


SINGLE, BATCH = "reports/", "reports/batch/"
LIMITS = {SINGLE: MAX_BODY, BATCH: MAX_BATCH_BODY}


def _single(here: Target, content: Any) -> Delivery:
    """POST /api/v1/surveys/{slug}/reports/"""
    report = Arrival(*here.validator.check(content), here.survey)

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        status = STATUS[outcomes[0]]
        body = {"errors": WHY[status]} if status in WHY else {"id": report.id}
        return Reply(status, body)

    return Delivery([report], reply)


def many(here: Target, content: Any) -> Delivery:
    """POST /api/v1/surveys/{slug}/reports/batch/: one status for each report, in order."""
    listed = content.get("reports") if isinstance(content, dict) and len(content) == 1 else None
    if not isinstance(listed, list):
        raise Refused(400, {"reports": ["an object with one key, reports, and a list in it"]})
    if len(listed) > MAX_REPORTS:
        raise Refused(400, {"reports": [f"at most {MAX_REPORTS:,}, not {len(listed):,}"]})
    checked = [_one_of_many(here, one) for one in listed]

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        became = iter(outcomes)
        rows = [_row(one, next(became)) if isinstance(one, Arrival) else one for one in checked]
        return Reply(200, {"reports": rows})

    return Delivery([one for one in checked if isinstance(one, Arrival)], reply)


def _one_of_many(here: Target, one: Any) -> Arrival | dict[str, Any]:
    """A report, or the row that says why it is none: it does not harm its neighbours."""
    try:
        return Arrival(*here.validator.check(one), here.survey)
    except Refused as refused:
        given = one.get("id") if isinstance(one, dict) else None
        pk = given if isinstance(given, str) and UUID4.fullmatch(given) else None
        return {"id": pk, "status": refused.status, "errors": refused.errors}


def _row(report: Arrival, outcome: Recorded) -> dict[str, Any]:
    status = STATUS[outcome]
    row = {"id": report.id, "status": status}
    return row | {"errors": WHY[status]} if status in WHY else row


def accept(slug: str, content: Any) -> list[dict[str, Any]]:
    """Store a batch that a program of our own brings; a row for each report."""
    delivery = many(target(slug), content)
    rows: list[dict[str, Any]] = _store(delivery).body["reports"]
    return rows


def _store(delivery: Delivery) -> Reply:
    return delivery.reply(Report.objects.record(delivery.reports))


def failed(error: Exception) -> Reply:
    """Every way to fail as its status; nothing of the body gets into a log."""
    if isinstance(error, Refused):
        headers = {"Retry-After": "60"} if error.status == 429 else {}
        return Reply(error.status, {"errors": error.errors}, headers)
    if isinstance(error, DatabaseError | TimeoutError | Full):
        if not isinstance(error, Full):  # which is said to a crowd, and no fault
            logger.error("a report could not be stored: %s", type(error).__name__)
        errors = {"store": ["not available just now; send the same report again later"]}
        return Reply(503, {"errors": errors}, {"Retry-After": RETRY_AFTER})
    logger.error("ingest failed: %s", type(error).__name__)
    return Reply(500, {"errors": {"server": ["something is wrong here; nothing was stored"]}})


def parse(content_type: str, body: bytes, limit: int) -> Any:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, {"body": ["send JSON, with Content-Type: application/json"]})
    if len(body) > limit:
        raise too_large(limit)
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, {"body": ["not well-formed JSON in UTF-8"]}) from None


def too_large(limit: int) -> Refused:
    return Refused(413, {"body": [f"at most {limit // 1024} KiB"]})


def _no_constant(name: str) -> None:
    raise ValueError(name)


# Requests of this minute by a keyed hash of the address, in the memory of this process; one that
# brings many reports counts as many. Key and counts are thrown away every minute.
_minute = 0
_key = secrets.token_bytes(32)
_requests: Counter[bytes] = Counter()


def throttle(remote: str, forwarded: str) -> bytes:
    """Refuse an address that asks too often; `forwarded` is its X-Forwarded-For. For `charge`."""
    global _minute, _key
    if not settings.INGEST_PER_MINUTE:
        return b""
    minute = int(time.monotonic() // 60)
    if minute != _minute:
        _requests.clear()
        _minute, _key = minute, secrets.token_bytes(32)
    found = address(remote, forwarded).encode(errors="surrogateescape")
    sender = hashlib.blake2b(found, key=_key, digest_size=16).digest()
    _requests[sender] += 1
    if _requests[sender] > settings.INGEST_PER_MINUTE:
        raise Refused(429, {"rate": ["too many requests; wait a minute and send the same again"]})
    return sender


def charge(sender: bytes, reports: int) -> None:
    """A request that brings many reports counts as many, for the ones after it."""
    if sender in _requests:
        _requests[sender] += max(0, reports - 1)


def address(remote: str, forwarded: str) -> str:
    """Where the request comes from, past the proxies of our own; of IPv6 the network, since one
    house has all of that."""
    named = forwarded.split(",")
    hops = settings.TRUSTED_PROXIES
    found = named[-hops].strip() if hops and len(named) >= hops else remote
    if ":" not in found:
        return found
    try:
        parsed = IPv6Address(found)
    except ValueError:
        return found
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))


# --- The plain views ------------------------------------------------------------------------------


def _view(path: str) -> Callable[[HttpRequest, str], HttpResponseBase]:
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        try:
            meta = request.META
            sender = throttle(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))
            here = target(slug)  # an unknown survey is a 404, whatever the body
            body = whole(request, LIMITS[path])
            delivery = read(here, path, meta.get("CONTENT_TYPE", ""), body)
            charge(sender, len(delivery.reports))
            reply = _store(delivery)
        except Exception as error:
            reply = failed(error)
        return HttpResponse(
            reply.json(), "application/json", reply.status, headers=dict(reply.headers)
        )

    return csrf_exempt(require_POST(view))


report, reports = _view(SINGLE), _view(BATCH)


def whole(request: HttpRequest, limit: int) -> bytes:
    try:
        return request.read(limit + 1)
    except OSError:
        raise Refused(400, {"body": ["the body did not arrive whole"]}) from None
