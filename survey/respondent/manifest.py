"""What the pages that handle answers are made of: every byte, with its hash.

A shell lists the modules that may run and their hashes (docs/decisions/0011-integrity.md), so one
hash of the shell stands for all of them. The lists come from the import statements of the collected
files, never from a person. Never here: anything that depends on a survey, a visitor or the time.
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

ICON = "icon.svg"

# What the pages may do. The header says so, and the shell says it again with the hashes of its own
# modules: there it is part of the bytes that the manifest vouches for. Nothing is loaded by a style
# sheet, so that no style sheet, wherever it comes from, can tell what was tapped.
DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "data:",  # the icon, which stands in the shell
    "connect-src": "'self'",
    "worker-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",  # answers are read by script; the forms themselves go nowhere
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
ONLY_IN_A_HEADER = {"frame-ancestors"}

# The four forms of import that the storage rewrites when it collects, as it leaves them.
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


# By address. Everything below /s/ gets the first one.
PAGES = {
    "/s/": Page("survey/respondent/respond.html", "respond/app.js", ("respond/respond.css",)),
    "/verify/": Page(
        "survey/respondent/verify.html",
        "verify/verify.js",
        ("respond/respond.css", "verify/verify.css"),
    ),
}


@dataclass(frozen=True)
class File:
    """A collected file; a `late` one is wanted only once the page runs, if at all."""

    url: str
    content: bytes
    late: bool = False

    @property
    def integrity(self) -> str:
        """Its hash as browsers read it, in the shell's policy and on its own element."""
        return f"sha256-{b64encode(hashlib.sha256(self.content).digest()).decode()}"

    @property
    def base64(self) -> str:
        return b64encode(self.content).decode()


def policy(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def own_policy(modules: list[File]) -> str:
    """What a shell says itself: the modules that it lists may run, and nothing else."""
    said = {name: DIRECTIVES[name] for name in DIRECTIVES if name not in ONLY_IN_A_HEADER}
    return policy(said | {"script-src": " ".join(f"'{module.integrity}'" for module in modules)})


def files(storage: ManifestStaticFilesStorage) -> dict[str, bytes]:
    """Everything that a browser loads for the pages, by address, out of a collected storage."""
    found = {}
    for address, page in PAGES.items():
        icon = read(storage, storage.stored_name(ICON))
        styles = [read(storage, storage.stored_name(name)) for name in page.styles]
        modules = graph(storage, storage.stored_name(page.script))
        context = {
            "policy": own_policy(modules), "icon": icon, "styles": styles, "modules": modules,
        }  # fmt: skip
        found[address] = render_to_string(page.template, context).encode()
        found |= {file.url: file.content for file in (*styles, *modules)}
    return found


def manifest(found: dict[str, bytes]) -> bytes:
    """The hashes of those files, as they are published."""
    described = {
        address: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for address, content in found.items()
    }
    text = json.dumps({"candor": __version__, "files": described}, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def graph(storage: ManifestStaticFilesStorage, entry: str) -> list[File]:
    """A module and all that it imports, each behind what it imports itself.

    Dynamic imports come last, so that nothing waits for them.
    """
    collected = set(storage.hashed_files.values())
    modules: dict[str, File] = {}
    wanted_later: list[str] = []

    def add(name: str, late: bool) -> None:
        if name in modules:
            return
        module = read(storage, name, late)
        for match in IMPORT.finditer(module.content.decode()):
            specifier = match["static"] or match["dynamic"]
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(name), specifier))
            if imported not in collected:
                raise ValueError(f"{name} imports {specifier}, which is no collected file.")
            if match["dynamic"]:
                wanted_later.append(imported)
            else:
                add(imported, late)
        modules[name] = module

    add(entry, late=False)
    for name in wanted_later:  # which may grow meanwhile
        add(name, late=True)
    return list(modules.values())


def read(storage: ManifestStaticFilesStorage, name: str, late: bool = False) -> File:
    with storage.open(name) as file:
        return File(f"{storage.base_url}{name}", file.read(), late)
