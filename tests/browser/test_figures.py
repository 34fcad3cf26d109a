"""Figures saved in a real browser, as SVG and PNG."""

import base64
import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.pages import SLUG, VIEWPORTS, log_in, looked_at
from tests.support.services import Candor

pytestmark = pytest.mark.browser

# How many pixels of a picture are white, nearly black, and of the colour of dots and whiskers.
COUNT = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const counts = { white: 0, dark: 0, accent: 0, clear: 0 };
  for (let i = 0; i < data.length; i += 4) {
    const [red, green, blue, alpha] = data.slice(i, i + 4);
    if (alpha < 255) counts.clear += 1;
    if (red > 250 && green > 250 && blue > 250) counts.white += 1;
    if (red < 60 && green < 60 && blue < 60) counts.dark += 1;
    if (Math.abs(red - 15) + Math.abs(green - 107) + Math.abs(blue - 102) < 12) counts.accent += 1;
  }
  return counts;
}"""


@pytest.fixture
def dashboard(candor_server: Candor, page: Page) -> Page:
    candor_server.load_demo()
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    return page


def saved(page: Page, press: Callable[[], None], suffix: str) -> bytes:
    with page.expect_download() as download:
        press()
    assert download.value.suggested_filename.endswith(suffix)
    return Path(download.value.path()).read_bytes()


def check_png(page: Page, link: Locator, picture: bytes) -> None:
    """A PNG of twice the size of the SVG at the link, on which something is drawn."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    address = link.evaluate("link => link.href")
    svg = ElementTree.fromstring(page.request.get(address).body())
    assert (width, height) == (2 * int(svg.get("width", 0)), 2 * int(svg.get("height", 0)))
    data = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    counts = page.evaluate(COUNT, data)
    assert counts["clear"] == 0 and counts["white"] > 0.8 * width * height
    assert counts["dark"] > 1000 and counts["accent"] > 300, counts


def test_a_figure_is_saved_as_svg_and_as_png(dashboard: Page) -> None:
    section = dashboard.locator("section.question").first
    link = section.get_by_role("link", name="as SVG")
    svg = saved(dashboard, link.click, ".svg")
    assert ElementTree.fromstring(svg).get("viewBox")
    button = section.get_by_role("button", name="as PNG")
    expect(button).to_have_text("PNG")
    check_png(dashboard, link, saved(dashboard, button.click, "figure-harassed.png"))


def test_a_figure_by_group_can_be_saved_by_keyboard(dashboard: Page) -> None:
    dashboard.get_by_role("navigation", name="Groups").get_by_role("link").last.click()
    section = dashboard.locator("section.question").first
    link = section.get_by_role("link", name="as SVG").last
    link.focus()
    dashboard.keyboard.press("Tab")
    expect(section.get_by_role("button", name="as PNG").last).to_be_focused()
    picture = saved(dashboard, lambda: dashboard.keyboard.press("Enter"), ".by-years.png")
    check_png(dashboard, link, picture)


def test_the_release_page_and_the_planner_have_figures_too(
    candor_server: Candor, dashboard: Page
) -> None:
    dashboard.goto(f"{candor_server.url}/surveys/{SLUG}/releases/1/")
    over_all, by_each_background_question = 10, 9
    expect(dashboard.get_by_role("button", name="as PNG")).to_have_count(
        over_all + 2 * by_each_background_question
    )
    dashboard.goto(f"{candor_server.url}/plan/")
    expect(dashboard.get_by_role("button", name="as PNG")).to_have_count(1)
    dashboard.get_by_label("People who answer").fill("20000")
    expect(dashboard.get_by_role("status").first).to_contain_text("20,000 people")
    link = dashboard.get_by_role("link", name="as SVG")
    expect(link).to_have_attribute("href", r"/plan/half-width.svg?solve=half_width&people=20000"
                                   "&epsilon=2&half_width=1.95&questions=5+yes%2Fno&share=&groups=2"
                                   "&level=95&size=&ask=&dropout=&forged=&looks=")  # fmt: skip
    button = dashboard.get_by_role("button", name="as PNG")
    expect(button).to_have_count(1)  # only one, although the page was updated
    check_png(dashboard, link, saved(dashboard, button.click, "half-width.png"))


def test_a_picture_that_cannot_be_loaded_is_reported(dashboard: Page) -> None:
    dashboard.route("**/figure-*.svg", lambda route: route.abort())
    section = dashboard.locator("section.question").first
    section.get_by_role("button", name="as PNG").click()
    expect(section.get_by_text("The PNG could not be made.")).to_be_visible()


def test_without_script_the_svg_is_offered(
    candor_server: Candor, new_context: Callable[..., BrowserContext]
) -> None:
    candor_server.load_demo()
    page = new_context(java_script_enabled=False).new_page()
    log_in(page, f"{candor_server.url}/surveys/{SLUG}/")
    expect(page.get_by_role("button", name="as PNG")).to_have_count(0)
    link = page.locator("section.question").first.get_by_role("link", name="as SVG")
    assert saved(page, link.click, ".svg").startswith(b"<?xml")


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=VIEWPORTS.keys())
def test_pages_with_figures_are_accessible(
    candor_server: Candor, dashboard: Page, viewport: tuple[int, int]
) -> None:
    dashboard.set_viewport_size({"width": viewport[0], "height": viewport[1]})
    for path in (f"/surveys/{SLUG}/?by=role", f"/surveys/{SLUG}/releases/1/",
                 "/plan/?forged=2&dropout=10&looks=every"):  # fmt: skip
        dashboard.goto(candor_server.url + path)
        expect(dashboard.get_by_role("button", name="as PNG").first).to_be_visible()
        looked_at(dashboard)


def test_the_texts_of_a_figure_do_not_overlap(dashboard: Page) -> None:
    """With the installed fonts, no two texts of a figure overlap and none leaves it."""
    names = ["figure-harassed", "figure-exhausted", "figure-exhausted.by-years"]
    for name in names:
        address = f"{dashboard.url}releases/1/{name}.svg"
        svg = dashboard.request.get(address).text()
        overlaps = dashboard.evaluate(
            """(text) => {
              const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
              document.body.append(svg);
              const boxes = [...svg.querySelectorAll("text")].map((one) => [one, one.getBBox()]);
              const found = boxes
                .filter(([, box]) => box.x < 0 || box.x + box.width > svg.viewBox.baseVal.width)
                .map(([one]) => one.textContent);
              for (const [i, [one, a]] of boxes.entries())
                for (const [other, b] of boxes.slice(i + 1))
                  if (Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1 &&
                      Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 4)
                    found.push(`${one.textContent} / ${other.textContent}`);
              svg.remove();
              return found;
            }""",
            svg,
        )
        assert overlaps == [], name
