"""What a person does on the respondent's page, by the roles and names that anyone perceives."""

from playwright.sync_api import Page, expect


def start(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="Start").click()


def answer_one(page: Page, position: int) -> None:
    page.get_by_role("radio").nth(position).check(force=True)
    next_screen(page)


def next_screen(page: Page) -> None:
    """Go on, and wait for what comes: the page ignores the second half of a double tap."""
    before = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)


def answer(page: Page, *positions: int) -> None:
    """Choose these options, one question after the other, and leave the strata alone."""
    for position in positions:
        answer_one(page, position)
    while page.get_by_role("button", name="Next").count():
        next_screen(page)


def send(page: Page) -> str:
    """Send, and return the receipt."""
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    return page.get_by_label("Receipt").inner_text()
