"""Fixtures for all tests: a watched Chromium, and a real running installation.

Tests never use the user's var folder: they run where tests/run.py has set an environment.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.nodeid import NodeId
from django.test import TransactionTestCase
from hypothesis import HealthCheck, settings
from playwright.sync_api import BrowserContext, CDPSession, expect
from whitenoise import WhiteNoise

from tests.support.chromium import CHROMIUM_FLAGS, watch
from tests.support.coverage_tables import measure_pages, write_pages
from tests.support.packages import NEEDS, chromium
from tests.support.services import Candor, die_with_parent, production
from tests.support.stores import Store

expect.set_options(timeout=60_000)  # milliseconds: a busy machine is no fault of a page

settings.register_profile(
    "candor", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("candor")


def pytest_configure(config: pytest.Config) -> None:
    if "CANDOR_VAR" not in os.environ:
        pytest.exit(
            "Tests want an environment of their own, lest they touch your var folder:\n"
            "    .venv/bin/python -m tests.run sqlite -- [pytest arguments]",
            returncode=4,
        )
    for need in NEEDS.values():
        if need.mark:
            config.addinivalue_line("markers", f"{need.mark}: needs {need.name}")
    if hasattr(config, "workerinput"):  # one of xdist's workers: it would finish its test first
        die_with_parent(signal.SIGTERM)()


# --- What a phase is about ------------------------------------------------------------------------

BY_MARK = (
    "browser",
    "faults",
    "measured",
    "slow",
    "smoke",
)  # phases of the tests that have this mark
DATABASE = {"db", "transactional_db", "live_server"}  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--phase", default="", help="the phase of tests.run that this is")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without tests of the requested mark."""
    phase = config.getoption("phase")
    if phase not in BY_MARK or not collection_path.name.startswith("test_"):
        return None
    return None if names_mark(collection_path, phase) else True


@cache
def names_mark(path: Path, mark: str) -> bool:
    return f"mark.{mark}" in path.read_text()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for mark in BY_MARK:
            if item.get_closest_marker(mark) and not names_mark(item.path, mark):
                raise pytest.UsageError(f"{item.nodeid}: its file must name the mark {mark}")
    if config.getoption("phase").startswith("postgresql"):
        pure = [item for item in items if not uses_server(item)]
        config.hook.pytest_deselected(items=pure)
        items[:] = [item for item in items if uses_server(item)]
    if hasattr(config, "workerinput"):
        for item in items:
            put_into_group(item)


def uses_server(item: pytest.Item) -> bool:
    """Return whether a test could behave differently on another database."""
    marks = {mark.name for mark in item.iter_markers()}
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(marks & {"django_db", "postgresql", "redis"} or fixtures & DATABASE)


def put_into_group(item: pytest.Item) -> None:
    """Do what pytest-xdist does for --dist=loadgroup, with this pytest's names."""
    groups = sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")})
    if groups:
        item._id = NodeId.parse(f"{item.nodeid}@{'_'.join(groups)}")


# --- Browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use Debian's Chromium, without the sandbox, which does not work for root."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {
        **browser_type_launch_args,
        "executable_path": chromium(),
        "args": [*CHROMIUM_FLAGS, *sandbox],
    }


@pytest.fixture
def page_problems() -> Iterator[list[str]]:
    """Collect the problems in the pages of a test: policy violations and uncaught errors.

    The test fails unless it is empty at the end. A test that provokes a problem checks and clears
    the list.
    """
    problems: list[str] = []
    yield problems
    assert problems == []


@pytest.fixture
def new_context(
    new_context: Callable[..., BrowserContext], page_problems: list[str]
) -> Iterator[Callable[..., BrowserContext]]:
    """Watch every context, and so every page, of every browser test."""
    coverage = os.environ.get("CANDOR_TEST_COVERAGE")
    measured: list[list[CDPSession]] = []

    def watched(**arguments: Any) -> BrowserContext:
        context = new_context(**arguments)
        context.set_default_timeout(60_000)
        watch(context, page_problems)
        if coverage:
            measured.append(measure_pages(context))
        return context

    yield watched
    for sessions in measured:
        write_pages(Path(coverage or ""), sessions)


# --- A real installation --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def candor_server(request: pytest.FixtureRequest) -> Candor:
    """Yield a running installation: `.url`, `.env`, `.manage(…)`, `.log`, `.processes()`."""
    server: Candor = request.getfixturevalue(f"{getattr(request, 'param', 'embedded')}_candor")
    return server


