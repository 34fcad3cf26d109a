"""All checks of an installation, one after the other."""

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
    """Run every check; one that cannot be made has failed."""
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
        "the beat ticks and a worker hears it": lambda _: expect_healthy(health.worker()),
        "a message goes through broker and worker": running.round_trip,
        "the web server answers": running.answers,
        "the settings are those of production": running.deployment,
        "the secret key is long": running.secret_key,
        "there is room on the disk": running.room,
        "the audit log is whole": running.log,
        "the database keeps what is frozen": running.triggers_there,
        "respondents' pages: headers, no cookie": served.respondents,
        "researchers' pages: headers, safe cookies": served.researchers,
        "the API: headers, no cookie": served.api,
        "strangers get no page of researchers": served.strangers,
        "the pages are those of this source": served.bytes_served,
        "no time and no address beside a report": storage.columns,
        "the database notes no times of its own": storage.notes,
        "address and browser of a visitor are kept nowhere": partial(leave_no_trace, logs=logs),
    }
