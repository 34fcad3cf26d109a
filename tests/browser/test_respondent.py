"""The respondent's page in Chromium: its promises, its errors, its ways of use."""

import json
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests import builders
from tests.browser import respondent
from tests.services import Candor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def survey_url(candor_server: Candor) -> str:
    """An open survey of two questions and a stratum."""
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(builders.FILE))
    return f"{candor_server.url}/s/small/"


def posts(page: Page) -> list[bytes]:
    """The bodies of the reports that the page sends from now on."""
    bodies: list[bytes] = []

    def note(request: Any) -> None:
        if request.method == "POST":
            bodies.append(request.post_data_buffer)

    page.on("request", note)
    return bodies


def count(candor: Candor) -> int:
    out = candor.manage(
        "shell", "-v0", "-c",
        "from survey.models import Survey; print(Survey.objects.get(slug='small').reports.count())",
    )  # fmt: skip
    return int(out)


def test_every_screen_is_accessible_at_every_size(survey_url: str, page: Page) -> None:
    def check() -> None:
        for size in ((320, 640), (1280, 800)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
                found = Axe().run(page)
                assert found.violations_count == 0, found.generate_report()
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.goto(survey_url)
    expect(page.get_by_role("heading", name="A small survey")).to_be_visible()
    check()
    page.get_by_role("button", name="Start").click()
    check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("alert")).to_contain_text("Please choose")
    check()
    respondent.answer(page, 1, 2)
    expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
    check()
    respondent.send(page)
    check()


def test_the_odds_come_from_the_design(survey_url: str, page: Page) -> None:
    page.goto(survey_url)
    # ε = 2 in all: e^2 / (1 + e^2) = 0.88
    expect(page.get_by_text("at most about 88 in 100 sure").first).to_be_visible()
    expect(page.get_by_role("img", name="88 in 100")).to_be_visible()


def test_a_whole_run_by_keyboard(survey_url: str, page: Page, candor_server: Candor) -> None:
    before = count(candor_server)
    page.goto(survey_url)

    def tab_to(name: str) -> None:
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == name:
                return
        raise AssertionError(f"{name} cannot be reached with Tab")

    expect(page.get_by_role("button", name="Start")).to_be_visible()
    tab_to("Start")
    page.keyboard.press("Enter")
    for title, moves in (("Did you?", 1), ("Which?", 2)):
        heading = page.get_by_role("heading", name=title)
        expect(heading).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        for _ in range(moves):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How old")).to_be_focused()
    tab_to("Next")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Check and send")).to_be_focused()
    review = page.get_by_role("main").inner_text()
    assert "Yes" in review and "Blue" in review and "Not given" in review
    tab_to("Send")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
    assert count(candor_server) == before + 1


def test_back_loses_nothing_and_the_address_never_changes(survey_url: str, page: Page) -> None:
    respondent.start(page, survey_url)
    respondent.answer_one(page, 1)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    assert page.url == survey_url
    respondent.answer(page, 1, 0)
    assert page.url == survey_url


def test_the_body_has_one_length_and_only_the_allowed_keys(survey_url: str, page: Page) -> None:
    bodies = posts(page)
    for first, second in ((0, 0), (1, 3)):
        respondent.start(page, survey_url)
        respondent.answer(page, first, second)
        respondent.send(page)
    assert len(bodies) == 2 and len({len(body) for body in bodies}) == 1
    for body in bodies:
        assert json.loads(body).keys() == {"id", "design", "blocks", "strata"}
    page.get_by_text("See what was sent").click()
    shown = page.locator("pre").text_content()
    assert shown is not None and shown.encode() == bodies[-1]


def test_a_lost_connection_sends_the_same_bytes_again(
    survey_url: str, page: Page, candor_server: Candor
) -> None:
    before = count(candor_server)
    bodies = posts(page)
    lost = iter(["before", "after", "none"])

    def lose(route: Route) -> None:
        match next(lost):
            case "before":
                route.abort()
            case "after":  # stored, but the answer is lost
                route.fetch()
                route.abort()
            case _:
                route.continue_()

    page.route("**/reports/", lose)
    respondent.start(page, survey_url)
    respondent.answer(page, 0, 1)
    page.get_by_role("button", name="Send").click()
    for _ in range(2):
        again = page.get_by_role("button", name="Try again")
        expect(again).to_be_visible()
        again.click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(bodies) == 3 and len(set(bodies)) == 1
    assert count(candor_server) == before + 1


def test_a_double_click_sends_once(survey_url: str, page: Page) -> None:
    bodies = posts(page)
    respondent.start(page, survey_url)
    respondent.answer(page, 0, 1)
    page.get_by_role("button", name="Send").dblclick()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(bodies) == 1


def test_without_a_secure_generator_nothing_is_sent(survey_url: str, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script("Object.defineProperty(globalThis, 'crypto', {value: undefined})")
    page.goto(survey_url)
    expect(page.get_by_role("heading", name="cannot protect your answers")).to_be_visible()
    assert not [url for url in requests if "/api/" in url]


def test_without_javascript_it_says_so(survey_url: str, new_context: Any) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(survey_url)
    expect(page.get_by_role("heading", name="needs JavaScript")).to_be_visible()
    assert "nothing was sent" in page.inner_text("main")


def test_an_unknown_survey_and_a_closed_one_have_their_own_words(
    candor_server: Candor, survey_url: str, page: Page
) -> None:
    page.goto(survey_url.replace("small", "nowhere"))
    expect(page.get_by_role("heading", name="There is no survey here")).to_be_visible()
    closed = builders.FILE | {"slug": "closed"}
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(closed))
    respondent.start(page, survey_url.replace("small", "closed"))
    respondent.answer(page, 0, 0)
    candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.models import Survey; Survey.objects.get(slug='closed').close()",
    )  # fmt: skip
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="has just closed")).to_be_visible()
    page.goto(survey_url.replace("small", "closed"))
    expect(page.get_by_role("heading", name="This survey is closed")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "could not be used"), (409, "could not be stored"), (413, "did not accept"),
     (415, "did not accept"), (429, "has not arrived yet"), (503, "has not arrived yet")],
)  # fmt: skip
def test_every_refusal_has_its_words(survey_url: str, page: Page, status: int, words: str) -> None:
    page.route(
        "**/reports/",
        lambda route: route.fulfill(status=status, json={"errors": {"x": ["y"]}}),
    )
    respondent.start(page, survey_url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name=words)).to_be_visible()
