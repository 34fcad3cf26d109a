"""What other ways to ask would cost: averages and distributions, picks, and follow-ups."""

import json
import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any

import pytest

from aggregation.statistics import planning
from studio import ways
from survey import files
from survey.design import Design
from survey.models import Survey

pytestmark = pytest.mark.django_db

DAYS = {"key": "days", "text": "Days?", "kind": "number", "least": 0, "most": 60, "unit": "days"}
PILLS: dict[str, Any] = {
    "key": "pills", "text": "Which?", "kind": "several", "options": list("ABCDE"), "picks": 2,
}  # fmt: skip
HARM: dict[str, Any] = {"key": "harm", "text": "Were you?", "kind": "yes_no"}
WHO: dict[str, Any] = {
    "key": "who", "text": "By whom?", "kind": "choice", "options": list("ABCD"),
    "only_if": {"question": "harm", "options": ["yes"]},
}  # fmt: skip
OFTEN = {**WHO, "key": "often", "kind": "scale", "options": list("ABC")}


def survey(*questions: dict[str, Any], **more: Any) -> Survey:
    return files.load(
        json.dumps({"slug": "s", "title": "S", "epsilon": 2, "questions": questions} | more)
    )


def of(*questions: dict[str, Any], people: int = 1000, **more: Any) -> dict[str, dict[str, Any]]:
    Survey.objects.all().delete()
    return ways.of(survey(*questions, **more), people)


def test_a_number_gives_its_average_or_its_distribution() -> None:
    found = of(DAYS)["days"]
    width = 60 * planning.half_width_of_mean(1000, 2)
    assert found["average"] == f"±\u202f{width:.1f}\u202fdays"
    assert list(found["ranges"]) == ["4", "5", "6"]
    errors = [float(text.split("\u202f")[1].split()[0]) for text in found["ranges"].values()]
    assert errors == sorted(errors) and errors[0] < errors[2]  # more options, less precise


def test_the_margin_of_an_average_follows_from_every_report_that_can_be_sent() -> None:
    """By the exact probabilities of reports, with half of the people at either end."""
    design: Design = survey(HARM, DAYS | {"prefer_not_to_say": True}).draft_design()
    block, place = design.places["days"][0]
    mechanism, mean = block.mechanism, block.questions[place].measures()[0]
    assert mean.among
    first = second = Fraction(0)
    others = [range(one.size) for one in block.questions]
    for cell in product(*others):
        score = Fraction(mean.weights[cell[place]]) - 30 * Fraction(mean.among[cell[place]])
        for number in (0, 60):
            answers = [number if i == place else 0 for i in range(len(cell))]
            chance = mechanism.probability(answers, cell) / 2
            first, second = first + chance * score, second + chance * score**2
    deviation = math.sqrt((second - first**2) / 400) * 2**32 / mechanism.keep
    said = ways.half_width_of_mean(block, place, 400) / NormalDist().inv_cdf(0.975)
    assert said == pytest.approx(deviation)


def test_an_average_that_says_nothing_is_not_given_as_a_figure() -> None:
    assert of(DAYS, people=3)["days"]["average"] == "over the whole range"


def test_every_pick_that_is_allowed_costs_people() -> None:
    found = of(PILLS, people=5000)["pills"]["picks"]
    assert [(one["picks"], one["what"]) for one in found] == [
        (1, "Pick one"), (2, "Up to two"), (3, "Up to three"), (5, "All that apply"),
    ]  # fmt: skip
    factors = [float(one["people"] or 1) for one in found]
    assert factors == sorted(factors) and factors[1] > 1.5
    assert found[0]["people"] == ""
    two = of(PILLS | {"options": ["A", "B"]}, people=5000)["pills"]["picks"]
    assert [one["what"] for one in two] == ["Pick one", "All that apply"]


def test_follow_ups_are_said_to_cost_people() -> None:
    found = of(HARM, WHO)
    assert found["harm"]["follow_ups"].startswith("This follow-up needs ")
    both = of(HARM, WHO, OFTEN, blocks=[["harm", "who", "often"]])
    assert both["harm"]["follow_ups"].startswith("These two follow-ups need ")
    assert "follow_ups" not in both["who"]
    # By hand: a yes/no question alone has (1 + 2/t)^2, the block of K = 1 + 4·3 cells (1 + 13/t)^2.
    t = math.expm1(2)
    factor = ((1 + 13 / t) / (1 + 2 / t)) ** 2
    assert f" {factor:.2g} times" in both["harm"]["follow_ups"]


def test_a_branch_includes_what_depends_on_its_follow_ups() -> None:
    third = {**OFTEN, "only_if": {"question": "who", "options": ["a"]}}
    found = of(HARM, WHO, third)
    assert found["harm"]["follow_ups"].startswith("These two follow-ups")
    assert found["who"]["follow_ups"].startswith("This follow-up")


def test_the_blocks_of_every_question_are_named() -> None:
    found = of(HARM, WHO, OFTEN, blocks=[["harm", "who"], ["harm", "often"]])
    assert {key: its["blocks"] for key, its in found.items()} == {
        "harm": [1, 2], "who": [1], "often": [2],
    }  # fmt: skip


def test_an_impossible_design_has_no_figures() -> None:
    draft = survey(HARM)
    draft.ask = 7
    assert ways.of(draft, 1000) == {}
