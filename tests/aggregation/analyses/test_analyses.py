"""Tables, regression, profiles, weights: what may be asked, and the figures from reports."""

import json
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from aggregation.analyses import registry
from aggregation.analyses.base import Analysis, AnalysisError, sizes
from aggregation.statistics import joint, proportion
from survey import design as designs
from survey.design import Background, Option, Question
from survey.design.kinds.choice import Choice


def question(key: str, *options: str) -> Question:
    return Choice(key, key, tuple(Option(name, name) for name in options or ("no", "yes")))


DECLINED = "prefer-not-to-say"
# q1 and q2 share a coin, the others have their own; everyone is asked everything.
DESIGN = designs.build(
    9.0,
    [question("q1"), question("q2"), question("q3"), question("q4", "a", "b", "c")],
    [
        Background(question("age", "young", "old", DECLINED), 3.0),
        Background(question("place", "town", "village", "farm", DECLINED), 4.0),
    ],
    [["q1", "q2"], ["q3"], ["q4"]],
    3,
)
KEEP = {question.key: block.keep / 2**32 for block in DESIGN.blocks for question in block.questions}


def read(**asked: Any) -> Analysis:
    return registry.read(asked, DESIGN)


def figures(asked: dict[str, Any], table: Any) -> Any:
    """Return results as the API returns them."""
    analysis = registry.read(asked, DESIGN)
    found = registry.figures(analysis, DESIGN, [np.asarray(table, dtype=np.int64)])
    return json.loads(json.dumps(found, allow_nan=False))


def weighting(key: str, table: Any, **population: Any) -> Any:
    """Return the results for one question; the others have equal answers in every group."""
    analysis = read(kind="weights", **population)
    tables = [
        table if axes[0] == key else np.stack([table.sum(axis=0)] * sizes(axes, DESIGN)[0])
        for axes in analysis.tables()
    ]
    found = json.loads(json.dumps(registry.figures(analysis, DESIGN, tables), allow_nan=False))
    return next(found | one for one in found["questions"] if one["question"] == key)


def reported(truth: Any, *keys: str, people: float = 1e9) -> Any:
    """Return reports without sampling error; each question has its own coin."""
    rates = np.array(truth, dtype=float)
    for axis, key in enumerate(keys):
        keep, size = KEEP[key], rates.shape[axis]
        rates = keep * rates + (1 - keep) / size * rates.sum(axis=axis, keepdims=True)
    return np.rint(people * rates / rates.sum()).astype(np.int64)


def by_age(share: dict[int, float], sizes: list[float]) -> Any:
    """Return true shares of yes and no by the groups of a background question."""
    yes = np.array([share.get(i, 0.5) for i in range(len(sizes))])
    return np.stack([(1 - yes) * sizes, yes * sizes])


