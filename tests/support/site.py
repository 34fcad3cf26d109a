"""The site in one process: reports go through the door, everything else through Django.

`Client` is Django's test client for both. The door stores in the table itself, in the test's own
thread and transaction.
"""

from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponseBase
from django.test import Client as DjangoClient
from django.test.client import ClientHandler

from survey.collect import door
from survey.collect.protocol import Reply
from survey.models import Report


def deliver(request: door.Request) -> Reply:
    """Return the door's reply to a request."""
    return async_to_sync(door.answer)(request, sync_to_async(Report.objects.record))


class Handler(ClientHandler):
    def __call__(self, environ: dict[str, Any]) -> HttpResponseBase:
        request = WSGIRequest(environ)
        if not door.PATH.fullmatch(request.path):
            return super().__call__(environ)
        reply = deliver(
            door.Request(
                request.method or "",
                request.path,
                request.is_secure(),
                request.META["REMOTE_ADDR"],
                {k.lower().encode(): v.encode() for k, v in request.headers.items()},
                request.read(),
            )
        )
        response = reply.as_django()
        response.wsgi_request = request
        return response


class Client(DjangoClient):
    def __init__(self, **defaults: Any) -> None:
        super().__init__(**defaults)
        self.handler = Handler(enforce_csrf_checks=self.handler.enforce_csrf_checks)
