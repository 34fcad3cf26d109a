"""The kinds of questions that browsers know are those of the server."""

import json
import subprocess

import pytest

from survey.design.kinds import KINDS
from survey.design.questions import DECLINED
from tests.support.services import ROOT

FOLDER = ROOT / "static/respond/kinds"
INDEX = (FOLDER / "index.js").as_uri()


@pytest.mark.node
def test_the_registries_of_both_languages_are_the_same() -> None:
    script = f"console.log(JSON.stringify([...(await import('{INDEX}')).KINDS.keys()]))"
    found = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert json.loads(found) == list(KINDS)


def test_every_kind_is_one_module_and_in_the_browser_unless_asked_like_another() -> None:
    python = {path.stem for path in (ROOT / "survey/design/kinds").glob("*.py")} - {"__init__"}
    browsers = {path.stem for path in FOLDER.glob("*.js")} - {"index"}
    assert python == set(KINDS)
    assert browsers == set(KINDS) - {"yes_no", "scale"}  # these are asked like a choice


def test_both_languages_know_the_option_that_is_always_last() -> None:
    assert f'DECLINED = "{DECLINED}"' in (ROOT / "static/respond/cells.js").read_text()
    others = (path for path in (ROOT / "static/respond").rglob("*.js") if path.name != "cells.js")
    assert not any(DECLINED in path.read_text() for path in others)
