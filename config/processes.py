"""What a process asks of the kernel."""

import ctypes
import fcntl
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

RUNNING = "running"  # in the folder of an installation: locked while `manage.py serve` runs
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


def held(path: Path, how: int) -> IO[bytes]:
    """A lock on a file, gone when it is closed or its process ends. Or BlockingIOError."""
    file = path.open("ab")
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    return file
