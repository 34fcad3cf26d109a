"""Nothing that people need is hidden on a phone or at high zoom, in Chromium."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext

from tests.support import layout
from tests.support.demo import demo_file
from tests.support.services import Candor

pytestmark = pytest.mark.browser

MOST_WORDS = 75  # of ours on the opening, besides the links and buttons


@pytest.fixture(scope="session")
def demo(candor_server: Candor) -> str:
    return candor_server.open_survey(demo_file("layout"))


@pytest.fixture(scope="session")
def five(candor_server: Candor) -> str:
    return candor_server.open_survey(layout.FIVE)


@pytest.mark.parametrize("language", layout.LANGUAGES)
def test_every_option_and_button_is_in_view(
    demo: str, five: str, new_context: Callable[..., BrowserContext], language: str
) -> None:
    layout.check(layout.Tab(new_context), demo, five, language)


def test_the_opening_says_little(demo: str, new_context: Callable[..., BrowserContext]) -> None:
    tab = layout.Tab(new_context)
    tab.speak("en-US")
    tab.goto(demo)
    tab.wait(".opening")
    ours = tab.page.locator(".facts, .promise, .managed").all_inner_texts()
    assert 40 < len(" ".join(ours).split()) <= MOST_WORDS
