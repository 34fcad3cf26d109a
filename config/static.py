"""Static files under content-hashed names, the imports inside modules included."""

import hashlib
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any
from wsgiref.headers import Headers

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile, File
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage

# What is served of the respondent's page without its comments and line breaks within texts, a sixth
# of its weight. The one file that people are asked to read stays whole.
BARE = re.compile(r"respond/(?!randomizer\.).*\.(js|css)")
NOT_SERVED = (
    re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL),
    re.compile(r"^[ \t]*//.*\n", re.MULTILINE),
    re.compile(r"(?<=\S)[ \t]+// [^\"'`/\n]*$", re.MULTILINE),
    re.compile(r"^[ \t]+", re.MULTILINE),
    re.compile(r'(?<!\\)" \+\n"'),  # a text that was written in several lines
)


def bare(text: str) -> str:
    """Return a module or style sheet without comments, indentation and `" +` between lines."""
    if any(line.count("`") % 2 for line in text.splitlines()):  # a text over several lines
        return text
    for pattern in NOT_SERVED:
        text = pattern.sub("", text)
    return text


IMPORTS = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]


def modules() -> list[str]:
    """Where the files are that import each other: our own.

    To look for imports in the megabytes that libraries bring takes a third of all the time.
    """
    found = [path for folder in settings.STATICFILES_DIRS for path in Path(folder).glob("*")]
    folders = [f"{path.name}/*.js" for path in found if path.is_dir()]
    return sorted([*folders, *(path.name for path in found if path.suffix == ".js")])


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ours = tuple((names, IMPORTS) for names in modules())
        self.patterns: Any = CompressedManifestStaticFilesStorage.patterns + ours
        super().__init__(*args, **kwargs)

    def _save(self, name: str, content: "File[Any]") -> Any:
        if BARE.fullmatch(name.replace("\\", "/")):
            content.seek(0)  # whoever made its name has read it
            content = ContentFile(bare(content.read().decode()).encode())
        return super()._save(name, content)


def collect() -> None:
    """Collect the static files, unless nothing has changed since: that takes seconds of a start."""
    mark = settings.VAR_DIR / "static.collected"
    found, there = source(), settings.STATIC_ROOT / "staticfiles.json"
    if there.exists() and mark.exists() and mark.read_text() == found:
        return
    mark.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(found)


def source() -> str:
    """A hash of what the static files are made of and with: names, sizes, times and versions."""
    digest = hashlib.sha256(f"{django.__version__} {version('whitenoise')}".encode())
    files = [Path(storage.path(name)) for one in get_finders() for name, storage in one.list([])]
    for path in sorted({*files, Path(__file__)}):
        known = path.stat()
        digest.update(f"{path} {known.st_size} {known.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def add_headers(headers: Headers, path: str, url: str) -> None:
    """Our files are for our own pages."""
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
