"""`manage.py selftest` on running installations: it passes good ones and finds every fault."""

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import WAIT_SECONDS, Console, Trial
from tests.support.mirror import Mirror, Reply
from tests.support.services import ROOT, Candor, production, wait_until

pytestmark = pytest.mark.faults

KINDS = [
    "embedded",
    pytest.param("production", marks=[pytest.mark.postgresql, pytest.mark.redis]),
]
REAL = {"CANDOR_DEMO": "0", "CANDOR_TRUSTED_PROXIES": "1"}  # behind a proxy that ends TLS

Alter = Callable[[Reply], None]

TRIGGERS = (ROOT / "survey/triggers/sqlite.sql").read_text()


class World:
    def __init__(self, candor: Candor, console: Console) -> None:
        self.candor, self.console = candor, console
        self.trial = Trial(candor, console)

    def failing(self, url: str = "", *logs: Path) -> dict[str, str]:
        """Return the failing checks and their messages."""
        found: list[list[str]] = self.console.do(
            "from pathlib import Path\n"
            "from operations.selftest import checks, running\n"
            "from operations.selftest.site import Site\n"
            f"running.ROUND_TRIP = {WAIT_SECONDS}\n"
            f"site = Site.at({url!r}, {self.candor.port})\n"
            f"logs = [Path(one) for one in {[str(log) for log in logs]!r}]\n"
            "result = [[one.name, one.problem] for one in checks.run(site, logs)]"
        )
        assert len(found) > 15
        return {name: problem for name, problem in found if problem}

    def run(self, statement: str, *values: str) -> list[Any]:
        """Run a statement with full rights in the database."""
        if url := self.candor.env.get("DATABASE_URL"):
            import psycopg

            with psycopg.connect(url, autocommit=True) as connection:
                cursor = connection.execute(statement.replace("?", "%s"), values)
                return cursor.fetchall() if cursor.description else []
        path = self.candor.var / "candor.sqlite3"
        with (
            contextlib.closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection,
            connection,
        ):
            return connection.execute(statement, values).fetchall()


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(production()) if request.param == "production" else {}
        candor = stack.enter_context(Candor(**REAL, **servers))
        console = stack.enter_context(Console(candor))
        world = World(candor, console)
        ticked = "from aggregation.models import heartbeat; result = heartbeat.age() is not None"
        wait_until(lambda: bool(console.do(ticked)), WAIT_SECONDS, "the first tick")
        yield world


