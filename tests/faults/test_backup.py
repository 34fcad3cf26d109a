"""A backup made while reports arrive, and restored after everything is gone."""

import contextlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import WAIT_SECONDS, Console, Senders, Trial
from tests.support.services import ROOT, Candor, production, wait_until

pytestmark = pytest.mark.faults

BOTH = [
    "embedded",
    pytest.param("production", marks=[pytest.mark.postgresql, pytest.mark.redis]),
]
TABLES = (
    *("survey_survey", "survey_question", "survey_membership", "survey_removed"),
    *("survey_report", "aggregation_batch", "aggregation_release", "aggregation_estimate"),
    *("survey_apitoken", "auth_user", "survey_entry"),
)


@contextlib.contextmanager
def installation(kind: str) -> Iterator[Candor]:
    """Yield an installation that tests may destroy."""
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(production()) if kind == "production" else {}
        yield stack.enter_context(Candor(CANDOR_RELEASE_SECONDS="1", **servers))


def rows(candor: Candor) -> dict[str, list[str]]:
    """Return all rows that must come back, sorted, by table."""
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            return {
                table: sorted(
                    str(row) for row in connection.execute(f"SELECT * FROM {table}").fetchall()
                )
                for table in TABLES
            }
    with contextlib.closing(sqlite3.connect(candor.var / "candor.sqlite3")) as connection:
        return {
            table: sorted(str(row) for row in connection.execute(f"SELECT * FROM {table}"))
            for table in TABLES
        }


def destroy(candor: Candor) -> None:
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
    for path in candor.var.iterdir():
        path.unlink() if path.is_file() else shutil.rmtree(path)


def refused(candor: Candor, *arguments: str) -> str:
    """Return the message of a failing command."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        capture_output=True, text=True, cwd=ROOT, env=candor.env, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def damaged(path: Path) -> Path:
    """Copy the file with one wrong byte in the database."""
    found = path.with_name("damaged")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(found, "w") as target:
        target.writestr("manifest.json", source.read("manifest.json"))
        content = bytearray(source.read("database"))
        content[len(content) // 2] ^= 1
        target.writestr("database", bytes(content))
    return found


@pytest.mark.parametrize("kind", BOTH)
def test_a_restored_backup_has_every_row_and_keeps_working(kind: str, tmp_path: Path) -> None:
    running, quiet = tmp_path / "running.backup", tmp_path / "quiet.backup"
    with installation(kind) as candor:
        with Console(candor) as console:
            trial = Trial(candor, console)
            with Senders(trial) as senders:
                senders.await_more(60)
                before = dict(
                    trial.do("result = {str(pk): 1 for pk in ids()}".replace("ids()", IDS))
                )
                said = candor.manage("backup", str(running))
                assert "Head of the log" in said and senders.stored
                senders.await_more(60)
            done = lambda: bool(trial.do("result = survey.releases.count()"))  # noqa: E731
            wait_until(done, WAIT_SECONDS, "a release")
            trial.acknowledged, sent = senders.acknowledged, senders.acknowledged.total()
        candor.stop()
        assert stat.S_IMODE(running.stat().st_mode) == 0o600
        whole = rows(candor)
        candor.manage("backup", str(quiet))
        whole["survey_entry"] = rows(candor)["survey_entry"]
        assert "already exists" in refused(candor, "backup", str(quiet))

        # Nothing is restored by mistake.
        assert "--replace" in refused(candor, "restore", str(quiet))
        assert "SHA-256" in refused(candor, "restore", "--replace", str(damaged(quiet)))
        assert rows(candor) == whole

        # The backup of an idle site equals the site.
        destroy(candor)
        candor.manage("restore", str(quiet))
        assert without_log(rows(candor)) == without_log(whole)
        assert set(whole["survey_entry"]) < set(rows(candor)["survey_entry"])
        noted = json.loads(zipfile.ZipFile(quiet).read("manifest.json"))["log_head"]
        assert "OK" in candor.manage("verify_log", "--head", noted)

        # The backup of a busy site has everything acknowledged before, and nothing partial.
        candor.manage("restore", "--replace", str(running))
        found = rows(candor)
        for table in ("aggregation_release", "aggregation_estimate"):
            assert set(found[table]) <= set(whole[table])
        candor.start()
        with Console(candor) as console:
            trial.console = console
            ids = set(trial.do(f"result = [str(pk) for pk in {IDS}]"))
            assert set(before) <= ids and len(ids) < sent
            balance = "sum(survey.batches.values_list('reports', flat=True))"
            held, waiting = trial.do(f"result = [{balance}, survey.pending().count()]")
            assert held + waiting == len(ids)

            # The site continues: known reports are known, new ones are stored and counted.
            again, fresh = dict.fromkeys(("id",), min(before)), trial.report((1, 2, 0))
            assert post(trial, trial.report((1, 2, 0)) | again)[0] == 200
            assert post(trial, fresh)[0] == 201
            trial.fill(40)
            # A crowd stays behind.
            last = "make_release(survey); result = survey.releases.last().reports"
            wait_until(
                lambda: trial.do(last) == len(ids) + 41 - 20, WAIT_SECONDS, "a release of all"
            )


IDS = "survey.reports.order_by('pk').values_list('pk', flat=True)"


def without_log(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {table: rows for table, rows in found.items() if table != "survey_entry"}


def post(trial: Trial, report: dict[str, Any]) -> tuple[int, Any]:
    import asyncio

    from tests.support.harness import Wire

    async def once() -> tuple[int, Any]:
        wire = Wire([trial.candor.port])
        try:
            status, _, content = await wire.post(trial.path, json.dumps(report).encode())
        finally:
            wire.close()
        return status, json.loads(content)

    return asyncio.run(once())


def test_other_files_and_other_databases_are_refused(tmp_path: Path) -> None:
    with installation("embedded") as candor:
        good = tmp_path / "good.backup"
        candor.manage("backup", str(good))
        said = refused(candor, "restore", "--replace", str(good))
        assert "Stop the site first: manage.py serve is running." in said
        candor.stop()
        manifest = json.loads(zipfile.ZipFile(good).read("manifest.json"))
        path = tmp_path / "no zip"
        path.write_text("PK, or so it says")
        assert "is not a backup" in refused(candor, "restore", str(path))
        assert "Cannot read" in refused(candor, "restore", str(tmp_path / "missing"))
        for number, (changes, words) in enumerate((
            ({"version": "99.0.0"}, "newer than this one"),
            ({"database": "postgresql"}, "DATABASE_URL"),
            ({"sha256": None}, "damaged"),
        )):  # fmt: skip
            path = tmp_path / str(number)
            with zipfile.ZipFile(path, "w") as file:
                file.writestr("manifest.json", json.dumps(manifest | changes))
                file.writestr("database", zipfile.ZipFile(good).read("database"))
            assert words in refused(candor, "restore", str(path))
        assert os.listdir(tmp_path)  # and no other files are left
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".candor")]
