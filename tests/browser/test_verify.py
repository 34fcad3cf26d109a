"""The page /verify/ in Chromium: it checks the shipped randomizer and says when it is not right.

Where a verdict is looked at, the browser's generator is a seeded one: a right randomizer would
otherwise fail by chance now and then. tests/js/verify.test.mjs has the statistics.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.support import builders
from tests.support.pages import await_in, take_turns
from tests.support.randomness import SEEDED
from tests.support.services import Candor

pytestmark = pytest.mark.browser

SLUG = "checked"

FITS = "It does what was promised, as far as 100,000 runs can show."


@pytest.fixture(scope="session")
def verify_url(candor_server: Candor) -> str:
    """Return the page's address on a site with an open survey of one block: 2 x 4 options, ε = 2.

    Only the title and the first question are translated, and only into German.
    """
    german = {"title": "Eine kleine Umfrage", "questions": {"q1": {"text": "Haben Sie?"}}}
    file = builders.FILE | {"slug": SLUG, "translations": {"de": german}}
    candor_server.open_survey(file)
    return f"{candor_server.url}/verify/"


def run(page: Page) -> None:
    """Run the check, and look at the details, which are folded if everything fits."""
    page.get_by_role("button", name="Run").click()
    expect(verdict(page)).to_be_visible(timeout=60_000)
    details = page.locator("details.findings")
    fits = "It does" in verdict(page).inner_text()
    assert (details.get_attribute("open") is None) is fits
    if fits:
        details.locator("summary").first.click()


def verdict(page: Page) -> Any:
    return page.locator("h2.verdict")


def requests(page: Page) -> list[str]:
    """Collect the addresses that the page requests from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    return found


def alter(page: Page, place: str, change: str) -> None:
    """Serve a randomizer with one change, in a shell without its hash."""

    def module(route: Route) -> None:
        answer = route.fetch()
        parts = answer.text().split(place)
        assert len(parts) == 2, f"{place!r} is not in the randomizer exactly once"
        route.fulfill(response=answer, body=change.join(parts))

    def shell(route: Route) -> None:
        if not route.request.is_navigation_request():  # what is compared with the list
            return route.continue_()
        answer = route.fetch()
        body = re.sub(r' integrity="[^"]*"|<meta http-equiv="Content-Sec[^>]*>', "", answer.text())
        route.fulfill(response=answer, body=body)

    page.route("**/static/respond/randomizer.*.js", module)
    page.route("**/verify/", shell)


# --- The runs -------------------------------------------------------------------------------------


def test_the_example_fits_and_the_proven_loss_is_below_the_stated_one(
    verify_url: str, page: Page
) -> None:
    page.add_init_script(SEEDED)
    page.goto(verify_url)
    expect(page.get_by_text("Checked here: an example")).to_be_visible()
    run(page)
    expect(verdict(page)).to_have_text(FITS)
    expect(page.get_by_text("Fits the promise")).to_have_count(5)  # 3 tables, 2 losses
    losses = page.get_by_text("Privacy loss").all_inner_texts()
    bounds = [re.findall(r"at (?:most|least) (\d(?:\.\d+)?)", text) for text in losses]
    assert [promised for promised, _ in bounds] == ["1.099", "2"]
    for promised, seen in bounds:
        assert 0.95 * float(promised) < float(seen) < float(promised)
    # The page states what this many runs can find.
    expect(page.get_by_text("1.8 more in 100 answers")).to_be_visible()
    expect(page.get_by_text("about 41 of 100")).to_be_visible()


def test_the_table_says_what_the_picture_shows(verify_url: str, page: Page) -> None:
    page.add_init_script(SEEDED)
    page.goto(verify_url)
    run(page)
    card = page.locator("section.card").first
    card.get_by_text("The same as a table").click()
    rows = card.get_by_role("region", name="No").get_by_role("row").all_inner_texts()
    name, counted, promised, apart = rows[1].split("\t")
    assert (name, promised) == ("No", "37,500")
    count = int(counted.replace(",", ""))
    assert float(apart) == pytest.approx((count - 37_500) / 96.825, abs=0.006)
    width = float(card.locator(".bar .seen").first.get_attribute("width") or 0)
    assert width == pytest.approx(count / 50, rel=1e-9)
    assert card.locator(".bar .tick").first.get_attribute("x1") == "750"


