"""Threads with connections of their own, for tests of what happens at the same time."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection


def at_once(*calls: Callable[[], Any]) -> list[Exception]:
    """Run calls at the same time, each in a thread; return what they raised."""
    start = threading.Barrier(len(calls))
    raised: list[Exception] = []

    def run(call: Callable[[], Any]) -> None:
        start.wait()
        try:
            call()
        except Exception as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised
