"""One person, one report, whatever happens to the network, the page or the tab."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.support import builders, respondent
from tests.support.pages import await_in
from tests.support.services import Candor

pytestmark = pytest.mark.browser

WAITS = "has not arrived yet"


@pytest.fixture(scope="session")
def url(candor_server: Candor) -> str:
    return candor_server.open_survey(builders.FILE | {"slug": "once"})


@pytest.fixture
def one_report(candor_server: Candor, context: BrowserContext) -> Callable[[], list[bytes]]:
    """Check at the end that one more report is stored and every POST had the same bytes."""
    before = respondent.stored(candor_server, "once")
    bodies = respondent.posts(context)

    def check() -> list[bytes]:
        assert respondent.stored(candor_server, "once") == before + 1
        assert len(set(bodies)) == 1
        return bodies

    return check


def test_a_lost_connection_sends_the_same_bytes_again(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    lost = iter(["before", "after", "none"])

    def lose(route: Route) -> None:
        match next(lost):
            case "before":
                route.abort()
            case "after":  # stored, but the answer is lost
                route.fetch()
                route.abort()
            case _:
                route.continue_()

    page.route("**/reports/", lose)
    respondent.start(page, url)
    respondent.answer(page, 0, 1)
    page.get_by_role("button", name="Send").click()
    for _ in range(2):
        expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
        page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(one_report()) == 3


def test_a_double_click_sends_once(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    respondent.start(page, url)
    respondent.answer(page, 0, 1)
    page.get_by_role("button", name="Send").dblclick()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(one_report()) == 1


def test_offline_the_report_waits_and_goes_by_itself(
    url: str, page: Page, context: BrowserContext, one_report: Callable[[], list[bytes]]
) -> None:
    respondent.start(page, url)
    respondent.answer(page, 1, 2)
    context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
    expect(page.get_by_text("This device is offline.")).to_be_visible()
    expect(page.get_by_text("will be sent again by itself")).to_be_visible()
    (report,) = respondent.kept(page)["candor.waiting"]
    assert report.keys() == {"slug", "id", "body"}
    page.get_by_text("What will be sent").click()
    assert page.locator("pre").text_content() == report["body"]

    context.set_offline(False)
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert set(one_report()) == {report["body"].encode()}
    assert respondent.kept(page) == {"candor.answered": ["once"]}


def test_a_page_closed_while_offline_sends_when_it_is_opened_again(
    url: str, context: BrowserContext, one_report: Callable[[], list[bytes]]
) -> None:
    page = context.new_page()
    respondent.start(page, url)
    respondent.answer(page, 1, 2)
    context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
    page.close()
    context.set_offline(False)
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("heading", name="waited on this device")).to_be_visible()
    # Show nothing to the next person, who may want to answer too.
    assert page.locator("pre, code").count() == 0
    one_report()
    assert "candor.waiting" not in respondent.kept(page)
    page.get_by_role("button", name="Someone else").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_opening_another_survey_sends_a_waiting_report(
    url: str, candor_server: Candor, page: Page, context: BrowserContext
) -> None:
    survey = builders.FILE | {"slug": "other"}
    candor_server.open_survey(survey)
    before = respondent.stored(candor_server, "once")
    respondent.start(page, url)
    respondent.answer(page, 1, 2)
    page.route("**/reports/", lambda route: route.abort())
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
    page.unroute("**/reports/")
    with page.expect_response("**/once/reports/") as answer:
        page.goto(url.replace("once", "other"))
    assert answer.value.status == 201
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert respondent.stored(candor_server, "once") == before + 1


@pytest.mark.parametrize("arrived", [False, True], ids=["lost", "arrived"])
def test_a_reload_while_sending_sends_one_report(
    url: str, page: Page, one_report: Callable[[], list[bytes]], arrived: bool
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            return route.continue_()
        if arrived:
            route.fetch()
        held.append(route)
        return None

    page.route("**/reports/", hold)
    respondent.start(page, url)
    respondent.answer(page, 1, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Sending")).to_be_visible()
    await_in(page, lambda: held, "the report")
    page.reload()
    expect(page.get_by_role("heading", name="waited on this device")).to_be_visible()
    assert len(one_report()) >= 2


def test_a_reload_after_sending_does_not_ask_again(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    respondent.send(page)
    page.reload()
    expect(page.get_by_role("heading", name="You have sent your report")).to_be_visible()
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_role("heading", name="You have sent your report")).to_be_visible()
    one_report()
    page.get_by_role("button", name="Someone else").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_going_back_after_sending_sends_nothing(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    page.goto("about:blank")
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    respondent.send(page)
    page.go_back()
    expect(page).to_have_url("about:blank")
    page.go_forward()
    expect(page.get_by_role("heading", name="You have sent your report")).to_be_visible()
    assert len(one_report()) == 1


def test_a_second_tab_does_not_make_a_second_report(
    url: str, context: BrowserContext, one_report: Callable[[], list[bytes]]
) -> None:
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        respondent.start(page, url)
        respondent.answer(page, 1, 1)
    respondent.send(first)
    expect(second.get_by_role("heading", name="You have sent your report")).to_be_visible()
    third = context.new_page()
    third.goto(url)
    expect(third.get_by_role("heading", name="You have sent your report")).to_be_visible()
    assert len(one_report()) == 1


def test_a_second_tab_sends_the_report_that_waits(
    url: str, context: BrowserContext, one_report: Callable[[], list[bytes]]
) -> None:
    first = context.new_page()
    first.route("**/reports/", lambda route: route.abort())
    respondent.start(first, url)
    respondent.answer(first, 1, 1)
    first.get_by_role("button", name="Send").click()
    expect(first.get_by_role("heading", name=WAITS)).to_be_visible()
    second = context.new_page()
    second.goto(url)
    expect(second.get_by_role("heading", name="waited on this device")).to_be_visible()
    one_report()


def test_a_waiting_report_can_be_deleted_instead(
    url: str, page: Page, context: BrowserContext, candor_server: Candor
) -> None:
    before = respondent.stored(candor_server, "once")
    respondent.start(page, url)
    respondent.answer(page, 1, 1)
    context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    page.get_by_role("button", name="Delete the report instead").click()
    expect(page.get_by_role("heading", name="was deleted")).to_be_visible()
    context.set_offline(False)
    # It may have arrived anyway, so the page does not invite a second draw of chance.
    assert respondent.kept(page) == {"candor.answered": ["once"]}
    assert page.get_by_role("button").count() == 0
    page.reload()
    expect(page.get_by_role("heading", name="You have sent your report")).to_be_visible()
    assert respondent.stored(candor_server, "once") == before


def test_a_report_deleted_in_another_tab_is_not_sent(
    url: str, context: BrowserContext, candor_server: Candor
) -> None:
    before = respondent.stored(candor_server, "once")
    first, second = context.new_page(), context.new_page()
    first.clock.install()
    context.route("**/reports/", lambda route: route.abort())
    respondent.start(first, url)
    respondent.answer(first, 1, 1)
    first.get_by_role("button", name="Send").click()
    expect(first.get_by_role("heading", name=WAITS)).to_be_visible()
    second.goto(url)
    second.get_by_role("button", name="Delete the report instead").click()
    expect(second.get_by_role("heading", name="was deleted")).to_be_visible()
    context.unroute("**/reports/")
    bodies = respondent.posts(context)
    first.clock.fast_forward(61_000)  # it would have been sent automatically
    expect(first.get_by_role("heading", name="You have sent your report")).to_be_visible()
    second.reload()  # does not invite a second draw of chance
    expect(second.get_by_role("heading", name="You have sent your report")).to_be_visible()
    assert bodies == []
    assert respondent.stored(candor_server, "once") == before


@pytest.mark.parametrize("status", [400, 415])
def test_a_refused_report_is_not_drawn_again(url: str, page: Page, status: int) -> None:
    """The site may have stored the report, whatever it says."""
    bodies = respondent.posts(page)
    page.route(
        "**/reports/",
        lambda route: route.fulfill(status=status, json={"errors": {"design": ["another"]}}),
    )
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="The site did not")).to_be_visible()
    assert page.get_by_role("button").count() == 0
    page.reload()
    expect(page.get_by_role("heading", name="You have sent your report")).to_be_visible()
    assert len(bodies) == 1


def test_a_busy_site_is_asked_again_at_the_time_it_named(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    page.clock.install()
    answers = iter([429, 503])
    asked: list[Route] = []

    def busy(route: Route) -> None:
        asked.append(route)
        status = next(answers, None)
        if status is None:
            route.continue_()
        else:
            route.fulfill(status=status, headers={"Retry-After": "30"}, json={"errors": {}})

    page.route("**/reports/", busy)
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("The site is busy just now.")).to_be_visible()
    for times in (2, 3):
        # In seconds, because the page gives up on slow requests.
        await_in(page, lambda: page.clock.fast_forward(1_000) or len(asked) >= times, "a try")  # noqa: B023
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert len(one_report()) == 3


def test_the_page_does_not_move_while_it_tries_by_itself(url: str, page: Page) -> None:
    page.clock.install()
    tries: list[Route] = []

    def fail(route: Route) -> None:
        tries.append(route)
        route.abort()

    page.route("**/reports/", fail)
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    page.get_by_role("button", name="Send").click()
    see = page.get_by_text("What will be sent")
    see.click()
    for times in (2, 3):  # the third request proves that the page processed the second reply
        await_in(page, lambda: page.clock.fast_forward(60_000) or len(tries) >= times, "a try")  # noqa: B023
    expect(page.locator("pre")).to_be_visible()  # still open, still there
    page.get_by_role("button", name="Delete").click()


def test_without_storage_the_report_waits_in_memory_and_says_so(
    url: str, page: Page, one_report: Callable[[], list[bytes]]
) -> None:
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name,"
        "{get() { throw new DOMException('no', 'SecurityError'); }});"
    )
    respondent.start(page, url)
    respondent.answer(page, 0, 0)
    page.route("**/reports/", lambda route: route.abort())
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Please keep this page open")).to_be_visible()
    page.unroute("**/reports/")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    one_report()
