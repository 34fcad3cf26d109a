"""Nothing is left behind in storage, forms or history, or on a shared device."""

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support import builders, respondent
from tests.support.services import Candor, wait_until

pytestmark = pytest.mark.browser

EVERYTHING = """async () => ({
  local: Object.keys(localStorage), session: Object.keys(sessionStorage),
  databases: (await indexedDB.databases()).map(({name}) => name), caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  cookie: document.cookie, name: window.name, state: history.state,
})"""
NOTHING = {
    "local": [], "session": [], "databases": [], "caches": [], "workers": 0, "cookie": "",
    "name": "", "state": None,
}  # fmt: skip


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    return candor_server.open_survey(builders.FILE | {"slug": "residue"})


def checked(page: Page) -> int:
    return page.locator("input:checked").count()


def test_a_visit_leaves_only_a_mark_that_ends_with_the_tab(
    url: str, context: BrowserContext
) -> None:
    page = context.new_page()
    respondent.start(page, url)
    respondent.answer(page, 1, 2)
    before = page.evaluate(EVERYTHING)  # no autosave
    assert (before["local"], before["session"]) == ([], ["candor.drawn"])
    assert page.url == url
    respondent.send(page)
    assert page.evaluate(EVERYTHING) == NOTHING | {"session": ["candor.answered"]}
    assert page.evaluate("sessionStorage.getItem('candor.answered')") == '["residue"]'
    assert page.url == url
    page.close()
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert page.evaluate(EVERYTHING) == NOTHING
    assert context.cookies() == []


def test_a_page_that_was_left_has_forgotten_the_answers(url: str, page: Page) -> None:
    respondent.start(page, url)
    respondent.answer_one(page, 1)
    page.get_by_role("radio").nth(2).check(force=True)
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert checked(page) == 0
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    assert checked(page) == 0
    page.get_by_role("radio").nth(1).check(force=True)
    page.reload()
    page.get_by_role("button", name="Start").click()
    assert checked(page) == 0


def test_the_screen_is_empty_while_the_page_is_hidden_away(url: str, page: Page) -> None:
    """A browser may restore a page, but it is empty."""
    respondent.start(page, url)
    page.get_by_role("radio").nth(1).check(force=True)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
    assert page.locator("main").inner_text() == ""
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_the_practice_question_sends_nothing(url: str, page: Page) -> None:
    page.goto(url)
    page.get_by_role("button", name="See how it works").click()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for name in ("Yes", "No"):
        page.get_by_role("radio", name=name).check(force=True)
        expect(page.get_by_text(f"You said: {name}. This time your device would")).to_be_visible()
        for _ in range(3):
            page.get_by_role("button", name="Again").click()
        counts = re.findall(r"(\d+) ×", page.get_by_text("So far").inner_text())
        assert sum(map(int, counts)) == 4
    expect(page.get_by_role("heading", name="A yes can come from either")).to_be_visible()
    assert requests == []
    assert page.evaluate(EVERYTHING)["local"] == page.evaluate(EVERYTHING)["session"] == []
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    assert checked(page) == 0


# --- The ledger -----------------------------------------------------------------------------------


def test_the_ledger_is_kept_only_on_request_and_adds_up(
    url: str, candor_server: Candor, page: Page
) -> None:
    other = builders.FILE | {"slug": "second", "title": "A second survey", "epsilon": 1}
    candor_server.open_survey(other)
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    receipt = respondent.send(page)
    assert page.evaluate(EVERYTHING)["local"] == []
    page.get_by_role("button", name="Your list of surveys").click()
    page.get_by_role("button", name="Start the list with this survey").click()
    expect(page.get_by_role("table")).to_be_visible()

    respondent.start(page, url.replace("residue", "second"))
    respondent.answer(page, 0, 0)
    respondent.send(page)
    page.get_by_role("button", name="Your list of surveys").click()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(4)
    assert "A small survey" in rows.nth(1).inner_text() and "5.00" in rows.nth(1).inner_text()
    assert "A second survey" in rows.nth(2).inner_text() and "4.00" in rows.nth(2).inner_text()
    assert "9.00" in rows.nth(3).inner_text()
    expect(
        page.get_by_text("would be right more than 99 times in 100")
    ).to_be_visible()  # e^9 / (1 + e^9)
    entries = respondent.kept(page)["candor.ledger"]
    assert [set(entry) for entry in entries] == [{"title", "day", "epsilon"}] * 2
    assert receipt not in json.dumps(entries)

    page.get_by_role("button", name="Remove: A small survey").click()
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.goto(url.replace("residue", "second"))
    page.get_by_role("button", name="Someone else").click()
    page.get_by_role("button", name="Your list of surveys").click()
    page.get_by_role("button", name="Delete the list").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert page.evaluate(EVERYTHING)["local"] == []
    expect(page.get_by_role("button", name="Your list of surveys")).to_have_count(0)


