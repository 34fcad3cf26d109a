"""Releases: what is published, when, and that it stays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from aggregation import tasks
from aggregation.models import Batch, Estimate, Job, Release, due
from aggregation.statistics import proportion
from survey.models import Removed, Survey, today
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def release(survey: Survey) -> Release:
    Batch.objects.collect(survey)
    published = Release.objects.publish(survey)
    assert published is not None
    return published


def test_nothing_is_released_below_the_crowd() -> None:
    survey = builders.opened()
    builders.send(survey, 19)
    Batch.objects.collect(survey)
    assert Release.objects.publish(survey) is None
    survey.close()
    assert Batch.objects.collect(survey) == 19
    assert Release.objects.publish(survey) is None


def test_an_estimate_is_the_debiased_tally() -> None:
    survey = builders.opened()
    builders.send(survey, 400, q1=[0.7, 0.3])
    published = release(survey)
    tally = Batch.objects.get().tally["q1"][""][0]
    row = published.estimates.get(question="q1", option="yes", stratum="")
    channel = proportion.Channel(*survey.frozen_design().blocks[0].mechanism.channel(0))
    expected = proportion.estimate(tally[1], 400, channel)
    assert (row.n, row.count) == (400, tally[1])
    assert row.value == (tally[1] / 400 - channel.b) / (channel.a - channel.b)
    assert (row.low, row.high, row.misfit) == (expected.low, expected.high, expected.misfit)
    assert row.as_of == 1 and not row.suppressed


def test_shares_of_a_question_sum_to_one_unclipped() -> None:
    survey = builders.opened()
    builders.send(survey, 60)
    rows = release(survey).estimates.filter(question="q2", stratum="")
    assert sum(row.value or 0 for row in rows) == pytest.approx(1)


def test_small_groups_are_suppressed_and_have_no_figures() -> None:
    survey = builders.opened()
    design = survey.frozen_design()
    reports = [builders.report(design, strata={"age": 0}) for _ in range(60)]
    reports += [builders.report(design, strata={"age": 1}) for _ in range(5)]
    from survey.collect import door

    door.accept("small", {"reports": reports})
    published = release(survey)
    shown = published.estimates.filter(n__isnull=False, stratum="age")
    # The five, and those who did not say, are hidden; so are the sixty, or 65 - 60 would tell.
    assert not shown.exists()
    assert published.estimates.filter(stratum="", n=65).count() == 6
    hidden = published.estimates.filter(n__isnull=True)
    for name in ("count", "value", "bounded", "standard_error", "low", "high", "misfit"):
        assert not hidden.exclude(**{name: None}).exists()


def test_an_empty_group_is_suppressed_like_a_small_one() -> None:
    survey = builders.opened()
    design = survey.frozen_design()
    from survey.collect import door

    reports = [builders.report(design, strata={"age": i % 2}) for i in range(80)]
    door.accept("small", {"reports": reports})
    published = release(survey)
    groups = {row.group: row.n for row in published.estimates.filter(stratum="age")}
    assert groups == {"under-30": 40, "30-and-over": 40, "not-given": None}


def test_a_group_that_another_stratum_nearly_has_is_hidden() -> None:
    """All but two of those under 30 are students, and no others: two people could be told apart."""
    strata = [
        *builders.FILE["strata"],
        {"key": "work", "text": "What do you do?", "options": ["Study", "Work", "Rest"]},
    ]
    survey = builders.opened(strata=strata)
    design = survey.frozen_design()
    from survey.collect import door

    people = [(0, 0)] * 60 + [(0, 1)] * 2 + [(1, 1)] * 50 + [(1, 2)] * 40
    reports = [builders.report(design, strata={"age": a, "work": w}) for a, w in people]
    door.accept("small", {"reports": reports})
    rows = release(survey).estimates.filter(question="q1", option="yes")
    groups = {(row.stratum, row.group): row.n for row in rows if row.n}
    # The earlier stratum stays. Those who study are hidden, with the smallest of the others.
    assert groups == {
        ("", ""): 152, ("age", "under-30"): 62, ("age", "30-and-over"): 90, ("work", "work"): 52,
    }  # fmt: skip


def test_an_option_called_not_given_is_another_group() -> None:
    strata = [{"key": "age", "text": "Age?", "options": ["Not given", "Old"]}]
    survey = builders.opened(strata=strata)
    builders.send(survey, 300)
    groups = [row.group for row in release(survey).estimates.filter(question="q1", option="yes")]
    assert groups == ["", "not-given", "old", "not-given-2"]


def test_long_options_are_released_too() -> None:
    question = builders.FILE["questions"][1] | {"options": ["A" * 300, "A" * 301, "B"]}
    survey = builders.opened(questions=[question], blocks=[["q2"]])
    builders.send(survey, 40)
    assert release(survey).estimates.filter(stratum="").count() == 4


def test_a_second_release_needs_something_new() -> None:
    survey = builders.opened()
    builders.send(survey, 30)
    assert release(survey).number == 1
    assert release(survey).number == 1
    builders.send(survey, 19)
    assert release(survey).number == 1
    builders.send(survey, 1)
    assert release(survey).number == 2


def test_a_table_that_grew_too_little_is_not_changed() -> None:
    """Two blocks, one asked: a crowd of reports is less than a crowd for either question."""
    survey = builders.opened(blocks=[["q1"], ["q2"]], ask=1)
    design = survey.frozen_design()
    from survey.collect import door

    def send(q1: int, q2: int) -> None:
        reports = [builders.report(design, blocks={"b1": [1]}) for _ in range(q1)]
        reports += [builders.report(design, blocks={"b2": [1]}) for _ in range(q2)]
        door.accept("small", {"reports": reports})

    send(40, 40)
    first = release(survey)
    send(25, 5)
    second = release(survey)
    overall = second.estimates.filter(stratum="")
    assert {(row.question, row.n, row.as_of) for row in overall} == {("q1", 65, 2), ("q2", 40, 1)}
    old = first.estimates.filter(question="q2", stratum="").values_list("value", "low", "high")
    new = second.estimates.filter(question="q2", stratum="").values_list("value", "low", "high")
    assert list(old) == list(new)
    send(0, 15)
    send(5, 0)
    third = release(survey)  # 20 more for q2 since it was shown, 5 more for q1
    overall = third.estimates.filter(stratum="")
    assert {(row.question, row.n, row.as_of) for row in overall} == {("q1", 65, 2), ("q2", 60, 3)}


def test_closing_publishes_the_rest() -> None:
    survey = builders.opened()
    builders.send(survey, 50)
    release(survey)
    builders.send(survey, 7)
    survey.close()
    last = release(survey)
    assert (last.number, last.reports, last.final) == (2, 57, True)
    assert last.estimates.filter(stratum="", n=57).count() == 6
    assert release(survey).number == 2


WAYS: dict[str, Callable[[], Any]] = {
    "release, save": lambda: Release.objects.get().save(),
    "release, update": lambda: Release.objects.update(reports=1),
    "release, delete": lambda: Release.objects.all()._raw_delete("default"),
    "estimate, save": lambda: Estimate.objects.all()[0].save(),
    "estimate, update": lambda: Estimate.objects.update(value=0.5),
    "estimate, delete": lambda: Estimate.objects.all().delete(),
    "estimate, SQL": lambda: connection.cursor().execute("UPDATE aggregation_estimate SET low = 0"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_published_figures_cannot_be_changed(way: Callable[[], Any]) -> None:
    survey = builders.opened()
    builders.send(survey, 30)
    release(survey)
    with pytest.raises(IntegrityError), transaction.atomic():
        way()


def test_published_figures_leave_only_with_their_survey() -> None:
    survey, other = builders.opened(), builders.opened(slug="other")
    for one in (survey, other):
        builders.send(one, 30)
        release(one)
    survey.close()
    Removed.objects.create(
        id=survey.pk, slug=survey.slug, title=survey.title, design_hash=survey.design_hash,
        reports=30, archive="0" * 64, removed_on=today(),
    )  # fmt: skip
    for name in ("release, update", "estimate, save", "estimate, update", "estimate, SQL"):
        with pytest.raises(IntegrityError), transaction.atomic():
            WAYS[name]()
    for rows in (Estimate.objects.filter(release__survey=other), Release.objects.all()):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows._raw_delete("default")
    survey.batches.all().delete()
    Estimate.objects.filter(release__survey=survey).delete()
    Release.objects.filter(survey=survey).delete()
    assert [one.survey for one in Release.objects.all()] == [other]


class TestJobs:
    def test_a_job_moves_and_releases(self) -> None:
        survey = builders.opened()
        builders.send(survey, 30)
        job = Job.objects.create(survey=survey)
        tasks.run(str(job.pk))
        job.refresh_from_db()
        assert (job.state, job.active, job.progress) == ("done", False, 1)
        assert job.result == {"release": 1, "moved": 30, "waiting": 0, "crowd": 20}

    def test_a_message_that_comes_twice_changes_nothing(self) -> None:
        survey = builders.opened()
        builders.send(survey, 30)
        job = Job.objects.create(survey=survey)
        for _ in range(3):
            tasks.run(str(job.pk))
        assert Release.objects.count() == Batch.objects.count() == 1

    def test_a_message_for_a_deleted_job_does_nothing(self) -> None:
        tasks.run("00000000-0000-4000-8000-000000000000")

    def test_a_job_below_the_crowd_says_so(self) -> None:
        survey = builders.opened()
        builders.send(survey, 3)
        job = Job.objects.create(survey=survey)
        tasks.run(str(job.pk))
        job.refresh_from_db()
        assert job.result == {"release": None, "moved": 0, "waiting": 0, "crowd": 20}

    def test_a_survey_has_one_job_at_a_time(self) -> None:
        survey = builders.opened()
        first = Job.objects.request(survey)
        assert Job.objects.request(survey) == first
        Job.objects.update(active=False, state="done")
        assert Job.objects.request(survey) != first

    def test_a_job_of_a_dead_worker_is_taken_over(self) -> None:
        survey = builders.opened()
        job = Job.objects.create(survey=survey)
        first = Job.objects.claim(job.pk)
        assert first is not None and Job.objects.claim(job.pk) is None
        Job.objects.update(lease=timezone.now() - timedelta(seconds=1))
        assert list(Job.objects.stale()) == [job]
        second = Job.objects.claim(job.pk)
        assert second is not None and second.attempt == 2
        first.finish(state="failed")  # the first one was only slow: its word counts no more
        job.refresh_from_db()
        assert job.state == "running"
        second.finish(state="done")
        job.refresh_from_db()
        assert job.state == "done"

    def test_a_failure_is_shown_without_data(self, monkeypatch: pytest.MonkeyPatch) -> None:
        survey = builders.opened()
        job = Job.objects.create(survey=survey)

        def broken(job: Job) -> None:
            raise ValueError("secret")

        monkeypatch.setattr(tasks, "release", broken)
        tasks.run(str(job.pk))
        job.refresh_from_db()
        assert job.state == "failed" and "ValueError" in job.error and "secret" not in job.error

    def test_a_job_is_given_up_after_several_attempts(self) -> None:
        job = Job.objects.create(survey=builders.opened(), attempt=Job.MAX_ATTEMPTS)
        tasks.run(str(job.pk))
        job.refresh_from_db()
        assert job.state == "failed" and not job.active

    def test_messages_carry_ids_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sent: list[Any] = []
        monkeypatch.setattr(tasks.run, "delay", lambda *args: sent.append(args))
        survey = builders.opened()
        with transaction.atomic():
            job = Job.objects.request(survey)
            job.send()
        connection.run_on_commit, hooks = [], connection.run_on_commit
        for _, hook, _ in hooks:
            hook()
        assert set(sent) == {(str(job.pk),)}


class TestDue:
    def names(self) -> list[str]:
        return [survey.slug for survey in due()]

    def test_a_crowd_is_due_and_less_is_not(self) -> None:
        survey = builders.opened()
        builders.draft(slug="draft")
        assert self.names() == []
        builders.send(survey, 19)
        assert self.names() == []
        builders.send(survey, 1)
        assert self.names() == ["small"]

    def test_a_batch_without_a_release_is_due(self) -> None:
        survey = builders.opened()
        builders.send(survey, 20)
        Batch.objects.collect(survey)
        assert self.names() == ["small"]
        Release.objects.publish(survey)
        assert self.names() == []

    def test_automatic_releases_are_spaced_out(self, settings: Any) -> None:
        survey = builders.opened()
        builders.send(survey, 20)
        release(survey)
        builders.send(survey, 20)
        assert self.names() == []
        settings.RELEASE_SECONDS = 0
        assert self.names() == ["small"]

    def test_a_full_batch_does_not_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        survey = builders.opened()
        builders.send(survey, 20)
        release(survey)
        builders.send(survey, 30)
        monkeypatch.setattr("aggregation.models.BATCH_SIZE", 30)
        assert self.names() == ["small"]

    def test_a_closed_survey_is_due_until_its_last_release(self) -> None:
        survey = builders.opened()
        builders.send(survey, 20)
        release(survey)
        builders.send(survey, 1)
        survey.close()
        assert self.names() == ["small"]
        release(survey)
        assert self.names() == []

    def test_after_a_failure_the_beat_waits_and_tries_again(self) -> None:
        survey = builders.opened()
        builders.send(survey, 20)
        job = Job.objects.create(survey=survey, state="failed", active=False)
        assert self.names() == []
        Job.objects.filter(pk=job.pk).update(made_at=timezone.now() - timedelta(minutes=6))
        assert self.names() == ["small"]

    def test_a_closed_survey_below_the_crowd_is_emptied_once(self) -> None:
        survey = builders.opened()
        builders.send(survey, 2)
        survey.close()
        assert self.names() == ["small"]
        Batch.objects.collect(survey)
        assert self.names() == []
