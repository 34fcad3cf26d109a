"""Fixtures for all tests: a watched Chromium, and a real running installation.

Tests never use the user's var folder: they run where tests/run.py has set an environment.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.nodeid import NodeId
from django.test import TransactionTestCase
from playwright.sync_api import BrowserContext, ConsoleMessage, WebError, expect
from whitenoise import WhiteNoise

from tests.packages import chromium
from tests.services import Candor, die_with_parent, production

# What Chromium makes ready with every window for whoever types an address, which takes more time
# than most pages do; then what Playwright disables, since of two such flags only the last counts.
DISABLED = """
PreloadTopChromeWebUI WebUIOmniboxPopup WebUIOmniboxAimPopup

AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades
HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning
AvoidCorsURLLoaderRestartOnRedirect TcpPortRandomizationWin OptimizationHints
NetworkTimeServiceQuerying AimEnabled PreconnectToSearch msForceBrowserSignIn
msEdgeUpdateLaunchServicesPreferredVersion
""".split()
CHROMIUM_FLAGS = [
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(DISABLED)}",
]

expect.set_options(timeout=20_000)  # milliseconds: a busy machine is no fault of a page

# For candor_server: the same tests on both kinds of installation.
#   @pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
BOTH_INSTALLATIONS = [
    "embedded",
    pytest.param("production", marks=[pytest.mark.postgresql, pytest.mark.redis]),
]


def pytest_configure(config: pytest.Config) -> None:
    if "CANDOR_VAR" not in os.environ:
        pytest.exit(
            "Tests want an environment of their own, lest they touch your var folder:\n"
            "    .venv/bin/python -m tests.run sqlite -- [pytest arguments]",
            returncode=4,
        )
    if hasattr(config, "workerinput"):  # one of xdist's: it would finish its test first
        die_with_parent(signal.SIGTERM)()


# --- What a phase is about ------------------------------------------------------------------------

BY_MARK = ("browser", "faults", "measured")  # phases of the tests that have this mark
DATABASE = {"db", "transactional_db", "live_server"}  # fixtures


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--phase", default="", help="the phase of tests.run that this is")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Half of all files need not be loaded where only the tests with a mark are wanted."""
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
    if config.getoption("phase") == "postgresql":
        pure = [item for item in items if not uses_server(item)]
        config.hook.pytest_deselected(items=pure)
        items[:] = [item for item in items if uses_server(item)]
    if hasattr(config, "workerinput"):
        for item in items:
            put_into_group(item)


def uses_server(item: pytest.Item) -> bool:
    """Whether another database could make a difference."""
    marks = {mark.name for mark in item.iter_markers()}
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(marks & {"django_db", "postgresql", "redis"} or fixtures & DATABASE)


def put_into_group(item: pytest.Item) -> None:
    """What pytest-xdist does for --dist=loadgroup, in the way that this pytest keeps its names."""
    groups = sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")})
    if groups:
        item._id = NodeId.parse(f"{item.nodeid}@{'_'.join(groups)}")


# --- Browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium. Its sandbox does not work for root."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {
        **browser_type_launch_args,
        "executable_path": chromium(),
        "args": [*CHROMIUM_FLAGS, *sandbox],
    }


@pytest.fixture
def page_problems() -> Iterator[list[str]]:
    """What went wrong in the pages of a test: policy violations and uncaught errors.

    Empty at the end, or the test fails. A test that provokes a problem looks for it and clears
    the list.
    """
    problems: list[str] = []
    yield problems
    assert problems == []


@pytest.fixture
def new_context(
    new_context: Callable[..., BrowserContext], page_problems: list[str]
) -> Callable[..., BrowserContext]:
    """Every context, and so every page, of every browser test is watched."""

    def watched(**arguments: Any) -> BrowserContext:
        context = new_context(**arguments)
        watch(context, page_problems)
        return context

    return watched


def watch(context: BrowserContext, problems: list[str]) -> None:
    """Chromium's own console messages, so that pages without script are watched as well.

    The event is listened for besides, because a policy that only reports writes other words.
    """

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "securitypolicyviolation" in message.text:
            problems.append(message.text)

    def on_error(error: WebError) -> None:
        problems.append(f"uncaught: {error.error}")

    context.on("console", on_console)
    context.on("weberror", on_error)
    context.add_init_script(
        "addEventListener('securitypolicyviolation', (event) => console.error("
        "`securitypolicyviolation: ${event.violatedDirective} ${event.blockedURI}`), true);"
    )


# --- A real installation --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def candor_server(request: pytest.FixtureRequest) -> Candor:
    """A running installation: `.url`, `.env`, `.manage("command", …)`, `.log`, `.processes()`."""
    server: Candor = request.getfixturevalue(f"{getattr(request, 'param', 'embedded')}_candor")
    return server


@pytest.fixture(scope="session")
def embedded_candor() -> Iterator[Candor]:
    """On SQLite and the broker that needs no server."""
    with Candor() as candor:
        yield candor


@pytest.fixture(scope="session")
def production_candor() -> Iterator[Candor]:
    """On PostgreSQL and Redis."""
    with production() as environment, Candor(**environment) as candor:
        yield candor


@pytest.fixture(autouse=True, scope="session")
def tables_can_be_emptied() -> Iterator[None]:
    """After a test that commits, without the triggers that keep surveys and releases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_tables())
        yield


@pytest.fixture(autouse=True, scope="session")
def static_files_are_looked_for_once() -> Iterator[None]:
    """Every new test client would look at all of them."""
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
    """Ingest remembers opened surveys for good, and counts requests; a test begins without."""
    from aggregation import tasks
    from survey import ingest

    ingest.known.clear()
    ingest._requests.clear()
    monkeypatch.setattr(tasks, "TICKS_APART", 0.0)  # tests tick as often as they like


@pytest.fixture
def fresh_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The minute in which limits are counted has just begun."""
    from survey import throttle

    clock = time.time
    ahead = throttle.MINUTE - clock() % throttle.MINUTE
    monkeypatch.setattr(time, "time", lambda: clock() + ahead)
