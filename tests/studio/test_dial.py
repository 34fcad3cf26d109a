"""The figures of the privacy dial, for the expected number of people."""

import json
import re
import time
from typing import Any

import pytest

from aggregation.planner.notation import read
from aggregation.planner.planned_design import kinds
from aggregation.planner.solving import solve
from aggregation.planner.terms import Terms
from aggregation.statistics import planning
from aggregation.statistics.planning import half_width_in_group
from aggregation.statistics.proportion import Channel
from studio import dial, drafts, precision
from survey import design as designs
from survey import files
from survey.design.mechanism import Cells, Shape
from survey.models import Survey
from tests.support import builders

pytestmark = pytest.mark.django_db


def figures(people: int = 1000, **changes: Any) -> dict[str, Any]:
    return dial.figures(builders.draft(**changes), people)


TEN = [{"key": f"q{i}", "text": "?", "kind": "yes_no"} for i in range(10)]


def test_the_odds_are_the_ones_that_respondents_read() -> None:
    for epsilon, count in ((0.5, 62), (1, 73), (2, 88), (3, 95)):
        survey = builders.draft(epsilon=epsilon, slug=f"s{count}")
        found = dial.figures(survey, 500)
        assert found["sure"] == f"{count}\u202f%"
        assert found["dots"] == count == survey.draft_design().sure
        assert found["weak"] is (count > 90)
    assert [preset["sure"] for preset in dial.presets(4)] == [62, 73, 88, 95]


def test_margins_of_error_agree_with_the_planner() -> None:
    found = figures(people=1000, questions=TEN, blocks=[], background=[])
    terms = Terms(read("10 yes/no"), epsilon=2.0, people=1000, half_width=0.03)
    reach = terms.reach(1000)
    assert reach is not None
    assert found["everybody"] == f"±\u202f{100 * reach:.1f} points"
    assert {one["error"] for one in found["questions"]} == {found["everybody"]}
    assert found["by_group"] == []
    assert sorted(one["block"] for one in found["questions"]) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


GROUPS = [
    {"key": "a", "text": "Two?", "options": ["A", "B"]},
    {"key": "b", "text": "Four?", "options": ["A", "B", "C", "D"], "epsilon": 4},
]


def test_margins_of_error_by_group_agree_with_the_planner() -> None:
    found = figures(people=4000, background=GROUPS)
    design = Survey.objects.get().draft_design()
    assert [one["groups"] for one in found["by_group"]] == [2, 4]
    for one, block in zip(found["by_group"], design.background_blocks, strict=True):
        channel = Channel(*block.mechanism.channel(0))
        widths = [
            half_width_in_group(4000, 1 / one["groups"], channel, kind.channel)
            for kind in kinds(design)
        ]
        assert one["error"] == f"±\u202f{100 * max(widths):.1f} points"
    nobody = dial.figures(Survey.objects.get(), 0)
    assert [one["error"] for one in nobody["by_group"]] == ["–", "–"]


def test_the_margin_of_error_of_a_number_is_in_its_unit() -> None:
    days = {"key": "d", "text": "?", "kind": "number", "least": 0, "most": 60, "unit": "days"}
    blocks = [["q0"], ["d"]]
    found = figures(people=4000, questions=[TEN[0], days], blocks=blocks, background=GROUPS)
    first, second = found["questions"]
    assert first["error"].endswith(" points") and second["error"].endswith(" days")
    assert found["everybody"] == second["error"]  # the less precise
    assert all(one["error"].endswith(" days") for one in found["by_group"])


def test_every_part_of_a_report_and_the_whole_have_their_price() -> None:
    found = figures(background=GROUPS)
    assert found["costs"] == [
        {"epsilon": "3", "sure": "95\u202f%"},
        {"epsilon": "4", "sure": "98\u202f%"},
    ]
    assert found["report"] == {"epsilon": "9", "sure": "more than 99\u202f%"}
    rows = dial.costs(Survey.objects.get().draft_design())
    assert [(row["name"], row["epsilon"]) for row in rows] == [
        ("Sensitive answers", "2"),
        ("“Two?”", "3"),
        ("“Four?”", "4"),
        ("Whole report", "9"),
    ]
    assert [row["sure"] for row in rows[1:3]] == [cost["sure"] for cost in found["costs"]]
    alone = dial.costs(builders.draft(slug="alone", background=[]).draft_design())
    assert [row["name"] for row in alone] == ["Sensitive answers"]


