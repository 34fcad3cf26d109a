"""PostgreSQL and Redis fail under load and come back; messages are repeated and reordered.

Web servers and workers are never touched here: they find their way back.
"""

import shutil
import urllib.error
import urllib.request
from collections import Counter
from random import Random

import pytest

from tests.support.harness import (
    CELLS,
    WAIT_SECONDS,
    Machines,
    Senders,
    Trial,
    again_and_again,
    ports,
    released,
    restart,
)
from tests.support.marks import ON_BOTH
from tests.support.services import wait_until

pytestmark = pytest.mark.faults

CHANCE = Random(1)


# --- PostgreSQL -----------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
def test_nothing_is_lost_when_postgresql_is_killed(machines: Machines) -> None:
    """It is killed twice. Meanwhile every path answers 503 with Retry-After, never 2xx."""
    trial = machines.trial()
    seen: Counter[tuple[str, int]] = Counter()

    def look() -> None:
        for path in ("/", f"/s/{trial.slug}/", f"/api/v1/surveys/{trial.slug}/", "/healthz"):
            seen[path, status_of(trial, path)] += 1

    with Senders(trial) as senders, again_and_again(look):
        for _ in range(2):
            senders.await_more(60)
            trial.release()
            machines.postgresql.kill()
            senders.await_refusals()
            stored, before = senders.stored, Counter(seen)
            senders.await_refusals()
            for path in ("/healthz", f"/api/v1/surveys/{trial.slug}/"):
                refused = lambda: seen[path, 503] > before[path, 503]  # noqa: E731, B023
                wait_until(refused, WAIT_SECONDS, f"a refusal at {path}")
            assert senders.stored == stored
            machines.postgresql.start()
            senders.await_more(60)
    for _ in range(8):  # every process, and several of its threads
        assert status_of(trial, f"/api/v1/surveys/{trial.slug}/") == 200
    before = released(trial)
    trial.fill(40)
    wait_until(lambda: released(trial) > before, WAIT_SECONDS, "a release that nobody asked for")
    trial.settle(senders)
    assert {status for _, status in seen} == {200, 503}, seen
    assert not senders.doubtful


@pytest.mark.postgresql
@pytest.mark.redis
def test_no_report_is_refused_after_a_restart_of_postgresql(machines: Machines) -> None:
    """Every process finds its connections closed and retries once on new ones.

    One for what it stores, and one to look up a survey that it does not know.
    """
    known, new = machines.trial(), machines.trial()

    def send(trial: Trial) -> None:
        for _ in range(40):  # so that every process gets some
            trial.call(f"surveys/{trial.slug}/reports/", trial.report(CELLS[0]))

    send(known)
    restart(machines.postgresql)
    send(known)
    send(new)
    assert (known.held(), new.held()) == (80, 40)


def status_of(trial: Trial, path: str) -> int:
    """Return the status of a page; a 503 must have Retry-After."""
    url = f"http://127.0.0.1:{CHANCE.choice(ports(trial.candor))}{path}"
    try:
        with urllib.request.urlopen(url, timeout=WAIT_SECONDS) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        assert error.code != 503 or error.headers["Retry-After"]
        return error.code


# --- Redis ----------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.parametrize("memory", [True, False])
def test_reports_do_not_notice_that_redis_is_killed(machines: Machines, memory: bool) -> None:
    """It is killed twice and comes back with its data or empty. Reports are not affected.

    Celery's workers find their way back, or end (kombu fails when it acknowledges a message of a
    connection that is gone) and are started again by whoever watches over them.
    """
    trial = machines.trial()
    with Senders(trial) as senders:
        # A process may still have a connection from before PostgreSQL was killed, in another test.
        senders.await_more(60)
        before = Counter(senders.statuses)
        for _ in range(2):
            senders.await_more(60)
            trial.release()
            machines.redis.kill()
            if not memory:
                shutil.rmtree(machines.redis.folder / "appendonlydir")
            trial.call(f"surveys/{trial.slug}/releases/", method="POST")  # the beat will send it
            senders.await_more(60)
            machines.redis.start()
            await_release(machines, trial)
    assert set(senders.statuses - before) == {201}
    trial.settle(senders)


def await_release(machines: Machines, trial: Trial) -> None:
    before = released(trial)

    def made() -> bool:
        machines.fleet.mend()
        return released(trial) > before

    wait_until(made, WAIT_SECONDS, "a release")


# --- Messages -------------------------------------------------------------------------------------


@ON_BOTH
def test_repeated_and_disordered_messages_change_nothing(trial: Trial) -> None:
    """Send every possible message three times in random order while workers run, then again.

    Those of this survey: of jobs that wait, run, have ended or were cancelled, and of parts that
    are being counted or are long gone.
    """
    flood = (
        "from random import Random\n"
        "jobs = [str(pk) for pk in survey.jobs.values_list('pk', flat=True)]\n"
        "parts = Part.objects.filter(analysis__release__survey=survey)\n"
        "parts = [*parts.values_list('pk', flat=True), 10**9]\n"
        "messages = [(tasks.tick, ())] * 3\n"
        "messages += [(tasks.run, (job,)) for job in jobs] * 3\n"
        "messages += [(tasks.count, (job, part)) for job in jobs[-4:] for part in parts] * 3\n"
        "Random(len(messages)).shuffle(messages)\n"
        "for task, arguments in messages:\n    task.delay(*arguments)\n"
        "result = len(messages)"
    )
    trial.divide(batches=10, reports=40)
    crosstab = {"kind": "crosstab", "questions": ["q1", "q2"]}
    job = trial.analyse(**crosstab)
    other = trial.analyse(kind="regression", outcome="q1", predictors=[{"question": "age"}])
    with Senders(trial) as senders:
        for round_ in range(3):
            trial.release()
            assert trial.do(flood) >= 10
            senders.await_more(30)
            if round_ == 1:
                trial.call(f"jobs/{other}/", method="DELETE")
    assert trial.await_done(job) == trial.undisturbed(job, **crosstab)
    trial.settle(senders)
    before = trial.call(f"surveys/{trial.slug}/estimates/")
    trial.do(flood)
    trial.await_worker()
    wait_until(
        lambda: trial.do("result = not survey.jobs.filter(active=True).exists()"),
        WAIT_SECONDS,
        "rest",
    )
    assert trial.call(f"surveys/{trial.slug}/estimates/") == before
    states = trial.do("result = sorted(survey.jobs.values_list('state', flat=True).distinct())")
    assert set(states) <= {"done", "cancelled"}
