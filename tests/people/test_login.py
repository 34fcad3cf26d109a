"""Logging in: with a second factor, under throttles, and from the admin pages."""

import os
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from people import account, login, totp
from people.authentication import CONFIRMED, CONFIRMED_SECONDS
from people.forms import RULES
from people.models import CODES, MOST_WRONG, Factor, RecoveryCode, Session
from people.sessions import browser
from survey.models import Membership, Role, Team, TeamMembership, may_design, today
from tests.support import builders
from tests.support.services import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("still_clock")]

SECRET = b"12345678901234567890"  # of the RFCs
PASSWORD = "seven quiet herons"


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    cache.clear()


@pytest.fixture
def alice() -> User:
    user = builders.alice()
    user.set_password(PASSWORD)
    user.save()
    return user


def with_factor(user: User) -> list[str]:
    """Return a user with a second factor whose current code is unused."""
    codes = Factor.switch_on(user, SECRET, totp.code(SECRET, totp.step_at(time.time())))
    assert codes is not None
    Factor.objects.update(step=0)
    return codes


def present(shift: int = 0) -> str:
    return totp.code(SECRET, totp.step_at(time.time()) + shift)


def give_password(client: Client, password: str = PASSWORD, **more: str) -> Any:
    return client.post("/login/", {"username": "alice", "password": password, **more})


def logged_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


# --- Codes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_time_based_codes_match_rfc_6238(at: int, code: str) -> None:
    assert totp.code(SECRET, totp.step_at(at), digits=8) == code


def test_counter_based_codes_match_rfc_4226() -> None:
    codes = "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489".split()
    assert [totp.code(SECRET, step) for step in range(10)] == codes


def test_a_code_is_right_for_one_step_before_and_after() -> None:
    found = [totp.matching_step(SECRET, totp.code(SECRET, 1000 + i), 30_000) for i in range(-3, 4)]
    assert found == [None, None, 999, 1000, 1001, None, None]
    for strange in ("", "12345", "1234567", "ＡＢＣ", "٠١٢٣٤٥", "\0" * 6):
        assert totp.matching_step(SECRET, strange, 30_000) is None


def test_the_authenticator_address_is_escaped() -> None:
    address = totp.address(SECRET, "Candor", "a&b c/ü")
    assert address == (
        "otpauth://totp/Candor%3Aa%26b%20c%2F%C3%BC"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Candor"
    )


# --- Two steps ------------------------------------------------------------------------------------


def test_a_password_alone_does_not_open_an_account_with_a_second_factor(alice: User) -> None:
    with_factor(alice)
    client = Client()
    first = give_password(client, next="/plan/")
    assert first["Location"] == "/login/code/" and not logged_in(client)
    assert client.get("/login/code/").status_code == 200
    wrong = client.post("/login/code/", {"code": "000000"})
    assert wrong.status_code == 400 and "code is wrong" in wrong.content.decode()
    assert not logged_in(client)
    second = client.post("/login/code/", {"code": present()})
    assert second["Location"] == "/plan/" and logged_in(client)


def test_no_code_works_twice(alice: User) -> None:
    with_factor(alice)
    code = present()
    for expected in (302, 400):
        client = Client()
        give_password(client)
        assert client.post("/login/code/", {"code": code}).status_code == expected
    assert Factor.objects.get().accepts(present(1)) and not Factor.objects.get().accepts(present())


def test_a_recovery_code_works_once_however_it_is_typed(alice: User) -> None:
    codes = with_factor(alice)
    assert len(set(codes)) == CODES
    stored = " ".join(RecoveryCode.objects.values_list("digest", flat=True))
    assert not any(code in stored for code in codes)
    typed = f" {codes[0].upper().replace('-', ' ')} "
    for expected in (302, 400):
        client = Client()
        give_password(client)
        assert client.post("/login/code/", {"code": typed}).status_code == expected
    assert RecoveryCode.objects.count() == CODES - 1
    other = User.objects.create_user("other")
    assert not RecoveryCode.spend(other.pk, codes[1].replace("-", ""))


