"""Permissions: every address of the site with every role, from the URL configuration.

Charlie has an account and no part in the survey, Victor is a viewer of it, Alice a researcher, Olga
its owner, and the three are the same in a team; Root is an admin. An address or a method that is
not in the table, or stands in it and is gone, fails the test.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver

from aggregation.exports.files import FILES
from aggregation.jobs.requests import request_analysis
from aggregation.releases.publish import make_release
from survey.collect import door
from survey.models import Survey
from survey.respondent import preview
from tests.support import builders
from tests.support.site import Client

pytestmark = pytest.mark.django_db

ROLES = ("nobody", "charlie", "victor", "alice", "olga", "root")
LOGIN = 302  # to the login page
Statuses = tuple[int, int, int, int, int, int]


def everybody(status: int = 200) -> Statuses:
    return (status,) * 6


def people(nobody: int = LOGIN, status: int = 200) -> Statuses:
    """Return everyone with an account."""
    return (nobody, status, status, status, status, status)


def readers(nobody: int = LOGIN, status: int = 200) -> Statuses:
    """Return everyone with a role in the survey."""
    return (nobody, 403, status, status, status, status)


def askers(nobody: int = LOGIN, status: int = 200) -> Statuses:
    """Return researchers and owners."""
    return (nobody, 403, 403, status, status, status)


def owners(nobody: int = LOGIN, status: int = 200) -> Statuses:
    return (nobody, 403, 403, 403, status, status)


def admins(nobody: int = LOGIN, status: int = 200) -> Statuses:
    return (nobody, 403, 403, 403, 403, status)


PLACES = {
    "<slug:slug>": "small",
    "<str:release>": "1",
    "<str:name>": "estimates.csv",
    "<str:file>": "result.json",
    "<str:table>": "margins",
    "<str:token>": "never-made",
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

# Address, method → status for each of the ROLES; all other methods are a 405, or the refusal that
# comes before it.
TABLE: dict[str, dict[str, Statuses]] = {
    "": {"GET": everybody(302), "POST": everybody(302)},
    "s/": {"GET": everybody()},
    "s/<slug:slug>/": {"GET": everybody()},
    "s/<token:token>/definition/": {"GET": everybody()},  # whoever has the address of a draft
    "s/<slug:slug>/definition/": {"GET": everybody()},
    "designs/<slug:slug>/": {"GET": everybody()},
    "designs/<slug:slug>/design.json": {"GET": everybody()},
    "verify/": {"GET": everybody()},
    ".well-known/candor-manifest.json": {"GET": everybody()},
    "login/": {"GET": everybody(), "POST": everybody(), "PUT": everybody()},  # a form, shown again
    "login/code/": {"GET": everybody(302), "POST": everybody(302)},  # to the first step
    "logout/": {"POST": everybody(302)},
    "admin/login/": {"GET": everybody(302)},  # to ours
    "setup/": {"GET": everybody(404), "POST": everybody(404)},  # there are accounts
    "join/<str:token>/": {"GET": everybody(404), "POST": everybody(404)},
    "api/schema/": {"GET": everybody()},
    "api/docs/": {"GET": everybody()},
    "surveys/": {"GET": people()},
    "surveys/<slug:slug>/": {"GET": readers(), "POST": askers(status=302)},
    "surveys/<slug:slug>/trend/": {"GET": readers()},
    "surveys/<slug:slug>/trend/over-time.csv": {"GET": readers()},
    "surveys/<slug:slug>/files/": {"GET": readers()},
    "surveys/<slug:slug>/settings/": {"GET": readers()},
    "surveys/<slug:slug>/now/": {"GET": readers()},
    "surveys/<slug:slug>/releases/<str:release>/": {"GET": readers()},
    "surveys/<slug:slug>/releases/<str:release>/<str:name>": {"GET": readers()},
    "surveys/<slug:slug>/analyses/": {
        "GET": readers(),
        "POST": askers(),  # an empty form, shown again
    },
    "surveys/<slug:slug>/analyses/<str:table>.csv": {"GET": readers()},
    "surveys/<slug:slug>/analyses/<uuid:analysis>/": {"GET": readers(), "POST": askers(status=302)},
    "surveys/<slug:slug>/analyses/<uuid:analysis>/<str:file>": {"GET": readers()},
    "surveys/<slug:slug>/people/": {"GET": owners(), "POST": owners(status=400)},  # no name
    "surveys/<slug:slug>/log/": {"GET": owners()},
    "surveys/<slug:slug>/log/log.csv": {"GET": owners()},
    "surveys/<slug:slug>/log/log.jsonl": {"GET": owners()},
    "log/": {"GET": admins()},
    "log/log.csv": {"GET": admins()},
    "log/log.jsonl": {"GET": admins()},
    "surveys/<slug:slug>/invitations/": {"GET": owners(), "POST": owners(status=400)},  # no action
    "account/": {"GET": people(), "POST": people(status=302)},  # no address is an address
    "account/again/": {"GET": people(), "POST": people(status=400)},
    "account/password/": {"GET": people(), "POST": people(status=400)},
    "account/factor/": {"GET": people(), "POST": people()},  # another picture
    "account/sessions/": {"GET": people(), "POST": people(status=302)},
    "account/delete/": {"GET": people(), "POST": people(status=400)},
    "teams/": {"GET": people(), "POST": askers(status=400)},  # no name
    "teams/<int:pk>/": {"GET": readers(), "POST": owners(status=400)},
    "studio/<slug:slug>/open/": {"GET": owners(), "POST": owners(status=400)},  # nothing to do
    "account/tokens/": {"GET": people(), "POST": people(status=400)},  # no label
    "results/<slug:slug>/": {"GET": everybody(404)},  # while they are not public
    "studio/new/": {"GET": askers(), "POST": askers(status=400)},  # nothing chosen
    "studio/<slug:slug>/": {"GET": owners(), "POST": owners()},  # the frozen design
    "studio/<slug:slug>/draft/": {"GET": owners(status=409), "POST": owners(status=409)},
    "studio/<slug:slug>/copy/": {"POST": askers(status=302)},
    "studio/<slug:slug>/survey.json": {"GET": owners()},
    "plan/": {"GET": people()},
    "plan/half-width.svg": {"GET": people()},
    "api/v1/surveys/": {"GET": people(401)},
    "api/v1/surveys/<slug:slug>/": {"GET": everybody()},
    # Reports come from anybody; an empty one is refused for what it is.
    "api/v1/surveys/<token:token>/reports/": {"POST": everybody(400)},
    "api/v1/surveys/<slug:slug>/reports/": {"POST": everybody(400)},
    "api/v1/surveys/<slug:slug>/reports/batch/": {"POST": everybody(400)},
    "api/v1/surveys/<slug:slug>/passes/": {"POST": everybody(404)},  # of an open survey
    "api/v1/surveys/<slug:slug>/estimates/": {"GET": readers(401)},
    "api/v1/surveys/<slug:slug>/releases/": {
        "GET": readers(401),
        "POST": askers(401, 202),
    },
    "api/v1/surveys/<slug:slug>/releases/<str:release>/<str:name>": {"GET": readers(401)},
    "api/v1/surveys/<slug:slug>/analyses/": {
        "GET": readers(401),
        "POST": askers(401, 400),  # an empty question, once one may ask
    },
    "api/v1/jobs/<uuid:pk>/": {"GET": readers(401), "DELETE": askers(401)},
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
    make_release(survey)
    job = request_analysis(survey, {"kind": "crosstab", "questions": ["q1", "q2"]})
    people = {
        "charlie": builders.charlie(),
        "victor": builders.victor(survey),
        "alice": builders.alice(survey),
        "olga": builders.olga(survey),
        "root": builders.root(),
    }
    team = builders.team(viewer=people["victor"], researcher=people["alice"], owner=people["olga"])
    token = preview.token(builders.draft(slug="tried"))
    found = {"survey": survey, "job": job, "team": team, "token": token, **people}
    for role in ROLES:  # before anything is undone
        client(found, role)
    return found


def client(world: dict[str, Any], role: str) -> Client:
    name = f"client of {role}"
    if name not in world:
        world[name] = builders.client(world.get(role))
    found: Client = world[name]
    return found


def call(world: dict[str, Any], role: str, method: str, address: str) -> int:
    path = f"/{address}"
    job = world["job"]
    ids = {
        "<uuid:pk>": str(job.pk),
        "<uuid:analysis>": str(job.analysis_id),
        "<int:pk>": str(world["team"].pk),
        "<token:token>": world["token"],
    }
    for place, value in {**ids, **PLACES}.items():
        path = path.replace(place, value)
    body = {"data": "{}", "content_type": "application/json"} if method != "GET" else {}
    leaves = address == "logout/"
    caller = builders.client(world.get(role)) if leaves else client(world, role)
    return int(getattr(caller, method.lower())(path, **body).status_code)


@contextmanager
def undone() -> Iterator[None]:
    """Undo everything at the end, so that the next request finds the same state."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def test_every_url_is_in_the_table() -> None:
    """Both Django's addresses and those of reports, which never reach Django."""
    reports = {"api/v1/surveys/<slug:slug>/reports/", "api/v1/surveys/<slug:slug>/reports/batch/"}
    assert set(addresses(get_resolver())) | reports == set(TABLE)
    assert not reports & set(addresses(get_resolver()))
    for address in reports:
        assert door.PATH.fullmatch(f"/{address}".replace("<slug:slug>", "small"))


