"""The page and the survey in several languages."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support import builders, respondent
from tests.support.demo import demo_file
from tests.support.services import Candor

pytestmark = pytest.mark.browser

LANGUAGES = {
    "en-GB": ("en", "ltr", "Your device sometimes changes"),
    "de-AT": ("de", "ltr", "Ihr Gerät ändert"),
    "es-MX": ("es", "ltr", "su dispositivo cambia"),
    "fr-CH": ("fr", "ltr", "Votre appareil change"),
    "ar-EG": ("ar", "rtl", "يغيّر جهازكم"),
    "it-IT": ("en", "ltr", "Your device sometimes changes"),  # not available: English
}


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    """Return the address of the demo survey, which is translated into all five languages."""
    return candor_server.open_survey(demo_file("languages", "exhausted", "leaving"))


@pytest.mark.parametrize("locale", LANGUAGES)
def test_the_browser_chooses_the_language(
    url: str, new_context: Callable[..., BrowserContext], locale: str
) -> None:
    tag, direction, words = LANGUAGES[locale]
    page = new_context(locale=locale).new_page()
    page.goto(url)
    expect(page.locator(".promise")).to_contain_text(words)
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [
        tag, direction,
    ]  # fmt: skip
    assert page.locator("header select").input_value() == tag
    assert page.locator(".untranslated").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_changing_the_language_loses_nothing_and_needs_no_request(url: str, page: Page) -> None:
    respondent.start(page, url)
    page.get_by_role("radio").nth(1).check(force=True)
    before = page.get_by_role("heading", level=1).inner_text()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    menu = page.get_by_label("Language")
    expect(menu).to_be_hidden()  # a question has no menu
    page.get_by_role("button", name="Back").click()
    title = page.get_by_role("heading", level=1).inner_text()
    menu.focus()
    menu.select_option("ar")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(title)
    expect(page.get_by_label("اللغة")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    page.get_by_role("button", name="بدء").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    page.get_by_role("button", name="رجوع").click()
    page.get_by_label("اللغة").select_option("en")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(before)
    assert requests == []


def test_an_arabic_page_has_one_kind_of_digits(
    url: str, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(locale="ar-EG").new_page()
    page.goto(url)
    assert page.evaluate("new Intl.NumberFormat('ar-EG').format(88)") == "٨٨"
    expect(page.locator(".links")).to_contain_text("88")
    digits = {one for one in page.locator("body").inner_text() if one.isdecimal()}
    assert digits <= set("0123456789")


def test_untranslated_texts_are_marked(
    candor_server: Candor, page: Page, new_context: Callable[..., BrowserContext]
) -> None:
    survey = builders.FILE | {
        "slug": "partly",
        "translations": {"de": {"title": "Eine kleine Umfrage",
                                "questions": {"q1": {"text": "Haben Sie?"}}}},
    }  # fmt: skip
    candor_server.open_survey(survey)
    page = new_context(locale="de-DE").new_page()
    page.goto(f"{candor_server.url}/s/partly/")
    expect(page.get_by_role("heading", name="Eine kleine Umfrage")).to_be_visible()
    expect(page.locator(".untranslated")).to_contain_text("Englisch")
    assert page.locator(".introduction").get_attribute("lang") == "en"
    page.get_by_role("button", name="Beginnen").click()
    expect(page.get_by_role("heading", name="Haben Sie?")).to_be_visible()
    # Candor provides yes and no in every language.
    expect(page.get_by_role("radio", name="Ja")).to_be_visible()
    assert page.locator(".untranslated").count() == 0
    page.get_by_role("radio", name="Nein").check(force=True)
    page.get_by_role("button", name="Weiter").click()
    expect(page.get_by_role("heading", name="Which?")).to_be_visible()
    assert page.get_by_role("heading", name="Which?").get_attribute("lang") == "en"
    expect(page.locator(".untranslated")).to_contain_text("Englisch")


def test_a_survey_in_an_unknown_language_is_shown_as_it_is(
    candor_server: Candor, page: Page, new_context: Callable[..., BrowserContext]
) -> None:
    survey = builders.FILE | {"slug": "italian", "language": "it", "title": "Un sondaggio"}
    candor_server.open_survey(survey)
    page.goto(f"{candor_server.url}/s/italian/")
    title = page.get_by_role("heading", name="Un sondaggio")
    expect(title).to_be_visible()
    assert title.get_attribute("lang") == "it"
    expect(page.locator(".untranslated")).to_contain_text("Italian")
