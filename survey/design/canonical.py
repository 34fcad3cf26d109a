"""JSON in the canonical form of RFC 8785: the same bytes in every language, for hashes."""

import json
from decimal import Decimal
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the canonical form of a value, for the types that a design has."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))  # by code units, 3.2.3
        members = (f"{canonical_json(key)}:{canonical_json(value[key])}" for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, float):
        return _canonical_float(value)
    return json.dumps(value, ensure_ascii=False)


def _canonical_float(value: float) -> str:
    """Return the shortest decimal that reads back as `value`, as ECMAScript writes it."""
    digits = repr(value or 0.0)  # there is one zero
    if "e" not in digits:
        return digits.removesuffix(".0")
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(digits), "f").removesuffix(".0")
    mantissa, exponent = digits.split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"
