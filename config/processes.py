"""What a process asks of the kernel."""

import ctypes
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends, in whatever way."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def steady() -> datetime:
    """A time that only ever goes forward, evenly; not that of any clock on a wall."""
    return datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=time.monotonic())
