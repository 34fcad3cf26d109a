"""Run a computation in a child process, with limits on its time and memory.

The child is a fork of the worker, so everything is loaded and its input need not be copied. It uses
neither the database nor the queue: it computes, writes the result into a pipe, and exits.
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

TICK = 0.2  # seconds between two checks of the time and of `wanted`


class Stopped(Exception):
    """The result is no longer wanted."""


class TooLong(Exception):
    """The computation took too long."""


class TooLarge(Exception):
    """The computation needed too much memory."""


def run(compute: Callable[[], Any], seconds: float, memory: int, wanted: Callable[[], bool]) -> Any:
    """Return or raise what `compute` does, within these limits on time and on new memory.

    The computation is killed when `wanted`, which is called regularly, returns False.
    """
    reader, writer = os.pipe()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        die_with(worker)  # nothing else would stop it
        os.close(reader)
        _run_child(compute, writer, memory)
    os.close(writer)
    try:
        written = _read(reader, time.monotonic() + seconds, wanted)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not written:  # killed by the kernel, which gives no other sign
        raise TooLarge
    outcome = pickle.loads(written)  # noqa: S301  # our own child wrote it
    if isinstance(outcome, MemoryError):
        raise TooLarge
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _read(reader: int, deadline: float, wanted: Callable[[], bool]) -> bytes:
    """Return everything that the child writes before it closes the pipe."""
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


def _run_child(compute: Callable[[], Any], writer: int, memory: int) -> NoReturn:
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
        os._exit(0)  # skip the clean-up, which would close the parent's connections


def _private() -> int:
    """Return how many bytes of private memory this process has, as the kernel counts them."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
