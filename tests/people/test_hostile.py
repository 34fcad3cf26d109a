"""Hostile texts in every field of the account pages stay texts and cause no error."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from people.models import Invite, SetUp
from survey.models import Role, Team
from tests.support import builders

pytestmark = pytest.mark.django_db

MARK = "<script>alert(7)</script>"
CORPUS = {
    "markup": f"{MARK}\"' onload=alert(7) <!--",
    "template": "{{ settings.SECRET_KEY }}{% debug %}%(x)s{0}",
    "statement": "x'); DROP TABLE people_session; --",
    "null": "a\0b",
    "lines": "a\r\nBcc: all@example.org\r\n\r\nb",
    "sides": "\u202eevil\u2066 \u200b\ufeff",
    "planes": "\U0001f469\u200d\U0001f692\U0010ffff a\u0301\u0301\u0301",
    "long": "x" * 20_000,
    "number": "9" * 400,
    "path": "../../etc/passwd",
    "empty": "",
    "blank": " \t\u00a0",
}
# Only texts that databases may handle differently run on both.
DATABASE = ("statement", "null", "planes", "long", "number")
NAMES = [pytest.param(name, marks=() if name in DATABASE else pytest.mark.once) for name in CORPUS]
ACCOUNT = {"username": "nina", "email": "", "password1": "seven quiet herons",
           "password2": "seven quiet herons"}  # fmt: skip
# Page → the form as it would be right; each field of it in turn is given each text.
FORMS: dict[str, list[dict[str, str]]] = {
    "/login/": [{"username": "olga", "password": "x", "next": "/"}],
    "/account/": [{"email": ""}],
    "/account/again/": [{"password": "x", "next": "/"}],
    "/account/password/": [{"old_password": "x", "new_password1": "y", "new_password2": "y"}],
    "/account/factor/": [{"code": "123456", "sealed": "x"}, {"off": "1"}, {"codes": "1"}],
    "/account/sessions/": [{"end": "x"}],
    "/account/delete/": [{"password": "x"}],
    "/account/tokens/": [{"label": "x"}, {"revoke": "1"}],
    "/teams/": [{"name": "x"}],
    "TEAM": [{"name": "olga", "role": "owner", "add": "1"}, {"name": "x", "rename": "1"},
             {"email": "", "role": "viewer", "invite": "1"}, {"revoke": "1"}],
    "/surveys/small/people/": [{"name": "olga", "role": "owner"}, {"team": "1", "set": "1"},
                               {"email": "", "role": "viewer", "invite": "1"}, {"results": "on"}],
}  # fmt: skip
STATUSES = {200, 302, 400}


def looked(response: Any, what: str) -> None:
    assert response.status_code in STATUSES, what
    assert MARK not in response.content.decode(), what


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_hostile_texts_in_account_forms_do_no_harm(name: str) -> None:
    survey = builders.opened()
    olga = builders.olga(survey)
    team = builders.team(owner=olga)
    client = builders.client(olga)
    for page, forms in FORMS.items():
        path = page.replace("TEAM", f"/teams/{team.pk}/")
        for form in forms:
            for field in form:
                looked(client.post(path, form | {field: CORPUS[name]}), f"{path} {field}")
                looked(client.get(path), path)  # stored texts are shown as texts
    assert User.objects.filter(username="olga").exists() and Team.objects.filter(pk=team.pk)
    assert survey.may(olga, "manage")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_hostile_texts_from_strangers_do_no_harm(name: str, settings: Any) -> None:
    settings.DEMO = False
    form = ACCOUNT | {"code": SetUp.code()}
    for field in form:
        if field != "email" or CORPUS[name].strip():
            looked(Client().post("/setup/", form | {field: CORPUS[name]}), f"setup {field}")
            assert not User.objects.exists() or name == "path"
        User.objects.all().delete()
        SetUp.objects.all().delete()
        form["code"] = SetUp.code()
    survey = builders.opened()
    token = Invite.objects.make(survey, Role.VIEWER, builders.olga(survey), "a@example.org")
    for field in ACCOUNT:
        if field != "email":
            looked(Client().post(f"/join/{token}/", ACCOUNT | {field: CORPUS[name]}), field)
    assert User.objects.count() == 1  # olga
    shown = Client().get(f"/join/{CORPUS[name][:200]}/")
    assert shown.status_code == 404 and MARK not in shown.content.decode()
