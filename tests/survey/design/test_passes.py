"""Blind signatures: the vectors of RFC 9474, both languages, and refusals.

The vector is that of the RFC as published, A.1; drafts had another, which did not sign the prefix.
"""

import json
import subprocess
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from survey.design import passes
from tests.support.services import ROOT

VECTOR = json.loads((ROOT / "tests/vectors/blind_rsa.json").read_text())
MODULE = (ROOT / "static/respond/passes.js").as_uri()


def number(name: str) -> int:
    return int(VECTOR[name], 16)


def octets(name: str) -> bytes:
    return bytes.fromhex(VECTOR[name])


@pytest.fixture(scope="module")
def theirs() -> rsa.RSAPrivateKey:
    p, q, d = number("p"), number("q"), number("d")
    public = rsa.RSAPublicNumbers(number("e"), number("n"))
    factors = (d % (p - 1), d % (q - 1), pow(q, -1, p))
    return rsa.RSAPrivateNumbers(p, q, d, *factors, public).private_key()


@pytest.fixture(scope="module")
def mine() -> rsa.RSAPrivateKey:
    return passes.new_key()


def test_the_rfc_vector_is_consistent() -> None:
    assert number("p") * number("q") == number("n")
    assert pow(pow(2, number("e"), number("n")), number("d"), number("n")) == 2
    assert octets("prepared_msg") == octets("msg_prefix") + octets("msg")
    assert (len(octets("msg_prefix")), len(octets("salt"))) == (passes.PREFIX, passes.SALT)


def test_every_step_agrees_with_the_rfc_vector(theirs: rsa.RSAPrivateKey) -> None:
    key = theirs.public_key()
    prepared = passes.prepare(octets("msg"), octets("msg_prefix"))
    assert prepared == octets("prepared_msg")
    r = pow(number("inv"), -1, number("n"))
    blinded, inverse = passes.blind(key, prepared, octets("salt"), r)
    assert (blinded, inverse) == (octets("blind_msg"), number("inv"))
    signed = passes.blind_sign(theirs, key, blinded)
    assert signed == octets("blind_sig")
    assert passes.finalize(key, prepared, signed, inverse) == octets("sig")
    assert passes.verify(key, prepared, octets("sig"))


def test_a_pass_works_from_end_to_end(mine: rsa.RSAPrivateKey) -> None:
    key = passes.public_key(passes.public_text(mine.public_key()))
    prepared = passes.prepare()
    blinded, inverse = passes.blind(key, prepared)
    again, _ = passes.blind(key, prepared)
    assert blinded != again  # nothing of the message shows
    signature = passes.finalize(key, prepared, passes.blind_sign(mine, key, blinded), inverse)
    one = passes.Pass(prepared, signature)
    assert passes.Pass.from_text(one.as_text()) == one
    assert passes.verify(key, prepared, signature)
    assert not passes.verify(key, passes.prepare(), signature)
    assert passes.private_key(passes.private_bytes(mine)).private_numbers() == (
        mine.private_numbers()
    )


@pytest.mark.parametrize("value", [0, -1, -2], ids=["0", "n", "n + 1"])
def test_a_blinded_message_out_of_range_is_not_signed(mine: Any, value: int) -> None:
    key = mine.public_key()
    n = key.public_numbers().n
    wrong = (0 if value == 0 else n - 1 - value).to_bytes(257, "big")[-256:]
    with pytest.raises(passes.PassError):
        passes.blind_sign(mine, key, wrong if value == 0 else wrong)
    with pytest.raises(passes.PassError):
        passes.blind_sign(mine, key, b"\1" * 255)


def test_a_faulty_signature_is_never_returned(mine: rsa.RSAPrivateKey) -> None:
    """A fault in half of the computation would reveal the factors; a second key is refused too."""
    key = mine.public_key()
    blinded, _ = passes.blind(key, passes.prepare())
    numbers = mine.private_numbers()

    class Faulty:
        def private_numbers(self) -> Any:
            class Numbers:
                p, q, iqmp, dmp1 = numbers.p, numbers.q, numbers.iqmp, numbers.dmp1
                dmq1 = numbers.dmq1 ^ 2

            return Numbers

    for broken in (Faulty(), passes.new_key()):
        with pytest.raises(passes.PassError):
            passes.blind_sign(broken, key, blinded)  # type: ignore[arg-type]


def test_a_signature_of_another_key_is_not_accepted(mine: rsa.RSAPrivateKey) -> None:
    second = passes.new_key()
    prepared = passes.prepare()
    blinded, inverse = passes.blind(mine.public_key(), prepared)
    try:
        signed = passes.blind_sign(second, second.public_key(), blinded)
    except passes.PassError:  # the second modulus happens to be smaller
        signed = passes.blind_sign(second, second.public_key(), b"\1" * 256)
    with pytest.raises(passes.PassError):
        passes.finalize(mine.public_key(), prepared, signed, inverse)


@given(st.binary(min_size=1, max_size=40))
def test_only_the_canonical_text_of_a_value_is_read(value: bytes) -> None:
    text = passes.to_text(value)
    assert passes.from_text(text, len(value)) == value
    for other in (text + "=", text + "\n", " " + text, text.replace("-", "+") + "+", text + "é"):
        with pytest.raises(passes.PassError):
            passes.from_text(other, len(value))


def test_no_value_has_two_texts() -> None:
    assert passes.from_text("AA", 1) == b"\0"
    for other in ("AB", "A", "AAA", "AA==", ""):
        with pytest.raises(passes.PassError):
            passes.from_text(other, 1)


def node(script: str, *arguments: str) -> Any:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", f"import * as passes from '{MODULE}';{script}",
         *arguments],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.node
def test_browser_and_server_can_read_each_others_passes(
    mine: rsa.RSAPrivateKey,
) -> None:
    key, text = mine.public_key(), json.dumps(passes.public_text(mine.public_key()))
    blinded = node(
        "console.log(JSON.stringify(await passes.blind(JSON.parse(process.argv[1]))))", text
    )
    signed = passes.blind_sign(mine, key, passes.from_text(blinded["blinded"], 256))
    found = node(
        "const [key, kept, reply] = process.argv.slice(1).map((one) => JSON.parse(one));"
        "const signature = await passes.finalize(key, kept.prepared, reply, kept.inverse);"
        "console.log(JSON.stringify({signature, id: await passes.idOf(kept.prepared)}))",
        text, json.dumps(blinded), json.dumps(passes.to_text(signed)),
    )  # fmt: skip
    one = passes.Pass.from_text({"message": blinded["prepared"], "signature": found["signature"]})
    assert passes.verify(key, one.prepared, one.signature)
    assert one.id == found["id"]

    prepared = passes.prepare()
    ours, inverse = passes.blind(key, prepared)
    reply = passes.blind_sign(mine, key, ours)
    arguments = [text, *map(json.dumps, map(passes.to_text, (
        prepared, reply, inverse.to_bytes(256, "big"),
    )))]  # fmt: skip
    signature = node(
        "console.log(JSON.stringify(await passes.finalize("
        "...process.argv.slice(1).map((one) => JSON.parse(one)))))",
        *arguments,
    )
    assert passes.verify(key, prepared, passes.from_text(signature, 256))