@pytest.mark.parametrize("world", KINDS, indirect=True)
def test_a_good_installation_passes_and_no_trace_is_left(world: World) -> None:
    def everything() -> Any:
        return world.console.do(
            "from django.apps import apps\n"
            "result = {m._meta.label: m._default_manager.count() for m in apps.get_models()}"
        )

    before = everything()
    candor = world.candor
    program = [sys.executable, "manage.py", "selftest", "--log", str(candor.log)]
    env = candor.env | {"PORT": str(candor.port)}
    done = subprocess.run(program, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 15 and all(line.startswith("ok ") for line in lines)
    assert everything() == before
    assert world.failing() == {}


@pytest.mark.parametrize("world", KINDS, indirect=True)
def test_a_stored_visitor_address_is_found(world: World, tmp_path: Path) -> None:
    """It is found in a table and in a proxy's access log."""
    check = "visitors' addresses and browsers are not stored"
    insert = "INSERT INTO django_session (session_key, session_data, expire_date) VALUES (?, ?, ?)"

    def keep(reply: Reply) -> None:
        if reply.has("/reports/"):
            with contextlib.suppress(Exception):
                world.run(insert, "kept", reply.asked["user-agent"], "2026-01-01 00:00:00")

    with Mirror(world.candor.url, keep) as mirror:
        found = world.failing(mirror.url)
    world.run("DELETE FROM django_session")
    assert set(found) == {check} and re.search("django_session|candor.sqlite3", found[check])
    if "DATABASE_URL" not in world.candor.env:  # until then it lies in the write-ahead log
        world.run("PRAGMA wal_checkpoint(TRUNCATE)")

    log = tmp_path / "access.log"
    log.touch()

    def note(reply: Reply) -> None:
        with log.open("a") as file:
            file.write(f"{reply.asked['x-forwarded-for']} GET {reply.path}\n")

    with Mirror(world.candor.url, note) as mirror:
        found = world.failing(mirror.url, log)
    assert set(found) == {check} and str(log) in found[check]


def add(name: str, value: str, part: str) -> Alter:
    def alter(reply: Reply) -> None:
        if reply.path == part:
            reply.headers.append((name, value))

    return alter


def drop(name: str, part: str) -> Alter:
    def alter(reply: Reply) -> None:
        if reply.path == part:
            reply.drop(name)

    return alter


def unsafe(reply: Reply) -> None:
    reply.headers = [(name, value.replace("; Secure", "")) for name, value in reply.headers]


def inline(reply: Reply) -> None:
    if reply.path == "/login/":
        policy = "default-src 'none'; script-src 'self' 'unsafe-inline'"
        reply.drop("Content-Security-Policy")
        reply.headers.append(("Content-Security-Policy", policy))


def another_byte(reply: Reply) -> None:
    if reply.has("randomizer"):
        reply.body = reply.body.replace(b"return", b"retu\\u0072n", 1)


def open_door(reply: Reply) -> None:
    if reply.path == "/surveys/":
        reply.status = 200


HARM: dict[str, tuple[Alter, str]] = {
    "no policy": (drop("Content-Security-Policy", "/s/"), "respondents' pages"),
    "a cookie": (add("Set-Cookie", "id=1", "/verify/"), "respondents' pages"),
    "no HSTS": (drop("Strict-Transport-Security", "/s/"), "respondents' pages"),
    "inline scripts": (inline, "researchers' pages"),
    "a cookie without TLS": (unsafe, "researchers' pages:"),
    "a cookie of the API": (add("Set-Cookie", "id=1", "/api/v1/surveys/"), "the API"),
    "an open door": (open_door, "researchers' pages need"),
    "other bytes": (another_byte, "the pages match"),
}


@pytest.mark.parametrize("world", ["embedded"], indirect=True)
def test_every_fault_of_a_proxy_is_found(world: World) -> None:
    for name, (alter, check) in HARM.items():
        with Mirror(world.candor.url, alter) as mirror:
            found = world.failing(mirror.url)
        assert len(found) == 1 and next(iter(found)).startswith(check), (name, found)


@pytest.mark.parametrize("world", KINDS, indirect=True)
def test_a_timestamp_column_on_reports_is_found(world: World) -> None:
    kind = "timestamptz" if "DATABASE_URL" in world.candor.env else "datetime"
    world.run(f"ALTER TABLE survey_report ADD COLUMN arrived {kind}")
    found = world.failing()
    world.run("ALTER TABLE survey_report DROP COLUMN arrived")
    assert set(found) == {"reports are stored without times and addresses"}


@pytest.mark.parametrize("world", KINDS, indirect=True)
def test_a_missing_trigger_is_found(world: World) -> None:
    if "DATABASE_URL" in world.candor.env:
        world.run("ALTER TABLE survey_entry DISABLE TRIGGER survey_keep_log")
        found = world.failing()
        world.run("ALTER TABLE survey_entry ENABLE TRIGGER survey_keep_log")
    else:
        world.run("DROP TRIGGER survey_keep_log_delete")
        found = world.failing()
        world.run(next(one for one in TRIGGERS.split(";\n\n") if "log_delete" in one))
    assert list(found) == ["the database protects opened surveys"]
    assert "survey_keep_log" in found["the database protects opened surveys"]


@pytest.mark.parametrize("world", ["embedded"], indirect=True)
def test_a_demo_site_that_does_not_answer_fails(world: World) -> None:
    program = [sys.executable, "manage.py", "selftest", "--json", "http://127.0.0.1:1"]
    env = world.candor.env | {"CANDOR_DEMO": "1"}
    done = subprocess.run(program, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == ""
    said = {one["check"]: one for one in json.loads(done.stdout)}
    assert not said["the settings are safe for production"]["ok"]
    assert "does not answer" in said["the web server answers"]["say"]
    assert said["the broker answers"]["ok"] and said["the database answers"]["ok"]
