"""Analyses in a real browser with a real worker."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect

from tests.support.pages import VIEWPORTS, log_in, looked_at, no_violations
from tests.support.services import Candor

pytestmark = pytest.mark.browser

SLUG = "clinic"
# Everyone is asked everything, so that every kind of analysis is possible.
SURVEY: dict[str, Any] = {
    "slug": SLUG,
    "title": "At the clinic",
    "introduction": "Four questions and two about the background.",
    "epsilon": 8,
    "crowd": 20,
    "questions": [
        {"key": "tired", "text": "Are you often too tired to work well?", "kind": "yes_no"},
        {"key": "leave", "text": "Are you thinking of leaving?", "kind": "yes_no"},
        {"key": "ill", "text": "Did you come to work although you were ill?", "kind": "yes_no"},
        {"key": "shift", "text": "Which shift is the hardest?", "kind": "choice",
         "options": ["Early", "Late", "Night"]},
        *({"key": f"s{i}", "text": f"Did you skip break {i}?", "kind": "yes_no"}
          for i in range(1, 7)),
    ],
    "background": [
        {"key": "role", "text": "What do you work as?", "options": ["Nurse", "Doctor", "Other"]},
        {"key": "site", "text": "Where?", "options": ["North", "South"]},
    ],
    "blocks": [["tired", "leave"], ["ill"], ["shift"], ["s1", "s2"], ["s3", "s4"], ["s5", "s6"]],
    "ask": 6,
}  # fmt: skip
# Two kinds of people, so that answers are related; nobody in the third role is tired.
POPULATE = """
from random import Random
from aggregation.releases.publish import make_release
from survey import simulation
from survey.models import Survey
survey = Survey.objects.get(slug="clinic")
random = Random(7)
def population(given):
    yes = 0.75 if random.random() < 0.4 else 0.15
    shares = {key: [1 - yes, yes] for key in ("leave", "ill", "s1", "s2", "s3", "s4", "s5", "s6")}
    nobody = given["role"] == 2
    return shares | {"tired": [1, 0] if nobody else [1 - yes, yes], "shift": [0.2, 0.3, 0.5]}
background = {"role": [0.5, 0.2, 0.3, 0], "site": [0.7, 0.3, 0]}
for _ in simulation.send("clinic", survey.frozen_design(), 4000, population, background, random):
    pass
