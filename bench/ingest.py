"""How fast reports are taken in: ratios to a view that does nothing, on the same web server.

`make bench`, or `python -m bench.ingest`. Every figure is the median of several short rounds, taken
in turn so that a busy machine harms all alike. The senders are Python on the same cores, over
loopback, so they and not the server bound the view that does nothing: its true rate is higher, and
the ratios to it flatter. The ratios between two kinds of ingest do not.
"""

import contextlib
import http.client
import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from tests import packages
from tests.services import ROOT, Candor, PostgreSQL, die_with_parent, wait_until

ROUNDS = 5
SECONDS = 2.0
SENDERS = 8
MANY = 100  # reports in one batch

SURVEY = {
    "slug": "bench",
    "title": "Ten yes/no questions",
    "epsilon": 4,
    "questions": [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(10)],
    "blocks": [[f"q{i}" for i in range(10)]],
}

Request = Callable[[], tuple[str, bytes]]


def main() -> None:
    print("Ingest, in requests a second; ratio to the view that does nothing")
    measure("SQLite, synchronous FULL, 1 web process")
    if packages.NEEDS["PostgreSQL"].here():
        with PostgreSQL(durable=True) as server:
            measure("PostgreSQL, 2 web processes", DATABASE_URL=server.create_database())
    else:
        print("PostgreSQL is not installed: left out.")


def measure(title: str, **environment: str) -> None:
    candor = Candor(**environment)
    candor.var.mkdir()
    try:
        candor.manage("migrate", "--verbosity=0")
        candor.manage("collectstatic", "--no-input", "--verbosity=0")
        candor.manage("import_survey", "-", "--open", stdin=json.dumps(SURVEY))
        with web(candor, "2" if environment else "1"):
            show(title, candor)
    finally:
        candor._remove()


def show(title: str, candor: Candor) -> None:
    definition = fetch(candor, "/api/v1/surveys/bench/")
    kinds: dict[str, Request] = {
        "nothing (204)": lambda: ("/bench/null", one(definition)),
        "one report": lambda: ("/api/v1/surveys/bench/reports/", one(definition)),
        "the same by serializer and ORM": lambda: ("/bench/framework/bench", one(definition)),
        f"{MANY} reports at once": lambda: (
            "/api/v1/surveys/bench/reports/batch/",
            many(definition),
        ),
    }
    rates: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, request in kinds.items():
            rates[kind].append(rate(candor.port, request))
    middle = {kind: statistics.median(values) for kind, values in rates.items()}
    null, single, framework, batch = middle.values()
    print(f"\n{title}; median of {ROUNDS} rounds of {SECONDS:g} s, {SENDERS} senders")
    for kind, value in middle.items():
        print(f"  {kind:32} {value:8.0f} requests/s   {value / null:5.2f} of nothing")
    print(f"  one report / serializer and ORM  {single / framework:8.1f} times")
    print(f"  reports/s in batches / singly    {batch * MANY / single:8.1f} times")


def one(definition: Any) -> bytes:
    return json.dumps(report(definition)).encode()


def many(definition: Any) -> bytes:
    return json.dumps({"reports": [report(definition) for _ in range(MANY)]}).encode()


def report(definition: Any) -> dict[str, Any]:
    blocks = {"b1": [0, 1] * 5}
    return {
        "id": str(uuid4()), "design": definition["design"]["hash"], "blocks": blocks, "strata": {},
    }  # fmt: skip


def rate(port: int, request: Request) -> float:
    """Requests a second that are answered with 2xx, over kept connections."""
    done: list[int] = []
    stop = time.monotonic() + SECONDS

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        count = 0
        while time.monotonic() < stop:
            path, body = request()
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if response.status >= 300:
                raise RuntimeError(f"{path} answered {response.status}")
            count += 1
        connection.close()
        done.append(count)

    senders = [threading.Thread(target=send) for _ in range(SENDERS)]
    began = time.monotonic()
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    if len(done) < SENDERS:
        raise RuntimeError("a sender failed")
    return sum(done) / (time.monotonic() - began)


def fetch(candor: Candor, path: str) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", candor.port, timeout=20)
    connection.request("GET", path)
    return json.load(connection.getresponse())


@contextlib.contextmanager
def web(candor: Candor, processes: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(candor.port),
         "--workers", processes, "--blocking-threads", "8", "--log-level", "error",
         "bench.wsgi:application"],
        cwd=ROOT, env=candor.env, preexec_fn=die_with_parent(signal.SIGTERM),
    )  # fmt: skip
    try:
        wait_until(candor._healthy, 60, "the web server")
        yield
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    main()
