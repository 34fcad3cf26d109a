"""Canonical JSON (RFC 8785), which has the same bytes in every language and can be hashed."""

import json
from decimal import Decimal
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the canonical form of a value. Supports the types that a design contains."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))  # section 3.2.3: code units
        members = (f"{canonical_json(key)}:{canonical_json(value[key])}" for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, float):
        return _canonical_float(value)
    return json.dumps(value, ensure_ascii=False)


def _canonical_float(value: float) -> str:
    """Return the shortest decimal that reads back as `value`, as ECMAScript writes it."""
    digits = repr(value or 0.0)  # write -0.0 as 0
    if "e" not in digits:
        return digits.removesuffix(".0")
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(digits), "f").removesuffix(".0")
    mantissa, exponent = digits.split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"
