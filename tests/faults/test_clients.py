"""Clients that do not behave: slow, silent, repeating themselves, or talking nonsense."""

import asyncio
import contextlib
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.faults.harness import (
    CELLS,
    Senders,
    Trial,
    Wire,
    head,
    ports,
    resident,
    web_processes,
)
from tests.faults.test_kills import ON_BOTH

pytestmark = pytest.mark.faults

SLOW = 200
MANY = 10_000
MEGABYTES = 1_000_000


@contextlib.contextmanager
def bounded(trial: Trial, megabytes: int) -> Iterator[None]:
    """The web processes hold at most so much more memory afterwards."""
    with Senders(trial) as warm:
        warm.await_more(50)
    trial.acknowledged.update(warm.acknowledged)
    before, processes = resident(web_processes(trial.candor)), len(web_processes(trial.candor))
    yield
    grown = resident(web_processes(trial.candor)) - before
    assert grown < megabytes * MEGABYTES * processes, f"{grown / MEGABYTES:.0f} MB more"


@ON_BOTH
def test_slow_and_silent_clients_hold_nobody_up(trial: Trial) -> None:
    """100 send a byte a second, 100 half a body and then nothing; reports are answered as before."""
    with bounded(trial, megabytes=20):
        with Senders(trial) as alone:
            alone.await_more(200)
        with slow_clients(trial), Senders(trial) as beside:
            beside.await_more(200)
    quiet, busy = statistics.median(alone.latencies), statistics.median(beside.latencies)
    assert busy < 3 * quiet + 0.05, (quiet, busy)
    assert set(beside.statuses) == {201}
    trial.settle(alone, beside)


@contextlib.contextmanager
def slow_clients(trial: Trial) -> Iterator[None]:
    """Many at once, until the end; each begins well and does not go on."""
    import threading

    body = json.dumps(trial.report(CELLS[0])).encode()
    stop = threading.Event()
    ready = threading.Barrier(2)

    async def one(drips: bool) -> None:
        port = random.choice(ports(trial.candor))
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        half = len(body) // 2
        writer.write(head(trial.path, len(body)) + body[: 1 if drips else half])
        await writer.drain()
        for position in range(1, half):
            if stop.is_set():
                break
            if drips:
                writer.write(body[position : position + 1])
            await asyncio.sleep(1)
        writer.transport.abort()

    async def everybody() -> None:
        clients = [asyncio.create_task(one(drips=i % 2 == 0)) for i in range(SLOW)]
        await asyncio.sleep(2)
        await asyncio.to_thread(ready.wait)
        await asyncio.gather(*clients)

    thread = threading.Thread(target=lambda: asyncio.run(everybody()))
    thread.start()
    ready.wait(60)
    try:
        yield
    finally:
        stop.set()
        thread.join()


@ON_BOTH
def test_one_id_ten_thousand_times_among_nonsense(trial: Trial) -> None:
    """One is stored, whatever stands between; every reply has the status that it deserves."""
    cell = CELLS[5]
    body = json.dumps(trial.report(cell)).encode()
    with bounded(trial, megabytes=30), Senders(trial) as senders:
        same = post_all(trial, lambda _: body)
        wrong = post_all(trial, lambda number: malformed(trial, number))
    assert same == {201: 1, 200: MANY - 1}
    assert wrong == {400: MANY}
    trial.acknowledged[cell] += 1  # once
    trial.settle(senders)


def malformed(trial: Trial, number: int) -> bytes:
    good = trial.report(random.choice(CELLS))
    kinds: list[Callable[[], bytes]] = [
        lambda: b"",
        lambda: b"{",
        lambda: b"\xff" * 100,
        lambda: b"[" * 5_000,
        lambda: json.dumps(good | {"id": "x"}).encode(),
        lambda: json.dumps(good | {"id": None, "more": number}).encode(),
        lambda: json.dumps(good | {"design": "0" * 64}).encode(),
        lambda: json.dumps(good | {"blocks": {"b1": [7], "b2": [1]}}).encode(),
        lambda: json.dumps(good | {"blocks": {f"b{number}": []}}).encode(),
        lambda: json.dumps(good | {"strata": {"age": 1e300}}).encode(),
        lambda: json.dumps(good).encode()[:-1],
        lambda: b'{"id": NaN}',
    ]
    return kinds[number % len(kinds)]()


def post_all(trial: Trial, body: Callable[[int], bytes]) -> "Counter[int]":
    """Post so many bodies over kept connections; how often each status came back."""
    statuses: Counter[int] = Counter()
    numbers = iter(range(MANY))

    async def one() -> None:
        wire = Wire(ports(trial.candor))
        for number in numbers:
            statuses[(await wire.post(trial.path, body(number)))[0]] += 1
        wire.close()

    async def everybody() -> None:
        await asyncio.gather(*(one() for _ in range(20)))

    began = time.monotonic()
    asyncio.run(everybody())
    print(f"{MANY / (time.monotonic() - began):.0f} bad requests a second: {dict(statuses)}")
    return statuses
