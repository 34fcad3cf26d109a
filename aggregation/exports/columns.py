"""Tables for statistics programs: columns with labels, and values in pieces.

stata.py and spss.py write the same tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

LONGEST_TEXT = 2045  # bytes in a text of fixed width in Stata

# code: a value in a report in one byte, or ABSENT; whole: an integer, never missing;
# real: a float, NaN if missing; text: bytes in UTF-8
ColumnKind = Literal["code", "whole", "real", "text"]


@dataclass(frozen=True)
class Column:
    name: str  # that every statistics program accepts: see codebook.variables
    kind: ColumnKind
    label: str
    values: Mapping[int, str] = field(default_factory=dict)  # the meaning of each code
    notes: Mapping[str, str] = field(default_factory=dict)  # with names in ASCII
    width: int = 1  # bytes of the longest text


Piece = Sequence[NDArray[Any]]  # an array for each column, all of the same length


@dataclass(frozen=True)
class Table:
    title: str
    made_at: datetime
    notes: Sequence[str]
    columns: Sequence[Column]
    rows: int
    pieces: Iterable[Piece]
    weight: str = ""  # the column that says how many reports each row stands for


def one_line(text: str) -> str:
    return " ".join(text.split())


def cut(text: str, most: int) -> bytes:
    """Return at most this many bytes of a text, without cutting a character."""
    return text.encode()[:most].decode(errors="ignore").encode()


def width(texts: Iterable[str]) -> int:
    """Return how many bytes the longest text needs, up to LONGEST_TEXT."""
    return min(LONGEST_TEXT, max((len(text.encode()) for text in texts), default=1) or 1)


def text_array(texts: Iterable[str], width: int) -> NDArray[np.bytes_]:
    return np.array([cut(text, width) for text in texts], dtype=f"S{width}")
