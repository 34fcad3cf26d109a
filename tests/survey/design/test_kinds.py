"""Kinds of questions: what an author may write, and what the design makes of it."""

import json
import math
from itertools import product
from typing import Any

import pytest

from survey.design import DECLINED, KINDS, Design, DesignError, Option, Question, build
from survey.design.kinds.number import Number, added_variance
from survey.design.kinds.scale import Scale
from survey.design.kinds.several import Several
from survey.design.kinds.yes_no import YesNo
from survey.design.mechanism import SCALE
from survey.design.questions import options_from_texts

YES = ("gate", ("yes",))
SAYS = Option(DECLINED, "Prefer not to say")


def texts(count: int) -> list[str]:
    return [f"Option {i}" for i in range(1, count + 1)]


def options(count: int) -> tuple[Option, ...]:
    return options_from_texts(texts(count))


def gate() -> YesNo:
    return YesNo("gate", "Did you?", options_from_texts(["No", "Yes"]))


EVERY: list[Question] = [
    gate(),
    KINDS["choice"]("who", "Who?", options(3), YES, shuffled=True),
    Scale.make("often", "How often?", (*options(3), SAYS), {"scores": [0, 1, 4]}),
    Number("days", "How many days?", (SAYS,), YES, least=0, most=60, unit="days"),
    Several("which", "Which?", options(4), picks=2),
]


def test_every_kind_is_registered_under_its_name() -> None:
    assert list(KINDS) == ["yes_no", "choice", "scale", "number", "several"]
    assert all(kind.kind == name and kind.label for name, kind in KINDS.items())


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.kind)
def test_a_question_of_each_kind_survives_the_canonical_form(question: Question) -> None:
    asked = [gate(), question] if question.only_if else [question]
    design = build(2.0, asked)
    again = Design.from_json(design.canonical)
    assert again == design
    assert type(again.questions[-1]) is type(question)


def test_the_definition_has_the_members_of_the_protocol() -> None:
    found = {question.key: question.as_json() for question in build(2.0, EVERY).questions}
    assert found["often"]["options"][2] == {"key": "option-3", "text": "Option 3", "score": 4.0}
    assert "score" not in found["often"]["options"][3]
    days = {name: found["days"][name] for name in ("least", "most", "unit", "levels", "only_if")}
    assert days == {
        "least": 0, "most": 60, "unit": "days", "levels": 2,
        "only_if": {"question": "gate", "options": ["yes"]},
    }  # fmt: skip
    assert found["which"]["picks"] == 2 and found["who"]["shuffled"] is True
    assert "shuffled" not in found["days"]


# --- What an author may write ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "own", "details", "message"),
    [
        ("number", 0, {"most": 5}, "least: is missing"),
        ("number", 0, {"least": 0, "most": None}, "most: is missing"),
        ("number", 0, {"least": 5, "most": 5}, "most: must be above the least number, 5, not 5"),
        ("number", 0, {"least": 9, "most": 5}, "most: must be above"),
        ("number", 0, {"least": 0.5, "most": 5}, "least: must be a whole number"),
        ("number", 0, {"least": True, "most": 5}, "least: must be a whole number"),
        ("number", 0, {"least": 0, "most": 2**31 + 1}, "most: must be within"),
        ("number", 0, {"least": 0, "most": 5, "unit": 3}, "unit: must be a text"),
        ("number", 0, {"least": 0, "most": 5, "unit": "x" * 31}, "unit: at most 30 characters"),
        ("number", 0, {"least": 0, "most": 5, "unit": "\u202e"}, "unit: contains the character"),
        ("number", 0, {"least": 0, "most": 5, "picks": 1}, "picks: a number question does not"),
        ("scale", 3, {"scores": [1, 2]}, "scores: give one score per option: 3, not 2"),
        ("scale", 3, {"scores": [1, 3, 2]}, "scores: each must be above the one before"),
        ("scale", 3, {"scores": [1, 1, 2]}, "scores: each must be above the one before"),
        ("scale", 3, {"scores": [1, "2", 3]}, "scores: each must be a number"),
        ("scale", 3, {"scores": [1, math.inf, 3]}, "scores: each must be a number"),
        ("scale", 3, {"scores": [1, math.nan, 3]}, "scores: each must be a number"),
        ("scale", 3, {"scores": "1 2 3"}, "scores: must be a list of numbers"),
        ("several", 3, {}, "picks: is missing"),
        ("several", 3, {"picks": 0}, "picks: must be from 1 to 3"),
        ("several", 3, {"picks": 4}, "picks: must be from 1 to 3, the number of options, not 4"),
        ("several", 3, {"picks": True}, "picks: must be a whole number"),
        ("choice", 3, {"picks": 1}, "picks: a choice question does not have this"),
    ],
)
def test_wrong_fields_are_refused_by_name(
    kind: str, own: int, details: dict[str, Any], message: str
) -> None:
    with pytest.raises(DesignError) as refusal:
        KINDS[kind].check_details(texts(own), details, "questions[0].")
    assert str(refusal.value).startswith(f"questions[0].{message}")


@pytest.mark.parametrize(
    ("kind", "own", "details"),
    [
        ("number", 0, {"least": -5, "most": 5}),
        ("number", 0, {"least": 0, "most": 1, "unit": ""}),
        ("scale", 3, {}),
        ("scale", 3, {"scores": [5, 0.5, -1]}),
        ("several", 3, {"picks": 3}),
    ],
)
def test_right_fields_are_accepted(kind: str, own: int, details: dict[str, Any]) -> None:
    KINDS[kind].check_details(texts(own), details)


def test_a_scale_counts_from_1_unless_its_author_gives_scores() -> None:
    scale = Scale.make("q", "?", (*options(3), SAYS), {})
    assert [option.score for option in scale.options] == [1.0, 2.0, 3.0, None]


