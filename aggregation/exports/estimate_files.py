"""The estimates of a release as a document, as lines, and as a table for statistics programs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from aggregation.exports import codebook, columns
from aggregation.exports.columns import Column, ColumnKind, Table
from aggregation.models import Estimate, Release
from survey.spreadsheets import Line

ABOUT: dict[str, tuple[ColumnKind, str]] = {  # the kind and the label of each column
    "release": ("whole", "Number of the release"),
    "question": ("text", "Key of the question"),
    "question_text": ("text", "Text of the question"),
    "measure": ("text", "What is estimated: share, share_of_concerned, mean or picks"),
    "option": ("text", "Key of the option; none: a mean or a number of picks"),
    "option_text": ("text", "Text of the option"),
    "by": ("text", "Key of the background question; none: everybody"),
    "group": ("text", "Key of the group; none: everybody"),
    "group_text": ("text", "Text of the group"),
    "n": ("whole", "Reports to the question, and to the background question"),
    "count": (
        "whole",
        "Of these, those with the option (or any value that counts), and the group",
    ),
    "estimate": ("real", "Unclipped; may leave the possible range: compute with it"),
    "bounded": ("real", "The estimate within the possible range: show it"),
    "standard_error": ("real", "Standard error of the estimate"),
    "sampling_error": ("real", "Its part from sampling; everybody only"),
    "privacy_error": ("real", "Its part from the noise; everybody only"),
    "misfit": ("real", "p-value: some answers explain the counts; everybody only"),
    "low": ("real", "Lower limit of the headline interval"),
    "high": ("real", "Upper limit of the headline interval"),
    "level": ("real", "Level of the interval"),
    "interval": ("text", "interim: valid at every look; final: for one look"),
    "method": ("text", "Method of the headline interval"),
    "low_once": ("real", "Lower limit, for one look"),
    "high_once": ("real", "Upper limit, for one look"),
    "low_always": ("real", "Lower limit, valid at every look"),
    "high_always": ("real", "Upper limit, valid at every look"),
}
HEADER = [*ABOUT]
RENAMED = {"by": "grouped_by"}  # because SPSS reserves the word


def document(release: Release) -> dict[str, Any]:
    """Return a release and its estimates as the API gives them."""
    return {
        "release": release.number,
        "reports": release.reports,
        "final": release.final,
        "made_at": release.made_at.isoformat().replace("+00:00", "Z"),
        "design": release.survey.design_hash,
        "estimates": [entry(row) for row in release.estimates.all()],
    }


def entry(row: Estimate) -> dict[str, Any]:
    """Return an estimate as the API and the JSON file give it."""
    return {
        "question": row.question,
        "option": row.option or None,
        "measure": row.measure,
        "by": row.by or None,
        "group": row.group or None,
        "n": row.n,
        "count": row.count,
        "estimate": row.value,
        "bounded": row.bounded,
        "standard_error": row.standard_error,
        "sampling_error": row.sampling_error,
        "privacy_error": row.privacy_error,
        "misfit": row.misfit,
        "low": row.low,
        "high": row.high,
        "interval": {
            "level": row.level,
            "kind": "interim" if row.always else "final",
            "method": row.method,
        },
        "low_once": row.low_once,
        "high_once": row.high_once,
        "low_always": row.low_always,
        "high_always": row.high_always,
    }


def lines(release: Release) -> Iterator[Line]:
    """Yield the names of the columns, then a line for each estimate, with its texts."""
    questions = {one.key: one for one in release.survey.frozen_design().questions}
    texts = {
        key: {option.key: option.text for option in question.options}
        for key, question in questions.items()
    }
    yield HEADER
    for row in release.estimates.iterator():
        yield [
            *(release.number, row.question, questions[row.question].text),
            *(row.measure, row.option, texts[row.question].get(row.option, "")),
            *(row.by, row.group, texts[row.by][row.group] if row.by else ""),
            *(row.n, row.count, row.value, row.bounded),
            *(row.standard_error, row.sampling_error, row.privacy_error, row.misfit),
            *(row.low, row.high, row.level, "interim" if row.always else "final", row.method),
            *(row.low_once, row.high_once, row.low_always, row.high_always),
        ]


def table(release: Release, cite: str) -> Table:
    """Return the estimates for statistics programs, with columns no wider than necessary."""
    _, *rows = lines(release)
    found, piece = [], []
    for (name, (kind, label)), values in zip(ABOUT.items(), zip(*rows, strict=True), strict=True):
        column = Column(RENAMED.get(name, name), kind, label)
        if kind == "text":
            texts = [str(value) for value in values]
            column = replace(column, width=columns.width(texts))
            piece.append(columns.text_array(texts, column.width))
        else:
            piece.append(np.array(values, dtype=np.int64 if kind == "whole" else np.float64))
        found.append(column)
    notes = [cite, *codebook.notes(release.survey)]
    return Table(release.survey.title, release.made_at, notes, found, len(rows), [piece])
