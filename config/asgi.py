"""The application that the web server runs: the door for reports, and Django for all else.

A request is taken in whole, in bounded time and memory, before anything works on it, so that slow
senders cost a little memory and no thread. Reports go to survey/collect/door.py, on the event loop.
Everything else goes to Django in one of a few threads, each with a database connection that it
keeps. When the process is asked to end, every report that was accepted is written first.

Never here: what a report means.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings

from config.wsgi import application as django
from survey.collect import door
from survey.collect.inbox import Inbox
from survey.collect.protocol import HEADERS, Full, Refused, Reply, failed, too_large

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

THREADS = 16  # for pages; they wait for the database more than they compute
BODY_SECONDS = 60.0  # for a body to arrive whole
MOST_BODY = 4 * 1024 * 1024  # of one request to a page
MOST_BODIES = 64 * 1024 * 1024  # that this process holds while they arrive,
SMALL = 16 * 1024  # besides bodies up to this: large ones must not keep reports and log-ins out

REPLY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

pages: Any = WSGIMiddleware(django, workers=THREADS)  # type: ignore[arg-type]  # it is iterable
inbox = Inbox()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    found = door.PATH.fullmatch(scope["path"])
    headers = dict(scope["headers"])
    secure = is_secure(scope["scheme"], headers)
    try:
        body = await bodies.whole(receive, door.LIMITS[found["kind"]] if found else MOST_BODY)
    except ConnectionError:  # nobody is left to be told
        return
    except Exception as error:
        await tell(send, failed(error), secure)
        return
    if found:
        remote = (scope.get("client") or ("",))[0]
        request = door.Request(scope["method"], scope["path"], secure, remote, headers, body)
        await tell(send, await door.answer(request, inbox.store), secure)
    else:
        if b"content-length" not in headers and body:  # it came in chunks; Django wants a length
            scope["headers"] = [*scope["headers"], (b"content-length", b"%d" % len(body))]
        await pages(scope, replay(body, receive), send)


async def live(receive: Receive, send: Send) -> None:
    """From the start of the process to its end, which waits for the inbox."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await inbox.drain()
    await send({"type": "lifespan.shutdown.complete"})


def is_secure(scheme: str, headers: dict[bytes, bytes]) -> bool:
    """Whether a request came by TLS, as Django's HttpRequest.is_secure would have it."""
    name, value = getattr(settings, "SECURE_PROXY_SSL_HEADER", None) or ("", "")
    sent = headers.get(name.removeprefix("HTTP_").replace("_", "-").lower().encode())
    if sent is None:
        return scheme == "https"
    return sent.decode("latin-1").partition(",")[0].strip() == str(value)


async def tell(send: Send, reply: Reply, secure: bool) -> None:
    headers = [*REPLY_HEADERS, (b"content-length", b"%d" % len(reply.body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    if secure and settings.SECURE_HSTS_SECONDS:
        headers.append((b"strict-transport-security", strict_transport().encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def strict_transport() -> str:
    """The header as Django's SecurityMiddleware writes it."""
    subdomains = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
    preload = "; preload" if settings.SECURE_HSTS_PRELOAD else ""
    return f"max-age={settings.SECURE_HSTS_SECONDS}{subdomains}{preload}"


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
                        raise too_large(limit)
                    if size > SMALL and self.held > MOST_BODIES:
                        raise Full
                    if not message.get("more_body"):
                        return b"".join(chunks)
        except TimeoutError:
            slow = f"not whole within {BODY_SECONDS:g} seconds"
            raise Refused(408, {"body": [slow]}) from None
        finally:
            self.held -= size


bodies = Bodies()


def replay(body: bytes, receive: Receive) -> Receive:
    """`receive` for Django: the body at once, and then whatever comes after it."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> dict[str, Any]:
        return first.pop() if first else await receive()

    return replayed
