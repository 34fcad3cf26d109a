"""From an invitation to a report, on the real pages."""

import csv
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from survey.design import Design, passes
from tests.support import builders, respondent
from tests.support.pages import RULES, SETTLE, log_in
from tests.support.services import Candor

pytestmark = pytest.mark.browser

SLUG = "invited"


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    who = {"asked_by": "Department of Examples", "contact": "ask@example.org"}
    candor_server.open_survey(builders.FILE | {"slug": SLUG, "access": "invited"} | who)
    return f"{candor_server.url}/s/{SLUG}/"


@pytest.fixture(scope="session")
def links(candor_server: Candor, url: str) -> Iterator[str]:
    """Yield links, made as the page makes them."""
    made = candor_server.manage(
        "shell", "-v0", "-c",
        "from survey.access import invitations\nfrom survey.models import Survey\n"
        f"survey = Survey.objects.get(slug='{SLUG}')\n"
        f"print('\\n'.join(invitations.link('{url}', survey, code)"
        " for code in invitations.make(survey, 20)))",
    )  # fmt: skip
    return iter(made.split())


def code_of(link: str) -> str:
    return urlsplit(link).fragment.partition(".")[0]


def exchanges(page: Page | BrowserContext) -> list[Request]:
    found: list[Request] = []
    page.on("request", lambda one: found.append(one) if one.url.endswith("/passes/") else None)
    return found


def rows(candor: Candor, statement: str) -> list[Any]:
    with sqlite3.connect(f"file:{candor.var / 'candor.sqlite3'}?mode=ro", uri=True) as database:
        return database.execute(statement).fetchall()


def test_a_code_made_on_the_page_can_be_used_to_answer(
    candor_server: Candor, url: str, new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    candor_server.manage("api_token", "inviter", "--create")
    candor_server.manage(
        "shell", "-v0", "-c",
        "from django.contrib.auth.models import User\nfrom survey.models import *\n"
        "user = User.objects.get(username='inviter'); user.set_password('a long password')\n"
        "user.save()\n"
        f"Membership.objects.give(Survey.objects.get(slug='{SLUG}'), user, Role.OWNER)",
    )  # fmt: skip
    page = new_context(viewport={"width": 360, "height": 740}).new_page()
    address = f"{candor_server.url}/surveys/{SLUG}/invitations/"
    log_in(page, address, "inviter", "a long password")
    expect(page.get_by_text("E-mail is not set up on this site")).to_be_visible()
    page.locator(".known summary").click()
    assert Axe().run(page, options=RULES).violations_count == 0
    page.get_by_label("How many").fill("3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    download.value.save_as(tmp_path / "codes.csv")
    with (tmp_path / "codes.csv").open() as file:
        made = list(csv.DictReader(file))
    assert len(made) == 3
    page.get_by_label("How many").fill("2")
    page.get_by_role("button", name="Print a sheet").click()
    expect(page.locator(".sheet svg")).to_have_count(2)
    assert Axe().run(page, options=RULES).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

    context = new_context()
    answering = context.new_page()
    requests: list[Request] = []
    answering.on("request", lambda one: requests.append(one))
    link = made[0]["link"]
    looking = new_context().new_page()
    looking.goto(link)
    expect(looking.get_by_text("not which report is yours")).to_be_visible()
    expect(looking.get_by_text("answer only once")).to_have_count(0)
    looking.get_by_role("button", name="Check this page").click()
    expect(looking.get_by_text(f"end with {link.rpartition('.')[2]}.")).to_be_visible()
    respondent.start(answering, link)
    assert answering.url == url  # the code is removed from the address
    respondent.answer(answering, 1, 2)
    receipt = respondent.send(answering)
    code = code_of(link)
    assert not any(code in one.url or code in str(one.headers) for one in requests)
    posted = [one for one in requests if one.method == "POST"]
    assert [urlsplit(one.url).path.split("/")[-2] for one in posted] == ["passes", "reports"]
    asked, sent = (json.loads(one.post_data or "") for one in posted)
    assert asked["code"] == code and set(asked) == {"code", "blinded"}
    assert code not in (posted[1].post_data or "")
    spent = passes.Pass.from_text(sent["pass"])
    assert spent.id == sent["id"] == receipt
    assert context.cookies() == []
    kept = answering.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert json.loads(kept) == [{}, {"candor.answered": f'["{SLUG}"]'}]
    stored = str(rows(candor_server, "SELECT * FROM survey_invitation"))
    stored += str(rows(candor_server, "SELECT * FROM survey_report"))
    assert code not in stored and sent["pass"]["message"] not in stored


def test_a_code_works_once_and_says_so(
    url: str, links: Iterator[str], new_context: Callable[..., BrowserContext]
) -> None:
    link = next(links)
    first = new_context().new_page()
    respondent.start(first, link)
    respondent.answer(first, 0, 0)
    respondent.send(first)
    second = new_context().new_page()
    second.goto(link)
    second.get_by_role("button", name="Start", exact=True).click()
    expect(second.get_by_role("heading", name="This code has been used")).to_be_visible()
    expect(second.get_by_role("definition")).to_have_text("ask@example.org")
    assert Axe().run(second, options=RULES).violations_count == 0
    second.get_by_role("button", name="Type another code").click()
    expect(second.get_by_label("Your code")).to_have_value(code_of(link))
    expect(second.get_by_text("Who is asking: Department of Examples")).to_be_visible()
    second.get_by_label("Your code").fill(next(links))
    second.get_by_role("button", name="Go on").click()
    second.get_by_role("button", name="Start", exact=True).click()
    expect(second.get_by_role("radio").first).to_be_visible()


def test_a_reload_or_a_lost_answer_loses_no_pass(
    candor_server: Candor, url: str, links: Iterator[str], context: BrowserContext
) -> None:
    """Reload before the exchange, after a lost reply, with the tab closed, and in between."""
    link = next(links)
    asked = exchanges(context)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).wait_for()
    page.reload()

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    context.route("**/passes/", lose)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="could not be fetched")).to_be_visible()
    context.unroute("**/passes/")
    page.close()
    page = context.new_page()
    respondent.start(page, url)  # without the link
    respondent.answer_one(page, 1)
    assert len(asked) == 2 and asked[0].post_data == asked[1].post_data
    kept = page.evaluate("localStorage.getItem('candor.passes')")
    assert code_of(link) not in kept and set(json.loads(kept)[0]) == {
        "slug", "design", "of", "prepared", "signature", "id"
    }  # fmt: skip
    page.reload()
    before = respondent.stored(candor_server, SLUG)
    respondent.start(page, url)
    respondent.answer(page, 1, 1)
    respondent.send(page)
    assert respondent.stored(candor_server, SLUG) == before + 1
    assert len(asked) == 2
    assert page.evaluate("localStorage.length") == 0


