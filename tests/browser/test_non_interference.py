"""The true answer leaves the device by no path.

With the randomness fixed so that chance replaces the answers, a person who says “yes” to everything
and one who says “no”, of different ages, must leave exactly the same traces: every request byte for
byte and after which tap it went, every stored row, every log line, cookie, storage entry at every
stage, and the page itself. Both practise, go back, change their minds and their language, and send
while the network is down. With the randomness fixed so that the answers are kept, the same
comparison must see the difference, and see it when the age alone differs.
"""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.support import builders, respondent
from tests.support.chromium import watch
from tests.support.services import ROOT, Candor, wait_until

pytestmark = pytest.mark.browser

REPLACED, KEPT = 0xFFFFFF00, 0  # compared with keep: not below it, and below it

FIXED = """
Crypto.prototype.getRandomValues = function (array) { return array.fill(WORD); };
Crypto.prototype.randomUUID = () => "0b9f6d1c-3d0e-4a55-9a0e-4a3f3f1f6d5e";
"""

KEPT_NOW = """async () => ({
  local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage),
  databases: (await indexedDB.databases()).length, caches: await caches.keys(),
  cookie: document.cookie, history: history.length, state: JSON.stringify(history.state),
  address: location.href, title: document.title, name: window.name,
})"""
LEFT_BEHIND = """async () => ({
  local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage),
  databases: (await indexedDB.databases()).length, caches: await caches.keys(),
  cookie: document.cookie, history: history.length, state: JSON.stringify(history.state),
  address: location.href, title: document.title, name: window.name,
  page: document.querySelector("main").textContent,
})"""


@pytest.fixture
def prepared(tmp_path: Path) -> Candor:
    """Return an installation with an open survey that is not running yet."""
    candor = Candor(parent=tmp_path)
    candor.var.mkdir()
    candor.migrate()
    candor.collect()
    candor.open_survey(builders.FILE)
    return candor


@contextmanager
def web_server(candor: Candor, log: Path) -> Iterator[None]:
    """Run only the web server: a worker or beat would differ from run to run."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "operations.serve", "127.0.0.1",
             str(candor.port), "1"],
            cwd=ROOT, env=candor.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
        )  # fmt: skip
        try:
            wait_until(candor._healthy, 60, "the web server")
            yield
        finally:
            process.terminate()
            process.wait(60)


def traces(candor: Candor, browser: Browser, word: int, positions: tuple[int, ...]) -> Any:
    """Return everything that one visit leaves on a fresh copy of the same installation."""
    pristine = candor.folder / "pristine"
    if not pristine.exists():
        shutil.copytree(candor.var, pristine)
    shutil.rmtree(candor.var)
    shutil.copytree(pristine, candor.var)
    log = candor.folder / "web.log"
    problems: list[str] = []
    with web_server(candor, log):
        context = browser.new_context()
        watch(context, problems)
        context.add_init_script(FIXED.replace("WORD", str(word)))
        page = context.new_page()
        sent: list[Any] = []
        page.on("request", lambda request: note(request, sent))
        page.goto(f"{candor.url}/s/small/")
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        # Files are fetched side by side, in an order that varies; nobody has answered anything yet.
        loaded, sent[:] = sorted(sent), []
        stages = answer_everything(page, positions, sent)
        left = page.evaluate(LEFT_BEHIND)
        cookies = context.cookies()
        context.close()
    assert problems == []
    with sqlite3.connect(candor.var / "candor.sqlite3") as database:
        rows = list(database.iterdump())
    files = sorted(str(path.relative_to(candor.var)) for path in candor.var.rglob("*"))
    return {
        "loaded": loaded, "requests": sent, "stages": stages, "left": left, "cookies": cookies,
        "rows": rows, "files": files, "log": log.read_text(),
    }  # fmt: skip


def note(request: Request, sent: list[Any]) -> None:
    """Note every request except the one for the icon, whose time varies."""
    if re.search(r"/static/icon\.\w+\.svg$", request.url) and request.method == "GET":
        return
    sent.append(describe(request))


def describe(request: Request) -> Any:
    headers = request.all_headers()
    return request.method, request.url, sorted(headers.items()), request.post_data_buffer or b""


def answer_everything(page: Page, positions: tuple[int, ...], sent: list[Any]) -> list[Any]:
    """Use everything on the page; return the storage and number of requests after each stage."""
    stages: list[Any] = []

    def note_stage() -> None:
        stages.append((page.evaluate(KEPT_NOW), len(sent)))

    page.get_by_role("button", name="Try it with a harmless question").click()
    page.locator(".practice .option").nth(positions[0]).click()
    expect(page.locator(".tries")).to_be_visible()
    note_stage()
    page.get_by_role("button", name="Start the survey").click()
    respondent.answer_one(page, 1 - positions[0])  # and then changes their mind
    note_stage()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    page.get_by_label("Language").select_option("ar")
    page.get_by_label("اللغة").select_option("en")
    note_stage()
    respondent.answer(page, *positions)
    note_stage()
    page.get_by_role("button", name="Change: Which?").click()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
    note_stage()
    page.context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="has not arrived yet")).to_be_visible()
    note_stage()
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    note_stage()
    page.get_by_text("See what was sent").click()
    page.get_by_text("Keep a list of the surveys you take?").click()
    page.get_by_role("button", name="Start the list with this survey").click()
    expect(page.get_by_text("This survey is on your list.")).to_be_visible()
    note_stage()
    return stages


def test_yes_and_no_leave_the_same_traces(prepared: Candor, browser: Browser) -> None:
    yes = traces(prepared, browser, REPLACED, (1, 3, 1))
    no = traces(prepared, browser, REPLACED, (0, 0, 0))
    for what in yes:
        assert yes[what] == no[what], what
    # One report, tried once in vain: nothing is sent before the last tap.
    assert [method for method, *_ in yes["requests"]] == ["POST", "POST"]
    assert yes["requests"][0][-1] == yes["requests"][1][-1]
    assert [count for _, count in yes["stages"]] == [0, 0, 0, 0, 0, 1, 2, 2]
    assert any("survey_report" in row and "0b9f6d1c" in row for row in yes["rows"])


def test_the_comparison_sees_a_difference_where_there_is_one(
    prepared: Candor, browser: Browser
) -> None:
    no = traces(prepared, browser, KEPT, (0, 0, 0))
    for other in ((1, 3, 1), (0, 0, 1)):
        found = traces(prepared, browser, KEPT, other)
        assert {what for what in found if found[what] != no[what]} == {
            "requests", "stages", "left", "rows",
        }  # fmt: skip
