"""A short audit of the randomizer that browsers get; `make audit` is the long one.

RUNS runs an input and ALPHA = 1e-9 a design: a right file is rejected by chance at most once in
1e9 times for each of the six designs, and each wrong randomizer is accepted at most as often, which
is computed here. So is that the bound on ε is below 0.85 of the stated one once in 1e11 times.
In all this file fails by chance at most 12 times in 1e9 runs.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aggregation.statistics import privacy
from survey.design import Background, build
from survey.design.mechanism import Cells
from tests.statistical import audit
from tests.statistical.audit import HALF, WRONG, Case, Verdict
from tests.vectors.generate import (
    after,
    number,
    one_block,
    question,
    questions,
    several,
    together,
)

RUNS = 100_000
SINGLE = Case("one yes/no", one_block(math.log(3), 2))
BLOCK = Case("two yes/no in a block", one_block(4.0, 2, 2))
GATED = Case("a follow-up", together(3, question("q1", 2), after("q2", 2, "q1", "yes")))
NUMBER = Case("a number", together(3, number("q1", 0, 2, 1)))
SEVERAL = Case("up to 2 of 2", together(3, several("q1", 2, 2)))
GROUPS = Case(
    "a background question", build(1.0, questions(2), [Background(question("job", 2), 2.0)])
)
SHIPPED = (SINGLE, BLOCK, GATED, NUMBER, SEVERAL, GROUPS)
SPOILT = audit.spoilt(BLOCK, GATED, NUMBER, SEVERAL)
CASES = (*SHIPPED, *SPOILT)


def on_the_runs(test: Any) -> Any:
    """Mark tests that use the runs, so that one process makes them for all."""
    for mark in (pytest.mark.node, pytest.mark.once, pytest.mark.xdist_group("audit")):
        test = mark(test)
    return test


@cache
def verdict(case: Case) -> Verdict:
    (counted,) = audit.run_all([case], RUNS)
    return audit.judge(case.design, counted, RUNS)


@on_the_runs
@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.name)
@pytest.mark.slow
def test_the_shipped_file_has_the_exact_channel(case: Case) -> None:
    found = verdict(case)
    assert found.passes, found
    # The bound sees most of the stated loss, so it would notice a larger one.
    assert 0.85 * case.design.report_epsilon < found.epsilon_at_least
    assert found.epsilon_at_least <= found.stated == case.design.report_epsilon


@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.name)
def test_the_bound_on_epsilon_is_hardly_ever_far_below(case: Case) -> None:
    """Even if the two most telling counts are extreme (once in 2e11 times each)."""
    laws = [audit.channel(case.design, answers) for answers in audit.inputs(case.design)]
    rows = np.array([[float(p) for p in law.values()] for law in laws])
    bounds = [
        privacy.audit(
            int(stats.binom.ppf(5e-12, RUNS, column.max())), RUNS,
            int(stats.binom.isf(5e-12, RUNS, column.min())), RUNS, HALF / rows.size,
        )
        for column in rows.T
    ]  # fmt: skip
    assert max(bounds) > 0.85 * case.design.report_epsilon


@on_the_runs
@pytest.mark.parametrize("case", SPOILT[:2], ids=lambda case: str(case.wrong))
def test_a_wrong_coin_is_rejected(case: Case) -> None:
    assert not verdict(case).passes


@on_the_runs
@pytest.mark.slow
@pytest.mark.parametrize("case", SPOILT[2:], ids=lambda case: str(case.wrong))
def test_a_wrong_cell_rounding_or_slot_is_rejected(case: Case) -> None:
    assert not verdict(case).passes


@on_the_runs
def test_the_leak_shows_as_a_loss_above_the_stated_one() -> None:
    (leak,) = (case for case in SPOILT if case.wrong == "leaks the last answer")
    assert verdict(leak).epsilon_at_least > 2 * verdict(leak).stated


LONG = audit.spoilt(audit.PAIR, audit.FOLLOW_UPS, audit.NUMBER, audit.SEVERAL)


@pytest.mark.parametrize(
    ("case", "runs"), [*((one, RUNS) for one in SPOILT), *((one, audit.RUNS) for one in LONG)]
)
def test_both_audits_almost_never_miss_a_wrong_randomizer(case: Case, runs: int) -> None:
    assert 1 - audit.power(case.design, WRONG[str(case.wrong)], runs) < 1e-9


@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.name)
def test_a_right_randomizer_is_rejected_no_more_often_than_stated(case: Case) -> None:
    assert 0 < audit.power(case.design, Cells.probability, RUNS) <= HALF


def test_what_is_stated_is_what_a_whole_report_costs() -> None:
    """The exact loss over all pairs of sensitive and background answers."""
    laws = [audit.channel(GROUPS.design, answers) for answers in audit.inputs(GROUPS.design)]
    rows = np.array([[float(p) for p in law.values()] for law in laws])
    assert privacy.loss(rows) == pytest.approx(GROUPS.design.report_epsilon, abs=1e-8)
    assert GROUPS.design.report_epsilon == 3 and GROUPS.design.epsilon == 1


def test_an_impossible_report_fails_the_audit() -> None:
    design = SINGLE.design
    counts = [{'{"b1":[0]}': 75_000, '{"b1":[1]}': 25_000}]
    counts.append({'{"b1":[0]}': 25_000, '{"b1":[1]}': 75_000})
    assert audit.judge(design, counts, RUNS).passes
    counts[1] = {'{"b1":[0]}': 25_000, '{"b1":[1]}': 74_999, '{"b1":[2]}': 1}
    found = audit.judge(design, counts, RUNS)
    assert found.impossible == 1 and not found.passes


def test_the_bound_on_epsilon_covers_every_pair_of_inputs() -> None:
    """Of three inputs, two are alike and the third shows only in the last report."""
    counts = np.array([[500, 490, 10], [500, 490, 10], [500, 300, 200]])
    bound = audit.epsilon_at_least(counts, 1000)
    assert bound == privacy.audit(200, 1000, 10, 1000, HALF / 9) > 0.9
    assert audit.epsilon_at_least(counts[[2, 0, 1]], 1000) == bound
    assert audit.epsilon_at_least(counts[:2], 1000) == 0
