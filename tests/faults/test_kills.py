"""Killing every program under load: each acknowledged report is counted once.

Each test repeats its fault. `Trial.hurry` stands for the half minute after which work whose worker
died is taken up again; that this happens without it is in test_conservation.py.
"""

import http.client
import json
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.harness import (
    CELLS,
    WAIT_SECONDS,
    Machines,
    Senders,
    Trial,
    computations,
    freeze,
    kill_9,
    main_web,
    mend,
    pool_processes,
    released,
    web_processes,
)
from tests.support.marks import ON_BOTH, on_both
from tests.support.services import wait_until

pytestmark = pytest.mark.faults


# --- Web processes --------------------------------------------------------------------------------


@ON_BOTH
def test_nothing_is_lost_when_a_web_process_is_killed(trial: Trial) -> None:
    """One of the processes that answer requests, three times; its main process starts another.

    Or ends, if the other was killed at once, and leaves it to whoever watches over it.
    """
    chance = random.Random(3)
    with Senders(trial) as senders:
        for _ in range(3):
            senders.await_more(60)
            (victim,) = kill_9(chance.sample(web_processes(trial.candor), 1))
            trial.release()
            wait_until(lambda: victim not in web_processes(trial.candor), WAIT_SECONDS, "its end")  # noqa: B023
            mend(trial.candor)
        senders.await_more(60)
    assert senders.statuses[0] > 0  # some requests failed
    trial.settle(senders)


@ON_BOTH
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "asked"])
def test_nothing_is_lost_when_the_web_server_ends(trial: Trial, number: signal.Signals) -> None:
    """Killing the main process ends those that answer requests; all are restarted."""
    with Senders(trial) as senders:
        for _ in range(2):
            senders.await_more(60)
            before = web_processes(trial.candor)
            kill_9(main_web(trial.candor), number)
            gone = lambda: not set(before) & set(web_processes(trial.candor))  # noqa: E731, B023
            wait_until(gone, WAIT_SECONDS, "the end of its processes")
            mend(trial.candor)
            senders.await_more(60)
    trial.settle(senders)


@pytest.mark.postgresql
@pytest.mark.redis
def test_a_report_in_flight_is_stored_before_the_web_server_ends(machines: Machines) -> None:
    """One sender waits for the reply and gets it; the other has hung up."""
    trial = machines.trial()
    reports = [trial.report(CELLS[0]) for _ in machines.fleet.ports]
    before = web_processes(machines.fleet)
    with held(machines, "survey_report", "SHARE"):
        senders = []
        for port, report in zip(machines.fleet.ports, reports, strict=True):
            senders.append(http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS))
            kind = {"Content-Type": "application/json"}
            senders[-1].request("POST", trial.path, json.dumps(report), kind)
            on_its_way = lambda: stuck(machines, "INSERT INTO survey_report") == len(senders)  # noqa: E731, B023
            wait_until(on_its_way, WAIT_SECONDS, "a report that waits for the table")
        waits, hung_up = senders
        hung_up.close()
        kill_9(main_web(machines.fleet), signal.SIGTERM)
    assert waits.getresponse().status == 201
    waits.close()
    gone = lambda: not set(before) & set(web_processes(machines.fleet))  # noqa: E731
    wait_until(gone, WAIT_SECONDS, "the end of the web servers")
    ids = [report["id"] for report in reports]
    assert trial.do(f"result = survey.reports.filter(pk__in={ids!r}).count()") == 2


# --- Workers --------------------------------------------------------------------------------------


@on_both(pytest.mark.smoke)
def test_a_worker_killed_at_any_moment_moves_all_or_nothing(trial: Trial) -> None:
    """Four times in 20,000 reports, the next worker finds all or nothing moved."""
    trial.fill(20_000)
    for moment in (
        "True",  # just asked for
        "survey.jobs.filter(active=True, state='running').exists()",
        "survey.batches.exists()",  # moved, and not yet released
        "survey.releases.exists()",
    ):
        trial.release()
        there = f"result = {moment} or not survey.jobs.filter(active=True).exists()"
        wait_until(lambda: bool(trial.do(there)), WAIT_SECONDS, moment)  # noqa: B023
        kill_9(pool_processes(trial.candor))
        assert trial.held() == 20_000
        trial.hurry()
    trial.settle()