# --- A kiosk --------------------------------------------------------------------------------------


def test_a_kiosk_starts_again_after_sending(url: str, page: Page, candor_server: Candor) -> None:
    before = respondent.stored(candor_server, "residue")
    page.clock.install()
    page.goto(f"{url}?kiosk")
    for _ in range(2):
        page.get_by_role("button", name="Start").click()
        respondent.answer(page, 1, 1)
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        assert page.get_by_text("What was sent").count() == 0
        page.clock.fast_forward(16_000)
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        assert checked(page) == 0
        assert page.evaluate(EVERYTHING) == NOTHING
    page.get_by_role("button", name="Start").click()
    assert checked(page) == 0
    page.go_back()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert respondent.stored(candor_server, "residue") == before + 2


def test_a_kiosk_forgets_a_person_who_walks_away(url: str, page: Page) -> None:
    page.clock.install()
    page.goto(f"{url}?kiosk")
    page.get_by_label("Language").select_option("de")
    page.get_by_role("button", name="Beginnen").click()
    page.get_by_role("radio").nth(1).check(force=True)
    page.clock.fast_forward(41_000)
    expect(page.get_by_role("dialog")).to_contain_text("20 Sekunden")
    page.keyboard.press("Space")  # any input
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    page.clock.fast_forward(41_000)
    expect(page.get_by_role("dialog")).to_be_visible()
    page.clock.fast_forward(20_000)
    expect(page.get_by_role("button", name="Start")).to_be_visible()  # in the device's language
    assert page.evaluate(EVERYTHING) == NOTHING
    page.get_by_role("button", name="Start").click()
    assert checked(page) == 0


def test_a_kiosk_forgets_also_without_a_pointer_or_a_key(url: str, page: Page) -> None:
    """Assistive technology taps without a pointer or key."""
    page.clock.install()
    page.goto(f"{url}?kiosk")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.evaluate("document.querySelector('.primary').click()")
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    page.clock.fast_forward(61_000)
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_a_kiosk_forgets_when_its_screen_goes_dark(url: str, page: Page) -> None:
    page.goto(f"{url}?kiosk")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("radio").nth(1).check(force=True)
    page.evaluate("""() => {
      Object.defineProperty(document, "hidden", {value: true});
      document.dispatchEvent(new Event("visibilitychange", {bubbles: true}));
    }""")
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_a_kiosk_does_not_forget_a_person_who_is_active(url: str, page: Page) -> None:
    page.clock.install()
    page.goto(f"{url}?kiosk")
    page.get_by_role("button", name="Start").click()
    for _ in range(3):
        page.clock.fast_forward(39_000)
        page.keyboard.press("Tab")
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    assert page.get_by_role("dialog").count() == 0


def test_a_kiosk_without_network_collects_and_sends_later(
    url: str, page: Page, context: BrowserContext, candor_server: Candor
) -> None:
    before = respondent.stored(candor_server, "residue")
    page.goto(f"{url}?kiosk")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    context.set_offline(True)
    for position in (0, 1):
        page.get_by_role("button", name="Start").click()
        respondent.answer(page, position, position)
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="is on its way")).to_be_visible()
        page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    waiting = respondent.kept(page)["candor.waiting"]
    assert len({report["id"] for report in waiting}) == 2
    context.set_offline(False)
    wait_until(lambda: not respondent.kept(page), 60, "the waiting reports to go")
    assert respondent.stored(candor_server, "residue") == before + 2
