"""The precision of every kind of question, compared with the statistics that estimate it."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from aggregation.planner.blocks import explain
from aggregation.planner.notation import read
from aggregation.planner.plan import Plan
from aggregation.planner.planned_design import CONCERNED, Kind, designed, kinds, mean_of
from aggregation.planner.solving import solve
from aggregation.planner.terms import PlanError, Terms
from aggregation.releases.estimate import asked
from aggregation.statistics import mean, planning, ratio
from aggregation.statistics.proportion import Channel
from survey.design import Design, Measure

Z = 1.959963984540054
N = 400_000


def kind(text: str, epsilon: float = 2.0) -> Kind:
    """Return the precision of the last question of a plan."""
    return kinds(designed(read(text), epsilon))[-1]


def half_width(one: Kind, share: float | None = None) -> float:
    return planning.half_width(N, one.channel, share)


@pytest.mark.parametrize("epsilon", [0.5, 1.05, 1.15, 2.0, 3.0, 4.0])
def test_a_number_is_as_precise_as_the_statistics_say(epsilon: float) -> None:
    assert half_width(kind("number 0 to 60", epsilon)) == pytest.approx(
        planning.half_width_of_mean(N, epsilon), rel=1e-9
    )


@pytest.mark.parametrize(
    ("text", "variance"),
    [
        ("choice of 10", 0.592),
        ("of 10 pick 2", 0.929),
        ("of 10 pick 3", 1.226),
        ("of 10 pick 5", 1.819),
    ],
)  # From the statistics: n Var at a share of .1, d = 10, ε = 2
def test_multiple_choice_costs_what_the_statistics_say(text: str, variance: float) -> None:
    assert half_width(kind(text), 0.1) == pytest.approx(Z * math.sqrt(variance / N), rel=2e-3)


def test_a_share_has_the_channel_of_its_options() -> None:
    """ε = 2, K = 5: the reference values for a yes/no question with a follow-up of 4 options."""
    gate, follow_up = kinds(designed(read("yes/no [choice of 4]"), 2.0))
    c = 2409399581 / 2**32
    assert follow_up.channel == Channel(c + (1 - c) / 5, (1 - c) / 5)
    assert gate.channel.contrast == pytest.approx(c)
    # Of the gate, yes: it is in four of five cells.
    assert gate.channel.b == pytest.approx(4 * (1 - c) / 5)


def expected(design: Design, key: str, measure: Measure, share: float) -> np.ndarray:
    """Return the expected reports if this share of those who count is at the top of the scores."""
    one, scores = asked(design, key), measure.scores
    assert scores is not None
    known = [score for score in scores if score is not None]
    part = CONCERNED if one.question.only_if else 1.0
    rates = np.array(one.stray)
    for value, weight in ((known.index(max(known)), share), (known.index(min(known)), 1 - share)):
        rates[[i for i, score in enumerate(scores) if score is not None][value]] += (
            one.keep * part * weight
        )
    rates[-1] += one.keep * (1 - part)
    return np.rint(rates * N).astype(int)


@pytest.mark.parametrize(
    "text", ["scale of 5", "number 0 to 60", "yes/no [scale of 5]", "yes/no [number 0 to 60]"]
)
def test_means_are_as_precise_as_estimates_of_the_expected_reports(text: str) -> None:
    """Half of the people at either end; of a follow-up, half of a fifth."""
    design = designed(read(text), 2.0)
    one = asked(design, design.questions[-1].key)
    measure = next(each for each in one.question.measures() if each.name == "mean")
    counts, scores = expected(design, one.question.key, measure, 0.5), measure.scores
    assert scores is not None
    found = mean.estimate(counts, scores, one.values)
    known = [score for score in scores if score is not None]
    by_hand = Z * found.standard_error / (max(known) - min(known))
    planned = planning.half_width(int(counts.sum()), mean_of(one).channel)
    assert planned == pytest.approx(by_hand, rel=1e-3)
    assert found.value == pytest.approx((max(known) + min(known)) / 2, rel=1e-3)


def test_shares_of_those_concerned_are_as_precise_as_their_estimates() -> None:
    """The widest interval of all shares that the planner tries, if a fifth are concerned."""
    design = designed(read("yes/no [choice of 4]"), 2.0)
    one, follow_up = asked(design, "q2"), kinds(design)[1]
    assert follow_up.concerned
    gate = Channel(one.keep + 4 * one.stray[0], 4 * one.stray[0])
    widths = []
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        rate = one.stray[0] + one.keep * CONCERNED * share
        asked_rate = gate.b + one.keep * CONCERNED
        found = ratio.interval(round(rate * N), round(asked_rate * N), N, one.values[0], gate)
        widths.append((found.high - found.low) / 2)
    planned = planning.half_width(N, follow_up.concerned.channel)
    assert planned == pytest.approx(max(widths), rel=2e-3)
    assert planned > 3 * half_width(follow_up)


def test_the_reports_of_a_gate_in_several_blocks_are_pooled() -> None:
    design = designed(read("yes/no [choice of 4, choice of 3, yes/no], 2 yes/no"), 2.0)
    gate, *others = kinds(design)
    places = len(design.places["q1"])
    assert places == 3 and gate.where == "in 3 blocks"
    blocks = len(design.sensitive_blocks)
    assert gate.reports(1000 * blocks) == 3000 * design.ask
    assert {one.reports(1000 * blocks) for one in others} == {1000 * design.ask}


MIXED = "8 yes/no, 4 choice of 4, 5 scale of 5, 4 number 0 to 60, 3 of 10 pick 3, " + (
    "2 yes/no [choice of 4, scale of 3]"
)


def terms(text: str = MIXED, **changes: object) -> Terms:
    return replace(Terms(read(text), 2.0, 20_000, 0.05), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [{}, {"forged": 0.005}, {"looks": "every"}, {"share": 0.2}, {"level": 0.8}, {"dropout": 0.1}],
    ids=str,
)
def test_people_and_epsilon_of_mixed_questions_can_be_recovered(changes: dict[str, object]) -> None:
    first = solve("half_width", terms(**changes))
    assert solve("people", first).people == pytest.approx(20_000, rel=5e-3)
    assert solve("epsilon", first).epsilon == pytest.approx(2.0, abs=0.011)
    rows = Plan(first).precision
    assert sum(row.kind.questions for row in rows) == 30
    assert first.half_width == pytest.approx(max(row.everybody for row in rows), rel=1e-12)


def test_no_more_of_a_share_than_of_a_mean_can_be_expected() -> None:
    """An expected share makes shares more precise; it says nothing about a number."""
    number = "number 0 to 60"
    plain, some = (
        solve("half_width", terms(number, share=share)).half_width for share in (None, 0.05)
    )
    assert plain == some
    moved = Plan(solve("half_width", terms(number, forged=0.01))).moved
    c = asked(designed(read(number), 2.0), "q1").keep
    assert moved == pytest.approx((0.01 / c, 0.01 / c))


def test_the_explanation_says_why_follow_ups_and_picks_have_their_blocks() -> None:
    text = explain(designed(read("yes/no [choice of 4, choice of 3], 3 yes/no"), 2.0), chosen=False)
    assert "Each follow-up has a block of its own, with the question that it depends on" in text
    text = explain(designed(read("yes/no [choice of 4]"), 2.0), chosen=False)
    assert "Follow-ups are in one block with the question that they depend on." in text
    text = explain(designed(read("yes/no, of 5 pick 2"), 2.0), chosen=False)
    assert "A multiple choice question is always alone in its block." in text
    plain = explain(designed(read("4 yes/no"), 2.0), chosen=False)
    assert "ollow-up" not in plain and "ultiple" not in plain


def test_blocks_of_a_given_size_keep_follow_ups_and_leave_multiple_choice_alone() -> None:
    text = "yes/no [choice of 4], 3 yes/no, of 5 pick 2, yes/no [yes/no [yes/no]]"
    design = designed(read(text), 2.0, 2, 1)
    keys = [[one.key for one in block.questions] for block in design.blocks]
    assert sorted(keys) == [
        ["q1", "q2"], ["q3", "q5"], ["q4"], ["q6"], ["q7", "q8", "q9"]
    ]  # fmt: skip


def test_a_plan_that_no_design_can_keep_is_refused_at_its_questions() -> None:
    with pytest.raises(PlanError) as error:
        solve("half_width", terms(f"yes/no [{', '.join(['choice of 21'] * 9)}]", epsilon=9.0))
    assert error.value.field in ("questions", "epsilon")


@pytest.mark.measured
def test_a_plan_of_thirty_mixed_questions_takes_less_than_a_tenth_of_a_second() -> None:
    """At an ε that nobody has asked for yet: about 20 ms of one core."""
    took = []
    for epsilon in (2.13, 1.37, 3.21):
        start = time.process_time()
        here = Plan(solve("half_width", terms(epsilon=epsilon)))
        assert here.precision and here.cost
        took.append(time.process_time() - start)
    assert min(took) < 0.1
