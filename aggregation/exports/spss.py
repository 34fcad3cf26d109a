"""Write files in the format of SPSS (.sav, in UTF-8, with byte codes), in pieces.

A row consists of elements of eight bytes: a number is one element, a text several. In the file, the
codes of eight elements, one byte each, come before those elements that need more than a code. Small
whole numbers, blanks and missing values are only a code, so a report takes about a byte for each
question.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregation.exports.columns import Column, Piece, Table, cut, one_line
from survey.design import ABSENT

NOTHING = -np.finfo(np.float64).max  # SPSS's missing value
BIAS = 100  # a code minus this is a whole number
RAW, BLANK, MISSING = 253, 254, 255  # codes: eight bytes follow; spaces; the missing value
SPACES = np.frombuffer(b" " * 8, "<u8")[0]
SEGMENT, STEP = 255, 252  # a long text is split: bytes in each part, and bytes that each counts for
TEXT, LABEL, LINE = 250, 120, 80  # bytes in a column's label, in a value's, in a line of a document


@dataclass(frozen=True)
class _Segment:
    """A column in the file: a number, or at most 255 bytes of a text."""

    name: str  # at most 8 bytes, never shown
    column: Column
    width: int  # 0 for a number
    first: bool

    @property
    def elements(self) -> int:
        return max(1, -(-self.width // 8))


def parts(table: Table) -> Iterator[bytes]:
    segments = _segments(table.columns)
    yield b"".join(
        [
            _head(table, segments),
            *(_variable(one) for one in segments),
            *_labels(segments),
            _documents(table.notes),
            _extension(3, 4, struct.pack("<8i", 1, 0, 0, -1, 1, 1, 2, 65001)),
            _extension(4, 8, struct.pack("<3d", NOTHING, -NOTHING, np.nextafter(NOTHING, 0))),
            _extension(11, 4, b"".join(_display(one) for one in segments)),
            _extension(13, 1, "\t".join(f"{s.name}={s.column.name}" for s in segments if s.first)),
            _long_texts(segments),
            _extension(16, 8, struct.pack("<2q", 1, table.rows)),
            _extension(18, 1, "/".join(_attributes(one) for one in table.columns if one.notes)),
            _extension(20, 1, "UTF-8"),
            struct.pack("<2i", 999, 0),
        ]
    )
    for piece in table.pieces:
        yield _records(table.columns, piece)


def _segments(columns: Sequence[Column]) -> list[_Segment]:
    found: list[_Segment] = []
    for column in columns:
        widths = [column.width if column.kind == "text" else 0]
        if widths[0] > SEGMENT:
            number = -(-column.width // STEP)
            widths = [SEGMENT] * (number - 1) + [column.width - STEP * (number - 1)]
        for i, width in enumerate(widths):
            # No other name begins with @.
            found.append(_Segment(f"@{len(found) + 1}", column, width, i == 0))
    return found


def _head(table: Table, segments: Sequence[_Segment]) -> bytes:
    weight = at = 0
    for one in segments:
        at += one.elements
        weight = at if one.column.name == table.weight else weight
    return struct.pack(
        "<4s60s5id9s8s64s3x",
        *(b"$FL2", b"@(#) SPSS DATA FILE Candor".ljust(60), 2, at, 1, weight, table.rows, BIAS),
        f"{table.made_at:%d %b %y}".encode(),
        f"{table.made_at:%H:%M:%S}".encode(),
        cut(one_line(table.title), 64).ljust(64),
    )


def _variable(one: _Segment) -> bytes:
    column = one.column
    label = cut(one_line(column.label), TEXT) if one.first else b""
    form = struct.unpack("<i", struct.pack("<4B", *_form(one), 0))[0]
    content = struct.pack(
        "<6i8s", 2, one.width, bool(label), 0, form, form, one.name.encode().ljust(8)
    )
    if label:
        content += struct.pack("<i", len(label)) + label + b" " * (-len(label) % 4)
    return content + struct.pack("<6i8s", 2, -1, 0, 0, 0, 0, b" " * 8) * (one.elements - 1)


def _form(one: _Segment) -> tuple[int, int, int]:
    """Return how values are shown: decimals, width, and 1 for texts or 5 for numbers."""
    if one.width:
        return 0, one.width, 1
    return {"code": (0, 4, 5), "whole": (0, 10, 5)}.get(one.column.kind, (6, 12, 5))


def _display(one: _Segment) -> bytes:
    """Return the scale (nominal or metric), the width on the screen, and the alignment."""
    scale = {"whole": 3, "real": 3}.get(one.column.kind, 1)
    return struct.pack("<3i", scale, min(max(one.width, 8), 40), 0 if one.width else 1)


def _labels(segments: Sequence[_Segment]) -> Iterator[bytes]:
    at = 1
    for one in segments:
        if values := one.column.values:
            yield struct.pack("<2i", 3, len(values))
            for value, text in values.items():
                label = cut(one_line(text), LABEL)
                padding = b" " * (-(len(label) + 1) % 8)
                yield struct.pack("<dB", value, len(label)) + label + padding
            yield struct.pack("<3i", 4, 1, at)
        at += one.elements


def _documents(notes: Sequence[str]) -> bytes:
    lines = [line.ljust(LINE) for note in notes for line in _lines(one_line(note))]
    return struct.pack("<2i", 6, len(lines)) + b"".join(lines)


def _lines(text: str) -> Iterator[bytes]:
    """Split a text into lines of at most LINE bytes, between words if possible."""
    while text:
        line = cut(text, LINE).decode()
        if len(line) < len(text) and " " in line and text[len(line)] != " ":
            line = line[: line.rindex(" ") + 1]
        yield line.rstrip().encode()
        text = text[len(line) :].lstrip()


def _extension(kind: int, size: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return struct.pack("<4i", 7, kind, size, len(data) // size) + data if data else b""


def _long_texts(segments: Sequence[_Segment]) -> bytes:
    long = [one for one in segments if one.first and one.column.width > SEGMENT]
    return _extension(14, 1, "".join(f"{one.name}={one.column.width:05}\0\t" for one in long))


def _attributes(column: Column) -> str:
    """Return the notes as attributes. Values may have quotes: the last is before a line break."""
    notes = (f"{name}('{one_line(text)}'\n)" for name, text in column.notes.items())
    return f"{column.name}:{''.join(notes)}"


# --- Values ---------------------------------------------------------------------------------------

Codes = NDArray[np.uint8]
EightBytes = NDArray[np.uint64]


def _records(columns: Sequence[Column], piece: Piece) -> bytes:
    encoded = [_elements(column, values) for column, values in zip(columns, piece, strict=True)]
    codes = np.concatenate([codes for codes, _ in encoded], axis=1).ravel()
    words = np.concatenate([words for _, words in encoded], axis=1).ravel()
    words = words[codes == RAW]
    codes = np.concatenate([codes, np.zeros(-len(codes) % 8, np.uint8)])  # 0: nothing
    raw = (codes == RAW).reshape(-1, 8)
    before = np.cumsum(raw.sum(axis=1)) - raw.sum(axis=1)
    groups = np.arange(len(raw))
    found = np.empty(len(raw) + len(words), dtype="<u8")
    found[groups + before] = codes.view("<u8")
    found[np.repeat(groups, raw.sum(axis=1)) + np.arange(len(words)) + 1] = words
    return found.tobytes()


def _elements(column: Column, values: NDArray[np.generic]) -> tuple[Codes, EightBytes]:
    """Return the codes and the eight-byte elements of a column, with a row for each value."""
    if column.kind == "text":
        words = _text(column, values)
        return np.where(words == SPACES, BLANK, RAW).astype(np.uint8), words
    if column.kind == "code":
        numbers = CODES[values.astype(np.intp)]
    else:
        numbers = values.astype("<f8")
        numbers = np.where(np.isnan(numbers), NOTHING, numbers)
    whole = (numbers == np.floor(numbers)) & (numbers > -BIAS) & (numbers <= 251 - BIAS)
    codes = np.where(numbers == NOTHING, MISSING, RAW)
    codes = np.where(whole, np.where(whole, numbers, 0) + BIAS, codes).astype(np.uint8)
    return codes[:, None], numbers.view("<u8")[:, None]


CODES = np.arange(256, dtype="<f8")
CODES[ABSENT] = NOTHING


def _text(column: Column, values: NDArray[np.generic]) -> EightBytes:
    """Return texts padded with spaces. A long one leaves the last byte of each part free."""
    size = column.width
    given = np.ascontiguousarray(values.astype(f"S{size}")).view(np.uint8).reshape(-1, size)
    found = []
    for i, part in enumerate(_segments([column])):
        some = given[:, SEGMENT * i : SEGMENT * (i + 1)][:, : 8 * part.elements]
        space = np.full((len(values), 8 * part.elements), ord(" "), dtype=np.uint8)
        space[:, : some.shape[1]] = np.where(some == 0, ord(" "), some)
        found.append(space.view("<u8"))
    return np.concatenate(found, axis=1)
