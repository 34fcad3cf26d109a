"""How long the files of a finished survey take, and how much memory, at a million reports.

`python -m bench.exports [REPORTS]`. Six questions of ten options and two background questions, so
that most reports are different. Each file is made in a process of its own and thrown away, beside
the CSV; the peak of memory is that of the process, beside one that makes a file without reports.
"""

import json
import os
import resource
import subprocess
import sys
import time

from bench.counting import store
from tests.support.services import ROOT, Candor

BATCH = 65_536
FILES = (
    "citation.bib estimates.csv estimates.dta estimates.sav "
    "reports.csv reports.dta reports.sav everything.zip"
).split()
SURVEY = {
    "slug": "long",
    "title": "Six questions of ten options",
    "epsilon": 6,
    "questions": [
        {"key": f"q{i}", "text": f"Question {i}?", "kind": "choice",
         "options": [f"Option {j}" for j in range(10)]}
        for i in range(6)
    ],
    "background": [
        {"key": f"s{i}", "text": f"Background {i}", "options": [f"Group {j}" for j in range(5)]}
        for i in range(2)
    ],
}  # fmt: skip


def main(reports: int) -> None:
    candor = Candor()
    candor.var.mkdir()
    try:
        candor.manage("migrate", "--verbosity=0")
        candor.manage("import_survey", "-", "--open", stdin=json.dumps(SURVEY))
        child(candor, "fill", str(reports))
        print(f"{reports:,} reports, each file in a process of its own")
        for name in FILES:
            print(child(candor, "make", name), end="", flush=True)
    finally:
        candor._remove()


def child(candor: Candor, *what: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "bench.exports", *what],
        cwd=ROOT, env={**os.environ, **candor.env}, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


def inside(what: str, argument: str) -> None:
    """In a process of its own, configured for the installation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    fill(int(argument)) if what == "fill" else make(argument)


def fill(reports: int) -> None:
    import numpy as np

    from aggregation.releases.publish import publish
    from survey.models import Survey

    survey = Survey.objects.get()
    random = np.random.default_rng(1)
    design = survey.frozen_design()
    sizes = [one.size for one in design.questions]
    for start in range(0, reports, BATCH):
        number = min(BATCH, reports - start)
        rows = np.column_stack([random.integers(0, size, number, np.uint8) for size in sizes])
        store(survey, rows)
    survey.close()
    publish(survey)


def make(name: str) -> None:
    from aggregation.exports.files import FILES, Export
    from aggregation.models import Release

    export = Export(Release.objects.select_related("survey").get(), "http://localhost/")
    began, size = time.perf_counter(), 0
    for part in FILES[name].make(export):
        size += len(part)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:16} {seconds:7.2f} s  {size / 1e6:8.2f} MB  peak {peak:5.0f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] in (["fill"], ["make"]):
        inside(*sys.argv[1:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
