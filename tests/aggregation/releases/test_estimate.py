"""Estimates of every kind of question: unbiased, and within what is possible."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from aggregation.counting import planes, tables
from aggregation.models import Release
from aggregation.releases.estimate import (
    Asked,
    Figures,
    Wanted,
    asked,
    by_group,
    estimate,
    everybody,
)
from aggregation.releases.publish import make_release
from survey import simulation
from survey.collect.validator import Validator
from survey.design import DECLINED, Block, Design, Measure, Option, Question, build
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several
from survey.design.mechanism import Answer
from survey.models import Survey
from tests.support import builders
from tests.support.cells import all_answers, reports

EVERYBODY = Wanted()


def of_everybody(one: Asked, counts: Sequence[int], wanted: Wanted = EVERYBODY) -> list[Figures]:
    (rows,) = everybody([one], [counts], wanted)
    return rows


def design() -> Design:
    survey = builders.draft(**builders.EVERY_KIND)
    return survey.draft_design()


# --- Unbiased -------------------------------------------------------------------------------------


def true_value(question: Question, measure: Measure, people: Sequence[Answer]) -> Fraction | None:
    """Return what a measure should be, from the true answers alone."""

    def is_option(answer: Answer) -> bool:
        keys = [option.key for option in question.options]
        place = keys.index(measure.option)
        if isinstance(answer, list | tuple):
            return place in answer
        return answer == place and not isinstance(question, Number)

    def score(answer: Answer) -> Fraction | None:
        if isinstance(question, Number):
            return Fraction(answer) if isinstance(answer, int) else None
        if isinstance(question, Several):
            assert isinstance(answer, list | tuple)
            if any(question.options[pick].key == DECLINED for pick in answer):
                return None
            return Fraction(len(answer))
        if answer is None:
            return None
        assert isinstance(answer, int)
        given = question.options[answer].score
        return None if given is None else Fraction(given)

    if measure.name in ("mean", "picks"):
        scores = [found for one in people if (found := score(one)) is not None]
        return sum(scores, Fraction(0)) / len(scores) if scores else None
    concerned = [one for one in people if one is not None or measure.name == "share"]
    if not concerned:
        return None
    return Fraction(sum(is_option(one) for one in concerned), len(concerned))


def debiased(one: Asked, weights: Sequence[float], rates: Sequence[Fraction]) -> float:
    pairs = zip(weights, rates, one.stray, strict=True)
    return sum(weight * (float(rate) - stray) for weight, rate, stray in pairs) / one.keep


def possible(block: Block, answers: tuple[Answer, ...]) -> bool:
    """Return whether a page lets somebody answer this: who declines picks nothing else."""
    question, first = block.questions[0], answers[0]
    if not isinstance(question, Several):
        return True
    assert isinstance(first, tuple)
    declined = [question.options[pick].key == DECLINED for pick in first]
    return not any(declined) or len(first) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "key", ["harassed", "who", "often", "ill", "slept", "content", "took", "saw"]
)
def test_measures_are_those_of_the_true_answers_on_average(key: str) -> None:
    """Every answer's exact law of reports, debiased with the weights of each measure."""
    made = design()
    one = asked(made, key)
    people: list[Answer] = []
    rates = [Fraction(0)] * one.question.values
    values = [*range(one.question.size), *([None] if one.question.may_be_none else [])]
    for block, place in made.places[key]:  # the gate's two blocks count alike
        some = [each for each in all_answers(block.mechanism.questions) if possible(block, each)]
        if key == "harassed":  # both blocks hold the same people
            some = [(0, None), (1, 0), (1, 1)]
        some = Random(5).sample(some, min(len(some), 12))
        people = [answers[place] for answers in some]
        for answers in some:
            for report in reports(block.mechanism.questions):
                rate = block.mechanism.probability(answers, report)
                rates[values.index(report[place])] += rate / len(some) / len(made.places[key])
    assert sum(rates) == 1
    for measure in one.question.measures():
        top = debiased(one, measure.weights, rates)
        below = debiased(one, measure.among, rates) if measure.among else 1.0
        expected = true_value(one.question, measure, people)
        if expected is None:
            assert below == pytest.approx(0, abs=1e-9)
        else:
            assert top / below == pytest.approx(float(expected), abs=1e-9), measure


@pytest.mark.django_db
def test_every_figure_is_the_debiased_tally() -> None:
    """Arbitrary counts: the value of each row is the weights' sum over the debiased shares."""
    made, chance = design(), np.random.default_rng(3)
    for question in made.questions:
        one = asked(made, question.key)
        counts = chance.integers(40, 400, question.values).tolist()
        rates = [Fraction(count, sum(counts)) for count in counts]
        for measure, row in zip(question.measures(), of_everybody(one, counts), strict=True):
            below = debiased(one, measure.among, rates) if measure.among else 1.0
            value = debiased(one, measure.weights, rates) / below
            if row["value"] is not None:
                assert row["value"] == pytest.approx(value, rel=1e-9), (question.key, measure)
            assert row["low_once"] <= row["high_once"]
            assert row["low_always"] <= row["high_always"]


