"""An attacker with everything that any role can obtain tries to find out answers.

They have the estimates, the shuffled reports and every table of every release, know in which order
people answered, know most answers of everybody and want the one that is left. What they have is a
function of the randomized reports, so the best they can do is Bayes' rule with the channel of each
block. They must not be right more often than ε allows, nor pick a person's report out of a step
between two releases more often than ε and the crowd allow. Against the same survey with background
answers in clear, the same attack must succeed.

PEOPLE = 240 and fixed seeds: what is asserted is the same in every run.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from aggregation.analyses import registry
from aggregation.counting.planes import unpack
from aggregation.counting.tables import tables
from aggregation.models import Batch, Release
from aggregation.releases.collect import collect
from aggregation.releases.estimate import estimate
from aggregation.releases.publish import publish
from survey import simulation
from survey.design import Design
from survey.design.mechanism import SCALE
from survey.models import Survey
from tests.support import builders

pytestmark = [pytest.mark.django_db, pytest.mark.once]

PEOPLE, CROWD = 240, 20
GROUPS = [f"Ward {i}" for i in range(14)]  # so that three of them single most people out
BACKGROUND = [
    {"key": f"g{i}", "text": f"Where {i}?", "options": GROUPS, "epsilon": 3} for i in range(4)
]
QUESTIONS = [{"key": f"q{i}", "text": f"Did you {i}?", "kind": "yes_no"} for i in range(2)]

Person = dict[str, int]  # a person's answers by question key


class World:
    """A survey that people answer one at a time; a worker runs after each of them."""

    def __init__(self, seed: int, **changes: Any) -> None:
        self.random = Random(seed)
        asked = {"questions": QUESTIONS, "background": BACKGROUND, "blocks": [["q0", "q1"]]}
        self.survey = builders.opened(crowd=CROWD, **asked | changes)
        self.design = self.survey.frozen_design()
        self.people: list[Person] = []

    def answer(self) -> None:
        person = {q.key: self.random.randrange(q.size) for q in self.design.questions}
        blocks = {}
        for block in self.design.blocks:
            answers = [person[question.key] for question in block.questions]
            blocks[block.key] = list(block.mechanism.randomize(answers, self.draw))
        report = builders.report(self.design, blocks=blocks)
        (row,) = simulation.accept(self.survey.slug, {"reports": [report]})
        assert row["status"] == 201
        self.people.append(person)
        self.work()

    def draw(self) -> int:
        return self.random.randrange(SCALE)

    def work(self) -> None:
        collect(self.survey)
        publish(self.survey)

    def close(self) -> None:
        self.survey.close()
        self.work()

    def releases(self) -> list[Release]:
        return list(self.survey.releases.order_by("number"))


def lived(seed: int, people: int = PEOPLE, **changes: Any) -> World:
    world = World(seed, **changes)
    for _ in range(people):
        world.answer()
    world.close()
    return world


def reports_of(release: Release) -> list[bytes]:
    """Return the reports of a release, as anybody who may take them gets them."""
    design = release.survey.frozen_design()
    parts = Batch.objects.packed(release.batch_keys())
    return [bytes(row) for data, n in parts for row in unpack(data, n, design).T]


# --- All that is published is a function of the reports -------------------------------------------


def test_everything_that_is_published_can_be_computed_from_the_reports_of_its_release() -> None:
    """So no combination of figures reveals more than the reports: it is post-processing."""
    world = lived(1)
    keys = [question.key for question in world.design.questions]
    for release in world.releases():
        values = np.array([list(report) for report in reports_of(release)])

        def count(axes: tuple[str, ...]) -> Any:
            shape = [next(q.size for q in world.design.questions if q.key == key) for key in axes]
            table = np.zeros(shape, dtype=np.int64)
            np.add.at(table, tuple(values[:, keys.index(key)] for key in axes), 1)  # noqa: B023
            return table

        tally = {
            key: {"": [count((key,)).tolist()]}
            | {by: count((by, key)).tolist() for by in ("g0", "g1", "g2", "g3") if by != key}
            for key in keys
        }
        for row, figures in zip(
            release.estimates.all(), estimate(world.design, tally), strict=True
        ):
            assert {name: getattr(row, name) for name in figures} == figures
        for asked in ANALYSES:
            analysis = registry.read(asked, world.design)
            packed = Batch.objects.packed(release.batch_keys())
            for axes, table in zip(
                analysis.tables(), tables(packed, world.design, analysis.tables()), strict=True
            ):
                assert np.array_equal(table, count(axes))


ANALYSES: list[dict[str, Any]] = [
    {"kind": "crosstab", "questions": ["g0", "g1", "g2", "g3"]},
    {"kind": "crosstab", "questions": ["q0", "q1", "g3"]},
    {"kind": "regression", "outcome": "q0", "predictors": [{"question": "g0"}, {"question": "g1"}]},
    {"kind": "profiles", "questions": ["q0", "q1", "g0"]},
]


# --- Answers --------------------------------------------------------------------------------------


def guessed(design: Design, reports: list[bytes], person: Mapping[str, int], wanted: str) -> int:
    """Return the likeliest value of the one answer that the attacker does not know.

    Each report may be this person's. It is weighed by how likely they would have sent what it says
    in the questions whose answers are known, and votes for each value by its channel.
    """
    keys = [question.key for question in design.questions]
    values = np.array([list(report) for report in reports])
    weights = np.ones(len(values))
    votes: Any = None
    for block in design.blocks:
        for position, question in enumerate(block.questions):
            a, b = block.mechanism.channel(position)
            said = values[:, keys.index(question.key)]
            if question.key == wanted:
                votes = np.where(said[:, None] == np.arange(question.size), a, b)
            else:
                weights *= np.where(said == person[question.key], a, b)
    return int(np.argmax(weights @ votes))


def successes(world: World, wanted: str) -> float:
    """Return how often the attacker is right, over everybody, with the last release."""
    reports = reports_of(world.releases()[-1])
    assert len(reports) == len(world.people)
    right = [guessed(world.design, reports, one, wanted) == one[wanted] for one in world.people]
    return sum(right) / len(right)


def allowed(epsilon: float, size: int) -> float:
    """Return how often somebody who knew which report is whose could be right, at most."""
    return math.exp(epsilon) / (math.exp(epsilon) + size - 1)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_no_answer_is_found_more_often_than_epsilon_allows(seed: int) -> None:
    world = lived(seed)
    for block in world.design.blocks:
        for question in block.questions:
            found = successes(world, question.key)
            assert found <= allowed(block.epsilon, question.size), question.key


def test_the_same_attack_succeeds_where_background_answers_are_in_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a keep of nearly 1, three known background answers reveal the fourth."""
    in_clear(monkeypatch)
    world = lived(1)
    found = successes(world, "g3")
    assert found > 0.9 > allowed(3, 15) + 0.2


