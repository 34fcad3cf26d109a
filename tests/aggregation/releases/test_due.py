"""What the beat finds to do, and what that costs."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aggregation.jobs import tasks
from aggregation.models import Job, Release
from aggregation.releases import due as finder
from aggregation.releases.collect import collect
from aggregation.releases.due import due
from aggregation.releases.publish import make_release, publish
from survey.models import Report, Survey, today
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def names() -> list[str]:
    return sorted(survey.slug for survey in due())


def run(survey: Survey) -> None:
    """Do what a worker does for a survey that is due."""
    tasks.run(str(Job.objects.create(survey=survey).pk))
    assert Job.objects.latest("made_at").state == "done"


def test_two_crowds_are_due_and_less_is_not() -> None:
    survey = builders.opened()
    builders.draft(slug="draft")
    builders.send(survey, 39)
    assert names() == []
    builders.send(survey, 1)
    assert names() == ["small"]


def test_a_batch_without_a_release_is_due() -> None:
    survey = builders.opened()
    builders.send(survey, 40)
    collect(survey)
    assert names() == ["small"]
    publish(survey)
    assert names() == []


def test_automatic_releases_are_spaced_out(settings: Any) -> None:
    survey = builders.opened()
    builders.send(survey, 40)
    make_release(survey)
    builders.send(survey, 20)
    assert names() == []
    settings.RELEASE_SECONDS = 0
    assert names() == ["small"]


def test_a_full_batch_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    builders.send(survey, 40)
    make_release(survey)
    builders.send(survey, 30)
    monkeypatch.setattr(finder, "BATCH_SIZE", 30)
    assert names() == ["small"]


def test_a_crowd_larger_than_a_full_batch_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    monkeypatch.setattr(finder, "BATCH_SIZE", 10)
    builders.send(survey, 35)
    assert names() == []
    builders.send(survey, 5)
    assert names() == ["small"]


@pytest.mark.parametrize("reports", [0, 5, 20, 47])
def test_a_closed_survey_is_due_until_a_worker_has_looked_at_it(reports: int) -> None:
    survey = builders.opened()
    builders.send(survey, reports)
    survey.close()
    assert names() == ["small"]
    run(survey)
    assert names() == []
    survey.refresh_from_db()
    assert survey.due_on == survey.ids_due_on


def test_a_closed_survey_is_due_again_when_its_ids_and_then_all_of_it_may_go(
    settings: Any,
) -> None:
    settings.KEEP_IDS_DAYS = 30
    survey = builders.opened(retention_days=90)
    builders.send(survey, 40)
    survey.close()
    run(survey)
    survey.refresh_from_db()
    assert survey.due_on == today() + timedelta(days=30)
    Survey.objects.filter(pk=survey.pk).update(
        closed_on=today() - timedelta(days=30), due_on=today()
    )
    run(survey)
    survey.refresh_from_db()
    assert survey.ids_removed_on == today()
    assert survey.due_on == today() + timedelta(days=60)


def test_after_a_failure_the_beat_waits_and_tries_again() -> None:
    survey = builders.opened()
    builders.send(survey, 40)
    job = Job.objects.create(survey=survey, state="failed", active=False)
    assert names() == []
    Job.objects.filter(pk=job.pk).update(made_at=timezone.now() - timedelta(minutes=6))
    assert names() == ["small"]


def test_finding_what_is_due_takes_one_query(
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    for i in range(3):
        survey = builders.opened(slug=f"s{i}")
        builders.send(survey, 40)
    with django_assert_num_queries(1):
        assert names() == ["s0", "s1", "s2"]


SCAN = {
    "sqlite": "SCAN",
    "postgresql": "Seq Scan on",
}  # a plan that reads a whole table
EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}
NOT_FINISHED = r" USING (COVERING )?INDEX (job_active|job_failed|report_inbox)"  # partial indexes
GROWING = ("survey_survey", "survey_report", "aggregation_job", "aggregation_release")


def finish_many(number: int) -> None:
    """Create finished surveys with nothing left to do, now or until a distant day."""
    later = today() + timedelta(days=100)
    surveys = Survey.objects.bulk_create(
        Survey(slug=f"old{i}", title="Old", epsilon=1, state="closed", design="{}", due_on=due_on)
        for i, due_on in enumerate([None, later] * (number // 2))
    )
    Release.objects.bulk_create(
        Release(survey=survey, number=1, reports=20, final=True, tally={}) for survey in surveys
    )
    Job.objects.bulk_create(Job(survey=survey, state="done", active=False) for survey in surveys)
    Report.objects.bulk_create(Report(id=uuid4(), survey=survey) for survey in surveys)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def plan_of(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(EXPLAIN[connection.vendor] + statement)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def tick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Do what the beat does every few seconds; return the statements that read something."""
    monkeypatch.setattr(tasks, "last_tick", -tasks.TICKS_APART)
    with CaptureQueriesContext(connection) as captured:
        tasks.tick()
    return [one["sql"] for one in captured if one["sql"].startswith("SELECT")]


def test_a_tick_asks_as_much_with_two_thousand_finished_surveys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tick(monkeypatch)  # the first tick writes its time
    before = len(tick(monkeypatch))
    finish_many(2000)
    assert len(tick(monkeypatch)) == before


def test_a_tick_reads_no_finished_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query plan uses an index for what is open or due."""
    survey = builders.opened()
    builders.send(survey, 40)
    finish_many(2000)
    assert names() == ["small"]
    for statement in tick(monkeypatch):
        plan = plan_of(statement)
        for table in GROWING:
            whole = rf"{SCAN[connection.vendor]} {table}\b(?!{NOT_FINISHED})"
            assert not re.search(whole, plan), plan
    plan = due().explain()
    assert "survey_due" in plan and re.search(r"due_on ?<", plan), plan
