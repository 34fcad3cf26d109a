"""Tables, regression, profiles, weights: what may be asked, and the figures from reports."""

import json
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from aggregation import analyses
from aggregation.analyses import AnalysisError
from aggregation.statistics import joint, proportion, regression, weights
from survey import design as designs
from survey.design import Option, Question

CROWD = 20


def question(key: str, *options: str) -> Question:
    return Question(key, key, tuple(Option(name, name) for name in options or ("no", "yes")))


# q1 and q2 share a coin, q3 and q4 have their own; everybody is asked everything.
DESIGN = designs.build(
    9.0,
    [question("q1"), question("q2"), question("q3"), question("q4", "a", "b", "c")],
    [question("age", "young", "old"), question("q1", "town", "village", "farm")],
    [["q1", "q2"], ["q3"], ["q4"]],
    3,
)


def read(**asked: Any) -> analyses.Analysis:
    return analyses.read(asked, DESIGN)


def figures(asked: dict[str, Any], table: Any, shown: list[set[int]] | None = None) -> Any:
    """As they would come out of the API."""
    analysis = analyses.read(asked, DESIGN)
    found = analyses.figures(analysis, DESIGN, np.asarray(table, dtype=np.int64), CROWD, shown)
    return json.loads(json.dumps(found, allow_nan=False))


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
    "a stratum as question": ({"kind": "crosstab", "questions": ["q1", "age"]}, "questions"),
    "two strata": (
        {"kind": "crosstab", "questions": ["q1", "q2"], "strata": ["age", "q1"]}, "strata",
    ),
    "something else": ({"kind": "crosstab", "questions": ["q1", "q2"], "level": 1}, "level"),
    "no outcome": ({"kind": "regression", "strata": ["age"]}, "outcome"),
    "outcome a list": ({"kind": "regression", "outcome": ["q1"], "strata": ["age"]}, "outcome"),
    "no predictor": ({"kind": "regression", "outcome": "q1"}, "strata"),
    "no option": ({"kind": "regression", "outcome": "q4", "strata": ["age"]}, "option"),
    "option of another": (
        {"kind": "regression", "outcome": "q4", "option": "yes", "strata": ["age"]}, "option",
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
    "a predictor without option": (
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q4"}]}, "predictors",
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
    "four predictors": (
        {"kind": "regression", "outcome": "q1", "predictors": [
            {"question": "q2"}, {"question": "q3"}, {"question": "q4", "option": "a"},
            {"question": "q4", "option": "b"}]},
        "predictors",
    ),
    "classes a text": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": "2"}, "classes"),
    "classes true": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": True}, "classes"),
    "no margins": ({"kind": "weights", "question": "q1"}, "margins"),
    "margins and cells": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES}, "cells": []}, "margins",
    ),
    "margins of nothing": ({"kind": "weights", "question": "q1", "margins": {}}, "margins"),
    "margins a list": ({"kind": "weights", "question": "q1", "margins": [1]}, "margins"),
    "unknown stratum": (
        {"kind": "weights", "question": "q1", "margins": {"town": {"x": 1}}}, "margins",
    ),
    "group missing": (
        {"kind": "weights", "question": "q1", "margins": {"age": {"old": 1}}}, "margins",
    ),
    "a share a text": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES | {"old": "1"}}}, "margins",
    ),
    "a share true": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES | {"old": True}}}, "margins",
    ),
    "a share below 0": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES | {"old": -1}}}, "margins",
    ),
    "a share without end": (
        {"kind": "weights", "question": "q1", "margins": {"age": AGES | {"old": 1e300}}}, "margins",
    ),
    "shares of nobody": (
        {"kind": "weights", "question": "q1", "margins": {"age": {"young": 0, "old": 0}}},
        "margins",
    ),
    "no cells": ({"kind": "weights", "question": "q1", "cells": []}, "cells"),
    "a cell without groups": (
        {"kind": "weights", "question": "q1", "cells": [{"share": 1}]}, "cells",
    ),
    "a cell of other strata": (
        {"kind": "weights", "question": "q1", "cells": [
            {"groups": {"age": "old"}, "share": 1}, {"groups": {"q1": "farm"}, "share": 1},
        ]}, "cells",
    ),
    "a cell missing": (
        {"kind": "weights", "question": "q1", "cells": [{"groups": {"age": "old"}, "share": 1}]},
        "cells",
    ),
    "a cell twice": (
        {"kind": "weights", "question": "q1",
         "cells": [{"groups": {"age": "old"}, "share": 1}] * 2}, "cells",
    ),
    "weights of two": (
        {"kind": "weights", "question": ["q1", "q2"], "margins": {"age": AGES}}, "question",
    ),
    "weights of nothing": ({"kind": "weights", "margins": {"age": AGES}}, "question"),
    "too many classes": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": 99}, "classes"),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "where"), BAD.values(), ids=BAD.keys())
