"""PostgreSQL and Redis go away under load and come back; messages come twice, late and mixed up.

Web servers and workers are never touched here: they find their way back.
"""

import random
import shutil
import time
import urllib.error
import urllib.request
from collections import Counter

import pytest

from tests.faults.conftest import Machines
from tests.faults.harness import Senders, Trial, again_and_again, ports
from tests.faults.test_kills import ON_BOTH, released
from tests.services import wait_until

pytestmark = pytest.mark.faults


# --- PostgreSQL -----------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
def test_postgresql_is_killed_under_load(machines: Machines) -> None:
    """Twice, all of it with -9. Meanwhile 503 with Retry-After, and never a 2xx, on every path."""
    trial = machines.trial()
    seen: Counter[tuple[str, int]] = Counter()

    def look() -> None:
        for path in ("/", f"/s/{trial.slug}/", f"/api/v1/surveys/{trial.slug}/", "/healthz"):
            seen[path, status_of(trial, path)] += 1
        time.sleep(0.1)

    with Senders(trial) as senders, again_and_again(look):
        for _ in range(2):
            senders.await_more(60)
            trial.release()
            machines.postgresql.kill()
            await_refusals(senders)  # what was on its way has arrived
            stored = senders.stored
            await_refusals(senders)
            assert senders.stored == stored
            machines.postgresql.start()
            senders.await_more(60)
    for _ in range(8):  # every process, and several of its threads
        assert status_of(trial, f"/api/v1/surveys/{trial.slug}/") == 200
    before = released(trial)
    trial.fill(30)
    wait_until(lambda: released(trial) > before, 90, "a release that nobody asked for")
    trial.settle(senders)
    assert {status for _, status in seen} == {200, 503}, seen
    assert seen["/healthz", 503] and seen[f"/api/v1/surveys/{trial.slug}/", 503]
    assert not senders.doubtful


def await_refusals(senders: Senders) -> None:
    """Several for each sender."""
    enough = senders.statuses[503] + 5 * senders.number
    wait_until(lambda: senders.statuses[503] >= enough, 90, "refusals")


def status_of(trial: Trial, path: str) -> int:
    """Of a page; a 503 says when to come again."""
    url = f"http://127.0.0.1:{random.choice(ports(trial.candor))}{path}"
    try:
        with urllib.request.urlopen(url, timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        assert error.code != 503 or error.headers["Retry-After"]
        return error.code


# --- Redis ----------------------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
@pytest.mark.parametrize("memory", [True, False])
def test_redis_is_killed_under_load(machines: Machines, memory: bool) -> None:
    """Twice; it comes back with what it had, or with nothing. Reports never notice.

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
            asked = time.monotonic()
            trial.call(f"surveys/{trial.slug}/releases/", method="POST")  # the beat will send it
            assert time.monotonic() - asked < 20
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

    wait_until(made, 90, "a release")


# --- Messages -------------------------------------------------------------------------------------


@ON_BOTH
def test_messages_come_twice_late_and_out_of_order(trial: Trial) -> None:
    """Every message that there could be, three times, mixed up, while workers run; then once more.

    Those of this survey: of jobs that wait, run, have ended or were cancelled, and of parts that
    are being counted or are long gone.
    """
    flood = (
        "import random\n"
        "jobs = [str(pk) for pk in survey.jobs.values_list('pk', flat=True)]\n"
        "parts = Part.objects.filter(analysis__release__survey=survey)\n"
        "parts = [*parts.values_list('pk', flat=True), 10**9]\n"
        "messages = [(tasks.tick, ())] * 3\n"
        "messages += [(tasks.run, (job,)) for job in jobs] * 3\n"
        "messages += [(tasks.count, (job, part)) for job in jobs[-4:] for part in parts] * 3\n"
        "random.shuffle(messages)\n"
        "for task, arguments in messages:\n    task.delay(*arguments)\n"
        "result = len(messages)"
    )
    trial.divide(batches=10, reports=40)
    crosstab = {"kind": "crosstab", "questions": ["q1", "q2"]}
    job = trial.analyse(**crosstab)
    other = trial.analyse(kind="regression", outcome="q1", strata=["age"])
    with Senders(trial) as senders:
        for round_ in range(3):
            trial.release()
            assert trial.do(flood) >= 10
            senders.await_more(30)
            if round_ == 1:
                trial.call(f"jobs/{other}/", method="DELETE")
    found = trial.await_done(job)
    trial.settle(senders)
    assert found == trial.undisturbed(job, **crosstab)
    before = trial.call(f"surveys/{trial.slug}/estimates/")
    trial.do(flood)
    trial.do("tasks.tick.delay()")
    wait_until(
        lambda: trial.do("result = not survey.jobs.filter(active=True).exists()"), 60, "rest"
    )
    time.sleep(1)
    assert trial.call(f"surveys/{trial.slug}/estimates/") == before
    states = trial.do("result = sorted(survey.jobs.values_list('state', flat=True).distinct())")
    assert set(states) <= {"done", "cancelled"}
