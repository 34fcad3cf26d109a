"""The first run of a site: one account, created with the setup code."""

from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from people.models import Gone, SetUp
from tests.support import builders
from tests.support.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("still_clock")]

PASSWORD = "seven quiet herons"


@pytest.fixture(autouse=True)
def no_demo(settings: Any) -> None:
    settings.DEMO = False
    cache.clear()


def account(code: str, **changes: str) -> dict[str, str]:
    given = {"code": code, "username": "olga", "email": "olga@example.org",
             "password1": PASSWORD, "password2": PASSWORD}  # fmt: skip
    return given | changes


def test_a_site_without_an_account_leads_to_setup() -> None:
    client = Client()
    page = client.get("/", follow=True)
    assert [address for address, _ in page.redirect_chain][-1] == "/setup/"
    for path in ("/login/", "/admin/login/"):
        assert client.get(path, follow=True).redirect_chain[-1][0] == "/setup/"
    builders.opened()
    assert client.get("/s/small/").status_code == 200  # respondents' pages still work


def test_the_code_makes_the_owner_and_logs_them_in() -> None:
    code, client = SetUp.code(), Client()
    assert not SetUp.objects.filter(digest=code).exists()
    done = client.post("/setup/", account(code.upper().replace("-", " ")))
    assert done["Location"] == "/surveys/"
    olga = User.objects.get()
    assert olga.is_superuser and olga.is_staff and olga.check_password(PASSWORD)
    assert olga.email == "olga@example.org"
    assert client.get("/account/factor/").status_code == 200  # logged in
    assert Client().get("/setup/").status_code == 404
    assert client.post("/setup/", account(code, username="second")).status_code == 404
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"code": "aaaa-aaaa-aaaa-aaaa"}, "code is wrong"),
        ({"code": ""}, "This field is required"),
        ({"username": ""}, "This field is required"),
        ({"username": "a b"}, "without spaces"),
        ({"username": "a\0b"}, "Null characters"),
        ({"username": "x" * 151}, "at most 150"),
        ({"email": "nowhere"}, "valid email"),
        ({"password2": "another one here"}, "didn’t match"),
        ({"password1": "olga", "password2": "olga"}, "too short"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
    ],
)
def test_a_bad_form_is_explained_and_makes_no_account(changes: dict[str, str], said: str) -> None:
    refused = Client().post("/setup/", account(SetUp.code()) | changes)
    assert refused.status_code == 400 and said in refused.content.decode()
    assert not User.objects.exists() and SetUp.due()


def test_a_wrong_code_is_reported_with_the_other_errors() -> None:
    SetUp.code()
    wrong = {"password1": "olga", "password2": "olga"}
    page = Client().post("/setup/", account("aaaa-aaaa-aaaa-aaaa") | wrong).content.decode()
    assert "code is wrong" in page
    assert page.index("too short") < page.index("Password again")  # at the password itself


def test_an_empty_code_never_works() -> None:
    for code in ("", " ", "-"):
        assert not SetUp.knows(code)
        with pytest.raises(Gone):
            SetUp.finish(code, User(username="x"))
    SetUp.code()
    SetUp.objects.update(digest="")
    assert Client().post("/setup/", account("-")).status_code == 400


def test_a_new_code_replaces_the_old_one() -> None:
    old, new = SetUp.code(), SetUp.code()
    assert Client().post("/setup/", account(old)).status_code == 400
    assert Client().post("/setup/", account(new)).status_code == 302


def test_codes_cannot_be_guessed(settings: Any) -> None:
    settings.FAILURES_PER_MINUTE = 3
    code, here = SetUp.code(), {"REMOTE_ADDR": "192.0.2.1"}
    for _ in range(3):
        Client().post("/setup/", account("aaaa-aaaa"), **here)
    assert "Wait a minute" in Client().post("/setup/", account(code), **here).content.decode()
    assert not User.objects.exists()


def test_the_command_prints_the_code() -> None:
    out = StringIO()
    call_command("setup_code", stdout=out)
    assert SetUp.knows(out.getvalue().split()[-1])
    builders.charlie()
    with pytest.raises(CommandError):
        call_command("setup_code")


def test_setup_stays_closed_after_all_accounts_are_deleted() -> None:
    Client().post("/setup/", account(SetUp.code()))
    User.objects.all().delete()
    assert Client().get("/setup/").status_code == 404
    assert Client().get("/login/").status_code == 200
    with pytest.raises(Gone):
        SetUp.code()


def test_a_demo_has_no_setup_page(settings: Any) -> None:
    settings.DEMO = True
    assert Client().get("/setup/").status_code == 404
    assert Client().get("/login/").status_code == 200


@pytest.mark.postgresql  # SQLite has one writer at a time, and in memory it does not wait
@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_simultaneous_setups_succeeds() -> None:
    code = SetUp.code()
    users = [User(username=f"owner{i}") for i in range(2)]
    raised = at_once(*(partial(SetUp.finish, code, user) for user in users))
    assert [type(error) for error in raised] == [Gone] and User.objects.count() == 1
