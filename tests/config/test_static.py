"""The respondent's page is served as its source without comments."""

import gzip
import json
import os
import re
import subprocess
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from config import static
from config.static import BARE, bare, modules
from survey.management.commands.manifest import collect
from tests.support.services import ROOT

STATIC = ROOT / "static"
FILES = sorted(path for path in (STATIC / "respond").rglob("*") if path.is_file())
SERVED = [path for path in FILES if BARE.fullmatch(str(path.relative_to(STATIC)))]


def test_the_randomizer_is_served_whole() -> None:
    assert [path.name for path in FILES if path not in SERVED] == ["randomizer.js"]
    assert not BARE.fullmatch("respond/randomizer.1cd75ad3e00e.js")
    assert not BARE.fullmatch("verify/verify.js")


@pytest.mark.parametrize("path", SERVED, ids=lambda path: path.name)
def test_only_comments_and_white_space_are_removed(path: Path) -> None:
    """What is served is the lines of the source in order, and no code is removed."""
    text = path.read_text()
    short = bare(text)
    text = re.sub(r'" \+\n +"', "", text)
    text = re.sub(r"(?<=\S )/\*\* @type .*? \*/ (?=\()", "", text)
    assert bare(short) == short
    assert len(gzip.compress(short.encode())) < len(gzip.compress(text.encode()))
    left = short.replace("\n", "")
    inside = False
    for line in map(str.strip, text.splitlines()):
        code = line if left.startswith(line) else line.partition(" // ")[0].rstrip()
        if left.startswith(code):
            left = left.removeprefix(code)
            continue
        inside = inside or line.startswith("/*")
        assert inside or line.startswith("//"), line
        inside = inside and "*/" not in line
    assert left == ""


@pytest.mark.slow
def test_collected_files_equal_their_sources(tmp_path: Path) -> None:
    """Under the plain and the hashed name, except for the names in imports."""
    storage = collect(str(tmp_path))
    names = re.compile(r"\.[0-9a-f]{12}(?=\.js)")
    for path in SERVED:
        name = str(path.relative_to(STATIC))
        wanted = bare(path.read_text())
        assert (tmp_path / name).read_text() == wanted
        assert names.sub("", (tmp_path / storage.stored_name(name)).read_text()) == wanted
    whole = (STATIC / "respond/randomizer.js").read_text()
    assert (tmp_path / storage.stored_name("respond/randomizer.js")).read_text() == whole


@pytest.mark.slow
def test_every_module_of_ours_imports_hashed_names(tmp_path: Path) -> None:
    """Only our own files are searched for imports."""
    storage = collect(str(tmp_path))
    relative = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\./|\.\./)[^"']*["']""")
    found = 0
    for path in STATIC.rglob("*.js"):
        name = str(path.relative_to(STATIC))
        assert any(fnmatch(name, pattern) for pattern in modules())
        for match in relative.finditer((tmp_path / storage.stored_name(name)).read_text()):
            assert re.search(r"\.[0-9a-f]{12}\.js\W$", match[0]), (name, match[0])
            found += 1
    assert found > 10


def test_a_text_over_several_lines_is_left_alone() -> None:
    text = "const text = `\n  // no comment\n`;\n"
    assert bare(text) == text
    cast = "/** @type {A} */ (b).c();\nd();\n"
    assert bare(f"{cast}/* why */\n") == cast  # or the line before could go on
    assert bare("a = /** @type {A} */ (b);\n") == "a = (b);\n"
    assert bare('const a = "x // y"; // why\n  b();\n') == 'const a = "x // y";\nb();\n'
    assert bare('f(\n  a, // "why"\n  b,\n);\n') == 'f(a, // "why"\nb,);\n'
    assert bare("a {\n  b: c;\n  d: e;\n}\n") == "a {b: c;\nd: e;\n}\n"


@pytest.mark.node
@pytest.mark.slow
def test_modules_still_load_and_catalogues_are_unchanged(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}')
    script = "const all = {};"
    for path in (path for path in SERVED if path.suffix == ".js"):
        copy = tmp_path / path.relative_to(STATIC)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(bare(path.read_text()))
        subprocess.run(["node", "--check", str(copy)], check=True, timeout=60)
        if path.parent.name == "words":
            for where in (path, copy):
                script += f"all['{where}'] = (await import('{where.as_uri()}')).default;"
    found = json.loads(
        subprocess.run(
            ["node", "--input-type=module", "-e", f"{script}console.log(JSON.stringify(all))"],
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout
    )  # fmt: skip
    assert len(found) == 10
    for path in (STATIC / "respond/words").glob("*.js"):
        assert found[str(path)] == found[str(tmp_path / path.relative_to(STATIC))]


def test_files_are_collected_when_something_has_changed(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.STATIC_ROOT = tmp_path, tmp_path / "static"
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "one.css").write_text("a {}")
    settings.INSTALLED_APPS = ["django.contrib.staticfiles"]
    settings.STATICFILES_DIRS = [folder]
    static.collect()
    made = settings.STATIC_ROOT / "one.css"
    made.unlink()
    static.collect()
    assert not made.exists()  # nothing was done
    (folder / "two.css").write_text("b {}")
    static.collect()
    assert made.read_text() == "a {}" and (settings.STATIC_ROOT / "two.css").exists()
    (folder / "one.css").write_text("c {}")
    later = time.time() + 2  # Django compares whole seconds
    os.utime(folder / "one.css", (later, later))
    static.collect()
    assert made.read_text() == "c {}"
    (settings.STATIC_ROOT / "staticfiles.json").unlink()
    static.collect()
    assert (settings.STATIC_ROOT / "staticfiles.json").exists()
