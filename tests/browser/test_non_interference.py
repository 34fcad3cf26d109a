"""The true answer leaves the device by no path, whatever was asked and however it was answered.

With the randomness fixed so that chance replaces the answers, a person who says “yes” to everything
and one who says “no”, of different ages, must leave exactly the same traces: every request byte for
byte and after which tap it went, every stored row, every log line, cookie, storage entry at every
stage, and the page itself. Both practise, go back, change their minds and their language, and send
while the network is down. With the randomness fixed so that the answers are kept, the same
comparison must see the difference, and see it when the age alone differs.

The same holds for every path through follow-ups and every kind of question, with neutral filler
questions and without: a number typed, slid or declined, none or several options picked.
"""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
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
    """Return an installation with open surveys that is not running yet."""
    candor = Candor(parent=tmp_path)
    candor.var.mkdir()
    candor.migrate()
    candor.collect()
    filled = builders.EVERY_PATH | {"slug": "filled", "fillers": True}
    for survey in (builders.FILE, builders.EVERY_PATH, filled):
        candor.open_survey(survey)
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


Visit = Callable[[Page, list[Any]], list[Any]]


def traces(
    candor: Candor, browser: Browser, word: int, visit: Visit, slug: str = "small"
) -> dict[str, Any]:
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
        page.goto(f"{candor.url}/s/{slug}/")
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        # Files are fetched side by side, in an order that varies; nobody has answered anything yet.
        loaded, sent[:] = sorted(sent), []
        stages = visit(page, sent)
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

    for name in ("How sure could someone be?", "What is not protected", "Check this page"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="See how it works").click()
    page.locator(".practice .option").nth(positions[0]).click()
    expect(page.locator(".tries")).to_be_visible()
    note_stage()
    page.get_by_role("button", name="Again").click()
    page.get_by_label("Language").select_option("ar")
    page.get_by_label("اللغة").select_option("en")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("How?").click()
    respondent.answer_one(page, 1 - positions[0])  # and then changes their mind
    note_stage()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    note_stage()
    respondent.answer_one(page, positions[0])
    page.reload()
    expect(page.get_by_text("This page was reloaded.")).to_be_visible()
    page.wait_for_load_state("networkidle")
    stages.append(sorted(sent))  # the page's files again, side by side
    sent.clear()
    page.get_by_role("button", name="Start").click()
    note_stage()
    respondent.answer(page, *positions)
    note_stage()
    page.get_by_role("button", name="Change: Which?").click()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
    note_stage()
    send_late(page, note_stage)
    page.get_by_text("What was sent").click()
    page.get_by_role("button", name="Your list of surveys").click()
    page.get_by_role("button", name="Start the list with this survey").click()
    expect(page.get_by_role("table")).to_be_visible()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    note_stage()
    return stages


def send_late(page: Page, note_stage: Callable[[], None]) -> None:
    """Send while the network is down, and wait until it is back."""
    page.context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="has not arrived yet")).to_be_visible()
    note_stage()
    page.context.set_offline(False)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    note_stage()


def test_yes_and_no_leave_the_same_traces(prepared: Candor, browser: Browser) -> None:
    def visit(*positions: int) -> Visit:
        return lambda page, sent: answer_everything(page, positions, sent)

    yes = traces(prepared, browser, REPLACED, visit(1, 3, 1))
    no = traces(prepared, browser, REPLACED, visit(0, 0, 0))
    for what in yes:
        assert yes[what] == no[what], what
    # One report, tried once in vain: nothing is sent before the last tap.
    assert [method for method, *_ in yes["requests"]] == ["POST", "POST"]
    assert yes["requests"][0][-1] == yes["requests"][1][-1]
    counts = [stage[1] for stage in yes["stages"] if isinstance(stage, tuple)]
    assert counts == [0, 0, 0, 0, 0, 0, 1, 2, 2]
    assert any("survey_report" in row and "0b9f6d1c" in row for row in yes["rows"])

    # The comparison sees a difference where there is one.
    no = traces(prepared, browser, KEPT, visit(0, 0, 0))
    for other in ((1, 3, 1), (0, 0, 1)):
        found = traces(prepared, browser, KEPT, visit(*other))
        assert differing(found, no) == {"requests", "stages", "left", "rows"}


def differing(found: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {what for what in found if found[what] != other[what]}


# --- Every kind, every path -----------------------------------------------------------------------

# What is answered on each screen: an option's position, the text of a number, the options picked.
# Questions that are not there are not asked of this person.
Answers = dict[str, int | str | list[int]]
SHORT: Answers = {"Harassed?": 0, "Days ill?": "0", "Mood?": 0, "Which?": [], "Job?": 0}
MIDDLE: Answers = {
    "Harassed?": 1, "By whom?": 2, "Days ill?": "20", "Mood?": 1, "Which?": [1], "Job?": 1,
}  # fmt: skip
LONG: Answers = {
    "Harassed?": 1, "By whom?": 0, "How often?": "12", "Days ill?": [0], "Mood?": 2,
    "Which?": [0, 2], "Job?": 2,
}  # fmt: skip
DECLINED: Answers = {
    "Harassed?": 2, "Would you say?": 1, "Days ill?": "7", "Mood?": 3, "Which?": [4], "Job?": 2,
}  # fmt: skip
PATHS = [SHORT, MIDDLE, LONG, DECLINED]


def test_every_path_leaves_the_same_traces(prepared: Candor, browser: Browser) -> None:
    for slug, paths in ("every-path", PATHS), ("filled", [SHORT, LONG]):
        first, *others = [
            traces(prepared, browser, REPLACED, path(answers), slug) for answers in paths
        ]
        assert [method for method, *_ in first["requests"]] == ["POST", "POST"]
        for other in others:
            assert differing(other, first) == set(), slug

    # The comparison sees a difference where there is one.
    kept = [traces(prepared, browser, KEPT, path(one), "every-path") for one in (SHORT, LONG)]
    assert differing(*kept) == {"requests", "stages", "left", "rows"}
    # What a report says is not how long it is.
    short, long = ([len(body) for *_, body in one["requests"]] for one in kept)
    assert short == long


def path(answers: Answers) -> Visit:
    """Return a visit that answers so, changes every gate on the review, and changes it back."""

    def visit(page: Page, sent: list[Any]) -> list[Any]:
        stages: list[Any] = []

        def note_stage() -> None:
            stages.append((page.evaluate(KEPT_NOW), len(sent)))

        page.get_by_role("button", name="Start").click()
        answer_path(page, answers, "Next")
        note_stage()
        for gate in (1, answers["Harassed?"]):
            page.get_by_role("button", name="Change: Harassed?").click()
            answer_path(page, answers | {"Harassed?": gate}, "Done")
        note_stage()
        page.get_by_role("button", name="Back").click()
        expect(page.get_by_role("heading", name="Job?")).to_be_visible()
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
        note_stage()
        send_late(page, note_stage)
        return stages

    return visit


def answer_path(page: Page, answers: Answers, button: str) -> None:
    """Answer every question up to the review; what is not among the answers gets the first."""
    title = page.get_by_role("heading", level=1)
    while (heading := title.inner_text()) != "Check and send":
        answer = answers.get(heading, 0)
        options = page.locator(".option input")
        if isinstance(answer, str):
            page.locator(".number input").fill(answer)
        elif page.locator(".number").count() and answer == 0:
            page.get_by_role("button", name="More").click()
        else:
            for position in answer if isinstance(answer, list) else [answer]:
                options.nth(position).check(force=True)
        page.get_by_role("button", name=button).click()
        expect(title).not_to_have_text(heading)
