"""Jobs: one per survey, taken over from dead workers, and their messages."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from aggregation.jobs import tasks
from aggregation.models import Batch, Job, Release
from aggregation.models import job as jobs
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def test_a_job_moves_and_releases() -> None:
    survey = builders.opened()
    builders.send(survey, 50)
    job = Job.objects.create(survey=survey)
    tasks.run(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.active, job.progress) == ("done", False, 1)
    assert job.result == {"release": 1, "new": 30, "waiting": 20, "crowd": 20}


def test_a_message_that_comes_twice_changes_nothing() -> None:
    survey = builders.opened()
    builders.send(survey, 50)
    job = Job.objects.create(survey=survey)
    for _ in range(3):
        tasks.run(str(job.pk))
    assert Release.objects.count() == Batch.objects.count() == 1


def test_a_message_for_a_deleted_job_does_nothing() -> None:
    tasks.run("00000000-0000-4000-8000-000000000000")


def test_a_job_below_the_crowd_says_so() -> None:
    survey = builders.opened()
    builders.send(survey, 3)
    job = Job.objects.create(survey=survey)
    tasks.run(str(job.pk))
    job.refresh_from_db()
    assert job.result == {"release": None, "new": 0, "waiting": 0, "crowd": 20}


def test_a_survey_has_one_job_at_a_time() -> None:
    survey = builders.opened()
    first = Job.objects.request(survey)
    assert Job.objects.request(survey) == first
    Job.objects.update(active=False, state="done")
    assert Job.objects.request(survey) != first


def test_a_job_of_a_dead_worker_is_taken_over() -> None:
    survey = builders.opened()
    job = Job.objects.create(survey=survey)
    first = Job.objects.claim(job.pk)
    assert first is not None and Job.objects.claim(job.pk) is None
    Job.objects.update(lease=timezone.now() - timedelta(seconds=1))
    assert list(Job.objects.stale()) == [job]
    second = Job.objects.claim(job.pk)
    assert second is not None and second.attempt == 2
    first.finish(state="failed")  # the first worker was only slow: its result no longer counts
    job.refresh_from_db()
    assert job.state == "running"
    second.finish(state="done")
    job.refresh_from_db()
    assert job.state == "done"


def test_a_failure_is_shown_without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    job = Job.objects.create(survey=survey)

    def broken(job: Job) -> None:
        raise ValueError("secret")

    monkeypatch.setattr(tasks, "release", broken)
    tasks.run(str(job.pk))
    job.refresh_from_db()
    assert job.state == "failed" and "ValueError" in job.error and "secret" not in job.error


def test_a_job_is_given_up_after_several_attempts() -> None:
    job = Job.objects.create(survey=builders.opened(), attempt=Job.MAX_ATTEMPTS)
    tasks.run(str(job.pk))
    job.refresh_from_db()
    assert job.state == "failed" and not job.active


def test_messages_carry_ids_only(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    app = SimpleNamespace(send_task=lambda *args: sent.append(args))
    monkeypatch.setattr(jobs, "current_app", app)
    survey = builders.opened()
    with transaction.atomic():
        job = Job.objects.request(survey)
        job.send()
    connection.run_on_commit, hooks = [], connection.run_on_commit
    for _, hook, _ in hooks:
        hook()
    assert [(name, *keys) for name, keys in sent] == [(tasks.run.name, str(job.pk))] * 2