def test_a_survey_is_checked_by_its_fragment(verify_url: str, page: Page) -> None:
    page.add_init_script(SEEDED)
    asked = requests(page)
    page.goto(f"{verify_url}#{SLUG}")
    expect(page.get_by_text("A small survey")).to_be_visible()
    run(page)
    expect(verdict(page)).to_have_text(FITS)
    # The verdict comes before everything else, and a link leads back to the survey.
    parts = page.locator(".screen > *").evaluate_all("all => all.map((one) => one.className)")
    assert parts[:3] == ["", "results", "lead"]
    assert page.locator(".results > *").first.locator("h2.verdict").count() == 1
    back = page.get_by_role("link", name="Back to the survey")
    expect(back).to_have_attribute("href", f"/s/{SLUG}/")
    card = page.locator("section.card").first
    expect(card.get_by_role("heading", level=3)).to_have_text(["Did you?", "Which?"])
    expect(card.locator("figcaption").last).to_contain_text("Yes · Prefer not to say")
    assert not [url for url in asked if "#" in url or "/verify/checked" in url]
    page.evaluate("location.hash = ''")
    expect(page.get_by_text("Checked here: an example")).to_be_visible()
    expect(verdict(page)).to_have_count(0)


@pytest.mark.parametrize("fragment", ["nowhere", "no/slug", "%zz", "../reports"])
def test_an_unknown_survey_is_explained(verify_url: str, page: Page, fragment: str) -> None:
    page.goto(f"{verify_url}#{fragment}")
    expect(page.get_by_text("There is no survey with this address")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)


def test_a_design_that_the_randomizer_refuses_is_explained(verify_url: str, page: Page) -> None:
    def weaken(route: Route) -> None:
        answer = route.fetch()
        survey = answer.json()
        survey["design"]["blocks"][0]["keep"] += 2**20
        route.fulfill(response=answer, json=survey)

    page.route(f"**/s/{SLUG}/definition/", weaken)
    page.goto(f"{verify_url}#{SLUG}")
    refusal = page.get_by_text("The randomizer stopped. It says:")
    expect(refusal).to_contain_text("design.blocks[0].keep: costs more than the stated")


def test_a_survey_of_another_protocol_is_explained(verify_url: str, page: Page) -> None:
    page.route(f"**/s/{SLUG}/definition/", lambda route: route.fulfill(json={"protocol": 2}))
    page.goto(f"{verify_url}#{SLUG}")
    expect(page.get_by_text("This page cannot check this survey.")).to_be_visible()


def test_nothing_is_requested_while_the_check_runs(verify_url: str, page: Page) -> None:
    """If the button is pressed before the files are loaded, the runs wait for them."""
    held: list[Route] = []
    page.route("**/.well-known/*", lambda route: held.append(route))
    page.goto(verify_url)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("0 of 100,000 runs").first).to_be_visible()
    take_turns(page)
    expect(page.get_by_text("0 of 100,000 runs").first).to_be_visible()
    await_in(page, lambda: held, "the question for the files")
    held[0].continue_()
    expect(page.get_by_role("progressbar")).not_to_have_attribute("value", "0")
    asked = requests(page)
    expect(verdict(page)).to_be_visible(timeout=60_000)
    take_turns(page)
    assert asked == []


def test_the_check_can_be_stopped_and_run_again(verify_url: str, page: Page) -> None:
    page.goto(verify_url)
    page.get_by_role("button", name="Run").dblclick()  # the second click must not stop it
    expect(page.get_by_role("progressbar")).not_to_have_attribute("value", "0")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. Only a whole check counts").first).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_hidden()
    take_turns(page)
    expect(verdict(page)).to_have_count(0)
    run(page)
    expect(page.get_by_text("Stopped.")).to_have_count(0)


