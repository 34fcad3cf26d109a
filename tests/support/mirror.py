"""A dishonest proxy in front of an honest site."""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]  # with lower-case names
    body: bytes


@dataclass
class Reply:
    """A reply of the site, to be altered."""

    path: str
    asked: dict[str, str]  # the request's headers, in lower case
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    raw: Iterable[bytes] = ()  # sent instead, unchanged: what no honest server writes

    def has(self, part: str) -> bool:
        return part in self.path

    def drop(self, header: str) -> None:
        self.headers = [pair for pair in self.headers if pair[0].lower() != header.lower()]


def honest(reply: Reply) -> None:
    pass


@dataclass
class Mirror:
    """A proxy that forwards without compression; `alter` may change every reply.

    Each has a port of its own, and so an origin of its own: no cache, storage or answered survey of
    an earlier one.
    """

    target: str
    alter: Callable[[Reply], None] = honest
    down: bool = False  # hang up on everyone
    tls: SSLContext | None = None
    received: list[Request] = field(default_factory=list)

    @property
    def requests(self) -> list[str]:
        """Return method and path of each request."""
        return [f"{request.method} {request.path}" for request in self.received]

    def __enter__(self) -> Self:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                mirror.forward(self)

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if self.tls:
            self.server.socket = self.tls.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def forward(self, handler: BaseHTTPRequestHandler) -> None:
        asked = {name.lower(): value for name, value in handler.headers.items()}
        body = handler.rfile.read(int(asked.get("content-length", 0)))
        self.received.append(Request(handler.command, handler.path, asked, body))
        if self.down:
            handler.close_connection = True
            return
        passed = {name: value for name, value in asked.items() if name not in HOP_BY_HOP}
        site = HTTPConnection(urlsplit(self.target).netloc, timeout=60)
        site.request(handler.command, handler.path, body, passed | {"accept-encoding": "identity"})
        answer = site.getresponse()
        headers = [pair for pair in answer.getheaders() if pair[0].lower() not in HOP_BY_HOP]
        reply = Reply(handler.path, asked, answer.status, headers, answer.read())
        site.close()
        self.alter(reply)
        if reply.raw:
            handler.close_connection = True
            with suppress(ConnectionError):
                for part in reply.raw:
                    handler.wfile.write(part)
            return
        handler.send_response(reply.status)
        for name, value in reply.headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        with suppress(ConnectionError):  # the page that asked was left
            handler.wfile.write(reply.body)
