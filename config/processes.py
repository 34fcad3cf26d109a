"""Process helpers that rely on the kernel."""

import ctypes
import fcntl
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

RUNNING = "running"  # a file in CANDOR_VAR that is locked while `manage.py serve` runs
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends for any reason."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has already ended
        os._exit(1)


def steady() -> datetime:
    """Return a monotonic time, which only goes forward and is not the time of day."""
    return datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=time.monotonic())


def lock_file(path: Path, how: int) -> IO[bytes]:
    """Lock a file until it is closed or the process ends; BlockingIOError if that is impossible."""
    file = path.open("ab")
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    return file
