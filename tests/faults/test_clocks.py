"""Clocks that jump by hours or disagree between machines; clock.c fakes them."""

import os
import struct
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.harness import WAIT_SECONDS, Console, Fleet, Machines, Senders, Trial, released
from tests.support.packages import compiler
from tests.support.services import ROOT, wait_until

pytestmark = [pytest.mark.faults, pytest.mark.compiler]

SOURCE = ROOT / "tests/support/clock.c"


class Clock:
    """A clock that can be set while programs use it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"clock-{uuid4()}"
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library(folder)), "WRONG_CLOCK": str(self.file)}

    def set(self, hours: int) -> None:
        opened = os.open(self.file, os.O_WRONLY | os.O_CREAT)
        os.write(opened, struct.pack("q", hours * 3600))
        os.close(opened)


def library(folder: Path) -> Path:
    """Compile clock.c."""
    made = folder / "clock.so"
    if not made.exists():
        flags = ["-shared", "-fPIC", "-nostdlib", "-o", str(made)]
        subprocess.run([str(compiler()), *flags, str(SOURCE)], check=True)
    return made


def shows_work(trial: Trial) -> None:
    """Check that automatic releases and analyses work."""
    before = released(trial)
    wait_until(lambda: released(trial) > before, WAIT_SECONDS, "a release that nobody asked for")
    trial.await_done(trial.analyse(kind="crosstab", questions=["q1", "q2"]))


@pytest.mark.postgresql
@pytest.mark.redis
def test_nothing_is_lost_when_machine_clocks_disagree(machines: Machines, tmp_path: Path) -> None:
    """One worker is hours ahead, another and the beat hours behind; then they jump."""
    fleet, trial = machines.fleet, machines.trial()
    clocks = {name: Clock(tmp_path) for name in ("worker0", "worker1", "beat0")}
    for name, clock in clocks.items():
        fleet.end(name)
        fleet.run(name, **clock.environment)
    with Senders(trial, rate=100) as senders:
        for ahead in ((5, -5, -3), (-5, 5, 3)):
            for clock, hours in zip(clocks.values(), ahead, strict=True):
                clock.set(hours)
            shows_work(trial)
    fleet.end(*clocks)
    fleet.mend()
    trial.settle(senders)


def test_nothing_is_lost_when_the_clock_jumps(tmp_path: Path) -> None:
    """The clock jumps back and forth; a job whose worker died is taken up at the right time."""
    clock = Clock(tmp_path)
    everything = clock.environment | {"CANDOR_RELEASE_SECONDS": "2"}
    with Fleet(**everything) as fleet, Console(fleet) as console:
        trial = Trial(fleet, console)
        with Senders(trial, rate=100) as senders:
            senders.await_more(60)
            for hours in (5, -5):
                fleet.end("worker0")
                job = trial.do(
                    "job = Job.objects.request(survey); Job.objects.claim(job.pk)\n"
                    "result = str(job.pk)"
                )  # as by a worker that died
                clock.set(hours)
                fleet.mend()
                wait_until(lambda: trial.job(job)["state"] == "done", WAIT_SECONDS, "that job")  # noqa: B023
                shows_work(trial)
        trial.settle(senders)
