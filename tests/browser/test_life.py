"""A survey from its draft to its end, in a real browser: preview, checklist, opening, deletion."""

import json
import sqlite3
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support import builders
from tests.support.pages import VIEWPORTS, log_in, looked_at_everywhere, no_violations
from tests.support.respondent import answer, send, start, stored
from tests.support.services import Candor, wait_until

pytestmark = pytest.mark.browser
TEST = "Test. Nothing that you answer here is kept."
NewContext = Callable[..., BrowserContext]


def rows(candor: Candor, statement: str) -> int:
    """Count rows in the database of an embedded installation."""
    with sqlite3.connect(f"file:{candor.var / 'candor.sqlite3'}?mode=ro", uri=True) as database:
        return int(database.execute(statement).fetchone()[0])


def on_phone(new_context: NewContext, **more: object) -> Page:
    width, height = VIEWPORTS["phone"]
    return new_context(viewport={"width": width, "height": height}, **more).new_page()


def test_a_survey_can_be_taken_from_draft_to_deletion(
    candor_server: Candor, page: Page, new_context: NewContext
) -> None:
    candor_server.load_demo()
    for changes in ({"slug": "unready", "contact": ""}, {"slug": "life", "title": "A whole life"}):
        text = json.dumps(builders.FILE | builders.READY | changes)
        candor_server.manage("import_survey", "-", "--owner", "admin", stdin=text)
    site = candor_server.url

    # What prevents opening is listed, with a link to fix it.
    log_in(page, f"{site}/studio/unready/open/", "admin")
    expect(page.get_by_text("1 thing must be fixed first.")).to_be_visible()
    looked_at_everywhere(page)
    page.get_by_role("link", name="Fix it: No contact is given").click()
    contact = page.get_by_label("How people reach you with questions")
    expect(contact).to_be_focused()
    contact.fill("olga@example.org")
    page.get_by_role("link", name="Check and open").first.click()
    expect(page.get_by_role("heading", name="Checklist")).to_be_visible()
    expect(page.get_by_text("Nothing prevents opening.")).to_be_visible()

    # A colleague tries the whole survey on a phone without an account; nothing is stored.
    page.goto(f"{site}/studio/life/open/")
    expect(page.get_by_text("Nothing prevents opening.")).to_be_visible()
    link = page.locator("#preview-address").inner_text()
    before = [rows(candor_server, f"SELECT count(*) FROM {table}")
              for table in ("survey_report", "aggregation_job")]  # fmt: skip
    colleague = on_phone(new_context)
    colleague.goto(link)
    expect(colleague.get_by_text(TEST)).to_be_visible()
    expect(colleague.get_by_text("Olga’s office")).to_be_visible()
    no_violations(colleague)
    start(colleague, link)
    expect(colleague.get_by_text(TEST)).to_be_visible()
    answer(colleague, 1, 2)
    expect(colleague.get_by_text(TEST)).to_be_visible()
    assert send(colleague)
    expect(colleague.get_by_text(TEST)).to_be_visible()
    assert colleague.context.cookies() == []
    after = [rows(candor_server, f"SELECT count(*) FROM {table}")
             for table in ("survey_report", "aggregation_job")]  # fmt: skip
    assert after == before and stored(candor_server, "life") == 0

    # Opened: the address, its code, the fingerprint, and a page of the design for anyone.
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Open now").click()
    expect(page.get_by_role("heading", name="This survey is open")).to_be_visible()
    expect(page.get_by_role("img", name="QR code of the address")).to_be_visible()
    looked_at_everywhere(page)
    clock = page.context.new_cdp_session(page)
    clock.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
    page.reload()
    expect(page.get_by_label("Close at this time in UTC.")).to_be_visible()
    expect(page.locator("label", has_text="It is now")).to_contain_text("for you")
    plain = on_phone(new_context, java_script_enabled=False)
    plain.goto(f"{site}/designs/life/")
    expect(plain.get_by_text("90 days after it closes")).to_be_visible()
    expect(plain.get_by_role("link", name="Download the design")).to_be_visible()
    page.goto(f"{site}/designs/life/")
    looked_at_everywhere(page)
    colleague.goto(link)  # the preview is over
    colleague.get_by_role("button", name="Someone else wants to answer").click()
    expect(colleague.get_by_role("heading", name="There is no survey here")).to_be_visible()
    colleague.goto(f"{site}/s/life/")
    colleague.get_by_role("button", name="Contact and deletion").click()
    expect(colleague.get_by_text(TEST)).to_have_count(0)
    expect(colleague.get_by_text("90 days after the survey closes")).to_be_visible()
    colleague.get_by_role("button", name="Back").click()
    colleague.get_by_role("button", name="Check this page").click()
    design = colleague.get_by_role("link", name="Read the whole design")
    expect(design).to_have_attribute("href", "/designs/life/")

    # Closed, archived, unarchived, and deleted.
    page.goto(f"{site}/studio/life/open/")
    close = page.get_by_role("button", name="Close now")
    expect(close).to_be_hidden()
    page.get_by_text("Close it now").click()
    page.get_by_label("Type life to confirm").fill("open")
    close.click()
    expect(page.get_by_role("alert")).to_contain_text("It was not closed.")
    colours = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
    assert len(set(close.evaluate(colours))) == 2  # in another origin it would not count
    looked_at_everywhere(page)
    page.get_by_label("Type life to confirm").fill("life")
    close.click()
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    no_violations(page)
    page.get_by_role("link", name="Surveys", exact=True).click()
    expect(page.get_by_role("link", name="A whole life")).to_have_count(0)
    page.get_by_role("link", name="archived survey").click()
    page.get_by_role("link", name="A whole life").click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Archive or delete").click()
    page.get_by_text("Delete this survey").click()
    page.get_by_label("Type life to confirm").fill("lif")
    page.get_by_role("button", name="Delete the survey").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted.")
    page.get_by_label("Type life to confirm").fill("life")
    page.get_by_role("button", name="Delete the survey").click()
    expect(page.get_by_role("heading", name="Your surveys")).to_be_visible()
    left = "SELECT count(*) FROM survey_survey WHERE slug = 'life'"
    wait_until(lambda: rows(candor_server, left) == 0, 60, "the survey to be deleted")
    assert rows(candor_server, "SELECT count(*) FROM survey_removed WHERE slug = 'life'") == 1
