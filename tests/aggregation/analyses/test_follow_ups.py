"""Analyses of follow-ups, scales, numbers and multiple choice, against brute-force enumeration."""

import json
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from aggregation.analyses import coins, registry
from aggregation.analyses.base import AnalysisError, sizes
from survey import design as designs
from survey.design import Background, Block, Design, Option
from survey.design.kinds.choice import Choice
from survey.design.kinds.number import Number
from survey.design.kinds.scale import Scale
from survey.design.kinds.several import Several
from survey.design.kinds.yes_no import YesNo
from survey.design.mechanism import Answer


def options(*keys: str, scores: tuple[float | None, ...] = ()) -> tuple[Option, ...]:
    pairs = zip(keys, scores or [None] * len(keys), strict=True)
    return tuple(Option(key, key, score) for key, score in pairs)


HARASSED = YesNo("harassed", "Harassed?", options("no", "yes"))
WHO = Choice("who", "By whom?", options("boss", "other"), ("harassed", ("yes",)))
OFTEN = Scale(
    "often", "How often?", options("once", "thrice", "declined", scores=(1, 3, None)),
    ("harassed", ("yes",)),
)  # fmt: skip
TIRED = YesNo("tired", "Tired?", options("no", "yes"))
DAYS = Number("days", "Days ill?", options("declined"), None, False, 0, 40, 2, "days")
MOOD = Scale("mood", "Mood?", options("bad", "fair", "good", scores=(0, 1, 5)))
PILLS = Several("pills", "Which?", options("a", "b", "c"), None, False, 2)
JOB = Choice("job", "Job?", options("nurse", "other"))
QUESTIONS = [HARASSED, WHO, OFTEN, TIRED, DAYS, MOOD, PILLS]
BACKGROUND = [Background(JOB, 3.0)]


def built(*blocks: list[str], ask: int) -> Design:
    keys = {key for block in blocks for key in block}
    asked = [question for question in QUESTIONS if question.key in keys]
    return designs.build(4.0, asked, BACKGROUND, blocks, ask)


# The gate is in two blocks, of which one is asked; or everything is asked.
SPLIT = built(["harassed", "who"], ["harassed", "often", "tired"], ask=1)
WHOLE = built(["harassed", "who", "often", "tired"], ["days", "mood"], ["pills"], ask=3)

# Invented people: their share, and all their answers. Nothing is independent of anything.
PEOPLE: list[tuple[float, dict[str, Answer]]] = [
    (0.22, {"harassed": 0, "tired": 0, "days": 0, "mood": 2, "pills": [], "job": 0}),
    (0.14, {"harassed": 0, "tired": 1, "days": 10, "mood": 1, "pills": [0], "job": 1}),
    (0.10, {"harassed": 0, "tired": 0, "days": 13, "mood": 0, "pills": [0, 1], "job": 0}),
    (0.06, {"harassed": 0, "tired": 1, "days": [0], "mood": 2, "pills": [2], "job": 1}),
    (0.16, {"harassed": 1, "who": 0, "often": 0, "tired": 1, "days": 20, "mood": 0,
            "pills": [1, 2], "job": 0}),
    (0.12, {"harassed": 1, "who": 1, "often": 1, "tired": 0, "days": 37, "mood": 1,
            "pills": [0], "job": 1}),
    (0.11, {"harassed": 1, "who": 0, "often": 1, "tired": 1, "days": 40, "mood": 0,
            "pills": [0, 2], "job": 1}),
    (0.09, {"harassed": 1, "who": 1, "often": 2, "tired": 0, "days": 3, "mood": 1,
            "pills": [], "job": 0}),
]  # fmt: skip


def block_reports(block: Block, answers: Mapping[str, Answer]) -> dict[tuple[Any, ...], float]:
    """Return the exact probability of every report of a block, cell by cell."""
    mechanism = block.mechanism
    own = [answers.get(question.key) for question in block.questions]
    cells = {mechanism.as_sent(mechanism.cell(number)) for number in range(mechanism.cells)}
    return {cell: float(mechanism.probability(own, cell)) for cell in cells}


