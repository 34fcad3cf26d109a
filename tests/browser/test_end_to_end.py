"""From a tap in a real browser, through a real worker, to an estimate that changes."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support import respondent
from tests.support.marks import SERVERS
from tests.support.pages import SLUG, VIEWPORTS, log_in, looked_at
from tests.support.services import Candor

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "candor_server",
    [pytest.param("embedded", marks=pytest.mark.smoke), pytest.param("production", marks=SERVERS)],
    indirect=True,
)
def test_a_person_answers_and_the_estimate_changes(
    candor_server: Candor, context: BrowserContext
) -> None:
    candor_server.load_demo()
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    respondent.start(page, f"{candor_server.url}/s/{SLUG}/")
    asked = 0
    while not page.get_by_role("button", name="Skip").count():
        respondent.answer_one(page, 1)
        asked += 1
    assert asked in (1, 2, 3)
    respondent.answer(page)
    receipt = respondent.send(page)
    assert not context.cookies()

    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    expect(page.locator("#waiting")).to_have_text("20 or more")
    counted = int(page.locator("#counted").inner_text().replace(",", ""))  # at least 5,000
    number = int(page.locator("#release").inner_text().split()[0])
    page.get_by_role("button", name="Release now").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing new to release yet")

    candor_server.manage(
        "simulate", SLUG, "--people", "400", "--seed", "1", "--truth", "harassed=0.9"
    )
    page.reload()
    before = page.locator("section.question").first.inner_text()
    page.get_by_role("button", name="Release now").click()
    expect(page.locator("#counted")).to_have_text(f"{counted + 401:,}")  # automatically
    expect(page.locator("#waiting")).to_have_text("20 or more")
    expect(page.locator("#job-status")).to_contain_text(
        f"Release {number + 1} is out, with 401 new reports"
    )
    assert page.locator("section.question").first.inner_text() != before

    # An automatic release appears as well.
    candor_server.manage("simulate", SLUG, "--people", "30", "--seed", "1")
    make = (
        "from aggregation.releases.publish import make_release; "
        f"make_release(Survey.objects.get(slug='{SLUG}'))"
    )
    candor_server.manage("shell", "-v0", "-c", make)
    expect(page.locator("#counted")).to_have_text(f"{counted + 431:,}")

    listed = candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.models import Report; "
        f"print(Report.objects.get(pk='{receipt}').content)",
    )  # fmt: skip
    assert listed.strip() == "None"  # the id stays, the content has gone into a batch


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_researchers_pages_are_accessible(
    candor_server: Candor, page: Page, viewport: tuple[int, int]
) -> None:
    candor_server.load_demo()
    page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    page.goto(f"{candor_server.url}/login/")
    looked_at(page)
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    looked_at(page)
    page.get_by_role("navigation", name="Groups").get_by_role("link").last.click()
    expect(page.locator("table.estimates").first).to_contain_text("Everybody")
    looked_at(page)
    for path in (f"{SLUG}/releases/1/", "", "nowhere/"):
        page.goto(f"{candor_server.url}/surveys/{path}")
        looked_at(page)


def test_the_api_page_works_offline_under_its_policy(candor_server: Candor, page: Page) -> None:
    outside: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith(candor_server.url)
        or request.url.startswith("data:") else outside.append(request.url),
    )  # fmt: skip
    page.goto(f"{candor_server.url}/api/docs/")
    expect(page.get_by_text("/api/v1/surveys/{slug}/reports/batch/")).to_be_visible()
    page.get_by_text("/api/v1/surveys/{slug}/estimates/").click()
    expect(page.get_by_text("Responses", exact=True)).to_be_visible()
    assert outside == []
