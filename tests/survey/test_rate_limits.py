"""Rate limits of the researchers' API, by account or hashed address."""

import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.cache import cache
from django.test import RequestFactory

from survey import rate_limits
from survey.models import Survey
from tests.support import builders
from tests.support.services import Candor, production
from tests.support.site import Client

pytestmark = pytest.mark.django_db

API = "/api/v1/surveys/"


@pytest.fixture(autouse=True)
def nothing_counted(settings: Any, still_clock: None) -> None:
    """Allow three requests per account and two per stranger."""
    settings.API_PER_MINUTE, settings.PUBLIC_PER_MINUTE = 3, 2
    cache.clear()


# --- The API --------------------------------------------------------------------------------------


def test_an_account_over_its_limit_is_told_when_to_retry() -> None:
    alice, dora = builders.client(builders.alice()), builders.client(builders.charlie())
    assert [alice.get(API).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = alice.get(API, REMOTE_ADDR="192.0.2.9")  # the limit is per account
    assert refused.status_code == 429 and refused.json()["detail"]
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert dora.get(API).status_code == 200


def test_the_count_starts_again_every_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = builders.client(builders.alice())
    assert [alice.get(API).status_code for _ in range(4)][-1] == 429
    now = time.time()
    monkeypatch.setattr("survey.rate_limits.time.time", lambda: now + rate_limits.MINUTE)
    assert alice.get(API).status_code == 200


def test_zero_is_no_limit(settings: Any) -> None:
    settings.API_PER_MINUTE = 0
    alice = builders.client(builders.alice())
    assert {alice.get(API).status_code for _ in range(20)} == {200}


def test_strangers_are_counted_by_address_on_every_public_page() -> None:
    survey = builders.finished()
    Survey.objects.update(results_public=True)
    places = ("/api/v1/surveys/small/estimates/", "/results/small/", "/surveys/small/releases/1/",
              "/surveys/small/releases/1/estimates.csv")  # fmt: skip
    for i, place in enumerate(places):
        here = {"REMOTE_ADDR": f"192.0.2.{i}"}
        statuses = [Client().get(one, **here).status_code for one in (*places[:2], place)]
        assert statuses == [200, 200, 429]
        refused = Client().get(place, **here)
        assert 1 <= int(refused["Retry-After"]) <= 60
    assert builders.client(builders.alice(survey)).get(places[0]).status_code == 200


def test_ipv6_addresses_of_one_network_count_together() -> None:
    def seen(address: str, **more: str) -> str:
        return rate_limits.address(RequestFactory().get("/", REMOTE_ADDR=address, **more))

    assert seen("2001:db8:1:2:3::4") == seen("2001:db8:1:2::9") != seen("2001:db8:1:3::9")
    assert seen("192.0.2.1") == "192.0.2.1" and seen("no address") == "no address"
    assert seen("192.0.2.1", HTTP_X_FORWARDED_FOR="198.51.100.7") == "192.0.2.1"


def test_a_trusted_proxy_names_the_address(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    request = RequestFactory().get("/", HTTP_X_FORWARDED_FOR="203.0.113.5, 198.51.100.7")
    assert rate_limits.address(request) == "198.51.100.7"


def test_respondents_are_not_throttled() -> None:
    survey = builders.opened()
    assert {Client().get("/api/v1/surveys/small/").status_code for _ in range(9)} == {200}
    for _ in range(9):
        report = builders.report(survey.frozen_design())
        sent = Client().post("/api/v1/surveys/small/reports/", report, "application/json")
        assert sent.status_code == 201


def test_no_address_and_no_account_can_be_read_in_the_cache() -> None:
    builders.finished()
    Survey.objects.update(results_public=True)
    Client().get("/results/small/", REMOTE_ADDR="192.0.2.77")
    held = repr(cache._cache)  # type: ignore[attr-defined]
    assert "public:" in held and "192.0.2.77" not in held


def test_a_missing_cache_locks_nobody_out(settings: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    alice = builders.client(builders.alice())
    assert [alice.get(API).status_code for _ in range(5)] == [200] * 5


# --- Several processes ----------------------------------------------------------------------------


@pytest.mark.postgresql
@pytest.mark.redis
def test_web_processes_that_share_redis_count_together() -> None:
    """Of 80 simultaneous requests to two web processes with a limit of 30, 30 succeed."""
    with production() as environment, Candor(**environment, CANDOR_API_PER_MINUTE="30") as candor:
        candor.open_survey(builders.FILE)
        token = candor.manage("api_token", "alice", "--create", "--survey", "small").split()[-1]
        request = urllib.request.Request(
            f"{candor.url}{API}", headers={"Authorization": f"Token {token}"}
        )

        def ask(_: int) -> int:
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    return int(response.status)
            except urllib.error.HTTPError as refused:
                assert 1 <= int(refused.headers["Retry-After"]) <= 60
                return refused.code

        with ThreadPoolExecutor(8) as threads:
            found = Counter(threads.map(ask, range(80)))
        import redis

        with redis.Redis.from_url(environment["REDIS_URL"]) as held:
            counted = {name.decode(): int(held.get(name)) for name in held.scan_iter("candor:*")}
        assert not any("127.0.0.1" in name for name in counted)
        # All in one minute, or some in the next: there is one count of each.
        assert sum(counted.values()) == 80
        assert found[200] == sum(min(30, count) for count in counted.values())