def reports(
    design: Design, axes: tuple[str, ...], people: float = 1e9, population: Any = PEOPLE
) -> Any:
    """Return the table of the reports without sampling error, from their exact probabilities."""
    shape = sizes(axes, design)
    table = np.zeros(shape)
    chosen = [
        (*some, *design.background_blocks)
        for some in combinations(design.sensitive_blocks, design.ask)
        if set(axes) <= {q.key for one in (*some, *design.background_blocks) for q in one.questions}
    ]
    for share, answers in population:
        for blocks in chosen:
            for cells in product(*(block_reports(block, answers).items() for block in blocks)):
                shown: dict[str, Any] = {}
                for block, (cell, _) in zip(blocks, cells, strict=True):
                    keys = [question.key for question in block.questions]
                    shown |= dict(zip(keys, cell, strict=True))
                place = tuple(
                    size - 1 if shown[key] is None else shown[key]
                    for key, size in zip(axes, shape, strict=True)
                )
                table[place] += share / len(chosen) * np.prod([p for _, p in cells])
    return np.rint(people * table).astype(np.int64)


def figures(design: Design, people: float = 1e9, **asked: Any) -> Any:
    """Return results as the API returns them."""
    analysis = registry.read(asked, design)
    tables = [reports(design, axes, people) for axes in analysis.tables()]
    return json.loads(json.dumps(registry.figures(analysis, design, tables), allow_nan=False))


def truth(design: Design, *axes: str) -> Any:
    """Return the true shares of people."""
    shape = sizes(axes, design)
    table = np.zeros(shape)
    for share, answers in PEOPLE:
        given = [answers.get(key) for key in axes]
        place = tuple(
            size - 1 if one is None else one for one, size in zip(given, shape, strict=True)
        )
        table[place] += share
    return table


# --- Coins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [SPLIT, WHOLE], ids=["split", "whole"])
def test_chances_are_those_of_counting_all_cells(design: Design) -> None:
    for block in design.blocks:
        mechanism, keys = block.mechanism, [question.key for question in block.questions]
        for wanted in [[i] for i in range(len(keys))] + [
            [i, j] for i in range(len(keys)) for j in range(len(keys)) if i != j
        ]:
            shape = [block.questions[i].values for i in wanted]
            counted = np.zeros(shape)
            for number in range(mechanism.cells):
                cell = mechanism.as_sent(mechanism.cell(number))
                counted[
                    tuple(n - 1 if cell[i] is None else cell[i]
                          for i, n in zip(wanted, shape, strict=True))
                ] += 1 / mechanism.cells  # fmt: skip
            found = coins.chances_of(block, [keys[i] for i in wanted])
            assert np.allclose(found, counted, rtol=1e-12, atol=0)


def test_a_gate_in_several_blocks_goes_with_the_block_of_the_others() -> None:
    first, second = SPLIT.sensitive_blocks
    (part,) = coins.parts(SPLIT, ("harassed", "who"))
    assert part.keep == first.keep / 2**32
    (part,) = coins.parts(SPLIT, ("often", "harassed"))
    assert part.keep == second.keep / 2**32 and part.chances.shape == (4, 2)
    tally = {"who": {"": [[30, 30, 40]]}, "often": {"": [[100, 100, 50, 50]]}}
    pooled, _ = coins.parts(SPLIT, ("harassed", "job"), tally)[::-1]  # type: ignore[arg-type]
    assert pooled.keep == pytest.approx((0.25 * first.keep + 0.75 * second.keep) / 2**32)
    assert coins.together(SPLIT, ("harassed", "often", "job"))
    assert not coins.together(SPLIT, ("who", "often"))


# --- Tables ---------------------------------------------------------------------------------------

TABLES = {
    "a follow-up by its gate": (WHOLE, ["harassed", "who"]),
    "two follow-ups": (WHOLE, ["who", "often"]),
    "a follow-up and a question beside it": (WHOLE, ["often", "tired"]),
    "the gate and a question beside it": (WHOLE, ["tired", "harassed"]),
    "a follow-up across blocks": (WHOLE, ["mood", "who", "job"]),
    "everything of a block": (WHOLE, ["harassed", "who", "often", "tired"]),
    "a gate in several blocks": (SPLIT, ["harassed", "job"]),
    "it with one of its follow-ups": (SPLIT, ["harassed", "often", "job"]),
}


@pytest.mark.parametrize(("design", "questions"), TABLES.values(), ids=TABLES)
def test_a_table_finds_the_true_shares(design: Design, questions: list[str]) -> None:
    found = figures(design, kind="crosstab", questions=questions)
    true = truth(design, *questions)
    estimates = np.array(found["estimates"], dtype=float)
    assert np.allclose(np.nan_to_num(estimates), true, atol=1e-7)
    assert np.allclose(np.nan_to_num(np.array(found["bounded"], dtype=float)), true, atol=2e-4)
    for axis, key in enumerate(questions):
        given = np.array(found["conditional"][key]["estimates"], dtype=float)
        with np.errstate(invalid="ignore"):
            expected = true / true.sum(axis=axis, keepdims=True)
        known = np.isfinite(given)
        assert known.any() and np.allclose(given[known], expected[known], atol=1e-6)


