"""Invitation codes: 15 random letters and digits (75 bits), and one that catches typing errors.

A code is a word of a linear code over GF(32), the field of the remainders of polynomials over GF(2)
modulo x⁵ + x² + 1: the sum of its characters, each multiplied by a power of x, is 0. This is the
algorithm of H. M. Damm (Total anti-symmetrische Quasigruppen, Marburg 2004) for 32 characters. The
powers of x are not 0 and differ up to the 31st, so it detects every single wrong character and
every two that changed places, neighbors or not. static/respond/access.js does the same.
"""

import secrets

# Crockford's alphabet, which has no letters that look like digits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 16
LOOKALIKES = str.maketrans("OIL", "011", "- ")
MODULUS = 0b100101  # x⁵ + x² + 1


def new_code() -> str:
    body = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH - 1))
    return body + ALPHABET[_remainder(body + ALPHABET[0])]


def shown(code: str) -> str:
    """Return a code in groups of four, which are easier to read and type."""
    return "-".join(code[i : i + 4] for i in range(0, CODE_LENGTH, 4))


def read_code(text: str) -> str:
    """Return a typed code in its stored form, or "" if it is not a code or has a typing error."""
    code = text.upper().translate(LOOKALIKES)
    if len(code) != CODE_LENGTH or not set(code) <= set(ALPHABET):
        return ""
    return "" if _remainder(code) else code


def _remainder(code: str) -> int:
    """Return 0 for a code, and another number if there is a typing error."""
    value = 0
    for character in code:
        value <<= 1  # multiply by x
        if value > 31:
            value ^= MODULUS
        value ^= ALPHABET.index(character)
    return value
