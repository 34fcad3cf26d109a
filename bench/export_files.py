"""The measurements of bench.exports, in a process with its database."""

import resource

import numpy as np

from aggregation.exports.files import FILES, Export
from aggregation.models import Release
from aggregation.releases.collect import BATCH_SIZE
from aggregation.releases.publish import publish
from bench.counting_runs import seconds, store
from survey.models import Survey


def fill(reports: str) -> None:
    survey = Survey.objects.get()
    random = np.random.default_rng(1)
    sizes = [question.size for question in survey.frozen_design().questions]
    for start in range(0, int(reports), BATCH_SIZE):
        number = min(BATCH_SIZE, int(reports) - start)
        rows = np.column_stack([random.integers(0, size, number, np.uint8) for size in sizes])
        store(survey, rows)
    survey.close()
    publish(survey)


def make(name: str) -> None:
    export = Export(Release.objects.select_related("survey").get(), "http://localhost/")
    sizes: list[int] = []
    spent = seconds(lambda: sizes.extend(map(len, FILES[name].make(export))))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:16} {spent:7.2f} s  {sum(sizes) / 1e6:8.2f} MB  peak {peak:5.0f} MB")
