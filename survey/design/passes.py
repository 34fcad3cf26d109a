"""Passes: blind signatures of RFC 9474, RSABSSA-SHA384-PSS-Randomized.

An invitation can be exchanged for a pass, which is later spent with a report. The site signs a pass
without seeing it: it sees only a blinded message, which reveals nothing about the message inside,
not even to the owner of the key. So nobody can tell which invitation a pass belongs to.

Pure: no Django. `prepare`, `blind` and `finalize` are the respondent's side, which browsers run in
static/respond/passes.js; `blind_sign` and `verify` are the site's side. We implement only what no
library offers: the blinding, and the encoding that it needs. The names are those of the RFC.
"""

import base64
import hashlib
import math
import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey as RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA384

from survey.design import PASSES

BITS = 2048  # size of a survey's key
PREFIX = 32  # random bytes before every message, so that no two passes are equal
SALT = 48
HASH = 48
MESSAGE = b"candor/pass/1"  # the same in every pass
PSS = padding.PSS(mgf=padding.MGF1(SHA384()), salt_length=SALT)


class PassError(ValueError):
    """A value that is not valid in this scheme."""


# --- The respondent's side ------------------------------------------------------------------------


def prepare(message: bytes = MESSAGE, prefix: bytes | None = None) -> bytes:
    return (secrets.token_bytes(PREFIX) if prefix is None else prefix) + message


def blind(
    key: rsa.RSAPublicKey, prepared: bytes, salt: bytes | None = None, r: int | None = None
) -> tuple[bytes, int]:
    """Return the blinded message and the inverse for `finalize`. Only test vectors set salt, r."""
    n, e = key.public_numbers().n, key.public_numbers().e
    salt = secrets.token_bytes(SALT) if salt is None else salt
    m = int.from_bytes(encode(prepared, key.key_size - 1, salt), "big")
    if math.gcd(m, n) != 1:
        raise PassError("the message shares a factor with the key")
    r = unit(n) if r is None else r
    return (m * pow(r, e, n) % n).to_bytes(size(key), "big"), pow(r, -1, n)


def finalize(key: rsa.RSAPublicKey, prepared: bytes, blind_signature: bytes, inverse: int) -> bytes:
    """Return the unblinded signature, after verifying it."""
    n = key.public_numbers().n
    z = number(key, blind_signature)
    signature = (z * inverse % n).to_bytes(size(key), "big")
    if not verify(key, prepared, signature):
        raise PassError("the signature does not match the message")
    return signature


def encode(prepared: bytes, bits: int, salt: bytes) -> bytes:
    """Return EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, with SHA-384 and MGF1-SHA-384."""
    length = -(-bits // 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(prepared).digest() + salt).digest()
    block = bytes(length - len(salt) - HASH - 2) + b"\x01" + salt
    mask = mgf1(digest, len(block))
    masked = bytearray(one ^ other for one, other in zip(block, mask, strict=True))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + b"\xbc"


def mgf1(seed: bytes, length: int) -> bytes:
    blocks = range(-(-length // HASH))
    return b"".join(hashlib.sha384(seed + i.to_bytes(4, "big")).digest() for i in blocks)[:length]


# --- The site's side ------------------------------------------------------------------------------


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=BITS)


def private_bytes(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def private_key(stored: bytes) -> rsa.RSAPrivateKey:
    key = serialization.load_der_private_key(stored, password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise PassError("not an RSA key")
    return key


def blind_sign(private: rsa.RSAPrivateKey, public: rsa.RSAPublicKey, blinded: bytes) -> bytes:
    """Return the blind signature; raise PassError if the message is out of range.

    The computation is blinded once more, so that its timing reveals nothing about the key. The
    result is checked with the public key that respondents know, because a fault in one half of the
    computation would reveal the factors.
    """
    n, e = public.public_numbers().n, public.public_numbers().e
    m = number(public, blinded)
    secret = private.private_numbers()
    r = unit(n)
    masked = m * pow(r, e, n) % n
    s1, s2 = pow(masked, secret.dmp1, secret.p), pow(masked, secret.dmq1, secret.q)
    s = (s2 + secret.q * ((s1 - s2) * secret.iqmp % secret.p)) * pow(r, -1, n) % n
    if pow(s, e, n) != m:
        raise PassError("the computed signature is wrong")
    return s.to_bytes(size(public), "big")


def verify(key: rsa.RSAPublicKey, prepared: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, prepared, PSS, SHA384())
    except InvalidSignature:
        return False
    return True


# --- Numbers and texts ----------------------------------------------------------------------------


def size(key: rsa.RSAPublicKey) -> int:
    return key.key_size // 8


def number(key: rsa.RSAPublicKey, value: bytes) -> int:
    """Return the number from 1 to n - 1 in these bytes, which must be as many as the key's."""
    integer = int.from_bytes(value, "big")
    if len(value) != size(key) or not 0 < integer < key.public_numbers().n:
        raise PassError("not a number below the key's modulus")
    return integer


def unit(n: int) -> int:
    """Return a uniformly random number that has an inverse modulo n."""
    while math.gcd(r := secrets.randbelow(n), n) != 1:
        pass
    return r


def to_text(value: bytes) -> str:
    """Return the bytes in base64url without padding (RFC 4648)."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def from_text(text: Any, length: int) -> bytes:
    """Return the bytes that `to_text` wrote. Each value has only one valid text."""
    if not isinstance(text, str):
        raise PassError("not a text")
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:  # also raised for letters beyond ASCII
        raise PassError("not base64url") from None
    if len(value) != length or to_text(value) != text:
        raise PassError(f"not {length} bytes in base64url")
    return value


def public_text(key: rsa.RSAPublicKey) -> dict[str, str]:
    """Return the key as a design contains it: the members of a JSON Web Key and the scheme."""
    numbers = key.public_numbers()
    n, e = (
        to_text(value.to_bytes(-(-value.bit_length() // 8))) for value in (numbers.n, numbers.e)
    )
    return {"scheme": PASSES, "n": n, "e": e}


def public_key(text: dict[str, str]) -> rsa.RSAPublicKey:
    n = int.from_bytes(from_text(text["n"], BITS // 8), "big")
    e = int.from_bytes(from_text(text["e"], 3), "big")
    return rsa.RSAPublicNumbers(e, n).public_key()


@dataclass(frozen=True)
class Pass:
    """A pass as it is spent with a report."""

    prepared: bytes
    signature: bytes

    @property
    def id(self) -> str:
        """The id of the only report that this pass can be spent with, a version 4 UUID."""
        return str(UUID(bytes=hashlib.sha256(self.prepared).digest()[:16], version=4))

    def as_text(self) -> dict[str, str]:
        return {"message": to_text(self.prepared), "signature": to_text(self.signature)}

    @classmethod
    def from_text(cls, given: Any) -> "Pass":
        if not isinstance(given, dict) or given.keys() != {"message", "signature"}:
            raise PassError("must be an object with message and signature")
        prepared = from_text(given["message"], PREFIX + len(MESSAGE))
        if not prepared.endswith(MESSAGE):
            raise PassError("unknown kind of message")
        return cls(prepared, from_text(given["signature"], BITS // 8))


def sign(private: rsa.RSAPrivateKey, prepared: bytes) -> Pass:
    """Return a pass signed without blinding, for simulated people and tests."""
    return Pass(prepared, private.sign(prepared, PSS, SHA384()))
