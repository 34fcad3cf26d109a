"""The pages and the API for researchers. Who may do what is in tests/test_permissions.py."""

import json
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from aggregation.models import Job, Release
from aggregation.releases.publish import make_release
from survey import simulation
from survey.models import Survey
from tests.support import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def survey() -> Survey:
    survey = builders.opened()
    builders.send(survey, 140, q1=[0.8, 0.2])
    make_release(survey)
    return survey


# --- Who may see what -----------------------------------------------------------------------------


def test_strangers_are_sent_to_the_login_page(survey: Survey) -> None:
    for path in ("/surveys/", "/surveys/small/"):
        response = Client().get(path)
        assert response.status_code == 302
        assert response["Location"] == f"/login/?next={path}"


def test_strangers_get_403(survey: Survey) -> None:
    response = builders.client(builders.charlie()).get("/surveys/small/")
    assert (
        response.status_code == 403
        and "You don’t have access to this page" in response.content.decode()
    )
    assert builders.client(builders.root()).get("/surveys/small/").status_code == 200


def test_the_overview_lists_only_your_own_surveys(survey: Survey) -> None:
    builders.opened(slug="other", title="Not for Alice")
    page = builders.client(builders.alice(survey)).get("/surveys/").content.decode()
    assert "A small survey" in page and "Not for Alice" not in page
    empty = Client()
    empty.force_login(builders.charlie())
    assert "You have no surveys yet" in empty.get("/surveys/").content.decode()


# --- What they see --------------------------------------------------------------------------------


def test_the_dashboard_shows_every_question(survey: Survey) -> None:
    builders.send(survey, 5)
    page = builders.client(builders.alice(survey)).get("/surveys/small/").content.decode()
    row = Release.objects.get().estimates.get(question="q1", option="yes", by="")
    for text in ("Did you?", "Which?", "How old are you?", survey.design_hash,
                 "dot", "whisker", f"{100 * row.bounded:.1f}\u202f%"):  # fmt: skip
        assert text in page
    assert '<span id="counted">120</span>' in page
    assert '<span id="waiting">20 or more</span>' in page
    assert "style=" not in page and "<script>" not in page


def test_drafts_and_empty_surveys_are_explained(survey: Survey) -> None:
    draft, empty = builders.draft(slug="draft"), builders.opened(slug="empty")
    alice = builders.client(builders.alice(draft, empty))
    assert "is a draft" in alice.get("/surveys/draft/").content.decode()
    assert (
        "Results appear automatically once 40 responses are in"
        in alice.get("/surveys/empty/").content.decode()
    )
    assert "Release now" in alice.get("/surveys/empty/").content.decode()
    empty.close()
    closed = alice.get("/surveys/empty/").content.decode()
    assert "Release now" not in closed and "/s/empty/" not in closed
    assert "closed with fewer than 20" in alice.get("/surveys/empty/").content.decode()
    assert alice.post("/surveys/draft/").status_code == 302
    assert alice.post("/api/v1/surveys/draft/releases/").status_code == 400
    assert not Job.objects.exists()


def test_groups_are_shown_by_one_background_question_at_a_time(survey: Survey) -> None:
    alice = builders.client(builders.alice(survey))
    everybody = alice.get("/surveys/small/").content.decode()
    assert 'href="?by=age"' in everybody
    by_age = alice.get("/surveys/small/?by=age").content.decode()
    assert '<a href="?by=age" aria-current="true">' in by_age
    assert by_age.count("Under 30") >= everybody.count("Under 30") + 2  # for each question
    for odd in ("nothing", "%00", "a" * 5000, "age'--"):
        page = alice.get("/surveys/small/", {"by": odd}).content.decode()
        assert page.count("Under 30") == everybody.count("Under 30")
        assert page.count("<tr>") == everybody.count("<tr>")


def test_the_button_asks_for_a_job_that_the_page_follows(survey: Survey) -> None:
    alice = builders.client(builders.alice(survey))
    page = alice.post("/surveys/small/", follow=True).content.decode()
    job = Job.objects.get()
    assert f'data-job="{job.pk}"' in page
    Job.objects.update(active=False, state="done", result={"release": 1, "new": 0})
    outcome = alice.get(f"/surveys/small/?job={job.pk}").content.decode()
    assert f'data-job="{job.pk}"' in outcome  # even if the worker was faster
    for address in ("/surveys/small/", "/surveys/small/?job=nonsense"):
        assert "data-job" not in alice.get(address).content.decode()


def test_reports_that_do_not_fit_the_channel_are_marked(survey: Survey) -> None:
    odd = builders.opened(slug="odd", blocks=[["q1"], ["q2"]], ask=1)

    reports = [builders.report(odd.frozen_design()) for _ in range(100)]
    simulation.accept("odd", {"reports": reports})
    make_release(odd)
    page = builders.client(builders.alice(odd)).get("/surveys/odd/").content.decode()
    assert "do not look like what this survey" in page


def test_the_estimates_have_the_shape_of_the_protocol(survey: Survey) -> None:
    document = (
        builders.client(builders.alice(survey)).get("/api/v1/surveys/small/estimates/").json()
    )
    assert (document["release"], document["reports"]) == (1, 120)
    assert document["design"] == survey.design_hash
    row = next(
        e for e in document["estimates"]
        if (e["question"], e["option"], e["by"]) == ("q1", "yes", None)
    )  # fmt: skip
    assert row.keys() >= {
        "question", "option", "by", "group", "n", "count", "estimate", "bounded", "standard_error",
        "sampling_error", "privacy_error", "low", "high", "interval", "measure", "low_once",
        "high_once", "low_always", "high_always",
    }  # fmt: skip
    assert row["measure"] == "share"
    interim = {"level": 0.95, "kind": "interim", "method": "confidence sequence"}
    assert row["interval"] == interim
    assert (row["low"], row["high"]) == (row["low_always"], row["high_always"])
    groups = {(e["by"], e["group"]) for e in document["estimates"] if e["question"] == "q1"}
    assert groups == {
        (None, None), ("age", "under-30"), ("age", "30-and-over"), ("age", "prefer-not-to-say"),
    }  # fmt: skip
    assert all(e["interval"] for e in document["estimates"])


