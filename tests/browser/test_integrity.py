"""Chromium and a site that does not serve what its shell promises."""

import json
import re
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.support import builders, respondent
from tests.support.mirror import Mirror, Reply
from tests.support.services import Candor

pytestmark = pytest.mark.browser

PATH = "/s/mirrored/"


@pytest.fixture(scope="session")
def site(candor_server: Candor) -> str:
    survey = builders.FILE | {"slug": "mirrored"}
    candor_server.open_survey(survey)
    return candor_server.url


def loaded_by(site: str, path: str) -> list[str]:
    with urlopen(site + path) as shell:
        return re.findall(r'(?:src|href)="(/.+?)"', shell.read().decode())


def modules(site: str) -> list[str]:
    """Return the modules that the page needs: all except the other languages."""
    files = [address for address in loaded_by(site, PATH) if address.endswith(".js")]
    found = [address for address in files if not re.search(r"/words/(?!en\.)", address)]
    assert 5 < len(found) == len(files) - 4
    return found


def expect_no_start(page: Page, mirror: Mirror) -> None:
    """Expect only the shell's own text, and no report."""
    texts = page.locator("#page > *").all_text_contents()
    assert [text.strip().splitlines()[0] for text in texts][-1:] == ["The survey is not starting"]
    assert page.get_by_role("button").count() == 0
    assert not [request for request in mirror.requests if request.startswith("POST")]


def test_a_whole_run_loads_what_the_manifest_lists_and_nothing_else(site: str, page: Page) -> None:
    with Mirror(site) as mirror:
        respondent.start(page, mirror.url + PATH)
        respondent.answer(page, 1, 2)
        respondent.send(page)
        listed = set(json.load(urlopen(f"{mirror.url}/.well-known/candor-manifest.json"))["files"])
    loaded = {request.split()[1] for request in mirror.requests}
    files = {address for address in loaded if address.startswith("/static/")}
    assert set(modules(site)) < files <= listed
    assert loaded - listed <= {
        PATH, f"{PATH}definition/", "/.well-known/candor-manifest.json",
        "/api/v1/surveys/mirrored/", "/api/v1/surveys/mirrored/reports/",
    }  # fmt: skip


def forgive_refusals(page_problems: list[str]) -> None:
    """Chromium from 156 at the latest fetches a refused module again; the policy stops that."""
    page_problems[:] = [one for one in page_problems if "script-src" not in one]


def test_one_changed_byte_in_any_module_stops_the_page(
    site: str, page: Page, page_problems: list[str]
) -> None:
    for address in modules(site):

        def alter(reply: Reply, address: str = address) -> None:
            if reply.path == address:
                reply.body += b"\n"

        with Mirror(site, alter) as mirror:
            page.goto(mirror.url + PATH)
            assert f"GET {address}" in mirror.requests
            expect_no_start(page, mirror)
    expect(page.get_by_role("heading", name="The survey is not starting")).to_be_visible()
    forgive_refusals(page_problems)


def test_a_changed_language_file_is_not_used(
    site: str, page: Page, page_problems: list[str]
) -> None:
    def alter(reply: Reply) -> None:
        if "/words/fr." in reply.path:
            reply.body += b"\n"

    with Mirror(site, alter) as mirror:
        page.goto(mirror.url + PATH)
        menu = page.get_by_label("Language")
        menu.select_option("fr")
        expect(menu).to_have_value("en")
        expect(page.get_by_role("button", name="Start")).to_be_visible()
        menu.select_option("de")
        expect(page.get_by_role("button", name="Beginnen")).to_be_visible()
    forgive_refusals(page_problems)


def test_a_module_that_the_shell_does_not_list_does_not_run(
    site: str, page: Page, page_problems: list[str]
) -> None:
    """Browsers may fetch a refused module again for the one that imports it."""
    (entry,) = [address for address in modules(site) if "/app." in address]

    def alter(reply: Reply) -> None:
        if reply.path == PATH:
            others = rb'<script type="module" src="(?!%s").+?</script>' % entry.encode()
            reply.body, removed = re.subn(others, b"", reply.body)
            assert removed > 5

    with Mirror(site, alter) as mirror:
        page.goto(mirror.url + PATH)
        assert f"GET {entry}" in mirror.requests
        expect_no_start(page, mirror)
    assert any("script-src" in problem for problem in page_problems)
    page_problems.clear()


def test_a_changed_stylesheet_is_not_applied(site: str, page: Page) -> None:
    sheet = "document.querySelector('link[rel=stylesheet]').sheet !== null"
    page.goto(site + PATH)
    assert page.evaluate(sheet)

    def alter(reply: Reply) -> None:
        if reply.path.endswith(".css"):
            reply.body += b"\n"

    with Mirror(site, alter) as mirror:
        page.goto(mirror.url + PATH)
        assert not page.evaluate(sheet)


@pytest.mark.parametrize(("slug", "status"), [("mirrored", 200), ("nowhere", 404)])
def test_the_preloaded_definition_is_fetched_once(
    site: str, page: Page, slug: str, status: int
) -> None:
    """The page's script is removed, so that only this test fetches it."""

    def without_modules(reply: Reply) -> None:
        reply.body = re.sub(rb"<script.+?</script>", b"", reply.body)

    with Mirror(site, without_modules) as mirror:
        page.goto(f"{mirror.url}/s/{slug}/")
        fetched = page.evaluate(
            "fetch('definition/', {credentials: 'same-origin'}).then((found) => found.status)"
        )
        assert fetched == status
        assert mirror.requests.count(f"GET /s/{slug}/definition/") == 1


def test_the_page_that_checks_the_randomizer_loads_its_modules(site: str, page: Page) -> None:
    with Mirror(site) as mirror:
        page.goto(f"{mirror.url}/verify/")
    asked = {request.split()[1] for request in mirror.requests}
    loaded = {address for address in loaded_by(site, "/verify/") if not address.endswith(".svg")}
    assert loaded and loaded <= asked
