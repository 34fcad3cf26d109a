"""The time that the server spends on one dashboard: 20 questions by 10, a million reports.

`make bench`, or `python -m bench.dashboard`. Through Django's own handler with all middleware, a
logged-in researcher and the real database, without the network; medians, beside a page that does
nearly nothing (the health check) in the same run. The million reports are twenty thousand, fifty
times. A plan is made anew each time, as for one that nobody has asked for yet.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.counting import store
from tests.support import packages
from tests.support.services import ROOT, Candor, PostgreSQL

PEOPLE = 20_000
TIMES = 50  # as many are counted
ROUNDS = 31
PLAN = "yes_no=10&choices=4,5,10&epsilon=2&people=2000&groups=3"
SURVEY = {
    "slug": "wide",
    "title": "Twenty questions, ten about the background",
    "epsilon": 4,
    "questions": [{"key": f"q{i}", "text": f"Question {i}?", "kind": "yes_no"} for i in range(20)],
    "background": [
        {"key": f"g{i}", "text": f"Background {i}", "options": [f"Group {j}" for j in range(5)]}
        for i in range(10)
    ],
}


def main() -> None:
    reports = f"{TIMES * PEOPLE:,} reports"
    print(f"One dashboard, 20 questions by 10 of background, {reports}; median of {ROUNDS}")
    measure("SQLite")
    if packages.NEEDS["PostgreSQL"].here():
        with PostgreSQL() as server:
            measure("PostgreSQL", DATABASE_URL=server.create_database())
    else:
        print("PostgreSQL is not installed: left out.")


def measure(title: str, **environment: str) -> None:
    candor = Candor(None, **environment)
    candor.var.mkdir()
    try:
        candor.manage("migrate", "--verbosity=0")
        candor.manage("collectstatic", "--no-input", "--verbosity=0")
        candor.manage("import_survey", "-", "--open", stdin=json.dumps(SURVEY))
        candor.manage("simulate", "wide", "--people", str(PEOPLE))
        done = subprocess.run(
            [sys.executable, "-m", "bench.dashboard", "pages"],
            cwd=ROOT, env={**os.environ, **candor.env}, check=True, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        print(f"\n{title}\n{done.stdout}", end="")
    finally:
        candor._remove()


def pages() -> None:
    """In a process of its own, configured for the installation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    import numpy as np

    django.setup()
    from django.contrib.auth.models import User
    from django.test import Client

    from aggregation.releases.publish import make_release, publish
    from survey.models import Survey

    survey = Survey.objects.get()
    make_release(survey)
    for batch in survey.batches.all():
        store(survey, np.tile(batch.unpack().T, (TIMES - 1, 1)))
    publish(survey)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("root"))
    analyses = dict(asked(client))
    null = median(client, "/healthz")[0]
    print(f"  {'':28} {'clock':>8}  {'processor':>9}  of the health check")
    for name, path in {
        "the health check": "/healthz",
        "dashboard, everybody": "/surveys/wide/",
        "dashboard, for one look": "/surveys/wide/?interval=fixed",
        "dashboard, by one question": "/surveys/wide/?by=g3",
        "… 99 %, for one look": "/surveys/wide/?by=g3&level=99&interval=fixed",
        "… with forged reports": "/surveys/wide/?by=g3&forged=5",
        "… and for one look": "/surveys/wide/?by=g3&forged=5&interval=fixed",
        "trend": "/surveys/wide/trend/",
        "what its script asks": "/surveys/wide/now/",
        "the overview": "/surveys/",
        "the planner": f"/plan/?{PLAN}",
        "… valid at every look": f"/plan/?{PLAN}&looks=every",
        "… and how many people": f"/plan/?{PLAN}&looks=every&solve=people&half_width=5",
        "… and which ε": f"/plan/?{PLAN}&looks=every&solve=epsilon&half_width=25",
        "the analyses": "/surveys/wide/analyses/",
        **analyses,
    }.items():
        clock, processor, size = median(client, path)
        print(
            f"  {name:28} {1000 * clock:5.1f} ms  {1000 * processor:6.1f} ms"
            f"  {clock / null:6.0f} times  {size:8,} bytes"
        )


def asked(client: "object") -> Iterator[tuple[str, str]]:
    """The pages of analyses of each kind, computed here."""
    from aggregation.models import Job
    from config.celery import app

    app.conf.task_always_eager = True
    keys = [f"q{i}" for i in range(20)]
    margins = [f"g{i},Group {j},{(j + 2) / 20}" for i in range(3) for j in range(5)]
    for name, fields in {
        "a table of four questions": {"kind": "crosstab", "questions": keys[:4]},
        "… of two, and a background one": {"kind": "crosstab", "questions": [*keys[:2], "g0"]},
        "a regression": {
            "kind": "regression", "outcome": "q0:yes", "predictors": ["g0", "g1", "g2"],
        },
        "profiles": {"kind": "profiles", "questions": keys[:4], "classes": "2"},
        "weights, twenty questions": {
            "kind": "weights", "margins": "\n".join(["question,group,share", *margins]),
        },
    }.items():  # fmt: skip
        response = client.post("/surveys/wide/analyses/", fields)  # type: ignore[attr-defined]
        if response.status_code != 302:
            raise RuntimeError(f"{name} was refused")
        yield name, response["Location"]
    for job in Job.objects.exclude(state="done"):
        print(f"  {job.analysis}: {job.state}. {job.error}")


def median(client: "object", path: str) -> tuple[float, float, int]:
    """By the clock, and in time of the processor, which other work does not change."""
    from aggregation.planner.planned_design import designed

    clock, processor = [], []
    for _ in range(ROUNDS):
        designed.cache_clear()
        began = time.perf_counter(), time.process_time()
        response = client.get(path)  # type: ignore[attr-defined]
        clock.append(time.perf_counter() - began[0])
        processor.append(time.process_time() - began[1])
        if response.status_code != 200:
            raise RuntimeError(f"{path} answered {response.status_code}")
    return statistics.median(clock), statistics.median(processor), len(response.content)


if __name__ == "__main__":
    pages() if sys.argv[1:] == ["pages"] else main()
