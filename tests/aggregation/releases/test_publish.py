"""Releases: what is published and when, and that it does not change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from aggregation.models import Batch, Estimate, Release
from aggregation.releases import publish as publisher
from aggregation.releases.collect import collect
from aggregation.releases.publish import make_release, publish
from aggregation.statistics import proportion, ratio, sequence
from survey.design.mechanism import SCALE
from survey.models import Removed, Survey, today
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def release(survey: Survey) -> Release:
    published = make_release(survey)
    assert published is not None
    return published


@pytest.mark.parametrize("reports", [0, 1, 19])
def test_a_survey_that_closes_below_a_crowd_shows_nothing(reports: int) -> None:
    survey = builders.opened()
    builders.send(survey, reports)
    assert make_release(survey) is None
    survey.close()
    assert make_release(survey) is None


def test_an_estimate_is_the_debiased_tally() -> None:
    survey = builders.opened()
    builders.send(survey, 420, q1=[0.7, 0.3])
    published = release(survey)
    tally = Batch.objects.get().tally["q1"][""][0]
    row = published.estimates.get(question="q1", option="yes", by="")
    channel = proportion.Channel(*survey.frozen_design().blocks[0].mechanism.channel(0))
    expected = proportion.estimate(tally[1], 400, channel)
    assert (row.n, row.count) == (400, tally[1])
    assert row.value == (tally[1] / 400 - channel.b) / (channel.a - channel.b)
    assert (row.low_once, row.high_once) == (expected.low, expected.high)
    always = sequence.interval(tally[1], 400, channel)
    assert (row.low, row.high) == (row.low_always, row.high_always) == pytest.approx(always)
    assert row.misfit == expected.misfit


def test_an_estimate_by_group_is_the_ratio_of_the_debiased_joint_tally() -> None:
    survey = builders.opened()
    builders.send(survey, 420, q1=[0.7, 0.3])
    published = release(survey)
    design = survey.frozen_design()
    (by,) = design.background_blocks
    table = Batch.objects.get().tally["q1"]["age"]
    channel = proportion.Channel(*design.blocks[0].mechanism.channel(0))
    keep = by.keep / SCALE
    expected = ratio.by_group(table, [sum(row) for row in table], keep, channel)
    for i, group in enumerate(("under-30", "30-and-over", "prefer-not-to-say")):
        row = published.estimates.get(question="q1", option="yes", by="age", group=group)
        assert (row.n, row.count) == (400, table[i][1])
        assert (row.value, row.low_once, row.high_once) == pytest.approx(
            (expected.value[i, 1], expected.low[i, 1], expected.high[i, 1])
        )
        # By hand: the mean of u w over the mean of w, over all reports.
        u = [(float(j == 1) - channel.b) / channel.contrast for j in range(2)]
        w = [(float(g == i) - (1 - keep) / 3) / keep for g in range(3)]
        top = sum(table[g][j] * u[j] * w[g] for g in range(3) for j in range(2))
        assert row.value == pytest.approx(top / sum(sum(table[g]) * w[g] for g in range(3)))


def test_background_questions_are_estimated_like_all_others() -> None:
    survey = builders.opened()
    builders.send(survey, 60)
    rows = release(survey).estimates.filter(question="age")
    assert {row.by for row in rows} == {""}
    assert sum(row.value or 0 for row in rows) == pytest.approx(1)


def test_every_group_of_every_question_has_a_row_however_few_reports_there_are() -> None:
    survey = builders.opened()
    builders.send(survey, 40)
    rows = release(survey).estimates.filter(by="age")
    assert rows.count() == 3 * (2 + 4)
    for row in rows:
        assert 0 <= row.low <= row.high <= 1
        assert row.value is not None or (row.low, row.high) == (0, 1)


def test_long_options_are_released_too() -> None:
    question = builders.FILE["questions"][1] | {"options": ["A" * 300, "A" * 301, "B"]}
    survey = builders.opened(questions=[question], blocks=[["q2"]])
    builders.send(survey, 40)
    assert release(survey).estimates.filter(question="q2", by="").count() == 4


def test_no_two_releases_differ_by_fewer_reports_than_a_crowd() -> None:
    survey = builders.opened()
    sizes = []
    for reports in (30, 9, 1, 19, 1, 30):
        builders.send(survey, reports)
        if published := make_release(survey):
            sizes.append(published.reports)
    survey.close()
    sizes.append(release(survey).reports)
    steps = sorted(set(sizes))
    assert steps == [20, 40, 70, 90]
    assert all(after - before >= 20 for before, after in zip(steps, steps[1:], strict=False))


def test_closing_publishes_everything() -> None:
    survey = builders.opened()
    builders.send(survey, 57)
    assert not release(survey).final
    survey.close()
    last = release(survey)
    assert (last.number, last.reports, last.final) == (2, 57, True)
    assert release(survey) == last


def test_a_release_adds_only_new_batches_to_the_tally_of_the_last() -> None:
    survey = builders.opened()
    for _ in range(3):
        builders.send(survey, 40)
        release(survey)
    survey.close()
    last = release(survey)
    tallies = [batch.tally["q1"][""][0] for batch in Batch.objects.all()]
    assert last.tally["q1"][""][0] == [sum(column) for column in zip(*tallies, strict=True)]
    assert [len(one.batch_keys()) for one in survey.releases.all()] == [1, 2, 3, 4]


def test_a_release_that_was_overtaken_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    builders.send(survey, 100)
    collect(survey)
    read = publisher.read

    def overtaken(survey: Survey) -> publisher.Basis | None:
        basis = read(survey)
        monkeypatch.setattr(publisher, "read", read)
        builders.send(survey, 30)
        assert release(survey).reports == 110
        return basis

    monkeypatch.setattr(publisher, "read", overtaken)
    published = publish(survey)
    assert published is not None and published.reports == 110
    assert Release.objects.count() == 1
    assert not Batch.objects.filter(release=None).exists()


@contextmanager
def before_query(number: int, act: Callable[[], object]) -> Iterator[None]:
    """Run an action once, just before the query with this number."""
    queries = 0

    def watch(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal queries
        queries += 1
        if queries == number:
            act()
        return execute(*arguments)

    with connection.execute_wrapper(watch):
        yield


@pytest.mark.parametrize("number", range(1, 5))  # just before the survey is locked
def test_a_release_made_between_two_queries_is_not_counted_twice(number: int) -> None:
    survey = builders.opened()
    builders.send(survey, 100)
    collect(survey)
    with before_query(number, lambda: publish(survey)):
        publish(survey)
    assert [one.reports for one in survey.releases.all()] == [80]
    builders.send(survey, 100)
    collect(survey)
    with before_query(number, lambda: publish(survey)):
        publish(survey)
    assert [one.reports for one in survey.releases.order_by("number")] == [80, 180]


@pytest.mark.parametrize("number", range(1, 5))  # just before the survey is locked
def test_the_final_release_has_every_report(number: int) -> None:
    survey = builders.opened()
    builders.send(survey, 100)
    collect(survey)
    survey.close()
    with before_query(number, lambda: collect(survey)):
        publish(survey)
    publish(survey)
    assert [one.reports for one in survey.releases.filter(final=True)] == [100]


def test_nothing_is_computed_while_the_survey_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    builders.send(survey, 100)
    depth = len(connection.savepoint_ids)  # the test itself is in a transaction
    seen = []

    def estimate(*arguments: Any) -> Any:
        seen.append(len(connection.savepoint_ids))
        return iter(())

    monkeypatch.setattr(publisher, "estimate", estimate)
    make_release(survey)
    assert seen == [depth]


WAYS: dict[str, Callable[[], Any]] = {
    "release, save": lambda: Release.objects.get().save(),
    "release, update": lambda: Release.objects.update(reports=1),
    "release, delete": lambda: Release.objects.all()._raw_delete("default"),
    "estimate, save": lambda: Estimate.objects.all()[0].save(),
    "estimate, update": lambda: Estimate.objects.update(value=0.5),
    "estimate, delete": lambda: Estimate.objects.all().delete(),
    "estimate, SQL": lambda: connection.cursor().execute(
        "UPDATE aggregation_estimate SET low_once = 0"
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_published_figures_cannot_be_changed(way: Callable[[], Any]) -> None:
    survey = builders.opened()
    builders.send(survey, 50)
    release(survey)
    with pytest.raises(IntegrityError), transaction.atomic():
        way()


def test_published_figures_leave_only_with_their_survey() -> None:
    survey, other = builders.opened(), builders.opened(slug="other")
    for one in (survey, other):
        builders.send(one, 50)
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
