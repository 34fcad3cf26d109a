"""What the repository contains: its files, modules, commands and variables."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

from tests.support.services import ROOT


@cache
def tree(path: Path) -> ast.Module:
    """Parse a module of the repository, once."""
    return ast.parse((ROOT / path).read_text())


APPS = ("config", "survey", "aggregation", "people", "studio", "operations")


MODULES = sorted(
    path.relative_to(ROOT)
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts
)


IGNORED = {
    ".git", ".venv", "var", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".hypothesis", "test-results", "node_modules",
}  # fmt: skip


def repository_files() -> list[Path]:
    """Return git's files, or without git everything that git would not ignore."""
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


def operations() -> str:
    return (ROOT / "docs/operations.md").read_text()


def variables() -> set[str]:
    """Return the environment variables that the code reads."""
    name = re.compile(r"CANDOR_[A-Z_]+|DATABASE_URL|REDIS_URL|PORT")
    texts = {
        node.value
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if name.fullmatch(text)}


def commands() -> list[str]:
    found = [path for path in MODULES if path.parts[1:3] == ("management", "commands")]
    return [path.stem for path in found if not path.stem.startswith("_")]


DEPLOY = ROOT / "deploy"


UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
