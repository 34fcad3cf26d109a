"""The ASGI application that the web server runs: the door for reports, Django for everything else.

A request is read completely, within limits on time and memory, before it is processed, so a slow
sender occupies a little memory but no thread. Reports go to survey/collect/door.py on the event
loop. Everything else goes to Django in one of a few threads, each with a permanent database
connection. Before the process ends, every accepted report is written.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings

from config.wsgi import application as django
from survey.collect import door
from survey.collect.inbox import Inbox
from survey.collect.protocol import HEADERS, Full, Refused, Reply, error_reply, too_large

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

THREADS = 16  # for pages, which spend most of their time waiting for the database
BODY_SECONDS = 60.0  # for a body to arrive completely
MOST_BODY = 4 * 1024 * 1024  # bytes of one request to a page
MOST_BODIES = 64 * 1024 * 1024  # bytes of all arriving bodies in this process
SMALL = 16 * 1024  # smaller bodies have no total limit, so that reports and logins get through

REPLY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

pages: Any = WSGIMiddleware(django, workers=THREADS)  # type: ignore[arg-type]  # it is iterable
inbox = Inbox()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await handle_lifespan(receive, send)
        return
    match = door.PATH.fullmatch(scope["path"])
    headers = dict(scope["headers"])
    secure = is_secure(scope["scheme"], headers)
    try:
        body = await bodies.read(receive, door.LIMITS[match["kind"]] if match else MOST_BODY)
    except ConnectionError:  # the client is gone
        return
    except Exception as error:
        await send_reply(send, error_reply(error), secure)
        return
    if match:
        remote = (scope.get("client") or ("",))[0]
        request = door.Request(scope["method"], scope["path"], secure, remote, headers, body)
        await send_reply(send, await door.answer(request, inbox.store), secure)
    else:
        if b"content-length" not in headers and body:  # chunked, but Django needs a length
            scope["headers"] = [*scope["headers"], (b"content-length", b"%d" % len(body))]
        await pages(scope, replay(body, receive), send)


async def handle_lifespan(receive: Receive, send: Send) -> None:
    """Handle the start and the end of the process, and empty the inbox before the end."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await inbox.drain()
    await send({"type": "lifespan.shutdown.complete"})


def is_secure(scheme: str, headers: dict[bytes, bytes]) -> bool:
    """Return whether a request came by TLS, like Django's HttpRequest.is_secure."""
    name, value = getattr(settings, "SECURE_PROXY_SSL_HEADER", None) or ("", "")
    header = headers.get(name.removeprefix("HTTP_").replace("_", "-").lower().encode())
    if header is None:
        return scheme == "https"
    return header.decode("latin-1").partition(",")[0].strip() == str(value)


async def send_reply(send: Send, reply: Reply, secure: bool) -> None:
    headers = [*REPLY_HEADERS, (b"content-length", b"%d" % len(reply.body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    if secure and settings.SECURE_HSTS_SECONDS:
        headers.append((b"strict-transport-security", strict_transport().encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def strict_transport() -> str:
    """Return the Strict-Transport-Security header as Django's SecurityMiddleware writes it."""
    subdomains = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
    preload = "; preload" if settings.SECURE_HSTS_PRELOAD else ""
    return f"max-age={settings.SECURE_HSTS_SECONDS}{subdomains}{preload}"


class Bodies:
    """The request bodies that are arriving, limited to MOST_BODIES bytes plus small ones."""

    def __init__(self) -> None:
        self.held = 0

    async def read(self, receive: Receive, limit: int) -> bytes:
        """Read one body. Raises Refused if it is too large or too slow, Full if there are too many.

        Raises ConnectionError if the client disconnects.
        """
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
            slow = f"did not arrive within {BODY_SECONDS:g} seconds"
            raise Refused(408, {"body": [slow]}) from None
        finally:
            self.held -= size


bodies = Bodies()


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` for Django, with the whole body first and then later messages."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> dict[str, Any]:
        return first.pop() if first else await receive()

    return replayed
