"""What holds for the repository as a whole: import direction, words, pins, documentation."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import ROOT

APPS = ("config", "survey", "aggregation", "people", "studio")
MODULES = sorted(
    path.relative_to(ROOT)
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts
)
IGNORED = {
    ".git", ".venv", "var", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".hypothesis", "test-results",
}  # fmt: skip
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?==(?P<version>[\w.]+)\s+# \w.*")


def module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, module: str, is_package: bool = False) -> set[str]:
    """What a module imports, wherever the statement stands, in full: `from a import b` is a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level + is_package or None] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def imports_of(path: Path) -> set[str]:
    source = (ROOT / path).read_text()
    return imports(source, module_name(path), path.name == "__init__.py")


def below(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in allowed)


def outside(path: Path, *allowed: str) -> set[str]:
    """What a module imports besides the standard library and these."""
    standard = tuple(sys.stdlib_module_names)
    return {name for name in imports_of(path) if not below(name, (*standard, *allowed))}


def modules_of(*folders: str) -> list[Path]:
    found = [path for path in MODULES if path.parts[: len(folders)] == folders]
    assert found
    return found


# --- Import direction -----------------------------------------------------------------------------


def test_the_look_at_imports_sees_all_ways_to_import() -> None:
    source = (
        "import aggregation.models\n"
        "from aggregation import tasks\n"
        "def f():\n    from ..design import build\n    from . import views\n"
    )
    assert imports(source, "survey.sub.module") == {
        "aggregation.models", "aggregation.tasks", "survey.design.build", "survey.sub.views",
    }  # fmt: skip
    assert imports("from .x import y", "survey.sub", is_package=True) == {"survey.sub.x.y"}


def test_survey_never_imports_aggregation() -> None:
    for path in modules_of("survey"):
        assert {name for name in imports_of(path) if below(name, ("aggregation",))} == set(), path


def test_nothing_but_the_configuration_imports_people() -> None:
    for path in [*modules_of("survey"), *modules_of("aggregation")]:
        assert {name for name in imports_of(path) if below(name, ("people",))} == set(), path


def test_codes_of_the_app_are_made_by_the_standard_library_alone() -> None:
    assert outside(Path("people/totp.py")) == set()


def test_nothing_is_built_on_the_studio() -> None:
    for path in [*modules_of("survey"), *modules_of("aggregation")]:
        assert {name for name in imports_of(path) if below(name, ("studio",))} == set(), path


def test_the_mechanism_imports_the_standard_library_only() -> None:
    assert outside(Path("survey/mechanism.py")) == set()


def test_the_design_imports_the_mechanism_only() -> None:
    assert outside(Path("survey/design.py"), "survey.mechanism") == set()


def test_the_languages_import_the_design_only() -> None:
    assert outside(Path("survey/languages.py"), "survey.design") == set()


def test_the_passes_import_cryptography_and_the_design_only() -> None:
    assert outside(Path("survey/passes.py"), "cryptography", "survey.design") == set()


def test_the_models_import_nothing_that_is_built_on_them() -> None:
    pure = ("survey.mechanism", "survey.design", "survey.languages", "survey.passes")
    assert outside(Path("survey/models.py"), "django", "survey.log", *pure) == set()


def test_the_log_imports_nothing_of_ours() -> None:
    assert outside(Path("survey/log.py"), "django") == set()


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
    """And without those parts of SciPy that take longer to load than all the rest."""
    names = ["survey.languages", "survey.passes", "aggregation.plan", "aggregation.gate"]
    names += [*map(module_name, modules_of("aggregation", "statistics"))]
    others = {"django", "scipy.optimize", "scipy.sparse", "scipy.stats"}
    program = f"import sys, {', '.join(names)}; print({others} & {{*sys.modules}} or '')"
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert loaded.strip() == ""


# --- Words ----------------------------------------------------------------------------------------

# answer → report → batch → tally → estimate → release, and no other words for these.
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
    """The names that a module gives: functions, classes, arguments, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def words(name: str) -> list[str]:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")


def test_words_of_a_name() -> None:
    assert words("SurveySubmission") == words("survey_submission") == ["survey", "submission"]


def test_code_uses_the_words_of_the_project() -> None:
    for path in MODULES:
        names = names_given(ast.parse((ROOT / path).read_text()))
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


# --- What must not be in the repository -----------------------------------------------------------

# Paths of the machine where this was written, and where its packages came from.
MACHINE = re.compile(
    r"(?<![\w.])/(work|root)/|python(hosted)|pypi\.org/(simple)|(index)-url|(find)-links"
    r"|registry\.(npmjs)"
)


def repository_files() -> list[Path]:
    """Git's files where there is git; else everything but what git would ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ) if (ROOT / ".git").exists() else None  # fmt: skip
    if listed is not None and listed.returncode == 0:
        names = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        names = [
            path for path in ROOT.rglob("*") if not IGNORED & set(path.relative_to(ROOT).parts)
        ]
    return [path for path in names if path.is_file()]


def test_no_path_of_a_machine_and_no_package_host() -> None:
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


# --- Documentation --------------------------------------------------------------------------------


def operations() -> str:
    return (ROOT / "docs/operations.md").read_text()


def make_targets() -> list[str]:
    return re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_make_help_explains_every_target() -> None:
    # Not from inside make's own flags, which `make test` would hand down.
    shown = subprocess.run(
        ["make", "--no-print-directory", "MAKEFLAGS="], cwd=ROOT, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    explained = re.findall(r"^make (\w+) +\S.{10,}$", shown, re.MULTILINE)
    assert explained == make_targets()
    assert {"help", "run", "test", "lint", "bench", "audit"} <= set(explained)


def variables() -> set[str]:
    """The environment variables that the code reads."""
    name = re.compile(r"CANDOR_[A-Z_]+|DATABASE_URL|REDIS_URL|PORT")
    texts = {
        node.value
        for path in MODULES
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if name.fullmatch(text)}


def test_every_environment_variable_is_documented() -> None:
    assert {"CANDOR_SECRET_KEY", "CANDOR_HOSTS", "DATABASE_URL", "REDIS_URL"} <= variables()
    assert [name for name in sorted(variables()) if f"`{name}`" not in operations()] == []


def commands() -> list[str]:
    found = [path for path in MODULES if path.parts[1:3] == ("management", "commands")]
    return [path.stem for path in found if not path.stem.startswith("_")]


def test_every_management_command_is_documented() -> None:
    assert "serve" in commands()
    text = operations()
    assert [name for name in commands() if not re.search(rf"manage\.py {name}\b", text)] == []


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "make run" in readme
    assert "make test" in readme
