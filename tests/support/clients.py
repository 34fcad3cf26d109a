"""Misbehaving clients, for the fault tests and the soak."""

import asyncio
import contextlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator

from tests.support.harness import CELLS, WAIT_SECONDS, Trial, Wire, head, ports


@contextlib.contextmanager
def slow_clients(trial: Trial, number: int = 200) -> Iterator[None]:
    """Keep this many clients open: half send a byte a second, half stop halfway."""
    body = json.dumps(trial.report(CELLS[0])).encode()
    stop = threading.Event()
    ready = threading.Barrier(2)
    connected: asyncio.Barrier

    async def one(drips: bool) -> None:
        port = random.choice(ports(trial.candor))
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        half = len(body) // 2
        writer.write(head(trial.path, len(body)) + body[: 1 if drips else half])
        await writer.drain()
        await connected.wait()
        for position in range(1, half):
            if stop.is_set():
                break
            if drips:
                writer.write(body[position : position + 1])
            await asyncio.sleep(1)
        writer.transport.abort()

    async def everybody() -> None:
        nonlocal connected
        connected = asyncio.Barrier(number + 1)
        clients = [asyncio.create_task(one(drips=i % 2 == 0)) for i in range(number)]
        async with asyncio.timeout(WAIT_SECONDS):
            await connected.wait()
        await asyncio.to_thread(ready.wait)
        await asyncio.gather(*clients, return_exceptions=True)  # some are cut off

    thread = threading.Thread(target=lambda: asyncio.run(everybody()))
    thread.start()
    ready.wait(WAIT_SECONDS)
    try:
        yield
    finally:
        stop.set()
        thread.join()


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
        lambda: json.dumps(good | {"blocks": {"b1": [7], "b2": [1], "g1": [0]}}).encode(),
        lambda: json.dumps(good | {"blocks": {f"b{number}": []}}).encode(),
        lambda: json.dumps(good | {"blocks": good["blocks"] | {"g1": [1e300]}}).encode(),
        lambda: json.dumps(good).encode()[:-1],
        lambda: b'{"id": NaN}',
    ]
    return kinds[number % len(kinds)]()


def post_all(trial: Trial, many: int, body: Callable[[int], bytes]) -> "Counter[int]":
    """Post this many bodies over persistent connections; count the statuses."""
    statuses: Counter[int] = Counter()
    numbers = iter(range(many))

    async def one() -> None:
        wire = Wire(ports(trial.candor))
        for number in numbers:
            statuses[(await wire.post(trial.path, body(number)))[0]] += 1
        wire.close()

    async def everybody() -> None:
        await asyncio.gather(*(one() for _ in range(20)))

    asyncio.run(everybody())
    return statuses
