"""How fast reports are accepted: ratios to a view that does nothing.

`make bench`, or `python -m bench.ingest`. wrk sends the load from the same two cores, over
loopback. Two servers run side by side with the same number of processes, and only one is busy at a
time: the site (config/asgi.py), and plain WSGI under the same web server, with a view that does
nothing and one that stores the same report with a serializer and the ORM. Every figure is the
median of several short rounds, taken in turn, so that a busy machine affects all.
"""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from bench.installation import databases, installation
from tests.support import packages
from tests.support.services import ROOT, Candor, die_with_parent, free_port, wait_until

ROUNDS = 5
SECONDS = 3
SENDERS = 64  # connections
MANY = 1000  # reports in one batch, the largest that is accepted
FEW = 8  # connections for batches: more would fill the inbox and be refused

SURVEY = {
    "slug": "bench",
    "title": "Ten yes/no questions",
    "epsilon": 4,
    "questions": [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(10)],
    "blocks": [[f"q{i}" for i in range(10)]],
}
REPORTS = "/api/v1/surveys/bench/reports/"


@dataclass(frozen=True)
class Kind:
    """A kind of request to measure."""

    name: str
    server: str
    path: str
    many: int = 0  # reports in a batch
    senders: int = SENDERS


NOTHING = Kind("nothing (a view that returns 204)", "wsgi", "/bench/null")
ONE = Kind("one report, durable", "asgi", REPORTS)
BATCH = Kind(f"{MANY} reports at once, durable", "asgi", f"{REPORTS}batch/", MANY, FEW)
FRAMEWORK = Kind("one report by serializer and ORM", "wsgi", "/bench/framework/bench")
KINDS = (NOTHING, ONE, BATCH, FRAMEWORK)

COMMANDS = {
    "asgi": ["--interface", "asgi", "config.asgi:application"],
    "wsgi": ["--interface", "wsgi", "--blocking-threads", "8", "bench.wsgi:application"],
}


def main() -> None:
    if not packages.NEEDS["wrk"].here():
        packages.say_what_is_left_out([packages.NEEDS["wrk"]])
        return
    print("Ingest; ratio to the view that does nothing, on the same web server and processes")
    for database, environment in databases():
        processes = 1 if database == "SQLite" else 2
        title = f"{database}, web processes: {processes}"
        with installation(SURVEY, **environment) as candor, contextlib.ExitStack() as stack:
            ports = {name: stack.enter_context(web(candor, name, processes)) for name in COMMANDS}
            design = fetch(ports["asgi"], "/api/v1/surveys/bench/")["design"]["hash"]
            for kind in KINDS:
                for _ in range(4 * processes):  # so that every process has loaded the survey
                    send(ports[kind.server], kind, design)
            show(title, ports, design)


def show(title: str, ports: dict[str, int], design: str) -> None:
    rounds = [
        {kind: wrk(ports[kind.server], kind, design) for kind in KINDS} for _ in range(ROUNDS)
    ]
    rate = {kind: statistics.median(one[kind][0] for one in rounds) for kind in KINDS}
    p99 = {kind: statistics.median(one[kind][1] for one in rounds) for kind in KINDS}
    print(
        f"\n{title}; median of {ROUNDS} rounds of {SECONDS} s, {SENDERS} connections"
        f" ({FEW} for batches)"
    )
    for kind in KINDS:
        print(
            f"  {kind.name:36} {rate[kind]:8.0f} requests/s  {rate[kind] / rate[NOTHING]:5.2f} of "
            f"nothing   p99 {p99[kind]:6.1f} ms"
        )
    of_batches = rate[BATCH] * MANY
    print(f"  one report / nothing                 {rate[ONE] / rate[NOTHING]:8.2f}")
    print(f"  one report / serializer and ORM      {rate[ONE] / rate[FRAMEWORK]:8.1f} times")
    print(f"  reports/s in batches / singly        {of_batches / rate[ONE]:8.1f} times")
    sent, late = at_half(ports["asgi"], design, rate[ONE])
    print(f"  at {sent / rate[ONE]:.2f} of that rate                  p99 {late:8.1f} ms")


def at_half(port: int, design: str, peak: float) -> tuple[float, float]:
    """Return the rate and the 99th percentile when connections pause to send half of the peak."""
    turn = 1000 * SENDERS / (peak / 2)  # milliseconds from one request of a connection to its next
    tried = wrk(port, ONE, design, round(turn))[0]
    taken = 1000 * SENDERS / tried - turn  # milliseconds that are not pause
    calm = [wrk(port, ONE, design, max(1, round(turn - taken))) for _ in range(ROUNDS)]
    sent, late = (statistics.median(one[i] for one in calm) for i in (0, 1))
    return sent, late


def wrk(port: int, kind: Kind, design: str, pause: int = 0) -> tuple[float, float]:
    """Return requests a second and the 99th percentile in milliseconds. Every status must be 2xx.

    `pause` is how many milliseconds each connection waits on average before a request.
    """
    done = subprocess.run(
        ["wrk", "--threads", "1", "--connections", str(kind.senders), "--duration", f"{SECONDS}s",
         "--timeout", "20s", "--script", str(Path(__file__).with_name("reports.lua")),
         f"http://127.0.0.1:{port}{kind.path}"],
        env={**os.environ, "CANDOR_DESIGN": design, "CANDOR_MANY": str(kind.many),
             "CANDOR_PAUSE": str(pause)},
        check=True, capture_output=True, text=True, timeout=SECONDS + 60,
    )  # fmt: skip
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    requests, microseconds, errors, _, p99 = map(int, line.split()[1:])
    if errors:
        raise RuntimeError(f"{kind.name}: {errors} of {requests} failed\n{done.stdout}")
    return requests / microseconds * 1e6, p99 / 1000


# --- The servers ----------------------------------------------------------------------------------


def one(design: str) -> bytes:
    blocks = {"b1": [0, 1] * 5}
    report = {"id": str(uuid4()), "design": design, "blocks": blocks}
    return json.dumps(report).encode()


def send(port: int, kind: Kind, design: str) -> None:
    body = one(design) if not kind.many else b'{"reports":[%s]}' % one(design)
    request = Request(f"http://127.0.0.1:{port}{kind.path}", body)
    request.add_header("Content-Type", "application/json")
    urlopen(request, timeout=20).close()


def fetch(port: int, path: str) -> Any:
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as response:
        return json.load(response)


@contextlib.contextmanager
def web(candor: Candor, name: str, processes: int) -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "granian", "--port", str(port), "--workers", str(processes),
         "--no-ws", "--log-level", "error", *COMMANDS[name]],
        cwd=ROOT, env=candor.env, preexec_fn=die_with_parent(signal.SIGTERM),
    )  # fmt: skip
    try:
        wait_until(lambda: answers(port), 60, "the web server")
        yield port
    finally:
        process.terminate()
        process.wait(30)


def answers(port: int) -> bool:
    try:
        return fetch(port, "/healthz") is not None
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    main()
