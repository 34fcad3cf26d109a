"""A short audit of the randomizer that browsers get; `make audit` is the long one.

RUNS runs an input and ALPHA = 1e-6 a design: a right file is rejected by chance at most once in a
million times for each design, and both wrong randomizers are rejected with a probability above
0.999999, computed here.
"""

import math
from typing import Any

import numpy as np
import pytest

from aggregation.statistics import privacy
from tests.statistical import audit
from tests.statistical.audit import HALF, WRONG, Case, Verdict
from tests.vectors.generate import one_block

RUNS = 100_000
BLOCK = Case("two yes/no in a block", one_block(4.0, 2, 2))
SINGLE = Case("one yes/no", one_block(math.log(3), 2))
CASES = (SINGLE, BLOCK, *audit.spoilt(BLOCK))


def on_the_runs(test: Any) -> Any:
    """Marks of a test that looks at `verdicts`: one process makes the runs for all of them."""
    for mark in (pytest.mark.node, pytest.mark.slow, pytest.mark.xdist_group("audit")):
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[str, str | None], Verdict]:
    counted = audit.run_all(CASES, RUNS)
    return {
        (case.name, case.wrong): audit.judge(case.design, counts, RUNS)
        for case, counts in zip(CASES, counted, strict=True)
    }


@on_the_runs
@pytest.mark.parametrize("case", [SINGLE, BLOCK], ids=lambda case: case.name)
def test_the_shipped_file_has_the_exact_channel(verdicts: Any, case: Case) -> None:
    verdict = verdicts[case.name, None]
    assert verdict.passes, verdict
    # Nearly all of the stated loss is seen, so the bound would notice a larger one.
    assert 0.9 * case.design.epsilon < verdict.epsilon_at_least <= case.design.epsilon


@on_the_runs
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_randomizer_is_rejected(verdicts: Any, wrong: str) -> None:
    assert not verdicts[BLOCK.name, wrong].passes


@on_the_runs
def test_the_leak_shows_as_a_loss_above_the_stated_one(verdicts: Any) -> None:
    verdict = verdicts[BLOCK.name, "leaks the last answer"]
    assert verdict.epsilon_at_least > 2 * verdict.stated


@pytest.mark.parametrize("wrong", WRONG)
def test_power_here_and_in_the_long_audit(wrong: str) -> None:
    assert audit.power(BLOCK.design, WRONG[wrong], RUNS) > 0.999999
    assert audit.power(audit.SHIPPED[1].design, WRONG[wrong], audit.RUNS) > 0.999999


def test_a_right_randomizer_is_rejected_no_more_often_than_stated() -> None:
    right = audit.power(BLOCK.design, type(BLOCK.design.blocks[0].mechanism).probability, RUNS)
    assert 0 < right <= HALF


def test_reports_that_should_not_exist_fail() -> None:
    design = SINGLE.design
    counts = [{'{"b1":[0]}': 75_000, '{"b1":[1]}': 25_000}]
    counts.append({'{"b1":[0]}': 25_000, '{"b1":[1]}': 75_000})
    assert audit.judge(design, counts, RUNS).passes
    counts[1] = {'{"b1":[0]}': 25_000, '{"b1":[1]}': 74_999, '{"b1":[2]}': 1}
    verdict = audit.judge(design, counts, RUNS)
    assert verdict.impossible == 1 and not verdict.passes


def test_the_bound_on_epsilon_looks_at_every_pair_of_inputs_and_every_report() -> None:
    """The first two of three inputs are alike; the third shows in the last report alone."""
    counts = np.array([[500, 490, 10], [500, 490, 10], [500, 300, 200]])
    bound = audit.epsilon_at_least(counts, 1000)
    assert bound == privacy.audit(200, 1000, 10, 1000, HALF / 9) > 1
    assert audit.epsilon_at_least(counts[[2, 0, 1]], 1000) == bound
    assert audit.epsilon_at_least(counts[:2], 1000) == 0