@pytest.mark.django_db
def test_a_group_is_the_debiased_joint_tally() -> None:
    made, chance = design(), np.random.default_rng(4)
    (by,) = made.background_blocks
    kept = by.keep / 2**32
    for question in made.questions:
        if question.key == "job":
            continue
        one = asked(made, question.key)
        table = chance.integers(200, 900, (3, question.values))
        rows = list(by_group(one, by, table.tolist()))
        measures = question.measures()
        assert len(rows) == 3 * len(measures)
        for g in range(3):
            w = (np.arange(3) == g) / kept - (1 - kept) / 3 / kept
            for measure, row in zip(measures, rows[g * len(measures) :], strict=False):
                top, below = (
                    (
                        w
                        @ table
                        @ ((np.array(each) - np.array(each) @ np.array(one.stray)) / one.keep)
                    )
                    for each in (measure.weights, measure.among or [1.0] * question.values)
                )
                if row["value"] is not None:
                    assert row["value"] == pytest.approx(top / below, rel=1e-7)


# --- Gates in several blocks ----------------------------------------------------------------------


@pytest.mark.django_db
def test_the_gate_of_several_blocks_pools_their_reports() -> None:
    made = design()
    (first, _), (second, _) = made.places["harassed"]
    c = [block.keep / 2**32 for block in (first, second)]
    tally = {
        "harassed": {"": [[300, 100]]},
        "who": {"": [[20, 20, 20, 20, 220]]},
        "often": {"": [[30, 30, 40, 0]]},
    }
    one = asked(made, "harassed", tally)
    assert one.keep == pytest.approx((300 * c[0] + 100 * c[1]) / 400)
    # Of the cells of the two blocks, 4 of 5 and 3 of 4 say yes.
    stray = (300 * (1 - c[0]) * 4 / 5 + 100 * (1 - c[1]) * 3 / 4) / 400
    assert one.stray[1] == pytest.approx(stray)
    assert one.channels[1].b == pytest.approx(stray)
    assert sum(one.stray) == pytest.approx(1 - one.keep)


@pytest.mark.django_db
def test_planes_keep_gates_blanks_and_follow_ups_that_were_not_asked() -> None:
    survey = builders.opened(**builders.EVERY_KIND)
    made = survey.frozen_design()
    validator, chance = Validator(made), Random(9)
    shares = simulation.uniform_shares(made.questions)
    contents = [
        validator.check(simulation.report(made, lambda _: shares, shares, chance))[1]
        for _ in range(500)
    ]
    rows = planes.rows(contents, made)
    packed = planes.pack(rows, made)
    assert np.array_equal(planes.unpack(packed, 500, made), rows.T)
    found = tables.tally(packed, 500, made)
    for place, question in enumerate(made.questions):
        column = [content[place] for content in contents]
        by_hand = [column.count(value) for value in range(question.values)]
        assert found[question.key][""] == [by_hand], question.key
        if question.key != "job":
            last = [content[-1] for content in contents]
            joint = [[sum((a, b) == (value, group) for a, b in zip(column, last, strict=True))
                      for value in range(question.values)] for group in range(3)]  # fmt: skip
            assert found[question.key]["job"] == joint, question.key


# --- A whole release ------------------------------------------------------------------------------

TRUTH = {
    "harassed": [0.6, 0.4],
    "who": [0.5, 0.3, 0.1, 0.1],
    "often": [0.2, 0.3, 0.5],
    "ill": [0.9, 0.1],
    "slept": [0.0, 1.0, 0.0],
    "content": [0.2, 0.3, 0.4, 0.1],
    "took": [0.5, 0.2, 0.1, 0.1, 0.05],
    "saw": [0.3, 0.2, 0.1],
}


@pytest.fixture
def release(db: None) -> Release:
    survey = builders.opened(**builders.EVERY_KIND)
    builders.send(survey, 3_000, **TRUTH)
    found = make_release(survey)
    assert found is not None
    return found