def test_combinations_that_cannot_occur_have_no_figures() -> None:
    found = figures(WHOLE, kind="crosstab", questions=["harassed", "who"])
    assert found["options"] == {"harassed": ["no", "yes"], "who": ["boss", "other", None]}
    no, yes = found["estimates"]
    assert no[:2] == [None, None] and yes[2] is None
    assert [row.count(None) for row in found["standard_errors"]] == [2, 1]
    assert "independence" not in found and "association" not in found
    both = figures(WHOLE, kind="crosstab", questions=["tired", "harassed"])
    assert both["association"]["phi"] and both["independence"]["p_value"] is not None


def test_errors_of_a_table_with_follow_ups_agree_with_a_bootstrap() -> None:
    """4000 tables drawn from the one found; a standard deviation of them is known to 1.1 %.

    4.5 of these are 5 %. Cells as if all combinations could occur would be off by their number.
    """
    questions = ["often", "harassed", "job"]
    table = reports(WHOLE, tuple(questions), people=4000)
    analysis = registry.read({"kind": "crosstab", "questions": questions}, WHOLE)
    found = registry.figures(analysis, WHOLE, [table])
    rng = np.random.default_rng(5)
    values = []
    for drawn in rng.multinomial(table.sum(), table.ravel() / table.sum(), size=4000):
        f = drawn.reshape(table.shape) / table.sum()
        first, background = WHOLE.sensitive_blocks[0], WHOLE.background_blocks[0]
        kept = background.keep / 2**32
        f = (f - (1 - kept) / 2 * f.sum(axis=2, keepdims=True)) / kept
        kept = first.keep / 2**32
        chances = coins.chances_of(first, questions[:2])[..., None]
        values.append((f - (1 - kept) * chances * f.sum(axis=(0, 1))) / kept)
    stated = np.array(found["standard_errors"], dtype=float)
    drawn_errors = np.std(values, axis=0)
    known = np.isfinite(stated)
    assert known.sum() == 8
    assert np.allclose(stated[known], drawn_errors[known], rtol=0.05)
    assert np.allclose(drawn_errors[~known], 0, atol=1e-12)


# --- Regression -----------------------------------------------------------------------------------


def least_squares(outcome: str, *predictors: str, score: Mapping[int, float] | None = None) -> Any:
    """Return the coefficients that a regression on everybody's own answers would have."""
    rows, values, weights = [], [], []
    for share, answers in PEOPLE:
        y = answers.get(outcome)
        x = [answers.get(key) for key in predictors]
        y = score.get(y) if score and isinstance(y, int) else y  # type: ignore[assignment]
        if not isinstance(y, int | float) or None in x:
            continue
        dummies = [float(one == place) for one, key in zip(x, predictors, strict=True)
                   for place in range(1, WHOLE.places[key][0][0].questions[
                       WHOLE.places[key][0][1]].size)]  # fmt: skip
        rows.append([1.0, *dummies])
        values.append(y)
        weights.append(np.sqrt(share))
    X, w = np.array(rows), np.array(weights)
    return np.linalg.lstsq(X * w[:, None], np.array(values) * w, rcond=None)[0]


MEANS = {
    "a number by group": ("days", ["job"], None),
    "a number by a question in its block": ("days", ["mood"], None),
    "a number by a gate and group": ("days", ["harassed", "job"], None),
    "a number by a follow-up": ("days", ["who", "job"], None),
    "a scale by two questions": ("mood", ["tired", "job"], {0: 0, 1: 1, 2: 5}),
    "a follow-up by group": ("often", ["job"], {0: 1, 1: 3}),
    "a follow-up by another": ("often", ["who"], {0: 1, 1: 3}),
}


@pytest.mark.parametrize(("outcome", "by", "score"), MEANS.values(), ids=MEANS)
def test_means_are_those_of_a_regression_on_the_true_answers(
    outcome: str, by: list[str], score: Any
) -> None:
    predictors = [{"question": key} for key in by]
    found = figures(WHOLE, kind="regression", outcome=outcome, predictors=predictors)
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx(least_squares(outcome, *by, score=score), abs=1e-5)
    assert found["outcome"] == {"question": outcome, "option": None}
    assert found["converged"] and not found["separated"]
    limits = [(term["interval"]["low"], term["interval"]["high"]) for term in found["terms"]]
    assert all(low < one < high for one, (low, high) in zip(estimates, limits, strict=True))


