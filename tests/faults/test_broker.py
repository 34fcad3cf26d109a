"""The embedded broker with real processes: no message is lost, repeated or left over.

Each test has a broker file of its own and Celery workers of a tiny application, whose tasks write
down what they did, one line each, in one file.
"""

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from kombu import Connection

import config.celery  # noqa: F401  (makes the transport known to kombu)
from operations.broker import FILES
from tests.support.services import ROOT, clean_environment, descendants, die_with_parent, wait_until

pytestmark = pytest.mark.faults

TINY = """
import fcntl, os, pathlib
import config.celery
from celery import Celery

# Without Django: this is about messages alone.
app = Celery("tiny", broker="candor-sqlite://" + os.environ["BROKER"], fixups=[])
app.conf.update(
    broker_transport_options={"visibility_timeout": float(os.environ["VISIBILITY"])},
    broker_connection_retry_on_startup=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_lost_wait=1,
    task_ignore_result=True,
    worker_prefetch_multiplier=int(os.environ.get("PREFETCH", "1")),
)
FOLDER = pathlib.Path(os.environ["BROKER"]).parent

def write(name, label):
    with open(FOLDER / name, "a") as file:
        file.write(f"{label}\\n")

@app.task
def note(label, hold=False):
    write("begun", label)
    if hold:
        with open(FOLDER / "hold") as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # until the test lets go
    write("done", label)
"""
PRODUCER = """
import sys
from tiny import note
for i in range(250):
    note.delay(f"{sys.argv[1]}-{i}")
"""
QUEUE = "celery"


class Tiny:
    """A broker file, its workers, and what their tasks wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broker = folder / "broker.sqlite3"
        self.started: list[subprocess.Popen[bytes]] = []
        (folder / "tiny.py").write_text(TINY)

    def python(self, *arguments: str, visibility: float, **more: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore::UserWarning:celery.platforms", *arguments],
            cwd=self.folder,
            env={
                **clean_environment(),
                "PYTHONPATH": str(ROOT),
                "BROKER": str(self.broker),
                "VISIBILITY": str(visibility),
                **more,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )
        self.started.append(process)
        return process

    def worker(
        self, concurrency: int = 1, visibility: float = 600, **more: str
    ) -> "subprocess.Popen[bytes]":
        size = ["--concurrency", str(concurrency), "--loglevel", "ERROR"]
        return self.python(
            *("-m", "celery", "--quiet", "--app", "tiny", "worker", *size),
            visibility=visibility,
            **more,
        )

    def send(self, *labels: str, hold: bool = False) -> None:
        code = f"from tiny import note\nfor x in {labels!r}: note.delay(x, hold={hold})"
        assert self.python("-c", code, visibility=600).wait(60) == 0

    def hold(self) -> None:
        self.held = (self.folder / "hold").open("w")
        fcntl.flock(self.held, fcntl.LOCK_EX)

    def release(self) -> None:
        self.held.close()

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return sorted(path.read_text().split()) if path.exists() else []

    def await_lines(self, name: str, number: int, seconds: float = 60) -> list[str]:
        wait_until(lambda: len(self.lines(name)) >= number, seconds, f"{number} × {name}")
        return self.lines(name)

    def connect(self) -> Connection:
        options = {"visibility_timeout": 600}
        return Connection(f"candor-sqlite://{self.broker}", transport_options=options)

    def rows(self) -> int:
        """Return all messages in the file, hidden ones included."""
        with closing(sqlite3.connect(self.broker)) as file:
            return int(file.execute("SELECT count(*) FROM message").fetchone()[0])

    def hidden_until(self) -> float:
        """Return when the last hidden message becomes visible."""
        with closing(sqlite3.connect(self.broker)) as file:
            return float(file.execute("SELECT max(visible) FROM message").fetchone()[0])

    def pass_time(self, seconds: float) -> None:
        """Pretend that this much time has passed for the messages in the file."""
        with closing(sqlite3.connect(self.broker)) as file, file:
            file.execute("UPDATE message SET visible = visible - ?", [seconds])

    def await_empty(self) -> None:
        wait_until(lambda: self.rows() == 0, 60, "every message acknowledged")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    tiny = Tiny(tmp_path)
    yield tiny
    for process in tiny.started:
        kill_all(process)


def kill_all(process: "subprocess.Popen[bytes]") -> None:
    """Kill a worker and its pool at once with -9."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# --- Workers --------------------------------------------------------------------------------------


