"""Misbehaving clients: slow, silent, repetitive or invalid."""

import contextlib
import json
import statistics
from collections.abc import Iterator

import pytest

from tests.support.clients import malformed, post_all, slow_clients
from tests.support.harness import CELLS, Senders, Trial, resident, web_processes
from tests.support.marks import ON_BOTH

pytestmark = pytest.mark.faults

MANY = 10_000
MEGABYTES = 1_000_000


@contextlib.contextmanager
def bounded(trial: Trial, megabytes: int) -> Iterator[None]:
    """Check that the web processes use at most this much more memory afterwards."""
    with Senders(trial) as warm:
        warm.await_more(50)
    trial.acknowledged.update(warm.acknowledged)
    before, processes = resident(web_processes(trial.candor)), len(web_processes(trial.candor))
    yield
    grown = resident(web_processes(trial.candor)) - before
    assert grown < megabytes * MEGABYTES * processes, f"{grown / MEGABYTES:.0f} MB more"


@ON_BOTH
def test_slow_and_silent_clients_hold_nobody_up(trial: Trial) -> None:
    """100 send a byte a second and 100 stop halfway; reports are stored as usual."""
    with bounded(trial, megabytes=20):
        with Senders(trial) as alone:
            alone.await_more(200)
        with slow_clients(trial), Senders(trial) as beside:
            beside.await_more(200)
    assert set(beside.statuses) == {201}
    trial.settle(alone, beside)


@pytest.mark.measured
def test_slow_clients_do_not_slow_others_down(trial: Trial) -> None:
    with Senders(trial) as alone:
        alone.await_more(200)
    with slow_clients(trial), Senders(trial) as beside:
        beside.await_more(200)
    quiet, busy = statistics.median(alone.latencies), statistics.median(beside.latencies)
    assert busy < 3 * quiet + 0.05, (quiet, busy)


@ON_BOTH
def test_one_id_sent_ten_thousand_times_is_stored_once(trial: Trial) -> None:
    """One report is stored, and every reply has the right status."""
    cell = CELLS[5]
    body = json.dumps(trial.report(cell)).encode()
    with bounded(trial, megabytes=30), Senders(trial) as senders:
        same = post_all(trial, MANY, lambda _: body)
        wrong = post_all(trial, MANY, lambda number: malformed(trial, number))
    assert same == {201: 1, 200: MANY - 1}
    assert wrong == {400: MANY}
    trial.acknowledged[cell] += 1  # once
    trial.settle(senders)