def test_blocks_are_explained_and_can_be_overruled() -> None:
    chosen = figures(questions=TEN, blocks=[], background=[])["blocks"]
    assert "in 5 blocks. Each person is asked 1 of them, chosen at random." in chosen
    assert "smallest margin of error: asking everybody everything separately would need" in chosen
    survey = Survey.objects.get()
    document = drafts.content(survey) | {"blocks": [[f"q{i}"] for i in range(10)], "ask": 10}
    files.store(survey, document)
    mine = dial.figures(survey, 1000)["blocks"]
    assert (
        "10 blocks. Everybody is asked all of them. You chose these blocks. The planner’s" in mine
    )
    files.store(survey, document | {"blocks": [["q1", "q2"]]})
    assert dial.figures(survey, 1000)["problem"]["where"] == "blocks"
    files.store(survey, drafts.content(survey) | {"blocks": [], "ask": 11})
    assert dial.figures(survey, 1000)["problem"]["where"] == "ask"


def test_an_unfinished_draft_has_its_figures() -> None:
    survey = builders.draft()
    unfinished = [
        {"key": "q1", "text": "", "kind": "yes_no"},
        {"key": "q2", "text": "", "kind": "choice", "options": []},
    ]
    files.store(survey, drafts.content(survey) | {"questions": unfinished, "title": ""})
    assert dial.figures(survey, 1000)["dots"] == 88
    files.store(survey, drafts.content(survey) | {"questions": [], "blocks": []})
    assert "problem" in dial.figures(survey, 1000)


