"""By the clock: scheduled opening and closing, and what respondents are told of who asks."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from aggregation.jobs import tasks
from survey import files, schedule
from survey.access import invitations
from survey.design import Design, DesignError
from survey.models import Role, Survey, today
from tests.support import builders
from tests.support.services import free_port

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def draft(**changes: Any) -> Survey:
    return builders.draft(**builders.READY | changes)


def opened(**changes: Any) -> Survey:
    return builders.opened(**builders.READY | changes)


def scheduled(opens: timedelta | None = None, closes: timedelta | None = None) -> Survey:
    survey = draft()
    now = timezone.now()
    survey.opens_at = now + opens if opens else None
    survey.approved_hash = survey.content_hash() if opens else ""
    survey.closes_at = now + closes if closes else None
    survey.save()
    return survey


class TestByTheClock:
    def test_a_draft_opens_once_at_its_time(self) -> None:
        survey = scheduled(opens=HOUR)
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "draft"
        Survey.objects.update(opens_at=timezone.now() - timedelta(days=3))  # no worker ran
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "open" and survey.design and survey.opens_at is None
        before = Survey.objects.values().get()
        tasks.tick()
        assert Survey.objects.values().get() == before

    def test_a_changed_draft_does_not_open_and_says_so(self) -> None:
        survey = scheduled(opens=-HOUR)
        survey.questions.filter(key="q1").update(text="Something else?")
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "draft" and survey.opens_at is None
        assert "changed since you looked" in survey.opens_refused
        root = builders.client(builders.root())
        for page in ("/studio/small/open/", "/surveys/"):
            said = root.get(page).content.decode()
            assert "It did not open at the time that was set" in said
        victor = builders.client(builders.victor(survey))
        assert "did not open" not in victor.get("/surveys/").content.decode()

    def test_the_overview_says_when_it_opens(self) -> None:
        survey = scheduled(opens=HOUR)
        page = builders.client(builders.victor(survey)).get("/surveys/").content.decode()
        assert f">{survey.opens_at:%-d %b, %H:%M} UTC</time>" in page

    def test_owners_get_one_mail_when_a_survey_did_not_open(
        self, settings: Any, mailoutbox: list[Any]
    ) -> None:
        survey = scheduled(opens=-HOUR)
        survey.questions.all().delete()
        team = builders.team(
            owner=builders.person("tess", Role.OWNER), viewer=builders.person("vera", Role.OWNER)
        )
        Survey.objects.update(team=team)
        builders.olga(survey), builders.alice(survey), builders.charlie()
        for name in ("olga", "alice", "charlie", "tess", "vera"):
            User.objects.filter(username=name).update(email=f"{name}@example.org")
        schedule.open_now(survey)
        assert mailoutbox == []  # no mail server
        settings.EMAIL_URL = "smtp://localhost"
        Survey.objects.update(opens_at=timezone.now() - HOUR)
        late = Survey.objects.get()
        schedule.apply()
        schedule.apply()
        schedule.open_now(late)  # a second beat, a moment later
        (letter,) = mailoutbox
        assert sorted(letter.to) == ["olga@example.org", "tess@example.org"]
        assert letter.subject == "Survey small did not open"
        assert "at least one question" in letter.body

    def test_a_missing_mail_server_changes_nothing(self, settings: Any, caplog: Any) -> None:
        settings.EMAIL_URL = "smtp://localhost"
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
        survey = scheduled(opens=-HOUR)
        User.objects.filter(pk=builders.olga(survey).pk).update(email="olga@example.org")
        survey.questions.all().delete()
        schedule.apply()
        survey.refresh_from_db()
        assert survey.opens_at is None and survey.opens_refused
        assert "ConnectionRefusedError" in caplog.text and "olga" not in caplog.text

    def test_an_impossible_design_does_not_open_and_says_so(self) -> None:
        survey = scheduled(opens=-HOUR)
        survey.questions.all().delete()
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "draft" and "at least one question" in survey.opens_refused

    def test_a_draft_that_cannot_open_does_not_delay_others(self) -> None:
        scheduled(opens=-HOUR).questions.all().delete()
        other = draft(slug="zz")
        Survey.objects.filter(pk=other.pk).update(
            opens_at=timezone.now() - HOUR, approved_hash=other.content_hash()
        )
        tasks.tick()
        assert Survey.objects.get(slug="zz").state == "open"

    def test_an_open_survey_closes_at_its_time(self) -> None:
        survey = scheduled(closes=HOUR)
        survey.open()
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "open"
        Survey.objects.update(closes_at=timezone.now() - HOUR)
        tasks.tick()
        survey.refresh_from_db()
        assert survey.state == "closed" and survey.closed_on and survey.closes_at is None

    def test_opening_or_closing_twice_at_once_does_no_harm(self) -> None:
        survey = opened()
        Survey.objects.update(closes_at=timezone.now() - HOUR)
        late = Survey.objects.get()
        survey.close()
        schedule.close_now(late)
        early = draft(slug="other")
        late = Survey.objects.get(slug="other")
        early.open()
        schedule.open_now(late)
        early.refresh_from_db()
        assert early.state == "open" and not early.opens_refused

    @pytest.mark.parametrize("clock", ["ours", "the database's"])
    def test_one_clock_that_is_ahead_closes_nothing(
        self, clock: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Closing cannot be undone when the clock is set right."""
        survey = opened()
        Survey.objects.update(closes_at=timezone.now() + HOUR)
        ahead = timezone.now() + 2 * HOUR
        if clock == "ours":
            monkeypatch.setattr(schedule.timezone, "now", lambda: ahead)
        else:
            from django.db.models import Value

            monkeypatch.setattr(schedule, "Now", lambda: Value(ahead))
        schedule.apply()
        survey.refresh_from_db()
        assert survey.state == "open"


