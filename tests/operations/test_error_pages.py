"""Error pages are in the reader's language and say nothing about what exists."""

from html import unescape
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path

from config import urls
from operations import error_pages
from survey.words import CATALOGUES
from tests.support import builders


def failing(error: type[Exception]) -> Any:
    def view(request: HttpRequest) -> HttpResponse:
        raise error("what happened")

    return view


urlpatterns = [
    path("400/", failing(SuspiciousOperation)),
    path("403/", failing(PermissionDenied)),
    path("404/", failing(Http404)),
    path("500/", failing(ValueError)),
    path("csrf/", lambda request: HttpResponse()),
]
handler400 = "operations.error_pages.bad_request"
handler403 = "operations.error_pages.forbidden"
handler404 = "operations.error_pages.not_found"
handler500 = "operations.error_pages.server_error"

PAGES = {"400/": "bad_request", "403/": "forbidden", "404/": "not_found", "500/": "server_error"}


@pytest.mark.parametrize("tag", CATALOGUES)
@pytest.mark.parametrize("address", [*PAGES, "csrf/"])
@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"])
def test_an_error_page_is_in_the_readers_language(address: str, tag: str) -> None:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    headers = {"accept-language": f"pt, {tag};q=0.8"}
    response = (client.post if address == "csrf/" else client.get)(f"/{address}", headers=headers)
    name = PAGES.get(address, "csrf")
    assert response.status_code == {"csrf/": 403}.get(address) or int(address[:3])
    assert "Accept-Language" in response["Vary"]
    words = CATALOGUES[tag]
    page = unescape(response.content.decode())
    assert f'<html lang="{tag}" dir="{words.direction}">' in page
    texts = words["errors"][name]
    assert f"<h1>{texts['title']}</h1>" in page and texts["text"] in page
    assert "what happened" not in page and 'href="/surveys/"' not in page


def test_the_site_uses_these_pages() -> None:
    for name, value in globals().items():
        if name.startswith("handler"):
            assert getattr(urls, name) == value


@pytest.mark.django_db
def test_people_who_are_logged_in_find_the_way_to_their_surveys() -> None:
    client = builders.client(builders.olga(builders.opened()))
    page = client.get("/nowhere/", headers={"accept-language": "de"}).content.decode()
    assert '<a href="/surveys/">Zu Ihren Umfragen</a>' in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tag", "words"), [("de", "Bitte warten Sie"), ("fr", "Veuillez attendre")]
)
def test_too_many_requests_are_explained_in_the_readers_language(
    tag: str, words: str, settings: Any
) -> None:
    settings.PUBLIC_PER_MINUTE = 1
    client = Client(REMOTE_ADDR={"de": "192.0.2.1", "fr": "192.0.2.2"}[tag])
    responses = [client.get("/results/x/", headers={"accept-language": tag}) for _ in range(2)]
    assert [one.status_code for one in responses] == [404, 429]
    assert words in responses[1].content.decode() and int(responses[1]["Retry-After"]) > 0


def test_the_page_for_a_failure_needs_no_database_and_no_user() -> None:
    request = RequestFactory().get("/x/", headers={"accept-language": "es"})
    response = error_pages.server_error(request)
    assert response.status_code == 500 and "Algo ha fallado" in response.content.decode()
