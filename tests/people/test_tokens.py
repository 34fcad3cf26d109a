"""Tokens and passwords: what they open, and the limits on attempts."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from survey.models import MOST_TOKENS, ApiToken, digest, today
from tests.support import builders

pytestmark = pytest.mark.django_db

PAGE = "/account/tokens/"


def made(client: Client, label: str = "my notebook") -> str:
    """Create a token on its page and return it."""
    response = client.post(PAGE, {"label": label})
    assert response.status_code == 200 and "no-store" in response["Cache-Control"]
    found = re.search(r'<code id="token"[^>]*>([\w-]{43})</code>', response.content.decode())
    assert found
    return found[1]


def surveys(token: str, **meta: Any) -> Any:
    return Client().get("/api/v1/surveys/", HTTP_AUTHORIZATION=f"Token {token}", **meta)


# --- The page -------------------------------------------------------------------------------------


def test_a_token_is_shown_once_opens_the_api_and_is_revoked() -> None:
    survey = builders.opened()
    alice = builders.client(builders.alice(survey))
    token = made(alice)
    page = alice.get(PAGE).content.decode()
    assert token not in page and "my notebook" in page and "never used" in page
    assert ApiToken.objects.get().digest == digest(token)
    assert [row["slug"] for row in surveys(token).json()] == ["small"]
    assert "last used" in alice.get(PAGE).content.decode()
    assert alice.post(PAGE, {"revoke": str(ApiToken.objects.get().pk)})["Location"] == PAGE
    assert surveys(token).status_code == 401


def test_a_token_may_do_what_its_maker_may() -> None:
    survey = builders.opened()
    for user, status in ((builders.victor(survey), 403), (builders.alice(survey), 202)):
        header = {"HTTP_AUTHORIZATION": f"Token {made(builders.client(user))}"}
        asked = Client().post("/api/v1/surveys/small/releases/", **header)
        assert asked.status_code == status


@pytest.mark.parametrize("path", [PAGE, "/surveys/", "/surveys/small/", "/surveys/small/people/"])
def test_a_token_opens_no_page_and_makes_no_token(path: str) -> None:
    survey = builders.opened()
    token = made(builders.client(builders.olga(survey)))
    for ask in (Client().get, Client().post):
        response = ask(path, {"label": "another"}, HTTP_AUTHORIZATION=f"Token {token}")
        if response.status_code != 405:
            assert response.status_code == 302 and response["Location"].startswith("/login/")
    assert ApiToken.objects.count() == 1


def test_nobody_sees_or_revokes_the_tokens_of_others() -> None:
    alice, charlie = builders.client(builders.alice()), builders.client(builders.charlie())
    token = made(alice, "of Alice")
    assert "of Alice" not in charlie.get(PAGE).content.decode()
    charlie.post(PAGE, {"revoke": str(ApiToken.objects.get().pk)})
    assert surveys(token).status_code == 200


@pytest.mark.parametrize("wanted", ["", "x", "-1", "9" * 40, "²", "1e3"])
def test_revoking_an_unknown_token_does_nothing(wanted: str) -> None:
    alice = builders.client(builders.alice())
    made(alice)
    assert alice.post(PAGE, {"revoke": wanted}).status_code == 302
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("", "Enter what the token is for."),
        ("  ", "Enter what the token is for."),
        ("x" * 101, "at most 100 characters"),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_bad_token_label_is_refused(label: str, said: str) -> None:
    response = builders.client(builders.alice()).post(PAGE, {"label": label})
    assert response.status_code == 400 and said in response.content.decode()
    assert not ApiToken.objects.exists()


def test_tokens_per_person_are_limited() -> None:
    user = builders.alice()
    for i in range(MOST_TOKENS):
        ApiToken.objects.issue(user, str(i))
    response = builders.client(user).post(PAGE, {"label": "one more"})
    assert response.status_code == 400 and "Revoke one first." in response.content.decode()
    with pytest.raises(CommandError, match="Revoke one"):
        call_command("api_token", "alice")
    assert ApiToken.objects.count() == MOST_TOKENS


def test_only_the_day_of_a_tokens_last_use_is_stored(
    django_assert_num_queries: Any,
) -> None:
    token = made(builders.client(builders.alice()))
    assert ApiToken.objects.get().used_on is None
    surveys(token)
    assert ApiToken.objects.get().used_on == today()
    with django_assert_num_queries(2):  # the token with its person, the surveys
        surveys(token)
    ApiToken.objects.update(used_on=today() - timedelta(days=1))
    surveys(token)
    assert ApiToken.objects.get().used_on == today()


def test_tokens_of_a_disabled_account_do_not_work() -> None:
    user = builders.alice()
    token = made(builders.client(user))
    user.is_active = False
    user.save()
    assert surveys(token).status_code == 401


# --- How often one may try ------------------------------------------------------------------------


def log_in(password: str, name: str = "alice", address: str = "192.0.2.1") -> bool:
    response = Client().post(
        "/login/", {"username": name, "password": password}, REMOTE_ADDR=address
    )
    return bool(response.status_code == 302)


@pytest.fixture
def three_failures(settings: Any, still_clock: None) -> None:
    settings.FAILURES_PER_MINUTE = 3


def test_after_some_wrong_passwords_the_right_one_waits(three_failures: None) -> None:
    user = builders.alice()
    user.set_password("right")
    user.save()
    for _ in range(3):
        assert not log_in("wrong")
    assert not log_in("right")
    assert log_in("right", address="192.0.2.2")
    dora = builders.person("dora", "viewer")  # type: ignore[arg-type]
    dora.set_password("hers")
    dora.save()
    assert log_in("hers", "dora")


def test_right_passwords_do_not_count_towards_the_limit(three_failures: None) -> None:
    user = builders.alice()
    user.set_password("right")
    user.save()
    assert all(log_in("right", address="192.0.2.3") for _ in range(5))


def test_after_some_wrong_tokens_the_address_waits(three_failures: None) -> None:
    token = made(builders.client(builders.alice()))
    here = {"REMOTE_ADDR": "192.0.2.4"}
    for i in range(3):
        assert surveys(f"guess{i}", **here).status_code == 401
    refused = surveys(token, **here)
    assert refused.status_code == 429 and 1 <= int(refused["Retry-After"]) <= 60
    assert surveys(token, REMOTE_ADDR="192.0.2.5").status_code == 200
