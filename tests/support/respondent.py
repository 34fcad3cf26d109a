"""A person on the respondent's page, who finds elements by role and name."""

import json
import sqlite3
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.support.services import Candor


def start(page: Page, url: str) -> None:
    """Open the survey and start, as another person if this tab has already answered."""
    page.goto(url)
    begin = page.get_by_role("button", name="Start", exact=True)
    another = page.get_by_role("button", name="Someone else wants to answer")
    expect(begin.or_(another)).to_be_visible()
    if another.count():
        another.click()
    begin.click()


def answer_one(page: Page, position: int) -> None:
    """Choose the option at this position, or 1 if the question asks for a number."""
    page.locator(".asking").wait_for()
    options = page.get_by_role("radio").or_(page.get_by_role("checkbox"))
    if options.count():
        options.nth(position).check(force=True)
    else:
        page.locator(".number input").fill("1")
    next_screen(page)


def next_screen(page: Page) -> None:
    """Go to the next screen and wait for it, because the page ignores double taps."""
    before = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)


def answer(page: Page, *positions: int) -> None:
    """Choose these options in order, and the last option of every further question.

    For a background question the last option is “Prefer not to say”.
    """
    for position in positions:
        answer_one(page, position)
    while page.get_by_role("button", name="Next").count():
        answer_one(page, -1)


def send(page: Page) -> str:
    """Send, and return the receipt."""
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    return page.locator(".receipt code").text_content() or ""  # folded away


def posts(source: Page | BrowserContext) -> list[bytes]:
    """Collect the bodies of the reports that are sent from now on."""
    bodies: list[bytes] = []

    def note(request: Any) -> None:
        if request.method == "POST":
            bodies.append(request.post_data_buffer)

    source.on("request", note)
    return bodies


def stored(candor: Candor, slug: str) -> int:
    """Count the reports of this survey in an embedded installation."""
    with sqlite3.connect(f"file:{candor.var / 'candor.sqlite3'}?mode=ro", uri=True) as database:
        row = database.execute(
            "SELECT count(*) FROM survey_report r JOIN survey_survey s ON s.id = r.survey_id"
            " WHERE s.slug = ?",
            [slug],
        ).fetchone()
    return int(row[0])


def kept(page: Page) -> dict[str, Any]:
    """Return everything that the page has stored in this browser."""
    stores = page.evaluate("[{...localStorage}, {...sessionStorage}]")
    return {name: json.loads(value) for store in stores for name, value in store.items()}
