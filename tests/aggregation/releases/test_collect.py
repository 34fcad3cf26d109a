"""From the inbox to batches: the crowd rule, shuffling, conservation."""

from collections import Counter
from typing import Any

import pytest
from django.db import connection

from aggregation.models import Batch
from aggregation.releases import collect as collector
from aggregation.releases.collect import BATCH_SIZE, collect, movable
from survey import simulation
from survey.database import database
from survey.models import Report, Survey
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def inbox(survey: Survey) -> Counter[bytes]:
    return Counter(bytes(c) for c in survey.pending().values_list("content", flat=True))


def batched(survey: Survey) -> Counter[bytes]:
    return Counter(bytes(row) for batch in survey.batches.all() for row in builders.rows(batch))


@pytest.mark.parametrize("waiting", [0, 1, 19, 20, 39])
def test_below_two_crowds_nothing_leaves_an_open_survey(waiting: int) -> None:
    survey = builders.opened()
    builders.send(survey, waiting)
    assert collect(survey) == 0
    assert survey.pending().count() == waiting and not Batch.objects.exists()


def test_a_crowd_stays_behind_while_a_survey_is_open() -> None:
    survey = builders.opened()
    builders.send(survey, 45)
    everything, ids = inbox(survey), set(Report.objects.values_list("pk", flat=True))

    assert collect(survey) == 25
    assert batched(survey) + inbox(survey) == everything
    assert survey.pending().count() == 20
    assert set(Report.objects.values_list("pk", flat=True)) == ids
    assert collect(survey) == 0


def test_no_report_stays_behind_again_and_again() -> None:
    """20 of 40 stay each time: the same one stays in all 40 with a probability below 1e-12."""
    survey = builders.opened()
    highest = "ffffffff-ffff-4fff-bfff-ffffffffffff"
    report = builders.report(survey.frozen_design(), id=highest)
    simulation.accept(survey.slug, {"reports": [report]})
    waiting = survey.pending().filter(pk=highest)
    assert waiting.exists()
    rounds = 0
    while waiting.exists() and rounds < 40:
        builders.send(survey, 40 - survey.pending().count())
        assert collect(survey) == 20
        rounds += 1
    assert not waiting.exists()


def test_closing_moves_the_rest_which_is_a_crowd() -> None:
    survey = builders.opened()
    builders.send(survey, 45)
    collect(survey)
    survey.close()
    assert collect(survey) == 20
    assert not survey.pending().exists()


def test_a_survey_that_closes_below_a_crowd_moves_nothing() -> None:
    survey = builders.opened()
    builders.send(survey, 19)
    survey.close()
    assert collect(survey) == 0 and survey.pending().count() == 19


def test_no_step_is_ever_smaller_than_a_crowd_whenever_the_survey_closes() -> None:
    """Reports arrive one at a time, and the survey closes after any number of them."""
    for state in (Survey.State.OPEN, Survey.State.CLOSED):
        for waiting in range(200):
            survey = Survey(crowd=20, state=state)
            moved = movable(survey, waiting)
            left = waiting - moved
            assert moved == 0 or moved >= 20
            if moved:
                assert left >= 20 if state == Survey.State.OPEN else left == 0


@pytest.mark.parametrize("waiting", range(40, 140, 7))
def test_a_batch_has_a_largest_size_and_leaves_no_remainder(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "BATCH_SIZE", 40)
    survey = Survey(crowd=20, state=Survey.State.CLOSED)
    left, sizes = waiting, []
    while some := movable(survey, left):
        sizes.append(some)
        left -= some
    assert left == 0 and all(20 <= size < 60 for size in sizes)
    assert BATCH_SIZE == 65_536


def test_a_crowd_larger_than_a_full_batch_is_moved_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "BATCH_SIZE", 10)
    survey = Survey(crowd=20, state=Survey.State.OPEN)
    assert [movable(survey, waiting) for waiting in (39, 40, 59, 60, 200)] == [0, 20, 39, 20, 20]


def test_other_surveys_are_left_alone() -> None:
    one, other = builders.opened(), builders.opened(slug="other")
    builders.send(one, 40)
    builders.send(other, 40)
    assert collect(one) == 20
    assert other.pending().count() == 40


def test_a_move_that_fails_half_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = builders.opened()
    builders.send(survey, 50)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("half-way")

    monkeypatch.setattr(Batch.objects, "create", fail)
    with pytest.raises(RuntimeError, match="half-way"):
        collect(survey)
    assert survey.pending().count() == 50 and not Batch.objects.exists()


def test_a_closed_survey_that_somebody_else_emptied_meanwhile_gets_no_empty_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = builders.opened()
    builders.send(survey, 45)
    survey.close()
    read = database().read_waiting

    def overtaken(pk: int, most: int) -> Any:
        monkeypatch.setattr(database(), "read_waiting", read)
        assert collect(survey) == 45
        return read(pk, most)

    monkeypatch.setattr(database(), "read_waiting", overtaken)
    assert collect(survey) == 0
    assert Batch.objects.count() == 1


def test_reports_that_somebody_else_moved_meanwhile_are_not_moved_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = builders.opened()
    builders.send(survey, 100)
    read, everything = database().read_waiting, inbox(survey)

    def overtaken(pk: int, most: int) -> Any:
        taken = read(pk, most)
        monkeypatch.setattr(database(), "read_waiting", read)
        assert collect(survey) == 80
        return taken

    monkeypatch.setattr(database(), "read_waiting", overtaken)
    assert collect(survey) == 0
    assert batched(survey) + inbox(survey) == everything
    assert survey.pending().count() == 20


def test_a_move_that_empties_too_few_reports_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    survey = builders.opened()
    builders.send(survey, 50)
    empty_reports = database().empty_reports

    def empty_some(pk: int, places: Any) -> int:
        # One more than stay in the inbox, so that at least one was to be moved.
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE survey_report SET content = NULL WHERE id IN "
                "(SELECT id FROM survey_report WHERE survey_id = %s LIMIT 21)",
                [pk],
            )
        return empty_reports(pk, places)

    monkeypatch.setattr(database(), "empty_reports", empty_some)
    assert collect(survey) == 0
    assert survey.pending().count() == 50 and not Batch.objects.exists()


def test_tallies_agree_with_counting_by_hand() -> None:
    survey = builders.opened(blocks=[["q1"], ["q2"]], ask=1)
    builders.send(survey, 200)
    survey.close()
    design = survey.frozen_design()
    rows = [bytes(c) for c in survey.pending().values_list("content", flat=True)]
    collect(survey)

    def count(question: int, option: int, age: int | None) -> int:
        return sum(row[question] == option and (age is None or row[2] == age) for row in rows)

    expected = {
        question.key: {"": [[count(i, option, None) for option in range(question.size)]]}
        | (
            {"age": [[count(i, o, age) for o in range(question.size)] for age in range(3)]}
            if question.key != "age"
            else {}
        )
        for i, question in enumerate(design.questions)
    }
    assert Batch.objects.get().tally == expected


def test_nothing_in_a_batch_tells_one_report_from_another() -> None:
    names = {field.name for field in Batch._meta.get_fields()}
    assert names == {"id", "survey", "release", "reports", "made_on", "tally", "columns"}
    assert {field.name for field in Report._meta.get_fields()} == {"id", "survey", "content"}
    assert Survey._meta.get_field("opened_on").get_internal_type() == "DateField"