def test_an_earlier_release_is_found_by_its_number(survey: Survey) -> None:
    builders.send(survey, 60)
    make_release(survey)
    alice = builders.client(builders.alice(survey))
    url = "/api/v1/surveys/small/estimates/"
    assert alice.get(url).json()["release"] == 2
    assert alice.get(url + "?release=1").json()["reports"] == 120
    assert alice.get(url + "?release=9").status_code == 404
    assert alice.get(url + "?release=x").status_code == 400
    assert [r["release"] for r in alice.get("/api/v1/surveys/small/releases/").json()] == [1, 2]


def test_before_the_first_release_there_is_nothing_to_get() -> None:
    survey = builders.opened()
    response = builders.client(builders.alice(survey)).get("/api/v1/surveys/small/estimates/")
    assert response.status_code == 404 and "released yet" in response.json()["detail"]


def test_a_researcher_asks_for_a_release_and_polls(survey: Survey) -> None:
    alice = builders.client(builders.alice(survey))
    response = alice.post("/api/v1/surveys/small/releases/")
    assert response.status_code == 202
    job = response.json()
    assert job["state"] == "queued" and response["Location"].endswith(f"/api/v1/jobs/{job['id']}/")
    assert alice.get(f"/api/v1/jobs/{job['id']}/").json().keys() >= {
        "state", "progress", "result", "error",
    }  # fmt: skip


# --- Definitions, schema, errors ------------------------------------------------------------------


def test_the_definition_is_that_of_the_protocol(survey: Survey) -> None:
    response = Client().get("/api/v1/surveys/small/")
    document = response.json()
    assert document.keys() == {
        "protocol", "slug", "title", "introduction", "language", "translations", "state", "crowd",
        "results_public", "design",
    }  # fmt: skip
    assert document["protocol"] == 1 and document["state"] == "open"
    design = document["design"]
    assert design["hash"] == survey.design_hash and design["scale"] == 2**32
    block = design["blocks"][0]
    assert block["questions"][0]["options"][1] == {"key": "yes", "text": "Yes"}
    assert block["keep"] == survey.frozen_design().blocks[0].keep
    assert not response.cookies and response["Cache-Control"] == "no-store"


def test_drafts_have_no_definition_and_closed_surveys_do(survey: Survey) -> None:
    builders.draft(slug="draft")
    survey.close()
    assert Client().get("/api/v1/surveys/draft/").status_code == 404
    assert Client().get("/api/v1/surveys/small/").json()["state"] == "closed"


def test_the_schema_describes_every_endpoint() -> None:
    from django.urls import get_resolver

    from survey.collect import door

    document = json.loads(Client().get("/api/schema/?format=json").content)
    served = {
        "/" + str(pattern.pattern)
        for included in get_resolver().url_patterns
        for pattern in getattr(included, "url_patterns", [])
        if str(pattern.pattern).startswith("api/v1/")
        and "<token:" not in str(pattern.pattern)  # the same for a preview
    }
    # Reports never reach Django's urls: the door takes them first.
    served |= {f"/api/v1/surveys/<slug:slug>/{kind}" for kind in (door.SINGLE, door.BATCH)}
    described = {
        path.replace("{slug}", "<slug:slug>").replace("{id}", "<uuid:pk>")
        .replace("{release}", "<str:release>").replace("{name}", "<str:name>")
        for path in document["paths"]
    }  # fmt: skip
    assert served and served == described


def test_the_api_page_needs_nothing_from_outside() -> None:
    page = Client().get("/api/docs/").content.decode()
    assert "swagger" in page and "https://" not in page


@pytest.mark.parametrize("path", ["/nothing", "/surveys/nowhere/", "/api/v1/nothing/"])
def test_a_missing_page_is_404(path: str) -> None:
    response = builders.client(builders.root()).get(path)
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("error", "status"), [(OperationalError, 503), (InterfaceError, 503), (ValueError, 500)]
)
def test_a_page_without_its_database_says_when_to_retry(
    survey: Survey, monkeypatch: pytest.MonkeyPatch, error: type[Exception], status: int
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("django.db.models.sql.compiler.SQLCompiler.execute_sql", fail)
    response = Client(raise_request_exception=False).get(f"/api/v1/surveys/{survey.slug}/")
    assert response.status_code == status
    assert response.headers.get("Retry-After") == ("5" if status == 503 else None)


def test_a_researcher_can_log_in_and_out(survey: Survey) -> None:
    alice = builders.alice(survey)
    alice.set_password("alice-of-the-tests")
    alice.save()
    browser = Client()
    wrong = browser.post("/login/", {"username": "alice", "password": "no"})
    assert "is wrong" in wrong.content.decode()
    data: dict[str, Any] = {"username": "alice", "password": "alice-of-the-tests"}
    response = browser.post("/login/?next=/surveys/small/", data | {"next": "/surveys/small/"})
    assert response["Location"] == "/surveys/small/"
    assert browser.post("/logout/")["Location"] == "/login/"
    assert browser.get("/surveys/").status_code == 302
