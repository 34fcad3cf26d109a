"""The one way in for reports: a request in, a reply out. Protocol 1, docs/protocol.md.

Every report takes it, the first one to a survey in a process like all others. The store is an
argument: the web server's is the inbox (survey/collect/inbox.py), a test's is the table itself. No
2xx is said before the store has said that a report is durable. What is said depends on the form of
a report and on whether its id is known, never on what was stored under that id: a receipt must not
open a report.

No session, cookie or serializer, and nothing of a body in a log.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings

from survey.collect import throttle
from survey.collect.connection import retry_if_ended
from survey.collect.protocol import Errors, Full, Refused, Reply, dump, failed, parse
from survey.collect.validator import UUID4, Validator
from survey.models import Arrival, Recorded, Survey, parse_design

# Slugs have at most 50 characters; longer ones are the previews of drafts.
PATH = re.compile(r"/api/v1/surveys/(?P<slug>[-a-zA-Z0-9_]{1,50})/(?P<kind>reports/(?:batch/)?)")
SINGLE, BATCH = "reports/", "reports/batch/"
MAX_BODY = 16 * 1024
MAX_REPORTS = 1_000
MAX_BATCH_BODY = 2 * 1024 * 1024
LIMITS = {SINGLE: MAX_BODY, BATCH: MAX_BATCH_BODY}

STATUS: dict[Recorded, int] = {"stored": 201, "known": 200, "closed": 410}
CLOSED: Errors = {"survey": ["this survey is closed"]}

Store = Callable[[Sequence[Arrival]], Awaitable[list[Recorded]]]
Result = TypeVar("Result")


class Request(NamedTuple):
    """A request whose body has arrived whole."""

    method: str
    path: str
    secure: bool  # came by TLS
    remote: str  # the address at the other end of the connection
    headers: Mapping[bytes, bytes]  # names in lower case
    body: bytes

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")


async def answer(request: Request, store: Store) -> Reply:
    """Check what a request brings, hand it to the store, and say what became of it."""
    try:
        return await _answer(request, store)
    except Exception as error:
        return failed(error)


async def _answer(request: Request, store: Store) -> Reply:
    found = PATH.fullmatch(request.path)
    if not found:
        raise Refused(404, {"survey": ["there is no such address"]})
    if settings.SECURE_SSL_REDIRECT and not request.secure:
        raise Refused(403, {"connection": ["this site takes reports over https only"]})
    if request.method != "POST":
        return Reply.of(405, {"errors": {"method": ["send reports by POST"]}}, {"Allow": "POST"})
    sender = throttle.spend(request.remote, request.header(b"x-forwarded-for"))
    target = known.get(found["slug"])
    if target is None:
        target = await lookups.run(look_up, found["slug"])
    if found["kind"] == BATCH:  # a thousand reports, and more so a thousand passes, take a while
        delivery = await checks.run(read_batch, target, request, sender)
    else:
        content = parse(request.header(b"content-type"), request.body, MAX_BODY)
        delivery = check_report(target, content)
    return delivery.reply(await store(delivery.reports))


class Beside:
    """Work that would hold up the event loop: one call after the other, and only so many that wait.

    In a thread of its own; or, without one, in the thread that asgiref keeps for the database.
    """

    def __init__(self, most: int, thread: ThreadPoolExecutor | None = None) -> None:
        self.most, self.thread, self.waiting = most, thread, 0

    async def run(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Return what the call returns; Full if too many wait."""
        if self.waiting >= self.most:
            raise Full
        self.waiting += 1
        try:
            sensitive = self.thread is None
            beside = sync_to_async(call, thread_sensitive=sensitive, executor=self.thread)
            return await beside(*arguments)
        finally:
            self.waiting -= 1


lookups = Beside(50)  # of surveys that this process does not know: strangers can make up any name
checks = Beside(16, ThreadPoolExecutor(1, "checks"))  # of batches; each may hold 2 MiB


# --- Surveys --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """The survey that a path names."""

    survey: int
    validator: Validator


known: dict[str, Target] = {}  # for good: an opened design never changes


def target_of(slug: str) -> Target:
    """Return the survey of this name; looked up once a process, or every time if there is none."""
    if slug not in known:
        row = Survey.objects.filter(slug=slug).exclude(state="draft").values_list("pk", "design")
        if not row:
            raise Refused(404, {"survey": ["there is no survey here, or it is not open yet"]})
        known[slug] = Target(row[0][0], Validator(parse_design(row[0][1])))
    return known[slug]


def look_up(slug: str) -> Target:
    """Do the same in a thread whose connection nobody else looks after."""
    return retry_if_ended(target_of, slug)


# --- From a body to a reply -----------------------------------------------------------------------


@dataclass(frozen=True)
class Delivery:
    """The well-formed reports of a request, and how to tell its sender what became of them."""

    reports: Sequence[Arrival]
    reply: Callable[[Sequence[Recorded]], Reply]


def check_report(target: Target, content: Any) -> Delivery:
    """Check the body of a POST to reports/; Refused where it makes no sense."""
    report = Arrival(*target.validator.check(content), target.survey)

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        status = STATUS[outcomes[0]]
        return Reply.of(status, {"errors": CLOSED} if status == 410 else {"id": report.id})

    return Delivery([report], reply)


def read_batch(target: Target, request: Request, sender: bytes) -> Delivery:
    """Check the body of a POST to reports/batch/, once its reports are charged to the sender."""
    listed = list_reports(parse(request.header(b"content-type"), request.body, MAX_BATCH_BODY))
    throttle.charge(sender, len(listed))
    return check_batch(target, listed)


def list_reports(content: Any) -> list[Any]:
    listed = content.get("reports") if isinstance(content, dict) and len(content) == 1 else None
    if not isinstance(listed, list):
        raise Refused(400, {"reports": ["an object with one key, reports, and a list in it"]})
    if len(listed) > MAX_REPORTS:
        raise Refused(400, {"reports": [f"at most {MAX_REPORTS:,}, not {len(listed):,}"]})
    return listed


def check_batch(target: Target, listed: Sequence[Any]) -> Delivery:
    """Check each report on its own; the reply has a status for each, in order."""
    checked = [_one_of_many(target, one) for one in listed]

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        became = iter(outcomes)
        rows = [one if isinstance(one, bytes) else _row(one, next(became)) for one in checked]
        return Reply(200, b'{"reports":[%s]}' % b",".join(rows))

    return Delivery([one for one in checked if isinstance(one, Arrival)], reply)


def _one_of_many(target: Target, one: Any) -> Arrival | bytes:
    """Return a report, or the row that says why it is none: it does not harm its neighbours."""
    try:
        return Arrival(*target.validator.check(one), target.survey)
    except Refused as refused:
        given = one.get("id") if isinstance(one, dict) else None
        pk = given if isinstance(given, str) and UUID4.fullmatch(given) else None
        return dump({"id": pk, "status": refused.status, "errors": refused.errors})


def _row(report: Arrival, outcome: Recorded) -> bytes:
    row: dict[str, Any] = {"id": report.id, "status": STATUS[outcome]}
    return dump(row | {"errors": CLOSED} if outcome == "closed" else row)
