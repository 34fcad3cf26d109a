"""The respondent's page in Chromium."""

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from survey.respondent import shell
from survey.words import CATALOGUES
from tests.support import builders, respondent
from tests.support.demo import demo_file
from tests.support.pages import await_in
from tests.support.services import Candor

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def survey_url(candor_server: Candor) -> str:
    """Return the address of an open survey of two questions and a background question."""
    candor_server.open_survey(builders.FILE)
    return f"{candor_server.url}/s/small/"


def test_the_odds_come_from_the_design(survey_url: str, page: Page) -> None:
    page.goto(survey_url)
    # ε = 2 in all: e^2 / (1 + e^2) = 0.88
    page.get_by_role("button", name="How sure could someone be? 88 in 100").click()
    expect(page.get_by_text("at most 88 times in 100")).to_be_visible()
    expect(page.get_by_text("88 send yes, 12 send no")).to_be_visible()
    assert page.url == survey_url
    page.go_back()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_a_reload_asks_the_same_questions_and_keeps_no_answer(
    candor_server: Candor, page: Page
) -> None:
    url = candor_server.open_survey(demo_file("reloaded"))
    title = page.get_by_role("heading", level=1)
    seen = []
    for _ in range(4):
        respondent.start(page, url)
        asked = []
        while page.get_by_role("button", name="Next").count():
            asked.append(title.inner_text())
            assert page.locator("input:checked").count() == 0
            respondent.answer_one(page, 0)
        seen.append(asked)
        page.reload()
        expect(page.get_by_text("This page was reloaded. Answers are never kept")).to_be_visible()
    assert len(seen[0]) >= 3 and all(asked == seen[0] for asked in seen)
    kept = respondent.kept(page)
    assert kept.keys() == {"candor.drawn"}
    assert [set(one) for one in kept["candor.drawn"]] == [{"slug", "design", "numbers"}]


def test_back_loses_nothing_and_the_address_never_changes(survey_url: str, page: Page) -> None:
    respondent.start(page, survey_url)
    respondent.answer_one(page, 1)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    assert page.url == survey_url
    respondent.answer(page, 1, 0)
    assert page.url == survey_url


def test_the_forward_button_skips_no_question(survey_url: str, page: Page) -> None:
    """History entries of an earlier visit are not places of this one."""
    respondent.start(page, survey_url)
    respondent.answer(page, 1, 0)
    expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
    page.reload()
    start = page.get_by_role("button", name="Start")
    expect(start).to_be_visible()
    page.evaluate("window.moves = 0; addEventListener('popstate', () => { window.moves += 1; })")
    for moves in (2, 4):  # forward and back
        page.evaluate("history.go(4)")  # as if the button is held down
        await_in(page, lambda: page.evaluate("moves") >= moves, "the way back")  # noqa: B023
        expect(start).to_be_visible()
        assert page.evaluate("history.state") is None
    start.click()
    respondent.answer_one(page, 1)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name="Did you?")).to_be_visible()
    page.go_forward()  # within one visit it works
    expect(page.get_by_role("heading", name="Which?")).to_be_visible()


def test_the_body_has_one_length_and_only_the_allowed_keys(survey_url: str, page: Page) -> None:
    bodies = respondent.posts(page)
    for first, second in ((0, 0), (1, 3)):
        respondent.start(page, survey_url)
        respondent.answer(page, first, second)
        respondent.send(page)
    assert len(bodies) == 2 and len({len(body) for body in bodies}) == 1
    for body in bodies:
        assert json.loads(body).keys() == {"id", "design", "blocks"}
    page.get_by_text("What was sent").click()
    shown = page.locator("pre").text_content()
    assert shown is not None and shown.encode() == bodies[-1]


