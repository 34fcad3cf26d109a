"""The public pages for respondents: results, the design and errors, in their languages."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from tests.support.demo import demo_file
from tests.support.pages import looked_at_everywhere
from tests.support.services import Candor

pytestmark = pytest.mark.browser

SLUG = "public-pages"
PUBLISH = (
    "from survey.models import Survey\nfrom aggregation.releases.publish import make_release\n"
    f"survey = Survey.objects.get(slug='{SLUG}')\n"
    "Survey.objects.filter(pk=survey.pk).update(results_public=True)\nmake_release(survey)\n"
)
LOCALES = {"en-GB": ("en", "ltr"), "de-DE": ("de", "ltr"), "ar-EG": ("ar", "rtl")}


@pytest.fixture(scope="session")
def site(candor_server: Candor) -> str:
    """Return the address of a site with public results of the demo's survey."""
    candor_server.open_survey(demo_file(SLUG))
    command = ("simulate", SLUG, "--people", "200", "--seed", "1", "--into-a-real-survey")
    candor_server.manage(*command)
    candor_server.manage("shell", "-v0", "-c", PUBLISH)
    return candor_server.url


def open_page(new_context: Callable[..., BrowserContext], problems: list[str], locale: str) -> Page:
    page = new_context(locale=locale, viewport={"width": 360, "height": 640}).new_page()

    def on_console(message: ConsoleMessage) -> None:
        if "status of 404" not in message.text:
            problems.append(message.text)

    page.on("console", on_console)
    return page


@pytest.mark.parametrize("locale", LOCALES)
def test_the_public_pages_are_accessible_in_the_readers_language(
    site: str, new_context: Callable[..., BrowserContext], page_problems: list[str], locale: str
) -> None:
    page = open_page(new_context, page_problems, locale)
    tag, direction = LOCALES[locale]
    for path in (f"/results/{SLUG}/", f"/results/{SLUG}/?by=role", f"/designs/{SLUG}/",
                 "/results/nowhere/", "/designs/nowhere/"):  # fmt: skip
        page.goto(site + path)
        assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [
            tag, direction,
        ]  # fmt: skip
        for summary in page.locator("main > details > summary, .card > details > summary").all():
            summary.click()
        looked_at_everywhere(page)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_first_figure_is_on_the_first_screen_of_a_phone(
    site: str, new_context: Callable[..., BrowserContext], page_problems: list[str], locale: str
) -> None:
    page = open_page(new_context, page_problems, locale)
    page.goto(f"{site}/results/{SLUG}/")
    box = page.locator(".answers dd").first.bounding_box()
    assert box and box["y"] + box["height"] < 640
    assert page.locator(".researchers").get_attribute("open") is None
    # A bar begins where reading begins.
    bar, part = (page.locator(f".estimate{one}").first.bounding_box() for one in ("", " .part"))
    assert bar and part
    if LOCALES[locale][1] == "rtl":
        bar["x"] += bar["width"]
        part["x"] += part["width"]
    assert part["x"] == pytest.approx(bar["x"], abs=1)


def test_the_language_can_be_chosen_by_keyboard(
    site: str, new_context: Callable[..., BrowserContext], page_problems: list[str]
) -> None:
    page = open_page(new_context, page_problems, "en-GB")
    page.goto(f"{site}/results/{SLUG}/?by=role")
    for _ in range(3):  # past “Skip to content” and English
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Deutsch")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="So sind die Antworten geschützt")).to_be_visible()
    assert page.url.endswith("?by=role&lang=de")
    current = page.get_by_role("navigation", name="Sprache").locator("[aria-current]")
    expect(current).to_have_text("Deutsch")
    page.get_by_role("link", name="So funktioniert diese Umfrage").click()
    expect(page.get_by_role("heading", name="Selbst prüfen")).to_be_visible()
