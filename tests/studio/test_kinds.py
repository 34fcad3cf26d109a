"""The editor's kinds of questions and keys of options are those of the server."""

import json
import subprocess
from typing import Any

import pytest

from survey.design import KINDS, DesignError, Option, Question, options_from_texts
from tests.support.services import ROOT

pytestmark = [pytest.mark.node, pytest.mark.once]

REGISTRY = """
import { KINDS } from "./static/studio/kinds/index.js";
console.log(JSON.stringify(KINDS));
"""
KEYS = """
import { optionKeys } from "./static/studio/keys.js";
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(optionKeys(JSON.parse(text))));
"""
TEXTS = [
    "Yes, often", "yes often", "YES  OFTEN!", "", "—", "½ or 2²", "Größe & Gewicht", "naïve",
    "e\u0301",
    "كل يوم", "हिन्दी", "你好", "_under_score_", "x" * 60, f"{'y' * 49}-z", "İstanbul", "ΟΔΟΣ", "🙂",
    "Prefer not to say",
]  # fmt: skip


def node(program: str, given: Any = None) -> Any:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program],
        input=json.dumps(given), cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def can_follow(kind: type[Question]) -> bool:
    options = tuple(Option(f"o{i}", "?") for i in range(max(kind.own_options[0], 2)))
    only_if = ("gate", ("yes",))
    try:
        kind("q", "?", options, only_if, **kind.sample(["A", "B"]))
    except DesignError:
        return False
    return True


def test_the_editor_has_the_kinds_of_the_server() -> None:
    registry = node(REGISTRY)
    assert list(registry) == list(KINDS)
    for name, kind in KINDS.items():
        its = registry[name]
        assert its["kind"] == name
        assert its["writesOptions"] == (kind.own_options[1] > 0)
        assert its["ourOptions"] == kind.our_options
        assert its["canBeGate"] == kind.can_be_gate
        assert its["canFollow"] == can_follow(kind)
        assert its["members"] == list(kind.fields)


def test_the_editor_names_options_by_the_keys_of_the_server() -> None:
    assert node(KEYS, TEXTS) == [option.key for option in options_from_texts(TEXTS)]
