"""The list of all checks of an installation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from operations import health
from operations.selftest import running, served, storage
from operations.selftest.canary import leave_no_trace
from operations.selftest.running import expect_healthy
from operations.selftest.site import Failed, Site

Check = Callable[[Site], None]


@dataclass(frozen=True)
class Outcome:
    name: str
    problem: str  # empty if it passed


def run(site: Site, logs: list[Path]) -> Iterator[Outcome]:
    """Run every check. One that raises an unexpected error has failed."""
    for name, check in all_checks(logs).items():
        try:
            check(site)
            problem = ""
        except Failed as error:
            problem = str(error)
        except Exception as error:  # the next one is still worth a try
            problem = f"could not be checked ({type(error).__name__})"
        yield Outcome(name, problem)


def all_checks(logs: list[Path]) -> dict[str, Check]:
    return {
        "the database answers": lambda _: expect_healthy(health.database()),
        "migrations are applied": lambda _: expect_healthy(health.migrations()),
        "the broker answers": lambda _: expect_healthy(health.broker()),
        "ticks of the beat reach a worker": lambda _: expect_healthy(health.worker()),
        "messages reach a worker through the broker": running.round_trip,
        "the web server answers": running.answers,
        "the settings are safe for production": running.deployment,
        "the secret key is long": running.secret_key,
        "there is free space on the disk": running.room,
        "the audit log is complete": running.log,
        "the database protects opened surveys": running.triggers_there,
        "respondents' pages: headers, no cookie": served.respondents,
        "researchers' pages: headers, safe cookies": served.researchers,
        "the API: headers, no cookie": served.api,
        "researchers' pages need a login": served.strangers,
        "the pages match this source": served.bytes_served,
        "reports are stored without times and addresses": storage.columns,
        "the database logs no times of answers": storage.notes,
        "visitors' addresses and browsers are not stored": partial(leave_no_trace, logs=logs),
    }
