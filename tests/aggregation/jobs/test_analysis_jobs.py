"""Analyses as jobs: requesting, counting in parts, computing, storing, cancelling."""

import signal
from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.utils import timezone

from aggregation.analyses.base import AnalysisError
from aggregation.jobs import counts, tasks
from aggregation.jobs.requests import request_analysis
from aggregation.models import Job, Part
from aggregation.models import analysis as stored
from aggregation.releases.collect import collect
from aggregation.releases.publish import make_release
from survey.models import Survey
from tests.support import builders
from tests.support.analysis_jobs import published, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("messages")]

ASKED = {"kind": "crosstab", "questions": ["q1", "q2"]}


def brute_force(survey: Survey, *columns: int, shape: tuple[int, ...] = (2, 4)) -> Any:
    """Return the joint counts of columns of bytes, counting one report at a time."""
    table = np.zeros(shape, dtype=int)
    for batch in survey.batches.all():
        for report in builders.rows(batch):
            table[tuple(report[list(columns)])] += 1
    return table.tolist()


@pytest.mark.parametrize(("twice", "backwards"), [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.slow
def test_an_analysis_is_counted_in_parts_and_computed_once(
    messages: Any, monkeypatch: pytest.MonkeyPatch, twice: bool, backwards: bool
) -> None:
    monkeypatch.setattr(stored, "PART_BATCHES", 1)
    survey = published()
    job = request_analysis(survey, ASKED)
    assert job.state == "queued" and Part.objects.count() == 3
    work_off(messages, twice, backwards)
    job.refresh_from_db()
    assert (job.state, job.active, job.progress) == ("done", False, 1)
    assert job.result is not None
    assert job.result["counts"] == brute_force(survey, 0, 1)
    assert job.attempt == 2  # once to count the parts, once to compute
    assert not Part.objects.exists()


def test_the_same_question_is_not_computed_twice(messages: Any) -> None:
    survey = published()
    first = request_analysis(survey, ASKED)
    assert request_analysis(survey, dict(reversed(ASKED.items()))) == first  # in progress
    work_off(messages)
    again = request_analysis(survey, ASKED)
    assert again == first and again.state == "done" and not messages


def test_a_new_release_is_a_new_question(messages: Any) -> None:
    survey = published()
    first = request_analysis(survey, ASKED)
    work_off(messages)
    builders.send(survey, 50, seed=9)
    assert collect(survey)
    assert request_analysis(survey, ASKED) == first  # moved, but not yet published
    make_release(survey)
    second = request_analysis(survey, ASKED)
    work_off(messages)
    second.refresh_from_db()
    assert second.result is not None
    assert second.result["n"] == 330  # a crowd stays behind


def test_an_analysis_stays_with_its_release(messages: Any) -> None:
    """Another release is made and the survey closes while its parts are being counted."""
    survey = published()
    job, counts = request_analysis(survey, ASKED), brute_force(survey, 0, 1)
    while messages[0][0] is not tasks.count:
        work_off([messages.pop(0)])
    builders.send(survey, 50, seed=9)
    make_release(survey)
    survey.close()
    make_release(survey)
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "done" and job.result["counts"] == counts
    assert job.analysis and job.analysis.release.number == 1
    last = request_analysis(survey, ASKED)
    work_off(messages)
    last.refresh_from_db()
    assert last.result["n"] == 350 and last.result["counts"] == brute_force(survey, 0, 1)


def test_a_table_may_have_background_questions(messages: Any) -> None:
    survey = published()
    job = request_analysis(survey, {"kind": "crosstab", "questions": ["q1", "age"]})
    work_off(messages)
    job.refresh_from_db()
    assert job.result is not None
    assert job.result["counts"] == brute_force(survey, 0, 2, shape=(2, 3))


def test_several_tables_are_counted_in_one_pass(
    messages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "PART_BATCHES", 1)
    survey = published()
    ages = {option.key: 1 for option in survey.frozen_design().background[0].options[:2]}
    job = request_analysis(survey, {"kind": "weights", "margins": {"age": ages}})
    assert job.analysis and job.analysis.parts.count() == 3
    for part in job.analysis.parts.all():
        counts.count(part)
    found = [table.tolist() for table in counts.tables_of(job.analysis)]
    assert found == [
        brute_force(survey, 0, 2, shape=(2, 3)),
        brute_force(survey, 1, 2, shape=(4, 3)),
    ]


def test_before_the_first_release_an_analysis_is_refused() -> None:
    survey = builders.opened()
    with pytest.raises(AnalysisError, match="nothing has been released"):
        request_analysis(survey, ASKED)


def test_a_failed_part_fails_the_job_with_an_explanation(
    messages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = published()
    job = request_analysis(survey, ASKED)
    monkeypatch.setattr(counts, "count", lambda _: 1 / 0)
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error == "The analysis could not be made (ZeroDivisionError). Nothing was lost."
    again = request_analysis(survey, ASKED)
    assert again.pk != job.pk and again.state == "queued"


def test_a_cancelled_analysis_stays_cancelled(messages: Any) -> None:
    survey = published()
    job = request_analysis(survey, ASKED)
    (task, pk), *_ = messages
    task(pk)  # the parts are on the queue
    job.cancel()
    job.cancel()  # has no effect
    work_off(messages)
    job.refresh_from_db()
    assert (job.state, job.result) == ("cancelled", None)
    assert not Part.objects.exists()
    assert request_analysis(survey, ASKED).state == "queued"


def test_a_computation_is_stopped_when_it_is_cancelled(
    messages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(tasks.registry, "figures", lambda *_: signal.pause())  # for ever
    survey = published()
    job = request_analysis(survey, ASKED)
    beat = tasks.Progress.__call__

    def cancel_then_ask(report: tasks.Progress) -> bool:
        job.cancel()
        return beat(report)

    monkeypatch.setattr(tasks.Progress, "__call__", cancel_then_ask)
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "cancelled"


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("ANALYSIS_SECONDS", 0, "Stopped after 0 seconds"),
        ("ANALYSIS_MEGABYTES", 1, "More than 1 MB"),
    ],
)
def test_exceeding_time_or_memory_is_explained(
    messages: Any,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    value: int,
    words: str,
) -> None:
    def heavy(*_: Any) -> Any:
        held = np.ones(10_000_000)
        signal.pause()
        return {"sum": float(held.sum())}

    monkeypatch.setattr(tasks.registry, "figures", heavy)
    setattr(settings, setting, value)
    job = request_analysis(published(), ASKED)
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "failed" and job.error.startswith(words)


def test_a_lost_message_is_sent_again_by_the_beat(messages: Any) -> None:
    job = request_analysis(published(), ASKED)

    def lose_all_and_tick() -> None:
        messages.clear()
        Job.objects.update(lease=timezone.now() - timedelta(seconds=1))
        tasks.tick()

    lose_all_and_tick()  # the first one
    tasks.run(str(job.pk))
    assert messages[-1][0] is tasks.count
    lose_all_and_tick()  # those of the parts
    work_off(messages[:1])
    while messages[-1][0] is tasks.count:
        task, *arguments = messages.pop()
        task(*arguments)
    lose_all_and_tick()  # the last one
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "done"


def test_a_job_whose_worker_died_is_taken_up_again(messages: Any) -> None:
    job = Job.objects.request(published())
    messages.clear()
    assert Job.objects.claim(job.pk)  # and the worker is never heard of again
    tasks.tick()
    assert messages == []
    Job.objects.update(lease=timezone.now() - timedelta(seconds=1))
    tasks.tick()
    work_off(messages)
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("done", 2)


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_was_wrong_blocks_no_job(messages: Any, hours: int) -> None:
    """Its dead worker had a lease by another clock."""
    job = Job.objects.request(published())
    messages.clear()
    assert Job.objects.claim(job.pk)
    Job.objects.update(lease=timezone.now() + timedelta(hours=hours))
    tasks.tick()
    work_off(messages)
    job.refresh_from_db()
    assert job.state == "done"


# --- Through the API ------------------------------------------------------------------------------


def test_the_api_asks_polls_and_cancels(messages: Any) -> None:
    survey = published()
    alice = builders.client(builders.alice(survey))
    url = f"/api/v1/surveys/{survey.slug}/analyses/"
    response = alice.post(url, ASKED, content_type="application/json")
    assert response.status_code == 202
    job = response.json()
    assert alice.get(job["url"]).json()["state"] == "queued"
    assert alice.delete(job["url"]).json()["state"] == "cancelled"
    again = alice.post(url, ASKED, content_type="application/json").json()
    work_off(messages)
    done = alice.post(url, ASKED, content_type="application/json")
    assert done.status_code == 200 and done.json()["id"] == again["id"]
    assert done.json()["result"]["n"] == 280
    (listed,) = alice.get(url).json()
    assert listed["asked"] == ASKED and listed["release"] == 1
    assert listed["job"]["state"] == "done"


@pytest.mark.parametrize(
    ("body", "where"),
    [([], "analysis"), ({"kind": "crosstab"}, "questions"), ({"kind": 5}, "kind")],
)
def test_the_api_says_what_is_wrong(body: Any, where: str) -> None:
    survey = published()
    alice = builders.client(builders.alice(survey))
    url = f"/api/v1/surveys/{survey.slug}/analyses/"
    response = alice.post(url, body, content_type="application/json")
    assert response.status_code == 400 and where in response.json()


def test_a_release_cannot_be_cancelled() -> None:
    survey = published()
    job = Job.objects.request(survey)
    alice = builders.client(builders.alice(survey))
    assert alice.delete(f"/api/v1/jobs/{job.pk}/").status_code == 409


def test_strangers_may_not_ask_for_analyses(messages: Any) -> None:
    survey = published()
    job = request_analysis(survey, ASKED)
    url = f"/api/v1/surveys/{survey.slug}/analyses/"
    for who, status in ((None, 401), (builders.charlie(), 403)):
        client = builders.client(who)
        for response in (
            client.get(url),
            client.post(url, ASKED, content_type="application/json"),
            client.get(f"/api/v1/jobs/{job.pk}/"),
            client.delete(f"/api/v1/jobs/{job.pk}/"),
        ):
            assert response.status_code == status
    assert builders.client(builders.root()).delete(f"/api/v1/jobs/{uuid4()}/").status_code == 404
