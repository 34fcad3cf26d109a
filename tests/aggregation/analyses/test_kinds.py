"""Each kind of analysis is a folder that only the registry knows."""

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from aggregation.analyses.registry import KINDS
from tests.support.services import ROOT

ANALYSES = ROOT / "aggregation/analyses"
REGISTRY = ANALYSES / "registry.py"


def test_every_folder_is_in_the_registry() -> None:
    assert set(KINDS) == {path.parent.name for path in ANALYSES.glob("*/__init__.py")}


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_has_all_its_parts_in_its_folder(key: str) -> None:
    kind = KINDS[key]
    for part in kind:
        assert part.__module__.startswith(f"aggregation.analyses.{key}.")
    assert kind.findings.title and kind.findings.introduction.endswith(".")
    assert kind.analysis.schema["properties"]
    for template in (kind.form.template, kind.findings.template):
        assert key in template and get_template(template)


def names_a_kind(path: Path) -> bool:
    kinds = "|".join(KINDS)
    # A member of some document may have the same name.
    found = re.findall(
        rf"[\"']({kinds})[\"'](?!:)|analyses(\.| import .*)({kinds})", path.read_text()
    )
    return bool(found)


def test_nothing_outside_its_folder_names_a_kind() -> None:
    modules = [
        path
        for folder in ("aggregation", "studio", "operations", "templates")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".html") and "statistics" not in path.parts
        if not any(key in str(path.relative_to(ROOT)) for key in KINDS)
    ]
    assert len(modules) > 100
    assert [path for path in modules if names_a_kind(path)] == [REGISTRY]