class TestTold:
    """Who asks, why, how to reach them and how long it is kept: part of the design."""

    def test_the_details_are_hashed_and_translated(self) -> None:
        survey = opened(translations={"de": {"asked_by": "Olgas Büro", "title": "Klein"}})
        design = survey.frozen_design()
        assert design.told == {
            "asked_by": "Olga’s office", "purpose": "To know which.",
            "contact": "olga@example.org", "retention_days": 90,
        }  # fmt: skip
        assert design.translations == {"de": {"told": {"asked_by": "Olgas Büro"}}}
        assert Design.from_json(survey.design) == design
        other = draft(slug="other", asked_by="Somebody else").draft_design()
        assert other.hash != design.hash

    def test_a_design_without_details_tells_nothing(self) -> None:
        empty: dict[str, Any] = {
            "asked_by": "", "purpose": "", "contact": "", "retention_days": None
        }  # fmt: skip
        assert "told" not in json.loads(draft(**empty).draft_design().canonical)

    def test_a_translation_of_an_empty_detail_is_left_out(self) -> None:
        survey = draft(purpose="", translations={"de": {"purpose": "Darum"}})
        assert survey.draft_design().translations == {}

    def test_details_survive_export_and_import(self) -> None:
        survey = draft(translations={"de": {"contact": "x", "purpose": "y"}})
        data = files.dump(survey)
        again = draft(**data | {"slug": "again"})
        assert files.dump(again) == data | {"slug": "again"}
        assert data["expected"] == 5000 and data["retention_days"] == 90

    @pytest.mark.parametrize(
        "wrong",
        [
            {"asked_by": 7}, {"contact": ["x"]}, {"expected": "many"}, {"expected": 0},
            {"expected": True}, {"retention_days": 0}, {"retention_days": 1.5},
            {"retention_days": 40_000}, {"asked_by": "x" * 201}, {"purpose": "a\u202eb"},
            {"translations": {"de": {"purpose": " "}}}, {"translations": {"de": {"contact": 1}}},
        ],
        ids=str,
    )  # fmt: skip
    def test_bad_details_in_a_file_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(files.FileError):
            draft(**wrong)
        assert not Survey.objects.exists()

    def test_a_survey_with_control_characters_does_not_open(self) -> None:
        survey = draft()
        Survey.objects.update(contact="a\u202eb")
        survey.refresh_from_db()
        with pytest.raises(DesignError, match="contact"):
            survey.open()


