"""Compute the figures of a release from its tally. Pure: no database, no clock.

They are the shares of each question, over everybody and by every other background question.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from aggregation.counting.tables import Tally
from aggregation.statistics import proportion, ratio
from aggregation.statistics.proportion import Channel
from survey.design import Block, Design, Question
from survey.design.mechanism import SCALE

LEVEL = 0.95
# The methods for one look and for every look, over everybody and by group.
METHODS = {"fixed": "restricted Blaker", "always": "confidence sequence"}
METHODS_BY_GROUP = {"fixed": "score", "always": "asymptotic confidence sequence"}

OF_EVERYBODY = (
    "value", "bounded", "standard_error", "sampling_error", "privacy_error", "misfit", "low", "high"
)  # fmt: skip

Figures = dict[str, Any]  # the fields of an Estimate except its release and position

# For a question that nobody has been asked yet.
NOTHING: Figures = {"value": None, "bounded": None, "standard_error": None, "low": 0.0, "high": 1.0}


def estimate(design: Design, tally: Tally) -> Iterator[Figures]:
    """Yield the figures, by question, then everybody and each background question."""
    for block in design.blocks:
        for position, question in enumerate(block.questions):
            channel = Channel(*block.mechanism.channel(position))
            counts = tally[question.key]
            yield from _everybody(question, channel, counts[""][0])
            for by in design.background_blocks:
                if by.questions[0].key != question.key:
                    yield from by_group(question, channel, by, counts[by.questions[0].key])


def positions_of_everybody(design: Design) -> dict[str, range]:
    """Return the positions of the estimates over everybody by question, as in all releases."""
    found, position = {}, 0
    for question in design.questions:
        found[question.key] = range(position, position + question.size)
        groups = sum(by.size for by in design.background if by.key != question.key)
        position += question.size * (1 + groups)
    return found


def _everybody(question: Question, channel: Channel, counts: Sequence[int]) -> Iterator[Figures]:
    n = sum(counts)
    found = proportion.estimates(counts, [n] * len(counts), channel, LEVEL) if n else []
    for i, (option, count) in enumerate(zip(question.options, counts, strict=True)):
        yield dict(
            question=question.key,
            option=option.key,
            n=n,
            count=count,
            level=LEVEL,
            method=METHODS["fixed"],
            **({name: getattr(found[i], name) for name in OF_EVERYBODY} if n else NOTHING),
        )


def by_group(
    question: Question,
    channel: Channel,
    by: Block,
    table: Sequence[Sequence[int]],
    level: float = LEVEL,
    kind: str = "fixed",
) -> Iterator[Figures]:
    """Yield the shares of a question in every group; `kind` is one of METHODS_BY_GROUP."""
    sizes = [sum(row) for row in table]
    n = sum(sizes)
    found = ratio.by_group(table, sizes, by.keep / SCALE, channel, level, kind) if n else None
    for i, group in enumerate(by.questions[0].options):
        for j, option in enumerate(question.options):
            yield dict(
                question=question.key,
                option=option.key,
                by=by.questions[0].key,
                group=group.key,
                n=n,
                count=table[i][j],
                level=level,
                method=METHODS_BY_GROUP[str(found.kind[i, j]) if found else kind],
                **(_in_group(found, i, j) if found else NOTHING),
            )


def _in_group(found: ratio.Shares, i: int, j: int) -> Figures:
    value = _finite(found.value[i, j])
    return {
        "value": value,
        "bounded": None if value is None else min(max(value, 0.0), 1.0),
        "standard_error": _finite(found.standard_error[i, j]),
        "low": float(found.low[i, j]),
        "high": float(found.high[i, j]),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
