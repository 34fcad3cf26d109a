"""Scheduled opening and closing."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from aggregation.jobs import tasks
from survey import schedule
from survey.models import Role, Survey
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
        assert "changed since you checked" in survey.opens_refused
        root = builders.client(builders.root())
        for page in ("/studio/small/open/", "/surveys/"):
            said = root.get(page).content.decode()
            assert "It did not open at the scheduled time" in said
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
        """Closing cannot be undone once the clock is right."""
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