def test_a_code_can_be_typed(url: str, links: Iterator[str], page: Page) -> None:
    code = code_of(next(links))
    asked = exchanges(page)
    page.goto(url)
    expect(page.get_by_role("heading", name=builders.FILE["title"])).to_be_visible()
    expect(page.get_by_text("This survey is by invitation.")).to_be_visible()
    typed = page.get_by_label("Your code")

    def go_on(text: str) -> None:
        typed.fill(text)
        page.get_by_role("button", name="Go on").click()

    mistyped = ("1" if code[0] == "0" else "0") + code[1:]
    problems = {"nonsense": "not a whole code", mistyped: "a typing mistake",
                f"{url}#{code}.A": "not complete"}  # fmt: skip
    for text, problem in problems.items():
        go_on(text)
        expect(page.get_by_role("alert")).to_contain_text(problem)
        expect(typed).to_have_value(text)
        assert Axe().run(page, options=RULES).violations_count == 0
    go_on("0000-0000-0000-0000")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this code")
    expect(typed).to_have_value("0000-0000-0000-0000")
    assert len(asked) == 1  # the others were noticed on this device
    go_on(re.sub(r"(.{4})", r"\1-", code).lower())
    page.get_by_role("button", name="Start", exact=True).click()
    respondent.answer(page, 0, 1)
    respondent.send(page)


def test_a_link_can_be_pasted_where_a_code_is_asked(
    url: str, links: Iterator[str], page: Page
) -> None:
    link = next(links)
    page.goto(f"{url}#{code_of(link)}.A")
    assert page.url == url
    expect(page.get_by_role("alert")).to_contain_text("This link is not complete")
    page.get_by_label("Your code").fill(link)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Start", exact=True).click()
    respondent.answer(page, 0, 1)
    respondent.send(page)


def test_a_pasted_link_to_another_design_is_refused(
    url: str, links: Iterator[str], page: Page
) -> None:
    page.goto(url)
    link, _, end = next(links).rpartition(".")
    page.get_by_label("Your code").fill(f"{link}.{end[::-1]}")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()


def served(alter: Callable[[dict[str, Any]], object]) -> Callable[[Route], None]:
    """Serve someone a different design with its correct hash."""

    def fulfil(route: Route) -> None:
        response = route.fetch()
        data = response.json()
        data["design"].pop("hash")
        alter(data["design"])
        data["design"]["hash"] = Design.from_json(json.dumps(data["design"])).hash
        route.fulfill(response=response, body=json.dumps(data))

    return fulfil