def test_only_those_who_gave_a_number_or_rating_count_for_a_mean() -> None:
    found = figures(WHOLE, kind="regression", outcome="often", predictors=[{"question": "who"}])
    assert found["share"] == pytest.approx(0.16 + 0.12 + 0.11, abs=1e-9)


def test_a_scale_cut_in_two_compares_what_is_above_with_what_is_below() -> None:
    cut = [{"question": "mood", "from": "fair"}]
    found = figures(WHOLE, kind="regression", outcome="tired", predictors=cut)
    shares = [truth(WHOLE, "tired", "mood")[:, i].copy() for i in range(3)]
    low, high = shares[0], shares[1] + shares[2]
    intercept, slope = (term["estimate"] for term in found["terms"])
    assert intercept == pytest.approx(np.log(low[1] / low[0]), abs=1e-4)
    assert slope == pytest.approx(np.log(high[1] / high[0]) - np.log(low[1] / low[0]), abs=1e-4)
    term = found["terms"][1]
    assert (term["option"], term["option_to"], term["against"]) == ("fair", "good", "bad")


def test_odds_of_a_follow_ups_option_are_among_everybody() -> None:
    found = figures(
        WHOLE, kind="regression", outcome="who", option="boss", predictors=[{"question": "job"}]
    )
    boss = truth(WHOLE, "who", "job")
    odds = [np.log(boss[0, j] / (boss[1, j] + boss[2, j])) for j in (0, 1)]
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx([odds[0], odds[1] - odds[0]], abs=1e-4)


def test_not_asked_is_an_answer_to_explain_odds_by() -> None:
    found = figures(WHOLE, kind="regression", outcome="job", predictors=[{"question": "who"}])
    other, nurse = truth(WHOLE, "job", "who")[::-1]
    odds = np.log(other / nurse)
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx([odds[0], odds[1] - odds[0], odds[2] - odds[0]], abs=1e-4)
    assert [term.get("option") for term in found["terms"][1:]] == ["other", None]
    assert [term["against"] for term in found["terms"][1:]] == ["boss", "boss"]


def test_a_pooled_gate_can_be_explained() -> None:
    found = figures(SPLIT, kind="regression", outcome="harassed", predictors=[{"question": "job"}])
    yes = truth(SPLIT, "harassed", "job")
    odds = np.log(yes[1] / yes[0])
    estimates = [term["estimate"] for term in found["terms"]]
    assert estimates == pytest.approx([odds[0], odds[1] - odds[0]], abs=1e-4)


APART = {
    "a gate and its follow-up": ("who", "boss", "harassed", "decides whether the other"),
    "two follow-ups of one gate": ("who", "boss", "often", "depend on the same question"),
    "a mean and its gate": ("often", None, "harassed", "decides whether the other is asked"),
    "a number as a group": ("tired", "yes", "days", "round numbers at random"),
    "several picks as a group": ("tired", "yes", "pills", "only one of the picks"),
    "several picks as the outcome": ("pills", "a", "job", "only one of the picks"),
}


@pytest.mark.parametrize(("outcome", "option", "by", "why"), APART.values(), ids=APART)
def test_what_makes_no_sense_is_refused_with_the_reason(
    outcome: str, option: str | None, by: str, why: str
) -> None:
    asked: dict[str, Any] = {"kind": "regression", "outcome": outcome,
                             "predictors": [{"question": by}]}  # fmt: skip
    if option:
        asked["option"] = option
    with pytest.raises(AnalysisError, match=why):
        registry.read(asked, WHOLE)


@pytest.mark.parametrize("kind", ["crosstab", "profiles"])
@pytest.mark.parametrize("key", ["days", "pills"])
def test_tables_and_profiles_refuse_numbers_and_several_picks(kind: str, key: str) -> None:
    with pytest.raises(AnalysisError, match=f"^questions: {key}: (devices round|each device)"):
        registry.read({"kind": kind, "questions": [key, "tired"]}, WHOLE)


# --- Weights --------------------------------------------------------------------------------------


