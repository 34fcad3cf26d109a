"""Write files in the format of Stata (.dta, format 118, Stata 14 and later), in pieces.

A file is a sequence of named parts. The part `map` says where each begins, so everything except the
values is made first. Codes are bytes, of which Stata reserves the highest for missing values, such
as `.` for a question that was not asked.
"""

import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aggregation.exports.columns import Column, Piece, Table, cut, one_line
from survey.design import ABSENT

# The type of each kind of column in the file, and in NumPy.
KINDS = {"code": (65530, "i1"), "whole": (65528, "<i4"), "real": (65526, "<f8")}
FORMATS = {"code": "%8.0g", "whole": "%12.0g", "real": "%10.0g"}
NOTHING = struct.unpack("<d", bytes.fromhex("000000000000e07f"))[0]  # Stata's missing value
TEXT, LABEL = 80, 32_000  # characters in a column's label, bytes in a value's


def parts(table: Table) -> Iterator[bytes]:
    columns = table.columns
    labels, tail = _labels(columns), b"</stata_dta>"
    head = _head(table)
    record = np.dtype([(f"c{i}", _type(one)) for i, one in enumerate(columns)])
    middle = [
        _part("variable_types", struct.pack(f"<{len(columns)}H", *map(_code, columns))),
        _part("varnames", _fixed(129, [one.name for one in columns])),
        _part("sortlist", bytes(2 * len(columns) + 2)),
        _part("formats", _fixed(57, [_format(one) for one in columns])),
        _part("value_label_names", _fixed(129, [one.name * bool(one.values) for one in columns])),
        _part("variable_labels", _fixed(321, [one_line(one.label)[:TEXT] for one in columns])),
        _part("characteristics", _characteristics(table)),
    ]
    after = [_part("strls", b""), labels]
    size = len(_part("data", b"")) + table.rows * record.itemsize
    places = [0, len(head)]
    at = len(head) + len(_part("map", bytes(8 * 14)))
    for length in [*map(len, middle), size, *map(len, after), len(tail)]:
        places.append(at)
        at += length
    yield head + _part("map", struct.pack("<14Q", *places, at)) + b"".join(middle) + b"<data>"
    for piece in table.pieces:
        yield _records(columns, piece, record).tobytes()
    yield b"</data>" + b"".join(after) + tail


def _head(table: Table) -> bytes:
    title = one_line(table.title)[:TEXT].encode()
    time = f"{table.made_at:%d %b %Y %H:%M}".encode()
    content = [
        _part("release", b"118"),
        _part("byteorder", b"LSF"),
        _part("K", struct.pack("<H", len(table.columns))),
        _part("N", struct.pack("<Q", table.rows)),
        _part("label", struct.pack("<H", len(title)) + title),
        _part("timestamp", struct.pack("<B", len(time)) + time),
    ]
    return b"<stata_dta>" + _part("header", b"".join(content))


def _part(name: str, content: bytes) -> bytes:
    return b"<%s>%s</%s>" % (name.encode(), content, name.encode())


def _fixed(size: int, texts: Sequence[str]) -> bytes:
    return b"".join(cut(text, size - 1).ljust(size, b"\0") for text in texts)


def _code(column: Column) -> int:
    return column.width if column.kind == "text" else KINDS[column.kind][0]


def _type(column: Column) -> str:
    return f"S{column.width}" if column.kind == "text" else KINDS[column.kind][1]


def _format(column: Column) -> str:
    return f"%-{min(column.width, 40)}s" if column.kind == "text" else FORMATS[column.kind]


def _characteristics(table: Table) -> bytes:
    """Return the notes of the file and its columns; each of a column's is also one by name."""
    found = [("_dta", f"note{i}", text) for i, text in enumerate(table.notes, 1)]
    found.append(("_dta", "note0", str(len(table.notes))))
    for column in table.columns:
        if column.notes:
            note = "; ".join(f"{name}: {text}" for name, text in column.notes.items())
            found += [(column.name, "note1", note), (column.name, "note0", "1")]
            found += [(column.name, name, text) for name, text in column.notes.items()]
    return b"".join(
        _part("ch", struct.pack("<I", len(content)) + content)
        for content in (
            _fixed(129, [name, key]) + cut(one_line(text), 67_000) + b"\0"
            for name, key, text in found
        )
    )


def _labels(columns: Sequence[Column]) -> bytes:
    found = []
    for column in columns:
        values = column.values
        texts = [cut(one_line(text), LABEL) + b"\0" for text in values.values()]
        offsets = np.cumsum([0, *map(len, texts)])
        content = struct.pack("<2I", len(values), offsets[-1])
        content += offsets[:-1].astype("<u4").tobytes() + np.array([*values], "<u4").tobytes()
        content += b"".join(texts)
        if values:
            size = struct.pack("<I", len(content))
            found.append(_part("lbl", size + _fixed(129, [column.name]) + bytes(3) + content))
    return _part("value_labels", b"".join(found))


CODES = np.arange(256, dtype=np.uint8).astype("i1")
CODES[ABSENT] = 101


def _records(columns: Sequence[Column], piece: Piece, record: np.dtype) -> NDArray:  # type: ignore[type-arg]
    rows = np.empty(len(piece[0]), dtype=record)
    for i, (column, values) in enumerate(zip(columns, piece, strict=True)):
        if column.kind == "code":
            rows[f"c{i}"] = CODES[values]
        elif column.kind == "real":
            rows[f"c{i}"] = np.where(np.isnan(values), NOTHING, values)
        else:
            rows[f"c{i}"] = values
    return rows
