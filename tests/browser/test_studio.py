"""The studio in a real browser: from an empty list to a draft, and when things go wrong."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Dialog, Locator, Page, expect

from tests.support.pages import await_in, log_in, no_violations
from tests.support.services import Candor

pytestmark = pytest.mark.browser

MAKER = (
    "from django.contrib.auth.models import *; "
    "u, _ = User.objects.get_or_create(username='{name}'); u.set_password('long-enough-{name}'); "
    "u.save(); u.user_permissions.add(Permission.objects.get(codename='add_survey'))"
)

HOUR = (
    "from datetime import *; from survey.models import *; s = Survey.objects.get(slug='{slug}'); "
    "s.opens_at = datetime(2031, 11, 17, 14, 46, tzinfo=UTC); "
    "s.approved_hash = s.content_hash(); s.save()"
)


def log_in_as_author(candor: Candor, page: Page, name: str, address: str = "/surveys/") -> None:
    """Log in as someone who may create surveys and has none yet."""
    candor.manage("shell", "-v0", "-c", MAKER.format(name=name))
    log_in(page, f"{candor.url}{address}", name, f"long-enough-{name}")


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("Saved")


def texts(page: Page, kind: str = "questions") -> list[str]:
    fields = page.locator(f"#{kind} textarea[id$='-text']")
    return [fields.nth(i).input_value() for i in range(fields.count())]


def card(page: Page, number: int, kind: str = "questions") -> Locator:
    return page.locator(f"#{kind} > li").nth(number - 1)


def drag(page: Page, handle: Locator, to: Locator) -> None:
    """Drag a handle to below the middle of another item."""
    handle.evaluate("node => node.scrollIntoView({ block: 'center' })")
    start, end = handle.bounding_box(), to.bounding_box()
    assert start and end
    x = start["x"] + start["width"] / 2
    page.mouse.move(x, start["y"] + start["height"] / 2)
    page.mouse.down()
    for part in range(1, 11):
        y = start["y"] + (end["y"] + 0.8 * end["height"] - start["y"]) * part / 10
        page.mouse.move(x, y)
    page.mouse.up()


def test_an_author_can_finish_a_draft_from_a_topic(
    candor_server: Candor, page: Page, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 1000})
    log_in_as_author(candor_server, page, "mary")
    expect(page.get_by_role("heading", name="Create your first survey")).to_be_visible()
    page.get_by_role("link", name="New survey").click()
    no_violations(page)
    page.locator("li.card", has_text="Safety at home").get_by_role("button").click()
    title = page.get_by_label("Title", exact=True)
    expect(title).to_have_value("Safety at home")
    expect(page.locator("#sure")).to_have_text("73\u202f%")
    first = texts(page)
    assert len(first) == 3

    # Texts in place.
    title.fill("Safety where we live")
    page.get_by_role("button", name="+ Yes/no question").click()
    page.keyboard.type("Do you know where to find help?")
    page.get_by_role("button", name="+ Choice question").click()
    page.keyboard.type("Where do you live?")
    for number, text in ((1, "Alone"), (2, "With others")):
        card(page, 5).get_by_label(f"Option {number}", exact=True).fill(text)
    page.get_by_role("button", name="Add an option: Question 5").click()
    page.keyboard.type("In a shelter")
    card(page, 5).locator("summary").click()
    expect(card(page, 5).get_by_label("Key in files")).to_have_value("where-do-you-live")
    saved(page)

    # Order by keyboard, by buttons and by dragging; the focus stays with what is moved.
    card(page, 5).locator(".handle").first.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#said")).to_have_text("Moved: question 3 of 5.")
    expect(card(page, 3).locator(".head .handle")).to_be_focused()
    assert texts(page)[2] == "Where do you live?"
    page.get_by_role("button", name="Move down: Question 1").click()
    assert texts(page)[:2] == [first[1], first[0]]
    drag(page, card(page, 1).locator(".head .handle"), card(page, 2))
    expect(page.locator("#said")).to_have_text("Moved: question 2 of 5.")
    assert texts(page)[:2] == first[:2]
    options = card(page, 3).locator("ol.options input")
    drag(
        page,
        card(page, 3).locator(".options .handle").first,
        card(page, 3).locator(".option").nth(1),
    )
    assert [options.nth(i).input_value() for i in range(3)][:2] == ["With others", "Alone"]
    card(page, 3).get_by_role("button", name="Move option 3 of").click()
    page.get_by_role("button", name="Move up: Option 3").click()
    assert [options.nth(i).input_value() for i in range(3)][1] == "In a shelter"
    page.get_by_role("button", name="Delete: Question 4").click()
    expect(page.locator("#said")).to_contain_text("Undo brings it back")
    saved(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#questions > li")).to_have_count(5)

    # A second language, from right to left.
    page.get_by_label("Add a language").select_option("ar")
    arabic = page.get_by_label("Title, Arabic")
    expect(arabic).to_be_focused()
    expect(arabic).to_have_attribute("dir", "rtl")
    arabic.fill("الأمان في المنزل")
    expect(page.locator("#language-ar")).to_contain_text("missing")
    no_violations(page)

    # The dial and the expected number of people.
    before = page.locator("#everybody").inner_text()
    page.get_by_role("button", name="Very strong").click()
    expect(page.locator("#sure")).to_have_text("62\u202f%")
    expect(page.locator("#dots svg .filled")).to_have_count(62)
    expect(page.locator("#everybody")).not_to_have_text(before)
    wide = page.locator("#everybody").inner_text()
    page.get_by_label("People you hope to reach").fill("20000")
    expect(page.locator("#everybody")).not_to_have_text(wide)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#epsilon")).to_have_value("0.6")
    saved(page)

    # Everything is there after a reload and can still be undone.
    left = texts(page)
    page.reload()
    expect(title).to_have_value("Safety where we live")
    assert texts(page) == left and len(left) == 5
    expect(page.locator("#epsilon")).to_have_value("0.6")
    expect(page.get_by_label("People you hope to reach")).to_have_value("20000")
    page.locator("#language-ar").click()
    expect(page.get_by_label("Title, Arabic")).to_have_value("الأمان في المنزل")
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(page.locator("#epsilon")).to_have_value("0.5")
    page.get_by_role("button", name="Redo").click()
    expect(page.locator("#epsilon")).to_have_value("0.6")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#epsilon")).to_have_value("0.5")
    saved(page)
    expect(page.locator("#ready")).to_be_visible()
    link = page.get_by_role("link", name="Check and open").first
    assert re.fullmatch(r"/studio/[\w-]+/open/", link.get_attribute("href") or "")

    # Export as a file and import as another survey.
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as a file").click()
    file = tmp_path / "survey.json"
    download.value.save_as(file)
    exported = json.loads(file.read_text(encoding="utf-8"))
    assert exported["title"] == "Safety where we live" and exported["epsilon"] == 0.5
    assert exported["translations"]["ar"] == {"title": "الأمان في المنزل"}
    address = page.url
    page.goto(f"{candor_server.url}/studio/new/")
    page.get_by_label("A survey file").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(title).to_have_value("Safety where we live")
    assert page.url != address and texts(page) == left
    page.goto(f"{candor_server.url}/surveys/")
    expect(page.get_by_role("link", name="Safety where we live")).to_have_count(2)
    page.get_by_role("link", name="Safety where we live").first.click()
    expect(title).to_have_value("Safety where we live")


@pytest.fixture
def strict_site() -> Iterator[Candor]:
    """Yield a site where the checklist blocks."""
    with Candor(CANDOR_CHECKLIST="1", CANDOR_MAX_EPSILON="4") as candor:
        yield candor


def test_an_author_can_write_a_survey_and_set_its_opening(strict_site: Candor, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    log_in_as_author(strict_site, page, "pia", "/studio/new/")
    page.get_by_role("button", name="Blank survey").click()
    title, introduction = page.locator("#title"), page.locator("#introduction")
    saved(page)

    # The address follows the title, and the page continues there.
    title.fill("How we sleep")
    page.get_by_role("button", name="+ Choice question").click()
    expect(page).to_have_url(f"{strict_site.url}/studio/how-we-sleep/")
    page.keyboard.type("How long?")
    page.get_by_label("Option 1", exact=True).fill("Short")
    page.keyboard.press("Enter")
    page.keyboard.type("Middle")
    page.keyboard.press("Enter")
    page.keyboard.type("Long")
    expect(page.locator("ol.options input")).to_have_count(3)
    expect(page.get_by_label("Option 3", exact=True)).to_have_value("Long")
    page.get_by_role("button", name="+ Yes/no question").click()
    page.keyboard.type("Do you dream?")
    saved(page)

    # Errors of the field that was left appear after the click and do not move its target.
    page.get_by_role("button", name="+ Yes/no question").click()
    expect(page.locator("#wrong")).to_contain_text("Write the question.")
    again = page.get_by_role("button", name="Duplicate: Question 3")
    again.hover()
    page.mouse.down()
    expect(card(page, 3).locator("textarea")).not_to_be_focused()
    assert card(page, 3).locator("[id$='-text-error']").inner_text() == ""
    page.mouse.up()
    expect(page.locator("#questions > li")).to_have_count(4)
    expect(card(page, 3).locator("[id$='-text-error']")).to_have_text("Write the question.")
    for _ in range(2):
        page.get_by_role("button", name="Delete: Question 3").click()
    saved(page)

    # Undo the move; the focus stays with the question.
    card(page, 2).locator(".handle").first.focus()
    page.keyboard.press("ArrowUp")
    saved(page)
    page.keyboard.press("Control+z")
    expect(page.locator("#said")).to_have_text("Undone.")
    assert texts(page) == ["How long?", "Do you dream?"]
    expect(card(page, 2).locator(".head .handle")).to_be_focused()

    # Findings of the checklist appear here and link to their fields.
    todo = page.locator("#wrong li")
    expect(todo).to_have_count(3)
    expect(page.locator("#ready")).to_be_hidden()
    todo.filter(has_text="who is asking").get_by_role("link").click()
    page.keyboard.type("The night shift")
    page.get_by_role("link", name="No contact is given").click()
    page.keyboard.type("night@example.org")
    page.get_by_role("link", name="how many people").click()
    page.keyboard.type("5,000")
    expect(page.locator("#ready")).to_be_visible()
    fits = page.locator(".dial").evaluate("node => node.scrollHeight <= node.clientHeight")
    assert fits

    # A language shows its first missing text.
    page.get_by_label("Add a language").select_option("de")
    title_in_german = page.get_by_label("Title, German")
    title_in_german.fill("Wie wir schlafen")
    saved(page)
    page.goto(f"{strict_site.url}/studio/how-we-sleep/#language-de")
    page.reload()
    expect(page.get_by_label("Who asks, German")).to_be_focused()
    page.get_by_role("button", name="Remove German").click()
    saved(page)

    # An invalid address, a valid one, and text typed just before.
    page.get_by_text("Address: /s/how-we-sleep/").click()
    slug = page.get_by_label("Respondents answer at")
    slug.fill("a b")
    page.get_by_role("button", name="Change the address").click()
    said = slug.evaluate("node => node.validationMessage")
    assert said == "Use only letters, digits, hyphens and underscores."
    slug.fill("sleeping")
    introduction.fill("Typed just before.")
    page.get_by_role("button", name="Change the address").click()
    expect(page).to_have_url(f"{strict_site.url}/studio/sleeping/")
    expect(introduction).to_have_value("Typed just before.")
    title.fill("How well we sleep")
    page.locator("h1").click()
    saved(page)
    assert page.url.endswith("/studio/sleeping/")

    # A change cancels a scheduled opening and says so; undo restores it.
    strict_site.manage("shell", "-v0", "-c", HOUR.format(slug="sleeping"))
    page.reload()
    banner = page.locator("#opens")
    expect(banner).to_have_text(
        "Opens automatically on 17 Nov 2031, 14:46 UTC. Any change cancels this."
    )
    no_violations(page)
    introduction.fill("Another one.")
    expect(banner).to_contain_text("It was scheduled to open on 17 Nov 2031, 14:46 UTC")
    page.get_by_role("button", name="Undo").click()
    expect(banner).to_contain_text("Any change cancels this")

    # Leaving at once loses nothing.
    page.on("dialog", lambda dialog: dialog.accept())
    introduction.fill("Typed and gone.")
    page.goto(f"{strict_site.url}/surveys/")
    page.get_by_role("link", name="How well we sleep").click()
    expect(introduction).to_have_value("Typed and gone.")
    introduction.fill("Typed and copied.")
    page.get_by_role("button", name="Copy as a new draft").click()
    expect(title).to_have_value("How well we sleep (copy)")
    expect(introduction).to_have_value("Typed and copied.")


def test_conflicts_lost_networks_and_hostile_texts_do_no_harm(
    candor_server: Candor, context: BrowserContext
) -> None:
    page = context.new_page()
    log_in_as_author(candor_server, page, "nora", "/studio/new/")
    page.get_by_role("button", name="Blank survey").click()
    title = page.get_by_label("Title", exact=True)
    title.fill("Mine")
    saved(page)

    # The dial on a phone, in dark mode, without questions.
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme="dark")
    no_violations(page)
    page.set_viewport_size({"width": 1280, "height": 1000})

    # Someone else saves in between.
    other = context.new_page()
    other.goto(page.url)
    other.get_by_label("Title", exact=True).fill("Theirs")
    saved(other)
    title.fill("Mine again")
    conflict = page.get_by_text("This draft was changed in another window")
    expect(conflict).to_be_visible()
    no_violations(page)
    page.get_by_role("button", name="Load the other version").click()
    expect(title).to_have_value("Theirs")
    expect(conflict).to_be_hidden()
    other.get_by_label("Title", exact=True).fill("Theirs again")
    saved(other)
    title.fill("Mine after all")
    page.get_by_role("button", name="Keep my version").click()
    saved(page)
    other.close()

    # Nobody's text is lost: undo brings it back.
    title.fill("Mine after all!")
    saved(page)
    for back in ("Mine after all", "Theirs again", "Mine"):
        page.get_by_role("button", name="Undo").click()
        expect(title).to_have_value(back)
    for _ in range(3):
        page.get_by_role("button", name="Redo").click()
    expect(title).to_have_value("Mine after all!")

    # Without a network nothing is lost, and nothing unread is called wrong.
    page.get_by_role("button", name="+ Yes/no question").click()
    expect(page.locator("#wrong")).to_contain_text("Write the question.")
    context.set_offline(True)
    page.keyboard.type("Do you?")
    page.keyboard.press("Tab")
    expect(card(page, 1).locator("[id$='-text-error']")).to_be_empty()
    page.get_by_label("Introduction", exact=True).fill("Written on a train.")
    expect(page.get_by_role("alert").filter(has_text="Not saved yet")).to_be_visible()
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.once("dialog", stay)
    page.close(run_before_unload=True)
    await_in(page, lambda: asked, "the question whether to leave")
    assert asked == ["beforeunload"]
    context.set_offline(False)
    saved(page)
    page.get_by_role("button", name="Delete: Question 1").click()

    # Hostile texts stay texts, and invisible characters are removed.
    evil = "</textarea><script>window.hacked = 1</script>{{ 7*7 }} \"'><img src=x onerror=alert(1)>"
    page.get_by_role("button", name="+ Background question").click()
    page.keyboard.insert_text(f"{evil}\u200b\u202e")
    expect(page.locator("#said")).to_have_text("An invisible character was removed.")
    for number in (1, 2):
        page.get_by_label(f"Option {number}", exact=True).fill(f"{evil}{number}")
    page.get_by_role("button", name="+ Yes/no question").click()
    page.keyboard.insert_text(evil)
    title.fill(evil)
    expect(page.locator("#cost-rows")).to_contain_text(evil)
    expect(page.locator("#by-group")).to_contain_text(evil)
    saved(page)
    page.reload()
    expect(title).to_have_value(evil)
    assert texts(page) == texts(page, "background") == [evil]
    assert page.evaluate("window.hacked") is None
    expect(page.locator("#ready")).to_be_visible()
    page.goto(f"{candor_server.url}/surveys/")
    expect(page.get_by_role("heading", name=evil)).to_be_visible()
    assert page.evaluate("window.hacked") is None


def test_the_studio_works_by_touch_and_explains_missing_script(
    candor_server: Candor, new_context: Any, page: Page
) -> None:
    log_in_as_author(candor_server, page, "olive", "/studio/new/")
    page.locator("li.card", has_text="Substance use").get_by_role("button").click()
    saved(page)

    # Custom blocks, and an ε above the limit.
    expect(page.locator("#blocks")).to_contain_text("the smallest margin of error")
    page.get_by_text("Choose the blocks myself").click()
    page.get_by_label("Choose a block for each question").check()
    expect(page.get_by_label("Block", exact=True)).to_have_count(5)
    card(page, 1).get_by_label("Block", exact=True).fill("9")
    page.get_by_label("Blocks per person").fill("2")
    expect(page.locator("#blocks")).to_contain_text("You chose these blocks")
    page.get_by_label("Blocks per person").fill("50")
    expect(page.locator("#dial-problem")).to_contain_text("Cannot ask 50 blocks")
    page.get_by_label("Blocks per person").fill("")
    page.get_by_label("Choose a block for each question").uncheck()
    expect(page.locator("#blocks")).to_contain_text("the smallest margin of error")
    page.get_by_label("ε", exact=True).fill("3.5")
    expect(page.locator("#weak")).to_be_visible()
    page.get_by_role("button", name="Usual").click()
    expect(page.locator("#weak")).to_be_hidden()

    # An invalid number is reported in the bar and next to its field until it is fixed.
    unsaved = page.locator("#unsaved")
    for label, wrong, right in (
        ("ε", ("101", "0", "-3", "", "1,5,0"), "1,5"),
        ("People you hope to reach", ("0", "99999999999", "some"), "1,200"),
        ("Responses before results change", ("9", ""), "25"),
        ("Blocks per person", ("0", "101"), ""),
        ("Days until everything is deleted after closing", ("0", "1.5"), "90"),
    ):
        field = page.get_by_label(label, exact=True)
        for text in wrong:
            field.fill(text)
            expect(unsaved).to_contain_text(f"Not saved: {label}: ")
            expect(field).to_have_attribute("aria-invalid", "true")
            described = (field.get_attribute("aria-describedby") or "").split()[-1]
            expect(page.locator(f"#{described}")).not_to_be_empty()
        expect(page.locator("#saved")).to_be_empty()
        page.get_by_role("link", name="Check and open").first.click()
        expect(field).to_be_focused()
        field.fill(right)
        expect(unsaved).to_be_empty()
        saved(page)
    page.reload()
    saved(page)
    page.get_by_text("Choose the blocks myself").click()
    for label, value in (
        ("ε", "1.5"), ("People you hope to reach", "1200"),
        ("Responses before results change", "25"),
        ("Days until everything is deleted after closing", "90"),
    ):  # fmt: skip
        expect(page.get_by_label(label, exact=True)).to_have_value(value)
    page.get_by_label("ε", exact=True).fill("2000")
    expect(unsaved).to_contain_text("At most 100 on this site, not 2000.")
    page.get_by_role("button", name="Usual").click()
    saved(page)

    # Items to fix link to their fields, also in another language.
    page.locator("#language-de").click()
    page.get_by_label("Option 2, German").first.fill("")
    page.locator("#language-de").click()
    page.get_by_role("listitem").filter(has_text="Question 1, German").get_by_role("link").click()
    expect(page.get_by_label("Option 2, German").first).to_be_focused()
    page.keyboard.type("1 bis 4")
    expect(page.locator("#ready")).to_be_visible()

    # Another address.
    page.get_by_text("Address: /s/").click()
    page.get_by_label("Respondents answer at").fill("new")
    page.get_by_role("button", name="Change the address").click()
    expect(page.get_by_text("This address is reserved")).to_be_visible()
    page.get_by_label("Respondents answer at").fill("olive-asks")
    page.get_by_role("button", name="Change the address").click()
    expect(page).to_have_url(f"{candor_server.url}/studio/olive-asks/")
    saved(page)
    state = page.context.storage_state()
    plain = new_context(java_script_enabled=False, storage_state=state).new_page()
    plain.goto(page.url)
    expect(plain.get_by_text("The editor needs JavaScript")).to_be_visible()

    phone = new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, storage_state=state
    ).new_page()
    phone.goto(page.url)
    saved(phone)
    before = texts(phone)
    handle = card(phone, 2).locator(".head .handle")
    handle.scroll_into_view_if_needed()
    box, end = handle.bounding_box(), card(phone, 1).bounding_box()
    assert box and end
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = phone.context.new_cdp_session(phone)

    def send(kind: str, y: float) -> None:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", y)
    for part in range(1, 9):
        send("touchMove", y + (end["y"] + 10 - y) * part / 8)
    send("touchEnd", y)
    expect(phone.locator("#said")).to_have_text("Moved: question 1 of 5.")
    assert texts(phone)[:2] == [before[1], before[0]]
    saved(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_author_can_write_every_kind_of_question_by_keyboard(
    strict_site: Candor, page: Page
) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    log_in_as_author(strict_site, page, "quinn", "/studio/new/")
    page.get_by_role("button", name="Blank survey").click()
    saved(page)
    keys = page.keyboard

    def press(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).focus()
        keys.press("Enter")

    def choose(label: str, *, down: int) -> None:
        page.get_by_label(label, exact=True).focus()
        for _ in range(down):
            keys.press("ArrowDown")

    def write(label: str, text: str) -> None:
        page.get_by_label(label, exact=True).focus()
        keys.press("Control+a")
        keys.insert_text(text)

    def options(number: int, *texts: str) -> None:
        card(page, number).get_by_label("Option 1", exact=True).focus()
        for place, text in enumerate(texts):
            if place:
                keys.press("Enter")
            keys.insert_text(text)

    for label, text in (
        ("Title", "Work and health"), ("Introduction", "A few questions."),
        ("Who asks", "The works council"), ("How people reach you with questions", "Room 5"),
        ("Why, and what becomes of the results", "To make work better."),
        ("Days until everything is deleted after closing", "90"),
        ("People you hope to reach", "60000"), ("Number of people in all, if known", "80000"),
    ):  # fmt: skip
        write(label, text)

    # One of each kind. Each takes its place at the end, with the focus in its text.
    press("+ Yes/no question")
    keys.insert_text("Were you bullied?")
    press("+ Choice question")
    keys.insert_text("Who was it?")
    options(2, "A superior", "A colleague")
    press("+ Scale")
    keys.insert_text("How often do you sleep well?")
    options(3, "Never", "Sometimes", "Always")
    write("Score of option 3: Question 3", "5")
    press("+ Number")
    keys.insert_text("How many days were you ill?")
    write("Least possible number", "0")
    write("Greatest possible number", "-4")
    write("Unit, such as days or euros (may be empty)", "days")
    press("+ Multiple choice")
    keys.insert_text("What would help?")
    options(5, "Rest", "Talks", "Rules", "Money")
    write("Most picks", "2")

    # What is wrong is said at its place, and goes when it is right.
    wrong = "This must be above the least number, 0, not -4."
    expect(card(page, 4).locator(".error", has_text=wrong)).to_be_visible()
    write("Greatest possible number", "60")
    expect(card(page, 4).locator(".error", has_text=wrong)).to_have_count(0)
    expect(page.locator("[id$=-average]")).to_contain_text("days")
    expect(page.locator("dl.ways div")).to_have_count(4)
    for number in (1, 2):
        card(page, number).get_by_label("May be declined").focus()
        keys.press("Space")

    # A follow-up, broken by a move and mended by undo.
    choose("Ask only if: Question 2", down=1)
    expect(card(page, 2)).to_have_attribute("data-depth", "1")
    expect(card(page, 2).get_by_label("Yes", exact=True)).to_be_checked()
    expect(card(page, 1).locator(".branch")).to_contain_text("This follow-up")
    press("Move up: Question 2")
    said = "Move this below “Were you bullied?”, on which it depends, or choose another question."
    expect(card(page, 1).locator(".error", has_text=said)).to_be_visible()
    no_violations(page)
    page.locator("h1").click()
    keys.press("Control+z")
    expect(card(page, 2)).to_have_attribute("data-depth", "1")

    # The order of what is asked, and what hides how long it takes.
    page.get_by_label("Filler questions").focus()
    keys.press("Space")
    page.get_by_label("Questions in random order").focus()
    keys.press("Space")
    card(page, 5).get_by_label("Options in random order").focus()
    keys.press("Space")
    saved(page)
    expect(page.locator("#ready")).to_be_visible()
    no_violations(page)
    for size, scheme in ((360, "dark"), (1280, "light")):
        page.set_viewport_size({"width": size, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= size
        no_violations(page)

    # Nothing is left to fix: it opens, and the design is what was written.
    page.get_by_role("link", name="Check and open").first.click()
    expect(page.get_by_role("heading", name="Open this survey")).to_be_visible()
    page.get_by_role("button", name="Open now").click()
    expect(page.locator("span.state")).to_have_text("Open")
    page.goto(page.url.replace("/open/", "/"))
    no_violations(page)
    shown = page.locator(".frozen")
    expect(shown.filter(has_text="0 to 60 days")).to_have_count(1)
    file = page.get_by_role("link", name="Export as a file").get_attribute("href")
    exported = json.loads(page.request.get(f"{strict_site.url}{file}").text())
    assert exported["population"] == 80_000 and exported["expected"] == 60_000
    assert exported["shuffled"] is exported["fillers"] is True
    plain = {"prefer_not_to_say": False}
    assert exported["questions"] == [
        {"key": "were-you-bullied", "text": "Were you bullied?", "kind": "yes_no"}
        | {"prefer_not_to_say": True},
        {"key": "who-was-it", "text": "Who was it?", "kind": "choice"}
        | {"options": ["A superior", "A colleague"], "prefer_not_to_say": True}
        | {"only_if": {"question": "were-you-bullied", "options": ["yes"]}},
        {"key": "how-often-do-you-sleep-well", "text": "How often do you sleep well?"}
        | {"kind": "scale", "options": ["Never", "Sometimes", "Always"], "scores": [1, 2, 5]}
        | plain,
        {"key": "how-many-days-were-you-ill", "text": "How many days were you ill?"}
        | {"kind": "number", "least": 0, "most": 60, "unit": "days"}
        | plain,
        {"key": "what-would-help", "text": "What would help?", "kind": "several", "picks": 2}
        | {"options": ["Rest", "Talks", "Rules", "Money"], "shuffled": True}
        | plain,
    ]
