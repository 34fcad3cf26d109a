"""The respondent's page in Firefox: the promises that another engine could break."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import resources

import pytest

from tests import builders
from tests.firefox import Firefox
from tests.mirror import Mirror, Reply
from tests.services import ROOT, Candor, command_line, descendants, wait_until

# One Firefox for all of them.
pytestmark = [pytest.mark.browser, pytest.mark.firefox, pytest.mark.xdist_group("firefox")]

SLUG = "in-firefox"
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
LEFT_BEHIND = """
return (async () => ({
  local: {...localStorage}, session: {...sessionStorage}, cookie: document.cookie,
  databases: await indexedDB.databases(), caches: await caches.keys(),
}))();
"""


class Site(Mirror):
    """The site as one test reaches it."""

    def __init__(self, candor: Candor) -> None:
        super().__init__(candor.url)
        self.database = candor.var / "candor.sqlite3"

    @property
    def survey(self) -> str:
        return f"{self.url}/s/{SLUG}/"

    def reports(self) -> list[bytes]:
        """The bodies of the reports that were sent, whatever became of them."""
        return [request.body for request in self.received if request.method == "POST"]

    def stored(self) -> int:
        """How many of the ids that were sent are in the database."""
        ids = {json.loads(body)["id"].replace("-", "") for body in self.reports()}
        with closing(sqlite3.connect(self.database)) as database:
            marks = ",".join("?" * len(ids))
            statement = f"SELECT count(*) FROM survey_report WHERE id IN ({marks})"
            return int(database.execute(statement, tuple(ids)).fetchone()[0])


@pytest.fixture(scope="module")
def the_firefox() -> Iterator[Firefox]:
    with Firefox() as running:
        yield running


@pytest.fixture
def firefox(the_firefox: Firefox) -> Iterator[Firefox]:
    """As a laptop's reader of English has it. A test that provokes a problem asks for it."""
    the_firefox.speak("en-US", "en")
    the_firefox.resize(1280, 800)
    yield the_firefox
    assert the_firefox.problems() == []


@pytest.fixture(scope="module")
def open_survey(candor_server: Candor) -> Candor:
    content = builders.FILE | {"slug": SLUG}
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(content))
    return candor_server


@pytest.fixture
def site(open_survey: Candor) -> Iterator[Site]:
    with Site(open_survey) as running:
        yield running


# --- Steps ----------------------------------------------------------------------------------------


def begin(firefox: Firefox, site: Site) -> None:
    firefox.goto(site.survey)
    firefox.wait(".opening")


def go_on(firefox: Firefox) -> None:
    """Tap the main button, and wait for another screen."""
    firefox.script("document.querySelector('.screen').dataset.before = ''")
    firefox.click(".primary")
    firefox.wait(".screen:not([data-before])")


def answer(firefox: Firefox) -> None:
    """From the first question to the review, with the second choice everywhere."""
    while firefox.script("return document.querySelector('.asking') !== null"):
        firefox.click(".option:nth-of-type(2)")
        go_on(firefox)
    firefox.wait(".answers")


def to_review(firefox: Firefox, site: Site) -> None:
    begin(firefox, site)
    go_on(firefox)
    answer(firefox)


def send(firefox: Firefox) -> str:
    """Send, and return the receipt."""
    firefox.click(".primary")
    firefox.wait(".receipt")
    return firefox.text(".receipt code")


# --- Tests ----------------------------------------------------------------------------------------


def test_a_whole_run_keeps_its_promises(firefox: Firefox, site: Site) -> None:
    to_review(firefox, site)
    review = firefox.text("main")
    assert "Yes" in review and "Green" in review and "Under 30" in review
    assert site.reports() == []
    receipt = send(firefox)
    (body,) = site.reports()
    assert json.loads(body)["id"] == receipt
    assert site.stored() == 1
    # "age": null is the longest that this survey's reports can be, and chance decides the rest.
    content = json.loads(body)
    assert content["strata"] == {"age": 0}
    longest = json.dumps(content | {"strata": {"age": None}}, separators=(",", ":"))
    assert len(body) == len(longest) and body.endswith(b"}   ")
    firefox.click("summary")
    assert firefox.script("return document.querySelector('pre').textContent").encode() == body
    assert firefox.script(LEFT_BEHIND) == {
        "local": {}, "session": {"candor.answered": json.dumps([SLUG])}, "cookie": "",
        "databases": [], "caches": [],
    }  # fmt: skip
    assert firefox.command("WebDriver:GetCookies") == []
    for request in site.received:
        assert "cookie" not in request.headers
        # A module names the one that imports it; nothing names the survey.
        assert "/s/" not in request.headers.get("referer", "")


