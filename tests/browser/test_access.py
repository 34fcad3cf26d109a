"""People, tokens, public results and the page of the API, in a real browser."""

import json
import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from operations.demo import CLOSED, DRAFT, OPEN
from tests.support.pages import SLUG, log_in, looked_at_everywhere, no_violations
from tests.support.services import Candor

pytestmark = pytest.mark.browser

PEOPLE, RESULTS = f"/surveys/{SLUG}/people/", f"/results/{SLUG}/"


@pytest.fixture(autouse=True)
def quiet_console(page: Page, page_problems: list[str]) -> None:
    """Fail on console errors, except for refused forms."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "status of 400" not in message.text:
            page_problems.append(message.text)

    page.on("console", on_console)


@pytest.fixture
def site(candor_server: Candor) -> str:
    candor_server.load_demo()
    return candor_server.url


def test_an_owner_gives_and_takes_away_a_role(site: str, page: Page, candor_server: Candor) -> None:
    candor_server.manage("api_token", "dora", "--create")
    log_in(page, f"{site}/surveys/{SLUG}/", "admin")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="People and publication").click()
    expect(page.get_by_label("Role of viewer")).to_have_value("viewer")

    page.get_by_label("Account name").fill("nobody-here")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no account with that name.")
    expect(page.get_by_label("Account name")).to_have_value("nobody-here")
    looked_at_everywhere(page)

    # By keyboard only.
    page.get_by_label("Account name").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("dora")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Role", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")  # from viewer to researcher
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Role of dora")).to_have_value("researcher")
    looked_at_everywhere(page)

    row = page.get_by_role("listitem").filter(has_text="dora")
    row.get_by_role("combobox").select_option("Viewer")
    row.get_by_role("button", name="Change").click()
    expect(page.get_by_label("Role of dora")).to_have_value("viewer")
    row.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)

    own = page.get_by_role("listitem").filter(has_text="(you)")
    own.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("alert")).to_contain_text("admin is the last owner.")


def test_results_are_made_public_and_private_again(
    site: str, page: Page, new_context: Callable[..., BrowserContext]
) -> None:
    stranger = new_context().new_page()
    stranger.goto(site + RESULTS)
    expect(stranger.get_by_role("heading", level=1)).to_have_text("No results are public here")
    no_violations(stranger)

    log_in(page, site + PEOPLE, "admin")
    page.get_by_role("button", name="Make the results public").click()
    expect(page.get_by_role("heading", name="Public results")).to_contain_text("On")
    looked_at_everywhere(page)

    stranger.reload()
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Wellbeing at work")
    expect(stranger.locator("section.question")).to_have_count(10)
    looked_at_everywhere(stranger)
    stranger.emulate_media(media="print")
    assert stranger.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(stranger.locator("header.site")).to_be_hidden()
    expect(stranger.get_by_role("heading", name="How answers are protected")).to_be_visible()
    stranger.emulate_media(media="screen")
    by = stranger.get_by_role("navigation", name="Results by group").get_by_role("link").nth(1)
    by.focus()
    stranger.keyboard.press("Enter")
    stranger.get_by_text("For researchers").click()
    grouped = stranger.locator("th", has_text="What do you work as?")
    expect(stranger.locator("section.question", has=grouped)).to_have_count(9)
    looked_at_everywhere(stranger)
    with stranger.expect_download() as download:
        stranger.get_by_role("link", name="Estimates as CSV").click()
    assert b"harassed" in download.value.path().read_bytes()
    assert stranger.context.cookies() == []

    page.get_by_role("button", name="Turn off public results").click()
    expect(page.get_by_role("heading", name="Public results")).to_contain_text("Off")
    fresh = new_context().new_page()  # without a copy of the last minute
    fresh.goto(site + RESULTS)
    expect(fresh.get_by_role("heading", level=1)).to_have_text("No results are public here")


def test_without_script_everything_but_copying_works(
    site: str, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    log_in(page, f"{site}/account/tokens/", "viewer")
    page.get_by_label("What is it for?").fill("no script")
    page.get_by_role("button", name="Create a token").click()
    expect(page.get_by_role("button", name="Copy the token")).to_be_hidden()
    assert len(page.locator("#token").inner_text()) == 43


def test_a_token_is_made_copied_used_and_revoked(
    site: str, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
    log_in(page, f"{site}/surveys/", "researcher")
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="See your tokens").click()
    looked_at_everywhere(page)
    page.get_by_label("What is it for?").focus()
    page.keyboard.type("my notebook")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    looked_at_everywhere(page)
    page.get_by_role("button", name="Copy the token").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    token = page.evaluate("navigator.clipboard.readText()")
    request = urllib.request.Request(
        f"{site}/api/v1/surveys/", headers={"Authorization": f"Token {token}"}
    )
    with urllib.request.urlopen(request) as response:
        assert {survey["slug"] for survey in json.load(response)} == {OPEN, CLOSED, DRAFT}

    page.goto(f"{site}/account/tokens/")
    expect(page.locator("#token")).to_have_count(0)
    row = page.get_by_role("listitem").filter(has_text="my notebook")
    expect(row).to_contain_text("last used")
    row.get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request)


def test_a_viewer_reads_and_is_offered_no_more(site: str, page: Page) -> None:
    log_in(page, f"{site}/surveys/{SLUG}/", "viewer")
    expect(page.locator("section.question")).to_have_count(10)
    expect(page.get_by_role("button", name="Release now")).to_have_count(0)
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("link", name="Public design")).to_be_visible()
    expect(page.get_by_role("link", name="People and publication")).to_have_count(0)
    looked_at_everywhere(page)
    page.get_by_role("link", name="Files").click()
    expect(page.get_by_role("link", name="Estimates as CSV")).to_be_visible()
    expect(page.get_by_role("link", name="Everything as Zip")).to_have_count(0)


def test_the_page_of_the_api_lists_every_operation(site: str, page: Page) -> None:
    with urllib.request.urlopen(f"{site}/api/schema/?format=json") as response:
        paths = json.load(response)["paths"]
    page.goto(f"{site}/api/docs/")
    shown = page.locator(".opblock")
    operations = sorted(f"{method.upper()} {path}" for path in paths for method in paths[path])
    expect(shown).to_have_count(len(operations))
    found = [
        f"{one.locator('.opblock-summary-method').inner_text()} "
        f"{one.locator('.opblock-summary-path').get_attribute('data-path')}"
        for one in shown.all()
    ]
    assert sorted(found) == operations


def test_an_owner_reads_and_downloads_the_log(site: str, page: Page) -> None:
    log_in(page, f"{site}{PEOPLE}", "admin")
    page.get_by_role("navigation", name="More").get_by_role("link", name="Log").click()
    expect(page.get_by_text("The system: survey opened")).to_be_visible()
    looked_at_everywhere(page)
    for name in ("CSV", "JSON lines"):
        with page.expect_download() as taken:
            page.get_by_role("link", name=name).click()
        assert "survey opened" in taken.value.path().read_text()
    page.reload()
    expect(page.get_by_text("admin: log downloaded")).to_have_count(2)
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_text("admin: logged in").first).to_be_visible()
    looked_at_everywhere(page)
