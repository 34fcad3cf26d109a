"""The measurements of bench.dashboard, in a process with its database."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from celery.exceptions import AlwaysEagerIgnored
from django.contrib.auth.models import User
from django.test import Client

from aggregation.jobs import tasks
from aggregation.models import Job
from aggregation.planner.planned_design import designed
from aggregation.releases.publish import make_release, publish
from bench.counting_runs import store
from bench.installation import in_turn
from config.celery import app
from survey.models import Survey
from tests.support import builders

ROUNDS = 31
PLAN = "/plan/?questions=10 yes/no, of 4, of 5, of 10&epsilon=2&people=2000&groups=3"
HERE = "/surveys/wide/"
PAGES = {
    "the health check": "/healthz",
    "dashboard, everybody": HERE,
    "dashboard, for one look": f"{HERE}?interval=fixed",
    "dashboard, by one question": f"{HERE}?by=g3",
    "… 99 %, for one look": f"{HERE}?by=g3&level=99&interval=fixed",
    "… with forged reports": f"{HERE}?by=g3&forged=5",
    "… and for one look": f"{HERE}?by=g3&forged=5&interval=fixed",
    "… as a table": f"{HERE}?by=g3&view=table",
    "by one question of 10 groups": "/surveys/groups/?by=g0",
    "… and 99 %, for one look": "/surveys/groups/?by=g0&level=99&interval=fixed",
    "over time": f"{HERE}trend/",
    "the script's status request": f"{HERE}now/",
    "the overview": "/surveys/",
    "the planner": PLAN,
    "… valid at every look": f"{PLAN}&looks=every",
    "… and how many people": f"{PLAN}&looks=every&solve=people&half_width=5",
    "… and which ε": f"{PLAN}&looks=every&solve=epsilon&half_width=25",
    "the analyses": f"{HERE}analyses/",
}
QUESTIONS = [f"q{i}" for i in range(20)]
MARGINS = [f"g{i},Group {j},{(j + 2) / 20}" for i in range(3) for j in range(5)]
ANALYSES: dict[str, dict[str, Any]] = {
    "a table of four questions": {"kind": "crosstab", "questions": QUESTIONS[:4]},
    "… of two, and a background one": {"kind": "crosstab", "questions": [*QUESTIONS[:2], "g0"]},
    "a regression": {"kind": "regression", "outcome": "q0:yes", "predictors": ["g0", "g1", "g2"]},
    "profiles": {"kind": "profiles", "questions": QUESTIONS[:4], "classes": "2"},
    "weights, twenty questions": {
        "kind": "weights", "margins": "\n".join(["question,group,share", *MARGINS]),
    },
}  # fmt: skip


def measure(times: str) -> None:
    for survey in Survey.objects.all():
        make_release(survey)
        for batch in survey.batches.all():
            store(survey, np.tile(builders.rows(batch), (int(times) - 1, 1)))
        publish(survey)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_superuser("root"))
    pages = PAGES | dict(analyses(client))
    null = median(client, "/healthz", time.perf_counter)
    print(f"  {'':28} {'clock':>8}  {'processor':>9}  of the health check; median of {ROUNDS}")
    for name, path in pages.items():
        clock = median(client, path, time.perf_counter)
        processor = median(client, path, time.process_time)
        print(
            f"  {name:28} {1000 * clock:5.1f} ms  {1000 * processor:6.1f} ms"
            f"  {clock / null:6.0f} times  {len(client.get(path).content):8,} bytes"
        )


def analyses(client: Client) -> Iterator[tuple[str, str]]:
    """Yield the pages of an analysis of each kind, computed here."""
    app.conf.task_always_eager = True  # the parts of an analysis are counted as they are sent
    warnings.simplefilter("ignore", AlwaysEagerIgnored)  # the job itself is done below
    for name, fields in ANALYSES.items():
        response = client.post(f"{HERE}analyses/", fields)
        if response.status_code != 302:
            raise RuntimeError(f"{name} was refused")
        while job := Job.objects.filter(active=True).first():
            tasks.run(str(job.pk))
        yield name, response["Location"]
    for job in Job.objects.exclude(state="done"):
        raise RuntimeError(f"{job.analysis} is {job.state}. {job.error}")


def median(client: Client, path: str, clock: Any) -> float:
    def get() -> None:
        designed.cache_clear()
        if (status := client.get(path).status_code) != 200:
            raise RuntimeError(f"{path} returned status {status}")

    return in_turn({"": get}, clock, ROUNDS)[""]