def test_four_producers_and_three_workers_do_every_message_exactly_once(tiny: Tiny) -> None:
    for _ in range(3):
        tiny.worker(concurrency=2)
    producers = [tiny.python("-c", PRODUCER, name, visibility=600) for name in "abcd"]
    assert [producer.wait(60) for producer in producers] == [0, 0, 0, 0]
    expected = sorted(f"{name}-{i}" for name in "abcd" for i in range(250))
    assert tiny.await_lines("done", 1000) == expected
    tiny.await_empty()
    assert tiny.lines("begun") == expected


def test_messages_of_a_killed_worker_come_back_after_the_visibility_timeout(tiny: Tiny) -> None:
    tiny.hold()
    tiny.send("a", "b", "c", "d", hold=True)
    victim = tiny.worker(concurrency=2, visibility=600, PREFETCH="2")
    tiny.await_lines("begun", 2)
    wait_until(lambda: ready(tiny) == 0, 60, "all four messages in flight")
    kill_all(victim)
    tiny.release()
    tiny.worker(concurrency=2, visibility=600)
    tiny.send("e")
    tiny.await_lines("done", 1)
    tiny.pass_time(550)
    tiny.send("f")
    # No other message was taken while someone might still have been working on it.
    assert tiny.await_lines("done", 2) == ["e", "f"]
    tiny.pass_time(51)
    assert tiny.await_lines("done", 6) == ["a", "b", "c", "d", "e", "f"]
    tiny.await_empty()


def test_work_longer_than_the_visibility_timeout_is_not_started_twice(tiny: Tiny) -> None:
    tiny.hold()
    tiny.send("long", hold=True)
    tiny.worker(visibility=8)
    tiny.await_lines("begun", 1)
    shown = tiny.hidden_until() + 8
    wait_until(lambda: tiny.hidden_until() >= shown, 60, "a timeout that has passed")
    tiny.worker(visibility=8)
    tiny.send("short")
    assert tiny.await_lines("done", 1) == ["short"]  # by the second worker, which has polled
    tiny.release()
    tiny.await_lines("done", 2)
    tiny.await_empty()
    assert tiny.lines("begun") == ["long", "short"]


def test_a_stopped_worker_finishes_its_work_and_returns_the_rest(tiny: Tiny) -> None:
    tiny.hold()
    tiny.send("first", "second", "third", "fourth", hold=True)
    worker = tiny.worker(PREFETCH="4")
    tiny.await_lines("begun", 1)
    wait_until(lambda: ready(tiny) == 0, 60, "all four messages taken")
    worker.terminate()
    tiny.release()
    assert worker.wait(60) == 0
    assert tiny.lines("done") == ["first"]
    assert ready(tiny) == tiny.rows() == 3


def test_the_message_of_a_killed_process_is_done_by_the_next(tiny: Tiny) -> None:
    tiny.hold()
    tiny.send("a", hold=True)
    worker = tiny.worker()
    tiny.await_lines("begun", 1)
    (child,) = descendants(worker.pid)
    tiny.release()
    os.kill(child, signal.SIGKILL)
    assert tiny.await_lines("done", 1, seconds=60) == ["a"]


# --- Forks ----------------------------------------------------------------------------------------


