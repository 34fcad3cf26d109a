"""Static files with content-hashed names, including the imports inside modules."""

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

# The files of the respondent's page that are served without comments, indentation and line breaks
# within statements and texts, which are a fifth of its size. The one file that people are asked to
# read is served unchanged.
BARE = re.compile(r"respond/(?!randomizer\.).*\.(js|css)")
NOT_SERVED = (
    re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*\n", re.MULTILINE | re.DOTALL),
    re.compile(r"^[ \t]*//.*\n", re.MULTILINE),
    re.compile(r"(?<=\S)[ \t]+// [^\"'`/\n]*$", re.MULTILINE),
    re.compile(r"(?<=\S )/\*\* @type \{[^*\n]*\} \*/ (?=\()"),  # a cast
    re.compile(r"^[ \t]+", re.MULTILINE),
    re.compile(r"^\n", re.MULTILINE),
    re.compile(r'(?<!\\)" \+\n"'),  # a text split over several lines
)


WITHIN = re.compile(r"[{(\[,:]$")  # the end of a line that goes on


def bare(text: str) -> str:
    """Return a module or style sheet without what only its readers need."""
    if any(line.count("`") % 2 for line in text.splitlines()):  # a multi-line template literal
        return text
    for pattern in NOT_SERVED:
        text = pattern.sub("", text)
    lines = text.splitlines(keepends=True)  # one with // may end in a comment
    return "".join(
        line.rstrip("\n") if WITHIN.search(line) and "//" not in line else line for line in lines
    )


IMPORTS = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]


def modules() -> list[str]:
    """Return patterns for our own modules, the only files whose imports are rewritten.

    Searching the megabytes of the libraries as well would take a third of the total time.
    """
    paths = [path for folder in settings.STATICFILES_DIRS for path in Path(folder).glob("*")]
    folders = [f"{path.name}/*.js" for path in paths if path.is_dir()]
    return sorted([*folders, *(path.name for path in paths if path.suffix == ".js")])


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        ours = tuple((names, IMPORTS) for names in modules())
        self.patterns: Any = CompressedManifestStaticFilesStorage.patterns + ours
        super().__init__(*args, **kwargs)

    def _save(self, name: str, content: "File[Any]") -> Any:
        if BARE.fullmatch(name.replace("\\", "/")):
            content.seek(0)  # it was read to make its name
            content = ContentFile(bare(content.read().decode()).encode())
        return super()._save(name, content)


def collect() -> None:
    """Collect the static files if anything has changed, because it takes seconds at every start."""
    mark = settings.VAR_DIR / "static.collected"
    current, manifest = source_hash(), settings.STATIC_ROOT / "staticfiles.json"
    if manifest.exists() and mark.exists() and mark.read_text() == current:
        return
    mark.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(current)


def source_hash() -> str:
    """Return a hash of the sources' names, sizes and times and of the tools' versions."""
    digest = hashlib.sha256(f"{django.__version__} {version('whitenoise')}".encode())
    files = [
        Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([])
    ]
    for path in sorted({*files, Path(__file__)}):
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def add_headers(headers: Headers, path: str, url: str) -> None:
    """Allow only our own pages to load our files."""
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