def test_weights_find_shares_means_and_picks_of_the_population() -> None:
    """Seven nurses in ten; the reference weights everybody by their own group."""
    found = figures(WHOLE, kind="weights", margins={"job": {"nurse": 7, "other": 3}})
    nurses = sum(share for share, answers in PEOPLE if answers["job"] == 0)
    factor = {0: 0.7 / nurses, 1: 0.3 / (1 - nurses)}
    weighted = [(share * factor[int(answers["job"])], answers) for share, answers in PEOPLE]  # type: ignore[arg-type]
    by_key = {one["question"]: one for one in found["questions"]}
    assert set(by_key) == {"harassed", "who", "often", "tired", "days", "mood", "pills"}

    def estimate(key: str, measure: str, option: str | None = None, kind: str = "weighted") -> Any:
        return next(one[kind]["estimate"] for one in by_key[key]["estimates"]
                    if (one["measure"], one["option"]) == (measure, option))  # fmt: skip

    def mean(people: Any, value: Any, of: Any = lambda answers: True) -> float:
        counted = [(w, value(a)) for w, a in people if of(a)]
        return sum(w * v for w, v in counted) / sum(w for w, _ in counted)

    for kind, people in (("weighted", weighted), ("raw", PEOPLE)):
        numbers = mean(people, lambda a: a["days"], lambda a: isinstance(a["days"], int))
        assert estimate("days", "mean", kind=kind) == pytest.approx(numbers, abs=1e-5)
        declined = mean(people, lambda a: a["days"] == [0])
        assert estimate("days", "share", "declined", kind) == pytest.approx(declined, abs=1e-6)
        rating = mean(people, lambda a: (0, 1, 5)[a["mood"]])
        assert estimate("mood", "mean", kind=kind) == pytest.approx(rating, abs=1e-6)
        often = mean(people, lambda a: (1, 3)[a["often"]], lambda a: a.get("often") in (0, 1))
        assert estimate("often", "mean", kind=kind) == pytest.approx(often, abs=1e-6)
        boss = mean(people, lambda a: a["who"] == 0, lambda a: "who" in a)
        concerned = estimate("who", "share_of_concerned", "boss", kind)
        assert concerned == pytest.approx(boss, abs=1e-6)
        picked = mean(people, lambda a: 0 in a["pills"])
        assert estimate("pills", "share", "a", kind) == pytest.approx(picked, abs=1e-6)
        picks = mean(people, lambda a: len(a["pills"]))
        assert estimate("pills", "picks", kind=kind) == pytest.approx(picks, abs=1e-6)


def test_only_questions_asked_of_the_same_people_are_weighted() -> None:
    found = figures(SPLIT, kind="weights", margins={"tired": {"no": 1, "yes": 1}})
    assert [one["question"] for one in found["questions"]] == ["harassed", "often", "job"]


# --- Profiles -------------------------------------------------------------------------------------


def test_profiles_of_follow_ups_are_found() -> None:
    """Two kinds of people, 0.6 and 0.4: reports without sampling error give their answers back."""
    harassed = [(0.8, 0.2), (0.3, 0.7)]
    who, tired = [(0.9, 0.1), (0.2, 0.8)], [(0.7, 0.3), (0.1, 0.9)]
    mood = [(0.1, 0.2, 0.7), (0.6, 0.3, 0.1)]
    population = []
    for kind, share in enumerate((0.6, 0.4)):
        for yes, boss, sleepy, rating in product((0, 1), (0, 1), (0, 1), range(3)):
            if not yes and boss:
                continue
            weight = share * harassed[kind][yes] * tired[kind][sleepy] * mood[kind][rating]
            weight *= who[kind][boss] if yes else 1
            given = {"harassed": yes, "tired": sleepy, "days": 0, "mood": rating, "pills": []}
            asked = {"who": boss, "often": 0} if yes else {}
            population.append((weight, {**given, **asked, "job": 0}))
    keys = ("harassed", "who", "tired", "mood")
    table = reports(WHOLE, keys, 1e9, population)
    analysis = registry.read({"kind": "profiles", "questions": list(keys)}, WHOLE)
    found = registry.figures(analysis, WHOLE, [table])
    assert found["converged"] and found["warning"] is None
    assert found["shares"] == pytest.approx([0.6, 0.4], abs=2e-3)
    for key, expected in zip(keys, (harassed, who, tired, mood), strict=True):
        assert np.allclose(found["answers"][key]["probabilities"], expected, atol=5e-3)
        assert np.isfinite(found["answers"][key]["standard_errors"]).all()