AGES = {"young": 0.4, "old": 0.6}
BAD: dict[str, tuple[Any, str]] = {
    "no object": ([], "analysis"),
    "no kind": ({}, "kind"),
    "kind unknown": ({"kind": "magic"}, "kind"),
    "kind a list": ({"kind": ["crosstab"]}, "kind"),
    "no questions": ({"kind": "crosstab"}, "questions"),
    "one question": ({"kind": "crosstab", "questions": ["q1"]}, "questions"),
    "one text": ({"kind": "crosstab", "questions": "q1"}, "questions"),
    "unknown question": ({"kind": "crosstab", "questions": ["q1", "q9"]}, "questions"),
    "twice": ({"kind": "crosstab", "questions": ["q1", "q1"]}, "questions"),
    "something else": ({"kind": "crosstab", "questions": ["q1", "q2"], "level": 1}, "level"),
    "no outcome": ({"kind": "regression", "predictors": [{"question": "age"}]}, "outcome"),
    "outcome a list": (
        {"kind": "regression", "outcome": ["q1"], "predictors": [{"question": "age"}]}, "outcome",
    ),
    "no predictor": ({"kind": "regression", "outcome": "q1"}, "predictors"),
    "no option": (
        {"kind": "regression", "outcome": "q4", "predictors": [{"question": "age"}]}, "option",
    ),
    "option of another": (
        {"kind": "regression", "outcome": "q4", "option": "yes",
         "predictors": [{"question": "age"}]}, "option",
    ),
    "predictors a text": (
        {"kind": "regression", "outcome": "q1", "predictors": "q2"}, "predictors",
    ),
    "predictors of keys": (
        {"kind": "regression", "outcome": "q1", "predictors": ["q2"]}, "predictors",
    ),
    "a predictor of more": (
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q2", "level": 1}]},
        "predictors",
    ),
    "a predictor unknown": (
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q9"}]}, "predictors",
    ),
    "an option of another predictor": (
        {"kind": "regression", "outcome": "q1",
         "predictors": [{"question": "q4", "option": "yes"}]}, "predictors",
    ),
    "by itself": (
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q1"}]}, "predictors",
    ),
    "a predictor twice": (
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q2"}] * 2},
        "predictors",
    ),
    "every option": (
        {"kind": "regression", "outcome": "q1", "predictors": [
            {"question": "q2", "option": "no"}, {"question": "q2", "option": "yes"}]},
        "predictors",
    ),
    "five predictors": (
        {"kind": "regression", "outcome": "q1", "predictors": [
            {"question": key} for key in ("q2", "q3", "q4", "age", "place")]},
        "predictors",
    ),
    "classes a text": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": "2"}, "classes"),
    "classes true": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": True}, "classes"),
    "no margins": ({"kind": "weights"}, "margins"),
    "margins and cells": (
        {"kind": "weights", "margins": {"age": AGES}, "cells": []}, "margins",
    ),
    "margins of nothing": ({"kind": "weights", "margins": {}}, "margins"),
    "margins a list": ({"kind": "weights", "margins": [1]}, "margins"),
    "unknown by": (
        {"kind": "weights", "margins": {"town": {"x": 1}}}, "margins",
    ),
    "a share of those who decline": (
        {"kind": "weights", "margins": {"age": AGES | {DECLINED: 0.1}}},
        "margins",
    ),
    "group missing": (
        {"kind": "weights", "margins": {"age": {"old": 1}}}, "margins",
    ),
    "a share a text": (
        {"kind": "weights", "margins": {"age": AGES | {"old": "1"}}}, "margins",
    ),
    "a share true": (
        {"kind": "weights", "margins": {"age": AGES | {"old": True}}}, "margins",
    ),
    "a share below 0": (
        {"kind": "weights", "margins": {"age": AGES | {"old": -1}}}, "margins",
    ),
    "a share without end": (
        {"kind": "weights", "margins": {"age": AGES | {"old": 1e300}}}, "margins",
    ),
    "shares of nobody": (
        {"kind": "weights", "margins": {"age": {"young": 0, "old": 0}}},
        "margins",
    ),
    "no cells": ({"kind": "weights", "cells": []}, "cells"),
    "a cell without groups": (
        {"kind": "weights", "cells": [{"share": 1}]}, "cells",
    ),
    "a cell of other questions": (
        {"kind": "weights", "cells": [
            {"groups": {"age": "old"}, "share": 1}, {"groups": {"place": "farm"}, "share": 1},
        ]}, "cells",
    ),
    "a cell of those who decline": (
        {"kind": "weights", "cells": [
            {"groups": {"age": key}, "share": 1} for key in ("young", "old", DECLINED)]}, "cells",
    ),
    "a cell missing": (
        {"kind": "weights", "cells": [{"groups": {"age": "old"}, "share": 1}]},
        "cells",
    ),
    "a cell twice": (
        {"kind": "weights", "cells": [{"groups": {"age": "old"}, "share": 1}] * 2}, "cells",
    ),
    "weights of one": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES}}, "question",
    ),
    "every question weighted by": (
        {"kind": "weights", "margins": {
            one.key: {option.key: 1 for option in one.options if option.key != DECLINED}
            for one in DESIGN.questions}}, "margins",
    ),
    "too many classes": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": 99}, "classes"),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "where"), BAD.values(), ids=BAD.keys())
