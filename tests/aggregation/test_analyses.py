"""Tables, regression and profiles: what may be asked, and the figures from a table of reports."""

import json
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from aggregation import analyses
from aggregation.analyses import AnalysisError
from aggregation.statistics import joint, proportion, regression
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


def figures(asked: dict[str, Any], table: Any) -> Any:
    """As they would come out of the API."""
    analysis = analyses.read(asked, DESIGN)
    found = analyses.figures(analysis, DESIGN, np.asarray(table, dtype=np.int64), CROWD)
    return json.loads(json.dumps(found, allow_nan=False))


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
    "one coin for both": (
        {"kind": "regression", "outcome": "q1", "predictor": "q2"}, "predictor",
    ),
    "classes a text": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": "2"}, "classes"),
    "classes true": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": True}, "classes"),
    "too many classes": ({"kind": "profiles", "questions": ["q1", "q3"], "classes": 99}, "classes"),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "where"), BAD.values(), ids=BAD.keys())
def test_what_makes_no_sense_is_refused_with_its_place(asked: Any, where: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        analyses.read(asked, DESIGN)
    assert caught.value.where == where
    assert str(caught.value).startswith(f"{where}: ")


def test_a_table_has_a_largest_size() -> None:
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


def test_a_regression_on_one_option_of_a_choice() -> None:
    table = np.array([[100, 80, 60], [50, 90, 70], [30, 40, 50]])
    asked = {"kind": "regression", "outcome": "q4", "option": "b", "strata": ["age"]}
    found = figures(asked, table)
    rows = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    channel = proportion.Channel(*DESIGN.blocks[2].mechanism.channel(0))
    fit = regression.tallies(rows, table[1], table.sum(axis=0), channel)
    assert [term["estimate"] for term in found["terms"]] == pytest.approx(fit.coefficients)


def test_a_regression_on_another_question() -> None:
    """From a table of reports made of known shares without sampling error: it finds them."""
    keep = [DESIGN.blocks[i].keep / 2**32 for i in (0, 1)]
    truth = np.array([[0.4, 0.1], [0.2, 0.3]])  # [q1][q3]
    spread = [c * np.eye(2) + (1 - c) / 2 for c in keep]
    reports = np.rint(1e7 * spread[0] @ truth @ spread[1]).astype(np.int64)
    found = figures({"kind": "regression", "outcome": "q1", "predictor": "q3"}, reports)
    intercept, slope = (term["estimate"] for term in found["terms"])
    assert intercept == pytest.approx(np.log(0.2 / 0.4), abs=1e-3)
    assert slope == pytest.approx(np.log(0.3 / 0.1) - np.log(0.2 / 0.4), abs=1e-3)
    assert found["terms"][1].items() >= {"question": "q3", "option": "yes"}.items()


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
