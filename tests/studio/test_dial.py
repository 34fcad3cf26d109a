"""The figures of the privacy dial, for the expected number of people."""

import json
import time
from typing import Any

import pytest

from aggregation.planner.planned_design import kinds
from aggregation.planner.terms import Terms
from aggregation.statistics.planning import half_width_in_group
from aggregation.statistics.proportion import Channel
from studio import dial, drafts
from survey import files
from survey.design.odds import WEAK
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
        assert found["weak"] is (epsilon > WEAK)
    assert [preset["sure"] for preset in dial.presets(4)] == [62, 73, 88, 95]


def test_margins_of_error_agree_with_the_planner() -> None:
    found = figures(people=1000, questions=TEN, blocks=[], background=[])
    terms = Terms(sizes=(2,) * 10, epsilon=2.0, people=1000, half_width=0.03)
    reach = terms.reach(1000)
    assert reach is not None
    assert found["everybody"] == f"±\u202f{100 * reach:.1f}"
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
        assert one["error"] == f"±\u202f{100 * max(widths):.1f}"
    nobody = dial.figures(Survey.objects.get(), 0)
    assert [one["error"] for one in nobody["by_group"]] == ["–", "–"]


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
