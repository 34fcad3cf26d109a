"""What `tests.run --coverage` prints: a table of the Python files and one of the JavaScript files.

Python is measured by coverage.py, in every process that the tests start and do not kill. JavaScript
is measured by V8, in Node and in Chromium, which both describe what ran as
{"result": [{"url", "functions": [{"ranges": [{"startOffset", "endOffset", "count"}]}]}]}.
"""

import json
import re
import subprocess
import sys
import urllib.parse
import uuid
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import BrowserContext, CDPSession, Error, Page

from tests.support.services import ROOT

COMMENT = re.compile(r"^[ \t]*(/\*.*?\*/|//[^\n]*)[ \t]*$", re.MULTILINE | re.DOTALL)
ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")
HASHED = re.compile(r"/static/(.+)\.[0-9a-f]{12}(\.js)")


def measure_pages(context: BrowserContext) -> list[CDPSession]:
    """Let Chromium count what runs in every page of a context."""
    sessions: list[CDPSession] = []

    def begin(page: Page) -> None:
        session = context.new_cdp_session(page)
        session.send("Profiler.enable")
        session.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})
        sessions.append(session)

    context.on("page", begin)
    return sessions


def write_pages(folder: Path, sessions: list[CDPSession]) -> None:
    """Write the coverage of the pages that are still open."""
    for session in sessions:
        try:
            found = session.send("Profiler.takePreciseCoverage")
        except Error:  # the page was closed
            continue
        (folder / f"page-{uuid.uuid4()}.json").write_text(json.dumps(found))


def print_tables(folder: Path, served: Path) -> None:
    """Print both tables, least covered first; `served` has the static files as pages get them."""
    for command in (["combine", "--quiet"], ["report", "--sort=cover", "--skip-empty"]):
        subprocess.run(
            [sys.executable, "-m", "coverage", *command, f"--data-file={folder / 'python'}"],
            cwd=ROOT,
            check=False,
        )
    rows = []
    ran = lines_that_ran(folder, served)
    for path in sorted((ROOT / "static").rglob("*.js")):
        name = str(path.relative_to(ROOT / "static"))
        lines = len(code_lines(units(path)))
        missed = lines - len(ran.get(name, ()))
        rows.append((1 - missed / lines, f"static/{name}", lines, missed))
    print(f"\n{'Name':42} {'Lines':>6} {'Miss':>6} {'Cover':>6}\n{'-' * 63}")
    for share, name, lines, missed in sorted(rows):
        print(f"{name:42} {lines:6} {missed:6} {share:6.0%}")


def lines_that_ran(folder: Path, served: Path) -> dict[str, set[int]]:
    """Return for every file which of its lines of code ran.

    Pages get files without comments and with other names in their imports, but with the same lines
    of code in the same order.
    """
    ran: dict[str, set[int]] = {}
    texts: dict[Path, str] = {}
    for report in folder.rglob("*.json"):
        for script in json.loads(report.read_text())["result"]:
            for name, path in files_of(script["url"], served):
                text = texts.setdefault(path, units(path))
                hit = bytearray(len(text))
                for function in script["functions"]:  # the outer before the inner
                    for one in function["ranges"]:
                        start, end = one["startOffset"], one["endOffset"]
                        hit[start:end] = bytes([one["count"] > 0]) * (end - start)
                spans = enumerate(code_lines(text))
                ran.setdefault(name, set()).update(i for i, (a, b) in spans if any(hit[a:b]))
    return ran


def files_of(url: str, served: Path) -> Iterator[tuple[str, Path]]:
    """Return the name and content of our file that a script was loaded from, if any."""
    address = urllib.parse.urlsplit(url)
    if address.scheme == "file" and Path(address.path).is_relative_to(ROOT / "static"):
        yield str(Path(address.path).relative_to(ROOT / "static")), Path(address.path)
    elif found := HASHED.fullmatch(address.path):
        path = served / address.path.removeprefix("/static/")
        if (ROOT / "static" / "".join(found.groups())).exists() and path.exists():
            yield "".join(found.groups()), path


def units(path: Path) -> str:
    """Return the text with one character per UTF-16 unit, as V8 counts, and blank comments."""
    text = ASTRAL.sub("xx", path.read_text())
    return COMMENT.sub(lambda found: re.sub(r"\S", " ", found[0]), text)


def code_lines(text: str) -> list[tuple[int, int]]:
    """Return the spans of lines with more than spaces and brackets."""
    return [found.span() for found in re.finditer(r"^[^\n]*\w[^\n]*$", text, re.MULTILINE)]