@pytest.mark.parametrize("without", [False, True])
def test_a_site_that_shows_another_design_is_refused(
    url: str, links: Iterator[str], page: Page, without: bool
) -> None:
    """Another key, or none, means another design; link and stored pass name the right one."""
    link = next(links)
    key = passes.public_text(passes.new_key().public_key())

    def alter(design: dict[str, Any]) -> None:
        if without:
            del design["passes"]
        else:
            design["passes"] = key

    other = served(alter)
    asked = exchanges(page)
    page.route("**/definition/", other)
    page.goto(link)
    expect(page.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()
    page.unroute("**/definition/")
    page.goto(link[:-1] + ("A" if link[-1] != "A" else "B"))  # a link that was altered
    expect(page.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()
    assert asked == []
    respondent.start(page, link)
    expect(page.get_by_role("radio").first).to_be_visible()
    page.route("**/definition/", other)
    page.goto(url)
    expect(page.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()
    tab = page.context.new_page()  # which has the pass but no link
    tab.route("**/definition/", other)
    tab.goto(url)
    expect(tab.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()
    assert len(asked) == 1


def test_a_typed_code_cannot_be_bypassed_by_the_site(
    url: str, links: Iterator[str], page: Page
) -> None:
    page.goto(url)
    page.get_by_label("Your code").fill(code_of(next(links)))
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_visible()
    page.route("**/definition/", served(lambda design: design.pop("passes")))
    page.reload()
    expect(page.get_by_role("heading", name="not the survey that you were invited")).to_be_visible()


def test_a_signature_of_a_second_key_is_refused(
    url: str, links: Iterator[str], page: Page, candor_server: Candor
) -> None:
    second = passes.new_key()

    def sign(route: Route) -> None:
        asked = json.loads(route.request.post_data or "")
        n = second.public_key().public_numbers().n
        blinded = int.from_bytes(passes.from_text(asked["blinded"], 256), "big") % n
        signed = passes.blind_sign(second, second.public_key(), blinded.to_bytes(256, "big"))
        route.fulfill(json={"signature": passes.to_text(signed)})

    page.route("**/passes/", sign)
    page.goto(next(links))
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="did not give a good pass")).to_be_visible()


def test_a_kiosk_keeps_no_pass(url: str, links: Iterator[str], page: Page) -> None:
    page.goto(f"{url}?kiosk")
    page.get_by_label("Your code").fill(code_of(next(links)))
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("radio").first).to_be_visible()
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_label("Your code")).to_be_visible()  # the next person has their own


def test_a_proof_of_work_comes_with_the_report(candor_server: Candor, page: Page) -> None:
    survey = builders.FILE | {"slug": "proof", "work": 10}
    candor_server.open_survey(survey)
    bodies = respondent.posts(page)
    respondent.start(page, f"{candor_server.url}/s/proof/")
    respondent.answer(page, 0, 1)
    respondent.send(page)
    (body,) = bodies
    assert re.fullmatch(r"[0-9a-f]{8}", json.loads(body)["work"])
    assert respondent.stored(candor_server, "proof") == 1


def answers(status: int) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status)


VARIANTS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "laptop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "right to left": {"viewport": {"width": 320, "height": 640}, "locale": "ar-EG"},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_screen_of_an_invitation_is_accessible(
    candor_server: Candor,
    url: str,
    links: Iterator[str],
    new_context: Callable[..., BrowserContext],
    variant: str,
) -> None:
    page = new_context(**VARIANTS[variant]).new_page()

    def check(state: str) -> None:
        page.evaluate(SETTLE)
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, f"{state}\n{found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), state

    page.goto(url)
    page.locator(".code").wait_for()
    check("code")
    page.locator("#code").fill("nonsense")
    page.locator(".primary").click()
    page.locator(".alert").wait_for()
    check("wrong code")
    page.goto(next(links))
    page.locator(".opening").wait_for()
    check("opening")
    for name in ("unprotected", "check"):
        page.locator(".links button").nth(1 if name == "unprotected" else -1).click()
        page.locator(f".{name}").wait_for()
        check(name)
        page.locator(".back").click()
        page.locator(".opening").wait_for()
    page.route("**/passes/", lambda route: None)
    page.locator(".opening .primary").click()
    page.locator("[aria-busy]").wait_for()
    check("fetching")
    page.unroute("**/passes/")
    for status in (409, 500):
        page.route("**/passes/", answers(status))
        page.goto(next(links))
        page.locator(".opening .primary").click()
        page.locator(".notice .stop").wait_for()
        check(f"status {status}")
        page.unroute("**/passes/")
