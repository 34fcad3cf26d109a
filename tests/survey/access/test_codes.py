"""The codes of invitations: their check character catches typing errors, in both languages."""

import json
import random
from itertools import product

import pytest

from survey.access.codes import ALPHABET, CODE_LENGTH, new_code, read_code, shown
from tests.support.services import ROOT

# Codes with their bodies at random, which tests/js/access.test.mjs reads as well.
VECTORS: list[str] = json.loads((ROOT / "tests/vectors/codes.json").read_text())
PLACES = range(CODE_LENGTH)


def times(one: int, other: int) -> int:
    """Multiply in GF(32) as polynomials over GF(2): the whole product, then long division."""
    product = 0
    for bit in range(5):
        product ^= (one << bit) * (other >> bit & 1)
    for degree in range(8, 4, -1):
        product ^= (0b100101 << (degree - 5)) * (product >> degree & 1)
    return product


def weights() -> list[int]:
    """Return the powers of x by place; the last character counts once."""
    powers = [1]
    while len(powers) < CODE_LENGTH:
        powers.append(times(powers[-1], 2))
    return powers[::-1]


def checksum(code: str) -> int:
    """Compute the sum of a code independently, as its definition says."""
    total = 0
    for character, weight in zip(code, weights(), strict=True):
        total ^= times(ALPHABET.index(character), weight)
    return total


def test_the_modulus_makes_a_field_in_which_x_has_31_powers() -> None:
    powers = [1]
    while (power := times(powers[-1], 2)) != 1:
        powers.append(power)
    assert sorted(powers) == list(range(1, 32))


def test_the_check_character_is_that_of_the_definition() -> None:
    assert len(VECTORS) == 40
    for code in VECTORS:
        fitting = [last for last in ALPHABET if checksum(code[:-1] + last) == 0]
        assert fitting == [code[-1]]
        assert [last for last in ALPHABET if read_code(code[:-1] + last)] == fitting


@pytest.mark.parametrize("code", VECTORS)
def test_every_wrong_character_and_every_exchange_of_two_is_detected(code: str) -> None:
    assert read_code(code) == code
    for place, wrong in product(PLACES, ALPHABET):
        if wrong != code[place]:
            assert read_code(code[:place] + wrong + code[place + 1 :]) == ""
    for first, second in product(PLACES, PLACES):
        if first < second and code[first] != code[second]:
            letters = list(code)
            letters[first], letters[second] = code[second], code[first]
            assert read_code("".join(letters)) == ""


@pytest.mark.parametrize("place", PLACES[:-1])
def test_no_two_neighbors_can_change_places_unnoticed(place: int) -> None:
    """Try all pairs of characters at all places; the place of the check character varies others."""
    draw = random.Random(place)
    seen = set()
    for first, second in product(ALPHABET, ALPHABET):
        letters = [draw.choice(ALPHABET) for _ in PLACES]
        letters[place : place + 2] = first, second
        free = 0 if place else 2  # the character that makes the sum 0
        code = next(
            code
            for character in ALPHABET
            if not checksum(code := "".join([*letters[:free], character, *letters[free + 1 :]]))
        )
        seen.add(code[place : place + 2])
        swapped = code[:place] + second + first + code[place + 2 :]
        assert read_code(code) == code and bool(read_code(swapped)) == (first == second)
    assert len(seen) == 32 * 32


def test_new_codes_are_random_and_can_be_read() -> None:
    made = {new_code() for _ in range(1000)}
    assert len(made) == 1000
    assert {read_code(shown(code).lower()) for code in made} == made
    for place in PLACES:
        assert {code[place] for code in made} == set(ALPHABET)


def test_a_code_is_read_as_people_type_it() -> None:
    assert read_code("k7qm-2xwd 9hra-4tb2") == "K7QM2XWD9HRA4TB2"
    assert read_code("o1il-4567-89ab-cdg0") == read_code("0111456789ABCDG0") != ""
    for none in ("", "0" * 15, "0" * 17, "U" + "0" * 15, "\uff10" * 16):
        assert read_code(none) == ""
