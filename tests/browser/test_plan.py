"""The planner in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.pages import VIEWPORTS, log_in, looked_at
from tests.support.services import Candor

pytestmark = pytest.mark.browser


@pytest.fixture
def planner(candor_server: Candor, page: Page) -> Page:
    candor_server.load_demo()
    log_in(page, f"{candor_server.url}/plan/")
    return page


def test_numbers_change_the_plan_without_a_reload(planner: Page) -> None:
    planner.evaluate("window.same = true")
    answer = planner.get_by_role("status")
    expect(answer).to_contain_text("1,000 people at ε = 2 give every share within ± 8.7")
    expect(planner.get_by_role("button", name="Plan", exact=True)).to_be_hidden()
    planner.get_by_label("People who answer").fill("10000")
    expect(answer).to_contain_text("10,000 people at ε = 2 give every share within ± 2.8")
    expect(planner.get_by_label("People who answer")).to_be_focused()
    expect(planner.get_by_label("Half-width in points")).to_have_value("2.76")
    expect(planner.locator("tr.here")).to_contain_text("10,000")
    assert "people=10000" in planner.url

    # The result stays as an input when another number is solved for.
    planner.get_by_label("How many people do I need?").check()
    expect(answer).to_contain_text("people at ε = 2 give every share within ± 2.8")
    expect(planner.get_by_label("People who answer")).not_to_be_editable()
    expect(planner.get_by_label("Half-width in points")).to_be_editable()
    planner.get_by_label("ε of the sensitive answers").fill("1")
    expect(planner.get_by_label("People who answer")).not_to_have_value("10000")

    # The address contains the whole plan.
    told = answer.inner_text()
    assert planner.evaluate("window.same") is True
    planner.goto(planner.url)
    expect(answer).to_have_text(told)


def test_questions_of_every_kind_are_planned_as_they_are_written(planner: Page) -> None:
    questions = planner.get_by_label("Questions", exact=True)
    questions.fill("2 yes/no, 1 scale of 5, 1 number 0 to 60, 1 of 10 pick 3")
    rows = planner.locator("#outcome")
    for text in (
        "2 yes/no",
        "1 scale of 5",
        "1 number 0 to 60",
        "1 of 10 pick 3",
        "in % of its range",
    ):
        expect(rows).to_contain_text(text)
    questions.fill("1 yes/no [choice of 4")
    expect(planner.get_by_text("Close every square bracket that you open")).to_be_visible()
    questions.fill("1 yes/no [choice of 4]")
    expect(rows).to_contain_text("of those concerned, if they are 20 %")


def test_each_change_asks_the_server_once(planner: Page) -> None:
    asked: list[str] = []
    planner.on("request", lambda request: "/plan/?" in request.url and asked.append(request.url))
    for people in (20_000, 30_000, 40_000):
        planner.get_by_label("People who answer").fill(str(people))
        expect(planner.get_by_role("status")).to_contain_text(f"{people:,} people")
    assert len(asked) == 3, asked


def test_an_unfinished_number_greys_out_the_last_plan(planner: Page) -> None:
    people = planner.get_by_label("People who answer")
    people.fill("")
    expect(planner.get_by_text("A whole number from 1 to 1,000,000,000.")).to_be_visible()
    expect(people).to_have_attribute("aria-invalid", "true")
    expect(planner.locator("#outcome.stale svg")).to_have_count(1)
    expect(planner.get_by_role("status")).to_contain_text("no plan for these numbers yet")
    people.fill("500")
    expect(planner.get_by_role("status")).to_contain_text("500 people")
    expect(planner.locator("#outcome.stale")).to_have_count(0)
    expect(people).not_to_have_attribute("aria-invalid", "true")


def test_the_plan_stays_when_the_server_does_not_answer(planner: Page) -> None:
    planner.route("**/plan/?*", lambda route: route.abort())
    planner.get_by_label("People who answer").fill("500")
    expect(planner.get_by_role("status")).to_have_text("The server is not responding.")
    expect(planner.get_by_label("People who answer")).to_have_value("500")
    planner.unroute("**/plan/?*")
    planner.get_by_label("People who answer").press("Enter")
    expect(planner.get_by_role("status")).to_contain_text("500 people")


def test_the_planner_can_be_used_by_keyboard(planner: Page) -> None:
    keys = planner.keyboard
    planner.get_by_label("How precise will it be?").focus()
    keys.press("ArrowDown")  # how many people
    keys.press("Tab")
    expect(planner.get_by_label("People who answer")).to_be_focused()
    keys.press("Tab")
    expect(planner.get_by_label("ε of the sensitive answers")).to_be_focused()
    keys.press("ArrowDown")
    expect(planner.get_by_role("status")).to_contain_text("at ε = 1.9 give")
    keys.press("Tab")
    keys.press("Control+A")
    keys.type("5")
    keys.press("Enter")
    expect(planner.get_by_role("status")).to_contain_text("within ± 5.0 points")
    while planner.evaluate("document.activeElement.tagName") != "SUMMARY":
        keys.press("Tab")
    keys.press("Enter")
    keys.press("Tab")
    keys.type("1")
    expect(planner.get_by_text("You chose these blocks. The planner’s")).to_be_visible()


def test_without_script_there_is_a_button(
    candor_server: Candor, new_context: Callable[..., BrowserContext]
) -> None:
    candor_server.load_demo()
    page = new_context(java_script_enabled=False).new_page()
    log_in(page, f"{candor_server.url}/plan/")
    page.get_by_label("Which ε is enough?").check()
    page.get_by_label("Half-width in points").fill("5")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("1,000 people need ε =")


def test_a_survey_leads_to_its_plan(candor_server: Candor, page: Page) -> None:
    candor_server.load_demo()
    log_in(page, f"{candor_server.url}/surveys/wellbeing-at-work/settings/")
    page.get_by_role("link", name="Plan with these numbers").click()
    expect(page.get_by_role("link", name="Wellbeing at work")).to_be_visible()
    questions = page.get_by_label("Questions", exact=True)
    expect(questions).to_have_value(
        re.compile(r"1 choice of 3 \[1 choice of 3, 1 yes/no\], 1 scale of 4, 2 yes/no, ")
    )


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_the_planner_is_accessible(planner: Page, viewport: tuple[int, int]) -> None:
    planner.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    questions = "of 9 pick 3, yes/no [scale of 21], 3 number 0 to 200000"
    long = f"questions={questions}&share=10&groups=12&size=3&epsilon=3.5&people=123456789"
    for query in ("", f"?{long}", "?people=x&solve=&level=&questions=x"):
        planner.goto(f"{planner.url.partition('?')[0]}{query}")
        looked_at(planner)
