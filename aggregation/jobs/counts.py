"""The table of an analysis: counted part by part, and put together."""

import zlib

import numpy as np

from aggregation.analyses import registry
from aggregation.analyses.base import Analysis as Question
from aggregation.analyses.base import Counts, sizes
from aggregation.counting.tables import tables
from aggregation.models import Analysis, Batch, Part
from survey.design import Design


def question_of(analysis: Analysis) -> Question:
    """Return what was asked, checked against the design again."""
    return registry.read(analysis.asked, _design(analysis))


def count(part: Part) -> None:
    """Count the batches of a part and keep the table, unless the part is gone."""
    axes = question_of(part.analysis).axes()
    (table,) = tables(Batch.objects.packed(part.batches), _design(part.analysis), [axes])
    counts = zlib.compress(table.tobytes(), 1)
    Part.objects.filter(pk=part.pk).update(counts=counts)


def table_of(analysis: Analysis) -> Counts:
    """Return the parts together; RuntimeError if one is missing."""
    shape = sizes(question_of(analysis).axes(), _design(analysis))
    total = np.zeros(shape, dtype=np.int64)
    for part in analysis.parts.all():
        if part.counts is None:
            raise RuntimeError("a part is not counted yet")
        total += np.frombuffer(zlib.decompress(part.counts), dtype=np.int64).reshape(shape)
    return total


def _design(analysis: Analysis) -> Design:
    return analysis.release.survey.frozen_design()