def test_a_bad_request_is_refused_with_its_place(asked: Any, where: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        registry.read(asked, DESIGN)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")


def test_a_table_that_is_too_large_is_refused() -> None:
    keys = [f"q{i}" for i in range(7)]
    questions = [question(key, *"abcdefgh") for key in keys]
    many = designs.build(2.0, questions, (), [[key] for key in keys], 7)
    with pytest.raises(AnalysisError, match="2,097,152 cells"):
        registry.read({"kind": "profiles", "questions": keys}, many)
    predictors = [{"question": key} for key in keys[1:5]]
    asked = {"kind": "regression", "outcome": "q0", "option": "a", "predictors": predictors}
    with pytest.raises(AnalysisError, match="8,192 combinations of answers; at most 1,024"):
        registry.read(asked, many)


def test_tables_that_are_too_large_together_are_refused() -> None:
    questions = [question(f"q{i}", *"abcdefgh") for i in range(22)]
    many = designs.build(2.0, questions, (), [[one.key] for one in questions], 22)
    margins = {f"q{i}": dict.fromkeys("abcdefgh", 1) for i in range(5)}
    with pytest.raises(AnalysisError, match="^questions: tables of 4,456,448 cells; at most"):
        registry.read({"kind": "weights", "margins": margins}, many)


def test_the_same_question_has_the_same_digest_in_any_order() -> None:
    first = {"kind": "crosstab", "questions": ["q1", "q2"]}
    again = {"questions": ["q1", "q2"], "kind": "crosstab"}
    other = first | {"questions": ["q2", "q1"]}
    assert registry.digest(first) == registry.digest(again) != registry.digest(other)


def test_axes_are_questions_whether_background_or_not() -> None:
    analysis = read(kind="regression", outcome="q1", predictors=[{"question": "age"}])
    assert analysis.tables() == [("q1", "age")]
    assert sizes(("q1", "age"), DESIGN) == [2, 3]
    weights = read(kind="weights", margins={"place": TOWN, "age": AGES})
    assert weights.tables() == [(key, "age", "place") for key in ("q1", "q2", "q3", "q4")]


def test_a_table_within_a_block_uses_the_blocks_coin() -> None:
    table = [[410, 190], [230, 170]]
    asked = {"kind": "crosstab", "questions": ["q1", "q2"]}
    found = figures(asked, table)
    keep = KEEP["q1"]
    assert found["n"] == 1000 and found["counts"] == table
    # theta = (f - (1 - c)/4)/c, by hand
    by_hand = (np.array(table) / 1000 - (1 - keep) / 4) / keep
    assert np.allclose(found["estimates"], by_hand, rtol=1e-12)
    assert found["independence"]["g2"] is None  # not valid within a block
    assert found["association"]["phi"]["interval"]["level"] == 0.95


def test_a_table_across_blocks_uses_a_coin_each() -> None:
    table = [[410, 190], [230, 170]]
    found = figures({"kind": "crosstab", "questions": ["q1", "q3"]}, table)
    channels = [proportion.Channel(*DESIGN.blocks[i].mechanism.channel(0)) for i in (0, 1)]
    theta, covariance = joint.cells_for_channels(np.array(table), channels)
    assert np.allclose(found["estimates"], theta, rtol=1e-9)
    assert np.allclose(found["standard_errors"], covariance.standard_errors, rtol=1e-9)
    assert found["independence"]["g2"]["statistic"] > 0
    assert found["independence"]["p_value"] == found["independence"]["g2"]["p_value"]


def test_a_table_by_a_background_question_finds_the_true_shares() -> None:
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.3}, [0.5, 0.4, 0.1])
    asked = {"kind": "crosstab", "questions": ["q3", "age"]}
    found = figures(asked, reported(truth, "q3", "age"))
    assert np.allclose(found["estimates"], truth, atol=1e-6)
    assert np.allclose(found["conditional"]["q3"]["estimates"][1], [0.2, 0.6, 0.3], atol=1e-6)


def test_a_table_that_nobody_is_in_has_no_figures() -> None:
    with pytest.raises(AnalysisError, match="nobody has been asked all of these"):
        figures({"kind": "crosstab", "questions": ["q1", "q3"]}, [[0, 0], [0, 0]])
    assert figures({"kind": "crosstab", "questions": ["q1", "q3"]}, [[1, 0], [0, 0]])["n"] == 1


AGE = [{"question": "age"}]


def test_a_regression_on_a_background_question_finds_the_true_odds() -> None:
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.3}, [0.5, 0.4, 0.1])
    asked = {"kind": "regression", "outcome": "q3", "predictors": AGE}
    found = figures(asked, reported(truth, "q3", "age"))
    assert found["converged"] and not found["separated"]
    odds = np.log(np.array([0.2, 0.6, 0.3]) / np.array([0.8, 0.4, 0.7]))
    expected = [odds[0], odds[1] - odds[0], odds[2] - odds[0]]
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(expected, abs=1e-4)
    assert found["terms"][0].keys() >= {"intercept"}
    old = {"question": "age", "option": "old", "against": "young"}
    assert found["terms"][1].items() >= old.items()
    assert found["terms"][2]["option"] == DECLINED
    low, high = found["terms"][1]["interval"]["low"], found["terms"][1]["interval"]["high"]
    assert low < found["terms"][1]["estimate"] < high