@pytest.fixture(scope="session")
def embedded_candor() -> Iterator[Candor]:
    """Yield an installation on SQLite and the embedded broker."""
    with Candor() as candor:
        yield candor


@pytest.fixture(scope="session")
def production_candor() -> Iterator[Candor]:
    """Yield an installation on PostgreSQL and Redis."""
    with production() as environment, Candor(**environment) as candor:
        yield candor


@pytest.fixture(autouse=True, scope="session")
def tables_can_be_emptied() -> Iterator[None]:
    """Let tests that commit empty the tables, without the triggers that protect them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_tables())
        yield


@pytest.fixture(autouse=True, scope="session")
def static_files_are_looked_for_once() -> Iterator[None]:
    """Otherwise every new test client would search for all of them."""
    find: Callable[..., None] = WhiteNoise.update_files_dictionary
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def update(self: WhiteNoise, root: str, prefix: str) -> None:
        if (root, prefix) not in found:
            find(self, root, prefix)
            found[root, prefix] = dict(self.files)
        self.files.update(found[root, prefix])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoise, "update_files_dictionary", update)
        yield


def empty_tables() -> None:
    from django.db import connection

    kept = {"django_migrations", "django_content_type", "auth_permission"}
    tables = set(connection.introspection.table_names()) - kept
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")  # no trigger fires
            cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
            cursor.execute("SET session_replication_role = DEFAULT")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for statement in (
            "PRAGMA foreign_keys = OFF",
            *(f"DROP TRIGGER {name}" for name, _ in triggers),
            *(f"DELETE FROM {table}" for table in tables),
            *(sql for _, sql in triggers),
            "PRAGMA foreign_keys = ON",
        ):
            cursor.execute(statement)


@pytest.fixture(autouse=True)
def forget_surveys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the door's remembered surveys and request counts before each test."""
    from aggregation.jobs import tasks
    from survey.collect import door, throttle

    door.known.clear()
    throttle._counts.clear()
    monkeypatch.setattr(tasks, "TICKS_APART", 0.0)  # let tests tick at any time


# --- Databases for tests that commit or look below Django ---------------------------------------


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Store]:
    """Return an empty migrated database that tests copy, because migrating takes seconds."""

    @cache
    def get(kind: str) -> Store:
        result = Store(kind, tmp_path_factory.mktemp(kind))
        result.manage("migrate", "-v0")
        result.manage.end()
        return result

    return get


@pytest.fixture
def store(kind: str, migrated: Callable[[str], Store], tmp_path: Path) -> Store:
    """Yield a migrated database for a test with @pytest.mark.parametrize("kind", BOTH)."""
    return Store(kind, tmp_path, migrated(kind))


# --- No luck and no clock -------------------------------------------------------------------------

# Only the randomness under test has no seed: the randomizer with the system's generator
# (tests/statistical/test_audit.py, 2.2e-8), the orders that a move and a pass leave behind
# (test_unlinkable_reports.py 6e-9, test_unlinkable_invitations.py 6e-9, each with its alpha), and
# which reports stay behind in a move (test_collect.py 1e-12). Together these fail by chance in
# fewer than 4 of 10^8 runs.


@pytest.fixture(autouse=True)
def noise_is_the_same_in_every_run() -> Iterator[None]:
    """Seed the noise of simulated people, because rare estimates would fail a run in many."""
    from survey import simulation

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "secure_draw", partial(Random(1).getrandbits, 32))
        yield


@pytest.fixture(autouse=True)
def no_day_and_no_minute_ends() -> Iterator[None]:
    """Freeze the date and the minute of the request counters during a test.

    And the minute in which requests and failed logins are counted does not end, unless the test
    sets the clock itself.
    """
    from django.utils import timezone

    from survey import rate_limits
    from survey.collect import throttle
    from survey.models import clock as days

    clock, began = timezone.now, timezone.now()
    last = began.replace(hour=23, minute=59, second=59)
    seconds = time.time
    minute = seconds() // 60 * 60

    def now() -> float:
        return minute if time.time is seconds else time.time()

    class Now(datetime):
        @classmethod
        def now(cls, *_: object) -> datetime:  # type: ignore[override]
            return began

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: min(clock(), last))
        patch.setattr(days, "datetime", Now)
        patch.setattr(throttle, "time", SimpleNamespace(monotonic=lambda: 0.0))
        patch.setattr(rate_limits, "time", SimpleNamespace(time=now))
        yield


@pytest.fixture
def still_clock() -> Iterator[None]:
    """Freeze the time of limits, codes and signatures at the beginning of a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: 1_800_000_000.0)
        yield
