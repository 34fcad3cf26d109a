"""WCAG 2.2 AA in every state of the respondent's page, and screen reader output."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.support import builders, respondent
from tests.support.demo import demo_file
from tests.support.pages import RULES, SETTLE
from tests.support.services import Candor
from tests.support.states import POOR, States

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 800}
VARIANTS: dict[str, dict[str, Any]] = {
    "light, dark and forced colours": {"viewport": LAPTOP, "color_scheme": "light"},
    "320 px": {"viewport": {"width": 320, "height": 640}, "locale": "de-DE"},
    "200 % zoom": {
        "viewport": {"width": 640, "height": 400},
        "device_scale_factor": 2,
        "locale": "fr-FR",
    },
    "right to left": {"viewport": PHONE, "locale": "ar-EG"},
    "keyboard only": {"viewport": LAPTOP},
    "no hover and reduced motion": {
        "viewport": PHONE,
        "has_touch": True,
        "is_mobile": True,
        "locale": "es-ES",
        "reduced_motion": "reduce",
        "color_scheme": "dark",
    },
}
# Also check these colour schemes in every state of that variant.
OTHER_LOOKS: list[dict[str, Any]] = [
    {"viewport": LAPTOP, "color_scheme": "dark"},
    {"viewport": PHONE, "color_scheme": "light", "forced_colors": "active"},
    {"viewport": LAPTOP, "color_scheme": "light", "forced_colors": "none"},  # restore it
]
# Where the focus is, it can be seen; headings only receive it so that reading goes on from there.
UNSEEN_FOCUS = """() => {
  const {activeElement} = document;
  if (activeElement.matches("body, h1")) return false;
  const {outlineStyle, outlineWidth} = getComputedStyle(activeElement);
  return outlineStyle === "none" || outlineWidth === "0px";
}"""
# The bar of buttons must not hide the element with the focus (WCAG 2.2, 2.4.11).
COVERED = """() => {
  const {activeElement} = document;
  const covered = [...document.querySelectorAll("a, button, input, select, summary, pre")]
    .filter((one) => {
      one.focus();
      if (document.activeElement !== one) return false;
      const seen = one.closest("label") ?? one;
      const {left, top, width, height} = seen.getBoundingClientRect();
      return ![0.1, 0.5, 0.9].some((part) =>
        seen.contains(document.elementFromPoint(left + width / 2, top + part * height)));
    })
    .map((one) => one.outerHTML);
  activeElement.focus();
  return covered;
}"""


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    candor_server.open_survey(POOR)
    return candor_server.open_survey(demo_file("accessible", "exhausted", "leaving"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_state_is_accessible_in_every_variant(
    url: str, new_context: Callable[..., BrowserContext], variant: str
) -> None:
    page = new_context(**VARIANTS[variant]).new_page()
    keyboard = variant == "keyboard only"
    seen = []
    for state in States(page, url, url.replace("accessible", POOR["slug"]), keyboard):
        assert not (keyboard and page.evaluate(UNSEEN_FOCUS)), state
        look_at(page, state, violations=not keyboard)  # it looks like "light"
        if "forced colours" in variant:
            *others, before = OTHER_LOOKS
            for look in others:
                change_look(page, **look)
                look_at(page, f"{state} in {look}")
            change_look(page, **before)
        seen.append(state)
    assert len(seen) == len(set(seen)) > 40


def look_at(page: Page, state: str, violations: bool = True) -> None:
    page.evaluate(SETTLE)
    if violations:
        loaded = page.evaluate("'axe' in window")  # half a megabyte, until the page is left
        found = Axe(*["0"] * loaded).run(page, options=RULES)
        assert found.violations_count == 0, f"{state}\n{found.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state
    assert page.evaluate(COVERED) == [], state


def change_look(page: Page, viewport: ViewportSize, **media: Any) -> None:
    page.emulate_media(**media)
    if page.viewport_size != viewport:
        page.set_viewport_size(viewport)


def test_axe_finds_a_broken_page(page: Page, url: str) -> None:
    """axe reports a target that is too small and one without a name."""
    page.goto(url)
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.evaluate("""() => {
      const css = new CSSStyleSheet();
      css.replaceSync(".tiny { min-height: 0; padding: 0; width: 10px; height: 10px; }");
      document.adoptedStyleSheets = [css];
      for (let i = 0; i < 2; i++) {
        const button = document.createElement("button");
        button.className = "tiny";
        document.querySelector("main").append(button);
      }
    }""")
    found = {violation["id"] for violation in Axe().run(page, options=RULES).response["violations"]}
    assert {"button-name", "target-size"} <= found


# --- What a screen reader is given ----------------------------------------------------------------

OPENING = """
- heading "A small survey" [level=1]
- paragraph: Two questions and an age.
- paragraph: 3 questions, under a minute. Please answer only once.
- paragraph:
  - strong: Your device sometimes changes your answers at random before sending them.
  - text: /So nobody who sees what you send can be sure.* Answers about you are less protected./
