"""docs/monitor.py against a real site, and against a proxy that alters what the site serves."""

import ast
import gzip
import hashlib
import json
import re
import ssl
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from docs import monitor
from survey import design
from survey.respondent import manifest, shell
from tests.support import builders
from tests.support.mirror import Mirror, Reply
from tests.support.nginx import make_certificate
from tests.support.services import ROOT, Candor, free_port

POLICY = manifest.policy(manifest.DIRECTIVES)

pytestmark = [pytest.mark.once, pytest.mark.xdist_group("monitor")]  # one site for all

SOURCE = ROOT / "docs/monitor.py"
FIREFOX = "Firefox on Linux in English"


@pytest.fixture(scope="module")
def site(candor_server: Candor) -> str:
    survey = builders.FILE | {"slug": "monitored"}
    candor_server.open_survey(survey)
    return candor_server.url


@pytest.fixture(scope="module")
def reference(candor_server: Candor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of the source tree."""
    path = tmp_path_factory.mktemp("reference") / "manifest.json"
    candor_server.manage("manifest", "--output", str(path))
    return path


@pytest.fixture(scope="module")
def randomizer(reference: Path) -> str:
    """The address of the file that matters most."""
    files = json.loads(reference.read_text())["files"]
    return next(address for address in files if "/respond/randomizer." in address)


def run(*arguments: object) -> tuple[int, str]:
    """Return status and output. Runs isolated, without imports from this repository."""
    done = subprocess.run(
        [sys.executable, "-I", SOURCE, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def for_firefox(alter: Callable[[Reply], None]) -> Callable[[Reply], None]:
    def altered(reply: Reply) -> None:
        if "Firefox" in reply.asked["user-agent"]:
            alter(reply)

    return altered


# --- An honest site -------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_honest_site_passes(site: str, reference: Path) -> None:
    status, out = run(site, reference, "--survey", "monitored")
    assert status == 0, out
    definition = urlopen(f"{site}/s/monitored/definition/").read()
    assert re.fullmatch(
        rf"same: \d+ files of {site}, \d+ answers\n"
        rf"same: the definition of monitored, sha256 {hashlib.sha256(definition).hexdigest()}\n",
        out,
    )


def test_without_a_reference_only_self_consistency_is_claimed(site: str) -> None:
    status, out = run(f"{site}/")
    assert status == 0, out
    assert "only self-consistency" in out


@pytest.mark.slow
def test_the_reference_may_be_a_url(site: str) -> None:
    status, out = run(site, site + monitor.MANIFEST)
    assert (status, "self-consistency" in out) == (0, False), out


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_manifest_lists_the_bytes_that_are_sent(
    site: str, reference: Path, encoding: str
) -> None:
    assert urlopen(site + monitor.MANIFEST).read() == reference.read_bytes()
    compressed = 0
    for address, entry in json.loads(reference.read_text())["files"].items():
        with urlopen(Request(site + address, headers={"Accept-Encoding": encoding})) as response:
            body = response.read()
            if response.headers["Content-Encoding"] == "gzip":
                compressed += 1
                body = gzip.decompress(body)
        assert hashlib.sha256(body).hexdigest() == entry["sha256"]
        assert len(body) == entry["bytes"]
    assert (compressed > 0) == (encoding == "gzip")


# --- Dishonest ones -------------------------------------------------------------------------------


def check(site: str, alter: Callable[[Reply], None], *arguments: object) -> tuple[int, list[str]]:
    with Mirror(site, alter) as mirror:
        status, out = run(mirror.url, *arguments)
    return status, out.replace(mirror.url, "SITE").splitlines()


def test_one_changed_byte_in_a_module_is_found(site: str, reference: Path, randomizer: str) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == randomizer:
            reply.body = reply.body.replace(b"<", b">", 1)

    entry = json.loads(reference.read_text())["files"][randomizer]
    status, lines = check(site, alter, reference)
    assert status == 1
    (line,) = lines
    expected, size = entry["sha256"], entry["bytes"]
    assert re.fullmatch(
        rf"different: {re.escape(randomizer)}: expected sha256 {expected} \({size} bytes\), "
        rf"found (?!{expected})[0-9a-f]{{64}} \({size} bytes\) \[everyone\]",
        line,
    )


@pytest.mark.slow
def test_one_changed_byte_for_one_kind_of_visitor_is_found(
    site: str, reference: Path, randomizer: str
) -> None:
    content = urlopen(site + randomizer).read()
    at = content.index(b"\nexport")
    line_number = content.count(b"\n", 0, at) + 1

    def alter(reply: Reply) -> None:
        if reply.path == randomizer:
            reply.body = reply.body[:at] + b" " + reply.body[at + 1 :]

    status, lines = check(site, for_firefox(alter), reference)
    assert status == 1
    (line,) = lines
    assert f"first difference at byte {at}, line {line_number}: " in line
    assert "expected b'\\nexport" in line and "found b' export" in line
    assert line.endswith(f"[{FIREFOX}]")


@pytest.mark.slow
def test_an_inline_script_on_one_survey_is_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/s/monitored/":
            reply.body = reply.body.replace(b"</head>", b"<script>alert(1)</script></head>")

    assert check(site, for_firefox(alter), reference)[0] == 0  # that survey was not requested
    status, lines = check(site, for_firefox(alter), reference, "--survey", "monitored")
    assert status == 1
    assert f"different: /s/monitored/: has a script of its own [{FIREFOX}]" in lines
    assert any("/s/monitored/: expected sha256" in line for line in lines)


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        (b'<img src="https://elsewhere.example/x.png">', "loads https://elsewhere.example/x.png"),
        (b'<script src="/static/dashboard.js"></script>', "loads /static/dashboard.js"),
        (b'<link rel="modulepreload" href="//elsewhere.example/x.js">', "loads //elsewhere"),
        (b'<p onclick="x()">', "has an attribute onclick"),
        (b'<a href=" JavaScript:x()">', "has a javascript: address"),
        (b'<meta http-equiv="Refresh" content="0;url=/x">', "has http-equiv Refresh"),
        (b"<iframe srcdoc='x'>", "has an element iframe"),
        (b'<link rel="stylesheet" href="/static/icon.svg">', "loads /static/icon.svg"),
        (b'<link rel="stylesheet" href="data:image/svg+xml;base64,AAAA">', "loads data:image/svg"),
        (b'<link rel="icon" href="data:text/html;base64,AAAA">', "loads data:text/html"),
        (b'<link rel="icon" href="data:image/svg+xml,<svg ></svg>,<x">', "loads data:image/svg"),
        (b'<script src="data:image/svg+xml;base64,AAAA"></script>', "loads data:image/svg"),
        (b"<p>" * 30_000, "is too long to look into"),
    ],
)
def test_anything_that_a_page_must_not_load_is_found(markup: bytes, words: str) -> None:
    files = {"/s/": {"sha256": "0" * 64, "bytes": 1}}
    assert monitor.content_problems("/s/x/", b"<!doctype html><p>text", files) == []
    found = monitor.content_problems("/s/x/", b"<!doctype html>" + markup, files)
    assert any(words in problem for problem in found), found


def test_allowed_inline_content_is_no_problem() -> None:
    policy = "default-src 'none'; script-src 'sha256-x='; img-src data:"
    page = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<link rel="icon" type="image/svg+xml" '
        "href=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'></svg>\">"
    )
    assert monitor.content_problems("/s/x/?kiosk", page.encode(), {}) == []


def test_scripts_without_hash_and_unlisted_modules_are_found() -> None:
    files = {"/a.js": {"sha256": hashlib.sha256(b"").hexdigest(), "bytes": 0}}
    integrity = b64encode(hashlib.sha256(b"").digest()).decode()
    good = f'<script type="module" src="/a.js" integrity="sha256-{integrity}"></script>'
    assert monitor.content_problems("/s/", good.encode(), files) == []
    bare = b'<script type="module" src="/a.js"></script>'
    assert monitor.content_problems("/s/", bare, files) == [
        "loads /a.js without the hash of the manifest"
    ]
    assert monitor.content_problems("/a.js", b'import "./a.js";', files) == []
    assert monitor.content_problems("/a.js", b'x(await import("./b.js"));', files) == [
        "loads ./b.js, which the manifest does not list"
    ]
    assert monitor.content_problems("/a.css", b"p { background: url('b.png') }", files) == [
        "loads b.png, which the manifest does not list"
    ]


@pytest.mark.slow
def test_missing_and_weak_headers_are_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/verify/":
            reply.drop("Content-Security-Policy")
        if reply.path == "/s/":
            reply.drop("Referrer-Policy")
        if reply.path == "/s/monitored/definition/":
            reply.drop("Content-Security-Policy")
            weak = POLICY.replace("img-src data:", "img-src *")
            reply.headers.append(("Content-Security-Policy", weak))

    status, lines = check(site, alter, reference, "--survey", "monitored")
    assert status == 1
    assert sorted(line.partition(": default-src")[0] for line in lines) == [
        "different: /s/: has Referrer-Policy: nothing, not no-referrer [everyone]",
        "different: /s/monitored/definition/: has a weak Content-Security-Policy",
        "different: /verify/: has no Content-Security-Policy, not one [everyone]",
    ]


@pytest.mark.slow
def test_cookies_redirects_and_missing_files_are_found(
    site: str, reference: Path, randomizer: str
) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/verify/":
            reply.headers.append(("Set-Cookie", "who=you"))
        if reply.path == randomizer:
            reply.status = 302
            reply.headers.append(("Location", "https://elsewhere.example/x.js"))
        if "/verify/verify." in reply.path and reply.path.endswith(".css"):
            reply.status = 404

    status, lines = check(site, for_firefox(alter), reference)
    assert status == 1
    assert sorted(re.sub(r"\.\w{12}\.", ".", line) for line in lines) == [
        "different: /static/respond/randomizer.js: status 302, to https://elsewhere.example/x.js "
        f"[{FIREFOX}]",
        f"different: /static/verify/verify.css: status 404 [{FIREFOX}]",
        f"different: /verify/: has an unexpected header set-cookie: who=you [{FIREFOX}]",
    ]


@pytest.mark.slow
def test_different_questions_for_some_visitors_are_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/s/monitored/definition/":
            reply.body = reply.body.replace(b"A small survey", b"A large survey")

    status, lines = check(site, for_firefox(alter), reference, "--survey", "monitored")
    assert status == 1
    assert len(lines) == 2
    assert all("the definition of monitored comes as sha256" in line for line in lines)


@pytest.mark.slow
def test_questions_that_do_not_match_their_hash_are_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        reply.body = reply.body.replace(b"Did you?", b"Did he?")

    status, lines = check(site, alter, reference, "--survey", "monitored")
    said = json.loads(urlopen(f"{site}/s/monitored/definition/").read())["design"]["hash"]
    assert status == 1
    assert sorted(re.sub(r"sha256:(?=.*says)\w{64}", "HASH", line) for line in lines) == [
        f"different: {address}: has the design HASH, but says {said} [everyone]"
        for address in ("/api/v1/surveys/monitored/", "/s/monitored/definition/")
    ]
    assert monitor.design_problems(b'{"design": []}') == ["is no definition of Candor"]


def test_the_monitors_canonical_json_is_that_of_designs() -> None:
    numbers = [2.0, 2, 0.5, 1e-6, 1.5e-7, 1e-7, 1e16, 123456789e12, 1e20, 1e21, 1.25e100, -0.001]
    value = {"b": numbers, "a": {"ü\n\x1f\x7f": None, "é": True, "": "\U0001f600"}, "4294967296": 1}
    assert monitor.canonical(value) == design.canonical_json(value)
    # RFC 8785, 3.2.3: by units of UTF-16, not by characters.
    assert monitor.canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'


@pytest.mark.slow
def test_a_site_that_lies_consistently_is_found_by_a_reference_only(
    site: str, reference: Path, randomizer: str
) -> None:
    files = {
        address: urlopen(site + address).read()
        for address in json.loads(reference.read_text())["files"]
    }
    before, after = files[randomizer], files[randomizer] + b"\n"
    old, new = (manifest.ServedFile("", content).integrity.encode() for content in (before, after))
    files = {address: content.replace(old, new) for address, content in files.items()}
    files[randomizer] = after

    def alter(reply: Reply) -> None:
        if reply.path == monitor.MANIFEST:
            reply.body = manifest.manifest(files)
        elif reply.path.startswith("/s/"):
            reply.body = files["/s/"]
        else:
            reply.body = files[reply.path]

    assert check(site, alter)[0] == 0
    status, lines = check(site, alter, reference)
    assert status == 1
    assert any(f"manifest.json: for {randomizer} expected" in line for line in lines)
    assert any(line.startswith("different: /s/: expected sha256") for line in lines)


# --- Answers that browsers read in another way ----------------------------------------------------


MOVED = b'<meta http-equiv="refresh" content="0;url=/evil/">'


def written(reply: Reply, *lines: bytes, body: bytes | None = None) -> list[bytes]:
    """Return the reply with these lines as its last headers instead of its length."""
    head = [b"HTTP/1.1 200 OK", *(f"{name}: {value}".encode() for name, value in reply.headers)]
    body = reply.body if body is None else body
    return [b"\r\n".join([*head, *lines, b"Connection: close", b"", b""]) + body]


def length(body: bytes) -> bytes:
    return b"Content-Length: %d" % len(body)


def without_a_colon(reply: Reply) -> None:
    reply.raw = written(reply, length(reply.body), b"no colon", b"Refresh: 0; url=/evil/")


def underscore(reply: Reply) -> None:
    digits = b"%d" % len(reply.body)
    size = digits[:1] + b"_" + digits[1:]
    reply.raw = written(reply, b"Content-Length: " + size, body=reply.body + MOVED)


def two_lengths(reply: Reply) -> None:
    body = reply.body + MOVED
    reply.raw = written(reply, length(reply.body), length(body), body=body)


def length_and_chunks(reply: Reply) -> None:
    body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(reply.body), reply.body)
    reply.raw = written(reply, b"Transfer-Encoding: chunked", length(body), body=body)


def trailer(reply: Reply) -> None:
    body = b"%x\r\n%b\r\n0\r\nRefresh: 0; url=/evil/\r\n\r\n" % (len(reply.body), reply.body)
    reply.raw = written(reply, b"Transfer-Encoding: chunked", body=body)


def carriage_return(reply: Reply) -> None:
    line = b"Server: x\r" + length(reply.body)
    reply.raw = written(reply, line, body=reply.body + MOVED)


def early_end(reply: Reply) -> None:
    reply.raw = written(reply, b"Server: x\n\n" + MOVED, length(reply.body))


def folded(reply: Reply) -> None:
    reply.raw = written(reply, b"Server: x", b" Refresh: 0; url=/evil/", length(reply.body))


def early_hints(reply: Reply) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: <//evil.example/>; rel=preconnect\r\n\r\n"
    reply.raw = [hint, *written(reply, length(reply.body))]


def two_members(reply: Reply) -> None:
    body = gzip.compress(reply.body) + gzip.compress(MOVED)
    reply.raw = written(reply, b"Content-Encoding: gzip", length(body), body=body)


def other_encoding(reply: Reply) -> None:
    reply.headers.append(("Content-Encoding", "br"))


def refresh(reply: Reply) -> None:
    reply.headers.append(("Refresh", "0; url=/evil/"))


def link(reply: Reply) -> None:
    reply.headers.append(("Link", "</evil.css>; rel=stylesheet"))


def clear(reply: Reply) -> None:
    reply.headers.append(("Clear-Site-Data", '"storage"'))


def opener_twice(reply: Reply) -> None:
    reply.headers.append(("Cross-Origin-Opener-Policy", "unsafe-none"))


def policy_twice(reply: Reply) -> None:
    reply.headers.append(("Content-Security-Policy", "script-src 'self'"))


def other_type(reply: Reply) -> None:
    reply.drop("Content-Type")
    reply.headers.append(("Content-Type", "multipart/x-mixed-replace; boundary=x"))


TRICKS = {
    without_a_colon: "has a header that is none: no colon",
    underscore: "has no clear length: ",
    two_lengths: "has no clear length: ",
    length_and_chunks: "has no clear length: ",
    trailer: "or a header at its end",
    carriage_return: r"may read in another way: b'Server: x\rContent-Length: ",
    early_end: r"may read in another way: b'Server: x\n'",
    folded: "has a header that is none:  Refresh: 0",
    early_hints: "status 103",
    two_members: "has something after its gzip",
    other_encoding: "has an encoding that was not asked for: br",
    refresh: "has an unexpected header refresh: 0; url=/evil/",
    link: "has an unexpected header link: </evil.css>; rel=stylesheet",
    clear: 'has an unexpected header clear-site-data: "storage"',
    opener_twice: "has Cross-Origin-Opener-Policy: same-origin and unsafe-none, not same-origin",
    policy_twice: "has 2 Content-Security-Policy, not one",
    other_type: "has Content-Type: multipart/x-mixed-replace; boundary=x, not text/html",
}


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_every_trick_with_the_page_is_found(
    site: str, reference: Path, trick: Callable[[Reply], None]
) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/s/monitored/":
            trick(reply)

    with Mirror(site, alter) as mirror:
        check = monitor.Check(mirror.url, monitor.load(str(reference)), [], set())
        answer = check.ask("/s/monitored/", FIREFOX)
        if answer:
            check.compare(FIREFOX, "/s/monitored/", "/s/", answer)
    (line,) = check.findings.lines()
    assert line.startswith("different: /s/monitored/: ") and TRICKS[trick] in line


@pytest.mark.slow
def test_a_different_page_for_kiosks_is_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/s/monitored/?kiosk":
            reply.body += b" "

    status, (line,) = check(site, alter, reference, "--survey", "monitored")
    assert status == 1
    assert line.startswith("different: /s/monitored/?kiosk: expected sha256")


@pytest.mark.slow
def test_a_different_page_for_browsers_is_found(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/s/" and reply.asked.get("sec-fetch-dest") == "document":
            reply.body += b" "

    status, (line,) = check(site, alter, reference)
    assert status == 1
    assert line.startswith("different: /s/: expected sha256") and monitor.PROGRAM not in line


def test_a_chunked_answer_is_read(site: str) -> None:
    def alter(reply: Reply) -> None:
        half = len(reply.body) // 2
        first, second = reply.body[:half], reply.body[half:]
        body = b"%X\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (half, first, len(second), second)
        reply.raw = written(reply, b"Transfer-Encoding: chunked", body=body)

    with Mirror(site, alter) as mirror:
        answer = monitor.fetch(f"{mirror.url}/s/", {})
    assert answer.body == urlopen(f"{site}/s/").read()


@pytest.mark.openssl
@pytest.mark.slow
def test_the_certificate_of_the_site_is_checked(
    site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = make_certificate(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    with Mirror(site, tls=server) as mirror:
        status, out = run(mirror.url)
        assert (status, "CERTIFICATE_VERIFY_FAILED" in out) == (2, True)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        status, out = run(mirror.url)
        assert status == 0, out


@pytest.mark.slow
def test_a_harmless_header_can_be_allowed(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        reply.headers.append(("X-Proxy", "here"))

    status, lines = check(site, alter, reference)
    assert status == 1
    assert all(": has an unexpected header x-proxy: here [everyone]" in line for line in lines)
    assert check(site, alter, reference, "--allow-header", "X-Proxy")[0] == 0


@pytest.mark.slow
def test_requests_look_like_those_of_browsers(site: str, reference: Path, randomizer: str) -> None:
    with Mirror(site) as mirror:
        assert run(mirror.url, reference, "--survey", "monitored")[0] == 0
    asked = {
        (request.path, request.headers.get("sec-fetch-dest"), request.headers.get("sec-fetch-mode"))
        for request in mirror.received
        if "curl" not in request.headers["user-agent"]
    }
    style = next(path for path, _, _ in asked if path.endswith(".css"))
    assert asked >= {
        ("/s/monitored/", "document", "navigate"),
        ("/s/monitored/?kiosk", "document", "navigate"),
        ("/s/monitored/definition/", "empty", "cors"),
        (randomizer, "script", "cors"),
        (style, "style", "no-cors"),
    }
    assert all(what and mode for _, what, mode in asked)


@pytest.mark.slow
def test_control_characters_do_not_reach_the_terminal(site: str, reference: Path) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == "/verify/":
            text = "\x1b[2K\u202esame: 26 files\n"
            reply.body = f'<img src="{text}">'.encode()
        if reply.path == "/s/":
            reply.raw = [b"HTTP/1.1 302 Found\r\nLocation: /\x1b[2Ksame: 26 files\r\n\r\n"]

    status, lines = check(site, alter, reference)
    assert status == 1
    assert all(re.fullmatch("[ -~]+", line) for line in lines), lines
    assert any(r"\x1b[2Ksame: 26 files" in line for line in lines)
    assert any(r"loads \x1b[2K\u202esame: 26 files\n, which" in line for line in lines)


def drip(over: threading.Event) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nServer: "
    for _ in range(600):  # a letter every tenth of a second, until nobody reads any more
        if over.wait(0.1):
            return
        yield b"a"


def endless() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"Server: x\r\n" * 1000


@pytest.mark.slow
def test_a_slow_or_endless_answer_is_given_up(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def alter(reply: Reply) -> None:
        reply.raw = drip(over) if reply.path == "/s/" else endless()

    monkeypatch.setattr(monitor, "ANSWER_SECONDS", 0.5)
    with Mirror(site, alter) as mirror:
        with pytest.raises(monitor.NotChecked, match="timed out"):
            monitor.fetch(f"{mirror.url}/s/", {})
        over.set()
        monkeypatch.undo()
        with pytest.raises(monitor.NotChecked, match=f"more than {monitor.LIMIT} bytes"):
            monitor.fetch(f"{mirror.url}/verify/", {})


# --- What cannot be checked -----------------------------------------------------------------------


@pytest.mark.slow
def test_a_check_that_cannot_be_made_ends_with_2(
    site: str, reference: Path, tmp_path: Path
) -> None:
    assert run(f"http://127.0.0.1:{free_port()}", reference)[0] == 2
    assert run(site, tmp_path / "nothing.json")[0] == 2
    (tmp_path / "other.json").write_text('{"files": {"//elsewhere/": {}}}')
    status, out = run(site, tmp_path / "other.json")
    assert (status, "no manifest of Candor" in out) == (2, True)
    status, out = run(site, reference, "--survey", "no/slug")
    assert (status, "is no survey's name" in out) == (2, True)
    status, out = run("survey.example.org")
    assert (status, "is no site" in out) == (2, True)
    status, out = run(site, reference, "--survey", "nowhere")
    assert (status, "not checked: /s/nowhere/definition/: status 404" in out) == (2, True)


@pytest.mark.slow
def test_a_failing_or_overflowing_server_ends_with_2(
    site: str, reference: Path, randomizer: str
) -> None:
    bomb = gzip.compress(bytes(monitor.LIMIT + 1))

    def alter(reply: Reply) -> None:
        if reply.path == randomizer:
            reply.body = bomb
            reply.headers.append(("Content-Encoding", "gzip"))
        if reply.path == "/verify/":
            reply.status = 503

    status, lines = check(site, alter, reference)
    assert status == 2
    assert any(f"{randomizer}: more than {monitor.LIMIT} bytes [everyone]" in x for x in lines)
    assert "not checked: /verify/: status 503 [everyone]" in lines


def test_a_site_that_is_not_candor_is_not_checked(site: str) -> None:
    def alter(reply: Reply) -> None:
        if reply.path == monitor.MANIFEST:
            reply.status = 404

    status, lines = check(site, alter)
    assert (status, lines) == (2, [f"not checked: SITE{monitor.MANIFEST}: status 404"])


# --- The file itself ------------------------------------------------------------------------------


def test_the_monitor_is_one_python_3_9_file_without_dependencies() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 9))
    names = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert names <= sys.stdlib_module_names


def test_the_monitor_expects_the_headers_of_the_site() -> None:
    assert monitor.strict(POLICY)
    assert monitor.HEADERS.items() <= shell.HEADERS.items()
    assert re.sub(r"\?P<\w+>", "", manifest.IMPORT.pattern) == monitor.IMPORT.pattern
    for weaker in ("script-src 'self' 'unsafe-inline'", "script-src 'self' https:"):
        policy = POLICY.replace("script-src 'self'", weaker)
        assert not monitor.strict(policy)
    assert not monitor.strict(POLICY.replace("; trusted-types 'none'", ""))
