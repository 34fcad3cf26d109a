"""Installations that the fault tests share; each test restores its own."""

from collections.abc import Iterator

import pytest

from tests.support.harness import Console, Fleet, Machines, Trial
from tests.support.services import Candor, PostgreSQL, Redis


@pytest.fixture(scope="session")
def all_machines() -> Iterator[Machines]:
    with (
        PostgreSQL(durable=True) as postgresql,
        Redis() as redis,
        Fleet(
            webs=2, processes=2, workers=3,
            DATABASE_URL=postgresql.create_database(), REDIS_URL=redis.url,
            CANDOR_RELEASE_SECONDS="2",
        ) as fleet,
        Console(fleet) as console,
    ):  # fmt: skip
        yield Machines(fleet, postgresql, redis, console)


@pytest.fixture
def machines(all_machines: Machines) -> Iterator[Machines]:
    yield all_machines
    all_machines.fleet.mend()


@pytest.fixture(scope="session")
def embedded_console(embedded_candor: Candor) -> Iterator[Console]:
    with Console(embedded_candor) as console:
        yield console


@pytest.fixture
def trial(request: pytest.FixtureRequest) -> Trial:
    """Yield a new survey, embedded or on the machines (ON_BOTH)."""
    if getattr(request, "param", "embedded") == "machines":
        machines: Machines = request.getfixturevalue("machines")
        return machines.trial()
    candor: Candor = request.getfixturevalue("embedded_candor")
    return Trial(candor, request.getfixturevalue("embedded_console"))