def test_a_whole_run_by_keyboard(firefox: Firefox, site: Site) -> None:
    def focused() -> str:
        return str(firefox.script("return document.activeElement.textContent.trim()"))

    def tab_to(name: str) -> None:
        for _ in range(20):
            firefox.press("Tab")
            if focused() == name:
                return
        raise AssertionError(f"{name} cannot be reached with Tab")

    begin(firefox, site)
    tab_to("Start")
    firefox.press("Enter")
    for title, moves in (("Did you?", 1), ("Which?", 2)):
        wait_until(lambda title=title: focused() == title, 60, title)  # type: ignore[misc]
        firefox.press("Tab", "Space", *["ArrowDown"] * moves, "Enter")
    wait_until(lambda: focused() == "How old are you?", 60, "the background question")
    tab_to("Next")
    firefox.press("Enter")
    wait_until(lambda: focused() == "Check and send", 60, "the review")
    review = firefox.text("main")
    assert "Yes" in review and "Blue" in review and "Not given" in review
    tab_to("Send")
    firefox.press("Enter")
    firefox.wait(".receipt")
    assert focused().startswith("Thank you")
    assert len(site.reports()) == site.stored() == 1


def test_arabic_runs_from_right_to_left_on_a_phone(firefox: Firefox, site: Site) -> None:
    firefox.speak("ar", "en")
    firefox.resize(360, 640)
    begin(firefox, site)
    assert firefox.script("return [document.documentElement.lang, document.dir]") == ["ar", "rtl"]
    fits = "return document.documentElement.scrollWidth <= innerWidth"
    assert firefox.script(fits)
    go_on(firefox)
    assert firefox.script(fits)
    answer(firefox)
    assert firefox.script(fits)


@pytest.mark.parametrize("way", ["reload", "leave and return"])
def test_an_answer_is_not_restored(firefox: Firefox, site: Site, way: str) -> None:
    begin(firefox, site)
    go_on(firefox)
    firefox.click(".option:nth-of-type(2)")
    if way == "reload":
        firefox.command("WebDriver:Refresh")
    else:
        firefox.goto("about:blank")
        firefox.command("WebDriver:Back")
    firefox.wait(".opening")
    go_on(firefox)
    assert firefox.text("h1") == "Did you?"
    assert firefox.script("return document.querySelectorAll('input:checked').length") == 0
    assert site.reports() == []


def test_a_report_waits_for_the_server(firefox: Firefox, site: Site) -> None:
    to_review(firefox, site)
    site.down = True
    firefox.click(".primary")
    firefox.wait(".icon.waiting")
    assert "not arrived yet" in firefox.text("h1")
    assert "did not answer" in firefox.text("main")
    site.down = False
    send(firefox)  # the main button says "Try again now"
    arrived_once(firefox, site)


def test_a_report_goes_by_itself_when_the_network_is_back(firefox: Firefox, site: Site) -> None:
    to_review(firefox, site)
    site.down = True  # the machine itself is reached without a network, too
    firefox.offline(True)
    try:
        firefox.click(".primary")
        firefox.wait(".icon.waiting")
        assert "This device is offline" in firefox.text("main")
        site.down = False
    finally:
        firefox.offline(False)
    firefox.wait(".receipt")
    arrived_once(firefox, site)


def arrived_once(firefox: Firefox, site: Site) -> None:
    assert len(site.reports()) > 1 and len(set(site.reports())) == 1
    assert site.stored() == 1
    assert firefox.script(LEFT_BEHIND)["local"] == {}


def test_every_screen_is_accessible(firefox: Firefox, site: Site) -> None:
    def check() -> None:
        found = firefox.script(AXE + "; return axe.run().then(({violations}) => violations);")
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []

    begin(firefox, site)
    check()
    go_on(firefox)
    check()
    answer(firefox)
    check()
    send(firefox)
    check()


@pytest.mark.parametrize("module", ["app", "randomizer"])
def test_a_module_altered_by_one_byte_does_not_run(
    firefox: Firefox, site: Site, module: str
) -> None:
    altered = []

    def one_byte_more(reply: Reply) -> None:
        if reply.path.startswith(f"/static/respond/{module}."):
            altered.append(reply.path)
            reply.body += b"\n"

    site.alter = one_byte_more
    firefox.goto(site.survey)
    assert altered
    # What stands in the page until the program replaces it; modules run before a page is loaded.
    assert firefox.script("return document.querySelector('.late') !== null")
    assert any("integrity" in problem for problem in firefox.problems())


# --- The driver -----------------------------------------------------------------------------------


def test_what_goes_wrong_in_a_page_is_noticed(firefox: Firefox, site: Site) -> None:
    begin(firefox, site)
    firefox.script("document.body.append(document.createElement('script'))")
    assert firefox.problems() == []
    sink = "document.querySelector('body > script').textContent = 'document.title = 1'"
    firefox.script(f"try {{ {sink} }} catch {{}}")  # refused at once, or when it would run
    firefox.script("setTimeout(() => { throw new Error('a fault of the page'); })")
    found: list[str] = []

    def both() -> bool:
        found.extend(firefox.problems())
        text = "".join(found)
        return "Content-Security-Policy" in text and "a fault of the page" in text

    wait_until(both, 60, "two problems")


def test_firefox_dies_with_a_killed_starter() -> None:
    program = (
        "import time\n"
        "from tests.firefox import Firefox\n"
        "with Firefox() as firefox:\n"
        "    print(firefox.folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    folder = starter.stdout.readline().strip()
    started = descendants(starter.pid)
    assert len(started) > 2  # the pages have processes of their own
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    wait_until(lambda: not any(map(command_line, started)), 60, "Firefox without its starter")
    shutil.rmtree(folder)  # what nobody could clean up
