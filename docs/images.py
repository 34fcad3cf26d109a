"""The pictures of the documentation, made anew from a real installation: `make images`."""

from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import respondent
from tests.conftest import CHROMIUM_FLAGS
from tests.packages import chromium
from tests.services import Candor

FOLDER = Path(__file__).parent / "images"
SLUG = "wellbeing-at-work"
PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 800}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with Candor() as candor, sync_playwright() as playwright:
        candor.manage("load_demo")
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=[*CHROMIUM_FLAGS, "--no-sandbox"]
        )
        phone(browser, candor.url)
        laptop(browser, candor.url)
        browser.close()


def phone(browser: Browser, url: str) -> None:
    page = browser.new_page(viewport=PHONE, device_scale_factor=2, reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 1180})  # down to the odds
    page.goto(f"{url}/s/{SLUG}/")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    take(page, "respondent-opening")
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("radio").nth(0).check(force=True)
    take(page, "respondent-question")
    while page.get_by_text("Chance may change your answer").count():
        respondent.answer_one(page, 0)
    respondent.answer(page)
    take(page, "respondent-review")
    respondent.send(page)
    take(page, "respondent-thanks")
    page.close()


def laptop(browser: Browser, url: str) -> None:
    page = browser.new_page(viewport=LAPTOP, device_scale_factor=1.5, reduced_motion="reduce")
    page.goto(f"{url}/surveys/{SLUG}/")
    page.get_by_label("Name").fill("researcher")
    page.get_by_label("Password").fill("researcher-demo")
    page.get_by_role("button", name="Log in").click()
    page.locator("section.question summary").first.click()
    take(page, "dashboard")
    page.close()


def take(page: Page, name: str) -> None:
    page.screenshot(path=FOLDER / f"{name}.png")
    print(f"docs/images/{name}.png")


if __name__ == "__main__":
    main()
