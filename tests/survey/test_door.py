"""The door before Django: bodies in bounded time and memory, and reports without a thread."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import pytest
from a2wsgi import WSGIMiddleware
from django.db import connection
from django.test import Client

from config import asgi
from survey import ingest
from survey.models import Report, Survey
from tests.support import builders

pytestmark = pytest.mark.django_db(transaction=True)

REPORTS = "/api/v1/surveys/small/reports/"
JSON = {"content-type": "application/json"}


@pytest.fixture
def survey() -> Survey:
    """Open, and known to this process."""
    made = builders.opened()
    ingest.target(made.slug)
    return made


@pytest.fixture(autouse=True)
def no_connection_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread for pages, so that its connection can be closed; the database is dropped later."""
    pages = WSGIMiddleware(asgi.django, workers=1)
    monkeypatch.setattr(asgi, "pages", pages)
    yield
    for thread in (asgi.inbox.thread, pages.executor):
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
) -> Told | None:
    """What the door tells; None where it tells nothing. A body that ends early hangs up."""

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

    await asgi.application(scope_of(path, headers, method), source.__anext__, send)
    if not sent:
        return None
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Told(sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:]))


def scope_of(path: str, headers: dict[str, str], method: str = "POST") -> dict[str, Any]:
    named = {"host": "testserver"} | headers
    return {
        "type": "http", "method": method, "path": path, "query_string": b"", "scheme": "http",
        "http_version": "1.1", "client": ("127.0.0.1", 1), "server": ("testserver", 80),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }  # fmt: skip


def ask(path: str, body: bytes | Chunks, **options: Any) -> Told:
    told = asyncio.run(request(path, body, **options))
    assert told is not None
    return told


def good(survey: Survey, **changes: Any) -> bytes:
    report = builders.report(survey.frozen_design(), blocks={"b1": [1, 3]}, strata={"age": 1})
    return json.dumps(report | changes).encode()


def test_a_report_is_stored_and_acknowledged(survey: Survey) -> None:
    told = ask(REPORTS, good(survey))
    assert told.status == 201
    assert json.loads(told.body) == {"id": str(Report.objects.get().pk)}
    assert told.headers == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "content-length": str(len(told.body)),
    }


def test_no_thread_of_django_sees_a_report(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any) -> None:
        raise AssertionError("this went to Django")

    monkeypatch.setattr(asgi, "pages", never)
    assert ask(REPORTS, good(survey)).status == 201
    assert ask(f"{REPORTS}batch/", b'{"reports": []}').status == 200
    with pytest.raises(AssertionError, match="Django"):
        ask("/api/v1/surveys/unknown/reports/", good(survey))


BODIES: dict[str, Callable[[Survey], tuple[str, bytes, dict[str, str]]]] = {
    "good": lambda s: (REPORTS, good(s), JSON),
    "type with a charset": lambda s: (
        REPORTS, good(s), {"content-type": "application/json; charset=utf-8"}
    ),
    "another type": lambda s: (REPORTS, good(s), {"content-type": "text/plain"}),
    "no type": lambda s: (REPORTS, good(s), {}),
    "no JSON": lambda s: (REPORTS, b"{", JSON),
    "only a space": lambda s: (REPORTS, b" ", JSON),
    "a list": lambda s: (REPORTS, b"[]", JSON),
    "a key too many": lambda s: (REPORTS, good(s, answer=1), JSON),
    "other design": lambda s: (REPORTS, good(s, design="sha256:0"), JSON),
    "too large": lambda s: (REPORTS, b" " * (ingest.MAX_BODY + 1), JSON),
    "batch": lambda s: (f"{REPORTS}batch/", b'{"reports": [%s, {}]}' % good(s), JSON),
    "batch of nothing": lambda s: (f"{REPORTS}batch/", b'{"reports": []}', JSON),
    "batch that is none": lambda s: (f"{REPORTS}batch/", good(s), JSON),
    "unknown survey": lambda s: ("/api/v1/surveys/nowhere/reports/", good(s), JSON),
    "draft": lambda s: ("/api/v1/surveys/draft/reports/", good(s), JSON),
}  # fmt: skip


