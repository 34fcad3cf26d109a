"""Reports as columns of small integers, shuffled together, and the tallies of such columns.

Pure NumPy: bytes in, counts out. A batch keeps no id, no time and no order of arrival.
"""

from collections.abc import Iterable, Sequence
from random import Random, SystemRandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.design import Design

Columns = NDArray[np.uint8]  # one row a question or stratum, one column a report

# question key → "" (everybody) or stratum key → counts by [group][option]; everybody is one group,
# and the last group of a stratum is "not given". Only sums of these ever leave a batch.
Tally = dict[str, dict[str, list[list[int]]]]


def shuffled(contents: Sequence[bytes], random: Random | None = None) -> Columns:
    """The contents of reports in random order, turned into columns."""
    order = list(contents)
    (random or SystemRandom()).shuffle(order)
    rows = np.frombuffer(b"".join(order), dtype=np.uint8).reshape(len(order), -1)
    return np.ascontiguousarray(rows.T)


def contents(columns: Columns) -> list[bytes]:
    """The reports of a batch, one by one."""
    return [row.tobytes() for row in columns.T]


def unpack(data: bytes, reports: int) -> Columns:
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, reports)


def tally(columns: Columns, design: Design) -> Tally:
    """Counts of every option of every question, over everybody and by stratum."""
    strata = columns[len(design.questions) :]
    result: Tally = {}
    for question, reported in zip(design.questions, columns, strict=False):
        # Comparing bytes is several times as fast as counting them, for the usual few options.
        counts = [int(np.count_nonzero(reported == option)) for option in range(question.size)]
        result[question.key] = {"": [counts]}
        for stratum, given in zip(design.strata, strata, strict=True):
            # ABSENT, the largest byte, is a group of its own here, and there no option.
            group = np.minimum(given, stratum.size).astype(np.intp)
            cells = np.bincount(256 * group + reported, minlength=256 * (stratum.size + 1))
            table = cells.reshape(-1, 256)[:, : question.size]
            result[question.key][stratum.key] = table.tolist()
    return result


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies of one design."""

    def add(a: Any, b: Any) -> Any:
        if isinstance(a, dict):
            return {key: add(a[key], b[key]) for key in a}
        return (np.asarray(a) + np.asarray(b)).tolist()

    result: Tally | None = None
    for one in tallies:
        result = one if result is None else add(result, one)
    return result or {}
