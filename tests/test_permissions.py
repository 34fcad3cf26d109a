"""Who may do what: every address of the site with every role, from the URL configuration itself.

Alice is a researcher of the survey, Charlie has an account and no part in it, Root is an admin. An
address or a method that is not in the table, or stands in it and is gone, fails the test.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from aggregation.models import Batch, Release
from aggregation.work import Analysis
from survey.models import Survey
from tests import builders

pytestmark = pytest.mark.django_db

ROLES = ("nobody", "charlie", "alice", "root")
EVERYBODY = (200, 200, 200, 200)
LOGIN = 302  # to the login page
PLACES = {"<slug:slug>": "small", "<str:release>": "1", "<str:name>": "estimates.csv"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

# Address, method → status for nobody, Charlie, Alice and Root; all other methods are a 405, or the
# refusal that comes before it.
TABLE: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "": {"GET": (302, 302, 302, 302), "POST": (302, 302, 302, 302)},
    "s/": {"GET": EVERYBODY},
    "s/<slug:slug>/": {"GET": EVERYBODY},
    "s/<slug:slug>/definition/": {"GET": EVERYBODY},
    "verify/": {"GET": EVERYBODY},
    ".well-known/candor-manifest.json": {"GET": EVERYBODY},
    "login/": {"GET": EVERYBODY, "POST": EVERYBODY, "PUT": EVERYBODY},  # a form, shown again
    "logout/": {"POST": (302, 302, 302, 302)},
    "api/schema/": {"GET": EVERYBODY},
    "api/docs/": {"GET": EVERYBODY},
    "surveys/": {"GET": (LOGIN, 200, 200, 200)},
    "surveys/<slug:slug>/": {"GET": (LOGIN, 403, 200, 200), "POST": (LOGIN, 403, 302, 302)},
    "surveys/<slug:slug>/releases/<str:release>/": {"GET": (LOGIN, 403, 200, 200)},
    "surveys/<slug:slug>/releases/<str:release>/<str:name>": {"GET": (LOGIN, 403, 200, 200)},
    "plan/": {"GET": (LOGIN, 200, 200, 200)},
    "api/v1/surveys/": {"GET": (401, 200, 200, 200)},
    "api/v1/surveys/<slug:slug>/": {"GET": EVERYBODY},
    # Reports come from anybody; an empty one is refused for what it is.
    "api/v1/surveys/<slug:slug>/reports/": {"POST": (400, 400, 400, 400)},
    "api/v1/surveys/<slug:slug>/reports/batch/": {"POST": (400, 400, 400, 400)},
    "api/v1/surveys/<slug:slug>/estimates/": {"GET": (401, 403, 200, 200)},
    "api/v1/surveys/<slug:slug>/releases/": {
        "GET": (401, 403, 200, 200),
        "POST": (401, 403, 202, 202),
    },
    "api/v1/surveys/<slug:slug>/releases/<str:release>/<str:name>": {"GET": (401, 403, 200, 200)},
    "api/v1/surveys/<slug:slug>/analyses/": {
        "GET": (401, 403, 200, 200),
        "POST": (401, 403, 400, 400),  # an empty question, once one may ask
    },
    "api/v1/jobs/<uuid:pk>/": {"GET": (401, 403, 200, 200), "DELETE": (401, 403, 200, 200)},
}


def addresses(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield address
        elif address != "admin/":  # which has its own test below
            yield from addresses(pattern, address)


@pytest.fixture
def world() -> dict[str, Any]:
    survey = builders.opened()
    builders.send(survey, 60)
    Batch.objects.collect(survey)
    Release.objects.publish(survey)
    job = Analysis.objects.ask(survey, {"kind": "crosstab", "questions": ["q1", "q2"]})
    people = {
        "charlie": builders.charlie(),
        "alice": builders.alice(survey),
        "root": builders.root(),
    }
    return {"survey": survey, "job": job, **people}


def client(world: dict[str, Any], role: str) -> Client:
    return builders.client(world.get(role))


def call(world: dict[str, Any], role: str, method: str, address: str) -> int:
    path = f"/{address}"
    for place, value in {"<uuid:pk>": str(world["job"].pk), **PLACES}.items():
        path = path.replace(place, value)
    body = {"data": "{}", "content_type": "application/json"} if method != "GET" else {}
    return int(getattr(client(world, role), method.lower())(path, **body).status_code)


def test_every_address_is_in_the_table() -> None:
    assert set(addresses(get_resolver())) == set(TABLE)


@pytest.mark.parametrize("address", TABLE)
def test_each_role_gets_what_the_table_says(world: dict[str, Any], address: str) -> None:
    for method, expected in TABLE[address].items():
        found = tuple(call(world, role, method, address) for role in ROLES)
        assert found == expected, f"{method} {address}"


@pytest.mark.parametrize("address", [address for address in TABLE if address])
def test_no_other_method_does_anything(world: dict[str, Any], address: str) -> None:
    for method in set(METHODS) - set(TABLE[address]):
        for role in ROLES:
            status = call(world, role, method, address)
            assert status in (LOGIN, 401, 403, 405), f"{method} {address} as {role}"
            assert status == 405 or role != "root", f"{method} {address}"


def test_public_results_are_for_everybody_and_nothing_else_is(world: dict[str, Any]) -> None:
    Survey.objects.update(results_public=True)
    for address, methods in TABLE.items():
        shown = "estimates" in address or "<str:release>" in address
        for method, expected in methods.items():
            status = call(world, "nobody", method, address)
            assert status == (200 if shown else expected[0]), f"{method} {address}"


def test_the_admin_pages_are_for_staff(world: dict[str, Any]) -> None:
    from django.contrib import admin

    for pattern in admin.site.urls[0]:
        route = f"/admin/{str(pattern.pattern).split('<')[0].split('(')[0].lstrip('^')}"
        if route in ("/admin/login/", "/admin/logout/", "/admin/jsi18n/"):
            continue
        for role in ("nobody", "charlie", "alice"):
            response = client(world, role).get(route)
            assert response.status_code in (301, 302), f"{route} as {role}"
            if response.status_code == 302:
                assert "/login/" in response["Location"]


def test_an_account_without_a_part_sees_no_name_of_a_survey(world: dict[str, Any]) -> None:
    assert isinstance(world["charlie"], User)
    page = client(world, "charlie").get("/surveys/").content.decode()
    listed = client(world, "charlie").get("/api/v1/surveys/").json()
    assert "A small survey" not in page and "small" not in str(listed)
