"""Codes of authenticator apps: RFC 6238 with SHA-1, six digits and 30 seconds, like all apps.

Uses only the standard library, and no clock: the time is an argument.
"""

import base64
import hmac
from urllib.parse import quote, urlencode

SECONDS = 30
DIGITS = 6
AROUND = 1  # steps that a clock may be fast or slow


def step_at(time: float) -> int:
    return int(time // SECONDS)


def code(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step: digits of four bytes of its HMAC (RFC 4226, section 5.3)."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = mac[-1] & 15
    number = int.from_bytes(mac[start : start + 4], "big") & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: bytes, given: str, time: float) -> int | None:
    """Return the step near this time whose code was given, or None."""
    now = step_at(time)
    for step in range(now - AROUND, now + AROUND + 1):
        if hmac.compare_digest(code(secret, step).encode(), given.encode()):
            return step
    return None


def text(secret: bytes) -> str:
    """Return the secret in the form that people type if they have no camera."""
    return base64.b32encode(secret).decode().rstrip("=")


def address(secret: bytes, site: str, account: str) -> str:
    """Return the otpauth address for the QR code that apps read."""
    label = quote(f"{site}:{account}", safe="")
    return f"otpauth://totp/{label}?{urlencode({'secret': text(secret), 'issuer': site})}"
