"""An open survey cannot be changed in any way."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from survey.design import DesignError
from survey.files import FileError
from survey.models import Question, Removed, Survey, today
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def sql(statement: str) -> Callable[[Survey], None]:
    def run(survey: Survey) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement.replace("PK", str(survey.pk)))

    return run


def save(**changes: Any) -> Callable[[Survey], None]:
    def run(survey: Survey) -> None:
        for name, value in changes.items():
            setattr(survey, name, value)
        survey.save()

    return run


def move_question(survey: Survey) -> None:
    other = builders.draft(slug="elsewhere")
    Question.objects.filter(survey=survey, key="q1").update(survey=other, key="moved")


WAYS: dict[str, Callable[[Survey], Any]] = {
    "title, save": save(title="Another"),
    "epsilon, save": save(epsilon=8.0),
    "crowd, save": save(crowd=2),
    "ask, save": save(ask=1),
    "slug, save": save(slug="another"),
    "language, save": save(language="de"),
    "who asks, save": save(asked_by="Somebody else"),
    "why, update": lambda s: Survey.objects.filter(pk=s.pk).update(purpose="Another"),
    "contact, bulk_update": lambda s: Survey.objects.bulk_update(
        [Survey(pk=s.pk, contact="elsewhere@example.org")], ["contact"]
    ),
    "contact, SQL": sql("UPDATE survey_survey SET contact = 'x' WHERE id = PK"),
    "kept longer, save": save(retention_days=9999),
    "kept longer, update": lambda s: Survey.objects.update(retention_days=9999),
    "kept longer, SQL": sql("UPDATE survey_survey SET retention_days = 9999 WHERE id = PK"),
    "translations, save": save(translations={"de": {"title": "Anders"}}),
    "language, update": lambda s: Survey.objects.filter(pk=s.pk).update(language="de"),
    "translations, update": lambda s: Survey.objects.update(translations={"de": {}}),
    "translations, SQL": sql("UPDATE survey_survey SET translations = '[]' WHERE id = PK"),
    "access, save": save(access="invited"),
    "work, update": lambda s: Survey.objects.filter(pk=s.pk).update(work=4),
    "blocks, save": save(blocks=[["q1"], ["q2"]]),
    "blocks, SQL": sql("UPDATE survey_survey SET blocks = '[]' WHERE id = PK"),
    "order of questions, update": lambda s: Survey.objects.filter(pk=s.pk).update(shuffled=True),
    "fillers, save": save(fillers=True),
    "population, update": lambda s: Survey.objects.filter(pk=s.pk).update(population=1000),
    "question details, update": lambda s: s.questions.update(details={"picks": 1}),
    "follow-up, update": lambda s: s.questions.filter(key="q2").update(
        only_if={"question": "q1", "options": ["yes"]}
    ),
    "order of options, update": lambda s: s.questions.update(shuffled=True),
    "design, save": save(design="{}"),
    "back to draft, save": save(state="draft"),
    "epsilon, update": lambda s: Survey.objects.filter(pk=s.pk).update(epsilon=8),
    "introduction, bulk_update": lambda s: Survey.objects.bulk_update(
        [Survey(pk=s.pk, introduction="x")], ["introduction"]
    ),
    "back to draft, update": lambda s: Survey.objects.filter(pk=s.pk).update(state="draft"),
    "epsilon, SQL": sql("UPDATE survey_survey SET epsilon = 8 WHERE id = PK"),
    "design hash, SQL": sql("UPDATE survey_survey SET design_hash = 'x' WHERE id = PK"),
    "id, update": lambda s: Survey.objects.filter(pk=s.pk).update(id=s.pk + 1000),
    "delete": lambda s: s.delete(),
    "delete, SQL": sql("DELETE FROM survey_survey WHERE id = PK"),
    "question text, update": lambda s: s.questions.update(text="Another?"),
    "question options, update": lambda s: s.questions.filter(key="q2").update(options=["A", "B"]),
    "question, delete": lambda s: s.questions.all().delete(),
    "question, create": lambda s: Question.objects.create(survey=s, key="q9", text="More?"),
    "question, moved away": move_question,
    "question, SQL": sql("UPDATE survey_question SET text = 'x' WHERE survey_id = PK"),
    "background, create": lambda s: Question.objects.create(
        survey=s, key="x", text="x", kind="choice", background=True, prefer_not_to_say=True
    ),
    "background, update": lambda s: s.questions.filter(key="age").update(epsilon=6),
    "background to sensitive": lambda s: s.questions.filter(key="age").update(
        background=False, epsilon=None
    ),
    "background, delete, SQL": sql("DELETE FROM survey_question WHERE survey_id = PK"),
}


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.slow
def test_every_change_to_an_opened_survey_fails(way: Callable[[Survey], Any], closed: bool) -> None:
    survey = builders.opened()
    if closed:
        survey.close()
    before = snapshot()
    with pytest.raises(IntegrityError), transaction.atomic():
        way(Survey.objects.get(pk=survey.pk))
    assert snapshot() == before


# What changes nothing in a draft, or leaves questions without a survey.
ELSEWHERE = {"back to draft, save", "back to draft, update", "delete, SQL", "id, update"}


@pytest.mark.parametrize("name", sorted(WAYS.keys() - ELSEWHERE))
def test_the_same_changes_work_on_a_draft(name: str) -> None:
    survey = builders.draft()
    before = snapshot()
    WAYS[name](Survey.objects.get(pk=survey.pk))
    assert snapshot() != before


def snapshot() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in (Survey, Question)]


@pytest.mark.parametrize("table", ["survey_survey", "survey_question"])
def test_tables_cannot_be_emptied_or_replaced_in_one_statement(table: str) -> None:
    survey = builders.opened()
    before = snapshot()
    if connection.vendor == "postgresql":
        statement = f"SET CONSTRAINTS ALL IMMEDIATE; TRUNCATE {table} CASCADE"
    else:
        statement = f"REPLACE INTO {table} SELECT * FROM {table} LIMIT 1"
    with pytest.raises(IntegrityError), transaction.atomic():
        sql(statement)(survey)
    assert snapshot() == before


@pytest.mark.sqlite  # only SQLite has OR REPLACE
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE OR REPLACE survey_survey SET slug = 'small' WHERE slug = 'draft'",
        "UPDATE OR REPLACE survey_survey SET id = {survey} WHERE slug = 'draft'",
        "UPDATE OR REPLACE survey_question SET id = {question} WHERE survey_id <> {survey}",
    ],
)
def test_an_opened_survey_cannot_be_replaced(statement: str) -> None:
    """On a connection without recursive triggers."""
    survey = builders.opened()
    builders.draft(slug="draft")
    before = snapshot()
    question = survey.questions.get(key="q1").pk
    sql("PRAGMA recursive_triggers = OFF")(survey)
    try:
        with pytest.raises(IntegrityError), transaction.atomic():
            sql(statement.format(survey=survey.pk, question=question))(survey)
    finally:
        sql("PRAGMA recursive_triggers = ON")(survey)
    assert snapshot() == before


def bury(survey: Survey, **changes: Any) -> Removed:
    """Insert the tombstone of a survey, as remove_survey does."""
    fields = {
        "id": survey.pk, "slug": survey.slug, "title": survey.title, "reports": 0,
        "design_hash": survey.design_hash, "archive": "0" * 64, "removed_on": today(),
    }  # fmt: skip
    return Removed.objects.create(**fields | changes)


# What a tombstone is for.
LEAVING = {"delete", "question, delete", "background, delete, SQL"}


class TestTombstone:
    @pytest.fixture
    def closed(self) -> Survey:
        survey = builders.opened()
        survey.close()
        return survey

    @pytest.mark.parametrize("name", sorted(WAYS.keys() - LEAVING - {"delete, SQL"}))
    def test_it_does_not_allow_changes_to_the_survey(self, name: str, closed: Survey) -> None:
        bury(closed)
        before = snapshot()
        with pytest.raises(IntegrityError), transaction.atomic():
            WAYS[name](Survey.objects.get(pk=closed.pk))
        assert snapshot() == before

    @pytest.mark.parametrize("name", sorted(LEAVING))
    def test_it_allows_the_deletion_of_the_survey(self, name: str, closed: Survey) -> None:
        bury(closed)
        before = snapshot()
        WAYS[name](Survey.objects.get(pk=closed.pk))
        assert snapshot() != before

    def test_it_does_not_allow_the_deletion_of_another_survey(self, closed: Survey) -> None:
        other = builders.opened(slug="other")
        other.close()
        bury(other)
        for name in LEAVING:
            with pytest.raises(IntegrityError), transaction.atomic():
                WAYS[name](Survey.objects.get(pk=closed.pk))

    @pytest.mark.parametrize("state", ["draft", "open", "none"])
    def test_only_a_closed_survey_gets_one(self, state: str) -> None:
        survey = builders.draft()
        if state == "open":
            survey.open()
        changes = {"slug": "nowhere", "id": 99} if state == "none" else {}
        with pytest.raises(IntegrityError, match="only a closed survey"), transaction.atomic():
            bury(survey, **changes)

    @pytest.mark.parametrize("wrong", [{"id": 99}, {"slug": "x"}, {"design_hash": "sha256:0"}])
    def test_it_must_match_the_survey(self, wrong: dict[str, Any], closed: Survey) -> None:
        with pytest.raises(IntegrityError, match="only a closed survey"), transaction.atomic():
            bury(closed, **wrong)

    def ways(self) -> dict[str, Callable[[], Any]]:
        columns = "id, slug, title, design_hash, reports, archive, removed_on"
        replace = f"REPLACE INTO survey_removed ({columns}) SELECT {columns} FROM survey_removed"
        empty = "TRUNCATE survey_removed" if connection.vendor == "postgresql" else replace
        return {
            "update": lambda: Removed.objects.update(archive="1" * 64),
            "delete": lambda: Removed.objects.all().delete(),
            "at one stroke": lambda: connection.cursor().execute(empty),
        }

    @pytest.mark.parametrize("name", ["update", "delete", "at one stroke"])
    @pytest.mark.parametrize("gone", [False, True])
    def test_it_cannot_be_changed_or_deleted(self, name: str, gone: bool, closed: Survey) -> None:
        bury(closed)
        if gone:
            closed.delete()
        before = list(Removed.objects.values())
        with pytest.raises(IntegrityError), transaction.atomic():
            self.ways()[name]()
        assert list(Removed.objects.values()) == before

    @pytest.mark.sqlite  # only SQLite has OR REPLACE
    def test_it_cannot_be_replaced(self, closed: Survey) -> None:
        """On a connection without recursive triggers."""
        other = builders.opened(slug="other")
        other.close()
        first, second = bury(closed), bury(other)
        sql("PRAGMA recursive_triggers = OFF")(closed)
        try:
            with pytest.raises(IntegrityError), transaction.atomic():
                sql("REPLACE INTO survey_removed SELECT * FROM survey_removed")(closed)
        finally:
            sql("PRAGMA recursive_triggers = ON")(closed)
        assert set(Removed.objects.all()) == {first, second}

    def test_its_address_is_never_used_again(self, closed: Survey) -> None:
        bury(closed)
        closed.delete()
        draft = builders.draft(slug="elsewhere")
        ways: list[Callable[[], Any]] = [
            lambda: Survey.objects.create(slug="small", title="Again", epsilon=1),
            lambda: Survey.objects.bulk_create([Survey(slug="small", title="x", epsilon=1)]),
            lambda: Survey.objects.filter(pk=draft.pk).update(slug="small"),
            lambda: Survey.objects.create(pk=Removed.objects.get().pk, slug="new", epsilon=1),
        ]
        for way in ways:
            with pytest.raises(IntegrityError, match="removed survey"), transaction.atomic():
                way()
        with pytest.raises(FileError, match="removed on .* Choose another"):
            builders.draft()


def test_a_crowd_of_one_and_an_unknown_state_are_refused() -> None:
    builders.draft()
    for change in ({"crowd": 1}, {"state": "weird", "design": "{}"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Survey.objects.update(**change)


def test_a_closed_survey_cannot_be_reopened() -> None:
    survey = builders.opened()
    survey.close()
    with pytest.raises(IntegrityError), transaction.atomic():
        Survey.objects.update(state="open")
    for verb in (survey.open, survey.close):
        with pytest.raises(ValidationError):
            verb()


def test_opening_twice_is_refused() -> None:
    survey = builders.opened()
    with pytest.raises(ValidationError, match="only a draft"):
        survey.open()


def test_a_survey_without_a_design_cannot_be_open() -> None:
    builders.draft()
    with pytest.raises(IntegrityError), transaction.atomic():
        Survey.objects.update(state="open")


def test_results_may_be_made_public_later() -> None:
    survey = builders.opened()
    survey.results_public = True
    survey.save()


def test_a_draft_that_is_not_ready_does_not_open() -> None:
    survey = builders.draft()
    Survey.objects.update(blocks=[["q1"]])
    with pytest.raises(DesignError, match="'q2' is in no block"):
        survey.open()
    survey.refresh_from_db()
    assert survey.state == "draft" and not survey.design


@pytest.mark.parametrize("state", ["draft", "open"])
@pytest.mark.parametrize("column", ["archived_on", "delete_asked_on"])
def test_only_a_closed_survey_is_archived_or_deleted(state: str, column: str) -> None:
    survey = builders.draft(**builders.READY)
    if state == "open":
        survey.open()
    with pytest.raises(IntegrityError), transaction.atomic():
        Survey.objects.update(**{column: "2026-01-01"})
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE survey_survey SET {column} = '2026-01-01'")


@pytest.mark.parametrize("days", [1, 30_000, None])
@pytest.mark.parametrize("state", ["open", "closed"])
def test_the_deletion_day_cannot_be_postponed(state: str, days: int | None) -> None:
    survey = builders.opened(**builders.READY)
    if state == "closed":
        survey.close()
    later = today() + timedelta(days=days + 1) if days else None
    with pytest.raises(IntegrityError, match="later day"), transaction.atomic():
        Survey.objects.update(state="closed", closed_on=later)
    if state == "closed":  # sooner is fine
        Survey.objects.update(closed_on=today() - timedelta(days=1))
        with pytest.raises(IntegrityError, match="later day"), transaction.atomic():
            Survey.objects.update(closed_on=today())
