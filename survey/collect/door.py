"""The only entrance for reports: request in, reply out. Protocol 1, see docs/protocol.md.

Every report takes this path, including the first one to a survey in a process. The store is an
argument: the web server passes the inbox (survey/collect/inbox.py), tests pass the table itself. A
2xx is sent only after the store confirms that the report is durable. The reply depends on the form
of a report and on whether its id is known, never on what was stored under that id, because a
receipt must not reveal a report.

There are no sessions, cookies or serializers, and nothing from a body is logged.
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
from survey.collect.protocol import Errors, Full, Refused, Reply, dump, error_reply, parse
from survey.collect.validator import UUID4, Validator
from survey.models import Arrival, Recorded, Survey, parse_design

# Slugs have at most 50 characters; longer names are previews of drafts.
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
    """A request whose body has arrived completely."""

    method: str
    path: str
    secure: bool  # came by TLS
    remote: str  # the address at the other end of the connection
    headers: Mapping[bytes, bytes]  # names in lower case
    body: bytes

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")


async def answer(request: Request, store: Store) -> Reply:
    """Check a request, pass its reports to the store, and return the reply."""
    try:
        return await _answer(request, store)
    except Exception as error:
        return error_reply(error)


async def _answer(request: Request, store: Store) -> Reply:
    found = PATH.fullmatch(request.path)
    if not found:
        raise Refused(404, {"survey": ["there is no such address"]})
    if settings.SECURE_SSL_REDIRECT and not request.secure:
        raise Refused(403, {"connection": ["this site accepts reports over https only"]})
    if request.method != "POST":
        return Reply.of(405, {"errors": {"method": ["send reports by POST"]}}, {"Allow": "POST"})
    sender = throttle.spend(request.remote, request.header(b"x-forwarded-for"))
    target = known.get(found["slug"])
    if target is None:
        target = await lookups.run(look_up, found["slug"])
    if found["kind"] == BATCH:  # checking a thousand reports, or even passes, takes a while
        delivery = await checks.run(read_batch, target, request, sender)
    else:
        content = parse(request.header(b"content-type"), request.body, MAX_BODY)
        delivery = check_report(target, content)
    return delivery.reply(await store(delivery.reports))


class BoundedRunner:
    """Runs slow calls outside the event loop, one at a time, with a limit on how many wait.

    They run in the given thread, or in the thread that asgiref uses for the database.
    """

    def __init__(self, most: int, thread: ThreadPoolExecutor | None = None) -> None:
        self.most, self.thread, self.waiting = most, thread, 0

    async def run(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Return the result of the call; Full if too many calls are waiting."""
        if self.waiting >= self.most:
            raise Full
        self.waiting += 1
        try:
            sensitive = self.thread is None
            run = sync_to_async(call, thread_sensitive=sensitive, executor=self.thread)
            return await run(*arguments)
        finally:
            self.waiting -= 1


lookups = BoundedRunner(50)  # for unknown surveys; limited because anyone can invent names
checks = BoundedRunner(16, ThreadPoolExecutor(1, "checks"))  # for batches of up to 2 MiB each


# --- Surveys --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """The survey that a path names, with its validator."""

    survey: int
    validator: Validator


known: dict[str, Target] = {}  # never invalidated, because an opened design never changes


def target_of(slug: str) -> Target:
    """Return the survey with this slug; every process looks an existing one up only once."""
    if slug not in known:
        row = Survey.objects.filter(slug=slug).exclude(state="draft").values_list("pk", "design")
        if not row:
            raise Refused(404, {"survey": ["this survey does not exist or is not open yet"]})
        known[slug] = Target(row[0][0], Validator(parse_design(row[0][1])))
    return known[slug]


def look_up(slug: str) -> Target:
    """Return the same in a thread whose connection Django does not manage."""
    return retry_if_ended(target_of, slug)


# --- From a body to a reply -----------------------------------------------------------------------


@dataclass(frozen=True)
class Delivery:
    """The valid reports of a request, and a function that makes the reply from their outcomes."""

    reports: Sequence[Arrival]
    reply: Callable[[Sequence[Recorded]], Reply]


def check_report(target: Target, content: Any) -> Delivery:
    """Check the body of a POST to reports/; Refused if it is not valid."""
    report = Arrival(*target.validator.check(content), target.survey)

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        status = STATUS[outcomes[0]]
        return Reply.of(status, {"errors": CLOSED} if status == 410 else {"id": report.id})

    return Delivery([report], reply)


def read_batch(target: Target, request: Request, sender: bytes) -> Delivery:
    """Check the body of a POST to reports/batch/ after charging its reports to the sender."""
    listed = list_reports(parse(request.header(b"content-type"), request.body, MAX_BATCH_BODY))
    throttle.charge(sender, len(listed))
    return check_batch(target, listed)


def list_reports(content: Any) -> list[Any]:
    listed = content.get("reports") if isinstance(content, dict) and len(content) == 1 else None
    if not isinstance(listed, list):
        raise Refused(400, {"reports": ["must be an object with only one key, reports: a list"]})
    if len(listed) > MAX_REPORTS:
        raise Refused(400, {"reports": [f"at most {MAX_REPORTS:,}, not {len(listed):,}"]})
    return listed


def check_batch(target: Target, listed: Sequence[Any]) -> Delivery:
    """Check each report on its own; the reply has a status for each, in order."""
    checked = [_check_item(target, item) for item in listed]

    def reply(outcomes: Sequence[Recorded]) -> Reply:
        left = iter(outcomes)
        rows = [item if isinstance(item, bytes) else _row(item, next(left)) for item in checked]
        return Reply(200, b'{"reports":[%s]}' % b",".join(rows))

    return Delivery([item for item in checked if isinstance(item, Arrival)], reply)


def _check_item(target: Target, item: Any) -> Arrival | bytes:
    """Return a report, or the row that says what is wrong with it."""
    try:
        return Arrival(*target.validator.check(item), target.survey)
    except Refused as refused:
        pk = item.get("id") if isinstance(item, dict) else None
        pk = pk if isinstance(pk, str) and UUID4.fullmatch(pk) else None
        return dump({"id": pk, "status": refused.status, "errors": refused.errors})


def _row(report: Arrival, outcome: Recorded) -> bytes:
    row: dict[str, Any] = {"id": report.id, "status": STATUS[outcome]}
    return dump(row | {"errors": CLOSED} if outcome == "closed" else row)
