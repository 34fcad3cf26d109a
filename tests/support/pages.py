"""Helpers for browser tests: log in, and check pages in light and dark on every screen."""

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from operations.demo import LOGINS
from tests.support.services import wait_until

SLUG = "wellbeing-at-work"


VIEWPORTS = {"phone": (360, 740), "laptop": (1280, 800)}


def await_in(page: Page, ready: Callable[[], object], what: str) -> None:
    """Wait for a condition that Playwright's events set."""
    wait_until(lambda: bool(ready() or page.wait_for_timeout(50)), 60, what)


def take_turns(page: Page) -> None:
    """Let the page finish everything it has deferred without a timer."""
    page.evaluate(
        "async () => { for (let i = 0; i < 100; i += 1) await new Promise((go) => {"
        " const channel = new MessageChannel(); channel.port1.onmessage = go;"
        " channel.port2.postMessage(null); }); }"
    )


def no_violations(page: Page) -> None:
    page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    loaded = page.evaluate("'axe' in window")  # half a megabyte, until the page is left
    found = Axe(*["0"] * loaded).run(page)
    assert found.violations_count == 0, found.generate_report()


def looked_at(page: Page) -> None:
    """Expect no violation and nothing too wide, in light and dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        no_violations(page)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide, f"{page.url} scrolls sideways"


def looked_at_everywhere(page: Page) -> None:
    """Check a page on a phone and a laptop, in light and dark."""
    for width, height in VIEWPORTS.values():
        page.set_viewport_size({"width": width, "height": height})
        looked_at(page)


def log_in(page: Page, url: str, name: str = "researcher", password: str = "") -> None:
    """Log in and wait until the next page is loaded."""
    page.goto(url)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password or LOGINS[name])
    with page.expect_navigation():
        page.get_by_role("button", name="Log in").click()


RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}


SETTLE = """document.getAnimations().forEach((animation) => {
  if (animation.effect.getComputedTiming().iterations === 1) animation.finish();
})"""