def test_multiple_choice_cannot_be_a_follow_up() -> None:
    with pytest.raises(DesignError, match="cannot be a follow-up"):
        Several("q", "?", options(3), YES, picks=1)


@pytest.mark.parametrize(
    ("asked", "where", "what"),
    [
        ([KINDS["choice"]("q", "?", options(2), YES)], "q.only_if", "there is no question 'gate'"),
        (
            [KINDS["choice"]("q", "?", options(2), YES), gate()],
            "q.only_if",
            "'gate' must come before",
        ),
        ([KINDS["choice"]("q", "?", options(2), ("q", ("yes",)))], "q.only_if", "must come before"),
        (
            [gate(), KINDS["choice"]("q", "?", options(2), ("gate", ("maybe",)))],
            "q.only_if",
            "'gate' has no option 'maybe'; it has no, yes",
        ),
        (
            [gate(), KINDS["choice"]("q", "?", options(2), ("gate", ()))],
            "q.only_if",
            "name at least one option",
        ),
        (
            [
                Number("n", "?", least=0, most=5),
                KINDS["choice"]("q", "?", options(2), ("n", ("yes",))),
            ],
            "q.only_if",
            "'n' is a number question, which decides nothing",
        ),
        (
            [
                Several("s", "?", options(3), picks=1),
                KINDS["choice"]("q", "?", options(2), ("s", ("option-1",))),
            ],
            "q.only_if",
            "'s' is a several question",
        ),
    ],
)
def test_a_follow_up_depends_on_options_of_an_earlier_question(
    asked: list[Question], where: str, what: str
) -> None:
    with pytest.raises(DesignError) as refusal:
        build(2.0, asked)
    assert refusal.value.where == f"questions {where}"
    assert what in refusal.value.what


# --- How many levels a number has -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "levels", "variance"),
    [
        (0.5, 1, 16.671), (1, 1, 4.683), (1.5, 2, 1.936), (2, 2, 1.000), (3, 3, 0.388),
        (4, 4, 0.1767),
    ],
)  # fmt: skip
def test_a_number_has_the_levels_that_add_the_least_variance(
    epsilon: float, levels: int, variance: float
) -> None:
    design = build(epsilon, [Number("q", "?", least=0, most=1000)])
    (question,) = design.questions
    assert isinstance(question, Number) and question.levels == levels
    kept = design.blocks[0].keep / SCALE
    assert added_variance(levels, kept) == pytest.approx(variance, abs=6e-4 * max(1, variance))


@pytest.mark.parametrize(
    ("levels", "until"), [(1, math.log(3)), (2, 2.534), (3, 3.473), (4, 4.188)]
)
def test_the_number_of_levels_grows_with_epsilon(levels: int, until: float) -> None:
    for epsilon, expected in ((until - 0.001, levels), (until + 0.001, levels + 1)):
        (question,) = build(epsilon, [Number("q", "?", least=0, most=1000)]).questions
        assert isinstance(question, Number) and question.levels == expected


def test_a_number_has_no_more_levels_than_numbers() -> None:
    (question,) = build(8.0, [Number("q", "?", least=3, most=5)]).questions
    assert isinstance(question, Number) and question.levels == 2


def test_a_number_beside_other_questions_has_fewer_levels() -> None:
    beside = build(
        3.0,
        [Number("q", "?", least=0, most=1000), KINDS["choice"]("c", "?", options(4))],
        blocks=[["q", "c"]],
    )
    number = beside.questions[0]
    assert isinstance(number, Number) and number.levels < 3


# --- What is estimated ----------------------------------------------------------------------------


def measured(question: Question) -> list[tuple[str, str]]:
    return [(measure.name, measure.option) for measure in question.measures()]


def test_each_kind_says_what_is_estimated() -> None:
    yes_no, who, often, days, which = EVERY
    assert measured(yes_no) == [("share", "no"), ("share", "yes")]
    names = ["option-1", "option-2", "option-3"]
    concerned = [("share_of_concerned", name) for name in names]
    assert measured(who) == [*(("share", name) for name in names), *concerned]
    assert measured(often) == [*(("share", name) for name in (*names, DECLINED)), ("mean", "")]
    declined = [("share", DECLINED), ("share_of_concerned", DECLINED)]
    assert measured(days) == [("mean", ""), *declined]
    assert measured(which)[-1] == ("picks", "") and len(measured(which)) == 5


@pytest.mark.parametrize(
    "question",
    [*EVERY, Several("declined", "Which?", (*options(3), SAYS), picks=2)],
    ids=lambda question: question.key,
)
def test_the_weights_of_a_measure_say_what_it_is(question: Question) -> None:
    """For every value, with all people alike: each measure is that of one person."""
    for measure, value in product(question.measures(), range(question.values)):
        assert len(measure.weights) == question.values
        slots = getattr(question, "picks", 0) or 1
        weight = measure.weights[value] / slots
        none = value == question.size
        if isinstance(question, Number) and measure.name == "mean":
            expected = question.level(value) if value <= question.levels else 0.0
        elif measure.name == "mean":
            expected = 0.0 if none else question.options[value].score or 0.0
        elif measure.name == "picks":
            expected = float(not none and question.options[value].key != DECLINED)
        else:
            first = question.size - len(question.options)
            expected = float(first <= value < question.size
                             and question.options[value - first].key == measure.option)  # fmt: skip
        assert weight == expected
        if measure.name == "share_of_concerned":
            assert measure.among is not None and measure.among[value] == float(not none)


def test_the_members_of_every_kind_are_in_its_json() -> None:
    for question in EVERY:
        data = json.loads(json.dumps(question.as_json()))
        assert set(type(question).members) <= data.keys() | {"unit"}