def test_the_check_goes_on_in_a_background_tab(verify_url: str, page: Page) -> None:
    """Background tabs draw no frames and delay timers for minutes."""
    page.goto(verify_url)
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    page.evaluate("globalThis.requestAnimationFrame = globalThis.setTimeout = () => 0")
    page.evaluate("document.querySelector('button').click()")
    page.wait_for_selector("h2.verdict", timeout=60_000)


def test_the_check_works_by_keyboard_and_screen_reader(verify_url: str, page: Page) -> None:
    page.add_init_script(SEEDED)
    page.goto(verify_url)
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    page.evaluate("""() => {
      globalThis.said = [];
      const status = document.querySelector("[role=status]");
      const now = performance.now.bind(performance);
      let read;  // the time by which the page decided to speak
      performance.now = () => (read = now());
      const speak = status.replaceChildren.bind(status);
      status.replaceChildren = (text) => (said.push([read, text]), speak(text));
    }""")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Language")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    expect(verdict(page)).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Run")).to_be_focused()
    said = page.evaluate("said")
    assert said[0][1] == "0 of 100,000 runs"
    assert said[-1][1] == FITS
    progress = [at for at, _ in said[:-1]]
    assert all(later - at >= 5_000 for at, later in zip(progress, progress[1:], strict=False))


# --- Wrong randomizers ----------------------------------------------------------------------------

