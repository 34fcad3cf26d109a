"""kill -9 of every program under load: what was acknowledged is counted once.

Each test repeats its fault. `Trial.hurry` stands for the half minute after which work whose worker
died is taken up again; that this happens without it is in test_conservation.py.
"""

import random
import time

import pytest

from tests.faults.conftest import Machines
from tests.faults.harness import (
    Senders,
    Trial,
    kill_9,
    main_web,
    pool_processes,
    web_processes,
)
from tests.services import wait_until

pytestmark = pytest.mark.faults
ON_MACHINES = [pytest.mark.postgresql, pytest.mark.redis]
ON_BOTH = pytest.mark.parametrize(
    "trial", ["embedded", pytest.param("machines", marks=ON_MACHINES)], indirect=True
)


# --- Web processes --------------------------------------------------------------------------------


@ON_BOTH
def test_a_web_process_is_killed_under_load(trial: Trial) -> None:
    """One of the processes that answer requests, three times; its main process starts another."""
    with Senders(trial) as senders:
        for _ in range(3):
            senders.await_more(60)
            (victim,) = kill_9(random.sample(web_processes(trial.candor), 1))
            trial.release()
            wait_until(lambda: victim not in web_processes(trial.candor), 20, "its end")  # noqa: B023
        senders.await_more(60)
    assert senders.statuses[0] > 0  # some did notice
    trial.settle(senders)


@ON_BOTH
def test_a_web_server_is_killed_under_load(trial: Trial, request: pytest.FixtureRequest) -> None:
    """Its main process: those that answer requests go with it, and all come back."""
    with Senders(trial) as senders:
        for _ in range(2):
            senders.await_more(60)
            before = web_processes(trial.candor)
            kill_9(main_web(trial.candor))
            gone = lambda: not set(before) & set(web_processes(trial.candor))  # noqa: E731, B023
            wait_until(gone, 20, "the end of its processes")
            if trial.candor.process is None:  # no supervisor
                trial.candor.mend()  # type: ignore[attr-defined]
            senders.await_more(60)
    trial.settle(senders)
