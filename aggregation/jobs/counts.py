"""The tables of an analysis: counted part by part, and put together."""

import math
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
    """Count the batches of a part and keep the tables, unless the part is gone."""
    wanted = question_of(part.analysis).tables()
    found = tables(Batch.objects.packed(part.batches), _design(part.analysis), wanted)
    counts = zlib.compress(b"".join(table.tobytes() for table in found), 1)
    Part.objects.filter(pk=part.pk).update(counts=counts)


def tables_of(analysis: Analysis) -> list[Counts]:
    """Return the parts together; RuntimeError if one is missing."""
    design = _design(analysis)
    shapes = [sizes(axes, design) for axes in question_of(analysis).tables()]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    total = np.zeros(ends[-1], dtype=np.int64)
    for part in analysis.parts.all():
        if part.counts is None:
            raise RuntimeError("a part is not counted yet")
        total += np.frombuffer(zlib.decompress(part.counts), dtype=np.int64)
    found = np.split(total, ends[:-1])
    return [table.reshape(shape) for table, shape in zip(found, shapes, strict=True)]


def _design(analysis: Analysis) -> Design:
    return analysis.release.survey.frozen_design()
