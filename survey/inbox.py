"""Group commit: reports that arrive at the same time are stored in one transaction.

One inbox a web process, on its event loop. While one group is being written, by the one thread and
on the one connection that this process stores reports with, the next group gathers; every request
is answered only after the commit that holds its report. So the disk is waited for once a group, and
SQLite sees one writer.

Never here: what a report means, or a reply. Nothing of a report is logged.
"""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from survey.models import Arrival, Recorded, Report

MOST_WAITING = 10_000  # reports, beyond which the next request is turned away
MOST_WRITTEN = 2_000  # reports in one transaction, unless one request alone brings more
LOOK = 10.0  # seconds between two looks at how many wait in the database
PATIENCE = 20.0  # seconds for a commit; then the outcome is unknown, and the same report welcome


class Full(Exception):
    """More reports wait than this process, or the database, will hold."""


class Inbox:
    """Where the requests of one process hand in their reports."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "inbox")
        self.groups: list[tuple[Sequence[Arrival], asyncio.Future[list[Recorded]]]] = []
        self.waiting = 0
        self.writer: asyncio.Task[None] | None = None

    async def store(self, reports: Sequence[Arrival]) -> list[Recorded]:
        """What became of each, once it is durable. Raises Full, DatabaseError or TimeoutError."""
        if self.waiting + len(reports) > MOST_WAITING:
            raise Full
        stored: asyncio.Future[list[Recorded]] = asyncio.get_running_loop().create_future()
        self.groups.append((reports, stored))
        self.waiting += len(reports)
        if self.writer is None:
            self.writer = asyncio.create_task(self._write())
        async with asyncio.timeout(PATIENCE):
            return await stored

    async def _write(self) -> None:
        """Write what waits, group after group, until nothing does."""
        loop = asyncio.get_running_loop()
        while self.groups:
            taken = self._take()
            outcomes = await loop.run_in_executor(self.thread, write, [them for them, _ in taken])
            self.waiting -= sum(len(them) for them, _ in taken)
            for (_, stored), outcome in zip(taken, outcomes, strict=True):
                if stored.done():  # given up on
                    continue
                if isinstance(outcome, Exception):
                    stored.set_exception(outcome)
                else:
                    stored.set_result(outcome)
        self.writer = None

    def _take(self) -> list[tuple[Sequence[Arrival], "asyncio.Future[list[Recorded]]"]]:
        reports = 0
        for count, (them, _) in enumerate(self.groups):
            reports += len(them)
            if count and reports > MOST_WRITTEN:
                break
        else:
            count = len(self.groups)
        taken, self.groups = self.groups[:count], self.groups[count:]
        return taken


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
    neighbours. After an error of the store the connection is given up, because it may be dead.
    """
    try:
        if backlog.too_long():
            return [Full()] * len(requests)
        outcomes = iter(Report.objects.record([one for them in requests for one in them]))
        return [[next(outcomes) for _ in them] for them in requests]
    except (OperationalError, InterfaceError) as error:
        connection.close()
        return [error] * len(requests)
    except Exception as error:
        return [error] if len(requests) == 1 else [write([them])[0] for them in requests]
