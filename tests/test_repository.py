"""Rules for the whole repository: imports, words, pins, documentation."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.repository import (
    MODULES,
    commands,
    operations,
    repository_files,
    tree,
    variables,
)
from tests.support.services import ROOT

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?==(?P<version>[\w.]+)\s+# \w.*")


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: ast.AST, module: str, is_package: bool = False) -> set[str]:
    """Return what a module imports, anywhere in it, in full: `from a import b` is a.b."""
    found: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level + is_package or None] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


@cache
def imports_of(path: Path) -> set[str]:
    return imports(tree(path), module_name(path), path.name == "__init__.py")


def below(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in allowed)


def outside(path: Path, *allowed: str) -> set[str]:
    """Return what a module imports besides the standard library and these."""
    standard = tuple(sys.stdlib_module_names)
    return {name for name in imports_of(path) if not below(name, (*standard, *allowed))}


def modules_of(*folders: str) -> list[Path]:
    found = [path for path in MODULES if path.parts[: len(folders)] == folders]
    assert found
    return found


# --- Tests ----------------------------------------------------------------------------------------

# sleep(0) is not a wait, and sleep(60) is there to be interrupted.
WAITS = re.compile(r"sleep\((?!0\)|60\))|wait_for_timeout\(")
UNSEEDED = re.compile(r"default_rng\(\)|\bRandom\(\)|\bnp\.random\.(?!default_rng|Generator)")
SHARED_CHANCE = re.compile(r"\brandom\.(?!Random\b)")
CLOCK = re.compile(r"\b(monotonic|perf_counter)\(\)")


def test_no_test_depends_on_time_or_luck() -> None:
    """Tests wait for conditions (wait_until, await_in, expect) and seed their randomness.

    Only tests marked as measured use a clock.
    """
    here = Path(__file__).name
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        rules = [WAITS, UNSEEDED]
        rules += [SHARED_CHANCE] * ("\nimport random\n" in text)
        rules += [CLOCK] * ("mark.measured" not in text)
        found = [rule.findall(text) for rule in rules if path.name != here]
        assert not any(found), (path, found)


# --- Import direction -----------------------------------------------------------------------------


def test_all_ways_to_import_are_found() -> None:
    source = (
        "import aggregation.models\n"
        "from aggregation.jobs import tasks\n"
        "def f():\n    from ..design import build\n    from . import views\n"
    )
    assert imports(ast.parse(source), "survey.sub.module") == {
        "aggregation.models", "aggregation.jobs.tasks", "survey.design.build", "survey.sub.views",
    }  # fmt: skip
    assert imports(ast.parse("from .x import y"), "survey.sub", is_package=True) == {
        "survey.sub.x.y"
    }


def test_codes_of_the_app_are_made_by_the_standard_library_alone() -> None:
    assert outside(Path("people/totp.py")) == set()


def test_no_test_module_is_imported() -> None:
    """Shared test code is in tests/support."""
    for path in (ROOT / "tests").rglob("*.py"):
        found = imports_of(path.relative_to(ROOT))
        assert not [name for name in found if re.search(r"\btests\..*\btest_", name)], path


def test_the_mechanism_imports_the_standard_library_only() -> None:
    assert outside(Path("survey/design/mechanism.py")) == set()


def test_the_design_imports_the_standard_library_and_cryptography_only() -> None:
    for path in modules_of("survey", "design"):
        allowed = {"cryptography"} if path.name == "passes.py" else set()
        assert outside(path, "survey.design", *allowed) == set(), path


def test_statistics_import_numpy_and_scipy_only() -> None:
    for path in modules_of("aggregation", "statistics"):
        assert outside(path, "numpy", "scipy", "aggregation.statistics") == set(), path


def test_a_site_without_redis_does_not_load_it() -> None:
    program = "import django; django.setup(); import config.urls, config.celery, sys; "
    program += "print({'redis'} & {*sys.modules} or '')"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment.pop("REDIS_URL", None)
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True,
        env=environment,
    ).stdout  # fmt: skip
    assert loaded.strip() == ""


def test_the_pure_modules_load_without_django() -> None:
    """And without the parts of SciPy that are slow to load."""
    names = ["survey.design.languages", "survey.design.passes", "aggregation.planner.plan"]
    names += ["aggregation.planner.grid", "aggregation.planner.solving"]
    names += ["aggregation.counting.planes", "aggregation.counting.tables"]
    names += [*map(module_name, modules_of("aggregation", "statistics"))]
    others = {"django", "scipy.optimize", "scipy.sparse", "scipy.stats"}
    program = f"import sys, {', '.join(names)}; print({others} & {{*sys.modules}} or '')"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert loaded.strip() == ""


# --- Words ----------------------------------------------------------------------------------------

# answer → report → batch → tally → estimate → release, without synonyms.
OTHER_NAMES = {
    "submission", "submissions", "vote", "votes", "ballot", "ballots", "aggregates", "snapshot",
    "snapshots",
}  # fmt: skip
OTHER_PHRASES = re.compile(
    r"\b(submissions?|ballots?|response data|survey responses?"
    r"|(randomi[sz]ed|noisy|perturbed|scrambled) (answers?|responses))\b",
    re.IGNORECASE,
)


def names_given(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines: functions, classes, arguments, variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def words(name: str) -> list[str]:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")


def test_a_name_is_split_into_its_words() -> None:
    assert words("SurveySubmission") == words("survey_submission") == ["survey", "submission"]


def test_code_uses_the_words_of_the_project() -> None:
    for path in MODULES:
        names = names_given(tree(path))
        assert {name for name in names if OTHER_NAMES & set(words(name))} == set(), path


def prose() -> list[Path]:
    folders = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "templates").rglob("*.html")]
    return sorted([*ROOT.glob("*.md"), *folders, *(ROOT / "static").rglob("*.js")])


def test_pages_and_documents_use_the_words_of_the_project() -> None:
    assert OTHER_PHRASES.search("Randomized responses of each submission")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in prose()
        for match in OTHER_PHRASES.finditer(path.read_text())
    ]
    assert found == []


# Background answers are randomized like all others, so the words for the old way are gone:
# a background question has groups, and none is hidden.
BEFORE = re.compile(r"\b(strat(um|a)|as_of|not-given|suppressed|suppression)\b", re.IGNORECASE)
STATISTICS = {"aggregation/statistics", "tests/aggregation/statistics", "docs/statistics.md"}


def test_only_statistics_speaks_of_strata() -> None:
    found = []
    for path in repository_files():
        name = path.relative_to(ROOT).as_posix()
        if path != Path(__file__) and not name.startswith(tuple(STATISTICS)):
            text = path.read_bytes().decode(errors="replace")
            found += [f"{name}: {match[0]}" for match in BEFORE.finditer(text)]
    assert found == []


# --- What must not be in the repository -----------------------------------------------------------

# Paths of a developer's machine and addresses of package mirrors.
MACHINE = re.compile(
    r"(?<![\w.])/(work|root)/|python(hosted)|pypi\.org/(simple)|(index)-url|(find)-links"
    r"|registry\.(npmjs)"
)


def test_no_file_names_a_local_path_or_package_host() -> None:
    assert MACHINE.search('"/wor' 'k/main"')  # fmt: skip
    files = repository_files()
    assert ROOT / "manage.py" in files
    found = []
    for path in files:
        text = path.read_bytes().decode(errors="replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in MACHINE.finditer(text)]
    assert found == []


# --- Pins -----------------------------------------------------------------------------------------


def required(name: str) -> list[str]:
    lines = (ROOT / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_and_has_a_reason(name: str) -> None:
    lines = required(name)
    assert lines
    assert [line for line in lines if not REQUIREMENT.fullmatch(line)] == []


def test_the_constraints_hold_the_same_pins() -> None:
    constraints = set(required("constraints.txt"))
    for line in [*required("requirements.txt"), *required("requirements-dev.txt")]:
        pin = re.sub(r"\[.*?\]", "", line.partition("#")[0]).strip()
        assert pin in constraints


def test_the_packages_of_npm_are_pinned_and_locked_without_hosts() -> None:
    pins = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    assert pins
    assert [pin for pin in pins.values() if not re.fullmatch(r"[0-9]+(\.[0-9]+){2}", pin)] == []
    lock = (ROOT / "package-lock.json").read_text()
    assert json.loads(lock)["packages"][""]["devDependencies"] == pins
    assert "://" not in lock  # npm adds funding addresses: remove those


# --- Documentation --------------------------------------------------------------------------------


def make_targets() -> list[str]:
    return re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_make_help_explains_every_target() -> None:
    # Clear MAKEFLAGS, which `make test` passes on.
    shown = subprocess.run(
        ["make", "--no-print-directory", "MAKEFLAGS="], cwd=ROOT, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    explained = re.findall(r"^make ([a-z-]+) +\S.{10,}$", shown, re.MULTILINE)
    assert explained == make_targets()
    assert {"help", "run", "test", "lint", "bench", "audit"} <= set(explained)


def test_every_environment_variable_is_documented() -> None:
    assert {"CANDOR_SECRET_KEY", "CANDOR_HOSTS", "DATABASE_URL", "REDIS_URL"} <= variables()
    assert [name for name in sorted(variables()) if f"`{name}`" not in operations()] == []


def test_every_management_command_is_documented() -> None:
    assert "serve" in commands()
    text = operations()
    assert [name for name in commands() if not re.search(rf"manage\.py {name}\b", text)] == []


NAMED = re.compile(
    r"(?<![\w./-])(?:aggregation|bench|config|deploy|docs|operations|people|static|studio|survey"
    r"|templates|tests)/[\w/-]+\.(?:html|js|md|mjs|py|sql)\b"
)


def test_every_file_that_a_document_names_exists() -> None:
    assert NAMED.findall("`tests/run.py`, docs/api.md") == ["tests/run.py", "docs/api.md"]
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
        for name in NAMED.findall(path.read_text())
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make run" in readme
    assert "make test" in readme
