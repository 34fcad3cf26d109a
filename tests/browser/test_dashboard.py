"""The dashboard, the trend and the overview in a real browser."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

from tests.support.pages import SLUG, VIEWPORTS, log_in, looked_at
from tests.support.services import Candor

pytestmark = pytest.mark.browser

RELEASE = (
    "from aggregation.releases.publish import make_release; "
    f"make_release(Survey.objects.get(slug='{SLUG}'))"
)


@pytest.fixture
def dashboard(candor_server: Candor, page: Page) -> Iterator[Page]:
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    candor_server.load_demo()
    page.on("console", note)
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    yield page
    assert errors == []


def first_interval(page: Page) -> str:
    text = page.locator(".estimates .interval").first.inner_text()
    low, high = re.findall(r"[\d.]+", text)  # a grid leaves out the unit
    return f"{low} % to {high} %"


def fake(page: Page) -> Locator:
    """Open the panel of fake responses and return its field."""
    if not page.locator("#fake").evaluate("(one) => one.open"):
        page.get_by_text("What if some responses are fake?").click()
    return page.get_by_role("spinbutton")


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"[\d.]+(?=\s*%)", text)]


def test_level_and_interval_change_without_a_reload(dashboard: Page) -> None:
    dashboard.evaluate("window.same = true")
    why = dashboard.locator("#why")
    expect(why).to_contain_text("The survey is open, so the intervals are valid at every look")
    expect(dashboard.get_by_role("button", name="Show", exact=True)).to_be_hidden()
    watched = first_interval(dashboard)
    dashboard.get_by_label("Intervals").select_option("For one look")
    expect(why).to_contain_text("95 % restricted Blaker interval")
    once = first_interval(dashboard)
    (low, high), (lower, higher) = numbers(once), numbers(watched)
    assert lower < low < high < higher
    dashboard.get_by_label("Level").select_option("99 %")
    expect(why).to_contain_text("99 % restricted Blaker interval")
    expect(dashboard.locator("table.estimates thead").first).to_contain_text("99 % interval")
    assert dashboard.url.endswith("?interval=fixed&level=99")

    # The choice also applies to the groups, and the address can be shared.
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").last.click()
    expect(dashboard).to_have_url(re.compile(r"\?by=\w+&level=99&interval=fixed"))
    expect(why).to_contain_text("99 % restricted Blaker interval")
    dashboard.get_by_label("Level").select_option("95 %")
    expect(why).to_contain_text("95 % restricted Blaker interval")
    dashboard.get_by_label("Intervals").select_option("Valid at every look")
    expect(why).to_contain_text("95 % confidence sequence")
    assert re.search(r"/\?by=\w+$", dashboard.url)
    assert first_interval(dashboard) == watched


def test_the_slider_of_forged_reports_widens_the_intervals(dashboard: Page) -> None:
    field, slider = fake(dashboard), dashboard.get_by_role("slider")
    before = numbers(first_interval(dashboard))
    slider.focus()
    for _ in range(4):
        dashboard.keyboard.press("ArrowRight")
    expect(field).to_have_value("2")
    expect(dashboard.locator("#why")).to_contain_text("If up to 2 % of the responses are fake")
    expect(slider).to_be_focused()
    wider = numbers(first_interval(dashboard))
    assert wider[0] < before[0] and before[1] < wider[1]
    field.fill("10")
    expect(slider).to_have_value("10")
    expect(dashboard.locator("#why")).to_contain_text("If up to 10 % of the responses are fake")
    assert "forged=10" in dashboard.url
    field.fill("25")
    expect(dashboard.locator("#why")).to_contain_text("Forged: A number from 0 to 20.")
    expect(field).to_be_focused()
    field.fill("")
    expect(dashboard.locator("#why")).not_to_contain_text("fake")
    assert numbers(first_interval(dashboard)) == before


def test_the_page_stays_when_the_server_does_not_answer(dashboard: Page) -> None:
    shown = first_interval(dashboard)
    dashboard.route("**/surveys/*/?*", lambda route: route.fulfill(status=200, body=""))
    dashboard.get_by_label("Level").select_option("80 %")
    expect(dashboard.locator("#why")).to_have_text("The server is not responding.")
    assert first_interval(dashboard) == shown
    dashboard.unroute("**/surveys/*/?*")
    dashboard.get_by_label("Level").select_option("90 %")
    expect(dashboard.locator("#why")).to_contain_text("90 % confidence sequence")


def test_groups_are_compared_in_words_and_in_numbers(dashboard: Page) -> None:
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").nth(1).click()
    dashboard.get_by_role("link", name="Table", exact=True).click()  # with all differences
    section = dashboard.locator("section.question").first
    expect(section.locator("p.differences")).to_contain_text(
        re.compile(
            r"(The groups differ|No clear difference) \(p .*, after adjusting for 9 questions"
        )
    )
    summary = section.locator("summary").first
    summary.focus()
    dashboard.keyboard.press("Enter")
    table = section.locator("details[id^=pairs] table")
    expect(table).to_be_visible()
    for pair in ("Nurse minus Doctor", "Nurse minus Other staff", "Doctor minus Other staff"):
        expect(table.get_by_role("row").filter(has_text=pair)).to_have_count(3)  # options
    # It stays open while the figures change.
    dashboard.get_by_label("Level").select_option("80 %")
    expect(table.locator("thead")).to_contain_text("80 % interval")
    expect(table).to_be_visible()


def test_the_page_keeps_itself_up_to_date(candor_server: Candor, dashboard: Page) -> None:
    dashboard.evaluate("window.same = true")
    counted = dashboard.locator("#counted").inner_text()
    dashboard.get_by_label("Level").select_option("90 %")
    expect(dashboard.locator("#why")).to_contain_text("90 %")
    number = int(dashboard.locator("#release").inner_text().split()[0])
    before = dashboard.locator("#waiting").inner_text()
    candor_server.manage("simulate", SLUG, "--people", "200", "--seed", "1")
    expect(dashboard.locator("#waiting")).not_to_have_text(before)
    expect(dashboard.locator("#waiting")).to_contain_text("or more")
    before = first_interval(dashboard)
    candor_server.manage("shell", "-v0", "-c", RELEASE)
    expect(dashboard.locator("#release")).to_contain_text(str(number + 1))
    expect(dashboard.locator("#counted")).not_to_have_text(counted)
    expect(dashboard.locator("#cite")).to_contain_text(f"Release {number + 1} of")
    expect(dashboard.locator("#why")).to_contain_text("90 %")  # with the reader’s choice
    assert first_interval(dashboard) != before
    assert dashboard.evaluate("window.same") is True


def test_the_trend_can_be_read_by_pointer_and_by_keyboard(
    candor_server: Candor, dashboard: Page
) -> None:
    for _ in range(2):
        candor_server.manage("simulate", SLUG, "--people", "200", "--seed", "1")
        candor_server.manage("shell", "-v0", "-c", RELEASE)
    dashboard.get_by_role("link", name="Over time").click()
    expect(dashboard.locator("svg.trend")).to_have_count(10)
    with dashboard.expect_download() as download:
        dashboard.get_by_role("link", name="Download all releases").click()
    assert download.value.suggested_filename == f"{SLUG}-over-time.csv"
    dashboard.get_by_label("Question").select_option("leaving")
    dashboard.get_by_role("button", name="Show").click()
    plot = dashboard.locator("svg.trend").first
    marks = plot.locator(".mark")
    assert marks.count() >= 3
    tips = plot.locator(".tip:visible")
    expect(tips).to_have_count(0)
    marks.first.locator(".reach").hover(position={"x": 3, "y": 3})
    expect(tips).to_have_text(re.compile(r"^Release 1, .* responses.*%, interval .* to "))
    last = marks.last
    dashboard.get_by_role("link", name="Download all releases").focus()
    dashboard.keyboard.press("Tab")
    expect(last).to_be_focused()  # one tab stop, at the newest point
    dashboard.mouse.move(0, 0)
    said = last.get_attribute("aria-label") or ""
    expect(tips).to_have_text(said.replace("responses: ", "responses"))
    dashboard.keyboard.press("Home")
    expect(marks.first).to_be_focused()
    dashboard.keyboard.press("ArrowRight")
    expect(marks.nth(1)).to_be_focused()
    # The same numbers stand in the table.
    estimate, low, high = numbers(said)
    row = dashboard.locator("table.figures tbody tr").last.inner_text()
    assert numbers(row)[:3] == [estimate, low, high]
    dashboard.get_by_label("Question").select_option("exhausted")
    dashboard.get_by_role("button", name="Show").click()
    expect(dashboard.locator("svg.trend")).to_have_count(5)  # four options and the mean


def test_without_script_a_button_shows_the_choice(
    candor_server: Candor, new_context: Callable[..., BrowserContext]
) -> None:
    candor_server.load_demo()
    page = new_context(java_script_enabled=False).new_page()
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    field = fake(page)
    expect(page.get_by_role("slider")).to_be_hidden()
    page.get_by_label("Level").select_option("90 %")
    field.fill("5")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("#why")).to_contain_text("90 % confidence sequence")
    expect(page.locator("#why")).to_contain_text("If up to 5 % of the responses are fake")


def test_the_overview_leads_to_a_survey_with_the_same_figures(
    candor_server: Candor, dashboard: Page
) -> None:
    dashboard.get_by_role("link", name="Surveys").click()
    card = dashboard.locator("li.card", has_text="Wellbeing at work")
    lines = card.get_by_role("list", name=re.compile("Estimates of release")).get_by_role(
        "listitem"
    )
    expect(lines).to_have_count(4)
    expect(card).to_contain_text("and 4 more questions")
    share = numbers(lines.first.inner_text())[0]
    card.get_by_role("link").click()
    row = dashboard.locator("table.estimates").first.get_by_role("row", name="Yes")
    assert numbers(row.locator("td.strong").inner_text()) == [share]


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_dashboard_trend_and_overview_are_accessible(
    dashboard: Page, viewport: tuple[int, int]
) -> None:
    dashboard.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    here = dashboard.url.partition("?")[0]
    for query in (
        "?by=role&level=80&forged=5",
        "?level=x&forged=99",
        "trend/?question=exhausted",
        "trend/",
        "settings/",
        "files/",
        "?by=role&view=table&order=largest",
        "..",
    ):
        dashboard.goto(f"{here}{query}")
        dashboard.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
        looked_at(dashboard)


EIGHT = {
    "slug": "printed",
    "title": "To be printed",
    "epsilon": 2,
    "crowd": 20,
    "questions": [
        *({"key": f"q{i}", "text": f"Did you do number {i} at work?", "kind": "yes_no"}
          for i in range(5)),
        {"key": "how-often", "text": "How often?", "kind": "choice",
         "options": ["Rarely or never", "Sometimes", "Often", "Always"]},
    ],
    "background": [
        {"key": "role", "text": "What do you work as?", "options": ["Nurse", "Doctor", "Other"]},
        {"key": "years", "text": "For how long?", "options": ["Under 5", "5 to 14", "15 or more"]},
    ],
}  # fmt: skip


def pages(page: Page) -> int:
    printed = page.pdf(format="A4", print_background=False)
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def test_eight_questions_print_on_one_page_and_ten_of_every_kind_on_two(
    candor_server: Candor, page: Page
) -> None:
    candor_server.load_demo()
    candor_server.open_survey(EIGHT)
    candor_server.manage("simulate", "printed", "--people", "200", "--seed", "1")
    candor_server.manage("shell", "-v0", "-c", RELEASE.replace(SLUG, "printed"))
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/", "admin")
    assert pages(page) == 2
    page.goto(f"{candor_server.url}/surveys/printed/")
    assert pages(page) == 1
    page.emulate_media(media="print")
    for text in ("To be printed", "Release", "sha256:", "95 % confidence sequence"):
        expect(page.get_by_text(text).locator("visible=true").first).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.locator("table.estimates thead").first).to_be_visible()  # as a table


# --- Findings and toolbar -------------------------------------------------------------------------


def test_the_findings_share_an_axis_over_half_of_the_page_and_can_be_sorted(
    dashboard: Page,
) -> None:
    dashboard.set_viewport_size({"width": 1280, "height": 800})
    widths = dashboard.locator(".glance .picture svg").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().width)"
    )
    main = dashboard.locator("main").evaluate("(one) => one.getBoundingClientRect().width")
    assert len(widths) == 10 and 2 * max(widths) >= main

    def shares() -> list[float]:
        """Return the shares in their order, without bounds and means."""
        texts = dashboard.locator(".glance .share").all_inner_texts()
        return [numbers(text)[0] for text in texts if re.match(r"[\d.]+\s*%$", text)]

    before = shares()
    dashboard.get_by_role("link", name="Largest first").click()
    expect(dashboard.get_by_role("link", name="Largest first")).to_have_attribute(
        "aria-current", "true"
    )
    assert len(before) > 4 and shares() == sorted(before, reverse=True)
    expect(dashboard.locator("p.worth")).to_contain_text(
        re.compile(r"[\d,]+ protected answers tell as much as about [\d,]+ direct ones\.")
    )


def test_the_toolbar_stays_in_sight_and_keeps_every_choice(dashboard: Page) -> None:
    dashboard.set_viewport_size({"width": 1280, "height": 800})
    dashboard.locator("section.question").last.scroll_into_view_if_needed()
    box = dashboard.locator(".toolbar").bounding_box()
    assert box and 0 <= box["y"] < 10
    dashboard.get_by_role("link", name="Table", exact=True).click()
    expect(dashboard.locator("table.estimates")).to_have_count(0)
    expect(dashboard.locator("table.numbers").first).to_contain_text("Standard error")
    dashboard.get_by_label("Level").select_option("90 %")
    expect(dashboard.locator("#why")).to_contain_text("90 % confidence sequence")
    assert "view=table" in dashboard.url and "level=90" in dashboard.url
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").last.click()
    expect(dashboard).to_have_url(re.compile(r"\?by=years&level=90&view=table"))
    dashboard.get_by_role("link", name="Chart", exact=True).click()
    expect(dashboard).to_have_url(re.compile(r"\?by=years&level=90$"))


def test_results_by_group_are_at_most_three_times_as_tall(dashboard: Page) -> None:
    tall = "document.documentElement.scrollHeight"
    everybody = dashboard.evaluate(tall)
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").nth(1).click()
    expect(dashboard.locator("table.grid").first).to_be_visible()
    assert dashboard.evaluate(tall) <= 3 * everybody


def test_a_phone_shows_the_estimate_and_interval_of_every_line(dashboard: Page) -> None:
    dashboard.set_viewport_size({"width": 360, "height": 740})
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").nth(1).click()
    expect(dashboard.locator("table.grid").first).to_be_visible()
    for part in (".glance .share", ".glance .limits", ".estimates .strong", ".estimates .interval"):
        found = dashboard.locator(part)
        boxes = found.evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect())"
            ".map(({ left, right, height }) => [left, right, height])"
        )
        assert boxes and all(0 <= x < y <= 360 and height > 0 for x, y, height in boxes), part
