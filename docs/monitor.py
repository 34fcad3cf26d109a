#!/usr/bin/env python3
"""Check that a Candor site serves everyone what its source says.

    python3 monitor.py https://survey.example.org manifest.json --survey wellbeing

As several kinds of visitors, it requests the respondent's page of the surveys and of one that does
not exist, /verify/ and every file in the manifest, and compares all bytes with the manifest's
hashes. It also checks what the pages load, all headers, and the questions. The manifest is a file
or an address; get it from someone you trust, or from the source with `manage.py manifest`. It
prints one line per difference. The status is 0 if everything is the same, 1 if something differs,
2 if something could not be checked.

One file, Python 3.9 or later, nothing to install.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import random
import re
import secrets
import socket
import ssl
import sys
import time
import zlib
from decimal import Decimal
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

MANIFEST = "/.well-known/candor-manifest.json"
SHELL = "/s/"  # the manifest's address for the page of every survey
LIMIT = 4 << 20  # bytes of one answer, and of what it unpacks to
LINE = 16384  # bytes of one header
LEGIBLE = 1 << 16  # bytes of one page or module; searching longer ones could take hours
MOST = 500  # files in a manifest
NOTHING = {"sha256": "nothing"}
ANSWER_SECONDS = 30  # seconds for one answer, all of it
SHOWN = 600  # characters of one finding

# A site could serve altered files to some visitors. These requests look much like a browser's, so
# that a missing header does not reveal them. A determined site can still tell: by TLS, by HTTP/1.1,
# by compression (only gzip here) and by address. Run it in several places, at irregular times.
PROGRAM = "a program"
VISITORS = {
    "Chrome on Android in German": {
        "Sec-CH-UA": '"Not;A=Brand";v="8", "Chromium";v="150", "Google Chrome";v="150"',
        "Sec-CH-UA-Mobile": "?1",
        "Sec-CH-UA-Platform": '"Android"',
        "User-Agent": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/150.0.0.0 Mobile Safari/537.36",
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
        "image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
        "Accept-Encoding": "gzip",
        "Accept-Language": "de-DE,de;q=0.9,en;q=0.8",
    },
    "Firefox on Linux in English": {
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "Accept-Language": "en-US,en;q=0.5",
        "Accept-Encoding": "gzip",
    },
    "Safari on an iPhone in Arabic": {
        "User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "Accept-Language": "ar",
        "Accept-Encoding": "gzip",
    },
    PROGRAM: {"User-Agent": "curl/8.5.0", "Accept": "*/*"},
}
# What browsers load a file as, in the words of Sec-Fetch-Dest, and what they then accept.
KINDS = {"js": "script", "css": "style", "svg": "image", "json": "empty"}
ACCEPT = {"style": "text/css,*/*;q=0.1", "image": "image/avif,image/webp,image/*,*/*;q=0.8"}

# What the policy of a page must contain word for word. Anything else in it may allow only the site
# itself.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "img-src": "data:",
    "worker-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Headers that Candor sends and that honest proxies and networks add. Any other header might make
# browsers do something invisible: go elsewhere, load a style, report the visit, delete their data.
ALLOWED = frozenset(
    "access-control-allow-origin allow cache-control content-encoding content-length "
    "content-security-policy content-type cross-origin-opener-policy cross-origin-resource-policy "
    "date etag last-modified permissions-policy referrer-policy server strict-transport-security "
    "vary x-content-type-options x-frame-options "
    "accept-ranges age alt-svc connection expires keep-alive pragma server-timing "
    "transfer-encoding upgrade via "
    "cf-cache-status cf-ray x-amz-cf-id x-amz-cf-pop x-cache x-cache-hits x-powered-by "
    "x-request-id x-robots-tag x-served-by x-timer x-varnish".split()
)

IMPORT = re.compile(
    r"""^[ \t]*(?:import|export)\b(?:[^"'();=]*\bfrom)?\s*["']([^"']+)["']"""
    r"""|\bimport\(\s*["']([^"']+)["']""",
    re.MULTILINE,
)
STYLE_LOADS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""", re.IGNORECASE)


class NotChecked(Exception):
    """Something could not be checked; the message says why."""


class Different(Exception):
    """A reply that Candor never sends, or that browsers may read differently."""


# --- Fetching -------------------------------------------------------------------------------------


class Answer:
    def __init__(self, status: int, headers: dict[str, list[str]], body: bytes) -> None:
        self.status = status
        self.headers = headers  # by name in lower case, every value that came
        self.body = body
        self.sha256 = hashlib.sha256(body).hexdigest()


class Incoming(io.RawIOBase):
    """The bytes of a connection, up to a limit and until the deadline."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self.connection = connection
        self.deadline = deadline
        self.room = LIMIT

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        wait(self.connection, self.deadline)
        size = self.connection.recv_into(buffer)
        self.room -= size
        if self.room < 0:
            raise NotChecked(f"more than {LIMIT} bytes")
        return size


