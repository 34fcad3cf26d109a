"""What a file for a statistics program holds: columns with their labels, and values in pieces.

Stata (stata.py) and SPSS (spss.py) take the same columns and pieces.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

LONGEST_TEXT = 2045  # bytes that a fixed text of Stata holds

# code: the position of an option in a byte, ABSENT for nothing; whole: there is always one;
# real: NaN for nothing; text: UTF-8, as bytes
Kind = Literal["code", "whole", "real", "text"]


@dataclass(frozen=True)
class Column:
    name: str  # that every statistics program takes: see codebook.variables
    kind: Kind
    label: str
    values: Mapping[int, str] = field(default_factory=dict)  # of codes, what each stands for
    notes: Mapping[str, str] = field(default_factory=dict)  # in ASCII names
    width: int = 1  # bytes of the longest text


Piece = Sequence[NDArray[Any]]  # an array for each column, all of one length


@dataclass(frozen=True)
class Table:
    title: str
    made_at: datetime
    notes: Sequence[str]
    columns: Sequence[Column]
    rows: int
    pieces: Iterable[Piece]
    weight: str = ""  # the column that says how many each row stands for


def one_line(text: str) -> str:
    return " ".join(text.split())


def cut(text: str, most: int) -> bytes:
    """At most so many bytes, in whole characters."""
    return text.encode()[:most].decode(errors="ignore").encode()


def width(texts: Iterable[str]) -> int:
    """Bytes that the longest of these needs, as far as there is room."""
    return min(LONGEST_TEXT, max((len(text.encode()) for text in texts), default=1) or 1)


def text_array(texts: Iterable[str], width: int) -> NDArray[np.bytes_]:
    return np.array([cut(text, width) for text in texts], dtype=f"S{width}")
