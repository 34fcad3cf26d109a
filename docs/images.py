"""Take the pictures for the documentation from a real installation: `make images`.

One picture of each screen: the respondent's page in every state and the checking page on a phone;
the researchers' pages, the studio and a figure to download on a laptop. Look at them after a
change.
"""

import json
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from operations.demo import CLOSED, DRAFT
from operations.demo import OPEN as SLUG
from tests.support.chromium import CHROMIUM_FLAGS
from tests.support.demo import demo_file
from tests.support.packages import chromium
from tests.support.services import UNLIMITED, Candor, Manager
from tests.support.states import POOR, States

FOLDER = Path(__file__).parent / "images"
PHONE, LAPTOP = "phone", "laptop"
SIZES = {PHONE: (360, 740), LAPTOP: (1280, 800)}
LANGUAGES = ("de", "es", "fr", "ar")
# The height at which nothing of the page needs to be scrolled, in a box of its own or as a whole.
CONTENT = """() => {
  const box = document.querySelector(".scroll");
  const more = box ? box.scrollHeight - box.clientHeight : 0;
  return document.documentElement.scrollHeight + more;
}"""
POPULATION = "question,group,share\nrole,Nurse,0.5\nrole,Doctor,0.2\nrole,Other staff,0.3\n"


def main() -> None:
    limits = {"CANDOR_MAX_EPSILON": "4", "CANDOR_CHECKLIST": "1", "CANDOR_MIN_CROWD": "10"}
    with Candor(**limits) as candor, sync_playwright() as playwright:
        candor.manage("load_demo")
        lenient = Manager(candor.env | UNLIMITED)  # for a survey with weak protection
        # Two of the demo's questions, so that everybody is asked the same.
        for survey in (POOR, demo_file("two-questions", "exhausted", "leaving")):
            lenient("import_survey", "-", "--open", stdin=json.dumps(survey))
        lenient.end()
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=[*CHROMIUM_FLAGS, "--no-sandbox"]
        )
        respondent(browser, candor.url)
        verify(browser, candor.url)
        for language in LANGUAGES:
            opening(browser, candor.url, language)
        dashboard(browser, candor.url)
        analyses(browser, candor.url)
        planner(browser, candor.url)
        studio(browser, candor.url)
        figure(browser, candor.url)
        browser.close()


def respondent(browser: Browser, url: str) -> None:
    page = open_page(browser, PHONE)
    for state in States(page, f"{url}/s/two-questions/", f"{url}/s/{POOR['slug']}/"):
        take(page, PHONE, state, whole=state != "kiosk-idle")
    page.close()


def opening(browser: Browser, url: str, language: str) -> None:
    page = open_page(browser, PHONE, language)
    page.goto(f"{url}/s/{SLUG}/")
    expect(page.locator(".opening")).to_be_visible()
    take(page, PHONE, f"opening-{language}")
    page.close()


def verify(browser: Browser, url: str) -> None:
    page = open_page(browser, PHONE)
    page.goto(f"{url}/verify/")
    page.locator("button.primary").click()
    expect(page.locator("h2.verdict")).to_be_visible(timeout=120_000)
    take(page, PHONE, "verify")
    page.close()


def dashboard(browser: Browser, url: str) -> None:
    page = open_page(browser, LAPTOP)
    log_in(page, f"{url}/surveys/{SLUG}/")
    expect(page.get_by_text("being computed")).to_have_count(0, timeout=30_000)
    take(page, LAPTOP, "dashboard", whole=False)
    page.goto(f"{url}/surveys/{SLUG}/?by=role&level=90&forged=2")
    page.locator("section.question summary").first.click()
    page.locator(".toolbar").evaluate("(one) => one.style.setProperty('position', 'static')")
    page.locator("section.question").first.screenshot(path=FOLDER / LAPTOP / "groups.png")
    page.goto(f"{url}/surveys/{SLUG}/trend/?question=leaving")
    page.locator(".mark").nth(3).focus()
    take(page, LAPTOP, "trend", whole=False)
    page.goto(f"{url}/results/{CLOSED}/")
    take(page, LAPTOP, "results", whole=False)
    page.goto(f"{url}/surveys/")
    take(page, LAPTOP, "overview", whole=False)
    page.close()


