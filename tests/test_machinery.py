"""The test run itself: its counts, its servers, and the problems it finds in pages."""

import os
import re
import subprocess
import urllib.request
from pathlib import Path

import playwright
import pytest
from playwright.sync_api import BrowserContext, Page

from tests.conftest import uses_server
from tests.run import GROUPS, chosen_phases, look_for_packages, possible, split_arguments
from tests.support.chromium import DISABLED
from tests.support.marks import BOTH_INSTALLATIONS
from tests.support.outcomes import Outcome, read_junit, read_summary, read_tap
from tests.support.pages import await_in
from tests.support.services import Candor, command_line, kill_starter, wait_until

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
def test_a_pytest_run_without_results_is_judged_by_its_exit_code(
    tmp_path: Path, code: int, may_be_empty: bool, failures: int
) -> None:
    assert read_junit(tmp_path / "none.xml", code, may_be_empty).failures == failures


def test_the_counts_of_node_are_read() -> None:
    assert read_tap(TAP, 1) == Outcome(passed=5, failed=2, skipped=2)
    assert read_tap("", 0).failures == 1
    assert read_tap("# tests 1\n# pass 1\n", 7).failures == 1


def test_the_results_of_a_parallel_run_are_counted() -> None:
    text = "\n=== summary ===\nfaults  9 s  3 passed, 1 failed\n3 passed, 2 failed, 1 skipped\n"
    assert read_summary(text, 1) == Outcome(passed=3, failed=2, skipped=1)
    assert read_summary("Killed", 137).failures == 1


def test_arguments_after_two_hyphens_are_for_pytest() -> None:
    assert split_arguments(["sqlite", "--", "-k", "word"]) == (["sqlite"], ["-k", "word"])


def test_a_group_means_its_phases_and_an_unknown_name_is_reported() -> None:
    assert chosen_phases(["measured", "basic"])[0] == [*GROUPS["basic"], "measured"]
    assert chosen_phases([])[0] == [*GROUPS["basic"], *GROUPS["rest"]]
    assert chosen_phases(["lint", "lnit"]) == (["lint"], ["lnit"])


def test_missing_programs_are_left_out_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    left_out = possible("browser").split(" and not ")
    marks = {"firefox", "webkit", "redis", "node", "r", "disk"}
    assert left_out[0] == "(browser)" and marks <= set(left_out)
    missing = {need.name for need in look_for_packages(["browser"])}
    assert {"Chromium", "Firefox", "WebKit"} <= missing
    assert "Firefox IS MISSING. LEFT OUT: the browser tests in Firefox." in capsys.readouterr().out
    assert {"R", "PSPP", "curl"} <= {need.name for need in look_for_packages(["slow"])}
    assert [need.name for need in look_for_packages(["lint"])] == ["npm"]


def test_features_that_playwright_disables_stay_disabled() -> None:
    program = Path(playwright.__file__).parent / "driver/package/lib/coreBundle.js"
    (found,) = re.findall(r"disabledFeatures = \[(.*?)\]", program.read_text(), re.DOTALL)
    theirs = set(re.findall(r'^ *"(\w+)"', found, re.MULTILINE))
    assert "PaintHolding" in theirs and theirs <= set(DISABLED)


@pytest.mark.xdist_group("machinery")
def test_the_name_of_a_group_reaches_the_scheduler(request: pytest.FixtureRequest) -> None:
    """Otherwise every process would start the group's installation."""
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
        "import signal\n"
        "from tests.support.services import PostgreSQL, Redis\n"
        "with PostgreSQL() as one, Redis() as other:\n"
        "    print(one.folder, other.folder, flush=True)\n"
        "    signal.pause()\n"
    )
    folders, started = kill_starter(program)
    assert len(started) > 2  # PostgreSQL has children
    wait_until(lambda: not any(map(command_line, started)), 60, "servers without their starter")
    for folder in folders.split():
        subprocess.run(["rm", "-r", folder], check=True)  # left behind by the killed process


@pytest.mark.faults
@pytest.mark.parametrize("candor_server", BOTH_INSTALLATIONS, indirect=True)
def test_a_test_installation_runs_on_its_own_database(candor_server: Candor) -> None:
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
    for word in ("Content Security Policy", "securitypolicyviolation"):
        await_in(page, lambda: any(word in one for one in page_problems), word)  # noqa: B023
    assert page.title() == "t"
    page_problems.clear()


@pytest.mark.browser
def test_an_uncaught_error_is_noticed_in_every_tab(
    context: BrowserContext, page_problems: list[str]
) -> None:
    for _ in range(2):
        page = context.new_page()
        page.goto("data:text/html,<script>throw new Error('a fault of the page')</script>")
    await_in(page, lambda: len(page_problems) == 2, "both errors")
    assert all("a fault of the page" in problem for problem in page_problems)
    page_problems.clear()