@pytest.mark.parametrize("state", ["draft", "open"])
@pytest.mark.parametrize("column", ["archived_on", "delete_asked_on"])
def test_only_a_closed_survey_is_archived_or_deleted(state: str, column: str) -> None:
    survey = draft()
    if state == "open":
        survey.open()
    with pytest.raises(IntegrityError), transaction.atomic():
        Survey.objects.update(**{column: "2026-01-01"})
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE survey_survey SET {column} = '2026-01-01'")


@pytest.mark.parametrize("days", [1, 30_000, None])
@pytest.mark.parametrize("state", ["open", "closed"])
def test_the_deletion_day_cannot_be_postponed(state: str, days: int | None) -> None:
    survey = opened()
    if state == "closed":
        survey.close()
    later = today() + timedelta(days=days + 1) if days else None
    with pytest.raises(IntegrityError, match="not put off"), transaction.atomic():
        Survey.objects.update(state="closed", closed_on=later)
    if state == "closed":  # sooner is fine
        Survey.objects.update(closed_on=today() - timedelta(days=1))
        with pytest.raises(IntegrityError, match="not put off"), transaction.atomic():
            Survey.objects.update(closed_on=today())


HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "=1+1",
    "javascript:alert(1)", "</code></p></section>", "' OR 1=1 --", "%s%n", "\u0661\u0662", "𝒳" * 90,
]  # fmt: skip


class TestPublicDesign:
    def test_anyone_can_read_it_and_check_the_hash(self) -> None:
        survey = opened(translations={"de": {"questions": {"q1": {"text": "Ja?"}}}})
        response = Client().get("/designs/small/")
        page = response.content.decode()
        assert response.status_code == 200 and not response.cookies
        for text in ("Olga’s office", "To know which.", "olga@example.org", "Did you?", "Blue",
                     "90 days after it closes", survey.design_hash, "How old are you?", "Ja?",
                     "Prefer not to say", "<script"):  # fmt: skip
            assert (text in page) is (text != "<script"), text
        file = Client().get("/designs/small/design.json")
        assert f"sha256:{hashlib.sha256(file.content).hexdigest()}" == survey.design_hash
        assert file["Content-Disposition"] == 'attachment; filename="small.design.json"'

    @pytest.mark.parametrize(
        ("given", "words"),
        [({}, "not safe from manipulation"), ({"work": 12}, "a proof of work makes"),
         ({"access": "invited"}, "Only people who are invited")],
    )  # fmt: skip
    def test_it_says_who_may_answer(self, given: dict[str, Any], words: str) -> None:
        survey = opened(**given)
        page = Client().get("/designs/small/").content.decode()
        assert words in page
        assert (invitations.fingerprint(survey) in page) is ("access" in given)

    def test_a_draft_has_no_public_design(self) -> None:
        draft()
        admin = builders.client(builders.root())
        for address in ("/designs/small/", "/designs/small/design.json"):
            assert admin.get(address).status_code == 404

    def test_a_closed_survey_says_when_everything_is_deleted(self) -> None:
        survey = opened()
        survey.close()
        assert survey.delete_on
        page = Client().get("/designs/small/").content.decode()
        assert f"{survey.delete_on:%-d %B %Y}" in page

    def test_it_is_linked_from_the_results(self) -> None:
        opened()
        Survey.objects.update(results_public=True)
        assert 'href="/designs/small/"' in Client().get("/results/small/").content.decode()

    def test_hostile_texts_stay_texts(self) -> None:
        admin = builders.client(builders.root())
        for number, text in enumerate(HOSTILE):
            slug = f"s{number}"
            survey = draft(
                slug=slug, title=text, introduction=text, asked_by=text, purpose=text, contact=text,
                translations={"de": {"asked_by": text, "purpose": text, "contact": text}},
                questions=[{"key": "q1", "text": text, "kind": "yes_no"}], blocks=[],
            )  # fmt: skip
            pages = [admin.get(f"/studio/{slug}/open/").content.decode()]
            survey.open()
            pages.append(Client().get(f"/designs/{slug}/").content.decode())
            pages.append(admin.get(f"/studio/{slug}/open/").content.decode())
            for page in pages:
                assert "<script>alert" not in page and "<img src=x" not in page
            told = Client().get(f"/s/{slug}/definition/").json()["design"]["told"]
            assert told["asked_by"] == told["purpose"] == told["contact"] == text