def test_a_release_of_every_kind_finds_the_truth(release: Release) -> None:
    """Within the intervals that are valid at every look; the noise and the answers have seeds."""
    rows = {(row.question, row.measure, row.option): row
            for row in release.estimates.filter(by="")}  # fmt: skip
    true = {
        ("harassed", "share", "yes"): 0.4,
        ("who", "share", "a-superior"): 0.2,
        ("who", "share_of_concerned", "a-superior"): 0.5,
        ("who", "share_of_concerned", DECLINED): 0.1,
        ("often", "share", "often"): 0.2,
        ("often", "share_of_concerned", "often"): 0.5,
        ("often", "mean", ""): 0.3 + 4 * 0.5,
        ("ill", "mean", ""): 0.9 * 15 + 0.1 * 45,
        ("slept", "mean", ""): 12.0,
        ("slept", "share", DECLINED): 0.0,
        ("content", "share", "partly"): 0.3,
        ("content", "mean", ""): (0.2 + 0.6 + 1.2) / 0.9,
        ("took", "share", DECLINED): 0.05,
        ("saw", "picks", ""): 0.6 - 0.3 * 0.2 * 0.1,
    }
    for key, value in true.items():
        row = rows[key]
        assert row.low_always <= value <= row.high_always, (key, row.value)
        assert row.always and (row.low, row.high) == (row.low_always, row.high_always)
        wide = row.high_always - row.low_always
        assert wide > row.high_once - row.low_once > 0, key


def test_rows_come_by_question_then_group_then_measure(release: Release) -> None:
    design = release.survey.frozen_design()
    rows = list(release.estimates.all())
    assert [row.position for row in rows] == list(range(len(rows)))
    found = [(row.question, row.by, row.group, row.measure, row.option) for row in rows]
    expected = [
        (question.key, by, group, measure.name, measure.option)
        for question in design.questions
        for by, groups in [("", [""]), ("job", ["nurse", "other", DECLINED])]
        if by != question.key
        for group in groups
        for measure in question.measures()
    ]
    assert found == expected


def test_everybody_of_a_known_population_leaves_privacy_alone(release: Release) -> None:
    """With the whole population asked, only the noise is left in the error of a share."""
    design, tally = release.survey.frozen_design(), release.tally
    counts = tally["content"][""][0]
    one = asked(design, "content", tally)
    census = of_everybody(one, counts, Wanted(population=sum(counts)))
    sample = of_everybody(one, counts)
    for mine, other in zip(census, sample, strict=True):
        assert mine["value"] == other["value"]
        assert mine["standard_error"] < other["standard_error"]
        assert mine["sampling_error"] == 0
        assert mine["high_once"] - mine["low_once"] <= other["high_once"] - other["low_once"]


@pytest.mark.parametrize("wanted", [Wanted(0.99), Wanted(forged=0.1), Wanted(population=400)])
def test_questions_estimated_together_have_the_figures_of_each_alone(
    release: Release, wanted: Wanted
) -> None:
    """More reports than the population to one question do not change the figures of others."""
    made, tally = release.survey.frozen_design(), release.tally
    questions = [asked(made, question.key, tally) for question in made.questions]
    counts = [list(tally[one.question.key][""][0]) for one in questions]
    counts[0] = [0] * len(counts[0])
    counts[-1] = [1000 * count for count in counts[-1]]
    together = everybody(questions, counts, wanted)
    for one, some, found in zip(questions, counts, together, strict=True):
        for figures, alone in zip(found, of_everybody(one, some, wanted), strict=True):
            for name, value in figures.items():
                expected = alone[name]
                if isinstance(value, float):
                    expected = pytest.approx(expected, rel=1e-9, abs=1e-9)
                assert value == expected, name


def test_nobody_asked_gives_the_whole_range() -> None:
    number = Number("n", "?", least=-5, most=5, unit="")
    made = build(2.0, [number])
    ((row),) = of_everybody(asked(made, "n"), [0] * made.questions[0].values)
    assert row["value"] is None and (row["low_once"], row["high_always"]) == (-5.0, 5.0)
    assert row["n"] == row["count"] == 0


def test_an_interval_by_group_is_the_whole_range_where_too_few_are_in_it(release: Release) -> None:
    survey: Survey = release.survey
    made = survey.frozen_design()
    counts = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    (by,) = made.background_blocks
    for row in by_group(asked(made, "ill"), by, counts):
        assert (row["low_once"], row["high_once"]) == (0.0, 60.0)
        assert (row["low_always"], row["high_always"]) == (0.0, 60.0)


def test_estimates_of_a_release_are_those_of_its_tally(release: Release) -> None:
    again = estimate(release.survey.frozen_design(), release.tally, release.survey.population)
    for row, figures in zip(release.estimates.all(), again, strict=True):
        for name, value in figures.items():
            assert getattr(row, name) == pytest.approx(value), (row, name)


def test_the_mean_number_of_picks_is_known_where_no_report_declines() -> None:
    """Rounding makes no variance negative where the part of those who declined has none."""
    options = tuple(Option(key, key) for key in ("a", "b", "c", DECLINED))
    one = asked(build(2, [Several("q", "?", options, picks=2)]), "q")
    random = Random(1)
    for _ in range(300):
        counts = [random.randrange(200) for _ in range(5)]
        counts[3] = 0
        *_, picks = of_everybody(one, counts)
        assert picks["measure"] == "picks" and picks["n"] == sum(counts)
        assert 0 <= picks["low_once"] <= picks["high_once"] <= 2