def test_one_option_is_compared_with_all_others_together() -> None:
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.3}, [0.5, 0.4, 0.1])
    asked = {"kind": "regression", "outcome": "q3",
             "predictors": [{"question": "age", "option": "old"}]}  # fmt: skip
    found = figures(asked, reported(truth, "q3", "age"))
    others = (0.5 * 0.2 + 0.1 * 0.3) / 0.6
    expected = [np.log(others / (1 - others)), np.log(0.6 / 0.4) - np.log(others / (1 - others))]
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(expected, abs=1e-4)
    assert found["terms"][1]["against"] is None


def test_a_regression_can_explain_one_option_of_a_choice() -> None:
    truth = np.array([[0.2, 0.1, 0.05], [0.1, 0.2, 0.1], [0.1, 0.1, 0.05]])  # [q4][age]
    asked = {"kind": "regression", "outcome": "q4", "option": "b", "predictors": AGE}
    found = figures(asked, reported(truth, "q4", "age"))
    odds = np.log(truth[1] / (truth[0] + truth[2]))
    expected = [odds[0], odds[1] - odds[0], odds[2] - odds[0]]
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(expected, abs=1e-4)
    assert found["outcome"] == {"question": "q4", "option": "b"}


def test_a_regression_on_another_question_finds_the_true_odds() -> None:
    truth = np.array([[0.4, 0.1], [0.2, 0.3]])  # [q1][q3]
    reports = reported(truth, "q1", "q3")
    asked = {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q3"}]}
    intercept, slope = (term["estimate"] for term in figures(asked, reports)["terms"])
    assert intercept == pytest.approx(np.log(0.2 / 0.4), abs=1e-4)
    assert slope == pytest.approx(np.log(0.3 / 0.1) - np.log(0.2 / 0.4), abs=1e-4)


def test_a_regression_on_several_questions_finds_the_true_odds() -> None:
    """Reports have no sampling error; q1 and q2 share a coin, q3 and q4 have one each."""
    keep = [block.keep / 2**32 for block in DESIGN.blocks]
    log_odds = {"intercept": -0.6, "q2": 0.8, "b": -0.7, "c": 0.5}
    truth = np.zeros((2, 2, 3))  # [q1][q2][q4]
    for second, (fourth, one) in product((0, 1), zip(range(3), "abc", strict=True)):
        eta = -0.6 + 0.8 * second + log_odds.get(one, 0.0)
        both = (0.65, 0.35)[second] * (0.3, 0.5, 0.2)[fourth] * (1.3 if second and fourth else 1)
        truth[:, second, fourth] = both * np.array([1, np.exp(eta)]) / (1 + np.exp(eta))
    truth /= truth.sum()
    rates = keep[0] * truth + (1 - keep[0]) / 4 * truth.sum(axis=(0, 1), keepdims=True)
    rates = keep[2] * rates + (1 - keep[2]) / 3 * rates.sum(axis=2, keepdims=True)
    predictors = [{"question": "q2"}, {"question": "q4"}]
    asked = {"kind": "regression", "outcome": "q1", "predictors": predictors}
    found = figures(asked, np.rint(1e9 * rates).astype(np.int64))
    assert found["converged"] and not found["separated"] and found["n"] == pytest.approx(1e9)
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx(list(log_odds.values()), abs=1e-3)
    named = [(term["question"], term["option"]) for term in found["terms"][1:]]
    assert named == [("q2", "yes"), ("q4", "b"), ("q4", "c")]


def test_a_coefficient_of_a_group_that_nobody_may_be_in_has_no_figures() -> None:
    """Nobody declines, so that coefficient has no estimate and the others stay valid."""
    truth = by_age({0: 0.2, 1: 0.6}, [0.6, 0.4, 0])
    reports = reported(truth, "q3", "age", people=1e5)
    reports[:, 2] = np.maximum(reports[:, 2] - 300, 0)  # fewer decline than by noise alone
    asked = {"kind": "regression", "outcome": "q3", "predictors": AGE}
    found = figures(asked, reports)
    assert found["separated"] and found["converged"]
    _, old, declined = found["terms"]
    assert old["estimate"] == pytest.approx(np.log(0.6 / 0.4) - np.log(0.2 / 0.8), abs=0.05)
    assert declined["estimate"] is None and declined["standard_error"] is None
    assert declined["p_value"] is None
    assert declined["interval"] == {"level": 0.95, "low": None, "high": None}


def test_profiles_are_found_and_are_the_same_each_time() -> None:
    """Two kinds of people, half each: 0.9 or 0.1 yes, 0.8 or 0.1 in the choice's last option."""
    random = Random(3)
    table = np.zeros((2, 2, 2, 3), dtype=np.int64)
    coins = [DESIGN.blocks[i].keep / 2**32 for i in range(3)]
    for _ in range(20_000):
        kind = random.random() < 0.5
        x = [int(random.random() < (0.9 if kind else 0.1)) for _ in range(3)]
        choice = random.choices(range(3), [0.1, 0.1, 0.8] if kind else [0.8, 0.1, 0.1])[0]
        if random.random() >= coins[0]:
            x[0], x[1] = random.randrange(2), random.randrange(2)
        if random.random() >= coins[1]:
            x[2] = random.randrange(2)
        if random.random() >= coins[2]:
            choice = random.randrange(3)
        table[x[0], x[1], x[2], choice] += 1
    asked = {"kind": "profiles", "questions": ["q1", "q2", "q3", "q4"], "classes": 2}
    found = figures(asked, table)
    assert found == figures(asked, table)
    assert found["n"] == 20_000 and found["converged"]
    assert found["shares"] == pytest.approx([0.5, 0.5], abs=0.03)
    yes = sorted(row[1] for row in found["answers"]["q1"]["probabilities"])
    assert yes == pytest.approx([0.1, 0.9], abs=0.03)
    last = sorted(row[2] for row in found["answers"]["q4"]["probabilities"])
    assert last == pytest.approx([0.1, 0.8], abs=0.03)


# --- Conditional shares ---------------------------------------------------------------------------


def test_conditional_shares_and_errors_agree_with_a_bootstrap() -> None:
    """4000 tables drawn from the one found; a standard deviation of them is known to 1.1 %.

    4 of these are 4.5 %, alpha 1e-4 a cell. Half of the error would be far off.
    """
    table = np.array([[[900, 300], [500, 400]], [[450, 350], [600, 800]]])  # q1, q3, q2
    asked = {"kind": "crosstab", "questions": ["q1", "q3", "q2"]}
    found = figures(asked, table)
    keep = [DESIGN.blocks[i].keep / 2**32 for i in (0, 1)]
    rng = np.random.default_rng(4)
    drawn = rng.multinomial(table.sum(), table.ravel() / table.sum(), size=4000)
    f = drawn.reshape(-1, 2, 2, 2) / table.sum()
    f = (f - (1 - keep[1]) / 2 * f.sum(axis=2, keepdims=True)) / keep[1]  # q3 alone
    f = (f - (1 - keep[0]) / 4 * f.sum(axis=(1, 3), keepdims=True)) / keep[0]  # q1 and q2 together
    for axis, key in enumerate(asked["questions"]):
        shares = f / f.sum(axis=axis + 1, keepdims=True)
        stated = np.array(found["conditional"][key]["standard_errors"])
        assert np.allclose(stated, shares.std(axis=0), rtol=0.045)
        estimates = np.array(found["conditional"][key]["estimates"])
        assert np.allclose(estimates, shares.mean(axis=0), atol=0.01)
        assert np.allclose(estimates.sum(axis=axis), 1)


def test_large_tables_have_no_conditional_shares() -> None:
    keys = [f"q{i}" for i in range(4)]
    questions = [question(key, *"abcdefghi") for key in keys]
    many = designs.build(30.0, questions, (), [[key] for key in keys], 4)
    asked = {"kind": "crosstab", "questions": keys}
    analysis = registry.read(asked, many)
    table = np.random.default_rng(1).integers(0, 9, size=(9,) * 4)
    found = registry.figures(analysis, many, [table])
    assert found["conditional"] is None and len(found["estimates"]) == 9


def test_p_values_of_coefficients_are_those_of_wald() -> None:
    table = [[300, 200, 90], [200, 260, 80]]
    found = figures({"kind": "regression", "outcome": "q3", "predictors": AGE}, table)
    for term in found["terms"]:
        z = term["estimate"] / term["standard_error"]
        assert term["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)


def test_questions_that_are_never_asked_together_are_refused() -> None:
    some = designs.build(
        3.0, [question("q1"), question("q2"), question("q3")], (), [["q1", "q2"], ["q3"]], 1
    )
    registry.read({"kind": "crosstab", "questions": ["q1", "q2"]}, some)
    with pytest.raises(AnalysisError, match="nobody is asked all of these: they are in different"):
        registry.read({"kind": "crosstab", "questions": ["q1", "q3"]}, some)


def test_background_questions_go_with_every_block() -> None:
    some = designs.build(
        3.0,
        [question("q1"), question("q2")],
        [Background(question("age", "young", "old", DECLINED), 3.0)],
        [["q1"], ["q2"]],
        1,
    )
    registry.read({"kind": "crosstab", "questions": ["q1", "age"]}, some)
    margins = {"age": {"young": 1, "old": 1}}
    registry.read({"kind": "weights", "margins": margins}, some)


# --- Weights --------------------------------------------------------------------------------------


TOWN = {"town": 0.5, "village": 0.3, "farm": 0.2}


def test_one_question_is_post_stratified_and_those_who_decline_are_left_out() -> None:
    """A fifth of the young say yes and 0.6 of the old; half of the population is young."""
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.9}, [0.3, 0.6, 0.1])
    margins = {"age": {"young": 7, "old": 7}}
    found = weighting("q3", reported(truth, "q3", "age"), margins=margins)
    yes = found["estimates"][1]
    assert found["method"] == "post-stratified" and found["by"] == ["age"]
    assert found["n"] == pytest.approx(1e9)
    assert yes["weighted"]["estimate"] == pytest.approx((0.2 + 0.6) / 2, abs=1e-6)
    assert yes["raw"]["estimate"] == pytest.approx(0.3 * 0.2 + 0.6 * 0.6 + 0.1 * 0.9, abs=1e-6)
    assert sum(one["weighted"]["estimate"] for one in found["estimates"]) == pytest.approx(1)


