"""The test vectors: the Python code follows them, and the file is up to date.

tests/js/randomizer.test.mjs reads the same file, so that the two languages agree draw for draw.
"""

import hashlib
import json
from typing import Any

import pytest

from survey.design import Block, Design, DesignError, canonical_json
from survey.design.mechanism import MECHANISM, SCALE, Cells, MechanismError, Shape
from tests.vectors.generate import SECRET, VECTORS, Words, draws, randomize, render

DATA = json.loads(VECTORS.read_text(encoding="ascii"))
DESIGNS = {case["name"]: Design.from_json(case["canonical"]) for case in DATA["designs"]}


def test_the_file_is_what_the_code_writes() -> None:
    assert VECTORS.read_text(encoding="ascii") == render(), (
        "stale: run python -m tests.vectors.generate and see what changed"
    )


def test_the_vectors_name_the_mechanism_and_the_scale() -> None:
    assert DATA["mechanism"] == MECHANISM
    assert DATA["scale"] == SCALE


def test_keep_agrees_with_the_vectors() -> None:
    for case in DATA["keeps"]:
        shapes = [Shape(size) for size in case["sizes"]]
        assert Cells.for_epsilon(case["epsilon"], shapes).keep == case["keep"]


def test_canonical_json_agrees_with_the_vectors() -> None:
    for case in DATA["canonical"]:
        assert canonical_json(case["value"]) == case["canonical"]
        assert json.loads(case["canonical"]) == case["value"]


CANONICAL = json.loads((VECTORS.parent / "canonical.json").read_text(encoding="ascii"))


@pytest.mark.parametrize("case", CANONICAL["cases"], ids=lambda case: case["name"])
def test_both_languages_write_the_same_canonical_json(case: dict[str, Any]) -> None:
    """tests/js/protocol.test.mjs reads the same file."""
    assert canonical_json(case["value"]) == case["canonical"]
    assert json.loads(case["canonical"], parse_int=float) == case["value"]


def test_a_design_with_keys_like_numbers_has_the_hash_that_browsers_compute() -> None:
    design = dict(CANONICAL["design"])
    said = design.pop("hash")
    assert said == "sha256:" + hashlib.sha256(canonical_json(design).encode()).hexdigest()


@pytest.mark.parametrize("case", DATA["designs"], ids=lambda case: case["name"])
def test_designs_and_hashes_agree_with_the_vectors(case: dict[str, Any]) -> None:
    design = DESIGNS[case["name"]]
    assert design.canonical == case["canonical"]
    assert "sha256:" + hashlib.sha256(case["canonical"].encode()).hexdigest() == case["hash"]
    sent = case["design"]
    assert sent.pop("hash") == design.hash == case["hash"]
    assert Design.from_json(json.dumps(sent)) == design


def test_chosen_blocks_agree_with_the_vectors() -> None:
    for case in DATA["choices"]:
        draw = Words(case["words"])
        chosen = [block.key for block in DESIGNS[case["design"]].choose(draw)]
        assert (chosen, draw.used) == (case["chosen"], case["used"]), case


def test_reports_agree_with_the_vectors() -> None:
    for case in DATA["reports"]:
        draw = Words(case["words"])
        report = randomize(DESIGNS[case["design"]], case["answers"], draw)
        assert (report, draw.used) == (case["report"], case["used"]), case


def asked_blocks(case: dict[str, Any]) -> list[Block]:
    return [block for block in DESIGNS[case["design"]].blocks if block.key in case["answers"]]


def words_without_rejection(case: dict[str, Any]) -> int:
    return sum(1 + len(draws(block.mechanism)) for block in asked_blocks(case))


def is_replaced(case: dict[str, Any]) -> bool:
    """Return whether the first block changes when the coin falls the other way."""
    first = asked_blocks(case)[0]
    kept = Words([0, *case["words"][1:]])
    own = first.mechanism.randomize(case["answers"][first.key], kept)
    return case["report"][first.key] != list(own)


def test_the_vectors_cover_every_case() -> None:
    """They include kept and replaced reports, rejected words, and one, some or all blocks."""
    for name, design in DESIGNS.items():
        cases = [case for case in DATA["reports"] if case["design"] == name]
        assert {is_replaced(case) for case in cases} == {False, True}, name
        rejected = [case["used"] - words_without_rejection(case) for case in cases]
        odd = any(SCALE % size for block in design.blocks for size in draws(block.mechanism))
        assert min(rejected) == 0 and (max(rejected) > 0) == odd, name
    asked = {(design.ask, len(design.sensitive_blocks)) for design in DESIGNS.values()}
    assert {(1, 1), (1, 2), (1, 3), (2, 4), (3, 3)} <= asked
    assert {len(design.background_blocks) for design in DESIGNS.values()} == {0, 1, 2}


REFUSED_HERE = [case for case in DATA["bad"] if case["python"] is not None]


@pytest.mark.parametrize("case", REFUSED_HERE, ids=lambda case: case["name"])
def test_bad_cases_are_refused_without_repeating_an_answer(case: dict[str, Any]) -> None:
    with pytest.raises((MechanismError, DesignError)) as refusal:
        randomize(Design.from_json(json.dumps(case["design"])), case["answers"], Words([0] * 99))
    assert str(refusal.value).startswith(case["python"])
    assert str(SECRET) not in str(refusal.value)
