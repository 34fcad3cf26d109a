"""The figures beside the dial: the design's own, for the people one hopes to reach."""

import json
import time
from typing import Any

import pytest

from aggregation import plan
from studio import dial, drafts
from survey import files
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
        assert found["sure"] == {"count": count, "more": False}
        assert found["sure"]["count"] == survey.draft_design().sure
        assert found["weak"] is (epsilon > plan.WEAK)
    assert [preset["sure"] for preset in dial.presets(4)] == [62, 73, 88, 95]


def test_margins_of_error_agree_with_the_planner() -> None:
    found = figures(people=1000, questions=TEN, blocks=[], strata=[])
    terms = plan.Terms(sizes=(2,) * 10, epsilon=2.0, people=1000, half_width=0.03)
    reach = terms.reach(1000)
    assert reach is not None
    assert found["everybody"] == f"±\u202f{100 * reach:.1f}"
    assert {one["error"] for one in found["questions"]} == {found["everybody"]}
    assert found["reports"] == "200" and found["group"] == "" and not found["hidden"]
    assert sorted(one["block"] for one in found["questions"]) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_group_figures_use_the_stratum_with_most_options() -> None:
    strata = [
        {"key": "a", "text": "Two?", "options": ["A", "B"]},
        {"key": "b", "text": "Four?", "options": ["A", "B", "C", "D"]},
    ]
    found = figures(people=400, strata=strata)
    assert found["groups"] == "in one of 4 equal groups of “Four?”"
    alone = dial.figures(builders.draft(slug="alone", strata=[]), 100)
    assert found["group"] == alone["everybody"] and not found["hidden"]
    assert dial.figures(Survey.objects.get(slug="small"), 40)["hidden"]
    assert dial.figures(Survey.objects.get(slug="small"), 1)["group"] == "–"


def test_blocks_are_explained_and_can_be_overruled() -> None:
    chosen = figures(questions=TEN, blocks=[], strata=[])["blocks"]
    assert "in 5 blocks, and chance picks 1 of them for each person" in chosen
    assert "the least error: everything asked of everybody would need" in chosen
    survey = Survey.objects.get()
    document = drafts.content(survey) | {"blocks": [[f"q{i}"] for i in range(10)], "ask": 10}
    files.store(survey, document)
    mine = dial.figures(survey, 1000)["blocks"]
    assert "10 blocks, and everybody is asked all of them. This is your choice; the planner" in mine
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
    assert dial.figures(survey, 1000)["sure"]["count"] == 88
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
    survey = builders.draft(questions=questions, blocks=[])
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