# Off by 2 in 100: found with a probability above 1 - 1e-9, computed in tests/js/verify.test.mjs.
WRONG = {
    "keeps too many": ("nextWord(draw) < keep;", "nextWord(draw) < keep + 0.02 * SCALE;"),
    "keeps too few": ("nextWord(draw) < keep;", "nextWord(draw) < keep - 0.02 * SCALE;"),
    "leaks": ("kept ? own : chance", "kept ? own : [...chance.slice(0, -1), ...own.slice(-1)]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_randomizer_is_rejected(verify_url: str, page: Page, name: str) -> None:
    page.add_init_script(SEEDED)
    alter(page, *WRONG[name])
    page.goto(verify_url)
    run(page)
    expect(verdict(page)).to_have_text("Something does not fit what was promised.")
    expect(page.get_by_text("Chance alone does this in at most 1 of 1,000 checks")).to_be_visible()
    expect(page.get_by_text("Does not fit the promise").first).to_be_visible()
    proven = page.locator("section.card .comparison:last-child:has-text('Privacy loss')")
    expect(proven).to_have_count(2)
    if name == "leaks":
        expect(proven.first).to_contain_text("Does not fit")
        expect(proven.last).to_contain_text("Does not fit")
    # The file is not the one that the site lists.
    expect(page.get_by_text("1 file does not agree")).to_be_visible()
    altered = page.locator(".files li", has_text="randomizer")
    expect(altered).to_contain_text("Differs from the list")


def test_a_randomizer_that_breaks_down_is_reported(verify_url: str, page: Page) -> None:
    alter(page, "const kept =", "if (--left < 0) throw Error('tired'); const kept =")
    page.add_init_script("globalThis.left = 1000;")
    page.goto(verify_url)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("It says: \u2068tired").first).to_be_visible()
    expect(page.get_by_role("button", name="Run")).to_be_visible()


# --- The files ------------------------------------------------------------------------------------


def test_every_listed_file_agrees_and_the_hashes_can_be_copied(
    verify_url: str, page: Page, candor_server: Candor
) -> None:
    page.goto(verify_url)
    listed = page.request.get(f"{candor_server.url}/.well-known/candor-manifest.json").json()
    count = len(listed["files"])
    expect(page.get_by_text(f"All {count} files agree with the list")).to_be_visible()
    page.get_by_text("Show what this means, and the fingerprints").click()
    expect(page.locator(".files li")).to_have_count(count)
    expect(page.get_by_text("docs/monitor.py, run by somebody else")).to_be_visible()
    page.evaluate(
        "addEventListener('copy', (e) => { globalThis.copied = e.clipboardData.getData('text'); })"
    )
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    lines = [f"{entry['sha256']}  {path}\n" for path, entry in listed["files"].items()]
    assert page.evaluate("copied") == "".join(lines)


def change_manifest(page: Page, change: Callable[[dict[str, Any]], Any]) -> None:
    def answer(route: Route) -> None:
        response = route.fetch()
        manifest = response.json()
        change(manifest["files"])
        route.fulfill(response=response, json=manifest)

    page.route("**/.well-known/*", answer)


def test_files_that_do_not_agree_are_shown(verify_url: str, page: Page) -> None:
    def change(files: dict[str, Any]) -> None:
        files["/s/"]["sha256"] = "0" * 64
        files["/static/gone.js"] = {"sha256": "1" * 64, "bytes": 1}
        files["https://elsewhere.example/x.js"] = {"sha256": "2" * 64, "bytes": 1}
        files["//elsewhere.example/x.js"] = "nonsense"

    change_manifest(page, change)
    asked = requests(page)
    page.goto(verify_url)
    expect(page.get_by_text("4 files do not agree")).to_be_visible()
    first = page.locator(".files li").filter(has=page.get_by_text("/s/", exact=True))
    expect(first).to_contain_text("Differs from the list")
    for name in ("gone.js", "https://elsewhere", "//elsewhere.example/x.js"):
        item = page.locator(".files li", has_text=name).last
        expect(item).to_contain_text("Could not be loaded")
    assert not [url for url in asked if "elsewhere" in url]


def test_without_https_nothing_is_compared(verify_url: str, page: Page) -> None:
    page.add_init_script(
        "Object.defineProperty(Crypto.prototype, 'subtle', {get: () => undefined})"
    )
    page.goto(verify_url)
    expect(page.get_by_text("on an address without https")).to_be_visible()
    expect(page.get_by_text("Agrees with the list")).to_have_count(0)
    expect(page.locator(".files li").first).to_be_visible()


@pytest.mark.parametrize("answer", [{"status": 404}, {"body": "no JSON"}, {"body": "[]"}])
def test_the_check_runs_without_the_list_of_files(
    verify_url: str, page: Page, answer: dict[str, Any]
) -> None:
    page.add_init_script(SEEDED)
    page.route("**/.well-known/*", lambda route: route.fulfill(**answer))
    page.goto(verify_url)
    expect(page.get_by_text("The list of files could not be loaded")).to_be_visible()
    run(page)
    expect(verdict(page)).to_have_text(FITS)


# --- For everybody --------------------------------------------------------------------------------


def check_access(page: Page) -> None:
    """Expect no violation and no horizontal scrolling on a phone and a laptop, light and dark."""
    for size in ((320, 640), (1280, 800)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            loaded = page.evaluate("'axe' in window")  # until the page is left
            found = Axe(*["0"] * loaded).run(page)
            assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_is_accessible_before_during_and_after(verify_url: str, page: Page) -> None:
    held: list[Route] = []
    page.add_init_script(SEEDED)
    page.route("**/.well-known/*", lambda route: held.append(route))
    page.goto(f"{verify_url}#{SLUG}")
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    check_access(page)
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    check_access(page)
    held[0].continue_()
    expect(verdict(page)).to_have_text(FITS, timeout=60_000)
    for summary in page.locator("summary").all():
        summary.click()
    check_access(page)
    page.goto(f"{verify_url}#nowhere")
    page.reload()
    expect(page.get_by_text("There is no survey")).to_be_visible()
    check_access(page)


# --- In every language ----------------------------------------------------------------------------

LANGUAGES = {
    "de-AT": ("de", "ltr", "Das Zufallsprogramm prüfen", "Es hält, was versprochen wurde"),
    "ar-EG": ("ar", "rtl", "اختبار برنامج الصدفة", "يفعل البرنامج ما وُعد به"),
}
QUESTIONS = {
    "de": ("Eine kleine Umfrage", [("Haben Sie?", "de"), ("Which?", "en")], "Ja · "),
    "ar": ("A small survey", [("Did you?", "en"), ("Which?", "en")], "Yes · "),
}


@pytest.mark.parametrize("locale", LANGUAGES)
def test_the_whole_check_is_in_the_readers_language(
    verify_url: str, new_context: Callable[..., BrowserContext], locale: str
) -> None:
    tag, direction, title, fits = LANGUAGES[locale]
    page = new_context(locale=locale).new_page()
    page.add_init_script(SEEDED)
    page.goto(f"{verify_url}#{SLUG}")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    assert page.title() == title
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [
        tag, direction,
    ]  # fmt: skip
    runs = page.evaluate(f"new Intl.NumberFormat('{locale}-u-nu-latn').format(100_000)")
    button = page.locator("button.primary")
    expect(button).to_contain_text(runs)
    button.click()
    expect(verdict(page)).to_contain_text(fits, timeout=60_000)
    expect(verdict(page)).to_contain_text(runs)
    page.locator("details.findings > summary").click()
    card = page.locator("section.card").first
    share = float(card.locator(".bar .seen").first.get_attribute("width") or 0) / 1000
    options = "{style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1}"
    percent = page.evaluate(
        f"new Intl.NumberFormat('{locale}-u-nu-latn', {options}).format({share})"
    )
    expect(card.locator(".figures").first).to_contain_text(percent)
    survey, questions, answer = QUESTIONS[tag]
    expect(page.locator(".screen > p:not(:has(a))").last).to_contain_text(survey)
    headings = card.get_by_role("heading", level=3).all()
    assert [(one.inner_text(), one.get_attribute("lang")) for one in headings] == questions
    expect(card.locator("figcaption").last).to_contain_text(answer)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    check_access(page)


def test_pictures_and_figures_go_from_right_to_left_in_arabic(
    verify_url: str, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(locale="ar-EG").new_page()
    page.add_init_script(SEEDED)
    page.goto(verify_url)
    page.locator("button.primary").click()
    expect(verdict(page)).to_be_visible(timeout=60_000)
    page.locator("details.findings > summary").click()

    def box(selector: str) -> dict[str, float]:
        found = page.locator(selector).first.bounding_box()
        assert found is not None
        return {"left": found["x"], "right": found["x"] + found["width"]}

    bar, seen, tick = box(".bar"), box(".bar .seen"), box(".bar .tick")
    assert seen["right"] == pytest.approx(bar["right"], abs=1)
    width = bar["right"] - bar["left"]
    assert tick["left"] == pytest.approx(bar["right"] - 0.75 * width, abs=3)
    counted, promised = box(".figures bdi"), box(".figures .promised")
    assert promised["right"] <= counted["left"]


def test_a_change_of_language_keeps_the_run_and_its_result(verify_url: str, page: Page) -> None:
    page.add_init_script(SEEDED)
    held: list[Route] = []
    page.route("**/.well-known/*", lambda route: held.append(route))
    page.goto(verify_url)
    page.get_by_role("button", name="Run").click()
    menu = page.locator("header select")
    menu.select_option("de")  # while it waits for the files
    expect(page.get_by_role("button", name="Anhalten")).to_be_visible()
    expect(page.locator("#progress")).to_have_text("0 von 100.000 Durchläufen")
    held[0].continue_()
    fits = "Es hält, was versprochen wurde, soweit 100.000 Durchläufe das zeigen können."
    expect(verdict(page)).to_have_text(fits, timeout=60_000)
    expect(page.get_by_text("stimmen mit der Liste überein")).to_be_visible()
    asked = requests(page)
    counted = page.locator("section.card td").all_text_contents()
    menu.select_option("en")
    expect(verdict(page)).to_have_text(FITS)
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    page.locator("details.findings > summary").click()
    expect(page.get_by_role("heading", level=3).first).to_have_text("Example question 1")
    again = page.locator("section.card td").all_text_contents()
    swap = str.maketrans(".,", ",.")
    assert counted and again == [figure.translate(swap) for figure in counted]
    assert page.title() == "Check the randomizer"
    assert asked == []
    # A stopped run and an address without a survey are also shown in the new language.
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".outcome")).to_contain_text("Stopped.")
    menu.select_option("fr")
    expect(page.locator(".outcome")).to_contain_text("Arrêté.")
    page.evaluate("location.hash = 'nowhere'")
    expect(page.get_by_text("Il n’y a pas de questionnaire à cette adresse.")).to_be_visible()
    menu.select_option("es")
    expect(page.get_by_text("No hay ninguna encuesta con esta dirección.")).to_be_visible()
