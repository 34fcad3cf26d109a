"""Computations in a child process: what they return, and what stops them."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from aggregation.analyses.base import AnalysisError
from aggregation.jobs import sandbox

MIB = 2**20


def run(compute, seconds=30.0, memory=200 * MIB, wanted=lambda: True):
    return sandbox.run(compute, seconds, memory, wanted)


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def test_the_result_comes_back_and_the_child_is_gone() -> None:
    before = children()
    assert run(lambda: {"pid": os.getpid(), "large": "x" * 10**6})["pid"] != os.getpid()
    assert children() == before


def test_an_error_comes_back_with_its_message() -> None:
    def fail():
        raise AnalysisError("reports", "too few")

    with pytest.raises(AnalysisError, match="reports: too few") as caught:
        run(fail)
    assert (caught.value.where, caught.value.why) == ("reports", "too few")


def test_more_memory_than_allowed_is_refused() -> None:
    with pytest.raises(sandbox.TooLarge):
        run(lambda: np.ones(100 * MIB).sum())  # 800 MiB
    assert run(lambda: float(np.ones(10 * MIB).sum())) == 10 * MIB


def test_a_child_that_is_killed_is_noticed() -> None:
    with pytest.raises(sandbox.TooLarge):
        run(lambda: os.kill(os.getpid(), 9))


def test_a_computation_that_takes_too_long_is_killed() -> None:
    before = children()
    with pytest.raises(sandbox.TooLong):
        run(signal.pause, seconds=0.5)
    assert children() == before


def test_a_computation_that_nobody_wants_is_killed() -> None:
    before = children()
    answers = iter([True, True, False])
    with pytest.raises(sandbox.Stopped):
        run(signal.pause, wanted=lambda: next(answers))
    assert children() == before