def test_without_a_secure_generator_nothing_is_sent(survey_url: str, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script("Object.defineProperty(globalThis, 'crypto', {value: undefined})")
    page.goto(survey_url)
    expect(page.get_by_role("heading", name="cannot protect your answers")).to_be_visible()
    assert not [url for url in requests if "/api/" in url]


def test_every_browser_feature_is_switched_off(survey_url: str, page: Page) -> None:
    """Check how Chromium understood the header."""
    page.goto(survey_url)
    known = set(page.evaluate("document.featurePolicy.features()"))
    allowed = set(page.evaluate("document.featurePolicy.allowedFeatures()"))
    assert len(known & set(shell.FEATURES.split())) > 30
    assert not allowed & set(shell.FEATURES.split())


def test_without_javascript_the_page_says_so(survey_url: str, new_context: Any) -> None:
    context: BrowserContext = new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(survey_url)
    expect(page.get_by_role("heading", name="needs JavaScript")).to_be_visible()
    shown = page.inner_text("main")
    for words in CATALOGUES.values():
        assert words["shell"]["no_script"] in shown and words["shell"]["no_script_text"] in shown


def test_unknown_and_closed_surveys_are_explained(
    candor_server: Candor, survey_url: str, page: Page
) -> None:
    page.goto(survey_url.replace("small", "nowhere"))
    expect(page.get_by_role("heading", name="There is no survey here")).to_be_visible()
    closed = builders.FILE | {"slug": "closed"}
    candor_server.open_survey(closed)
    respondent.start(page, survey_url.replace("small", "closed"))
    respondent.answer(page, 0, 0)
    candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.models import Survey; Survey.objects.get(slug='closed').close()",
    )  # fmt: skip
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="no longer open")).to_be_visible()
    later = page.context.new_page()
    later.goto(survey_url.replace("small", "closed"))
    expect(later.get_by_role("heading", name="This survey is closed")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "did not accept"), (404, "no longer open"),
     (410, "no longer open"), (413, "did not accept"), (415, "did not accept"),
     (429, "has not arrived yet"), (500, "has not arrived yet"), (503, "has not arrived yet")],
)  # fmt: skip
def test_every_refusal_is_explained(survey_url: str, page: Page, status: int, words: str) -> None:
    page.route(
        "**/reports/",
        lambda route: route.fulfill(status=status, json={"errors": {"x": ["y"]}}),
    )
    respondent.start(page, survey_url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name=words)).to_be_visible()


def test_a_design_of_another_survey_is_explained(
    survey_url: str, candor_server: Candor, page: Page
) -> None:
    """The page gets a genuine design of another survey, and the real server refuses it."""
    other = builders.FILE | {"slug": "otherwise", "epsilon": 1}
    candor_server.open_survey(other)

    def swap(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("small", "otherwise")))

    page.route("**/definition/", swap)
    respondent.start(page, survey_url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="did not accept your report")).to_be_visible()


@pytest.mark.parametrize("place", ["hash", "text", "keep", "options"])
def test_a_design_that_does_not_match_its_hash_is_refused(
    survey_url: str, page: Page, place: str
) -> None:
    def alter(route: Route) -> None:
        definition = route.fetch().json()
        design = definition["design"]
        question = design["blocks"][0]["questions"][0]
        match place:
            case "hash":
                design["hash"] = "sha256:visitor-4711"
            case "text":
                question["text"] += " "
            case "keep":
                design["blocks"][0]["keep"] -= 1
            case "options":
                question["options"].reverse()
        route.fulfill(json=definition)

    page.route("**/definition/", alter)
    page.goto(survey_url)
    expect(page.get_by_role("heading", name="cannot run this survey")).to_be_visible()


def test_quick_taps_are_not_ignored_for_ever(survey_url: str, page: Page) -> None:
    page.clock.install(time=0)
    respondent.start(page, survey_url)
    page.clock.pause_at(3_600_000)
    for position in (0, 0):
        page.get_by_role("radio").nth(position).check(force=True)
        before = page.get_by_role("heading", level=1).inner_text()
        for _ in range(5):  # a tap about every 150 ms, as by someone in a hurry
            page.locator(".primary").dispatch_event("click", {"detail": 2})
            page.clock.run_for(150)
            if page.get_by_role("heading", level=1).inner_text() != before:
                break
        expect(page.get_by_role("heading", level=1)).not_to_have_text(before)


def test_long_words_do_not_widen_the_page(candor_server: Candor, page: Page) -> None:
    word = "Arbeitsunfähigkeitsbescheinigungsausstellungsverfahren" * 2
    survey = builders.FILE | {
        "slug": "wide",
        "questions": [
            {"key": "q1", "text": f"Was ist {word}?", "kind": "choice", "options": [word, "B"]}
        ],
        "blocks": [["q1"]],
    }
    candor_server.open_survey(survey)
    page.set_viewport_size({"width": 360, "height": 740})
    respondent.start(page, f"{candor_server.url}/s/wide/")
    expect(page.locator(".asking")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    respondent.answer(page, 0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