def inverses(*keys: str, sizes: tuple[int, ...]) -> list[Any]:
    """Return the matrices that invert each question's coin."""
    pairs = [(KEEP[key], size) for key, size in zip(keys, sizes, strict=True)]
    return [np.linalg.inv(keep * np.eye(size) + (1 - keep) / size) for keep, size in pairs]


def test_weighted_errors_agree_with_a_bootstrap() -> None:
    """4000 tables drawn from the one found; a standard deviation of them is known to 1.1 %.

    4.5 of these are 5 %; half a per cent more is for the linearisation.
    """
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.5}, [0.4, 0.5, 0.1])
    table = reported(truth, "q3", "age", people=4000)
    yes = weighting("q3", table, margins={"age": AGES})["estimates"][1]
    rng = np.random.default_rng(6)
    drawn = rng.multinomial(table.sum(), table.ravel() / table.sum(), size=4000)
    first, second = inverses("q3", "age", sizes=(2, 3))
    theta = np.einsum("ij,njk,lk->nil", first, drawn.reshape(-1, 2, 3), second)
    shares = theta[:, 1] / theta.sum(axis=1)
    values = 0.4 * shares[:, 0] + 0.6 * shares[:, 1]
    weighted = yes["weighted"]
    assert weighted["standard_error"] == pytest.approx(values.std(), rel=0.055)
    assert weighted["interval"]["low"] == pytest.approx(
        weighted["estimate"] - norm.ppf(0.975) * weighted["standard_error"]
    )
    plain = theta[:, 1].sum(axis=1) / theta.sum(axis=(1, 2))
    assert yes["raw"]["standard_error"] == pytest.approx(plain.std(), rel=0.055)
    assert weighted["design_effect"] == pytest.approx(values.var() / plain.var(), rel=0.11)


