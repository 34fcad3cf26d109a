"""A draft's preview: the same page and checks, and nothing is stored."""

import json
from typing import Any
from unittest import TestCase  # its comparison shows what differs

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aggregation.models import Job
from survey.models import Question, Report, Survey
from survey.respondent import preview
from tests.support import builders
from tests.support.site import Client

pytestmark = pytest.mark.django_db
DAY = preview.DAY


@pytest.fixture
def draft() -> Survey:
    return builders.draft()


def post(token: str, body: Any, client: Client | None = None) -> Any:
    return (client or Client()).post(
        f"/api/v1/surveys/{token}/reports/", json.dumps(body), content_type="application/json"
    )


def test_a_preview_has_the_definition_that_opening_gives(draft: Survey) -> None:
    token = preview.token(draft)
    tried = Client().get(f"/s/{token}/definition/")
    assert tried["Cache-Control"] == "no-store" and not tried.cookies
    draft.open()
    real = Client().get("/s/small/definition/").json()
    TestCase().assertEqual(tried.json(), real | {"slug": token, "state": "test"})


def test_a_preview_is_served_the_same_page(draft: Survey) -> None:
    mine = Client().get(preview.address(draft))
    other = Client().get("/s/any-survey/")
    assert mine.status_code == 200 and mine.content == other.content
    assert mine["Content-Security-Policy"] == other["Content-Security-Policy"]


def test_preview_reports_are_checked_and_not_stored(draft: Survey) -> None:
    token, design = preview.token(draft), draft.draft_design()
    good = builders.report(design)
    with CaptureQueriesContext(connection) as queries:
        response = post(token, good)
    assert response.status_code == 201 and response.json() == {"id": good["id"]}
    assert all(query["sql"].lstrip().upper().startswith("SELECT") for query in queries)
    assert post(token, good).status_code == 201  # it is not remembered
    for wrong in ({"design": "sha256:0"}, {"blocks": {}}, {"id": "1"}, {"more": 1}):
        response = post(token, good | wrong)
        assert response.status_code == 400 and response.json()["errors"]
    assert post(token, ["x" * 20_000]).status_code == 413
    many = f"/api/v1/surveys/{token}/reports/batch/"
    body = json.dumps({"reports": [good]})
    assert Client().post(many, body, content_type="application/json").status_code == 404
    assert not Report.objects.exists() and not Job.objects.exists()


def test_a_preview_follows_the_draft_and_ends_when_it_opens(draft: Survey) -> None:
    token, before = preview.token(draft), builders.report(draft.draft_design())
    Question.objects.filter(key="q1").update(text="Did you really?")
    assert "Did you really?" in Client().get(f"/s/{token}/definition/").content.decode()
    assert "design" in post(token, before).json()["errors"]  # made for the draft of before
    draft.open()
    assert Client().get(f"/s/{token}/definition/").status_code == 404
    assert post(token, builders.report(draft.frozen_design())).status_code == 404
    assert not Report.objects.exists()


def test_a_forged_or_expired_preview_address_is_404(
    draft: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = preview.token(draft)
    _, pk, until, signature = token.split("-")
    forged = [
        f"test-{int(pk) + 1}-{until}-{signature}",
        f"test-{pk}-{int(until) + 1}-{signature}",
        f"test-{pk}-{until}-{'0' * 40}",
        token[:-1],
        f"{token}0",
    ]
    for one in forged:
        assert Client().get(f"/s/{one}/definition/").status_code == 404, one
        assert post(one, builders.report(draft.draft_design())).status_code == 404, one
    now = preview.time.time()
    for days, status in ((preview.DAYS, 200), (preview.DAYS + 1, 404), (-1, 404)):
        monkeypatch.setattr(preview.time, "time", lambda days=days: now + days * DAY)
        assert Client().get(f"/s/{token}/definition/").status_code == status


def test_a_draft_that_cannot_open_has_no_preview(draft: Survey) -> None:
    Question.objects.all().delete()
    assert Client().get(f"/s/{preview.token(draft)}/definition/").status_code == 404


def test_no_survey_can_have_the_address_of_a_preview(draft: Survey) -> None:
    shortest = preview.token(Survey(pk=1))
    assert len(shortest) > (Survey._meta.get_field("slug").max_length or 0)
    assert preview.TOKEN.fullmatch(preview.token(Survey(pk=2**63 // 10)))
    # And one whose name only begins so is where it always was.
    builders.opened(slug="test-1-20000-abc")
    assert Client().get("/s/test-1-20000-abc/definition/").json()["state"] == "open"
