"""No address, user agent, time, code or pass of a respondent in database, logs or broker."""

import http.client
import json
import re
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from survey import passes
from tests import builders
from tests.conftest import BOTH_INSTALLATIONS
from tests.services import Candor, wait_until

pytestmark = pytest.mark.faults

ADDRESS = "127.0.77.99"  # all of 127/8 is this machine
FORWARDED = "203.0.113.77"
AGENT = "CanaryBrowser/99.77 (tests)"


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_nothing_of_the_sender_is_kept(candor_server: Candor) -> None:
    slug = f"s{uuid4().hex[:8]}"
    data = builders.FILE | {"slug": slug}
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(data))
    log_before = candor_server.log.read_text()
    batches = rows(candor_server, "aggregation_batch")
    design = json.loads(request(candor_server, "GET", f"/api/v1/surveys/{slug}/"))["design"]
    started = datetime.now(UTC)
    reports = [
        {"id": str(uuid4()), "design": design["hash"], "blocks": {"b1": [1, 2]},
         "strata": {"age": None}} for _ in range(25)
    ]  # fmt: skip
    path = f"/api/v1/surveys/{slug}/reports/"
    for report in reports[:22]:
        request(candor_server, "POST", path, report)
    request(candor_server, "POST", path, {"id": "wrong", "canary": 1})
    request(candor_server, "POST", path + "batch/", {"reports": reports[22:]})
    request(candor_server, "GET", f"/s/{slug}/")

    stored = dict(everything(candor_server, slug))
    waiting = dict(stored)
    moved = lambda: rows(candor_server, "aggregation_batch") != batches  # noqa: E731
    wait_until(moved, 90, "the beat and the worker to look at it")
    time.sleep(1)
    stored |= {f"{name} later": content for name, content in everything(candor_server, slug)}
    stored["log"] = candor_server.log.read_bytes()
    for name, content in stored.items():
        for canary in (ADDRESS, FORWARDED, AGENT, "CanaryBrowser"):
            assert canary.encode() not in content, f"{canary} in {name}"
    ids = [report["id"].replace("-", "").encode() for report in reports]
    database = b"".join(content for name, content in waiting.items() if "log" not in name)
    assert any(pk in database or pk in database.replace(b"-", b"") for pk in ids)  # we do look

    # Of the times of those seconds, none stands in a table that has to do with reports.
    minutes = {started.strftime("%H:%M"), datetime.now(UTC).strftime("%H:%M")}
    for name in ("survey_report", "aggregation_batch"):
        text = rows(candor_server, name)
        assert text and not re.search("|".join(minutes), text)
    log = candor_server.log.read_text()[len(log_before) :]
    assert not any(report["id"] in log for report in reports)
    assert "/reports/" not in log


@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_no_code_pass_or_address_is_where_it_should_not_be(candor_server: Candor) -> None:
    """An invitation is exchanged and its pass spent; another waits at its address."""
    slug, email = f"s{uuid4().hex[:8]}", f"{uuid4().hex}@example.org"
    data = builders.FILE | {"slug": slug, "access": "invited"}
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(data))
    made = candor_server.manage(
        "shell", "-v0", "-c",
        "from survey import invitations\nfrom survey.models import Survey\n"
        f"survey = Survey.objects.get(slug='{slug}')\n"
        f"invitations.add_people(survey, ['{email}'])\n"
        "print(*invitations.make(survey, 25))",
    )  # fmt: skip
    codes, path = made.split(), f"/api/v1/surveys/{slug}/"
    design = json.loads(request(candor_server, "GET", path))["design"]
    key = passes.public_key(design["passes"])
    secrets = [*codes, "CanaryBrowser", ADDRESS, FORWARDED]
    for code in codes:
        prepared = passes.prepare()
        blinded, inverse = passes.blind(key, prepared)
        asked = {"code": code, "blinded": passes.to_text(blinded)}
        signed = json.loads(request(candor_server, "POST", f"{path}passes/", asked))["signature"]
        signature = passes.finalize(key, prepared, passes.from_text(signed, 256), inverse)
        one = passes.Pass(prepared, signature)
        report = {"id": one.id, "design": design["hash"], "blocks": {"b1": [1, 2]},
                  "strata": {"age": None}, "pass": one.as_text()}  # fmt: skip
        assert json.loads(request(candor_server, "POST", f"{path}reports/", report)) == {
            "id": one.id
        }
        secrets += [asked["blinded"], signed, *one.as_text().values()]
    time.sleep(7)  # the beat and the worker have looked at it
    stored = dict(everything(candor_server, slug)) | {"log": candor_server.log.read_bytes()}
    for name, content in stored.items():
        assert [one for one in secrets if one.encode() in content] == [], name
    holds = {name for name, content in stored.items() if email.encode() in content}
    assert holds and all(name.startswith(("candor.sqlite3", "survey_invitation")) for name in holds)


def request(candor: Candor, method: str, path: str, body: object = None) -> bytes:
    connection = http.client.HTTPConnection(
        "127.0.0.1", candor.port, timeout=20, source_address=(ADDRESS, 0)
    )
    headers = {
        "User-Agent": AGENT,
        "X-Forwarded-For": FORWARDED,
        "X-Real-IP": FORWARDED,
        "Forwarded": f"for={FORWARDED}",
        "Content-Type": "application/json",
    }
    connection.request(method, path, json.dumps(body) if body else None, headers)
    content = connection.getresponse().read()
    connection.close()
    return content


def everything(candor: Candor, slug: str) -> Iterator[tuple[str, bytes]]:
    """All that the installation keeps, by where it is kept."""
    for path in Path(candor.var).rglob("*"):
        if path.is_file() and "static" not in path.parts:
            yield path.name, path.read_bytes()
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            for (table,) in connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            ).fetchall():
                found = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
                yield table, "\n".join(row[0] for row in found).encode()
    if url := candor.env.get("REDIS_URL"):
        import redis

        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter():
                yield key.decode(), client.dump(key) or b""


def rows(candor: Candor, table: str) -> str:
    if url := candor.env.get("DATABASE_URL"):
        import psycopg

        with psycopg.connect(url) as connection:
            found = connection.execute(f'SELECT t::text FROM "{table}" t').fetchall()
            return "\n".join(row[0] for row in found)
    with sqlite3.connect(candor.var / "candor.sqlite3") as connection:
        return "\n".join(str(row) for row in connection.execute(f"SELECT * FROM {table}"))
