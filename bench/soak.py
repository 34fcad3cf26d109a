"""Minutes of load and faults, after which every acknowledged report must be counted once.

`make soak`, or `python -m bench.soak [--seconds 300]`. An installation on PostgreSQL (durable) and
Redis, with two web servers, two workers and a beat, accepts reports at half of its highest rate.
Meanwhile, in random order, programs are killed with -9, including PostgreSQL and Redis, which may
lose its data; clients misbehave; releases and analyses are made. Then the acknowledged reports are
compared with the counted ones, cell by cell. The exit status is 1 if they differ.

Senders, servers and faults share the cores of one machine, so the figures are not about speed.
"""

import argparse
import contextlib
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.support import packages
from tests.support.clients import malformed, post_all, slow_clients
from tests.support.harness import (
    CELLS,
    LOST,
    Console,
    Fleet,
    Senders,
    Trial,
    forget_all,
    kill_9,
    main_web,
    pool_processes,
    resident,
    restart,
    web_processes,
)
from tests.support.services import PostgreSQL, Redis, wait_until

PEAK_SECONDS = 6.0
SENDERS = 24
BETWEEN = (2.0, 6.0)  # seconds from one fault to the next
ANALYSES: list[dict[str, Any]] = [
    {"kind": "crosstab", "questions": ["q1", "q2"]},
    {"kind": "crosstab", "questions": ["q1", "q2", "age"]},
    {"kind": "regression", "outcome": "q1", "predictors": [{"question": "age"}]},
    {"kind": "profiles", "questions": ["q1", "q2"], "classes": 2},
]


class Soak:
    """An installation with its servers, and the faults."""

    def __init__(
        self, fleet: Fleet, postgresql: PostgreSQL, redis: Redis, console: Console
    ) -> None:
        self.fleet, self.postgresql, self.redis = fleet, postgresql, redis
        self.trial = Trial(fleet, console)
        self.done: Counter[str] = Counter()
        self.asked: list[str] = []
        self.most = 0

    def faults(self) -> dict[str, Callable[[], object]]:
        fleet = self.fleet
        return {
            "kill a web process": lambda: one_of(web_processes(fleet)),
            "kill a web server": lambda: one_of(main_web(fleet)),
            "kill the processes of the workers": lambda: kill_9(pool_processes(fleet)),
            "kill a worker": lambda: fleet.end(random.choice(["worker0", "worker1"])),
            "kill the beat": lambda: fleet.end("beat0"),
            "kill PostgreSQL": lambda: restart(self.postgresql, after=1),
            "kill Redis": lambda: restart(self.redis, after=1),
            "kill Redis, all forgotten": lambda: forget_all(self.redis),
            "200 slow clients": self.slow,
            "1,000 times one id, 1,000 times nonsense": self.nonsense,
            "ask for a release": self.trial.release,
            "ask for an analysis": self.analyse,
        }

    def slow(self) -> None:
        with slow_clients(self.trial):
            time.sleep(5)

    def nonsense(self) -> None:
        """Send one report a thousand times, which is stored once, and invalid bodies."""
        body = json.dumps(self.trial.report(CELLS[0])).encode()
        try:
            seen = post_all(self.trial, 1_000, lambda _: body)
            known = self.trial.acknowledged if seen[200] + seen[201] else self.trial.doubtful
            known[CELLS[0]] += 1
            post_all(self.trial, 1_000, lambda number: malformed(self.trial, number))
        except LOST:  # a web server was killed meanwhile
            self.trial.doubtful[CELLS[0]] += 1

    def analyse(self) -> None:
        with contextlib.suppress(OSError):
            self.asked.append(self.trial.analyse(**random.choice(ANALYSES)))

    def run(self, seconds: float) -> None:
        """Run every fault in random order, again and again, until the time is over."""
        end = time.monotonic() + seconds
        faults: list[tuple[str, Callable[[], object]]] = []
        while time.monotonic() < end:
            faults = faults or random.sample([*self.faults().items()], k=len(self.faults()))
            name, fault = faults.pop()
            fault()
            self.done[name] += 1
            time.sleep(random.uniform(*BETWEEN) / 2)
            self.fleet.mend()
            self.most = max(self.most, resident(web_processes(self.fleet)))
            time.sleep(random.uniform(*BETWEEN) / 2)


