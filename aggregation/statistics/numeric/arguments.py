"""Checks of arguments. Each refuses a wrong one with a ValueError that names it."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# A rate is known to about 2**-52, so that n * rate stands for an integer only up to here.
LARGEST = 2**50
FARTHEST = 1e100  # positive numbers and their inverses are at most this, so that they have squares


def integer(name: str, value: object, minimum: int = 0, maximum: int | None = None) -> int:
    """Return ``value`` as an int; refuse it by name unless it is an integer within these limits."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {value!r}")
    return int(value)


def counts(count: object, n: object, names: tuple[str, str] = ("count", "n")) -> tuple[int, int]:
    """Return ``count`` and ``n`` as ints; refuse them by name unless 0 <= count <= n and n >= 1."""
    n = integer(names[1], n, minimum=1)
    count = integer(names[0], count)
    if n > LARGEST:
        raise ValueError(f"{names[1]} must be at most {LARGEST}, got {n}")
    if count > n:
        raise ValueError(f"{names[0]} must be at most {names[1]}={n}, got {count}")
    return count, n


def tallies(counts: ArrayLike, sizes: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as float arrays of one shape; refuse them by name unless 0 <= count <= size."""
    s, n = integers_of_one_shape(counts=counts, sizes=sizes)
    refuse("sizes", n, (n < 1) | (n > LARGEST), f"from 1 to {LARGEST}")
    refuse("counts", s, (s < 0) | (s > n), "from 0 to the size")
    return s, n


def integers_of_one_shape(**given: ArrayLike) -> Sequence[Floats]:
    """Return arrays of integers as floats of one shape; refuse them by name if there is none."""
    arrays = [integers(name, values) for name, values in given.items()]
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        names, shapes = " and ".join(given), " and ".join(str(array.shape) for array in arrays)
        raise ValueError(f"{names} must have one shape, got {shapes}") from None


def array_of(name: str, values: Any) -> NDArray[Any]:
    """Return ``values`` as an array; refuse it by name if rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have rows of equal lengths, got {values!r}") from None


def items(name: str, values: Any) -> list[Any]:
    """Return ``values`` as a list; refuse it by name unless it is a sequence."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping | Set):
        raise ValueError(f"{name} must be a sequence, got {values!r}")
    return list(values)


def one_of(name: str, value: Any, known: Collection[str]) -> str:
    """Return ``value``; refuse it by name unless it is known."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return value


def is_real(value: object) -> bool:
    """Return whether a value is a number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def probability(name: str, value: Any) -> float:
    """Return ``value`` as a float; refuse it by name unless it is a number in [0, 1]."""
    if not is_real(value):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return float(value)


def strictly_between(name: str, value: object) -> float:
    """Return ``value`` as a float; refuse it by name unless it is between 0 and 1, and neither."""
    result = probability(name, value)
    if result in (0, 1):
        raise ValueError(f"{name} must be strictly between 0 and 1, got {value!r}")
    return result


def positive(name: str, value: Any, most: float = FARTHEST) -> float:
    """Return ``value`` as a float; refuse it by name unless it is above 0 and can be squared."""
    if not is_real(value):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not 1 / FARTHEST <= value <= most:
        bound = f" and at most {most:g}" if most < FARTHEST else ""
        raise ValueError(f"{name} must be positive, finite{bound}, got {value!r}")
    return float(value)


def integers(name: str, values: Any) -> Floats:
    """Return ``values`` as floats; refuse them by name unless they are integers."""
    array = array_of(name, values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got {values!r}")
    return array.astype(np.float64)


def finite(name: str, value: Any, dimensions: int) -> Floats:
    """Return ``value`` as floats; refuse it by name and place unless all are finite."""
    array = array_of(name, value)
    if array.dtype.kind not in "biuf" or array.ndim != dimensions:
        shape = "matrix" if dimensions == 2 else "list"
        raise ValueError(f"{name} must be a {shape} of numbers, got {value!r}")
    result = array.astype(np.float64)
    refuse(name, result, ~np.isfinite(result), "finite")
    return result


def matrix_of(X: Any) -> Floats:
    """Return X as floats; refuse it unless it is a matrix with rows and columns."""
    result = finite("X", X, 2)
    if not result.size:
        raise ValueError(f"X must have rows and columns, got {result.shape}")
    return result


def vector_of(name: str, value: Any, length: int) -> Floats:
    """Return ``value`` as floats; refuse it unless it has one value for each row of X."""
    result = finite(name, value, 1)
    if len(result) != length:
        raise ValueError(
            f"{name} must have {length} values, one for each row of X, got {len(result)}"
        )
    return result


def frequencies(name: str, value: Any, length: int) -> Floats:
    """Return whole numbers, one for each row of X.

    A sampling weight is no frequency, and would make the standard errors wrong.
    """
    result = vector_of(name, value, length)
    if np.asarray(value).dtype.kind == "b":
        raise ValueError(f"{name} must be whole numbers, got {value!r}")
    bad = (result < 0) | (result != np.floor(result)) | (result > LARGEST)
    refuse(name, result, bad, f"whole numbers from 0 to {LARGEST}")
    return result


def refuse(name: str, values: Floats, bad: NDArray[np.bool_], wanted: str) -> None:
    """Refuse values by name if one is bad, with the first bad one and its place."""
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where[0] if len(where) == 1 else where
        raise ValueError(f"{name} must be {wanted}, got {values[where]:.17g} at {place}")