def test_several_questions_are_raked_to_every_margin() -> None:
    """The reference scales rows and columns of the true table in turn until both are met."""
    rng = np.random.default_rng(8)
    truth = rng.uniform(0.5, 1.5, size=(3, 3, 4))  # q4 by age by place, declines included
    truth[:, 2] *= 0.1
    truth[..., 3] *= 0.1
    truth /= truth.sum()
    table = reported(truth, "q4", "age", "place")
    found = weighting("q4", table, margins={"place": TOWN, "age": AGES})
    assert found["method"] == "raked" and found["by"] == ["age", "place"]
    raked = truth[:, :2, :3].copy()
    for _ in range(200):
        raked *= (np.array([0.4, 0.6]) / raked.sum(axis=(0, 2)))[:, None]
        raked *= np.array([0.5, 0.3, 0.2]) / raked.sum(axis=(0, 1))
    estimates = [one["weighted"]["estimate"] for one in found["estimates"]]
    assert estimates == pytest.approx(raked.sum(axis=(1, 2)), abs=1e-5)


def test_combinations_are_post_stratified_in_any_order() -> None:
    rng = np.random.default_rng(9)
    truth = rng.uniform(0.5, 1.5, size=(2, 3, 4))
    truth /= truth.sum()
    shares = rng.dirichlet(np.ones(6))
    cells = [
        {"groups": {"age": age, "place": town}, "share": float(share)}
        for (age, town), share in zip(product(AGES, TOWN), shares, strict=True)
    ]
    found = weighting("q3", reported(truth, "q3", "age", "place"), cells=cells[::-1])
    expected = shares @ (truth[1] / truth.sum(axis=0))[:2, :3].ravel()
    assert found["method"] == "post-stratified"
    assert found["estimates"][1]["weighted"]["estimate"] == pytest.approx(expected, abs=1e-5)


