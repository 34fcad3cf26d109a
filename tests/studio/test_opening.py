"""The owner's page: open, close, archive and delete; and the retention period."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from aggregation.jobs import removal, tasks
from aggregation.models import Batch, Estimate, Job, Release
from aggregation.releases.due import due
from studio import opening, views
from survey.models import Membership, Question, Removed, Report, Survey, today
from survey.permissions import survey_or_403
from tests.support import builders

pytestmark = pytest.mark.django_db
PAGE = "/studio/small/open/"


@pytest.fixture(autouse=True)
def as_in_production(settings: Any) -> None:
    settings.CHECKLIST, settings.MAX_EPSILON, settings.MIN_CROWD = True, 4.0, 10


def owner_of(survey: Survey) -> Client:
    return builders.client(builders.olga(survey))


def do(client: Client, action: str, **given: str) -> Any:
    return client.post(PAGE, {"do": action, **given})


def at(**delta: int) -> str:
    return f"{timezone.now() + timedelta(**delta):%Y-%m-%dT%H:%M}"


class TestOpen:
    def test_an_owner_opens_the_design_that_was_shown(self) -> None:
        survey = builders.draft(**builders.READY)
        olga = owner_of(survey)
        page = olga.get(PAGE).content.decode()
        assert survey.draft_design().hash in page and survey.content_hash() in page
        assert "Nothing prevents opening" in page and "/s/test-" in page
        assert do(olga, "open", seen=survey.content_hash()).status_code == 302
        survey.refresh_from_db()
        assert survey.state == "open"
        page = olga.get(PAGE).content.decode()
        assert "http://testserver/s/small/" in page and survey.design_hash in page
        assert "<svg" in page and "style=" not in page

    @pytest.mark.parametrize(
        "change",
        [
            {"title": "Another"}, {"introduction": "x"}, {"asked_by": "x"}, {"purpose": "x"},
            {"contact": "x"}, {"retention_days": 91}, {"crowd": 30}, {"epsilon": 1.9},
            {"slug": "another"}, {"translations": {"de": {"title": "x"}}}, {"language": "fr"},
        ],
        ids=str,
    )  # fmt: skip
    @pytest.mark.parametrize("action", ["open", "open-at"])
    @pytest.mark.slow
    def test_a_draft_that_changed_meanwhile_does_not_open(
        self, change: dict[str, Any], action: str
    ) -> None:
        survey = builders.draft(**builders.READY)
        olga, seen = owner_of(survey), survey.content_hash()
        Survey.objects.update(**change)
        survey.refresh_from_db()
        address = f"/studio/{survey.slug}/open/"
        response = olga.post(address, {"do": action, "seen": seen, "at": at(days=1)})
        assert response.status_code == 400
        assert "changed since you checked" in response.content.decode()
        survey.refresh_from_db()
        assert survey.state == "draft" and survey.opens_at is None

    @pytest.mark.parametrize("action", ["open", "open-at"])
    def test_an_owner_must_confirm_the_warnings(self, action: str) -> None:
        survey = builders.draft(**builders.READY | {"purpose": ""})
        olga, given = owner_of(survey), {"seen": survey.content_hash(), "at": at(days=1)}
        assert 'name="read" required' in olga.get(PAGE).content.decode()
        response = do(olga, action, **given)
        assert response.status_code == 400 and "did not open" in response.content.decode()
        survey.refresh_from_db()
        assert survey.state == "draft" and survey.opens_at is None
        assert do(olga, action, **given, read="on").status_code == 302
        survey.refresh_from_db()
        assert survey.state == "open" or survey.opens_at

    def test_without_warnings_there_is_nothing_to_confirm(self) -> None:
        survey = builders.draft(**builders.READY)
        assert 'name="read"' not in owner_of(survey).get(PAGE).content.decode()

    def test_an_opening_time_can_be_set_changed_and_cancelled(self) -> None:
        survey = builders.draft(**builders.READY)
        olga = owner_of(survey)
        when = at(days=2)
        do(olga, "open-at", at=when, seen=survey.content_hash())
        survey.refresh_from_db()
        assert survey.opens_at and f"{survey.opens_at:%Y-%m-%dT%H:%M}" == when
        assert "It opens automatically on" in olga.get(PAGE).content.decode()
        assert do(olga, "close-at", at=at(days=1)).status_code == 400
        assert do(olga, "close-at", at=at(days=3)).status_code == 302
        survey.questions.filter(key="q1").update(text="Changed?")
        assert "so it will not open" in olga.get(PAGE).content.decode()
        do(olga, "open-later")
        do(olga, "close-by-hand")
        survey.refresh_from_db()
        assert survey.opens_at is None and survey.closes_at is None

    @pytest.mark.parametrize("when", ["", "soon", "2020-01-01T00:00", "2999-01-01T00:00", "99"])
    @pytest.mark.parametrize("action", ["open-at", "close-at"])
    def test_a_bad_opening_time_is_refused(self, when: str, action: str) -> None:
        survey = builders.draft(**builders.READY)
        response = do(owner_of(survey), action, at=when, seen=survey.content_hash())
        assert response.status_code == 400 and 'role="alert"' in response.content.decode()
        assert when in response.content.decode()  # what was typed stays
        survey.refresh_from_db()
        assert survey.opens_at is None and survey.closes_at is None

    def test_an_impossible_draft_still_has_its_page(self) -> None:
        survey = builders.draft(**builders.READY)
        Question.objects.all().delete()
        olga = owner_of(survey)
        assert "Add a question" in olga.get(PAGE).content.decode()
        assert do(olga, "open", seen="").status_code == 400

    def test_each_problem_links_to_its_field_in_the_editor(self) -> None:
        survey = builders.draft()
        page = owner_of(survey).get(PAGE).content.decode()
        assert "3 things must be fixed first" in page
        assert 'href="/studio/small/#contact"' in page

    def test_the_page_of_an_invited_survey_leads_to_its_invitations(self) -> None:
        survey = builders.draft(**builders.READY, access="invited")
        olga = owner_of(survey)
        assert "people with an invitation" in olga.get(PAGE).content.decode()
        assert do(olga, "open", seen=survey.content_hash()).status_code == 302
        page = olga.get(PAGE).content.decode()
        button = '<a class="button" href="/surveys/small/invitations/">Create invitations</a>'
        assert button in page and "Anyone with the address" not in page
        assert "All invitations are deleted" in page
        do(olga, "close", slug="small")
        page = olga.get(PAGE).content.decode()
        assert "Of 0 invitations, 0 fetched a pass. All of them were deleted" in page

    def test_a_survey_cannot_be_opened_twice(self) -> None:
        survey = builders.draft(**builders.READY)
        olga = owner_of(survey)
        seen = survey.content_hash()
        assert do(olga, "open", seen=seen).status_code == 302
        response = do(olga, "open", seen=seen)
        assert response.status_code == 400 and "only a draft" in response.content.decode()


class TestEnd:
    def test_a_survey_can_be_closed_archived_and_brought_back(self) -> None:
        survey = builders.opened(**builders.READY)
        olga = owner_of(survey)
        assert do(olga, "archive").status_code == 400  # not while it is open
        for typed in ({}, {"slug": "smal"}):
            response = do(olga, "close", **typed)
            assert response.status_code == 400 and "Type small" in response.content.decode()
        survey.refresh_from_db()
        assert survey.state == "open"
        do(olga, "close", slug="small")
        survey.refresh_from_db()
        assert survey.state == "closed"
        do(olga, "archive")
        survey.refresh_from_db()
        assert survey.archived_on == today() and survey.stage == "Archived"
        listed = olga.get("/surveys/").content.decode()
        assert "A small survey" not in listed and "archived survey" in listed
        assert "A small survey" in olga.get("/surveys/?archived").content.decode()
        assert olga.get("/surveys/small/").status_code == 200
        do(olga, "bring-back")
        survey.refresh_from_db()
        assert survey.archived_on is None
        assert "A small survey" in olga.get("/surveys/").content.decode()

    def test_an_unknown_action_does_nothing(self) -> None:
        survey = builders.opened(**builders.READY)
        before = Survey.objects.values().get()
        assert do(owner_of(survey), "explode").status_code == 400
        assert Survey.objects.values().get() == before

    def test_a_draft_is_deleted_at_once(self) -> None:
        survey = builders.draft(**builders.READY)
        assert do(owner_of(survey), "delete")["Location"] == "/surveys/"
        assert not Survey.objects.exists() and not Removed.objects.exists()

    def test_an_open_survey_is_not_deleted(self) -> None:
        survey = builders.opened(**builders.READY)
        assert do(owner_of(survey), "delete", slug="small").status_code == 400
        survey.refresh_from_db()
        assert survey.delete_asked_on is None

    def test_a_closed_survey_is_deleted_when_its_slug_is_typed(self) -> None:
        survey = builders.finished(**builders.READY)
        olga = owner_of(survey)
        response = do(olga, "delete", slug="smal")
        assert response.status_code == 400 and "Type small" in response.content.decode()
        assert do(olga, "delete", slug="small")["Location"] == "/surveys/"
        assert "Being deleted" in olga.get("/surveys/").content.decode()
        run_all()
        gone(survey)
        assert "A small survey" not in olga.get("/surveys/").content.decode()

    def test_a_survey_with_waiting_reports_is_not_deleted(self) -> None:
        survey = builders.opened(**builders.READY)
        builders.send(survey, 30)
        survey.close()
        response = do(owner_of(survey), "delete", slug="small")
        assert response.status_code == 400 and "still wait" in response.content.decode()


def run_all() -> None:
    """Run all waiting jobs, as a worker does."""
    for job in Job.objects.filter(active=True):
        tasks.run(str(job.pk))


def gone(survey: Survey) -> None:
    """Check that nothing is left but the tombstone."""
    for model in removal.TABLES:
        left = model.objects  # type: ignore[attr-defined]
        assert not left.exists(), model
    removed = Removed.objects.get()
    assert (removed.slug, removed.archive) == (survey.slug, "")
    assert removed.design_hash == survey.design_hash


class TestRetention:
    @pytest.fixture
    def survey(self) -> Survey:
        survey = builders.finished(**builders.READY)
        builders.victor(survey)
        return survey

    def closed_days_ago(self, days: int) -> None:
        """Move the closing this many days into the past."""
        survey = Survey.objects.get()
        assert survey.closed_on and survey.due_on
        passed = survey.closed_on - (today() - timedelta(days=days))
        Survey.objects.update(closed_on=survey.closed_on - passed, due_on=survey.due_on - passed)

    def test_everything_is_deleted_on_the_promised_day(self, survey: Survey) -> None:
        for model in (Report, Batch, Release, Estimate, Membership):
            assert model.objects.exists()  # type: ignore[attr-defined]
        self.closed_days_ago(89)
        for one in due():  # its ids, which go earlier
            Job.objects.request(one)
        run_all()
        survey.refresh_from_db()
        assert not survey.delete_due() and list(due()) == []
        self.closed_days_ago(90)
        assert [one.pk for one in due()] == [survey.pk]
        Job.objects.request(survey)
        run_all()
        gone(survey)
        assert list(due()) == []

    def test_a_survey_without_a_limit_stays(self) -> None:
        survey = builders.finished(**builders.READY | {"slug": "kept", "retention_days": None})
        self.closed_days_ago(30_000)
        survey.refresh_from_db()
        assert survey.delete_on is None and not survey.delete_due()

    def test_a_worker_that_was_killed_in_between_starts_again(
        self, survey: Survey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.closed_days_ago(90)
        survey.refresh_from_db()
        steps: list[int] = []

        def killed() -> None:
            steps.append(1)
            if len(steps) == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr("survey.models.report.IDS_AT_A_TIME", 10)
        with pytest.raises(KeyboardInterrupt):
            removal.expire(survey, killed)
        assert 0 < Report.objects.count() < 307  # some ids are gone
        assert Survey.objects.exists() and not Removed.objects.exists()
        removal.expire(survey, lambda: True)
        removal.expire(survey, lambda: True)  # the second run finds nothing
        gone(survey)

    def test_one_clock_that_is_ahead_deletes_nothing(
        self, survey: Survey, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey.refresh_from_db()
        ahead = today() + timedelta(days=1000)
        monkeypatch.setattr("survey.models.survey.today", lambda: ahead)
        assert not survey.delete_due()

    def test_waiting_reports_are_counted_before_the_deletion(self) -> None:
        survey = builders.opened(**builders.READY | {"slug": "late"})
        builders.send(survey, 30)
        survey.close()
        self.closed_days_ago(90)
        Job.objects.request(Survey.objects.get(slug="late"))
        run_all()
        removed = Removed.objects.get()
        assert (removed.slug, removed.reports) == ("late", 30)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM survey_report")
            assert cursor.fetchone() == (0,)

    def test_its_address_is_404_and_never_used_again(self, survey: Survey) -> None:
        self.closed_days_ago(90)
        Job.objects.request(survey)
        run_all()
        assert Client().get("/s/small/definition/").status_code == 404
        assert Client().get("/designs/small/").status_code == 404
        with pytest.raises(Exception, match="removed on"):
            builders.draft(**builders.READY)


def test_a_draft_deleted_meanwhile_is_404(monkeypatch: pytest.MonkeyPatch) -> None:
    def vanishing(*args: Any) -> Survey:
        survey = survey_or_403(*args)
        Survey.objects.filter(pk=survey.pk).delete()
        return survey

    for module in (opening, views):
        monkeypatch.setattr(module, "survey_or_403", vanishing)
    root = builders.client(builders.root())
    save = json.dumps({"number": 1, "document": builders.FILE, "step": ""})
    for address, fields in (
        ("/studio/small/open/", {"do": "open", "seen": "x"}),
        ("/studio/small/open/", {"do": "nonsense"}),
        ("/studio/small/", {"slug": "another"}),
        ("/studio/small/draft/", save),
    ):
        builders.draft()
        kind = {"content_type": "application/json"} if isinstance(fields, str) else {}
        assert root.post(address, fields, **kind).status_code == 404, address