@contextmanager
def held(machines: Machines, table: str, mode: str) -> Iterator[None]:
    """Lock a table, so that a writer stops halfway."""
    import psycopg

    with psycopg.connect(machines.fleet.env["DATABASE_URL"]) as connection:
        connection.execute(f"LOCK TABLE {table} IN {mode} MODE")
        yield
        connection.rollback()


def stuck(machines: Machines, statement: str = "") -> int:
    """Count the workers' statements that wait for a lock."""
    import psycopg

    with psycopg.connect(machines.fleet.env["DATABASE_URL"]) as connection:
        (number,) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database() AND query LIKE %s", [f"%{statement}%"]
        ).fetchone() or (0,)  # fmt: skip
    return int(number)


@pytest.mark.postgresql
@pytest.mark.redis
def test_a_worker_killed_between_inbox_and_batch_loses_no_reports(machines: Machines) -> None:
    """It is killed after emptying the inbox and before storing the batch; nothing is committed."""
    trial = machines.trial()
    with held(machines, "aggregation_batch", "SHARE"):
        trial.fill(2_000)
        trial.release()
        wait_until(
            lambda: stuck(machines, "aggregation_batch") > 0, WAIT_SECONDS, "a move half-way"
        )
        for number in (1, 2):
            wait_until(lambda: stuck(machines) >= number, WAIT_SECONDS, "another attempt")  # noqa: B023
            kill_9(pool_processes(trial.candor))
            assert trial.waiting() == 2_000
            trial.hurry()
    trial.settle()


@pytest.mark.postgresql
@pytest.mark.redis
def test_killing_workers_does_not_change_an_analysis(machines: Machines) -> None:
    """Workers are killed while counting and twice while computing; the results are the same."""
    trial = Trial(machines.fleet, machines.console, extra=6)
    trial.divide(batches=18, reports=100)
    asked = {"kind": "profiles", "questions": [f"more{i}" for i in range(6)], "classes": 3}
    with machines.fleet.frozen("worker"):
        job = trial.analyse(**asked)
        frozen = held(machines, "aggregation_part", "EXCLUSIVE")
        frozen.__enter__()
    wait_until(lambda: stuck(machines, "aggregation_part") > 0, WAIT_SECONDS, "a part half-way")
    kill_9(pool_processes(trial.candor))
    frozen.__exit__(None, None, None)
    trial.hurry()
    for _ in range(2):
        wait_until(lambda: bool(computations(trial.candor)), WAIT_SECONDS, "a computation")
        orphans = freeze(computations(trial.candor))
        kill_9(pool_processes(trial.candor))
        gone = lambda: not set(orphans) & set(trial.candor.processes())  # noqa: E731, B023
        wait_until(gone, WAIT_SECONDS, "the end of the forks of killed workers")
        trial.hurry()
    assert trial.await_done(job) == trial.undisturbed(job, **asked)
    assert not computations(trial.candor)
    assert trial.do("result = Part.objects.filter(analysis__release__survey=survey).count()") == 0
    trial.settle()


# --- Beats ----------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
def test_two_schedulers_or_none_lose_and_repeat_nothing(machines: Machines) -> None:
    """Without a beat nothing starts automatically; with two, nothing is done twice."""
    fleet, trial = machines.fleet, machines.trial()
    with Senders(trial) as senders:
        fleet.end("beat0")
        senders.await_more(60)
        before = released(trial)
        fleet.commands["beat1"] = fleet.commands["beat0"]
        fleet.mend()
        wait_until(
            lambda: released(trial) > before, WAIT_SECONDS, "a release that nobody asked for"
        )
        fleet.end("beat0")
        before = released(trial)
        senders.await_more(60)
        wait_until(lambda: released(trial) > before, WAIT_SECONDS, "another one")
        fleet.mend()
    trial.settle(senders)
    del fleet.commands["beat1"]
    fleet.end("beat1")