class TestEveryKind:
    """One question of each kind, with what its author should know before choosing."""

    @pytest.fixture
    def found(self) -> dict[str, Any]:
        questions = [
            {"key": "ill", "text": "?", "kind": "number", "least": 0, "most": 60, "unit": "days"},
            {"key": "mood", "text": "?", "kind": "scale", "options": [*"abc"],
             "scores": [0, 5, 10]},
            {"key": "which", "text": "?", "kind": "several", "options": [*"abcdef"], "picks": 2},
            {"key": "hurt", "text": "?", "kind": "yes_no"},
            {"key": "who", "text": "?", "kind": "choice", "options": [*"abcd"],
             "only_if": {"question": "hurt", "options": ["yes"]}},
            {"key": "often", "text": "?", "kind": "scale", "options": [*"abc"],
             "only_if": {"question": "hurt", "options": ["yes"]}},
        ]  # fmt: skip
        keys = [one["key"] for one in questions]
        blocks = [["ill"], ["mood"], ["which"], ["hurt", "who"], ["hurt", "often"]]
        shown = figures(people=5000, questions=questions, blocks=blocks, ask=1)["questions"]
        return dict(zip(keys, shown, strict=True))

    def test_errors_have_the_unit_of_the_question(self, found: dict[str, Any]) -> None:
        design = Survey.objects.get().draft_design()
        reports = 5000 // len(design.sensitive_blocks)
        days = 60 * planning.half_width_of_mean(reports, 2.0)
        assert found["ill"]["error"] == f"±\u202f{days:.1f} days"
        for key in ("mood", "which", "hurt", "who", "often"):
            assert found[key]["error"].endswith(" points")

    def test_the_average_of_a_number_is_compared_with_its_distribution(
        self, found: dict[str, Any]
    ) -> None:
        (text,) = found["ill"]["more"]
        design = Survey.objects.get().draft_design()
        channel = Channel(*Cells.for_epsilon(2.0, [Shape(5)]).channel(0))
        width = planning.half_width(5000 // len(design.sensitive_blocks), channel)
        assert text == (
            "This gives the average. A scale of 5 bins would give the distribution, with "
            f"±\u202f{100 * width:.1f} points for each bin."
        )

    def test_the_number_of_picks_has_its_price(self, found: dict[str, Any]) -> None:
        (text,) = found["which"]["more"]
        names = re.findall(r"(one pick|up to \d|all that apply) ±\u202f([\d.]+) points", text)
        assert [name for name, _ in names] == ["one pick", "up to 2", "up to 3", "all that apply"]
        errors = [float(error) for _, error in names]
        assert errors == sorted(errors) and errors[0] < errors[-1]
        assert found["which"]["error"] == f"±\u202f{names[1][1]} points"

    def test_a_scale_has_a_mean_score(self, found: dict[str, Any]) -> None:
        assert re.fullmatch(r"Mean score: ±\u202f0\.\d\d\.", found["mood"]["more"][0])

    def test_follow_ups_are_less_precise_among_those_concerned(self, found: dict[str, Any]) -> None:
        (text,) = found["who"]["more"]
        error = re.fullmatch(
            r"Among those concerned: ±\u202f([\d.]+) points if 20\u202f% are concerned\.", text
        )
        assert error
        everybody = float(found["who"]["error"].removeprefix("±\u202f").removesuffix(" points"))
        assert float(error[1]) > 3 * everybody
        mean, shares = found["often"]["more"]
        assert mean.startswith("Mean score: ±") and shares.startswith("Among those concerned: ±")

    def test_a_gate_says_what_its_follow_ups_cost(self, found: dict[str, Any]) -> None:
        gate = found["hurt"]
        assert len(gate["blocks"]) == 2 and gate["block"] == gate["blocks"][0]
        (text,) = gate["more"]
        factor = re.fullmatch(r"These 2 follow-ups need ([\d.]+) times as many people\.", text)
        assert factor and 1 < float(factor[1]) < 5

    def test_without_people_there_are_no_errors(self, found: dict[str, Any]) -> None:
        shown = dial.figures(Survey.objects.get(), 0)["questions"]
        assert [one["error"] for one in shown] == ["–"] * 6


def test_follow_ups_cost_as_many_people_as_the_planner_needs() -> None:
    questions = [
        {"key": "hurt", "text": "?", "kind": "yes_no"},
        {"key": "who", "text": "?", "kind": "choice", "options": [*"abcd"],
         "only_if": {"question": "hurt", "options": ["yes"]}},
        *TEN[:3],
    ]  # fmt: skip
    design = builders.draft(questions=questions, blocks=[], background=[]).draft_design()
    needed = [
        solve("people", Terms(read(text), 2.0, 1, 0.02)).people
        for text in ("yes/no [choice of 4], 3 yes/no", "4 yes/no")
    ]
    factor = precision.cost_of_follow_ups(design, "hurt")
    assert factor == pytest.approx(needed[0] / needed[1], rel=1e-3)


@pytest.mark.measured
def test_figures_for_thirty_mixed_questions_take_less_than_a_tenth_of_a_second() -> None:
    """At an ε that nobody has asked for yet: about 65 ms of one core."""
    questions = read(
        "8 yes/no, 4 choice of 4, 5 scale of 5, 4 number 0 to 60, 3 of 10 pick 3, "
        "2 yes/no [choice of 4, scale of 3]"
    )
    took = []
    for epsilon in (2.13, 1.37, 3.21):
        start = time.process_time()
        design = designs.build(epsilon, questions)
        assert [dial.of_question(design, one.key, 5000) for one in questions]
        took.append(time.process_time() - start)
    assert min(took) < 0.1


@pytest.mark.measured
def test_figures_for_a_hundred_questions_come_quickly() -> None:
    """100 questions of twenty kinds, at an ε that nobody has asked for yet: about half a second."""
    sizes = [2 + i % 19 for i in range(100)]
    questions = [
        {"key": f"q{i}", "text": "?", "kind": "choice", "options": [str(j) for j in range(size)]}
        for i, size in enumerate(sizes)
    ]
    survey = builders.draft(questions=questions, blocks=[], background=[])
    client = builders.client(builders.olga(survey))
    answer = client.get("/studio/small/draft/").json()
    took = []
    for epsilon in (3.21, 2.17, 1.39):
        document = answer["document"] | {"epsilon": epsilon}
        body = json.dumps({"number": answer["number"], "document": document})
        start = time.process_time()
        response = client.post("/studio/small/draft/", body, content_type="application/json")
        took.append(time.process_time() - start)
        assert response.status_code == 200 and "questions" in response.json()["figures"]
        answer["number"] = response.json()["number"]
    assert min(took) < 0.8
