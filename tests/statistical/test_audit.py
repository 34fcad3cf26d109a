"""A short audit of the randomizer that browsers get; `make audit` is the long one.

RUNS runs an input and ALPHA = 1e-9 a design: a right file is rejected by chance at most once in
1e9 times for each of the two designs, and each wrong randomizer is accepted at most as often, which
is computed here. The bound on ε is below 0.9 of the stated one once in 1e12 times, and the bound
that the leak shows is that low no more often. In all this file fails by chance at most 5 times in
1e9 runs.
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
    for mark in (pytest.mark.node, pytest.mark.once, pytest.mark.xdist_group("audit")):
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
@pytest.mark.slow
def test_the_shipped_file_has_the_exact_channel(verdicts: Any, case: Case) -> None:
    verdict = verdicts[case.name, None]
    assert verdict.passes, verdict
    # Nearly all of the stated loss is seen, so the bound would notice a larger one.
    # It would take 6 standard deviations in each of two cells for the bound to fall to 0.92.
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
def test_both_audits_almost_never_miss_a_wrong_randomizer(wrong: str) -> None:
    assert 1 - audit.power(BLOCK.design, WRONG[wrong], RUNS) < 1e-9
    assert 1 - audit.power(audit.SHIPPED[1].design, WRONG[wrong], audit.RUNS) < 1e-9


def test_a_right_randomizer_is_rejected_no_more_often_than_stated() -> None:
    right = audit.power(BLOCK.design, type(BLOCK.design.blocks[0].mechanism).probability, RUNS)
    assert 0 < right <= HALF


def test_an_impossible_report_fails_the_audit() -> None:
    design = SINGLE.design
    counts = [{'{"b1":[0]}': 75_000, '{"b1":[1]}': 25_000}]
    counts.append({'{"b1":[0]}': 25_000, '{"b1":[1]}': 75_000})
    assert audit.judge(design, counts, RUNS).passes
    counts[1] = {'{"b1":[0]}': 25_000, '{"b1":[1]}': 74_999, '{"b1":[2]}': 1}
    verdict = audit.judge(design, counts, RUNS)
    assert verdict.impossible == 1 and not verdict.passes


def test_the_bound_on_epsilon_covers_every_pair_of_inputs() -> None:
    """The first two of three inputs are alike; the third shows in the last report alone."""
    counts = np.array([[500, 490, 10], [500, 490, 10], [500, 300, 200]])
    bound = audit.epsilon_at_least(counts, 1000)
    assert bound == privacy.audit(200, 1000, 10, 1000, HALF / 9) > 0.9
    assert audit.epsilon_at_least(counts[[2, 0, 1]], 1000) == bound
    assert audit.epsilon_at_least(counts[:2], 1000) == 0