def test_the_first_login_step_expires(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with_factor(alice)
    client = Client()
    give_password(client)
    later = time.time() + login.HALF_SECONDS
    monkeypatch.setattr("people.login.time.time", lambda: later)
    assert client.post("/login/code/", {"code": present()})["Location"] == "/login/"
    monkeypatch.undo()
    client = Client()
    give_password(client)
    alice.set_password("another eight herons")
    alice.save()
    assert client.post("/login/code/", {"code": present()})["Location"] == "/login/"
    assert not logged_in(client)


def test_an_account_disabled_between_the_steps_cannot_log_in(alice: User) -> None:
    with_factor(alice)
    client = Client()
    give_password(client)
    User.objects.update(is_active=False)
    assert client.post("/login/code/", {"code": present()})["Location"] == "/login/"


def test_the_secret_is_not_in_the_database(alice: User, settings: Any) -> None:
    codes = with_factor(alice)
    stored = Factor.objects.get().secret
    assert SECRET.decode() not in stored and totp.text(SECRET) not in stored
    settings.SECRET_KEY = "another" * 10  # the app's codes are lost with it, not the account
    assert not Factor.objects.get().accepts(present())
    assert Factor.objects.get().accepts(codes[0])


def test_next_never_leads_to_another_site(alice: User) -> None:
    with_factor(alice)
    for elsewhere in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil"):
        client = Client()
        give_password(client, next=elsewhere)
        Factor.objects.update(step=0)
        assert client.post("/login/code/", {"code": present()})["Location"] == "/surveys/"
        asked = client.get("/account/again/", {"next": elsewhere})
        assert asked.status_code == 200
        done = client.post("/account/again/", {"password": PASSWORD, "code": present(1),
                                               "next": elsewhere})  # fmt: skip
        assert done["Location"] == "/surveys/"


# --- The admin pages ------------------------------------------------------------------------------


def test_the_admin_pages_have_no_login_of_their_own() -> None:
    root = builders.root()
    root.set_password(PASSWORD)
    root.save()
    with_factor(root)
    client = Client()
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/login/?next=%2Fadmin%2F"
    data = {"username": "root", "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", data).status_code == 405
    client.post("/login/", data)
    assert client.get("/admin/").status_code == 302
    assert client.post("/login/code/", {"code": present()})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


# --- How often one may try ------------------------------------------------------------------------


def tries(password: str, address: str, client: Client | None = None) -> bool:
    data = {"username": "alice", "password": password}
    response = (client or Client()).post("/login/", data, REMOTE_ADDR=address)
    return bool(response.status_code == 302)


def test_guessing_from_many_addresses_does_not_block_a_known_browser(
    alice: User, settings: Any
) -> None:
    settings.FAILURES_PER_MINUTE = 3
    hers = Client()
    assert tries(PASSWORD, "192.0.2.1", hers)
    hers.post("/logout/")
    assert hers.cookies["known"]["path"] == "/login/" and "alice" not in str(hers.cookies)
    for i in range(9):  # three times three, from nine addresses
        assert not tries("wrong", f"198.51.100.{i}")
    assert not tries(PASSWORD, "198.51.100.77")
    assert tries(PASSWORD, "192.0.2.1", hers)
    forged = Client()
    forged.cookies["known"] = hers.cookies["known"].value.replace(":", "x:", 1)
    assert not tries(PASSWORD, "198.51.100.78", forged)


def test_wrong_codes_are_counted_per_account_across_addresses(alice: User, settings: Any) -> None:
    settings.FAILURES_PER_MINUTE = 3
    with_factor(alice)
    for i in range(3):
        client = Client(REMOTE_ADDR=f"198.51.100.{i}")
        give_password(client)
        assert client.post("/login/code/", {"code": "000000"}).status_code == 400
    client = Client(REMOTE_ADDR="198.51.100.9")
    give_password(client)
    held = client.post("/login/code/", {"code": present()})
    assert held.status_code == 400 and "Wait a minute" in held.content.decode()


def test_after_many_wrong_codes_in_a_day_only_recovery_codes_work(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = with_factor(alice)
    for _ in range(MOST_WRONG):
        assert not Factor.objects.get().accepts("000000")
    assert not Factor.objects.get().accepts(present())
    assert Factor.objects.get().accepts(codes[0])
    monkeypatch.setattr("people.models.today", lambda: today() + timedelta(days=1))
    assert Factor.objects.get().accepts(present())
    assert Factor.objects.get().failures == 0


# --- Who has to have one --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "led"),
    [("none", ""), ("owners", "olga root captain"), ("all", "olga root captain alice charlie")],
)
@pytest.mark.slow
def test_people_without_a_required_second_factor_are_sent_to_setup(
    settings: Any, asked: str, led: str
) -> None:
    settings.SECOND_FACTOR = asked
    survey = builders.opened()
    captain = User.objects.create_user("captain")
    builders.team(owner=captain)
    people = [builders.olga(survey), builders.root(), captain, builders.alice(survey),
              builders.charlie()]  # fmt: skip
    for user in people:
        client = builders.client(user)
        response = client.get("/surveys/")
        if user.username not in led.split():
            assert response.status_code == 200
            continue
        assert response["Location"] == "/account/factor/"
        assert client.get("/api/v1/surveys/").status_code == 403
        assert client.get("/account/tokens/")["Location"] == "/account/factor/"
        page = client.get("/account/factor/")
        assert page.status_code == 200 and "needs a second factor" in page.content.decode()
        codes = switch_on(client)
        assert len(codes) == CODES
        assert client.get("/surveys/").status_code == 200
        assert "cannot turn it off" in client.get("/account/factor/").content.decode()
        client.post("/account/factor/", {"off": "1"})
        assert Factor.objects.filter(user=user).exists()
    assert Factor.objects.count() == len(led.split())


@pytest.mark.parametrize("how", ["given", "invited"])
def test_a_new_owner_needs_a_second_factor_at_once(settings: Any, how: str) -> None:
    settings.SECOND_FACTOR = "owners"
    survey = builders.opened()
    alice = builders.alice(survey)
    client = builders.client(alice)
    assert client.get("/surveys/").status_code == 200
    if how == "given":
        Membership.objects.give(survey, alice, Role.OWNER)
    else:
        Membership.objects.raise_to(survey, alice, Role.OWNER)
    for address in ("/surveys/", "/surveys/small/people/", "/studio/small/open/"):
        assert client.get(address)["Location"] == "/account/factor/"
    switch_on(client)
    assert client.get("/surveys/small/people/").status_code == 200


@pytest.mark.parametrize("given", ["foo", "//evil.example", "https://evil.example/", "\\x"])
def test_login_never_redirects_to_another_site(given: str) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    fields = {"username": "ada", "password": PASSWORD, "next": given}
    assert Client().post(f"/login/?{urlencode({'next': given})}", fields)["Location"] == "/surveys/"


def test_one_address_cannot_try_passwords_on_many_accounts(settings: Any) -> None:
    settings.FAILURES_PER_MINUTE = 1
    User.objects.create_user("ada", password=PASSWORD)
    for i in range(10):
        Client().post("/login/", {"username": f"u{i}", "password": "x"})
    right = {"username": "ada", "password": PASSWORD}
    assert Client().post("/login/", right).status_code == 200  # refused, and the form again
    assert Client().post("/login/", right, REMOTE_ADDR="192.0.2.9").status_code == 302


def test_an_unknown_second_factor_setting_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"CANDOR_SECOND_FACTOR": "sometimes"}, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "must be none, owners or all" in done.stderr


