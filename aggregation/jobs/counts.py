"""The tables of an analysis, counted in parts and added up."""

import math
import zlib

import numpy as np

from aggregation.analyses import base, registry
from aggregation.counting.tables import Counts, tables
from aggregation.models import Analysis, Batch, Part
from survey.design import Design


def read_request(analysis: Analysis) -> base.Analysis:
    """Return the requested analysis, checked against the design again."""
    return registry.read(analysis.asked, _design(analysis))


def count(part: Part) -> None:
    """Count the batches of a part and store the tables, unless the part is gone."""
    wanted = read_request(part.analysis).tables()
    found = tables(Batch.objects.packed(part.batches), _design(part.analysis), wanted)
    counts = zlib.compress(b"".join(table.tobytes() for table in found), 1)
    Part.objects.filter(pk=part.pk).update(counts=counts)


def tables_of(analysis: Analysis) -> list[Counts]:
    """Return the tables of all parts together; RuntimeError if one is not counted yet."""
    design = _design(analysis)
    shapes = [base.sizes(axes, design) for axes in read_request(analysis).tables()]
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
