"""Numbers, multiple choice and follow-ups on the respondent's page."""

import json
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.support import builders, respondent
from tests.support.pages import RULES, SETTLE
from tests.support.services import Candor

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 640}
LOOKS: dict[str, dict[str, object]] = {
    "phone": {"viewport": PHONE},
    "laptop, dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "right to left": {"viewport": PHONE, "locale": "ar-EG"},
    "320 px, forced colours": {
        "viewport": {"width": 320, "height": 568}, "locale": "de-DE", "forced_colors": "active",
    },
}  # fmt: skip
# How much of the control can be seen above the bar of buttons, without scrolling.
HIDDEN = """() => {
  const bar = document.querySelector(".actions").getBoundingClientRect().top;
  const first = document.querySelector(".number, .option, select").getBoundingClientRect();
  return first.top + first.height / 2 > Math.min(bar, innerHeight);
}"""


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    """Return the address of a survey in the order of its questions, with fillers."""
    survey = builders.EVERY_PATH | {"slug": "kinds", "shuffled": False, "fillers": True}
    candor_server.manage("import_survey", "-", "--open", stdin=json.dumps(survey))
    return f"{candor_server.url}/s/kinds/"


def title(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


def number(page: Page) -> str:
    return page.locator("#progress").inner_text()


def to_days(page: Page, url: str) -> None:
    """Go to the first number, past a gate that asks nothing more and its two fillers."""
    respondent.start(page, url)
    for _ in range(3):
        respondent.answer_one(page, 0)
    expect(page.get_by_role("heading", name="Days ill?")).to_be_visible()


def screens(page: Page, url: str) -> Iterator[str]:
    """Yield every screen of the longest path, answered, wrong and empty."""
    page.goto(url)
    page.locator(".opening .primary").click()
    while page.locator(".asking").count():
        name = title(page)
        yield name
        if page.locator(".number").count():
            page.locator(".number input").fill("99")
            page.locator(".primary").click()
            expect(page.get_by_role("alert")).not_to_be_empty()
            yield f"{name} wrong"
            page.locator(".number input").fill("5")
        elif page.get_by_role("checkbox").count():
            for position in range(3):
                page.locator(".option").nth(position).click()
            expect(page.get_by_role("alert")).not_to_be_empty()
            yield f"{name} too many"
        elif name == "By whom?":  # in random order
            page.get_by_label("Boss").check(force=True)
        else:
            page.locator(".option input").nth(1 if name == "Harassed?" else 0).check(force=True)
        yield f"{name} answered"
        page.locator(".primary").click()
        page.wait_for_function(
            "(name) => document.querySelector('h1').innerText !== name", arg=name
        )
    yield "review"


@pytest.mark.parametrize("look", LOOKS)
def test_every_screen_is_accessible_and_fits(
    url: str, new_context: Callable[..., BrowserContext], look: str
) -> None:
    page = new_context(**LOOKS[look]).new_page()
    seen = []
    for state in screens(page, url):
        page.evaluate(SETTLE)
        loaded = page.evaluate("'axe' in window")
        found = Axe(*["0"] * loaded).run(page, options=RULES)
        assert found.violations_count == 0, f"{state}\n{found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state
        assert state == "review" or not page.evaluate(HIDDEN), state
        seen.append(state)
    assert len(seen) == len(set(seen)) == 18
    answers = page.locator(".answers").all_inner_texts()
    assert "5 times" in " ".join(answers) and "5 days" in " ".join(answers)


def test_the_keyboard_alone_is_enough(url: str, page: Page, candor_server: Candor) -> None:
    page.goto(url)
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.get_by_role("button", name="Start").press("Enter")

    def answer(heading: str, *keys: str) -> None:
        expect(page.get_by_role("heading", name=heading)).to_be_focused()
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")

    answer("Harassed?", "Tab", "Space", "ArrowDown")
    expect(page.get_by_role("heading", name="By whom?")).to_be_focused()
    boss = page.get_by_role("radio", name="Boss")
    boss.focus()  # options are in random order
    answer_here(page, boss)
    # The field comes after the button for less.
    answer("How often?", "Tab", "Tab", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown")
    answer("Days ill?", "Tab", "Tab", "Digit1", "Digit7")
    answer("Mood?", "Tab", "Space")
    answer("Which?", "Tab", "Space", "Tab", "Tab", "Space")
    answer("Job?", "Tab", "Space")
    expect(page.get_by_role("heading", name="Check and send")).to_be_focused()
    review = page.get_by_role("main").inner_text()
    for text in ("Yes", "Boss", "1 times", "17 days", "Bad", "A\nC", "Nurse"):
        assert text in review, text
    respondent.send(page)
    assert respondent.stored(candor_server, "kinds") == 1


def answer_here(page: Page, option: object) -> None:
    page.keyboard.press("Space")
    expect(option).to_be_checked()  # type: ignore[call-overload]
    page.keyboard.press("Enter")


def test_a_number_outside_the_range_is_explained_and_not_changed(url: str, page: Page) -> None:
    to_days(page, url)
    field = page.get_by_role("textbox", name="Days ill?")
    assert field.get_attribute("inputmode") == "numeric"
    for typed in ("61", "-1", "2.5", "two"):
        field.fill(typed)
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("alert")).to_have_text("Please enter a whole number from 0 to 60.")
        expect(field).to_have_value(typed)
        expect(field).to_be_focused()
    page.get_by_role("checkbox", name="Prefer not to say").check()
    expect(field).to_have_value("")
    expect(page.locator(".alert")).to_be_empty()
    field.fill("60")
    expect(page.get_by_role("checkbox")).not_to_be_checked()
    more = page.get_by_role("button", name="More")
    more.click()
    expect(field).to_have_value("60")
    less = page.get_by_role("button", name="Less")
    for _ in range(4):  # as quickly as a program can
        less.click()
    expect(field).to_have_value("56")
    respondent.next_screen(page)


def test_a_slider_is_empty_until_it_is_touched(url: str, page: Page) -> None:
    respondent.start(page, url)
    respondent.answer_one(page, 1)
    page.get_by_label("Boss").check(force=True)
    respondent.next_screen(page)
    slider = page.locator("[type=range]")
    assert "unset" in (slider.get_attribute("class") or "")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    box = slider.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # where it stands
    expect(page.get_by_role("textbox")).to_have_value("6")
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    expect(page.get_by_role("textbox")).to_have_value("12")
    assert "unset" not in (slider.get_attribute("class") or "")


def test_a_filler_says_what_it_is_and_leaves_nothing(url: str, page: Page) -> None:
    bodies = respondent.posts(page)
    respondent.start(page, url)
    assert number(page) == "Question 1 of 7"
    respondent.answer_one(page, 0)
    assert number(page) == "Question 2 of 7"
    expect(page.get_by_text("Not kept.")).to_be_visible()
    filler = title(page)
    respondent.answer_one(page, 1)
    respondent.answer_one(page, 1)
    assert number(page) == "Question 4 of 7"
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", name=filler)).to_be_visible()
    assert page.get_by_role("radio", checked=True).count() == 0  # not even on this page
    respondent.answer_one(page, 0)
    respondent.answer_one(page, 0)
    page.get_by_role("button", name="More").click()
    respondent.next_screen(page)
    respondent.answer_one(page, 0)
    respondent.next_screen(page)  # nothing picked
    respondent.answer_one(page, 0)
    review = page.get_by_role("main").inner_text()
    assert filler not in review and "None" in review and "0 days" in review
    respondent.send(page)
    (body,) = bodies
    assert {key: len(values) for key, values in json.loads(body)["blocks"].items()} == {
        "b1": 4, "b2": 1, "b3": 1, "b4": 1, "g1": 1,
    }  # fmt: skip


def test_another_answer_on_the_review_asks_its_follow_ups(url: str, page: Page) -> None:
    to_days(page, url)
    page.get_by_role("button", name="More").click()
    respondent.next_screen(page)
    respondent.answer_one(page, 0)
    respondent.next_screen(page)
    respondent.answer_one(page, 0)
    length = page.evaluate("history.length")

    def done(heading: str) -> None:
        page.get_by_role("button", name="Done").click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()

    def change(position: int, heading: str) -> None:
        page.get_by_role("button", name="Change: Harassed?").click()
        page.get_by_role("radio").nth(position).check(force=True)
        done(heading)

    change(2, "Would you say?")
    page.get_by_role("radio").first.check(force=True)
    done("Check and send")
    expect(page.get_by_text("Would you say?")).to_be_visible()
    change(0, "Check and send")
    expect(page.get_by_text("Would you say?")).to_have_count(0)
    assert page.evaluate("history.length") == length + 1
