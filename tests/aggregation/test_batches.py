"""From the inbox to batches and tallies: crowds, shuffling, conservation."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest
from django.db import connection

from aggregation import batches, models, tasks
from aggregation.models import BATCH_SIZE, Batch, Job, Release
from survey.models import ABSENT, Report, Survey
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def test_below_the_crowd_nothing_moves() -> None:
    survey = builders.opened()
    builders.send(survey, 19)
    assert Batch.objects.collect(survey) == 0
    assert survey.pending().count() == 19 and not Batch.objects.exists()


def test_a_crowd_moves_whole_and_leaves_only_ids() -> None:
    survey = builders.opened()
    builders.send(survey, 25)
    contents = Counter(bytes(c) for c in survey.pending().values_list("content", flat=True))
    ids = set(Report.objects.values_list("pk", flat=True))

    assert Batch.objects.collect(survey) == 25
    batch = Batch.objects.get()
    assert Counter(bytes(row) for row in batch.unpack().T) == contents
    assert set(Report.objects.values_list("pk", flat=True)) == ids
    assert not Report.objects.filter(content__isnull=False).exists()
    assert Batch.objects.collect(survey) == 0


def test_a_closed_survey_is_emptied_to_the_last_report() -> None:
    survey = builders.opened()
    builders.send(survey, 3)
    survey.close()
    assert Batch.objects.collect(survey) == 3


def test_the_last_few_hide_in_the_batch_before_them() -> None:
    survey = builders.opened()
    builders.send(survey, 25)
    Batch.objects.collect(survey)
    builders.send(survey, 1)
    waiting = [bytes(c) for c in survey.pending().values_list("content", flat=True)]
    contents = Counter(waiting) + Counter(bytes(row) for row in Batch.objects.get().unpack().T)
    survey.close()
    assert Batch.objects.collect(survey) == 1
    batch = Batch.objects.get()
    assert batch.reports == 26
    assert Counter(bytes(row) for row in batch.unpack().T) == contents
    assert sum(batch.tally["q1"][""][0]) == 26


def test_other_surveys_are_left_alone() -> None:
    one, other = builders.opened(), builders.opened(slug="other")
    builders.send(one, 20)
    builders.send(other, 20)
    assert Batch.objects.collect(one) == 20
    assert other.pending().count() == 20


def test_a_move_that_fails_half_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    builders.send(survey, 30)

    def fail(*_: object) -> None:
        raise RuntimeError("half-way")

    monkeypatch.setattr("aggregation.batches.tally", fail)
    with pytest.raises(RuntimeError, match="half-way"):
        Batch.objects.collect(survey)
    assert survey.pending().count() == 30 and not Batch.objects.exists()


def test_a_move_that_empties_too_few_reports_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = builders.opened()
    builders.send(survey, 30)
    name = f"EMPTY_{connection.vendor.upper()}"
    statement = getattr(models, name)
    changed = statement.replace("ORDER BY id", "ORDER BY id LIMIT 29")
    assert changed != statement
    monkeypatch.setattr(models, name, changed)
    with pytest.raises(RuntimeError, match="29 of 30"):
        Batch.objects.collect(survey)
    assert survey.pending().count() == 30 and not Batch.objects.exists()


def test_a_crowd_may_be_larger_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aggregation.models.BATCH_SIZE", 10)
    survey = builders.opened()
    builders.send(survey, 25)
    assert [Batch.objects.collect(survey) for _ in range(2)] == [20, 0]
    survey.close()
    assert Batch.objects.collect(survey) == 5
    assert list(Batch.objects.values_list("reports", flat=True)) == [25]


def test_a_batch_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aggregation.models.BATCH_SIZE", 40)
    survey = builders.opened()
    builders.send(survey, 70)
    assert [Batch.objects.collect(survey) for _ in range(3)] == [40, 30, 0]
    assert list(Batch.objects.order_by("pk").values_list("reports", flat=True)) == [40, 30]
    assert BATCH_SIZE == 65_536


def test_tallies_agree_with_counting_by_hand() -> None:
    survey = builders.opened(blocks=[["q1"], ["q2"]], ask=1)
    builders.send(survey, 200)
    design = survey.frozen_design()
    rows = [bytes(c) for c in survey.pending().values_list("content", flat=True)]
    Batch.objects.collect(survey)

    def count(question: int, option: int, age: int | None) -> int:
        return sum(row[question] == option and (age is None or row[2] == age) for row in rows)

    expected = {
        question.key: {
            "": [[count(i, option, None) for option in range(question.size)]],
            "age": [
                [count(i, option, age) for option in range(question.size)] for age in (0, 1, ABSENT)
            ],
        }
        for i, question in enumerate(design.questions)
    }
    assert Batch.objects.get().tally == expected


def test_nothing_in_a_batch_tells_one_report_from_another() -> None:
    names = {field.name for field in Batch._meta.get_fields()}
    assert names == {"id", "survey", "release", "reports", "made_on", "tally", "columns"}
    assert {field.name for field in Report._meta.get_fields()} == {"id", "survey", "content"}
    assert Survey._meta.get_field("opened_on").get_internal_type() == "DateField"


def test_an_absent_answer_is_the_same_byte_everywhere() -> None:
    assert ABSENT == batches.ABSENT


def test_the_reports_of_a_survey_are_read_batch_by_batch() -> None:
    survey, other = builders.opened(), builders.opened(slug="other")
    for seed in range(3):
        builders.send(survey, 30, seed)
        Batch.objects.collect(survey)
    builders.send(other, 50)
    Batch.objects.collect(other)
    parts = Batch.objects.parts(survey)
    design = survey.frozen_design()
    tallies = survey.batches.values_list("tally", flat=True)
    assert batches.recount(parts, design) == batches.total(tallies)
    assert [reports for _, reports in Batch.objects.parts(survey)] == [30, 30, 30]
    next(Batch.objects.parts(survey))  # and if one stops before the end
    assert survey.batches.count() == 3


# --- Small batches --------------------------------------------------------------------------------


def small_batches(survey: Survey, number: int) -> Counter[bytes]:
    """So many batches of a crowd each; what they hold together."""
    for seed in range(number):
        builders.send(survey, 20, seed)
        assert Batch.objects.collect(survey) == 20
    return contents(survey)


def contents(survey: Survey) -> Counter[bytes]:
    return Counter(bytes(row) for batch in survey.batches.all() for row in batch.unpack().T)


def test_many_small_batches_are_merged_into_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "BATCH_SIZE", 100)
    monkeypatch.setattr(models, "MANY_SMALL", 8)
    monkeypatch.setattr(models, "KEPT", 0)
    survey = builders.opened()
    builders.send(survey, 60)
    assert Batch.objects.collect(survey) == 60
    small_batches(survey, 8)
    Release.objects.publish(survey)
    assert Batch.objects.merge(survey) == 0
    before = small_batches(survey, 1)
    tally = batches.total(survey.batches.values_list("tally", flat=True))
    assert Batch.objects.merge(survey) == 0  # one of them waits for a release
    published = Release.objects.publish(survey)
    assert Batch.objects.merge(survey) == 7  # nine of 20 are now 100 and 80; the 60 stay
    sizes = survey.batches.order_by("pk").values_list("reports", flat=True)
    assert list(sizes) == [60, 100, 80]
    assert contents(survey) == before
    assert batches.total(survey.batches.values_list("tally", flat=True)) == tally
    assert Batch.objects.merge(survey) == 0
    assert Release.objects.publish(survey) == published


def test_batches_of_the_last_releases_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis is compared with what these showed, and so must know who was there."""
    monkeypatch.setattr(models, "MANY_SMALL", 2)
    monkeypatch.setattr(models, "KEPT", 2)
    survey = builders.opened()
    for _ in range(5):
        small_batches(survey, 1)
        Release.objects.publish(survey)
    assert Batch.objects.merge(survey) == 2  # those of the first three, of which the third is last
    found = survey.batches.order_by("release__number").values_list("release__number", "reports")
    assert list(found) == [(3, 60), (4, 20), (5, 20)]