- paragraph: If someone else manages this device, they may see what you tap.
- list:
  - listitem:
    - button "How sure could someone be? 88 in 100"
  - listitem:
    - button "What is not protected"
  - listitem:
    - button "Check this page"
- button "See how it works (10 seconds)"
- button "Start"
"""
ODDS = """
- button "Back"
- heading "How sure could someone be?" [level=1]
- paragraph: /Say someone thinks it is 50:50/
- term: What you answered
- definition: at most 88 times in 100
- term: Each answer about you
- definition: at most 95 times in 100
- term: Everything, if your answers are related
- definition: at most 99 times in 100
- heading "A yes can come from either" [level=2]
- 'figure "100 people whose answer is yes: 88 send yes, 12 send no."'
- 'figure "100 people whose answer is no: 12 send yes, 88 send no."'
- paragraph: /Could your report say something that you did not choose/
"""
QUESTION = """
- button "Back"
- paragraph: Question 1 of 3
- group "Did you?":
  - heading "Did you?" [level=1]
  - radio "No"
  - radio "Yes" [checked]
- group: /Protected.* about 72 in 100 stay as given/
- button "Next"
"""
BACKGROUND = """
- button "Back"
- paragraph: Question 3 of 3
- group "How old are you?":
  - heading "How old are you?" [level=1]
  - radio "Under 30" [checked=false]
  - radio "30 and over" [checked=false]
  - radio "Prefer not to say" [checked=false]
- group: /Protected.* about 91 in 100 stay as given/
- button "Skip"
- button "Next"
"""
REVIEW = """
- button "Back"
- heading "Check and send" [level=1]
- term: Did you?
- definition: "Yes"
- definition:
  - 'button "Change: Did you?"'
- term: Which?
- definition: Blue
- definition:
  - 'button "Change: Which?"'
- term: How old are you?
- definition: Prefer not to say
- definition:
  - 'button "Change: How old are you?"'
- paragraph: Your device now scrambles your answers, forgets them and sends one report.
- button "Send"
"""
THANKS = """
- heading "Thank you. Your report has arrived." [level=1]
- paragraph: The people asking see results after 40 responses.
- paragraph: /Please answer only once/
- group: What was sent
- paragraph:
  - button "Your list of surveys"
- paragraph:
  - button "Someone else wants to answer"
"""


def test_a_whole_run_can_be_heard_with_a_screen_reader(candor_server: Candor, page: Page) -> None:
    survey = builders.FILE | {"slug": "aloud"}
    candor_server.open_survey(survey)
    main = page.get_by_role("main")

    def heard(snapshot: str) -> None:
        expect(main).to_match_aria_snapshot(snapshot)
        # Reading begins at the heading of each screen.
        expect(page.get_by_role("heading", level=1)).to_be_focused()

    page.goto(f"{candor_server.url}/s/aloud/")
    heard(OPENING)
    page.get_by_role("button", name="How sure could someone be?").click()
    heard(ODDS)
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("radio", name="Yes").check(force=True)
    expect(main).to_match_aria_snapshot(QUESTION)
    respondent.next_screen(page)
    respondent.answer_one(page, 2)
    heard(BACKGROUND)
    respondent.answer_one(page, 2)
    heard(REVIEW)
    respondent.send(page)
    heard(THANKS)


def test_a_whole_run_needs_only_the_keyboard(candor_server: Candor, page: Page) -> None:
    survey = builders.FILE | {"slug": "keys"}
    candor_server.open_survey(survey)
    page.goto(f"{candor_server.url}/s/keys/")

    def tab_to(name: str) -> None:
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent.trim()") == name:
                return
        raise AssertionError(f"{name} cannot be reached with Tab")

    expect(page.get_by_role("button", name="Start")).to_be_visible()
    tab_to("Start")
    page.keyboard.press("Enter")
    for title, moves in (("Did you?", 1), ("Which?", 2), ("How old are you?", 2)):
        expect(page.get_by_role("heading", name=title)).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        for _ in range(moves):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Check and send")).to_be_focused()
    review = page.get_by_role("main").inner_text()
    assert "Yes" in review and "Blue" in review and "Prefer not to say" in review
    tab_to("Send")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
    assert respondent.stored(candor_server, "keys") == 1
