"""The application that the web server runs: a door for reports, and Django behind it.

A request is taken in whole, in bounded time and memory, before anything works on it, so that slow
senders cost a little memory and no thread. A report to a survey that this process knows goes
straight to the inbox (survey/inbox.py), on the event loop and without a thread. Everything else
goes to Django in one of a few threads, each with a database connection that it keeps.

Never here: what a report means. That is in survey/ingest.py, for both doors.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings

from config.wsgi import application as django
from survey import ingest
from survey.inbox import Full, Inbox

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

THREADS = 16  # for pages; they wait for the database more than they compute
BODY_SECONDS = 60.0  # for a body to arrive whole
MOST_BODY = 4 * 1024 * 1024  # of one request to a page
MOST_BODIES = 64 * 1024 * 1024  # that this process holds while they arrive,
SMALL = 16 * 1024  # besides bodies up to this: large ones must not keep reports and log-ins out

REPORTS = re.compile(r"/api/v1/surveys/(?P<slug>[-\w]+)/(?P<path>reports/(?:batch/)?)", re.ASCII)
REPLY_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]

pages: Any = WSGIMiddleware(django, workers=THREADS)  # type: ignore[arg-type]  # it is iterable
inbox = Inbox()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        await pages(scope, receive, send)
        return
    found = REPORTS.fullmatch(scope["path"]) if scope["method"] == "POST" else None
    try:
        body = await bodies.whole(receive, ingest.LIMITS[found["path"]] if found else MOST_BODY)
    except ConnectionError:  # nobody is left to be told
        return
    except Exception as error:
        await tell(send, ingest.failed(error))
        return
    headers = dict(scope["headers"])
    here = ingest.known.get(found["slug"]) if found and encrypted(scope, headers) else None
    if found and here:
        await tell(send, await take(scope, headers, here, found["path"], body))
    else:
        if b"content-length" not in headers and body:  # it came in chunks; Django wants a length
            scope["headers"] = [*scope["headers"], (b"content-length", b"%d" % len(body))]
        await pages(scope, replay(body, receive), send)


async def take(
    scope: Scope, headers: dict[bytes, bytes], here: ingest.Target, path: str, body: bytes
) -> ingest.Reply:
    """Check reports and hand them in; the reply comes after the commit."""
    try:
        client = scope.get("client") or ("",)
        forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1")
        sender = ingest.throttle(client[0], forwarded)
        content_type = headers.get(b"content-type", b"").decode("latin-1")
        if path == ingest.BATCH and here.validator.key:  # a thousand signatures take a while
            delivery = await asyncio.to_thread(ingest.read, here, path, content_type, body)
        else:
            delivery = ingest.read(here, path, content_type, body)
        ingest.charge(sender, len(delivery.reports))
        return delivery.reply(await inbox.store(delivery.reports))
    except Exception as error:
        return ingest.failed(error)


def encrypted(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Whether it came by TLS, where that is asked for; Django sends the others there."""
    if not settings.SECURE_SSL_REDIRECT or scope["scheme"] == "https":
        return True
    name, value = getattr(settings, "SECURE_PROXY_SSL_HEADER", None) or ("", "https")
    sent = headers.get(name.removeprefix("HTTP_").replace("_", "-").lower().encode(), b"")
    return sent.decode("latin-1").partition(",")[0].strip() == value


async def tell(send: Send, reply: ingest.Reply) -> None:
    body = reply.json()
    headers = [*REPLY_HEADERS, (b"content-length", b"%d" % len(body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    if settings.SECURE_HSTS_SECONDS:
        headers.append((b"strict-transport-security", b"max-age=%d" % settings.SECURE_HSTS_SECONDS))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Bodies:
    """Request bodies on their way in, together never more than MOST_BODIES and all small ones."""

    def __init__(self) -> None:
        self.held = 0

    async def whole(self, receive: Receive, limit: int) -> bytes:
        """One body; Refused if it is too large or too slow, or if too many arrive at once."""
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionError
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    self.held += len(chunks[-1])
                    if size > limit:
                        raise ingest.too_large(limit)
                    if size > SMALL and self.held > MOST_BODIES:
                        raise Full
                    if not message.get("more_body"):
                        return b"".join(chunks)
        except TimeoutError:
            slow = f"not whole within {BODY_SECONDS:g} seconds"
            raise ingest.Refused(408, {"body": [slow]}) from None
        finally:
            self.held -= size


bodies = Bodies()


def replay(body: bytes, receive: Receive) -> Receive:
    """`receive` for Django: the body at once, and then whatever comes after it."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> dict[str, Any]:
        return first.pop() if first else await receive()

    return replayed