def test_a_bad_request_is_refused_with_its_place(asked: Any, where: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        analyses.read(asked, DESIGN)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")


def test_a_table_that_is_too_large_is_refused() -> None:
    many = designs.build(
        2.0,
        [question(f"q{i}", *"abcdefgh") for i in range(7)],
        (),
        [[f"q{i}"] for i in range(7)],
        7,
    )
    keys = [f"q{i}" for i in range(7)]
    with pytest.raises(AnalysisError, match="2,097,152 cells"):
        analyses.read({"kind": "profiles", "questions": keys}, many)


def test_the_same_question_has_the_same_digest_in_any_order() -> None:
    first = {"kind": "crosstab", "questions": ["q1", "q2"], "strata": ["age"]}
    again = {"strata": ["age"], "questions": ["q1", "q2"], "kind": "crosstab"}
    other = first | {"questions": ["q2", "q1"]}
    assert analyses.digest(first) == analyses.digest(again) != analyses.digest(other)


def test_axes_are_questions_and_then_strata_even_with_the_same_key() -> None:
    analysis = read(kind="regression", outcome="q1", strata=["q1", "age"])
    axes = analysis.axes(DESIGN)
    assert axes == [("question", "q1"), ("stratum", "q1"), ("stratum", "age")]
    assert analyses.sizes(axes, DESIGN) == [2, 4, 3]


def test_a_table_within_a_block_uses_the_blocks_coin() -> None:
    table = [[410, 190], [230, 170]]
    asked = {"kind": "crosstab", "questions": ["q1", "q2"]}
    (found,) = figures(asked, table)["tables"]
    keep = DESIGN.blocks[0].keep / 2**32
    assert found["n"] == 1000 and found["counts"] == table and found["group"] == {}
    # theta = (f - (1 - c)/4)/c, by hand
    by_hand = (np.array(table) / 1000 - (1 - keep) / 4) / keep
    assert np.allclose(found["estimates"], by_hand, rtol=1e-12)
    assert found["independence"]["g2"] is None  # not valid within a block
    assert found["association"]["phi"]["interval"]["level"] == 0.95


def test_a_table_across_blocks_uses_a_coin_each() -> None:
    table = [[410, 190], [230, 170]]
    (found,) = figures({"kind": "crosstab", "questions": ["q1", "q3"]}, table)["tables"]
    channels = [proportion.Channel(*DESIGN.blocks[i].mechanism.channel(0)) for i in (0, 1)]
    theta, covariance = joint.cells_for_channels(np.array(table), channels)
    assert np.allclose(found["estimates"], theta, rtol=1e-9)
    assert np.allclose(found["standard_errors"], covariance.standard_errors, rtol=1e-9)
    assert found["independence"]["g2"]["statistic"] > 0
    assert found["independence"]["p_value"] == found["independence"]["g2"]["p_value"]


def test_small_groups_are_hidden_and_so_is_the_next_one() -> None:
    """Young 19, old 100, not given 40: the 40 hide as well, or the 19 could be computed."""
    table = np.zeros((2, 2, 3), dtype=np.int64)
    table[0, 0] = [19, 50, 20]
    table[1, 1] = [0, 50, 20]
    found = figures({"kind": "crosstab", "questions": ["q1", "q3"], "strata": ["age"]}, table)
    assert [one["group"] for one in found["tables"]] == [{"age": "old"}]
    assert found["tables"][0]["n"] == 100
    assert found["hidden_groups"] == 2
    # What was not given is a group like the others.
    table[0, 0, 0] = 0
    found = figures({"kind": "crosstab", "questions": ["q1", "q3"], "strata": ["age"]}, table)
    assert [one["group"]["age"] for one in found["tables"]] == ["old", None]
    assert found["hidden_groups"] == 0


def test_below_the_crowd_there_are_no_figures() -> None:
    with pytest.raises(AnalysisError, match="fewer than 20 reports"):
        figures({"kind": "crosstab", "questions": ["q1", "q3"]}, [[10, 3], [3, 3]])


def test_a_regression_on_strata_equals_one_on_rows() -> None:
    rng = np.random.default_rng(5)
    table = rng.integers(60, 400, size=(2, 3))  # outcome by age: young, old, not given
    found = figures({"kind": "regression", "outcome": "q3", "strata": ["age"]}, table)
    X, y = [], []
    for outcome, group in product(range(2), range(3)):
        for _ in range(table[outcome, group]):
            X.append([1, group == 1, group == 2])
            y.append(outcome)
    channel = proportion.Channel(*DESIGN.blocks[1].mechanism.channel(0))
    fit = regression.logistic(np.array(X, dtype=float), y, channel)
    assert found["converged"] and not found["separated"] and found["n"] == table.sum()
    terms = found["terms"]
    assert [term["estimate"] for term in terms] == pytest.approx(fit.coefficients, rel=1e-6)
    assert [term["standard_error"] for term in terms] == pytest.approx(
        fit.standard_errors, rel=1e-6
    )
    assert terms[0].keys() >= {"intercept"}
    assert (terms[1]["stratum"], terms[1]["option"], terms[1]["against"]) == ("age", "old", "young")
    assert terms[2]["option"] is None  # not given
    low, high = terms[1]["interval"]["low"], terms[1]["interval"]["high"]
    assert low < terms[1]["estimate"] < high


def test_a_regression_counts_groups_that_are_not_shown_as_one() -> None:
    """Nobody is left out: a coefficient of fewer beside a table of all would tell the few apart."""
    table = np.array([[100, 90, 7], [60, 110, 5]])
    asked = {"kind": "regression", "outcome": "q3", "strata": ["age"]}
    found = figures(asked, table, shown=[{0}])
    channel = proportion.Channel(*DESIGN.blocks[1].mechanism.channel(0))
    fit = regression.tallies([[1, 0], [1, 1]], [60, 115], [160, 212], channel)
    assert found["n"] == table.sum() and found["hidden_groups"] == 2
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(fit.coefficients)
    rest = {"stratum": "age", "option": None, "rest": True, "against": "young"}
    assert found["terms"][1].items() >= rest.items()


def test_a_regression_can_explain_one_option_of_a_choice() -> None:
    table = np.array([[100, 80, 60], [50, 90, 70], [30, 40, 50]])
    asked = {"kind": "regression", "outcome": "q4", "option": "b", "strata": ["age"]}
    found = figures(asked, table)
    rows = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    channel = proportion.Channel(*DESIGN.blocks[2].mechanism.channel(0))
    fit = regression.tallies(rows, table[1], table.sum(axis=0), channel)
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(fit.coefficients)


def test_a_regression_on_another_question_finds_the_true_odds() -> None:
    """From a table of reports made of known shares without sampling error: it finds them."""
    keep = [DESIGN.blocks[i].keep / 2**32 for i in (0, 1)]
    truth = np.array([[0.4, 0.1], [0.2, 0.3]])  # [q1][q3]
    spread = [c * np.eye(2) + (1 - c) / 2 for c in keep]
    reports = np.rint(1e7 * spread[0] @ truth @ spread[1]).astype(np.int64)
    found = figures(
        {"kind": "regression", "outcome": "q1", "predictors": [{"question": "q3"}]}, reports
    )
    intercept, slope = (term["estimate"] for term in found["terms"])
    assert intercept == pytest.approx(np.log(0.2 / 0.4), abs=1e-3)
    assert slope == pytest.approx(np.log(0.3 / 0.1) - np.log(0.2 / 0.4), abs=1e-3)
    assert found["terms"][1].items() >= {"question": "q3", "option": "yes"}.items()


def test_a_regression_on_several_questions_finds_the_true_odds() -> None:
    """Reports without sampling error: q1 and q2 share a coin, q3 and q4 have one each."""
    keep = [block.keep / 2**32 for block in DESIGN.blocks]
    log_odds = {"intercept": -0.6, "q2": 0.8, "a": -0.7, "c": 0.5}
    truth = np.zeros((2, 2, 3))  # [q1][q2][q4]
    for second, (fourth, one) in product((0, 1), zip(range(3), "abc", strict=True)):
        eta = -0.6 + 0.8 * second + log_odds.get(one, 0.0)
        both = (0.65, 0.35)[second] * (0.3, 0.5, 0.2)[fourth] * (1.3 if second and fourth else 1)
        truth[:, second, fourth] = both * np.array([1, np.exp(eta)]) / (1 + np.exp(eta))
    truth /= truth.sum()
    rates = keep[0] * truth + (1 - keep[0]) / 4 * truth.sum(axis=(0, 1), keepdims=True)
    rates = keep[2] * rates + (1 - keep[2]) / 3 * rates.sum(axis=2, keepdims=True)
    predictors = [{"question": "q2"}, {"question": "q4", "option": "a"},
                  {"question": "q4", "option": "c"}]  # fmt: skip
    asked = {"kind": "regression", "outcome": "q1", "predictors": predictors}
    found = figures(asked, np.rint(1e9 * rates).astype(np.int64))
    assert found["converged"] and not found["separated"] and found["n"] == pytest.approx(1e9)
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx(list(log_odds.values()), abs=1e-3)
    named = [(term["question"], term["option"]) for term in found["terms"][1:]]
    assert named == [("q2", "yes"), ("q4", "a"), ("q4", "c")]


def test_a_regression_without_a_maximum_says_so() -> None:
    table = [[500, 400, 0], [0, 100, 0]]  # young: fewer yes than noise alone gives
    found = figures({"kind": "regression", "outcome": "q3", "strata": ["age"]}, table)
    assert found["separated"] and not found["converged"]
    assert found["terms"][1]["standard_error"] is None
    assert found["terms"][1]["interval"] == {"level": 0.95, "low": None, "high": None}


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
    (found,) = figures(asked, table)["tables"]
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
    analysis = analyses.read(asked, many)
    table = np.random.default_rng(1).integers(0, 9, size=(9,) * 4)
    (found,) = analyses.figures(analysis, many, table, CROWD)["tables"]
    assert found["conditional"] is None and len(found["estimates"]) == 9


def test_p_values_of_coefficients_are_those_of_wald() -> None:
    table = [[300, 200, 0], [200, 260, 0]]
    found = figures({"kind": "regression", "outcome": "q3", "strata": ["age"]}, table)
    from scipy.stats import norm

    for term in found["terms"]:
        z = term["estimate"] / term["standard_error"]
        assert term["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
        assert not term["runaway"]


def test_the_term_that_diverges_is_named() -> None:
    table = [[500, 400, 300], [0, 100, 90]]  # young, the reference: fewer yes than noise gives
    found = figures({"kind": "regression", "outcome": "q3", "strata": ["age"]}, table)
    assert found["separated"] and found["terms"][0]["runaway"]
    table = [[400, 500, 300], [100, 0, 90]]
    found = figures({"kind": "regression", "outcome": "q3", "strata": ["age"]}, table)
    assert [term["runaway"] for term in found["terms"]] == [False, True, False]


def test_questions_that_are_never_asked_together_are_refused() -> None:
    some = designs.build(
        3.0, [question("q1"), question("q2"), question("q3")], (), [["q1", "q2"], ["q3"]], 1
    )
    analyses.read({"kind": "crosstab", "questions": ["q1", "q2"]}, some)
    with pytest.raises(AnalysisError, match="nobody is asked all of these: they are in 2 blocks"):
        analyses.read({"kind": "crosstab", "questions": ["q1", "q3"]}, some)


def test_how_many_are_asked_together_follows_from_the_design() -> None:
    """Of four blocks two are asked: one is asked of half, two together of one in six."""
    some = designs.build(
        3.0, [question(f"q{i}") for i in range(4)], (), [[f"q{i}"] for i in range(4)], 2
    )
    one = analyses.read({"kind": "crosstab", "questions": ["q0", "q1"]}, some)
    assert analyses.asked_together(one, some) == pytest.approx(1 / 6)
    assert analyses.asked_together(read(kind="crosstab", questions=["q1", "q3"]), DESIGN) == 1


# --- Weights --------------------------------------------------------------------------------------


def test_one_stratum_is_post_stratified_as_by_hand() -> None:
    """100 young of whom 60 report yes, 300 old of whom 90 do; half of the population is young."""
    table = np.array([[40, 210, 30], [60, 90, 50]])  # the last 80 did not say, and are left out
    asked = {"kind": "weights", "question": "q3", "margins": {"age": {"young": 1, "old": 1}}}
    found = figures(asked, table)
    keep = DESIGN.blocks[1].keep / 2**32
    b = (1 - keep) / 2
    young, old, all_ = ((rate - b) / keep for rate in (0.6, 0.3, 150 / 400))
    yes = found["options"][1]
    assert found["method"] == "post-stratified" and found["n"] == 400
    assert yes["weighted"]["estimate"] == pytest.approx((young + old) / 2)
    assert yes["raw"]["estimate"] == pytest.approx(all_)
    variance = 0.25 * (0.6 * 0.4 / 99 + 0.3 * 0.7 / 299) / keep**2
    assert yes["weighted"]["standard_error"] == pytest.approx(variance**0.5)
    # Weights of 1/200 and 1/600: n (sum of squares) / (sum)^2.
    kish = 400 * (100 / 200**2 + 300 / 600**2)
    assert found["design_effect"] == pytest.approx(kish)
    assert found["kish_size"] == pytest.approx(400 / kish)
    assert sum(one["weighted"]["estimate"] for one in found["options"]) == pytest.approx(1)


TOWN = {"town": 0.5, "village": 0.3, "farm": 0.2}


def test_several_strata_are_raked_to_every_margin() -> None:
    rng = np.random.default_rng(8)
    table = rng.integers(40, 300, size=(3, 3, 4))  # q4 by age by town, with “not given”
    found = figures(
        {"kind": "weights", "question": "q4", "margins": {"q1": TOWN, "age": AGES}}, table
    )
    given = table[:, :2, :3]
    channel = proportion.Channel(*DESIGN.blocks[2].mechanism.channel(0))
    assert found["method"] == "raked" and found["strata"] == ["age", "q1"]
    assert found["n"] == given.sum()
    for option in range(3):
        expected = weights.rake(
            given[option], given.sum(axis=0), [[0.4, 0.6], [0.5, 0.3, 0.2]], channel
        )
        one = found["options"][option]
        assert one["weighted"]["estimate"] == pytest.approx(expected.value)
        assert one["weighted"]["standard_error"] == pytest.approx(expected.standard_error)
        assert one["weighted"]["effective_size"] == pytest.approx(expected.effective_size)
        plain = weights.tallied([given[option].sum()], [given.sum()], [1], channel)
        assert one["raw"]["estimate"] == pytest.approx(plain.value)
        assert one["raw"]["standard_error"] == pytest.approx(plain.standard_error)


def test_combinations_are_post_stratified() -> None:
    rng = np.random.default_rng(9)
    table = rng.integers(40, 300, size=(2, 3, 4))
    shares = rng.dirichlet(np.ones(6))
    cells = [
        {"groups": {"age": age, "q1": town}, "share": float(share)}
        for (age, town), share in zip(product(("young", "old"), TOWN), shares, strict=True)
    ]
    found = figures({"kind": "weights", "question": "q3", "cells": cells[::-1]}, table)
    given = table[:, :2, :3].reshape(2, -1)
    channel = proportion.Channel(*DESIGN.blocks[1].mechanism.channel(0))
    expected = weights.poststratified(given[1], given.sum(axis=0), shares, channel)
    assert found["options"][1]["weighted"]["estimate"] == pytest.approx(expected.value)
    assert found["options"][1]["weighted"]["standard_error"] == pytest.approx(
        expected.standard_error
    )


def test_groups_that_the_population_lacks_are_left_out() -> None:
    table = np.array([[40, 210, 0], [60, 90, 0]])
    asked = {"kind": "weights", "question": "q3", "margins": {"age": {"young": 1, "old": 0}}}
    found = figures(asked, table)
    keep = DESIGN.blocks[1].keep / 2**32
    assert found["n"] == 100
    assert found["options"][1]["weighted"]["estimate"] == pytest.approx(
        (0.6 - (1 - keep) / 2) / keep
    )


def test_groups_below_the_crowd_have_no_weight_and_are_named() -> None:
    """Seven farmers among the young; to hide them, the next smallest cell is hidden as well."""
    table = np.full((2, 3, 4), 50)
    table[:, 0, 2] = [3, 4]
    table[:, 0, 1] = [20, 20]
    margins = {"age": AGES, "q1": TOWN}
    found = figures({"kind": "weights", "question": "q3", "margins": margins}, table)
    assert found["hidden_groups"] == 2 and found["n"] == 4 * 100
    cells = [
        {"groups": {"age": age, "q1": town}, "share": 1}
        for age, town in product(("young", "old"), TOWN)
    ]
    with pytest.raises(AnalysisError, match="to show any of: young and village; "):
        figures({"kind": "weights", "question": "q3", "cells": cells}, table)
    table[:, 1, 2] = 0
    with pytest.raises(AnalysisError, match="any of: farm$"):
        figures({"kind": "weights", "question": "q3", "margins": margins}, table)


def test_margins_that_no_weights_meet_are_refused_in_words() -> None:
    table = np.zeros((2, 3, 4), dtype=np.int64)
    table[:, 0, 0] = table[:, 1, 1] = table[:, 1, 2] = 50  # the young live in town, the old do not
    margins = {"age": {"young": 0.9, "old": 0.1}, "q1": TOWN}
    with pytest.raises(AnalysisError, match="no weights meet all of these margins"):
        figures({"kind": "weights", "question": "q3", "margins": margins}, table)