def wait(connection: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise OSError("timed out")
    connection.settimeout(left)


# Python's HTTP client tolerates what browsers read differently, such as a header without a colon,
# after which it sees no more headers. So this module parses replies itself, strictly.
TLS = ssl.create_default_context()
TLS.set_alpn_protocols(["http/1.1"])


def fetch(url: str, headers: dict[str, str]) -> Answer:
    """Return the decoded reply of any status. Follows no redirects and sends no cookies."""
    deadline = time.monotonic() + ANSWER_SECONDS
    try:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        with socket.create_connection((parts.hostname, port), ANSWER_SECONDS) as plain:
            wait(plain, deadline)
            secure = parts.scheme == "https"
            connection = TLS.wrap_socket(plain, server_hostname=parts.hostname) if secure else plain
            with connection:
                wait(connection, deadline)
                connection.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
                return read(io.BufferedReader(Incoming(connection, deadline)))
    except (OSError, ValueError) as error:
        raise NotChecked(f"no answer ({error})") from None


def read(stream: io.BufferedReader) -> Answer:
    start = re.fullmatch(r"HTTP/1\.1 ([1-5][0-9][0-9])( .*)?", line(stream))
    if not start:
        raise Different("does not begin as HTTP/1.1 does")
    headers: dict[str, list[str]] = {}
    while text := line(stream):
        header = re.fullmatch(r"([-!#$%&'*+.^_`|~0-9A-Za-z]+): *(.*?) *", text)
        if not header:
            raise Different(f"has a header that is none: {text}")
        headers.setdefault(header[1].lower(), []).append(header[2])
    status = int(start[1])
    body = b""
    if status == 200:  # other replies are used only for their status
        body = decoded(content(stream, headers), headers.get("content-encoding", []))
    return Answer(status, headers, body)


def line(stream: io.BufferedReader) -> str:
    raw = stream.readline(LINE)
    if len(raw) < LINE and not raw.endswith(b"\n"):
        raise NotChecked("cut off")
    if not re.fullmatch(rb"[ -~]*\r\n", raw):
        raise Different(f"has a header that browsers may read in another way: {raw!r}")
    return raw[:-2].decode()


def content(stream: io.BufferedReader, headers: dict[str, list[str]]) -> bytes:
    lengths = headers.get("content-length", [])
    codings = headers.get("transfer-encoding", [])
    if codings == ["chunked"] and not lengths:
        return chunks(stream)
    if codings or len(lengths) != 1 or not re.fullmatch("[0-9]{1,9}", lengths[0]):
        raise Different(f"has no clear length: {', '.join(lengths + codings) or 'none'}")
    return exactly(stream, int(lengths[0]))


def chunks(stream: io.BufferedReader) -> bytes:
    body = b""
    while True:
        size = line(stream)
        if not re.fullmatch("[0-9A-Fa-f]{1,7}", size):
            raise Different(f"has a chunk of no clear length: {size}")
        chunk = exactly(stream, int(size, 16))
        if exactly(stream, 2) != b"\r\n":
            raise Different("has a chunk of another length than it says, or a header at its end")
        if not chunk:
            return body
        body += chunk


def exactly(stream: io.BufferedReader, size: int) -> bytes:
    if size > LIMIT:
        raise NotChecked(f"more than {LIMIT} bytes")
    body = stream.read(size)
    if len(body) < size:
        raise NotChecked("cut off")
    return body


def decoded(body: bytes, encodings: list[str]) -> bytes:
    if not encodings:
        return body
    if encodings != ["gzip"]:
        raise Different(f"has an encoding that was not asked for: {', '.join(encodings)}")
    try:
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        plain = inflate.decompress(body, LIMIT + 1)
    except zlib.error as error:
        raise Different(f"has broken gzip ({error})") from None
    if len(plain) > LIMIT:
        raise NotChecked(f"more than {LIMIT} bytes")
    if not inflate.eof:
        raise Different("has broken gzip (it ends too early)")
    if inflate.unused_data:
        raise Different("has something after its gzip")
    return plain


def kind(address: str) -> str:
    if re.fullmatch("/s/[^/]+/definition/|/api/.*", address):
        return "empty"
    return KINDS.get(address.rpartition(".")[2], "document")


def request(site: str, address: str, visitor: str) -> dict[str, str]:
    """Return the headers with which this visitor's browser requests this."""
    headers = dict(VISITORS[visitor])
    if visitor == PROGRAM:
        return headers
    headers["Connection"] = "keep-alive"
    what = kind(address)
    if what == "document":
        how = {"Mode": "navigate", "Site": "none", "User": "?1"}
        headers["Upgrade-Insecure-Requests"] = "1"
    else:
        how = {"Mode": "cors" if what in ("script", "empty") else "no-cors", "Site": "same-origin"}
        headers["Accept"] = ACCEPT.get(what, "*/*")
    if how["Mode"] == "cors" and "Chrome" in visitor:
        headers["Origin"] = site
    return headers | {f"Sec-Fetch-{name}": value for name, value in {"Dest": what, **how}.items()}


# --- The manifest ---------------------------------------------------------------------------------


def load(source: str) -> dict:
    """Return the files of a manifest from a file or an address."""
    if re.match(r"https?://", source):
        answer = fetch(source, {"User-Agent": "candor-monitor"})
        if answer.status != 200:
            raise NotChecked(f"{source}: status {answer.status}")
        return parsed(answer.body, source)
    try:
        with open(source, "rb") as file:
            return parsed(file.read(LIMIT), source)
    except OSError as error:
        raise NotChecked(f"{source}: {error.strerror}") from None


def parsed(body: bytes, where: str) -> dict:
    try:
        files = json.loads(body)["files"]
        good = all(
            re.fullmatch(r"/(?!/)[!-~]*", address)
            and re.fullmatch(r"[0-9a-f]{64}", entry["sha256"])
            and isinstance(entry["bytes"], int)
            for address, entry in files.items()
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        good, files = False, {}
    if not good or SHELL not in files or len(files) > MOST:
        raise Different(f"{where}: no manifest of Candor")
    return files


# --- What a page says -----------------------------------------------------------------------------


class Page(HTMLParser):
    """Finds what a page would load or run."""

    ICON = re.compile('data:image/svg[+]xml,<svg [^"]*</svg>')
    LOADING = {"src", "srcset", "data", "poster", "action", "formaction", "background", "ping"}

    def __init__(self, address: str, files: dict) -> None:
        super().__init__()
        self.address = address
        self.files = files
        self.problems: list[str] = []

    def handle_starttag(self, tag, attrs):
        has = {name: value or "" for name, value in attrs}
        if tag == "script" and "src" not in has:
            self.problems.append("has a script of its own")
        if tag in ("style", "base", "iframe", "object", "embed", "template"):
            self.problems.append(f"has an element {tag}")
        if has.get("http-equiv", "content-security-policy").lower() != "content-security-policy":
            self.problems.append(f"has http-equiv {has['http-equiv']}")
        for name, value in has.items():
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.problems.append(f"has an attribute {name}")
            if re.match(r"\s*javascript:", value, re.IGNORECASE):
                self.problems.append("has a javascript: address")
            loads = name in self.LOADING or (
                name in ("href", "xlink:href") and tag not in ("a", "area")
            )
            if loads and not value.startswith("#"):
                self.check(tag, has, value)

    def check(self, tag: str, has: dict[str, str], value: str) -> None:
        if (tag, has.get("rel"), value) == ("link", "preload", "definition/"):
            return
        if (tag, has.get("rel")) == ("link", "icon") and self.ICON.fullmatch(value):
            return
        entry = self.files.get(urljoin(self.address, value))
        if entry is None:
            self.problems.append(f"loads {value}, which the manifest does not list")
        elif tag == "script" or has.get("rel") == "stylesheet":
            digest = base64.b64encode(bytes.fromhex(entry["sha256"])).decode()
            if has.get("integrity") != f"sha256-{digest}":
                self.problems.append(f"loads {value} without the hash of the manifest")


def content_problems(address: str, body: bytes, files: dict) -> list[str]:
    """Return what this file loads but must not."""
    if len(body) > LEGIBLE:
        return [f"is too long to look into: {len(body)} bytes"]
    text = body.decode(errors="replace")
    if kind(address) == "document":
        page = Page(address, files)
        page.feed(text)
        page.close()
        return page.problems
    pattern = {"script": IMPORT, "style": STYLE_LOADS}.get(kind(address))
    found = pattern.findall(text) if pattern else []
    loaded = [first or second for first, second in found]
    return [
        f"loads {each}, which the manifest does not list"
        for each in loaded
        if urljoin(address, each) not in files
    ]


def header_problems(headers: dict[str, list[str]], content_type: str) -> list[str]:
    """Return the problems in the headers of a page or definition."""
    problems = []
    for name, expected in {**HEADERS, "Content-Type": content_type}.items():
        found = headers.get(name.lower(), [])
        if found != [expected]:
            problems.append(f"has {name}: {' and '.join(found) or 'nothing'}, not {expected}")
    policies = headers.get("content-security-policy", [])
    if len(policies) != 1:
        problems.append(f"has {len(policies) or 'no'} Content-Security-Policy, not one")
    elif not strict(policies[0]):
        problems.append(f"has a weak Content-Security-Policy: {policies[0]}")
    return problems


def strict(policy: str) -> bool:
    said: dict[str, str] = {}
    for part in policy.split(";"):
        name, _, value = part.strip().partition(" ")
        if name:
            said.setdefault(name.lower(), value.strip())  # as browsers do: the first one counts
    others = {word for name in said.keys() - POLICY.keys() for word in said[name].split()}
    return said.items() >= POLICY.items() and others <= {"'none'", "'self'"}


def difference(entry: dict, answer: Answer, good: bytes | None) -> str:
    text = (
        f"expected sha256 {entry['sha256']} ({entry['bytes']} bytes), "
        f"found {answer.sha256} ({len(answer.body)} bytes)"
    )
    if good is None:
        return text
    body = answer.body
    shorter = min(len(good), len(body))
    at = next((at for at in range(shorter) if good[at] != body[at]), shorter)
    line = good.count(b"\n", 0, at) + 1
    return (
        f"{text}; first difference at byte {at}, line {line}: "
        f"expected {good[at : at + 24]!r}, found {body[at : at + 24]!r}"
    )


# --- What a survey asks ---------------------------------------------------------------------------


def design_problems(body: bytes) -> list[str]:
    """Return whether the design of a definition matches its hash, which is in every report."""
    try:
        design = json.loads(body.decode())["design"]
        said = design.pop("hash")
        found = "sha256:" + hashlib.sha256(canonical(design).encode()).hexdigest()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ["is no definition of Candor"]
    return [] if said == found else [f"has the design {found}, but says {said}"]


def canonical(value: object) -> str:
    """Return canonical JSON (RFC 8785)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        digits = repr(value)
        if "e" in digits and 1e-6 <= abs(value) < 1e21:
            digits = format(Decimal(digits), "f")
        return re.sub(r"\.0$|(?<=e[-+])0", "", digits)
    return json.dumps(value, ensure_ascii=False)


# --- The check ------------------------------------------------------------------------------------


class Findings:
    """Lines, each with the visitors that it concerns."""

    def __init__(self) -> None:
        self.different: dict[str, list[str]] = {}
        self.not_checked: dict[str, list[str]] = {}

    def lines(self) -> list[str]:
        return [
            f"{kind}: {text} [{who(visitors)}]"
            for kind, found in (("different", self.different), ("not checked", self.not_checked))
            for text, visitors in found.items()
        ]

    def status(self) -> int:
        return 1 if self.different else 2 if self.not_checked else 0


def who(visitors: list[str]) -> str:
    names = [name for name in VISITORS if name in visitors]
    return "everyone" if len(names) == len(VISITORS) else ", ".join(names)


class Check:
    def __init__(
        self, site: str, reference: dict | None, surveys: list[str], allowed: set[str]
    ) -> None:
        self.site = site
        self.allowed = ALLOWED | allowed
        self.findings = Findings()
        self.files = self.manifests(reference)
        self.surveys = surveys
        self.good: dict[str, bytes] = {}  # bodies with the right hash
        self.definitions: dict[str, str] = {}  # hashes by survey
        self.asked = 0

    def different(self, text: str, visitor: str) -> None:
        self.findings.different.setdefault(text[:SHOWN], []).append(visitor)

    def not_checked(self, text: str, visitor: str) -> None:
        self.findings.not_checked.setdefault(text[:SHOWN], []).append(visitor)

    def manifests(self, reference: dict | None) -> dict:
        """Return the reference, or the site's own manifest; everyone must get the same one."""
        first = reference
        for visitor in VISITORS:
            try:
                answer = fetch(self.site + MANIFEST, request(self.site, MANIFEST, visitor))
                if answer.status != 200:
                    raise Different(described(answer))
                own = parsed(answer.body, "what is published")
            except (NotChecked, Different) as why:
                if first is None or isinstance(why, NotChecked):
                    raise NotChecked(f"{self.site}{MANIFEST}: {why}") from None
                self.different(f"{MANIFEST}: {why}", visitor)
                continue
            first = first or own
            for address in sorted(first.keys() | own.keys()):
                expected, found = (files.get(address, NOTHING) for files in (first, own))
                if expected["sha256"] != found["sha256"]:
                    text = f"for {address} expected {expected['sha256']}, found {found['sha256']}"
                    self.different(f"{MANIFEST}: {text}", visitor)
        return first

    def run(self) -> None:
        slugs = (*self.surveys, invented())
        pages = [SHELL, *(f"/s/{slug}/{query}" for slug in slugs for query in ("", "?kiosk"))]
        jobs = [
            (visitor, address, listed)
            for visitor in VISITORS
            for listed in self.files
            for address in (pages if listed == SHELL else [listed])
        ]
        random.SystemRandom().shuffle(jobs)
        answers = [(*job, self.ask(job[1], job[0])) for job in jobs]
        for _, _, listed, answer in answers:
            if answer and answer.sha256 == self.files[listed]["sha256"]:
                self.good[listed] = answer.body
        for visitor, address, listed, answer in answers:
            if answer:
                self.compare(visitor, address, listed, answer)
        for slug in self.surveys:
            self.definition(slug)

    def ask(self, address: str, visitor: str, trouble: tuple = (403, 429)) -> Answer | None:
        """Return a reply of status 200, or None and add a finding. Some statuses prove nothing."""
        self.asked += 1
        try:
            answer = fetch(self.site + address, request(self.site, address, visitor))
        except (NotChecked, Different) as why:
            note = self.different if isinstance(why, Different) else self.not_checked
            note(f"{address}: {why}", visitor)
            return None
        if answer.status == 200:
            for name in sorted(answer.headers.keys() - self.allowed):
                text = f"has an unexpected header {name}: {' and '.join(answer.headers[name])}"
                self.different(f"{address}: {text}", visitor)
            return answer
        nothing = answer.status in trouble or answer.status >= 500
        note = self.not_checked if nothing else self.different
        note(f"{address}: {described(answer)}", visitor)
        return None

    def compare(self, visitor: str, address: str, listed: str, answer: Answer) -> None:
        entry = self.files[listed]
        if answer.sha256 != entry["sha256"]:
            good = self.good.get(listed)
            self.different(f"{address}: {difference(entry, answer, good)}", visitor)
        problems = content_problems(address, answer.body, self.files)
        if kind(address) == "document":
            problems += header_problems(answer.headers, "text/html; charset=utf-8")
        for problem in problems:
            self.different(f"{address}: {problem}", visitor)

    def definition(self, slug: str) -> None:
        """Check that everyone is asked the same questions, at every address that the page uses."""
        found: dict[str, list[str]] = {}
        for visitor in VISITORS:
            for address in (f"/s/{slug}/definition/", f"/api/v1/surveys/{slug}/"):
                answer = self.ask(address, visitor, (403, 404, 429))
                if answer is None:
                    continue
                found.setdefault(answer.sha256, []).append(visitor)
                problems = design_problems(answer.body)
                if address.startswith("/s/"):
                    problems += header_problems(answer.headers, "application/json")
                for problem in problems:
                    self.different(f"{address}: {problem}", visitor)
        for sha256, visitors in found.items():
            self.definitions[slug] = sha256
            for visitor in visitors if len(found) > 1 else []:
                self.different(f"the definition of {slug} comes as sha256 {sha256}", visitor)


def invented() -> str:
    """Return the slug of a survey that does not exist, whose page must be the same."""
    return f"s-{secrets.token_hex(6)}"


def described(answer: Answer) -> str:
    location = answer.headers.get("location")
    return f"status {answer.status}" + (f", to {' and '.join(location)}" if location else "")


def origin(text: str) -> str:
    parts = urlsplit(text)
    named = re.fullmatch(r"[-.\w:\[\]]+", parts.netloc, re.ASCII)
    if parts.scheme not in ("http", "https") or not named or parts.path not in ("", "/"):
        raise argparse.ArgumentTypeError(f"{text!r} is no site, such as https://survey.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def slug(text: str) -> str:
    if not re.fullmatch(r"[-\w]{1,200}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no survey's name in an address")
    return text


def say(text: str) -> None:
    """Print text from a site without letting it control the terminal."""
    print(re.sub("[^ -~]", lambda match: ascii(match[0])[1:-1], text))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        epilog="Status: 0 the same, 1 different, 2 could not be checked.",
    )
    parser.add_argument("site", type=origin, help="such as https://survey.example.org")
    parser.add_argument("manifest", nargs="?", help="file or address; the site's own if left out")
    parser.add_argument(
        "--survey", type=slug, action="append", default=[], metavar="SLUG",
        help="look at the page and the questions of this survey too; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--allow-header", type=str.lower, action="append", default=[], metavar="NAME",
        help="a harmless header that a proxy of this site adds; may be repeated",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    try:
        reference = None if given.manifest is None else load(given.manifest)
        check = Check(given.site, reference, given.survey, set(given.allow_header))
    except (NotChecked, Different) as why:
        say(f"not checked: {why}")
        return 2
    if reference is None:
        say("note: compared with the site's own manifest, so this proves only self-consistency")
    check.run()
    for line in check.findings.lines():
        say(line)
    if check.findings.status() == 0:
        say(f"same: {len(check.files)} files of {given.site}, {check.asked} answers")
        for survey, sha256 in check.definitions.items():
            say(f"same: the definition of {survey}, sha256 {sha256}")
    return check.findings.status()


if __name__ == "__main__":
    sys.exit(main())
