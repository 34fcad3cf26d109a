"""The ASGI application: bodies, headers, routing and shutdown."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import pytest
from a2wsgi import WSGIMiddleware
from asgiref.sync import SyncToAsync
from django.db import connection
from django.test import Client, RequestFactory

from config import asgi
from survey.collect import door
from survey.models import Report, Survey
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)

REPORTS = "/api/v1/surveys/small/reports/"
JSON = {"content-type": "application/json"}


@pytest.fixture
def survey() -> Survey:
    return builders.opened()


@pytest.fixture(autouse=True)
def no_connection_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use one thread for pages, so that its connection can be closed at the end."""
    pages = WSGIMiddleware(asgi.django, workers=1)
    monkeypatch.setattr(asgi, "pages", pages)
    yield
    for thread in (asgi.inbox.thread, pages.executor, SyncToAsync.single_thread_executor):
        thread.submit(lambda: connection.close()).result()
    pages.executor.shutdown()


class Told(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


Chunks = Callable[[], AsyncIterator[bytes]]


async def request(
    path: str,
    body: bytes | Chunks,
    headers: dict[str, str] = JSON,
    method: str = "POST",
    scheme: str = "http",
) -> Told | None:
    """Return the application's reply, or None. A body that ends early hangs up."""

    async def chunks() -> AsyncIterator[dict[str, Any]]:
        if isinstance(body, bytes):
            yield {"type": "http.request", "body": body, "more_body": False}
        else:
            async for chunk in body():
                yield {"type": "http.request", "body": chunk, "more_body": True}
        yield {"type": "http.disconnect"}

    sent: list[dict[str, Any]] = []
    source = chunks()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await asgi.application(scope_of(path, headers, method, scheme), source.__anext__, send)
    if not sent:
        return None
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Told(sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


def scope_of(
    path: str, headers: dict[str, str], method: str = "POST", scheme: str = "http"
) -> dict[str, Any]:
    named = {"host": "testserver"} | headers
    return {
        "type": "http", "method": method, "path": path, "query_string": b"", "scheme": scheme,
        "http_version": "1.1", "client": ("127.0.0.1", 1), "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }  # fmt: skip


def ask(path: str, body: bytes | Chunks, **options: Any) -> Told:
    told = asyncio.run(request(path, body, **options))
    assert told is not None
    return told


def good(survey: Survey, **changes: Any) -> bytes:
    report = builders.report(survey.frozen_design(), blocks={"b1": [1, 3], "g1": [1]})
    return json.dumps(report | changes).encode()


def test_every_report_of_a_process_gets_the_same_headers(survey: Survey) -> None:
    """The first report to a survey as well, so that nobody can tell which process knows it."""
    assert survey.slug not in door.known
    told = [ask(REPORTS, good(survey)) for _ in range(3)]
    for one, stored in zip(told, Report.objects.all(), strict=True):
        assert one.status == 201 and len(one.body) == len(f'{{"id":"{stored.pk}"}}')
        assert one.headers == {
            "content-type": "application/json",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "content-length": str(len(one.body)),
        }
    assert {json.loads(one.body)["id"] for one in told} == {
        str(pk) for pk in Report.objects.values_list("pk", flat=True)
    }


def test_no_thread_of_django_sees_a_report(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any) -> None:
        raise AssertionError("this went to Django")

    monkeypatch.setattr(asgi, "pages", never)
    assert ask(REPORTS, good(survey)).status == 201
    assert ask(f"{REPORTS}batch/", b'{"reports": []}').status == 200
    assert ask(REPORTS, b"", method="GET").status == 405
    assert ask("/api/v1/surveys/unknown/reports/", good(survey)).status == 404
    with pytest.raises(AssertionError, match="Django"):  # the preview of a draft
        ask(f"/api/v1/surveys/test-1-20000-{'0' * 40}/reports/", good(survey))


def test_only_surveys_that_exist_are_remembered(survey: Survey) -> None:
    draft = builders.draft(slug="draft")
    for slug in ("draft", "nowhere", "nowhere", "small"):
        ask(f"/api/v1/surveys/{slug}/reports/", good(survey))
    assert set(door.known) == {"small"}
    draft.open()
    assert ask("/api/v1/surveys/draft/reports/", b"{}").status == 400


def test_names_that_are_made_up_do_not_pile_up(survey: Survey) -> None:
    """Few wait for a lookup, others get 503, and known surveys are not delayed."""
    ask(REPORTS, good(survey))
    going_on, begun = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        going_on.wait()

    async def flood() -> list[Told | None]:
        SyncToAsync.single_thread_executor.submit(block)
        begun.wait()
        paths = [f"/api/v1/surveys/made-up-{i}/reports/" for i in range(door.lookups.most + 20)]
        tasks = [asyncio.create_task(request(path, b"{}")) for path in paths]
        known = await request(REPORTS, good(survey))
        assert known and known.status == 201
        going_on.set()
        return [await task for task in tasks]

    statuses = Counter(told.status for told in asyncio.run(flood()) if told)
    assert statuses == {404: door.lookups.most, 503: 20}
    assert door.lookups.waiting == 0


def test_large_batches_leave_the_event_loop_alone(survey: Survey, settings: Any) -> None:
    """Reports pass while batches wait to be parsed; few batches wait, and fewer are checked."""
    settings.INGEST_PER_MINUTE = 1500
    ask(REPORTS, good(survey))
    going_on, begun = threading.Event(), threading.Event()
    bad = json.dumps({"reports": [{"id": i, "blocks": {"b1": [9]}} for i in range(1000)]}).encode()

    def block() -> None:
        begun.set()
        going_on.wait()

    async def flood() -> list[Told | None]:
        assert door.checks.thread
        door.checks.thread.submit(block)
        begun.wait()
        tasks = [asyncio.create_task(request(f"{REPORTS}batch/", bad)) for _ in range(20)]
        one = await request(REPORTS, good(survey))
        assert one and one.status == 201
        assert not all(task.done() for task in tasks)
        going_on.set()
        return [await task for task in tasks]

    told = [one for one in asyncio.run(flood()) if one]
    assert sorted(one.status for one in told) == [200] * 2 + [429] * 14 + [503] * 4
    rows = json.loads(next(one.body for one in told if one.status == 200))["reports"]
    assert len(rows) == 1000 and {row["status"] for row in rows} == {400}


def test_other_requests_reach_django_with_their_body(survey: Survey) -> None:
    assert ask("/healthz", b"", method="GET").body == b'{"database": "ok"}'
    body = b"username=nobody&password=wrong"
    told = ask("/login/", body, headers={"content-type": "application/x-www-form-urlencoded"})
    assert told.status == 403  # the form's token is missing: Django has looked at it


# --- TLS ------------------------------------------------------------------------------------------


def test_reports_without_tls_are_refused_where_it_is_demanded(
    survey: Survey, settings: Any
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    told = ask(REPORTS, good(survey))
    assert told.status == 403 and b"https" in told.body
    assert not Report.objects.exists()
    assert ask(REPORTS, good(survey), scheme="https").status == 201


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("sent", [None, "https", "http", "https, http", " https ", "HTTPS", ""])
@pytest.mark.parametrize("trusted", [None, ("HTTP_X_FORWARDED_PROTO", "https")])
def test_what_came_by_tls_is_decided_as_django_does(
    settings: Any, scheme: str, sent: str | None, trusted: Any
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = trusted
    headers = {} if sent is None else {"x-forwarded-proto": sent}
    request = RequestFactory(headers=headers).get("/", secure=scheme == "https")
    encoded = {name.encode(): value.encode() for name, value in headers.items()}
    assert asgi.is_secure(scheme, encoded) == request.is_secure()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("seconds", [0, 3600])
@pytest.mark.parametrize("subdomains", [False, True])
@pytest.mark.parametrize("preload", [False, True])
def test_strict_transport_is_said_as_django_says_it(
    survey: Survey, settings: Any, scheme: str, seconds: int, subdomains: bool, preload: bool
) -> None:
    settings.SECURE_HSTS_SECONDS = seconds
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS, settings.SECURE_HSTS_PRELOAD = subdomains, preload
    name = "strict-transport-security"
    page = Client().get("/login/", secure=scheme == "https").headers.get(name)
    assert (page is None) == (not seconds or scheme == "http")
    assert ask(REPORTS, good(survey), scheme=scheme).headers.get(name) == page
    assert ask(REPORTS, b"x" * 20_000, scheme=scheme).headers.get(name) == page  # a refusal


# --- The end --------------------------------------------------------------------------------------


def test_the_end_waits_until_every_report_is_written(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accepted reports are kept even if the sender has hung up."""
    ask(REPORTS, good(survey))
    going_on = threading.Event()
    asgi.inbox.thread.submit(going_on.wait)

    async def life() -> list[str]:
        told: asyncio.Queue[str] = asyncio.Queue()
        events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def send(message: dict[str, Any]) -> None:
            told.put_nowait(message["type"])

        lifespan = asyncio.create_task(asgi.application({"type": "lifespan"}, events.get, send))
        events.put_nowait({"type": "lifespan.startup"})
        assert await told.get() == "lifespan.startup.complete"
        senders = [asyncio.create_task(request(REPORTS, good(survey))) for _ in range(5)]
        while asgi.inbox.waiting < 5:
            await asyncio.sleep(0)
        for sender in senders:
            sender.cancel()
        events.put_nowait({"type": "lifespan.shutdown"})
        for _ in range(10):
            await asyncio.sleep(0)
        assert told.empty() and not lifespan.done()
        going_on.set()
        await lifespan
        return [told.get_nowait()]

    assert asyncio.run(life()) == ["lifespan.shutdown.complete"]
    assert Report.objects.count() == 6


# --- Bodies that come in badly --------------------------------------------------------------------


def test_an_incomplete_body_stores_nothing(survey: Survey) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield good(survey)[:50]

    assert asyncio.run(request(REPORTS, half)) is None
    assert asgi.bodies.held == 0
    assert not Report.objects.exists()


def test_a_body_that_is_too_slow_is_408(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if bytes keep arriving."""

    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b""
            await asyncio.sleep(0)

    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.2)
    told = ask(REPORTS, trickle)
    assert told.status == 408
    assert json.loads(told.body) == {"errors": {"body": ["did not arrive within 0.2 seconds"]}}
    assert asgi.bodies.held == 0


def test_an_endless_body_is_cut_off(survey: Survey) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 4096

    assert ask(REPORTS, endless).status == 413
    assert ask("/login/", endless).status == 413
    assert asgi.bodies.held == 0


def test_the_total_size_of_open_bodies_is_bounded(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "MOST_BODIES", 10_000)
    monkeypatch.setattr(asgi, "SMALL", 2_000)
    report = good(survey)

    async def crowd() -> list[Told | None]:
        go_on = asyncio.Event()

        async def large() -> AsyncIterator[bytes]:
            yield b" " * 2000
            await go_on.wait()
            yield b" " * 1000

        slow = [asyncio.create_task(request(REPORTS, large)) for _ in range(20)]
        while asgi.bodies.held < 20 * 2000:  # until all of them are being sent
            await asyncio.sleep(0)
        small = await request(REPORTS, report)
        assert small and small.status == 201  # and a report is not blocked
        go_on.set()
        return [await task for task in slow]

    statuses = {told.status for told in asyncio.run(crowd()) if told}
    assert statuses == {503}
    assert asgi.bodies.held == 0
    assert ask(REPORTS, good(survey)).status == 201


def test_a_body_in_chunks_reaches_django_whole() -> None:
    builders.opened(access="invited")
    body = json.dumps({"code": "not a code", "blinded": "x" * 50}).encode()

    async def in_two() -> bytes:
        sent: list[dict[str, Any]] = []
        parts = [(body[:40], True), (body[40:], False)]

        async def receive() -> dict[str, Any]:
            part, more = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": more}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = scope_of("/api/v1/surveys/small/passes/", JSON)
        await asgi.application(scope, receive, send)
        return b"".join(message.get("body", b"") for message in sent[1:])

    assert set(json.loads(asyncio.run(in_two()))["errors"]) == {"code"}  # well-formed so far
