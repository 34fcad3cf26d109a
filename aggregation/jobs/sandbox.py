"""A computation in a process of its own, which can be stopped and cannot take the machine with it.

The child is a fork of the worker: everything is loaded, and what it is given need not be copied. It
touches no database and no queue; it computes, writes what it found into a pipe, and is gone.
"""

import contextlib
import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import Any, NoReturn

from config.processes import die_with

TICK = 0.2  # seconds between two looks at the clock and at `wanted`


class Stopped(Exception):
    """Nobody wants the result any more."""


class TooLong(Exception):
    """The computation did not end in time."""


class TooLarge(Exception):
    """The computation wanted more memory than it may have."""


def bounded(
    compute: Callable[[], Any], seconds: float, memory: int, wanted: Callable[[], bool]
) -> Any:
    """What `compute` returns or raises, within so many seconds and so many bytes of its own.

    `wanted` is asked now and then; when it says no, the computation is killed.
    """
    reader, writer = os.pipe()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        die_with(worker)  # nobody else would stop it
        os.close(reader)
        _be_the_child(compute, writer, memory)
    os.close(writer)
    try:
        written = _read(reader, time.monotonic() + seconds, wanted)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not written:  # killed by the kernel, which has no other way to say so
        raise TooLarge
    outcome = pickle.loads(written)  # noqa: S301  # our own child wrote it
    if isinstance(outcome, MemoryError):
        raise TooLarge
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _read(reader: int, deadline: float, wanted: Callable[[], bool]) -> bytes:
    """All that the child writes until it closes the pipe."""
    parts: list[bytes] = []
    while True:
        if select.select([reader], [], [], TICK)[0]:
            part = os.read(reader, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
        elif time.monotonic() > deadline:
            raise TooLong
        elif not wanted():
            raise Stopped


def _be_the_child(compute: Callable[[], Any], writer: int, memory: int) -> NoReturn:
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        held = resource.RLIMIT_DATA
        resource.setrlimit(held, (_private() + memory, resource.getrlimit(held)[1]))
        try:
            outcome = compute()
        except Exception as error:
            outcome = error
        with open(writer, "wb") as pipe:
            pickle.dump(outcome, pipe)
    finally:
        os._exit(0)  # without the parent's clean-up: its connections are not ours to close


def _private() -> int:
    """Bytes of memory that this process holds for itself, as the kernel counts them."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
