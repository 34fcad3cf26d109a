"""From an empty site to an answer and a team: setup, studio, invitations, sessions."""

import base64
import csv
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from people import totp
from tests.support import respondent
from tests.support.pages import looked_at_everywhere
from tests.support.services import Candor

pytestmark = pytest.mark.browser

PASSWORD = "seven quiet herons"


@pytest.fixture
def empty_site() -> Iterator[Candor]:
    """Yield a newly installed site without demo data and TLS."""
    strict = {"CANDOR_CHECKLIST": "1", "CANDOR_MAX_EPSILON": "4"}
    with Candor(CANDOR_DEMO="0", CANDOR_SSL_REDIRECT="0", **strict) as candor:
        yield candor


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def fill(page: Page, **fields: str) -> None:
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(text)


def log_in(page: Page, name: str) -> None:
    fill(page, Name=name, Password=PASSWORD)
    press(page, "Log in")


def wrong_code(secret: bytes) -> str:
    now = totp.step_at(time.time())
    right = {totp.code(secret, step) for step in range(now - 5, now + 20)}
    return next(code for code in ("000000", "111111", "222222") if code not in right)


def set_up_factor(page: Page) -> tuple[bytes, list[str]]:
    """Set up a second factor; return its secret and the recovery codes."""
    page.get_by_text("No camera?").click()
    text = page.get_by_label("Secret of the app").inner_text()
    secret = base64.b32decode(text + "=" * (-len(text) % 8))
    page.get_by_role("textbox", name="Code").fill(wrong_code(secret))
    press(page, "Turn on the second factor")
    expect(page.get_by_text("That code is wrong.")).to_be_visible()
    looked_at_everywhere(page)
    page.get_by_role("textbox", name="Code").fill(totp.code(secret, totp.step_at(time.time())))
    press(page, "Turn on the second factor")
    codes = page.get_by_label("The codes", exact=True).inner_text().split()
    return secret, codes


