"""The harness of the fault tests and the soak: programs, senders and the final balance.

A test opens a survey of its own (Trial), lets people send reports until each is acknowledged
(Senders), does harm meanwhile, and in the end compares what was acknowledged with what is counted,
cell by cell (Trial.settle).
"""

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

from tests.support.services import (
    ROOT,
    STOP_SECONDS,
    Candor,
    PostgreSQL,
    Redis,
    Server,
    command_line,
    descendants,
    die_with_parent,
    free_port,
    wait_until,
)

FILE: dict[str, Any] = {
    "title": "Two questions and an age",
    "epsilon": 2,
    "crowd": 20,
    "questions": [
        {"key": "q1", "text": "Did you?", "kind": "yes_no"},
        {"key": "q2", "text": "Which?", "kind": "choice", "options": ["A", "B", "C", "D"]},
    ],
    "background": [{"key": "age", "text": "How old?", "options": ["Under 30", "30 and over"]}],
    "blocks": [["q1"], ["q2"]],
    "ask": 2,
}


def with_more_questions(number: int) -> dict[str, Any]:
    """Add this many yes/no questions, for analyses that take a while."""
    keys = [f"more{i}" for i in range(number)]
    more = [{"key": key, "text": "And?", "kind": "yes_no"} for key in keys]
    blocks = {"blocks": [*FILE["blocks"], keys], "ask": 3} if number else {}
    return {"questions": FILE["questions"] + more} | blocks


Cell = tuple[int, int, int]  # the whole content of a report
CELLS: list[Cell] = list(product(range(2), range(4), range(3)))
WEIGHTS = range(1, len(CELLS) + 1)  # no two cells alike, so that none passes for another

WAIT_SECONDS = 240.0  # for what takes a second or two on a quiet machine


# --- Programs -------------------------------------------------------------------------------------


