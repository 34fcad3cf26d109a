"""Archiving and removing a survey on a running installation, down to its files."""

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support import builders
from tests.support.harness import WAIT_SECONDS
from tests.support.marks import BOTH_INSTALLATIONS
from tests.support.services import Candor, wait_until
from tests.support.storage import everything

pytestmark = pytest.mark.faults


def shell(candor: Candor, slug: str, code: str) -> None:
    candor.manage(
        "shell", "-c", f"from survey.models import *; survey = Survey.objects.get(slug={slug!r})"
        f"\n{code}"
    )  # fmt: skip


def call(candor: Candor, path: str, data: Any = None) -> tuple[int, Any]:
    request = urllib.request.Request(
        f"{candor.url}/api/v1/surveys/{path}",
        json.dumps(data).encode() if data is not None else None,
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, None


def opened(candor: Candor) -> str:
    slug = f"s{uuid4().hex[:16]}"
    data = json.dumps(builders.FILE | {"slug": slug})
    candor.manage("import_survey", "-", "--open", stdin=data)
    return slug


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_nothing_of_a_removed_survey_is_kept(candor_server: Candor, tmp_path: Path) -> None:
    slug = opened(candor_server)
    design = call(candor_server, f"{slug}/")[1]["design"]
    reports = [
        {"id": str(uuid4()), "design": design["hash"],
         "blocks": {"b1": [i % 2, i % 4], "g1": [i % 3]}}
        for i in range(60)
    ]  # fmt: skip
    assert call(candor_server, f"{slug}/reports/batch/", {"reports": reports})[0] == 200
    shell(candor_server, slug, "survey.results_public = True; survey.save(); survey.close()")
    final = lambda: (call(candor_server, f"{slug}/estimates/")[1] or {}).get("final")  # noqa: E731
    wait_until(final, WAIT_SECONDS, "the final release")
    assert kept(candor_server, slug, reports) == 60
    assert call(candor_server, f"{slug}/reports/", reports[0])[0] == 200

    file = tmp_path / "a.zip"
    candor_server.manage("archive_survey", slug, str(file))
    candor_server.manage("remove_survey", slug, "--archive", str(file), "--yes")
    assert call(candor_server, f"{slug}/")[0] == 404
    assert call(candor_server, f"{slug}/reports/", reports[0])[0] in (404, 410)
    assert kept(candor_server, slug, reports) == 0
    if url := candor_server.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            vacuumed = connection.execute(
                "SELECT relname FROM pg_stat_user_tables WHERE vacuum_count > 0"
            ).fetchall()
        assert {"survey_report", "aggregation_batch"} <= {name for (name,) in vacuumed}


def kept(candor: Candor, slug: str, reports: list[dict[str, Any]]) -> int:
    """Count the ids that are anywhere in the files or tables of the installation."""
    stored = b"".join(content for _, content in everything(candor, slug)).replace(b"-", b"")
    return sum(report["id"].replace("-", "").encode() in stored for report in reports)


def blocked(candor: Candor) -> bool:
    """Whether an insert of a survey waits for another transaction."""
    import psycopg

    with psycopg.connect(candor.env["DATABASE_URL"]) as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND datname = current_database() AND query LIKE 'INSERT INTO survey_survey%'"
        ).fetchone()
    return found is not None


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS[1:], indirect=True)
def test_nobody_slips_into_an_address_while_its_survey_is_removed(candor_server: Candor) -> None:
    """On PostgreSQL, an insert waits for the other transaction and then continues."""
    import psycopg

    slug = opened(candor_server)
    shell(candor_server, slug, "survey.close()")
    outcome: list[str] = []

    def insert() -> None:
        with psycopg.connect(candor_server.env["DATABASE_URL"]) as connection:
            try:
                connection.execute(
                    "INSERT INTO survey_survey (slug, title, introduction, language, translations,"
                    " epsilon, crowd, state, design, design_hash, results_public, asked_by,"
                    " purpose, contact, approved_hash, opens_refused, access, work, invited,"
                    " fetched, blocks, shuffled, fillers)"
                    " VALUES (%s, 'x', '', 'en', '{}', 1, 20, 'draft', '', '', false, '', '', '',"
                    " '', '', 'open', 0, 0, 0, '[]', false, false)",
                    [slug],
                )
                outcome.append("stored")
            except psycopg.IntegrityError as error:
                outcome.append(str(error))

    with psycopg.connect(candor_server.env["DATABASE_URL"]) as connection:
        connection.execute(
            "INSERT INTO survey_removed (id, slug, title, design_hash, reports, archive,"
            " removed_on) SELECT id, slug, title, design_hash, 0, '', now() FROM survey_survey"
            " WHERE slug = %s",
            [slug],
        )
        one = "(SELECT id FROM survey_survey WHERE slug = %s)"
        for table in ("survey_question",):
            connection.execute(f"DELETE FROM {table} WHERE survey_id = {one}", [slug])
        connection.execute("DELETE FROM survey_survey WHERE slug = %s", [slug])
        other = threading.Thread(target=insert)
        other.start()
        wait_until(lambda: blocked(candor_server), WAIT_SECONDS, "an insert that waits")
        assert outcome == []
    other.join()
    assert "removed survey" in outcome[0]
