"""Group commit: reports that arrive at the same time are stored in one transaction.

One inbox a web process, on its event loop. While one group is being written, by the one thread and
on the one connection that this process stores reports with, the next group gathers; every request
is answered only after the commit that holds its report. So the disk is waited for once a group, and
SQLite sees one writer. When the process is asked to end, `drain` waits until all of it is written.

Never here: what a report means, or a reply. Nothing of a report is logged.
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

MOST_WAITING = 10_000  # reports, beyond which the next request is turned away
MOST_WRITTEN = 2_000  # reports in one transaction, unless one request alone brings more
LOOK = 10.0  # seconds between two looks at how many wait in the database
COMMIT_SECONDS = (
    20.0  # seconds for a commit; then the outcome is unknown, and the same report welcome
)

Group = tuple[Sequence[Arrival], "asyncio.Future[list[Recorded]]"]  # the reports of one request


class Inbox:
    """Where the requests of one process hand in their reports."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "inbox")
        self.groups: list[Group] = []
        self.waiting = 0  # reports that were handed in and are not written yet
        self.writer: asyncio.Task[None] | None = None

    async def store(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """What became of each, once it is durable. Raises Full, DatabaseError or TimeoutError."""
        if self.waiting + len(reports) > MOST_WAITING:
            raise Full
        stored: asyncio.Future[list[Recorded]] = asyncio.get_running_loop().create_future()
        self.groups.append((reports, stored))
        self.waiting += len(reports)
        self._wake()
        async with asyncio.timeout(COMMIT_SECONDS):
            return await stored

    async def drain(self) -> None:
        """Wait until everything that was handed in is written, though its sender may be gone."""
        while self.waiting:
            await asyncio.wait([self._wake()])

    def _wake(self) -> "asyncio.Task[None]":
        """Return the task that writes, a new one unless one is at work."""
        if self.writer is None or self.writer.done():
            self.writer = asyncio.create_task(self._write_all())
        return self.writer

    async def _write_all(self) -> None:
        """Write what waits, group after group, until nothing does."""
        while self.groups:
            await self._write_some()

    async def _write_some(self) -> None:
        """Write the requests that one transaction takes, and tell each what became of it.

        Whatever goes wrong is told to those who wait for it and ends with them: the writer goes on.
        """
        taken: list[Group] = []
        try:
            taken = self._take()
            loop = asyncio.get_running_loop()
            outcomes = await loop.run_in_executor(self.thread, write, [them for them, _ in taken])
            for (_, stored), outcome in zip(taken, outcomes, strict=True):
                tell(stored, outcome)
        except Exception as error:
            logger.error("a group of reports failed: %s", type(error).__name__)
            if not taken:
                taken, self.groups = self.groups, []
            for _, stored in taken:
                tell(stored, error)
        finally:
            self.waiting -= sum(len(them) for them, _ in taken)

    def _take(self) -> list[Group]:
        reports = 0
        for count, (them, _) in enumerate(self.groups):
            reports += len(them)
            if count and reports > MOST_WRITTEN:
                break
        else:
            count = len(self.groups)
        taken, self.groups = self.groups[:count], self.groups[count:]
        return taken


def tell(stored: "asyncio.Future[list[Recorded]]", outcome: list[Recorded] | Exception) -> None:
    """Tell one request what became of it; a fault in that harms no other."""
    try:
        if stored.done():  # given up on
            return
        if isinstance(outcome, Exception):
            stored.set_exception(outcome)
        else:
            stored.set_result(outcome)
    except Exception as error:
        logger.error("a request could not be told: %s", type(error).__name__)


class Backlog:
    """Whether more reports wait in the database than it should hold, looked up now and then.

    They do when no worker has moved any for long. The table must not grow until the disk is full:
    on it the worker, too, could do nothing any more.
    """

    def __init__(self) -> None:
        self.looked = -LOOK
        self.long = False

    def too_long(self) -> bool:
        if time.monotonic() - self.looked >= LOOK:
            self.long = Report.objects.more_wait_than(settings.INBOX_REPORTS)
            self.looked = time.monotonic()
        return self.long


backlog = Backlog()


def write(requests: Sequence[Sequence[Arrival]]) -> list[list[Recorded] | Exception]:
    """Store the reports of several requests together; for each its outcomes, or what went wrong.

    A group that fails for what is in it is stored request by request, so that none suffers for its
    neighbours. One that met the end of its connection is stored again: what is known counts once.
    """
    try:
        return retry_if_ended(_write, requests)
    except (OperationalError, InterfaceError) as error:
        return [error] * len(requests)
    except Exception as error:
        return [error] if len(requests) == 1 else [write([them])[0] for them in requests]


def _write(requests: Sequence[Sequence[Arrival]]) -> list[list[Recorded] | Exception]:
    if backlog.too_long():
        return [Full()] * len(requests)
    outcomes = iter(Report.objects.record([one for them in requests for one in them]))
    return [list(islice(outcomes, len(them))) for them in requests]
