"""The constant pages: their bytes, modules, headers and manifest."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config import __version__
from survey.management.commands.manifest import collect
from survey.respondent import manifest, shell
from tests.support import builders
from tests.support.services import ROOT, clean_environment, free_port
from tests.support.site import Client

MANIFEST = "/.well-known/candor-manifest.json"
PAGES = ["/s/small/", "/s/nowhere/", "/s/", "/s/small/definition/", "/verify/", MANIFEST]


def elements(shell: str) -> list[tuple[str, str]]:
    """Return the modules of a shell as address and integrity, in document order."""
    found = re.findall(r'<script type="module" src="(.+?)" integrity="(.+?)".*?></script>', shell)
    assert len(found) == shell.count("<script")
    return found


# --- Bytes ----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_shell_is_the_same_for_every_survey_and_every_visitor(client: Client) -> None:
    builders.opened()
    builders.draft(slug="draft")
    shell = client.get("/s/small/").content
    assert b"small" not in shell
    assert client.get("/s/draft/").content == client.get("/s/nowhere/").content == shell
    client.force_login(builders.alice(builders.opened(slug="hers")))
    other = {"user-agent": "Other", "accept-language": "ar"}
    assert client.get("/s/hers/", headers=other).content == client.get("/s/").content == shell


@pytest.mark.django_db
def test_the_definition_beside_the_shell_is_that_of_the_api(client: Client) -> None:
    builders.opened()
    builders.draft(slug="draft")
    beside, api = client.get("/s/small/definition/"), client.get("/api/v1/surveys/small/")
    assert beside.status_code == 200
    assert (beside.content, beside["Content-Type"]) == (api.content, api["Content-Type"])
    assert beside["Cache-Control"] == api["Cache-Control"] == "no-store"
    assert client.get("/s/draft/definition/").status_code == 404
    assert client.get("/s/nowhere/definition/").status_code == 404
    assert client.post("/s/small/definition/").status_code == 405
    assert b"/definition/" not in client.get("/api/schema/").content


# --- What a shell loads ---------------------------------------------------------------------------


@pytest.mark.parametrize("address", manifest.PAGES)
def test_a_shell_allows_exactly_the_modules_that_it_loads(client: Client, address: str) -> None:
    shell = client.get(address).content.decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content=".*script-src (.+?);', shell)
    assert policy and policy.start() < shell.index("<script") and policy.start() < 200
    modules = elements(shell)
    assert policy[1].split() == [f"'{integrity}'" for _, integrity in modules]
    for address, integrity in modules:
        assert manifest.ServedFile("", b"".join(client.get(address))).integrity == integrity


def test_modules_come_after_their_imports_and_languages_last(client: Client) -> None:
    shell = client.get("/s/").content.decode()
    addresses = [address for address, _ in elements(shell)]
    assert "/respond/app." in addresses[-6]
    languages = [re.findall(r"/words/(\w+)\.", address) for address in addresses[-5:]]
    assert languages == [["en"], ["de"], ["es"], ["fr"], ["ar"]]
    assert shell.count('fetchpriority="low"') == 5
    for position, address in enumerate(addresses):
        text = b"".join(client.get(address)).decode()
        for imported in re.findall(r'from "(?:\.\.?/)+(?:\w+/)*(\w+\.\w{12}\.js)";', text):
            assert any(known.endswith(f"/{imported}") for known in addresses[:position])


def test_the_stylesheets_load_nothing(client: Client) -> None:
    for address in shell.files():
        if address.endswith(".css"):
            assert not re.search(rb"url\(|@import", b"".join(client.get(address)))


@pytest.fixture
def graph(tmp_path: Path, settings: object) -> Callable[..., list[str]]:
    """Return the modules that main.js imports, in order, for these static files."""

    def of(**sources: str) -> list[str]:
        source, collected = tmp_path / "source", tmp_path / "collected"
        for name, text in sources.items():
            path = source / f"{name.replace('__', '/')}.js"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        settings.STATICFILES_DIRS = [source]  # type: ignore[attr-defined]
        storage = collect(str(collected))
        found = manifest.graph(storage, storage.stored_name("main.js"))
        return [re.sub(r"^/static/|\.\w{12}\.js$", "", file.url) for file in found]

    return of


def test_every_form_of_import_is_followed(graph: Callable[..., list[str]]) -> None:
    main = """\
/*
 * import { none } from "./comment.js";
 */
