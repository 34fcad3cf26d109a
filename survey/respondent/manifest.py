"""The manifest: the files of the pages that handle answers, with their hashes.

A shell lists the modules that may run and their hashes (docs/decisions/0011-integrity.md), so the
hash of the shell covers all of them. The lists are generated from the import statements of the
collected files. Nothing here depends on a survey, a visitor or the time.
"""

import hashlib
import json
import posixpath
import re
from base64 import b64encode
from dataclasses import dataclass

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.template.loader import render_to_string

from config import __version__
from survey.words import CATALOGUES

ICON = "icon.svg"

# The Content Security Policy of the pages. It is sent as a header, and the shell repeats it with
# the hashes of its own modules, so that the manifest covers it. Style sheets may not load anything,
# so that none, wherever it comes from, can report what was tapped.
DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "data:",  # the icon is part of the shell
    "connect-src": "'self'",
    "worker-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",  # scripts read the answers; forms are never submitted
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
ONLY_IN_A_HEADER = {"frame-ancestors"}

# The four forms of import, in the form in which the storage writes them when it collects files.
IMPORT = re.compile(
    r"""^[ \t]*(?:import|export)\b(?:[^"'();=]*\bfrom)?\s*["'](?P<static>[^"']+)["']"""
    r"""|\bimport\(\s*["'](?P<dynamic>[^"']+)["']""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Page:
    template: str
    script: str
    styles: tuple[str, ...]


# By address. Everything below /s/ gets the first page.
PAGES = {
    "/s/": Page("survey/respondent/respond.html", "respond/app.js", ("respond/respond.css",)),
    "/verify/": Page(
        "survey/respondent/verify.html",
        "verify/verify.js",
        ("respond/respond.css", "verify/verify.css"),
    ),
}


@dataclass(frozen=True)
class ServedFile:
    """A collected file; `late` means that it is imported dynamically, after the page has loaded."""

    url: str
    content: bytes
    late: bool = False

    @property
    def integrity(self) -> str:
        """The hash in the form for the shell's policy and for integrity attributes."""
        return f"sha256-{b64encode(hashlib.sha256(self.content).digest()).decode()}"

    @property
    def data_url(self) -> str:
        """The SVG as an address for an attribute in double quotes, which compresses well."""
        text = self.content.decode().strip().replace('"', "'").replace("#", "%23")
        return f"data:image/svg+xml,{text}"


def policy(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def own_policy(modules: list[ServedFile]) -> str:
    """Return the policy inside a shell, which allows only the modules that it lists."""
    allowed = {name: DIRECTIVES[name] for name in DIRECTIVES if name not in ONLY_IN_A_HEADER}
    return policy(allowed | {"script-src": " ".join(f"'{module.integrity}'" for module in modules)})


def files(storage: ManifestStaticFilesStorage) -> dict[str, bytes]:
    """Return all files that browsers load for the pages, by address, from a collected storage."""
    contents = {}
    for address, page in PAGES.items():
        icon = read(storage, storage.stored_name(ICON))
        styles = [read(storage, storage.stored_name(name)) for name in page.styles]
        modules = graph(storage, storage.stored_name(page.script))
        context = {
            "policy": own_policy(modules), "icon": icon, "styles": styles, "modules": modules,
            "languages": CATALOGUES.values(),
        }  # fmt: skip
        contents[address] = render_to_string(page.template, context).encode()
        contents |= {file.url: file.content for file in (*styles, *modules)}
    return contents


def manifest(contents: dict[str, bytes]) -> bytes:
    """Return the published JSON with the hashes of these files."""
    described = {
        address: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for address, content in contents.items()
    }
    text = json.dumps({"candor": __version__, "files": described}, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def graph(storage: ManifestStaticFilesStorage, entry: str) -> list[ServedFile]:
    """Return a module and everything it imports, each after its own imports.

    Dynamic imports come last, so that nothing waits for them.
    """
    collected = set(storage.hashed_files.values())
    modules: dict[str, ServedFile] = {}
    wanted_later: list[str] = []

    def add(name: str, late: bool) -> None:
        if name in modules:
            return
        module = read(storage, name, late)
        for match in IMPORT.finditer(module.content.decode()):
            specifier = match["static"] or match["dynamic"]
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(name), specifier))
            if imported not in collected:
                raise ValueError(f"{name} imports {specifier}, which is not a collected file.")
            if match["dynamic"]:
                wanted_later.append(imported)
            else:
                add(imported, late)
        modules[name] = module

    add(entry, late=False)
    for name in wanted_later:  # the list can grow during the loop
        add(name, late=True)
    return list(modules.values())


def read(storage: ManifestStaticFilesStorage, name: str, late: bool = False) -> ServedFile:
    with storage.open(name) as file:
        return ServedFile(f"{storage.base_url}{name}", file.read(), late)
