"""Two web servers, three workers, PostgreSQL and Redis at work together."""

import pytest
from celery import Celery

from tests.support.harness import WAIT_SECONDS, Machines, Senders, again_and_again

pytestmark = [pytest.mark.faults, pytest.mark.postgresql, pytest.mark.redis]


def done_by(machines: Machines, task: str) -> dict[str, int]:
    """Return how many of these tasks each worker reports to have started."""
    with Celery(broker=machines.redis.url) as app:
        answers = app.control.inspect(timeout=WAIT_SECONDS, limit=3).stats() or {}  # all three
    return {name: said["total"].get(task, 0) for name, said in answers.items()}


def test_three_workers_share_the_work_of_two_web_servers(machines: Machines) -> None:
    """Three surveys are released repeatedly and analysed; the figures add up."""
    trials = [machines.trial() for _ in range(3)]
    trials[0].divide(batches=20, reports=100)
    asked = [
        {"kind": "crosstab", "questions": ["q1", "q2"]},
        {"kind": "crosstab", "questions": ["q1", "q2", "age"]},
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "age"}]},
        {"kind": "regression", "outcome": "q2", "option": "b", "predictors": [{"question": "q1"}]},
        {"kind": "profiles", "questions": ["q1", "q2"], "classes": 2},
    ]
    before = {
        task: done_by(machines, f"aggregation.jobs.tasks.{task}") for task in ("run", "count")
    }
    with (
        Senders(trials[1]) as first,
        Senders(trials[2]) as second,
        again_and_again(trials[1].release),
        again_and_again(trials[2].release),
    ):
        jobs = [trials[0].analyse(**each) for each in asked]
        found = [trials[0].await_done(job) for job in jobs]
        first.await_more(100)
        second.await_more(100)
    assert found == [
        trials[0].undisturbed(job, **each) for job, each in zip(jobs, asked, strict=True)
    ]
    trials[0].settle()
    trials[1].settle(first)
    trials[2].settle(second)
    for task, earlier in before.items():
        now = done_by(machines, f"aggregation.jobs.tasks.{task}")
        assert set(now) == {f"worker{i}@candor" for i in range(3)}
        assert sum(number > earlier[name] for name, number in now.items()) >= 2, (task, now)