def test_a_merge_that_does_not_add_up_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MANY_SMALL", 2)
    survey, other = builders.opened(), builders.opened(slug="other")
    small_batches(other, 3)
    before = small_batches(survey, 3)
    odd = survey.batches.first()
    assert odd is not None
    odd.tally["q1"][""][0][0] += 1
    odd.save()
    for one in (survey, other):
        Release.objects.publish(one)
    with pytest.raises(RuntimeError, match="do not add up"):
        Batch.objects.merge(survey)
    assert contents(survey) == before and survey.batches.count() == 3
    assert Batch.objects.merge(other) == 2 and survey.batches.count() == 3


def test_a_merged_batch_is_shuffled_again() -> None:
    """The reports of one batch do not stay together: 400 and 400, alpha = 1e-6 by runs.

    The chance that fewer than 300 of the 799 neighbours are of different origin is 1e-12.
    """
    yes = np.ones((400, 3), dtype=np.uint8)
    survey = builders.opened()
    for rows in (yes, yes - 1):
        Batch.objects._store(survey, rows)
    Batch.objects._replace(survey, list(survey.batches.all()))
    column = survey.batches.get().unpack()[0].astype(int)
    assert np.count_nonzero(np.diff(column)) > 300
    assert np.count_nonzero(np.diff(np.repeat([0, 1], 400))) < 300  # as it would be unshuffled


def test_a_merge_takes_the_same_queries_for_any_number_of_batches(
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    monkeypatch.setattr(models, "MANY_SMALL", 2)
    survey = builders.opened()
    for batch_count in (3, 6):
        small_batches(survey, batch_count)
        Release.objects.publish(survey)
        # savepoint, lock, sizes, analyses, batches, the new one, the old ones, savepoint
        with django_assert_num_queries(8):
            Batch.objects.merge(survey)


def test_the_release_job_merges_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MANY_SMALL", 2)
    survey = builders.opened()
    small_batches(survey, 2)
    builders.send(survey, 20)
    tasks.release(Job.objects.create(survey=survey))
    assert survey.batches.get().reports == 60