def one_of(pids: list[int]) -> None:
    kill_9(random.sample(pids, min(1, len(pids))))


def peak(trial: Trial) -> float:
    """Return the highest rate in reports a second, without faults."""
    with Senders(trial, SENDERS, rate=None) as senders:
        time.sleep(1)
        before, began = senders.stored, time.monotonic()
        time.sleep(PEAK_SECONDS)
        rate = (senders.stored - before) / (time.monotonic() - began)
    trial.acknowledged += senders.acknowledged
    return rate


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300)
    seconds = parser.parse_args().seconds
    for name in ("PostgreSQL", "Redis"):
        if not packages.NEEDS[name].here():
            print(f"{name} is not installed: no soak.")
            return 1
    with (
        PostgreSQL(durable=True) as postgresql,
        Redis() as redis,
        Fleet(
            webs=2, workers=2, DATABASE_URL=postgresql.create_database(), REDIS_URL=redis.url,
            CANDOR_RELEASE_SECONDS="5",
        ) as fleet,
        Console(fleet) as console,
    ):  # fmt: skip
        return soak(Soak(fleet, postgresql, redis, console), seconds)


def soak(soak: Soak, seconds: float) -> int:
    most = peak(soak.trial)
    memory = resident(web_processes(soak.fleet))
    print(f"peak {most:.0f} reports/s; {seconds:.0f} s at half of it", flush=True)
    began = time.monotonic()
    with Senders(soak.trial, SENDERS, rate=most / 2) as senders:
        soak.run(seconds)
    took = time.monotonic() - began
    soak.fleet.mend()
    print(f"{senders.stored / took:.0f} reports/s acknowledged over {took:.0f} s")
    show_replies(senders)
    after = resident(web_processes(soak.fleet))
    sizes = [f"{size / 1e6:.0f} MB" for size in (memory, soak.most, after)]
    print("memory of the web processes: {} before, {} at most, {} after".format(*sizes))
    print(f"{soak.done.total()} faults and requests:")
    for name, number in sorted(soak.done.items()):
        print(f"  {number:4} × {name}")
    return balance(soak, senders)


def show_replies(senders: Senders) -> None:
    cuts = statistics.quantiles(senders.latencies, n=100)
    p50, p99, most = (1000 * value for value in (cuts[49], cuts[98], max(senders.latencies)))
    print(f"latency of an acknowledgement: p50 {p50:.0f} ms, p99 {p99:.0f} ms, most {most:.0f} ms")
    statuses = senders.statuses
    print(f"replies: {statuses[201]} × 201, {statuses[200]} × 200 (known already), "
          f"{statuses[503]} × 503, {statuses[0]} × none (cut off or refused)")  # fmt: skip


def balance(soak: Soak, senders: Senders) -> int:
    trial = soak.trial
    acknowledged = (trial.acknowledged + senders.acknowledged).total()
    doubtful = (trial.doubtful + senders.doubtful).total()
    try:
        counted = trial.settle(senders).total()
        idle = lambda: trial.do("result = not Job.objects.filter(active=True).exists()")  # noqa: E731
        wait_until(idle, 120, "the end of all jobs")
        states = Counter(trial.job(pk)["state"] for pk in set(soak.asked))
    except (AssertionError, TimeoutError) as error:
        print(f"THE COUNTS DIFFER: {error}")
        return 1
    releases = len(trial.call(f"surveys/{trial.slug}/releases/"))
    print(f"{releases} releases; analyses: {dict(states)}")
    print(f"acknowledged {acknowledged}, counted {counted}, in doubt {doubtful}: all {len(CELLS)} "
          f"cells agree")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