def analyses(browser: Browser, url: str) -> None:
    """A page of each kind, with what was found."""
    page = open_page(browser, LAPTOP)
    log_in(page, f"{url}/surveys/{SLUG}/analyses/")
    for kind, name in (("crosstab", "table"), ("regression", "regression"), ("weights", "weights")):
        page.goto(f"{url}/surveys/{SLUG}/analyses/?kind={kind}")
        if kind == "crosstab":
            page.locator("#question1").select_option("exhausted")
            page.locator("#question2").select_option("leaving")
        if kind == "regression":
            page.locator("#outcome").select_option("leaving:yes")
            page.locator("#predictor1").select_option("role")
            page.locator("#predictor2").select_option("exhausted:often:from")
        if kind == "weights":
            page.locator("#margins").fill(POPULATION)
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("heading", name="Download")).to_be_visible(timeout=60_000)
        take(page, LAPTOP, name)
    page.goto(f"{url}/surveys/{SLUG}/analyses/")
    take(page, LAPTOP, "analyses")
    page.close()


def planner(browser: Browser, url: str) -> None:
    page = open_page(browser, LAPTOP)
    log_in(page, f"{url}/plan/?people=2000&questions=6 yes/no&groups=2&share=20")
    expect(page.locator("svg.plot")).to_be_visible()
    take(page, LAPTOP, "planner")
    page.goto(
        f"{url}/plan/?people=2000&questions=6 yes/no&share=20&dropout=20&forged=2&looks=every"
    )
    take(page, LAPTOP, "planner-more")
    page.close()


def studio(browser: Browser, url: str) -> None:
    """A draft, and from a topic to an open survey with invitations; and the pages of an admin."""
    page = open_page(browser, LAPTOP)
    log_in(page, f"{url}/studio/{DRAFT}/", "admin")
    expect(page.locator("#saved")).to_have_text("Saved")
    take(page, LAPTOP, "studio-draft", whole=False)
    page.goto(f"{url}/studio/new/")
    take(page, LAPTOP, "studio-new")
    page.get_by_role("button", name="Use this").nth(1).click()
    page.get_by_label("Who asks", exact=True).fill("The works council")
    page.get_by_label("Why, and what becomes").fill("To end it. The council publishes the results.")
    page.get_by_label("How people reach you").fill("council@example.org")
    page.get_by_label("Days until everything is deleted").fill("365")
    page.get_by_label("People you hope to reach").fill("4000")
    page.get_by_label("Invited people").check()
    expect(page.locator("#saved")).to_have_text("Saved")
    take(page, LAPTOP, "studio")
    page.get_by_role("link", name="Check and open").first.click()
    page.get_by_role("heading", name="Checklist").wait_for()
    take(page, LAPTOP, "studio-open")
    for read in page.get_by_label("I have read the checklist").all()[:1]:
        read.check()
    page.get_by_role("button", name="Open now").click()
    page.get_by_role("link", name="Create invitations").click()
    page.get_by_role("heading", name="Create codes").wait_for()
    take(page, LAPTOP, "invitations")
    for name in ("account", "log"):
        page.goto(f"{url}/{name}/")
        take(page, LAPTOP, name, whole=False)
    page.close()


def figure(browser: Browser, url: str) -> None:
    """A figure as whoever saves it will see it."""
    page = open_page(browser, LAPTOP)
    log_in(page, f"{url}/surveys/{SLUG}/")
    expect(page.locator("section.question").first).to_be_visible()
    answer = page.request.get(f"{url}/surveys/{SLUG}/releases/5/figure-exhausted.by-role.svg")
    page.goto("about:blank")
    page.set_content(answer.text().partition("\n")[2])
    path = FOLDER / LAPTOP / "figure.png"
    page.locator("svg").screenshot(path=path)
    print("docs/images/laptop/figure.png")
    page.close()


def log_in(page: Page, address: str, who: str = "researcher") -> None:
    page.goto(address)
    page.get_by_label("Name").fill(who)
    page.get_by_label("Password").fill(f"{who}-demo")
    page.get_by_role("button", name="Log in").click()


def open_page(browser: Browser, size: str, language: str = "en") -> Page:
    width, height = SIZES[size]
    return browser.new_page(
        viewport={"width": width, "height": height}, reduced_motion="reduce", locale=language
    )


def take(page: Page, size: str, name: str, whole: bool = True) -> None:
    """The page as it would look on a screen that is long enough for all of it."""
    width, height = SIZES[size]
    if whole:
        content = page.evaluate(CONTENT)
        page.set_viewport_size({"width": width, "height": max(height, content)})
    path = FOLDER / size / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    page.set_viewport_size({"width": width, "height": height})
    print(f"docs/images/{size}/{name}.png")


if __name__ == "__main__":
    main()