def test_a_sensitive_question_can_be_weighted_by() -> None:
    truth = np.array([[0.3, 0.1], [0.2, 0.4]])  # [q1][q3]
    margins = {"q3": {"no": 3, "yes": 1}}
    found = weighting("q1", reported(truth, "q1", "q3"), margins=margins)
    expected = 0.75 * 0.4 + 0.25 * 0.8
    assert found["estimates"][1]["weighted"]["estimate"] == pytest.approx(expected, abs=1e-6)


def test_groups_that_the_population_lacks_are_left_out() -> None:
    truth = by_age({0: 0.2, 1: 0.6}, [0.3, 0.6, 0.1])
    margins = {"age": {"young": 1, "old": 0}}
    found = weighting("q3", reported(truth, "q3", "age"), margins=margins)
    assert found["estimates"][1]["weighted"]["estimate"] == pytest.approx(0.2, abs=1e-6)


def test_a_group_that_nobody_may_be_in_is_named() -> None:
    truth = np.full((2, 3, 4), 1.0)
    truth[:, :, 2] = 0  # nobody lives on a farm
    table = reported(truth, "q3", "age", "place", people=2000)
    margins = {"age": AGES, "place": TOWN}
    with pytest.raises(AnalysisError, match="too few responses.* in “farm” of “place”. "):
        weighting("q3", table, margins=margins)
    cells = [
        {"groups": {"age": age, "place": town}, "share": 1} for age, town in product(AGES, TOWN)
    ]
    with pytest.raises(AnalysisError, match="in “young” of “age” and “farm” of “place”. "):
        weighting("q3", table, cells=cells)


def test_margins_that_no_weights_meet_are_refused_in_words() -> None:
    truth = np.zeros((2, 3, 4))
    truth[:, 0, 0] = truth[:, 1, 1] = truth[:, 1, 2] = 1  # the young live in town, the old do not
    table = reported(truth, "q3", "age", "place", people=1e4)
    margins = {"age": {"young": 0.9, "old": 0.1}, "place": TOWN}
    with pytest.raises(AnalysisError, match="no weights meet all of these margins"):
        weighting("q3", table, margins=margins)


def test_a_question_that_cannot_be_weighted_does_not_stop_the_others() -> None:
    """Nobody has been asked q1 yet."""
    analysis = read(kind="weights", margins={"age": AGES})
    truth = by_age({0: 0.2, 1: 0.6, 2: 0.5}, [0.4, 0.5, 0.1])
    tables = [np.zeros(sizes(axes, DESIGN), dtype=np.int64) for axes in analysis.tables()]
    tables[2] = reported(truth, "q3", "age")
    found = registry.figures(analysis, DESIGN, tables)["questions"]
    assert [one["question"] for one in found] == ["q1", "q2", "q3", "q4", "place"]
    assert ["estimates" in one for one in found] == [False, False, True, False, False]
    assert found[0]["error"] == "nobody has been asked all of these questions yet"
    with pytest.raises(AnalysisError, match="^reports: nobody has been asked"):
        registry.figures(analysis, DESIGN, [0 * table for table in tables])
