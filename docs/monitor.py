#!/usr/bin/env python3
"""Does a Candor site serve what its source says, to everyone?

    python3 monitor.py https://survey.example.org manifest.json --survey wellbeing

Asks, as several kinds of visitors, for the respondent's page of the surveys and of one that does
not exist, for /verify/ and for every file of the manifest, and compares all bytes with the
manifest's hashes. It also looks at what the pages load and at the headers that protect them. The
manifest is a file or an address; get it from somebody you trust, or from the source with
`manage.py manifest`. One line is written for every difference. The status is 0 if all is the same,
1 if something is different, 2 if something could not be checked.

One file, Python 3.9 or later, nothing to install.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import http.client
import json
import random
import re
import secrets
import sys
import time
import urllib.error
import urllib.request
import zlib
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

MANIFEST = "/.well-known/candor-manifest.json"
SHELL = "/s/"  # the manifest's address for the page of every survey
LIMIT = 4 << 20  # bytes of one file
MOST = 500  # files in a manifest
NOTHING = {"sha256": "nothing"}
SILENCE = 20  # seconds without a byte
PATIENCE = 60  # seconds for one file

# A site could serve altered files to some. It cannot tell these from people by what they ask for,
# only by where they come from: run the monitor in several places, at irregular times.
VISITORS = {
    "Chrome on Android in German": {
        "User-Agent": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/150.0.0.0 Mobile Safari/537.36",
        "Accept-Language": "de-DE,de;q=0.9,en;q=0.8",
        "Accept-Encoding": "gzip",
    },
    "Firefox on Linux in English": {
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Accept-Language": "en-US,en;q=0.5",
        "Accept-Encoding": "gzip",
    },
    "Safari on an iPhone in Arabic": {
        "User-Agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
        "Accept-Language": "ar",
        "Accept-Encoding": "identity",
    },
    "a program": {"User-Agent": "curl/8.5.0", "Accept-Encoding": "identity"},
}

# What the policy of a page must say word for word. Whatever else it says may allow the site itself
# and no more.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
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

IMPORT = re.compile(
    r"""^[ \t]*(?:import|export)\b(?:[^"'();=]*\bfrom)?\s*["']([^"']+)["']"""
    r"""|\bimport\(\s*["']([^"']+)["']""",
    re.MULTILINE,
)
STYLE_LOADS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""", re.IGNORECASE)


class NotChecked(Exception):
    """Something could not be found out, and this says why."""


# --- Fetching -------------------------------------------------------------------------------------


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body
        self.sha256 = hashlib.sha256(body).hexdigest()


def fetch(url: str, headers: dict[str, str]) -> Answer:
    """One answer, whatever its status, decoded; no redirect is followed, no cookie is sent."""
    request = urllib.request.Request(url, headers=headers)
    try:
        try:
            response = OPENER.open(request, timeout=SILENCE)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            body = decoded(read(response), response.headers.get("Content-Encoding", "identity"))
            return Answer(response.code, response.headers, body)
    except urllib.error.URLError as error:
        raise NotChecked(f"no answer ({error.reason})") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotChecked(f"no answer ({type(error).__name__}: {error})") from None


def read(response) -> bytes:
    deadline = time.monotonic() + PATIENCE
    body = b""
    while chunk := response.read1(65536):
        body += chunk
        if len(body) > LIMIT:
            raise NotChecked(f"more than {LIMIT} bytes")
        if time.monotonic() > deadline:
            raise NotChecked(f"not there after {PATIENCE} s")
    return body


def decoded(body: bytes, encoding: str) -> bytes:
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise NotChecked(f"an encoding that was not asked for: {encoding}")
    try:
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        plain = inflate.decompress(body, LIMIT + 1)
    except zlib.error as error:
        raise NotChecked(f"broken gzip ({error})") from None
    if len(plain) > LIMIT:
        raise NotChecked(f"more than {LIMIT} bytes")
    if not inflate.eof:
        raise NotChecked("broken gzip (it ends too early)")
    return plain


# --- The manifest ---------------------------------------------------------------------------------


def load(source: str) -> dict:
    """The files of a manifest from a file or an address."""
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
        raise NotChecked(f"{where}: no manifest of Candor")
    return files


# --- What a page says -----------------------------------------------------------------------------


class Page(HTMLParser):
    """Finds what a page would load or run."""

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
        if tag == "meta" and has.get("http-equiv", "").lower() == "refresh":
            self.problems.append("sends visitors elsewhere (meta refresh)")
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
        entry = self.files.get(urljoin(self.address, value))
        if entry is None:
            self.problems.append(f"loads {value}, which the manifest does not list")
        elif tag == "script" or has.get("rel") == "stylesheet":
            digest = base64.b64encode(bytes.fromhex(entry["sha256"])).decode()
            if has.get("integrity") != f"sha256-{digest}":
                self.problems.append(f"loads {value} without the hash of the manifest")


def content_problems(address: str, body: bytes, files: dict) -> list[str]:
    """What this file loads and must not."""
    text = body.decode(errors="replace")
    if address.endswith("/"):
        page = Page(address, files)
        page.feed(text)
        page.close()
        return page.problems
    pattern = {"js": IMPORT, "css": STYLE_LOADS}.get(address.rpartition(".")[2])
    found = pattern.findall(text) if pattern else []
    loaded = [first or second for first, second in found]
    return [
        f"loads {each}, which the manifest does not list"
        for each in loaded
        if urljoin(address, each) not in files
    ]


def header_problems(headers) -> list[str]:
    problems = []
    for name, expected in HEADERS.items():
        if headers.get(name) != expected:
            problems.append(f"has {name}: {headers.get(name)}, not {expected}")
    policies = headers.get_all("Content-Security-Policy") or []
    if not policies:
        problems.append("has no Content-Security-Policy")
    elif not any(strict(policy) for policy in policies):
        problems.append(f"has a weak Content-Security-Policy: {'; '.join(policies)}")
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


# --- The check ------------------------------------------------------------------------------------


class Findings:
    """Lines, each with the visitors whom it concerns."""

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
    def __init__(self, site: str, reference: dict | None, surveys: list[str]) -> None:
        self.site = site
        self.findings = Findings()
        self.files = self.manifests(reference)
        self.surveys = surveys
        self.good: dict[str, bytes] = {}  # bodies with the right hash
        self.asked = 0

    def different(self, text: str, visitor: str) -> None:
        self.findings.different.setdefault(text, []).append(visitor)

    def not_checked(self, text: str, visitor: str) -> None:
        self.findings.not_checked.setdefault(text, []).append(visitor)

    def manifests(self, reference: dict | None) -> dict:
        """The reference, or else the site's own manifest; everyone must get the same one."""
        first = reference
        for visitor, headers in VISITORS.items():
            answer = fetch(self.site + MANIFEST, headers)
            try:
                if answer.status != 200:
                    raise NotChecked(described(answer))
                own = parsed(answer.body, "what is published")
            except NotChecked as why:
                if first is None:
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
        pages = [SHELL, *(f"/s/{slug}/" for slug in (*self.surveys, invented()))]
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
        """An answer of status 200, or None and a finding; some statuses prove nothing."""
        self.asked += 1
        try:
            answer = fetch(self.site + address, VISITORS[visitor])
        except NotChecked as why:
            self.not_checked(f"{address}: {why}", visitor)
            return None
        if answer.headers.get("Set-Cookie"):
            self.different(f"{address}: sets a cookie", visitor)
        if answer.status == 200:
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
        if address.endswith("/"):
            problems += header_problems(answer.headers)
        for problem in problems:
            self.different(f"{address}: {problem}", visitor)

    def definition(self, slug: str) -> None:
        """Everyone is asked the same questions, whichever address the page uses."""
        found: dict[str, list[str]] = {}
        for visitor in VISITORS:
            for address in (f"/s/{slug}/definition/", f"/api/v1/surveys/{slug}/"):
                answer = self.ask(address, visitor, (403, 404, 429))
                if answer is None:
                    continue
                found.setdefault(answer.sha256, []).append(visitor)
                if address.startswith("/s/"):
                    for problem in header_problems(answer.headers):
                        self.different(f"{address}: {problem}", visitor)
        if len(found) > 1:
            for sha256, visitors in found.items():
                for visitor in visitors:
                    self.different(f"the definition of {slug} comes as sha256 {sha256}", visitor)


def invented() -> str:
    """The slug of a survey that does not exist: the page must be the same."""
    return f"s-{secrets.token_hex(6)}"


def described(answer: Answer) -> str:
    location = answer.headers.get("Location")
    return f"status {answer.status}" + (f", to {location[:200]}" if location else "")


def origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise argparse.ArgumentTypeError(f"{text!r} is no site, such as https://survey.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def slug(text: str) -> str:
    if not re.fullmatch(r"[-\w]{1,200}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no survey's name in an address")
    return text


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
    given = parser.parse_args(arguments)
    try:
        reference = None if given.manifest is None else load(given.manifest)
        check = Check(given.site, reference, given.survey)
    except NotChecked as why:
        print(f"not checked: {why}")
        return 2
    if reference is None:
        print("note: compared with the site's own manifest, so this proves only self-consistency")
    check.run()
    for line in check.findings.lines():
        print(line)
    if check.findings.status() == 0:
        print(f"same: {len(check.files)} files of {given.site}, {check.asked} answers")
    return check.findings.status()


if __name__ == "__main__":
    sys.exit(main())
