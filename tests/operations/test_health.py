"""Health checks, and metrics that reveal no report."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from aggregation.jobs import tasks
from aggregation.models import Heartbeat, Job, heartbeat
from operations import health, metrics
from survey.models import Survey
from tests.support import builders
from tests.support.site import Client

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-some-length"  # noqa: S105
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def surroundings(settings: Any, tmp_path: Path) -> None:
    settings.METRICS_TOKEN = TOKEN
    settings.VAR_DIR = tmp_path  # with an unused broker
    settings.REDIS_URL = ""


def figures() -> dict[str, str]:
    response = Client().get("/metrics", headers=BEARER)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = response.content.decode().splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


# --- Ready ----------------------------------------------------------------------------------------


def test_the_site_is_ready_once_a_worker_has_ticked(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True  # monitors need neither TLS nor the host name
    first = Client().get("/readyz")
    assert first.status_code == 503 and first["Retry-After"]
    assert first.json()["worker"].startswith("no tick yet")
    tasks.tick()
    ready = Client(headers={"Host": "any.name"}).get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == dict.fromkeys(("database", "broker", "migrations", "worker"), "ok")


def test_a_site_whose_last_tick_is_old_is_not_ready() -> None:
    tasks.tick()
    old = Heartbeat.objects.get(name=heartbeat.TICK)
    old.at = old.at.replace(year=old.at.year - 1)
    old.save()
    response = Client().get("/readyz")
    assert response.status_code == 503 and "are a worker" in response.json()["worker"]
    tasks.tick()
    assert Client().get("/readyz").status_code == 200


def test_ticks_are_not_written_each_time() -> None:
    tasks.tick()
    before = Heartbeat.objects.get(name=heartbeat.TICK).at
    tasks.tick()
    assert Heartbeat.objects.get(name=heartbeat.TICK).at == before


def test_a_missing_broker_is_reported_and_not_logged(
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(logging.getLogger("django"), "propagate", True)
    settings.VAR_DIR = tmp_path / "missing"
    response = Client().get("/readyz")
    assert response.status_code == 503 and response.json()["broker"] == "not available"
    assert not caplog.records  # monitors ask every few seconds
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert Client().get("/readyz").json()["broker"] == "not available"
    assert Client().get("/healthz").status_code == 200  # the process is alive


def test_missing_migrations_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db.migrations.recorder import MigrationRecorder

    monkeypatch.setattr(health, "applied", [])
    done = MigrationRecorder.Migration.objects.filter(app="survey").order_by("name")
    done.filter(pk=done.values_list("pk", flat=True).last()).delete()
    response = Client().get("/readyz")
    assert response.status_code == 503 and "migrate" in response.json()["migrations"]


# --- Metrics --------------------------------------------------------------------------------------


def test_metrics_need_the_token(settings: Any) -> None:
    assert Client().get("/metrics").status_code == 401
    assert Client().get("/metrics", headers={"Authorization": "Bearer é"}).status_code == 401
    assert Client().get("/metrics", headers=BEARER).status_code == 200
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_metrics_include_what_an_operator_needs() -> None:
    builders.finished(people=60)
    builders.draft(slug="another")
    Job.objects.request(Survey.objects.get(slug="small"))
    tasks.tick()
    found = figures()
    assert found['candor_surveys{state="draft"}'] == found['candor_surveys{state="closed"}'] == "1"
    assert found['candor_jobs{state="queued"}'] == "1"
    assert found["candor_releases"] == "2"
    assert int(found["candor_last_tick_seconds"]) < 60
    assert int(found["candor_database_bytes"]) % metrics.STEP == 0


def test_every_line_of_metrics_has_the_right_format() -> None:
    tasks.tick()
    text = Client().get("/metrics", headers=BEARER).content.decode()
    comment = r"# (HELP candor_\w+ .+|TYPE candor_\w+ gauge)"
    sample = r'candor_\w+(\{\w+="[\w.]+"(,\w+="[\w.]+")*\})? \d+'
    assert text.endswith("\n")
    assert [s for s in text.splitlines() if not re.fullmatch(f"{comment}|{sample}", s)] == []


def test_no_metric_changes_by_one_report() -> None:
    """Nor by any number of reports below a crowd, whatever the beat does."""
    survey = builders.opened()
    path = f"/api/v1/surveys/{survey.slug}/reports/"

    def still() -> dict[str, str]:
        return {name: value for name, value in figures().items() if "seconds" not in name}

    tasks.tick()
    before = still()
    for _ in range(survey.crowd - 1):
        report = builders.report(survey.frozen_design())
        assert Client().post(path, report, "application/json").status_code == 201
        assert Client().post(path, {}, "application/json").status_code == 400
        assert still() == before
    tasks.tick()
    assert still() == before
    assert survey.pending().count() == survey.crowd - 1


def test_no_metric_names_a_survey_or_counts_reports() -> None:
    builders.finished(people=60)
    text = Client().get("/metrics", headers=BEARER).content.decode()
    assert "small" not in text and not re.search(r"\b67\b", text)