import {
  one,
  two,
} from "./first.js";
export * from "./third.js";
import "./folder/second.js";
const text = 'import this from "nowhere"', place = new URL("./url.js", import.meta.url);
export const word = "./fourth.js";
button.onclick = async () => (await import("./lazy.js")).run();
"""
    names = graph(
        main=main, first="export let one, two;", third='export { x } from "./folder/second.js";',
        folder__second='import { one } from "../first.js";\nexport let x;', comment="", url="",
        fourth="", lazy="export function run() {}",
    )  # fmt: skip
    assert names == ["first", "folder/second", "third", "main", "lazy"]


def test_an_import_that_leads_nowhere_is_named(graph: Callable[..., list[str]]) -> None:
    with pytest.raises(ValueError, match=r"main\.\w+\.js imports https://elsewhere\.example/x\.js"):
        graph(main='import "https://elsewhere.example/x.js";')


def test_modules_that_import_each_other_are_refused(graph: Callable[..., list[str]]) -> None:
    with pytest.raises(CommandError, match=r"main\.js, other\.js: Max post-process passes"):
        graph(main='import "./other.js";', other='import "./main.js";')


# --- The manifest ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_writes_what_the_site_publishes(client: Client, tmp_path: Path) -> None:
    served = client.get(MANIFEST)
    assert served["Content-Type"] == "application/json"
    shown = StringIO()
    call_command("manifest", stdout=shown)
    call_command("manifest", output=tmp_path / "manifest.json")
    written = (tmp_path / "manifest.json").read_bytes()
    assert shown.getvalue().encode() == written == served.content
    with pytest.raises(CommandError, match="Cannot write .*: Is a directory"):
        call_command("manifest", output=tmp_path)


@pytest.mark.slow
def test_the_command_needs_neither_a_database_nor_collected_files(
    client: Client, tmp_path: Path
) -> None:
    environment = clean_environment() | {
        "CANDOR_DEMO": "1",
        "CANDOR_SECRET_KEY": "any",
        "CANDOR_VAR": str(tmp_path / "var"),
        "DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/nothing",
    }
    written = subprocess.run(
        [sys.executable, "manage.py", "manifest"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True,
    ).stdout  # fmt: skip
    assert written == client.get(MANIFEST).content
    assert not (tmp_path / "var").exists()


def test_the_manifest_has_the_hash_of_every_file_as_it_is_served(client: Client) -> None:
    published = client.get(MANIFEST).json()
    assert published["candor"] == __version__
    for address, entry in published["files"].items():
        content = b"".join(client.get(address))
        assert entry == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    addresses = list(published["files"])
    assert addresses == sorted(addresses)
    for page in manifest.PAGES:
        loaded = re.findall(rb'(?:src|href)="(/.+?)"', client.get(page).content)
        assert {address.decode() for address in loaded} | {page} <= set(addresses)
    assert any("/respond/randomizer." in address for address in addresses)


def test_the_changelog_mentions_this_version() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0].startswith(__version__)


# --- Headers --------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("address", PAGES)
def test_the_pages_that_handle_answers_are_sealed(client: Client, address: str) -> None:
    builders.opened()
    response = client.get(address)
    policy = dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
        "img-src": "data:", "connect-src": "'self'", "worker-src": "'none'", "base-uri": "'none'",
        "form-action": "'none'", "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'", "trusted-types": "'none'",
    }  # fmt: skip
    assert response["Cache-Control"] == "no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"
    for feature in ("camera", "geolocation", "microphone", "browsing-topics"):
        assert f"{feature}=()" in response["Permissions-Policy"].split(", ")


@pytest.mark.once  # no header depends on the database
@pytest.mark.django_db
@pytest.mark.parametrize("cookie", ["of a session", "stale", "", "x" * 32])
@pytest.mark.parametrize("address", [*PAGES, "/s/small/nothing/", "/api/v1/surveys/small/reports/"])
def test_no_cookie_is_ever_set(client: Client, address: str, cookie: str) -> None:
    client.force_login(builders.alice(builders.opened()))
    if cookie != "of a session":
        client.cookies["sessionid"] = cookie
        client.cookies["csrftoken"] = cookie  # Django replaces a broken one
    for response in (client.get(address), client.post(address)):
        assert not response.cookies
        assert response.status_code == 404 or "Cookie" not in response.get("Vary", "")


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_errors_below_the_page_are_sealed_as_well(client: Client, method: str) -> None:
    address = {"get": "/s/nowhere/definition/", "post": "/s/nowhere/"}[method]
    response = getattr(client, method)(address)
    assert response.status_code == {"get": 404, "post": 405}[method]
    for name, value in shell.HEADERS.items():
        assert response[name] == value


def test_static_files_are_for_our_own_pages(client: Client) -> None:
    for address in shell.files():
        response = client.get(address)
        b"".join(response)  # reads and closes the file
        assert response["Cross-Origin-Resource-Policy"] == "same-origin"
        assert response["X-Content-Type-Options"] == "nosniff"


def test_the_rest_of_the_site_keeps_its_own_policy(client: Client) -> None:
    policy = client.get("/login/")["Content-Security-Policy"]
    assert "form-action 'self'" in policy
    assert "trusted-types" not in policy
