"""Temporary installations to measure, without running servers, and timing."""

import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support import packages
from tests.support.services import ROOT, Candor, PostgreSQL

Clock = Callable[[], float]
CALL = """
import importlib, sys, django
django.setup()
module, function, *arguments = sys.argv[1:]
getattr(importlib.import_module(module), function)(*arguments)
"""


def databases() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield SQLite and, if it is installed, PostgreSQL, each with its environment."""
    yield "SQLite", {}
    if packages.NEEDS["PostgreSQL"].here():
        with PostgreSQL(durable=True) as server:
            yield "PostgreSQL", {"DATABASE_URL": server.create_database()}
    else:
        print("PostgreSQL is not installed: left out.")


@contextlib.contextmanager
def installation(survey: dict[str, Any] | None = None, **environment: str) -> Iterator[Candor]:
    """Yield an installation, with this survey open."""
    candor = Candor(None, **environment)
    candor.var.mkdir()
    try:
        candor.migrate()
        candor.collect()
        if survey:
            candor.manage("import_survey", "-", "--open", stdin=json.dumps(survey))
        yield candor
    finally:
        candor._remove()


def call(candor: Candor, module: str, function: str, *arguments: object) -> None:
    """Call a function in a process of its own, with Django set up for this installation."""
    sys.stdout.flush()
    subprocess.run(
        [sys.executable, "-c", CALL, module, function, *map(str, arguments)],
        cwd=ROOT, env={**candor.env, "DJANGO_SETTINGS_MODULE": "config.settings"}, check=True,
    )  # fmt: skip


def in_turn(
    runs: Mapping[str, Callable[[], object]], clock: Clock, rounds: int
) -> dict[str, float]:
    """Return the median time of each run, taken in turn so that a busy machine affects all."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            began = clock()
            run()
            times[name].append(clock() - began)
    return {name: statistics.median(some) for name, some in times.items()}