@pytest.mark.slow
def test_each_role_gets_what_the_table_says(world: dict[str, Any]) -> None:
    for address, methods in TABLE.items():
        for method, expected in methods.items():
            with undone():
                found = tuple(call(world, role, method, address) for role in ROLES)
            assert found == expected, f"{method} {address}"


# Files that the table does not name: figures as estimates.csv; a large file of reports is made for
# those who may take it, and here it is small, and so there already.
MORE: dict[str, dict[str, Statuses]] = {
    "surveys/small/releases/1/figure-q1.svg": {"GET": readers()},
    "surveys/small/releases/1/figure-q1.by-age.svg": {"GET": readers()},
    "surveys/small/releases/1/everything.zip": {"GET": askers(), "POST": askers(status=302)},
    "api/v1/surveys/small/releases/1/figure-q1.svg": {"GET": readers(401)},
    "api/v1/surveys/small/releases/1/everything.zip": {
        "GET": askers(401),
        "POST": askers(401, 303),
    },
}


def test_each_role_gets_the_files_that_it_may_have(world: dict[str, Any]) -> None:
    for address, methods in MORE.items():
        for method, expected in methods.items():
            found = tuple(call(world, role, method, address) for role in ROLES)
            assert found == expected, f"{method} {address}"
        for method in set(METHODS) - set(methods):
            assert call(world, "root", method, address) == 405, f"{method} {address}"