make_release(survey)
"""
MARGINS = """question;group;share
role;Nurse;0,4
role;Doctor;0,1
role;Other;0,5
site;North;0,5
site;South;0,5
"""


@pytest.fixture(scope="session")
def clinic(candor_server: Candor) -> str:
    candor_server.load_demo()
    candor_server.open_survey(SURVEY)
    candor_server.manage("shell", "-v0", "-c", POPULATE)
    return f"{candor_server.url}/surveys/{SLUG}/analyses/"


@pytest.fixture
def here(clinic: str, page: Page) -> Iterator[Page]:
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(message.text)

    page.on("console", on_console)
    log_in(page, clinic, "admin")
    yield page
    assert problems == []


def ask(page: Page, kind: str) -> None:
    page.get_by_role("navigation", name="Kinds of analyses").get_by_role("link", name=kind).click()


def done(page: Page) -> None:
    """Run the analysis and wait until its result appears without a reload."""
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="Download")).to_be_visible(timeout=60_000)


def saved(page: Page, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("link", name=name, exact=True).click()
    return download.value.path().read_text(encoding="utf-8")


def test_a_researcher_makes_a_table_and_downloads_it(here: Page, clinic: str) -> None:
    here.goto(clinic.removesuffix("analyses/"))
    here.get_by_role("link", name="Explore").click()
    ask(here, "Table")
    here.get_by_role("button", name="Run", exact=True).click()
    expect(here.get_by_text("Choose 2 to 4, not 0.")).to_be_visible()
    here.get_by_label("Rows").select_option("tired")
    here.get_by_label("Columns").select_option("leave")
    done(here)
    expect(here.get_by_role("heading", level=1)).to_contain_text("too tired to work well?” by")
    expect(here.get_by_text("The two answers are associated")).to_be_visible()
    cells = list(csv.DictReader(io.StringIO(saved(here, "CSV"))))
    both = next(row for row in cells if row["tired"] == row["leave"] == "Yes")
    shown = f"{100 * float(both['estimate']):.1f}\u202f%"
    expect(here.locator("table.heat").first).to_contain_text(shown)
    assert json.loads(saved(here, "JSON"))["state"] == "done"
    picture = saved(here, "Picture of the joint shares as SVG")
    assert picture.startswith("<?xml") and 'xmlns="http://www.w3.org/2000/svg"' in picture
    # The result is saved and listed.
    address = here.url
    here.goto(f"{clinic}?kind=crosstab")
    here.get_by_label("Rows").select_option("tired")
    here.get_by_label("Columns").select_option("leave")
    here.get_by_role("button", name="Run", exact=True).click()
    expect(here).to_have_url(address)
    here.get_by_role("link", name="Explore").click()
    expect(here.locator(".asked li").first).to_contain_text(
        re.compile(r"Table · release \d · Done")
    )


def test_a_table_shows_groups_and_slices(here: Page) -> None:
    ask(here, "Table")
    for label, key in (("Rows", "tired"), ("Columns", "site"), ("Slices (optional)", "ill")):
        here.get_by_label(label, exact=True).select_option(key)
    done(here)
    expect(here.get_by_role("columnheader", name="North").first).to_be_visible()
    expect(here.get_by_role("columnheader", name="Prefer not to say").first).to_be_visible()
    expect(
        here.get_by_text("Did you come to work although you were ill? Yes").first
    ).to_be_visible()


def test_a_regression_leads_back_to_its_form(here: Page) -> None:
    ask(here, "Regression")
    here.get_by_label("The answer or mean to explain").select_option("ill:yes")
    here.get_by_label("By", exact=True).select_option("site:south")
    here.get_by_label("And by (optional)", exact=True).select_option("leave")
    done(here)
    expect(here.locator("table.effects svg.track")).to_have_count(2)
    expect(here.get_by_text("References: Where? any other answer; Are you")).to_be_visible()
    expect(here.get_by_text("The clearest difference: “Yes” (Are you thinking")).to_be_visible()
    assert "odds_ratio" in saved(here, "CSV")
    here.get_by_role("link", name="Change the analysis").click()
    expect(here.get_by_label("The answer or mean to explain")).to_have_value("ill:yes")
    expect(here.get_by_label("By", exact=True)).to_have_value("site:south")
    expect(here.get_by_label("And by (optional)", exact=True)).to_have_value("leave")


def test_a_whole_background_question_explains(here: Page) -> None:
    """Nobody declines, so that coefficient has no estimate; the others do."""
    ask(here, "Regression")
    here.get_by_label("The answer or mean to explain").select_option("tired:yes")
    here.get_by_label("By", exact=True).select_option("role")
    done(here)
    expect(here.get_by_role("rowheader", name="Doctor")).to_be_visible()
    expect(here.get_by_role("rowheader", name="Prefer not to say")).to_be_visible()
    expect(here.get_by_text("References: What do you work as? Nurse.")).to_be_visible()


def test_profiles_are_found_and_explained(here: Page) -> None:
    ask(here, "Profiles")
    for text in ("tired to work", "thinking of leaving", "although you were ill", "break 1"):
        here.get_by_label(text).check()
    done(here)
    expect(here.get_by_role("columnheader", name="Profile 2")).to_be_visible()
    expect(here.get_by_text("nobody can be assigned to one")).to_be_visible()
    expect(here.locator("svg.bar")).to_have_count(16)


def test_weights_can_be_pasted_or_uploaded(here: Page) -> None:
    ask(here, "Weights")
    box = here.get_by_label("The population, as CSV")
    assert "role,Nurse," in box.input_value()
    box.fill(MARGINS.replace("Doctor", "Surgeon"))
    here.get_by_role("button", name="Run", exact=True).click()
    expect(here.get_by_text("Line 3: there is no group “Surgeon” in role")).to_be_visible()
    expect(box).to_have_value(MARGINS.replace("Doctor", "Surgeon"))
    file = {"name": "m.csv", "mimeType": "text/csv", "buffer": MARGINS.encode()}
    here.get_by_label("Or upload a file").set_input_files(file)  # type: ignore[arg-type]
    done(here)
    expect(here.get_by_role("heading", name="Which shift is the hardest?")).to_be_visible()
    expect(here.get_by_text("responses, raked.").first).to_be_visible()
    expect(here.locator("svg.track")).to_have_count(12)
    # A third of the weight, and more of it on those who are never tired: the share falls.
    rows = list(csv.DictReader(io.StringIO(saved(here, "CSV"))))
    tired = next(row for row in rows if row["option"] == "Yes")
    assert float(tired["weighted"]) < float(tired["raw"]) - 0.03


def test_progress_moves_and_work_is_cancelled(here: Page) -> None:
    ask(here, "Profiles")
    for box in here.get_by_role("checkbox").all():
        box.check()
    here.get_by_label("How many profiles").select_option("6")
    here.get_by_role("button", name="Run", exact=True).click()
    bar = here.get_by_role("progressbar")
    expect(bar).to_be_visible()
    here.evaluate("window.same = true")
    expect(here.get_by_role("status")).to_have_text("Running")
    expect(bar).to_have_js_property("value", 0.8)  # counted, and computing
    assert here.evaluate("window.same") is True
    here.get_by_role("button", name="Cancel").click()
    expect(here.get_by_role("heading", name="Cancelled")).to_be_visible()
    here.get_by_role("link", name="Change the analysis").click()
    expect(here.get_by_label("How many profiles")).to_have_value("6")
    here.get_by_label("How many profiles").select_option("2")
    done(here)


def test_too_few_people_for_a_weight_are_named(candor_server: Candor, page: Page) -> None:
    few = SURVEY | {"slug": "few", "title": "A few"}
    candor_server.load_demo()
    candor_server.open_survey(few)
    populate = POPULATE.replace("clinic", "few").replace("4000", "90")
    candor_server.manage("shell", "-v0", "-c", populate.replace("[0.7, 0.3, 0]", "[1, 0, 0]"))
    log_in(page, f"{candor_server.url}/surveys/few/analyses/?kind=weights", "admin")
    margins = "question,group,count\nsite,North,70\nsite,South,30\n"
    page.get_by_label("The population, as CSV").fill(margins)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name="This could not be computed")).to_be_visible(
        timeout=60_000
    )
    expect(page.get_by_text("how many people are in “South” of “Where?”")).to_be_visible()
    no_violations(page)
    page.get_by_role("link", name="Change the analysis").click()
    expect(page.get_by_label("The population, as CSV")).to_have_value(
        re.compile("site,south,30", re.IGNORECASE)
    )


def test_only_members_can_open_a_shared_analysis(
    candor_server: Candor, here: Page, new_context: Callable[..., BrowserContext]
) -> None:
    ask(here, "Table")
    here.get_by_label("Rows").select_option("s1")
    here.get_by_label("Columns").select_option("s2")
    done(here)
    other = new_context().new_page()
    log_in(other, here.url, "researcher")
    expect(other.get_by_role("heading", name="You don’t have access to this page")).to_be_visible()
    candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.models import *; from django.contrib.auth.models import User; "
        "Membership.objects.create(survey=Survey.objects.get(slug='clinic'), "
        "user=User.objects.get(username='researcher'))",
    )  # fmt: skip
    other.goto(here.url)
    expect(other.get_by_role("heading", level=1)).to_contain_text("skip break 1?” by")


def test_without_script_a_link_reloads_the_progress(
    clinic: str, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    log_in(page, f"{clinic}?kind=profiles", "admin")
    for box in page.get_by_role("checkbox").all()[:9]:
        box.check()
    page.get_by_label("How many profiles").select_option("5")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Refresh").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()


def test_a_researcher_can_ask_with_the_keyboard_alone(here: Page, clinic: str) -> None:
    keys = here.keyboard

    def tab_to(name: str) -> None:
        script = (
            "document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent"
        )
        for _ in range(40):
            keys.press("Tab")
            if here.evaluate(script).strip().startswith(name):
                return
        raise AssertionError(f"{name} cannot be reached with Tab")

    tab_to("Table")
    keys.press("Enter")
    expect(here).to_have_url(f"{clinic}?kind=crosstab#ask")
    tab_to("Rows")
    keys.press("ArrowDown")
    tab_to("Columns")
    for _ in range(2):  # what is chosen for the rows is greyed out
        keys.press("ArrowDown")
    tab_to("Run")
    keys.press("Enter")
    expect(here.get_by_role("heading", name="Download")).to_be_visible(timeout=60_000)
    expect(here.get_by_role("heading", level=1)).to_contain_text("although you were ill?")


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_the_pages_are_accessible(here: Page, clinic: str, viewport: tuple[int, int]) -> None:
    here.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    looked_at(here)
    for kind in ("crosstab", "regression", "profiles", "weights"):
        here.goto(f"{clinic}?kind={kind}")
        looked_at(here)
        if kind == "crosstab":
            here.get_by_label("Rows").select_option("tired")
            here.get_by_label("Columns").select_option("shift")
        elif kind == "regression":
            here.get_by_label("The answer or mean to explain").select_option("leave:yes")
            here.get_by_label("By", exact=True).select_option("role")
        elif kind == "profiles":
            for text in ("tired to work", "thinking of leaving", "although you were ill"):
                here.get_by_label(text).check()
        else:
            here.get_by_role("button", name="Run", exact=True).click()
            expect(here.get_by_role("alert")).to_be_visible()
            looked_at(here)
            here.get_by_label("The population, as CSV").fill(MARGINS)
        done(here)
        looked_at(here)


def test_what_cannot_be_combined_is_greyed_out(here: Page, clinic: str) -> None:
    here.goto(f"{clinic}?kind=regression")
    by, further = here.get_by_label("By", exact=True), here.get_by_label("And by (optional)")
    here.get_by_label("The answer or mean to explain").select_option("shift:night")
    expect(by.locator("option[value='shift']")).to_be_disabled()
    expect(by.locator("option[value='role']")).to_be_enabled()
    by.select_option("role")
    expect(further.locator("option[value='role:nurse']")).to_be_disabled()
    by.select_option("")
    expect(further.locator("option[value='role:nurse']")).to_be_enabled()
    here.goto(f"{clinic}?kind=crosstab")
    here.get_by_label("Rows").select_option("tired")
    expect(here.get_by_label("Columns").locator("option[value='tired']")).to_be_disabled()
