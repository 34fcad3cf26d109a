"""The test run itself: what it counts, what its servers promise, what it finds in a page."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import playwright
import pytest
from playwright.sync_api import BrowserContext, Page

from tests.conftest import BOTH_INSTALLATIONS, DISABLED, uses_server
from tests.run import (
    Outcome,
    look_for_packages,
    possible,
    read_junit,
    read_summary,
    read_tap,
    split_arguments,
)
from tests.services import ROOT, Candor, command_line, descendants, wait_until

JUNIT = (
    '<testsuites><testsuite errors="1" failures="2" skipped="3" tests="10"></testsuite>'
    "</testsuites>"
)
TAP = "ok 1\n# tests 9\n# suites 0\n# pass 5\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 1\n"


def test_errors_count_as_failures(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(JUNIT)
    assert read_junit(results, 1, may_be_empty=False) == Outcome(passed=4, failed=3, skipped=3)


@pytest.mark.parametrize(
    ("code", "may_be_empty", "failures"), [(5, False, 1), (5, True, 0), (3, True, 1), (0, False, 0)]
)
def test_a_pytest_without_results(
    tmp_path: Path, code: int, may_be_empty: bool, failures: int
) -> None:
    assert read_junit(tmp_path / "none.xml", code, may_be_empty).failures == failures


def test_node_counts() -> None:
    assert read_tap(TAP, 1) == Outcome(passed=5, failed=2, skipped=2)
    assert read_tap("", 0).failures == 1
    assert read_tap("# tests 1\n# pass 1\n", 7).failures == 1


def test_a_run_beside_this_one_counts() -> None:
    text = "\n=== summary ===\nfaults  9 s  3 passed, 1 failed\n3 passed, 2 failed, 1 skipped\n"
    assert read_summary(text, 1) == Outcome(passed=3, failed=2, skipped=1)
    assert read_summary("Killed", 137).failures == 1


def test_arguments_after_two_hyphens_are_for_pytest() -> None:
    assert split_arguments(["sqlite", "--", "-k", "word"]) == (["sqlite"], ["-k", "word"])
    everything = ["lint", "node", "sqlite", "postgresql", "browser", "faults", "measured"]
    assert split_arguments([])[0] == everything


def test_what_is_missing_is_left_out_aloud(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert possible("browser").endswith("not firefox and not redis and not node and not compiler")
    assert {"Chromium", "Firefox"} <= {need.name for need in look_for_packages(["browser"])}
    assert "Firefox IS MISSING. LEFT OUT: the browser tests in Firefox." in capsys.readouterr().out
    assert look_for_packages(["lint"]) == []


def test_what_playwright_disables_in_chromium_stays_disabled() -> None:
    program = Path(playwright.__file__).parent / "driver/package/lib/coreBundle.js"
    (found,) = re.findall(r"disabledFeatures = \[(.*?)\]", program.read_text(), re.DOTALL)
    theirs = set(re.findall(r'^ *"(\w+)"', found, re.MULTILINE))
    assert "PaintHolding" in theirs and theirs <= set(DISABLED)


@pytest.mark.xdist_group("machinery")
def test_the_name_of_a_group_reaches_the_scheduler(request: pytest.FixtureRequest) -> None:
    """Otherwise every process would start what one group shares."""
    shared = "PYTEST_XDIST_WORKER" in os.environ
    assert request.node.nodeid.endswith("@machinery") == shared


def test_a_pure_test_does_not_run_twice(request: pytest.FixtureRequest) -> None:
    assert not uses_server(request.node)


@pytest.mark.django_db
def test_a_test_with_a_database_runs_on_both(request: pytest.FixtureRequest) -> None:
    assert uses_server(request.node)


@pytest.mark.faults
@pytest.mark.postgresql
@pytest.mark.redis
def test_servers_die_with_a_killed_starter() -> None:
    program = (
        "import time\n"
        "from tests.services import PostgreSQL, Redis\n"
        "with PostgreSQL() as one, Redis() as other:\n"
        "    print(one.folder, other.folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    folders = starter.stdout.readline().split()
    started = descendants(starter.pid)
    assert len(started) > 2  # PostgreSQL has children
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    wait_until(lambda: not any(map(command_line, started)), 60, "servers without their starter")
    for folder in folders:
        subprocess.run(["rm", "-r", folder], check=True)  # what nobody could clean up


@pytest.mark.faults
@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_a_real_installation(candor_server: Candor) -> None:
    with urllib.request.urlopen(f"{candor_server.url}/healthz") as response:
        assert response.status == 200
    program = "from django.db import connection; print(connection.vendor)"
    vendor = candor_server.manage("shell", "--no-imports", "--command", program)
    expected = "postgresql" if "DATABASE_URL" in candor_server.env else "sqlite"
    assert vendor.strip() == expected
    with pytest.raises(AssertionError, match="ended with 1:\n.*nowhere"):
        candor_server.manage("simulate", "nowhere", "--people", "1")
    assert len(candor_server.processes()) >= 4  # serve, web, worker, beat
    assert str(candor_server.var) != os.environ["CANDOR_VAR"]


@pytest.mark.browser
def test_a_policy_violation_is_noticed(page: Page, page_problems: list[str]) -> None:
    page.route(
        "http://candor.test/",
        lambda route: route.fulfill(
            headers={"Content-Security-Policy": "script-src 'none'", "Content-Type": "text/html"},
            body="<!doctype html><title>t</title><script>document.title = 'ran'</script>",
        ),
    )
    page.goto("http://candor.test/")
    page.wait_for_timeout(100)
    assert page.title() == "t"
    assert any("Content Security Policy" in problem for problem in page_problems)
    assert any("securitypolicyviolation" in problem for problem in page_problems)
    page_problems.clear()


@pytest.mark.browser
def test_an_uncaught_error_is_noticed_in_every_tab(
    context: BrowserContext, page_problems: list[str]
) -> None:
    for _ in range(2):
        page = context.new_page()
        page.goto("data:text/html,<script>throw new Error('a fault of the page')</script>")
    page.wait_for_timeout(100)
    assert len(page_problems) == 2
    assert all("a fault of the page" in problem for problem in page_problems)
    page_problems.clear()