def test_an_empty_site_can_be_set_up_with_a_team(
    empty_site: Candor, new_context: Callable[..., BrowserContext]
) -> None:
    url = empty_site.url
    page = new_context().new_page()

    # The first account: with the code that the server wrote, and a second factor at once.
    page.goto(f"{url}/")
    expect(page).to_have_url(f"{url}/setup/")
    looked_at_everywhere(page)
    page.get_by_label("Set-up code").fill("guess")
    fill(page, Name="olga", Password=PASSWORD, Password_again=PASSWORD)
    press(page, "Create the account")
    expect(page.get_by_text("That code is wrong.")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("olga")
    looked_at_everywhere(page)
    code = empty_site.log.read_text().split("enter this code")[1].split()[4]
    page.get_by_label("Set-up code").fill(code)
    fill(page, Password=PASSWORD, Password_again=PASSWORD)
    press(page, "Create the account")
    expect(page).to_have_url(f"{url}/account/factor/")
    looked_at_everywhere(page)
    secret, codes = set_up_factor(page)
    assert len(codes) == 10
    looked_at_everywhere(page)
    page.get_by_role("link", name="I have saved them").click()
    expect(page).to_have_url(f"{url}/surveys/")

    # A survey by invitation, from a topic; the checklist lists what is missing.
    page.get_by_role("link", name="New survey").click()
    looked_at_everywhere(page)
    page.locator("li.card", has_text="Harassment at work").get_by_role("button").click()
    fill(page, **{"Who asks": "The works council", "People you hope to reach": "1200"})
    page.get_by_label("Invited people").check()
    page.get_by_role("link", name="Check and open").first.click()
    expect(page.get_by_role("button", name="Open now")).to_be_disabled()
    page.get_by_role("link", name="Fix it: No contact is given").click()
    fill(page, How_people_reach_you_with_questions="council@example.org")
    page.get_by_role("link", name="Check and open").first.click()
    page.get_by_label("I have read the checklist").first.check()
    press(page, "Open now")
    expect(page.get_by_role("heading", name="This survey is open")).to_be_visible()
    looked_at_everywhere(page)
    page.get_by_role("link", name="Create invitations").click()
    survey = page.url.removesuffix("invitations/")
    fill(page, How_many="3")
    with page.expect_download() as download:
        press(page, "Download as CSV")
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    links = [line["link"] for line in csv.DictReader(lines)]

    # Someone with one of its links answers on a phone.
    phone = new_context(viewport={"width": 360, "height": 740}).new_page()
    respondent.start(phone, links[0])
    expect(phone.get_by_role("button", name="Next")).to_be_visible()
    while phone.get_by_role("button", name="Next").count():
        respondent.answer_one(phone, 0)
    respondent.send(phone)
    page.goto(survey)
    expect(page.locator("#waiting")).to_have_text("fewer than 20")
    looked_at_everywhere(page)

    # Log out and in again in two steps; then in another browser, without the phone.
    press(page, "Log out")
    log_in(page, "olga")
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your code")
    page.get_by_label("Code").fill(wrong_code(secret))
    press(page, "Log in")
    expect(page.get_by_text("That code is wrong")).to_be_visible()
    looked_at_everywhere(page)
    page.get_by_label("Code").fill(totp.code(secret, totp.step_at(time.time()) + 1))
    press(page, "Log in")
    expect(page).to_have_url(f"{url}/surveys/")
    second = new_context().new_page()
    second.goto(f"{url}/admin/")  # it asks for both as well
    log_in(second, "olga")
    second.get_by_label("Code").fill(codes[0].upper())
    press(second, "Log in")
    expect(second).to_have_url(f"{url}/admin/")

    # Sessions.
    page.get_by_role("link", name="Account").click()
    looked_at_everywhere(page)
    page.get_by_role("link", name="See your sessions").click()
    expect(page.get_by_role("listitem").filter(has_text="Chrome on")).to_have_count(2)
    looked_at_everywhere(page)
    press(page, "End all others")
    expect(page.get_by_text("You have no other sessions.")).to_be_visible()
    second.reload()
    expect(second.get_by_role("heading", level=1)).to_have_text("Log in")
    page.goto(f"{url}/account/factor/")
    expect(page.get_by_text("9 of 10 are left.")).to_be_visible()
    page.goto(f"{url}/account/password/")
    looked_at_everywhere(page)

    # A team with a survey, and an invitation.
    page.get_by_role("link", name="Teams").click()
    looked_at_everywhere(page)
    fill(page, Name="Night shift")
    press(page, "Create a team")
    expect(page.get_by_role("heading", level=1)).to_have_text("Night shift")
    team = page.url
    page.get_by_label("Invite as").select_option("Researcher")
    press(page, "Create an invitation")
    link = page.get_by_label("Link", exact=True).inner_text()
    looked_at_everywhere(page)
    page.goto(f"{survey}people/")
    page.get_by_role("combobox", name="Team").select_option("Night shift")
    press(page, "Save the team")
    expect(page.get_by_role("link", name="Night shift")).to_be_visible()
    looked_at_everywhere(page)

    # A colleague without an account.
    guest = new_context().new_page()
    guest.goto(link)
    expect(guest.get_by_text("Night shift")).to_be_visible()
    looked_at_everywhere(guest)
    fill(guest, Name="nina", Password="short", Password_again="short")
    press(guest, "Create the account and accept")
    expect(guest.get_by_text("This password is too short.")).to_be_visible()
    looked_at_everywhere(guest)
    fill(guest, Password=PASSWORD, Password_again=PASSWORD)
    press(guest, "Create the account and accept")
    expect(guest).to_have_url(team)
    looked_at_everywhere(guest)
    guest.get_by_role("link", name="Harassment at work").click()
    expect(guest.get_by_role("button", name="Release now")).to_be_visible()
    expect(guest.get_by_role("link", name="People and publication")).to_have_count(0)
    late = new_context().new_page()
    late.goto(link)
    expect(late.get_by_role("heading", level=1)).to_have_text("This invitation no longer works")
    looked_at_everywhere(late)

    # Deleting an account; the last owner sees what stands in the way.
    guest.goto(f"{url}/account/delete/")
    looked_at_everywhere(guest)
    guest.get_by_label("Password").fill(PASSWORD)
    press(guest, "Delete the account nina")
    expect(guest.get_by_role("heading", level=1)).to_have_text("Your account is deleted")
    looked_at_everywhere(guest)
    page.goto(f"{url}/account/delete/")
    expect(page.get_by_role("alert")).to_contain_text("Harassment at work")
    expect(page.get_by_role("alert")).to_contain_text("the team Night shift")
    looked_at_everywhere(page)
