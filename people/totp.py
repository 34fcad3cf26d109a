"""Codes of an authenticator app: RFC 6238, with SHA-1, six digits and 30 seconds, as all apps do.

The standard library alone, and no clock: the time is an argument.
"""

import base64
import hmac
from urllib.parse import quote, urlencode

SECONDS = 30
DIGITS = 6
AROUND = 1  # steps that a clock may be wrong, either way


def step_at(time: float) -> int:
    return int(time // SECONDS)


def code(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """RFC 4226, 5.3: four bytes of the HMAC, found by its last half byte, as decimal digits."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = mac[-1] & 15
    number = int.from_bytes(mac[start : start + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: bytes, given: str, time: float) -> int | None:
    """The step whose code this is, of those about now."""
    now = step_at(time)
    for step in range(now - AROUND, now + AROUND + 1):
        if hmac.compare_digest(code(secret, step).encode(), given.encode()):
            return step
    return None


def text(secret: bytes) -> str:
    """As people type it, where there is no camera."""
    return base64.b32encode(secret).decode().rstrip("=")


def address(secret: bytes, site: str, account: str) -> str:
    """What the picture says: the otpauth address that apps read."""
    label = quote(f"{site}:{account}", safe="")
    return f"otpauth://totp/{label}?{urlencode({'secret': text(secret), 'issuer': site})}"
