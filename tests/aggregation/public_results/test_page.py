"""Public results: the dashboard's estimates for anyone if the owner wants it, and nothing else."""

import re
from typing import Any

import pytest
from django.test import Client

from aggregation.models import Release
from aggregation.releases.publish import make_release
from survey.models import Survey
from tests.support import builders

pytestmark = pytest.mark.django_db

PAGE = "/results/small/"


@pytest.fixture
def survey() -> Survey:
    survey = builders.finished()
    Survey.objects.update(results_public=True)
    return survey


def page(client: Client | None = None, query: str = "", **meta: Any) -> str:
    response = (client or Client()).get(PAGE + query, **meta)
    assert response.status_code == 200
    return response.content.decode()


def tables(html: str) -> list[str]:
    return re.findall(r'<table class="estimates.*?</table>', html, re.DOTALL)


@pytest.mark.parametrize("query", ["", "?by=age"])
def test_the_tables_are_those_of_the_dashboard(survey: Survey, query: str) -> None:
    alice = builders.client(builders.alice(survey))
    shown = tables(alice.get(f"/surveys/small/{query}").content.decode())
    assert shown and tables(page(query=query)) == shown


def test_the_page_shows_results_and_how_people_were_protected(survey: Survey) -> None:
    html = page()
    release = Release.objects.get(number=2)
    row = release.estimates.get(question="q1", option="yes", by="")
    for text in ("A small survey", "Did you?", f"{100 * row.bounded:.1f}\u202f%", "307",
                 survey.design_hash, "at most about 88 in 100 sure", "For researchers",
                 "Nobody who sees what you send can be sure what you answered.",
                 "They can guess, but not be sure.", "Responses counted: 307",
                 "Cite this release", "estimates.csv", "/verify/#small"):  # fmt: skip
        assert text in html
    for text in ("reports.csv", "everything.zip", "Release now", "Log out", "csrfmiddlewaretoken"):
        assert text not in html
    assert "style=" not in html and "<script>" not in html


def test_earlier_releases_are_linked_and_can_be_read(survey: Survey) -> None:
    links = re.findall(r'href="(/surveys/small/releases/\d+/)"', page())
    assert links == ["/surveys/small/releases/1/"]
    older = Client().get(links[0])
    assert older.status_code == 200 and f'href="{PAGE}"' in older.content.decode()
    files = set(re.findall(r'href="(/surveys/small/releases/\d+/[\w.]+)"', page()))
    assert files and {Client().get(file).status_code for file in files} == {200}


def test_weak_protection_is_called_weak() -> None:
    builders.opened(epsilon=6)
    Survey.objects.update(results_public=True)
    html = page()
    assert "they can be nearly sure: this protection is weak" in html
    assert "more than 99 in 100 sure" in html and "They can guess" not in html


# --- The same for everybody -----------------------------------------------------------------------


def test_the_page_sets_no_cookie_and_may_be_cached(survey: Survey) -> None:
    for client in (Client(), builders.client(builders.alice(survey)), Client()):
        if client.cookies.get("sessionid") is None:
            client.cookies["sessionid"] = "odd"
        response = client.get(PAGE)
        assert response["Cache-Control"] == "public, max-age=60"
        assert response["Vary"] == "Accept-Language" and "Set-Cookie" not in response.headers
        assert response.content == Client().get(PAGE).content


def test_only_public_pages_may_be_indexed(survey: Survey) -> None:
    alice = builders.client(builders.alice(survey))
    assert "noindex" not in page()
    others = ["/surveys/", "/surveys/small/", "/login/", "/surveys/small/releases/1/", "/plan/"]
    for other in others:
        assert '<meta name="robots" content="noindex">' in alice.get(other).content.decode()
    Survey.objects.update(results_public=False)
    assert "noindex" in Client().get(PAGE).content.decode()


# --- Off ------------------------------------------------------------------------------------------


def test_private_results_are_404_for_everybody(survey: Survey) -> None:
    Survey.objects.update(results_public=False)
    refused = [
        client.get(PAGE)
        for client in (Client(), builders.client(builders.olga(survey)),
                       builders.client(builders.root()))
    ]  # fmt: skip
    for response in refused:
        assert response.status_code == 404 and "max-age" not in response.get("Cache-Control", "")
        assert 'href="/surveys/small/"' in response.content.decode()
        assert "A small survey" not in response.content.decode()
    # Private results look the same as results that do not exist.
    nowhere = Client().get("/results/nowhere/").content.decode()
    assert nowhere.replace("nowhere", "small") == refused[0].content.decode()


def test_missing_results_are_explained_alike_in_the_readers_language() -> None:
    builders.opened(language="fr")
    headers = {"accept-language": "ar"}
    hidden, missing = (
        Client().get(f"/results/{slug}/", headers=headers) for slug in ("small", "nowhere")
    )
    assert hidden.status_code == missing.status_code == 404
    assert '<html lang="ar" dir="rtl">' in hidden.content.decode()
    assert missing.content.replace(b"nowhere", b"small") == hidden.content


def test_a_draft_has_no_public_page() -> None:
    builders.draft()
    Survey.objects.update(results_public=True)
    assert Client().get(PAGE).status_code == 404


def test_before_the_first_release_the_page_shows_no_counts() -> None:
    survey = builders.opened()
    Survey.objects.update(results_public=True)
    builders.send(survey, 5)
    html = page()
    assert "Results appear once 40 people have answered." in html and "<table" not in html
    survey.close()
    make_release(survey)
    assert "closed with fewer than 20 responses" in page()


def test_waiting_reports_do_not_change_the_page(survey: Survey) -> None:
    other = builders.opened(slug="other")
    builders.send(other, 60)
    make_release(other)
    before = Client().get("/results/other/").content
    builders.send(other, 13, seed=3)
    assert Client().get("/results/other/").content == before


@pytest.mark.parametrize("by", ["nothing", "%00", "a" * 5000, "age'--"])
def test_an_unknown_group_is_ignored(survey: Survey, by: str) -> None:
    assert len(tables(page(query=f"?by={by}"))) == len(tables(page()))
