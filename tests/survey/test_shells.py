"""The constant page: its headers."""

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from tests import builders

PAGES = ["/s/small/", "/s/nowhere/"]

# --- Headers --------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("address", PAGES)
def test_the_pages_that_handle_answers_are_sealed(client: Client, address: str) -> None:
    builders.opened()
    response = client.get(address)
    policy = dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
        "img-src": "'self'", "connect-src": "'self'", "base-uri": "'none'",
        "form-action": "'none'", "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'", "trusted-types": "'none'",
    }  # fmt: skip
    assert response["Cache-Control"] == "no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"
    for feature in ("camera", "geolocation", "microphone", "browsing-topics"):
        assert f"{feature}=()" in response["Permissions-Policy"].split(", ")


@pytest.mark.django_db
@pytest.mark.parametrize("cookie", ["of a session", "stale", "", "x" * 32])
@pytest.mark.parametrize("address", PAGES)
def test_no_cookie_is_ever_set(client: Client, address: str, cookie: str) -> None:
    client.force_login(builders.alice(builders.opened()))
    if cookie != "of a session":
        client.cookies["sessionid"] = cookie
    response = client.get(address)
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")


def test_static_files_are_for_our_own_pages(client: Client) -> None:
    response = client.get(staticfiles_storage.url("respond/app.js"))
    b"".join(response)  # reads and closes the file
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_rest_of_the_site_keeps_its_own_policy(client: Client) -> None:
    policy = client.get("/login/")["Content-Security-Policy"]
    assert "form-action 'self'" in policy
    assert "trusted-types" not in policy