@pytest.mark.once  # refused before the database is asked for more than who it is
@pytest.mark.slow
def test_other_methods_are_refused(world: dict[str, Any]) -> None:
    for address in filter(None, TABLE):
        for method, role in product(set(METHODS) - set(TABLE[address]), ROLES):
            status = call(world, role, method, address)
            assert status in (LOGIN, 401, 403, 405), f"{method} {address} as {role}"
            assert status == 405 or role != "root", f"{method} {address}"


def test_public_results_are_for_everybody_and_nothing_else_is(world: dict[str, Any]) -> None:
    Survey.objects.update(results_public=True)
    for address, methods in TABLE.items():
        shown = "estimates" in address or "<str:release>" in address or "results/" in address
        for method, expected in methods.items():
            status = call(world, "nobody", method, address)
            assert status == (200 if shown else expected[0]), f"{method} {address}"


@pytest.mark.slow
def test_each_role_gets_the_files_of_a_release_it_may_have(world: dict[str, Any]) -> None:
    """Files of estimates are for all members, files of reports for researchers and owners."""
    for public, root, name in product((False, True), ("surveys", "api/v1/surveys"), FILES):
        Survey.objects.update(results_public=public)
        nobody = 401 if root.startswith("api") else LOGIN
        expected = readers(nobody) if FILES[name].public else askers(nobody, 200)
        if public and FILES[name].public:
            expected = everybody()
        found = [client(world, role).get(f"/{root}/small/releases/1/{name}") for role in ROLES]
        assert tuple(response.status_code for response in found) == expected, f"{root} {name}"


def test_the_admin_pages_are_for_staff(world: dict[str, Any]) -> None:
    from django.contrib import admin

    for pattern in admin.site.urls[0]:
        route = f"/admin/{str(pattern.pattern).split('<')[0].split('(')[0].lstrip('^')}"
        if route in ("/admin/login/", "/admin/logout/", "/admin/jsi18n/"):
            continue
        for role in ROLES[:-1]:
            response = client(world, role).get(route)
            assert response.status_code in (301, 302), f"{route} as {role}"
            if response.status_code == 302:
                assert "/login/" in response["Location"]


def test_an_account_without_a_role_sees_no_survey_names(world: dict[str, Any]) -> None:
    assert isinstance(world["charlie"], User)
    page = client(world, "charlie").get("/surveys/").content.decode()
    listed = client(world, "charlie").get("/api/v1/surveys/").json()
    assert "A small survey" not in page and "small" not in str(listed)