def in_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let surveys open with background answers that are hardly ever replaced."""
    draft_design = Survey.draft_design

    def clear(survey: Survey) -> Design:
        design = draft_design(survey)
        blocks = (
            replace(block, keep=SCALE - 1) if block.background else block for block in design.blocks
        )
        return replace(design, blocks=tuple(blocks))

    monkeypatch.setattr(Survey, "draft_design", clear)


# --- Participation --------------------------------------------------------------------------------


def steps(world: World) -> Iterator[Counter[bytes]]:
    """Yield the reports by which each release differs from the one before."""
    before: Counter[bytes] = Counter()
    for release in world.releases():
        now = Counter(reports_of(release))
        assert not before - now  # published reports stay
        yield now - before
        before = now


@pytest.mark.parametrize("people", [1, 19, 20, 21, 39, 40, 41, 59, 60, 61, 79, 80, 100])
def test_no_two_releases_differ_by_fewer_people_than_a_crowd(people: int) -> None:
    """Reports arrive one at a time, and the survey closes after any number of them."""
    world = lived(1, people)
    sizes = [step.total() for step in steps(world)]
    assert sum(sizes) == (people if people >= CROWD else 0)
    assert all(size >= CROWD for size in sizes)
    if sizes:
        assert world.releases()[-1].final


def test_a_report_is_not_matched_with_its_person_more_often_than_epsilon_and_crowd_allow() -> None:
    """The attacker knows who is in each step and all that they answered, and matches them."""
    world = lived(5, background=[])
    right = total = 0
    (block,) = world.design.blocks
    position = 0
    for step in steps(world):
        reports = list(step.elements())
        people = world.people[position : position + len(reports)]
        position += len(reports)
        chances = np.array(
            [
                [
                    float(block.mechanism.probability([one["q0"], one["q1"]], list(report)))
                    for report in reports
                ]
                for one in people
            ]
        )
        _, matched = linear_sum_assignment(-np.log(chances))
        # Equal reports cannot be told apart: each is equally likely to be the right one.
        for person, place in zip(people, matched, strict=True):
            total += 1
            alike = step[reports[place]]
            right += chances_of_the_own_report(world, person, reports[place]) / alike
    assert total == PEOPLE
    assert right / total <= allowed(world.design.epsilon, CROWD)


def chances_of_the_own_report(world: World, person: Person, report: bytes) -> float:
    """Return how likely the person sent a report with this content."""
    (block,) = world.design.blocks
    return float(block.mechanism.probability([person["q0"], person["q1"]], list(report)))