# --- One's own account ----------------------------------------------------------------------------


def switch_on(client: Client, page: str = "/account/factor/") -> list[str]:
    """Turn on a second factor as the page does."""
    form = client.get(page).context
    secret = account.fernet().decrypt(form["sealed"].encode())
    assert totp.text(secret) == form["secret"]
    wrong = client.post(page, {"sealed": form["sealed"], "code": "12"})
    assert wrong.status_code == 400 and wrong.context["secret"] == form["secret"]
    code = totp.code(secret, totp.step_at(time.time()))
    done = client.post(page, {"sealed": form["sealed"], "code": code})
    assert done.status_code == 200
    codes: list[str] = done.context["codes"]
    assert "\n".join(codes) in done.content.decode()
    return codes


def test_a_factor_is_switched_on_and_off_and_other_sessions_end(alice: User) -> None:
    here, there = builders.client(alice), builders.client(alice)
    switch_on(here)
    assert logged_in(here) and not logged_in(there)
    there = builders.client(alice)
    fresh = here.post("/account/factor/", {"codes": "1"}).context["codes"]
    assert len(fresh) == CODES and RecoveryCode.objects.count() == CODES and not logged_in(there)
    assert here.get("/account/factor/").context["codes"] is None  # shown once
    there = builders.client(alice)
    assert here.post("/account/factor/", {"off": "1"})["Location"] == "/account/"
    assert not Factor.objects.exists() and not RecoveryCode.objects.exists()
    assert logged_in(here) and not logged_in(there)