class Fleet(Candor):
    """An installation whose programs run one by one, without a supervisor, as on several machines.

    `webs` web servers of `processes` each on ports of their own, `workers`, and `beats`. What is
    killed stays away until `mend`.
    """

    def __init__(
        self, webs: int = 1, processes: int = 1, workers: int = 1, beats: int = 1,
        parent: Path | None = None, **environment: str,
    ) -> None:  # fmt: skip
        super().__init__(parent, **environment)
        self.ports = [self.port, *(free_port() for _ in range(webs - 1))]
        celery = ["-W", "ignore::UserWarning:celery.platforms", "-m", "celery", "--quiet"]
        worker = [*celery, "--app", "config", "worker", "--concurrency", "2", "--loglevel", "ERROR"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        serve = ["-m", "operations.serve", "127.0.0.1"]
        self.commands = {
            **{f"web{i}": [*serve, str(port), str(processes)] for i, port in enumerate(self.ports)},
            **{f"worker{i}": [*worker, *quiet, "-n", f"worker{i}@candor"] for i in range(workers)},
            **{f"beat{i}": [*celery, "--app", "config", "beat"] for i in range(beats)},
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        if not self.var.exists():
            self.var.mkdir()
            self.migrate()
            self.collect()
        self.mend()

    def mend(self) -> None:
        """Start whatever is not running, as an init system would."""

        def whole() -> bool:
            for name in self.commands:
                if name not in self.running or self.running[name].poll() is not None:
                    self.run(name)
            return all(answers(port) for port in self.ports)

        try:
            wait_until(whole, WAIT_SECONDS, "the web servers")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.tail()}") from None

    def run(self, name: str, **environment: str) -> None:
        with self.log.open("ab") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, *self.commands[name]],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT,
                env={**self.env, **environment},
                start_new_session=True, preexec_fn=die_with_parent(signal.SIGKILL),
            )  # fmt: skip

    def end(self, *names: str) -> None:
        """Kill programs and their processes with -9."""
        for name in names:
            if process := self.running.pop(name, None):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    @contextlib.contextmanager
    def frozen(self, word: str) -> Iterator[None]:
        """Freeze programs during the block."""
        held = [process for name, process in self.running.items() if name.startswith(word)]
        for process in held:
            os.killpg(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in held:
                os.killpg(process.pid, signal.SIGCONT)

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for name, process in list(self.running.items()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            self.end(name)
        assert not (left := self._end_what_is_left()), f"processes left behind: {left}"

    def kill(self) -> None:
        self.end(*list(self.running))


def mend(candor: Candor) -> None:
    """Wait until the supervisor has restarted everything."""
    if isinstance(candor, Fleet):
        candor.mend()


def answers(port: int, path: str = "/healthz") -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
            return True
    except OSError:
        return False


def ports(candor: Candor) -> list[int]:
    return candor.ports if isinstance(candor, Fleet) else [candor.port]


def of(candor: Candor, *words: str) -> list[int]:
    """Return the processes of an installation whose command lines have all these words."""
    found = {pid: command_line(pid) for pid in candor.processes()}
    return [pid for pid, line in found.items() if all(word in line for word in words)]


def main_web(candor: Candor) -> list[int]:
    return [pid for pid in of(candor, "operations.serve") if not below(pid, "operations.serve")]


def web_processes(candor: Candor) -> list[int]:
    """Return the processes that answer requests: children of the web server's main process."""
    found = {child for main in of(candor, "operations.serve") for child in descendants(main)}
    return [pid for pid in found if "resource_tracker" not in command_line(pid)]


def pool_processes(candor: Candor) -> list[int]:
    """Return the workers' processes that run tasks."""
    found = of(candor, "celery", "worker")
    return [pid for pid in found if parent(pid) in found and parent(parent(pid)) not in found]


def computations(candor: Candor) -> list[int]:
    """Return the forks that compute analyses."""
    return [pid for pid in of(candor, "celery", "worker") if parent(pid) in pool_processes(candor)]


def parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def below(pid: int, word: str) -> bool:
    """Whether the parent of this process has the word in its command line."""
    return word in command_line(parent(pid))


def kill_9(pids: Iterable[int], number: signal.Signals = signal.SIGKILL) -> list[int]:
    killed = list(pids)
    for pid in killed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    return killed


def freeze(pids: Iterable[int]) -> list[int]:
    """Stop processes with SIGSTOP."""
    return kill_9(pids, signal.SIGSTOP)


def resident(pids: Iterable[int]) -> int:
    """Return the total resident memory of processes in bytes."""
    pages = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Console:
    """A shell inside an installation, so that queries do not need a new process."""

    LOOP = """
import json, sys, traceback
from collections import Counter
from datetime import timedelta
import numpy
from django.core.management import call_command
from django.db import connection
from aggregation.analyses import registry
from aggregation.counting.planes import unpack
from aggregation.jobs import tasks
from aggregation.jobs.requests import request_analysis
from aggregation.models import *
from aggregation.models.heartbeat import Heartbeat
from aggregation.releases.collect import collect
from aggregation.releases.publish import make_release
from survey.models import *
def columns(batch):
    return unpack(batch.columns, batch.reports, batch.survey.frozen_design())
for line in sys.stdin:
    scope = dict(globals())
    try:
        exec(json.loads(line), scope)
        found = {"result": scope.get("result")}
    except Exception:
        found = {"error": traceback.format_exc()}
    connection.close()
    print(json.dumps(found), flush=True)
"""

    def __init__(self, candor: Candor) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v0", "-c", self.LOOP],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=candor.env,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )  # fmt: skip
        self.turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait(WAIT_SECONDS)
        self.process.stdout.close()

    def do(self, code: str) -> Any:
        """Run code; return its `result`."""
        assert self.process.stdin and self.process.stdout
        with self.turn:
            self.process.stdin.write(json.dumps(code).encode() + b"\n")
            self.process.stdin.flush()
            found = json.loads(self.process.stdout.readline())
        assert "error" not in found, found["error"]
        return found["result"]


# --- Senders --------------------------------------------------------------------------------------


class Wire:
    """A persistent connection to a web server, with the little HTTP that a sender needs."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes, seconds: float = 30) -> tuple[int, Any, bytes]:
        """Return status, headers and body; raise OSError or similar without a reply."""
        try:
            async with asyncio.timeout(seconds):
                return await self._post(path, body)
        except BaseException:
            self.close()
            raise

    async def _post(self, path: str, body: bytes) -> tuple[int, Any, bytes]:
        if self.streams is None:
            port = random.choice(self.ports)
            self.streams = await asyncio.open_connection("127.0.0.1", port)
        reader, writer = self.streams
        writer.write(head(path, len(body)) + body)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if line)
        content = await reader.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers, content

    def close(self) -> None:
        if self.streams:
            self.streams[1].transport.abort()
            self.streams = None


def head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


LOST = (OSError, TimeoutError, EOFError, ValueError, KeyError, IndexError)  # no whole reply


class Senders:
    """Senders that repeat the same bytes until their report is acknowledged.

    They run in a thread of their own, from `with` to its end; then no new report is begun, and
    those under way are sent until they are acknowledged. One that is not, for two minutes, is in
    doubt: it may be counted once or not at all.
    """

    def __init__(
        self,
        trial: "Trial",
        number: int = 8,
        rate: float | None = 200,
        give_up: float = WAIT_SECONDS,
    ) -> None:
        self.trial = trial
        self.number = number
        self.pause = number / rate if rate else 0.0  # seconds between two reports of one sender
        self.give_up = give_up
        self.acknowledged: Counter[Cell] = Counter()
        self.doubtful: Counter[Cell] = Counter()
        self.statuses: Counter[int] = Counter()  # of all replies; 0: none came
        self.refusals: Counter[int] = Counter()  # by sender: replies of 503
        self.latencies: list[float] = []  # seconds, of acknowledged reports
        self.trouble: list[str] = []
        self.stopping = False
        self.thread = threading.Thread(target=lambda: asyncio.run(self._all()))

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping = True
        self.thread.join()
        assert not self.trouble, self.trouble[:3]

    @property
    def stored(self) -> int:
        return self.acknowledged.total()

    def await_more(self, reports: int) -> None:
        """Wait until this many more reports are acknowledged."""
        enough = self.stored + reports
        ready = lambda: self.stored >= enough or bool(self.trouble)  # noqa: E731
        wait_until(ready, WAIT_SECONDS, f"{reports} more reports")

    def await_refusals(self) -> None:
        """Wait until each sender was refused, so that earlier requests are answered."""
        before = Counter(self.refusals)
        everybody = lambda: all(self.refusals[i] > before[i] for i in range(self.number))  # noqa: E731
        wait_until(everybody, WAIT_SECONDS, "a refusal for each")

    async def _all(self) -> None:
        await asyncio.gather(*(self._one(i) for i in range(self.number)))

    async def _one(self, number: int) -> None:
        chance = random.Random(number)
        wire = Wire(ports(self.trial.candor))
        await asyncio.sleep(chance.uniform(0, self.pause))
        due = time.monotonic()
        while not self.stopping:
            (cell,) = chance.choices(CELLS, WEIGHTS)
            await self._send(wire, cell, chance, number)
            due = max(due + self.pause, time.monotonic() - 1)  # no bursts after a stop
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        wire.close()

    async def _send(self, wire: Wire, cell: Cell, chance: random.Random, number: int) -> None:
        body = json.dumps(self.trial.report(cell)).encode()
        deadline = time.monotonic() + self.give_up
        while time.monotonic() < deadline:
            began = time.monotonic()
            try:
                status, headers, _ = await wire.post(self.trial.path, body)
            except LOST:
                status, headers = 0, {}
            self.statuses[status] += 1
            self.refusals[number] += status == 503
            if status in (200, 201):
                self.acknowledged[cell] += 1
                self.latencies.append(time.monotonic() - began)
                return
            if status not in (0, 503) or (status == 503 and "retry-after" not in headers):
                self.trouble.append(f"a good report was answered with {status}, {headers}")
                self.doubtful[cell] += 1
                return
            await asyncio.sleep(chance.uniform(0.05, 0.3))
        self.doubtful[cell] += 1


# --- A survey of one test -------------------------------------------------------------------------


class Trial:
    """One survey, what was acknowledged for it, and what is counted."""

    def __init__(self, candor: Candor, console: Console, extra: int = 0) -> None:
        self.candor, self.console, self.extra = candor, console, extra
        self.slug = f"s{uuid4().hex[:16]}"
        self.path = f"/api/v1/surveys/{self.slug}/reports/"
        data = json.dumps(FILE | {"slug": self.slug} | with_more_questions(extra))
        self.hash, self.token = console.do(
            "from survey import files\n"
            f"survey = files.load({data!r}); survey.open()\n"
            "from io import StringIO; out = StringIO()\n"
            f"call_command('api_token', 'alice', create=True, survey=[{self.slug!r}], stdout=out)\n"
            "result = [survey.frozen_design().hash, out.getvalue().split()[-1]]"
        )
        self.acknowledged: Counter[Cell] = Counter()
        self.doubtful: Counter[Cell] = Counter()

    def do(self, code: str) -> Any:
        return self.console.do(f"survey = Survey.objects.get(slug={self.slug!r})\n{code}")

    def report(self, cell: Cell) -> dict[str, Any]:
        return {
            "id": str(uuid4()),
            "design": self.hash,
            "blocks": {"b1": [cell[0]], "b2": [cell[1]], "g1": [cell[2]]} | self._more(),
        }

    def _more(self) -> dict[str, list[int]]:
        return {"b3": random.choices((0, 1), k=self.extra)} if self.extra else {}

    def call(self, path: str, data: Any = None, method: str | None = None) -> Any:
        """Call the API as a researcher at the first web server that answers."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{random.choice(ports(self.candor))}/api/v1/{path}",
            json.dumps(data).encode() if data is not None else None,
            {"Content-Type": "application/json", "Authorization": f"Token {self.token}"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def fill(self, reports: int) -> None:
        """Send many reports quickly, a thousand per request."""
        chance = random.Random(reports)
        for start in range(0, reports, 1000):
            cells = chance.choices(CELLS, WEIGHTS, k=min(1000, reports - start))
            body = {"reports": [self.report(cell) for cell in cells]}
            rows = self.call(f"surveys/{self.slug}/reports/batch/", body)["reports"]
            assert [row["status"] for row in rows] == [201] * len(cells)
            self.acknowledged.update(cells)

    def divide(self, batches: int, reports: int) -> None:
        """Send reports in this many batches and publish them, unless a worker was faster.

        A crowd stays behind.
        """
        self.fill(FILE["crowd"])
        for _ in range(batches):
            self.fill(reports)
            self.do("collect(survey)")
        published = (
            "make_release(survey)\n"
            "result = survey.pending().count() == survey.crowd and"
            " not survey.batches.filter(release=None).exists()"
        )
        wait_until(lambda: bool(self.do(published)), WAIT_SECONDS, "the release of all batches")

    def release(self) -> None:
        """Request a release; if that fails, the beat makes one."""
        with contextlib.suppress(OSError):
            self.call(f"surveys/{self.slug}/releases/", method="POST")

    def analyse(self, **asked: Any) -> str:
        """Request an analysis, again while a release is in progress; return its job."""
        jobs: list[str] = []

        def accepted() -> bool:
            try:
                jobs.append(self.call(f"surveys/{self.slug}/analyses/", asked)["id"])
            except urllib.error.HTTPError as error:
                if error.code not in (400, 503):
                    raise
            return bool(jobs)

        wait_until(accepted, WAIT_SECONDS, "an analysis that is accepted", pause=0.2)
        return jobs[0]

    def undisturbed(self, job: str = "", **asked: Any) -> Any:
        """Return the undisturbed result of an analysis, for the release of a job or the last one.

        Count the sent reports one by one.
        """
        release = (
            f"Job.objects.get(pk={job!r}).analysis.release" if job else "survey.releases.last()"
        )
        return self.do(
            f"asked = {asked!r}; design = survey.frozen_design(); release = {release}\n"
            "question = registry.read(asked, design)\n"
            "names = [one.key for one in design.questions]\n"
            "(axes,) = question.tables()\n"
            "places = [names.index(axis) for axis in axes]\n"
            "table = numpy.zeros([design.questions[place].size for place in places], dtype=int)\n"
            "for batch in Batch.objects.filter(pk__in=release.batch_keys()):\n"
            "    numpy.add.at(table, tuple(columns(batch)[places]), 1)\n"
            "result = registry.figures(question, design, [table])"
        )

    def job(self, pk: str) -> Any:
        return self.call(f"jobs/{pk}/")

    def await_done(self, pk: str) -> Any:
        """Wait for a job to succeed; return its result."""

        def ended() -> bool:
            with contextlib.suppress(OSError):
                return self.job(pk)["state"] not in ("queued", "running")
            return False

        wait_until(ended, WAIT_SECONDS, "the end of a job")
        job = self.job(pk)
        assert job["state"] == "done", job
        return job["result"]

    def await_worker(self) -> None:
        """Wait until workers have taken every message sent before this call."""
        word = f"harness {uuid4().hex}"
        self.console.do(f"tasks.ping.delay({word!r})")
        taken = f"result = Heartbeat.objects.filter(name={word!r}).delete()[0]"
        wait_until(lambda: bool(self.console.do(taken)), WAIT_SECONDS, "a worker")

    def hurry(self) -> None:
        """Expire all leases and retries, as if half a minute had passed."""
        self.console.do(
            "from django.utils import timezone\n"
            "Job.objects.filter(active=True).update(lease=timezone.now() - timedelta(seconds=1))\n"
            "tasks.tick.delay()"
        )

    def waiting(self) -> int:
        return int(self.do("result = survey.pending().count()"))

    def held(self) -> int:
        """Count reports in the inbox and batches, in one statement so that no move interferes."""
        return int(
            self.do(
                "with connection.cursor() as cursor:\n"
                "    cursor.execute('SELECT (SELECT count(*) FROM survey_report"
                " WHERE survey_id = %s AND content IS NOT NULL)"
                " + (SELECT coalesce(sum(reports), 0) FROM aggregation_batch"
                " WHERE survey_id = %s)', [survey.pk, survey.pk])\n"
                "    result = int(cursor.fetchone()[0])"
            )
        )

    def counted(self) -> "Counter[Cell]":
        """Count each cell in the batches."""
        found = self.do(
            "cells = Counter()\n"
            "for batch in survey.batches.all():\n"
            "    rows = columns(batch).T[:, [0, 1, -1]]\n"
            "    cells.update(map(tuple, rows.tolist()))\n"
            "result = [[*cell, n] for cell, n in cells.items()]"
        )
        return Counter({(a, b, c): n for a, b, c, n in found})

    def final(self) -> Any:
        """Return the last release of the closed survey without waiting for the beat."""
        self.do("survey.close()")

        def made() -> bool:
            mend(self.candor)  # a worker may end long after its broker did
            self.release()
            with contextlib.suppress(OSError):
                return bool(self.call(f"surveys/{self.slug}/estimates/")["final"])
            return False

        try:
            wait_until(made, WAIT_SECONDS, "the last release", pause=0.3)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.candor.tail()}") from None
        return self.call(f"surveys/{self.slug}/estimates/")

    def settle(self, *senders: Senders) -> "Counter[Cell]":
        """Close the survey and check that every acknowledged report is counted exactly once."""
        acknowledged = sum((s.acknowledged for s in senders), self.acknowledged)
        doubtful = sum((s.doubtful for s in senders), self.doubtful)
        final, counted = self.final(), self.counted()
        assert self.waiting() == 0
        for cell in CELLS:
            least, most = acknowledged[cell], acknowledged[cell] + doubtful[cell]
            assert least <= counted[cell] <= most, (cell, least, counted[cell], most)
        assert final["reports"] == counted.total() >= acknowledged.total() > 0
        for row in final["estimates"]:
            if row["question"] in PLACES:
                assert row["count"] == matching(counted, row), row
        numbers = [row["release"] for row in self.call(f"surveys/{self.slug}/releases/")]
        assert numbers == list(range(1, len(numbers) + 1))
        return counted


PLACES = {"q1": 0, "q2": 1, "age": 2}
OPTIONS = [["no", "yes"], ["a", "b", "c", "d"], ["under-30", "30-and-over", "prefer-not-to-say"]]


def matching(counted: "Counter[Cell]", row: dict[str, Any]) -> int:
    """Count the reports that belong to one row of a release."""
    wanted = {row["question"]: row["option"]} | ({row["by"]: row["group"]} if row["by"] else {})
    places = {PLACES[key]: OPTIONS[PLACES[key]].index(option) for key, option in wanted.items()}
    return sum(
        n
        for cell, n in counted.items()
        if all(cell[place] == option for place, option in places.items())
    )


@contextlib.contextmanager
def again_and_again(work: Callable[[], None]) -> Iterator[None]:
    """Repeat an action in a thread, at most ten times a second."""
    stop = threading.Event()
    trouble: list[BaseException] = []

    def loop() -> None:
        try:
            while not stop.wait(0.1):
                work()
        except BaseException as error:
            trouble.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    except BaseException as error:
        for one in trouble:  # it may be why nothing came
            error.add_note(f"Meanwhile: {one!r}")
        raise
    finally:
        stop.set()
        thread.join()
    assert not trouble, trouble


def restart(server: Server, after: float = 0) -> None:
    """Crash a server and restart it after some seconds with the same data."""
    server.kill()
    time.sleep(after)
    server.start()


def forget_all(redis: Redis) -> None:
    """Crash a server and restart it without its data."""
    redis.kill()
    shutil.rmtree(redis.folder / "appendonlydir")
    redis.start()


class Machines(NamedTuple):
    """Two web servers of two processes each, three workers and a beat, on servers of their own."""

    fleet: Fleet
    postgresql: PostgreSQL
    redis: Redis
    console: Console

    def trial(self) -> Trial:
        return Trial(self.fleet, self.console)


def released(trial: Trial) -> int:
    """Count the releases."""
    return len(trial.call(f"surveys/{trial.slug}/releases/"))
