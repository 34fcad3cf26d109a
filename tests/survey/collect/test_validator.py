"""Reports of every kind of question: which are accepted, and the bytes they become."""

from typing import Any
from uuid import uuid4

import pytest

from survey.collect.protocol import Refused
from survey.collect.validator import Validator
from survey.design import ABSENT, Design
from tests.support import builders

pytestmark = pytest.mark.django_db


@pytest.fixture
def design() -> Design:
    return builders.opened(**builders.EVERY_KIND).frozen_design()


def block_of(design: Design, key: str) -> str:
    """Return the block of a question that is in one block only."""
    ((block, _),) = design.places[key]
    return block.key


def report(design: Design, key: str, *values: Any) -> dict[str, Any]:
    """Return a report of the block with this question."""
    blocks = {block_of(design, key): list(values), design.background_blocks[0].key: [0]}
    return {"id": str(uuid4()), "design": design.hash, "blocks": blocks}


ACCEPTED = {
    "a gate that says no, without its follow-up": ("who", [0, None], {"harassed": 0, "who": 4}),
    "a gate that says yes, and a follow-up": ("who", [1, 3], {"harassed": 1, "who": 3}),
    "another follow-up of the same gate": ("often", [1, 2], {"harassed": 1, "often": 2}),
    "the highest level of a number": ("ill", [2], {"ill": 2}),
    "the option instead of a number": ("slept", [3], {"slept": 3}),
    "a pick": ("took", [4], {"took": 4}),
    "a blank": ("took", [None], {"took": 5}),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_allowed_cell_is_stored_with_one_byte_per_question(design: Design, name: str) -> None:
    key, values, expected = ACCEPTED[name]
    validator = Validator(design)
    sent = report(design, key, *values)
    assert validator.quick(sent) == validator.thorough(sent)
    _, content = validator.check(sent)
    keys = [question.key for question in design.questions]
    found = {key: value for key, value in zip(keys, content, strict=True) if value != ABSENT}
    assert found == expected | {"job": 0}


REFUSED = {
    "a follow-up that could not be asked": ("who", [0, 1], "", "not an allowed combination"),
    "a follow-up without its answer": ("who", [1, None], "", "not an allowed combination"),
    "a gate without an answer": ("who", [None, None], "", "not an allowed combination"),
    "a gate without an answer, and a follow-up": ("who", [None, 1], "", "not an allowed"),
    "an option that does not exist": ("who", [1, 4], ".1", "a whole number from 0 to 3"),
    "a level that does not exist": ("ill", [3], ".0", "a whole number from 0 to 2"),
    "the number itself": ("ill", [37], ".0", "a whole number from 0 to 2"),
    "no answer to a number": ("ill", [None], ".0", "a whole number from 0 to 2"),
    "all picks": ("took", [[0, 1]], ".0", "a whole number from 0 to 4"),
    "a text": ("took", ["0"], ".0", "a whole number from 0 to 4"),
    "a truth value": ("took", [True], ".0", "a whole number from 0 to 4"),
    "too many values": ("took", [0, 1], "", "must be a list of 1, one value per question"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_allowed_cell_is_refused_with_its_place(design: Design, name: str) -> None:
    key, values, place, message = REFUSED[name]
    validator = Validator(design)
    sent = report(design, key, *values)
    assert validator.quick(sent) is None
    with pytest.raises(Refused) as refusal:
        validator.check(sent)
    assert refusal.value.status == 400
    ((where, (what,)),) = refusal.value.errors.items()
    assert where == f"blocks.{block_of(design, key)}{place}" and message in what


def test_quick_and_thorough_checks_agree_on_every_list_of_values(design: Design) -> None:
    """For blocks of two questions, all values in and just outside the range."""
    validator = Validator(design)
    accepted = 0
    for key in ("who", "often"):
        for first in (None, -1, 0, 1, 2):
            for second in (None, -1, 0, 1, 2, 3, 4, 255):
                sent = report(design, key, first, second)
                quick = validator.quick(sent)
                try:
                    thorough = validator.thorough(sent)
                except Refused:
                    thorough = None
                assert quick == thorough, (key, first, second)
                accepted += quick is not None
    assert accepted == 5 + 4