def fork(work: Callable[[], object]) -> int:
    """Run this in a fork; return the fork's process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return child


def status(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_process_opens_its_own_connection(tiny: Tiny) -> None:
    with tiny.connect() as connection:
        queue = connection.SimpleQueue("plain")
        queue.put("held by the parent")
        held = queue.get_nowait()
        inherited = FILES.open(str(tiny.broker))

        def work() -> None:
            assert FILES.open(str(tiny.broker)) is not inherited
            queue.put("from the child")
            message = queue.get_nowait()
            assert message.payload == "from the child"
            message.ack()
            connection.close()  # must not return the parent's messages

        assert status(fork(work)) == 0
        assert queue.qsize() == 0
        assert tiny.rows() == 1
        held.ack()
        assert tiny.rows() == 0
        queue.close()
    with closing(sqlite3.connect(tiny.broker)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_many_processes_may_open_a_new_file_at_the_same_moment(tmp_path: Path) -> None:
    """Without the lock, one round in ten fails with "database is locked"."""
    for number in range(40):
        path = str(tmp_path / str(number))
        gate, opener = os.pipe()

        def work(path: str = path, gate: int = gate, opener: int = opener) -> None:
            os.close(opener)
            os.read(gate, 1)  # until the parent lets go
            FILES.open(path)

        children = [fork(work) for _ in range(8)]
        os.close(opener)
        os.close(gate)
        assert [status(child) for child in children] == [0] * 8


# --- Queues ---------------------------------------------------------------------------------------


def ready(tiny: Tiny, queue: str = QUEUE) -> int:
    with tiny.connect() as connection, connection.channel() as channel:
        return int(channel._size(queue))


def test_size_and_purge_count_what_can_be_taken(tiny: Tiny) -> None:
    with tiny.connect() as connection, connection.SimpleQueue("plain") as queue:
        for i in range(5):
            queue.put(i)
        held = queue.get_nowait()
        assert queue.qsize() == 4
        assert queue.clear() == 4
        assert queue.qsize() == 0
        held.requeue()
        assert queue.qsize() == 1
        assert ready(tiny, "another") == 0


def test_messages_keep_their_order_and_returned_ones_come_first(tiny: Tiny) -> None:
    with tiny.connect() as connection, connection.SimpleQueue("plain") as queue:
        for i in range(3):
            queue.put(i)
        queue.get_nowait().requeue()
        taken = [queue.get_nowait() for _ in range(3)]
        assert [message.payload for message in taken] == [0, 1, 2]
        with pytest.raises(queue.Empty):
            queue.get_nowait()
        taken[0].ack()
        taken[1].reject()
    assert tiny.rows() == ready(tiny, "plain") == 1  # closing gave the third one back


def test_without_acknowledgement_a_taken_message_is_deleted(tiny: Tiny) -> None:
    with tiny.connect() as connection, connection.SimpleQueue("plain", no_ack=True) as queue:
        queue.put("x")
        queue.put("y")
        assert queue.get(timeout=60).payload == "x"
        assert queue.get_nowait().payload == "y"
        assert tiny.rows() == 0


def test_every_bound_queue_gets_a_message_of_its_own(tiny: Tiny) -> None:
    with tiny.connect() as connection, connection.channel() as channel:
        channel.exchange_declare("news", "direct")
        for name in ("one", "two"):
            channel.queue_declare(name)
            channel.queue_bind(name, "news", "all")
        message = channel.prepare_message("body", content_type="text/plain")
        channel.basic_publish(message, "news", "all")
        channel.basic_get("one", no_ack=True)
        assert (channel._size("one"), channel._size("two")) == (0, 1)
        channel.queue_delete("two")
        assert tiny.rows() == 0


def test_an_acknowledged_message_is_overwritten_in_the_file(tiny: Tiny) -> None:
    with tiny.connect() as connection, connection.SimpleQueue("plain") as queue:
        for _ in range(20):
            queue.put("x", headers={"mark": "canary-7391"})
        with closing(sqlite3.connect(tiny.broker)) as file:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert b"canary-7391" in tiny.broker.read_bytes()
            for _ in range(20):
                queue.get_nowait().ack()
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert b"canary-7391" not in tiny.broker.read_bytes()
