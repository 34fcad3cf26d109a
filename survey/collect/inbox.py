"""Group commit: reports that arrive at the same time are stored in one transaction.

Each web process has one inbox, on its event loop. One thread with one connection writes a group of
reports while the next group gathers. A request is answered only after the commit that includes its
report. So there is one wait for the disk per group, and SQLite sees one writer. When the process is
asked to stop, `drain` waits until everything is written.

The inbox does not interpret reports or build replies, and logs nothing about a report.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from django.conf import settings
from django.db import InterfaceError, OperationalError

from survey.collect.connection import retry_if_ended
from survey.collect.protocol import Full
from survey.models import Arrival, Recorded, Report

logger = logging.getLogger(__name__)

MOST_WAITING = 10_000  # reports; above this, further requests are refused
MOST_WRITTEN = 2_000  # reports in one transaction, unless a single request has more
LOOK_SECONDS = 10.0  # between two checks of how many reports wait in the database
COMMIT_SECONDS = 20.0  # for a commit; after this the outcome is unknown and clients should retry

RequestGroup = tuple[
    Sequence[Arrival], "asyncio.Future[list[Recorded]]"
]  # the reports of one request


class Inbox:
    """The reports of one process that wait to be stored."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "inbox")
        self.groups: list[RequestGroup] = []
        self.waiting = 0  # reports that are not written yet
        self.writer: asyncio.Task[None] | None = None

    async def store(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """Return the outcomes once they are durable; Full, DatabaseError or TimeoutError if not."""
        if self.waiting + len(reports) > MOST_WAITING:
            raise Full
        stored: asyncio.Future[list[Recorded]] = asyncio.get_running_loop().create_future()
        self.groups.append((reports, stored))
        self.waiting += len(reports)
        self._wake()
        async with asyncio.timeout(COMMIT_SECONDS):
            return await stored

    async def drain(self) -> None:
        """Wait until all accepted reports are written, even if their senders are gone."""
        while self.waiting:
            await asyncio.wait([self._wake()])

    def _wake(self) -> "asyncio.Task[None]":
        """Return the writer task, starting a new one if none is running."""
        if self.writer is None or self.writer.done():
            self.writer = asyncio.create_task(self._write_all())
        return self.writer

    async def _write_all(self) -> None:
        """Write group after group until none is left."""
        while self.groups:
            await self._write_some()

    async def _write_some(self) -> None:
        """Write as many requests as fit in one transaction, and resolve their futures.

        Errors are passed to the waiting requests and never stop the writer.
        """
        taken: list[RequestGroup] = []
        try:
            taken = self._take()
            loop = asyncio.get_running_loop()
            requests = [reports for reports, _ in taken]
            outcomes = await loop.run_in_executor(self.thread, write, requests)
            for (_, stored), outcome in zip(taken, outcomes, strict=True):
                resolve(stored, outcome)
        except Exception as error:
            logger.error("a group of reports failed: %s", type(error).__name__)
            if not taken:
                taken, self.groups = self.groups, []
            for _, stored in taken:
                resolve(stored, error)
        finally:
            self.waiting -= sum(len(reports) for reports, _ in taken)

    def _take(self) -> list[RequestGroup]:
        total = 0
        for count, (reports, _) in enumerate(self.groups):
            total += len(reports)
            if count and total > MOST_WRITTEN:
                break
        else:
            count = len(self.groups)
        taken, self.groups = self.groups[:count], self.groups[count:]
        return taken


def resolve(stored: "asyncio.Future[list[Recorded]]", outcome: list[Recorded] | Exception) -> None:
    """Resolve the future of one request, without letting an error there affect the others."""
    try:
        if stored.done():  # the request has timed out
            return
        if isinstance(outcome, Exception):
            stored.set_exception(outcome)
        else:
            stored.set_result(outcome)
    except Exception as error:
        logger.error("a request could not be answered: %s", type(error).__name__)


class Backlog:
    """A periodic check for too many waiting reports in the database.

    They accumulate when no worker has moved any for a long time. The table must not grow until the
    disk is full, because then the worker could not move them either.
    """

    def __init__(self) -> None:
        self.looked = -LOOK_SECONDS
        self.long = False

    def too_long(self) -> bool:
        if time.monotonic() - self.looked >= LOOK_SECONDS:
            self.long = Report.objects.has_more_waiting_than(settings.INBOX_REPORTS)
            self.looked = time.monotonic()
        return self.long


backlog = Backlog()


def write(requests: Sequence[Sequence[Arrival]]) -> list[list[Recorded] | Exception]:
    """Store the reports of several requests; return the outcomes, or an error, for each request.

    If the group fails because of its content, its requests are stored one by one, so that one
    cannot harm the others. If the connection was lost, the group is stored again; known reports
    count only once.
    """
    try:
        return retry_if_ended(_write, requests)
    except (OperationalError, InterfaceError) as error:
        return [error] * len(requests)
    except Exception as error:
        return [error] if len(requests) == 1 else [write([reports])[0] for reports in requests]


def _write(requests: Sequence[Sequence[Arrival]]) -> list[list[Recorded] | Exception]:
    if backlog.too_long():
        return [Full()] * len(requests)
    outcomes = iter(Report.objects.record([report for reports in requests for report in reports]))
    return [list(islice(outcomes, len(reports))) for reports in requests]