def test_a_new_phone_takes_the_place_of_the_old_one(alice: User, settings: Any) -> None:
    old = with_factor(alice)
    settings.SECOND_FACTOR = "all"
    client = builders.client(alice)
    held = Factor.objects.get().secret
    client.get("/account/factor/?another=1")
    assert Factor.objects.get().secret == held  # only its first code changes anything
    fresh = switch_on(client, "/account/factor/?another=1")
    assert Factor.objects.count() == 1 and not set(old) & set(fresh)
    Factor.objects.update(step=0)
    assert not Factor.objects.get().accepts(present()) and not Factor.objects.get().accepts(old[0])
    assert Factor.objects.get().accepts(fresh[0])


def test_a_secret_that_the_site_did_not_seal_is_refused(alice: User) -> None:
    client = builders.client(alice)
    for sealed in ("", "gibberish", totp.text(SECRET), "\ud800", "ü"):
        data = {"sealed": sealed.encode("utf-8", "replace").decode(), "code": present()}
        assert client.post("/account/factor/", data).status_code == 200
    assert not Factor.objects.exists()


def test_sensitive_pages_ask_for_the_password_again_after_a_while(alice: User) -> None:
    client = builders.client(alice)
    session = client.session
    session[CONFIRMED] = time.time() - CONFIRMED_SECONDS
    session.save()
    for page in ("/account/factor/", "/account/tokens/"):
        assert client.get(page)["Location"] == f"/account/again/?next={page.replace('/', '%2F')}"
        assert client.post(page, {"label": "x", "off": "1"}).status_code == 302
    assert not alice.api_tokens.exists()
    again = {"password": "wrong", "next": "/account/factor/"}
    assert client.post("/account/again/", again).status_code == 400
    assert client.get("/account/factor/").status_code == 302
    again["password"] = PASSWORD
    assert client.post("/account/again/", again)["Location"] == "/account/factor/"
    assert client.get("/account/factor/").status_code == 200


@pytest.mark.slow
def test_a_changed_password_ends_other_sessions(real_passwords: None, alice: User) -> None:
    here, there = builders.client(alice), builders.client(alice)
    data = {"old_password": PASSWORD, "new_password1": "x", "new_password2": "x"}
    refused = here.post("/account/password/", data)
    assert refused.status_code == 400 and "at least 12" in refused.content.decode()
    data |= dict.fromkeys(["new_password1", "new_password2"], "eleven loud geese")
    assert here.post("/account/password/", data)["Location"] == "/account/"
    assert logged_in(here) and not logged_in(there)
    alice.refresh_from_db()
    assert alice.password.startswith("argon2$argon2id$")
    assert give_password(Client(), "eleven loud geese").status_code == 302


@pytest.mark.slow
def test_passwords_with_an_old_hash_work_and_are_rehashed(
    real_passwords: None, alice: User
) -> None:
    User.objects.update(password=make_password(PASSWORD, hasher="pbkdf2_sha256"))
    assert give_password(Client()).status_code == 302
    alice.refresh_from_db()
    assert alice.password.startswith("argon2$")


def test_the_password_rules_state_the_real_minimum_length(settings: Any) -> None:
    least = [one["OPTIONS"]["min_length"] for one in settings.AUTH_PASSWORD_VALIDATORS
             if "MinimumLength" in one["NAME"]]  # fmt: skip
    assert f"At least {least[0]} characters" in RULES