@pytest.mark.parametrize("case", BODIES.values(), ids=BODIES.keys())
def test_the_fast_path_answers_like_the_plain_view(survey: Survey, case: Any) -> None:
    """The plain view is the reference: same status, same words."""
    builders.draft(slug="draft")
    path, body, headers = case(survey)
    told = ask(path, body, headers=headers)
    Report.objects.all().delete()
    kind = headers.get("content-type", "")
    response = Client().post(path, body, content_type=kind)
    assert (told.status, told.body) == (response.status_code, response.content)


def test_a_closed_survey_is_410_on_the_fast_path(survey: Survey) -> None:
    survey.close()
    told = ask(REPORTS, good(survey))
    assert (told.status, json.loads(told.body)) == (410, {"errors": ingest.WHY[410]})


def test_other_requests_reach_django_with_their_body(survey: Survey) -> None:
    assert ask("/healthz", b"", method="GET").body == b'{"database": "ok"}'
    assert ask(REPORTS, b"", method="GET").status == 405
    body = b"username=nobody&password=wrong"
    told = ask("/login/", body, headers={"content-type": "application/x-www-form-urlencoded"})
    assert told.status == 403  # the form's token is missing: Django has looked at it


def test_too_many_requests_are_429(survey: Survey, settings: Any) -> None:
    settings.INGEST_PER_MINUTE = 3
    statuses = [ask(REPORTS, good(survey)).status for _ in range(5)]
    assert statuses == [201, 201, 201, 429, 429]


def test_without_tls_django_redirects(survey: Survey, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert not asgi.encrypted({"scheme": "http"}, {})
    assert not asgi.encrypted({"scheme": "http"}, {b"x-forwarded-proto": b"http"})
    assert asgi.encrypted({"scheme": "http"}, {b"x-forwarded-proto": b"https"})
    assert asgi.encrypted({"scheme": "https"}, {})


# --- Bodies that come in badly --------------------------------------------------------------------


def test_an_incomplete_body_stores_nothing(survey: Survey) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield good(survey)[:50]

    assert asyncio.run(request(REPORTS, half)) is None
    assert asgi.bodies.held == 0
    assert not Report.objects.exists()


def test_a_body_that_is_too_slow_is_408(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although something comes all the time."""

    async def trickle() -> AsyncIterator[bytes]:
        while True:
            yield b""
            await asyncio.sleep(0)

    monkeypatch.setattr(asgi, "BODY_SECONDS", 0.2)
    told = ask(REPORTS, trickle)
    assert told.status == 408
    assert json.loads(told.body) == {"errors": {"body": ["not whole within 0.2 seconds"]}}
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
        while asgi.bodies.held < 20 * 2000:  # until all of them are on their way
            await asyncio.sleep(0)
        small = await request(REPORTS, report)
        assert small and small.status == 201  # and a report passes by
        go_on.set()
        return [await task for task in slow]

    statuses = {told.status for told in asyncio.run(crowd()) if told}
    assert statuses == {503}
    assert asgi.bodies.held == 0
    assert ask(REPORTS, good(survey)).status == 201


def test_a_body_in_chunks_reaches_django_whole(survey: Survey) -> None:
    body = good(survey)

    async def in_two() -> Told | None:
        sent: list[dict[str, Any]] = []
        parts = [(body[:40], True), (body[40:], False)]

        async def receive() -> dict[str, Any]:
            part, more = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": more}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await asgi.application(scope_of(REPORTS, JSON), receive, send)
        return Told(sent[0]["status"], {}, b"")

    ingest.known.clear()  # so that Django takes it
    told = asyncio.run(in_two())
    assert told is not None and told.status == 201