def test_a_session_does_not_help_to_guess_the_password(alice: User, settings: Any) -> None:
    settings.FAILURES_PER_MINUTE = 3
    client = builders.client(alice)
    data = dict.fromkeys(["new_password1", "new_password2"], "eleven loud geese")
    for _ in range(3):
        client.post("/account/password/", data | {"old_password": "wrong"})
    held = client.post("/account/password/", data | {"old_password": PASSWORD})
    assert held.status_code == 400 and "wait a minute" in held.content.decode()
    assert client.post("/account/again/", {"password": PASSWORD}).status_code == 400
    assert client.post("/account/delete/", {"password": PASSWORD}).status_code == 400


# --- Sessions -------------------------------------------------------------------------------------

PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
)
LAPTOP = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
    "Safari/537.36"
)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (PHONE, "Safari on iPhone or iPad"),
        (LAPTOP, "Chrome on Linux"),
        (LAPTOP + " Edg/140.0", "Edge on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0",
         "Firefox on Windows"),
        ("", "Another browser on another system"),
        ("<script>" * 1000, "Another browser on another system"),
    ],
)  # fmt: skip
def test_a_user_agent_becomes_a_coarse_browser_name(agent: str, name: str) -> None:
    assert browser(agent) == name and len(name) <= 40


def test_people_see_and_end_their_sessions(alice: User) -> None:
    clients = [Client(headers={"user-agent": agent}) for agent in (LAPTOP, PHONE, "curl")]
    for client in clients:
        give_password(client)
    stranger = builders.client(builders.charlie())
    page = clients[0].get("/account/sessions/").content.decode()
    assert page.count("last used") == 3 and "Safari on iPhone or iPad" in page
    assert not any(session.session_key in page for session in Session.objects.all())
    phone = Session.objects.get(browser__startswith="Safari")
    stranger.post("/account/sessions/", {"end": phone.name})
    assert logged_in(clients[1])  # it is her own session
    clients[0].post("/account/sessions/", {"end": phone.name})
    assert [logged_in(client) for client in clients] == [True, False, True]
    clients[0].post("/account/sessions/", {"others": "1"})
    assert [logged_in(client) for client in clients] == [True, False, False]
    assert logged_in(stranger)


def test_a_session_keeps_days_and_no_address(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(headers={"user-agent": LAPTOP}, REMOTE_ADDR="192.0.2.77")
    give_password(client)
    tomorrow = today() + timedelta(days=1)
    monkeypatch.setattr("people.sessions.today", lambda: tomorrow)
    client.get("/surveys/")
    row = Session.objects.get(user=alice)
    assert (row.begun_on, row.used_on) == (today(), tomorrow)
    kept = str(row.get_decoded()) + str(vars(row))
    assert "192.0.2.77" not in kept and "Mozilla" not in kept


def test_the_next_login_deletes_expired_sessions(alice: User) -> None:
    builders.client(builders.charlie())
    Session.objects.update(expire_date=now() - timedelta(seconds=1))
    builders.client(alice)
    assert [session.user for session in Session.objects.all()] == [alice]


def test_public_pages_do_not_read_the_session(alice: User) -> None:
    client = builders.client(alice)
    for page in ("/results/nothing/", "/s/nothing/"):
        assert "Cookie" not in client.get(page).get("Vary", "")


# --- Help from those who run the site -------------------------------------------------------------


def test_a_command_removes_the_factor_of_a_lost_phone(alice: User) -> None:
    with_factor(alice)
    client = builders.client(alice)
    call_command("remove_factor", "alice")
    assert not logged_in(client)
    assert give_password(Client())["Location"] == "/surveys/"
    for name in ("alice", "nobody"):
        with pytest.raises(CommandError):
            call_command("remove_factor", name)


def test_team_owners_and_researchers_may_design() -> None:
    names = {role: User.objects.create_user(role) for role in Role.values}
    builders.team(**names)
    found = {role: may_design(user) for role, user in names.items()}
    assert found == {"viewer": False, "researcher": True, "owner": True}
    assert may_design(builders.root()) and not may_design(builders.charlie())
    names["owner"].is_active = False
    assert not may_design(names["owner"])
    TeamMembership.objects.all().delete()
    Team.objects.all().delete()
    assert not may_design(User.objects.get(username="researcher"))
