"""The surveys of the demo: how they are loaded, and what is true of their invented people."""

from collections.abc import Callable, Iterator
from io import StringIO
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from aggregation.jobs import removal
from aggregation.models import Release
from aggregation.planner.planned_design import kind_of
from operations.demo import CLOSED, DRAFT, LOGINS, OPEN
from operations.demo_surveys import ANSWERED, DemoSurvey
from operations.management.commands import load_demo
from studio import checklist, precision
from survey import files, simulation
from survey.design import KINDS
from survey.design.kinds.number import Number
from survey.design.questions import pick
from survey.models import Report, Survey

pytestmark = pytest.mark.django_db

# --- Loading --------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Let only a few people answer, in as many waves."""
    settings.CHECKLIST = True
    small = [demo._replace(waves=(60,) * len(demo.waves)) for demo in ANSWERED]
    monkeypatch.setattr(load_demo, "ANSWERED", small)


def load() -> str:
    out = StringIO()
    call_command("load_demo", stdout=out)
    return out.getvalue()


def counts() -> list[int]:
    return [model.objects.count() for model in (User, Survey, Report, Release)]


def test_there_is_an_open_a_closed_and_a_draft_survey(few: None) -> None:
    load()
    states = dict(Survey.objects.values_list("slug", "state"))
    assert states == {OPEN: "open", CLOSED: "closed", DRAFT: "draft"}
    assert set(User.objects.values_list("username", flat=True)) == set(LOGINS)
    for survey in Survey.objects.all():
        assert dict(survey.membership_set.values_list("user__username", "role")) == {
            "researcher": "researcher", "viewer": "viewer", "admin": "owner",
        }  # fmt: skip


def test_every_wave_has_a_release_and_the_closed_survey_a_final_one(few: None) -> None:
    load()
    told = list(Release.objects.values_list("survey__slug", "number", "reports", "final"))
    assert [one for one in told if one[0] == OPEN] == [
        (OPEN, wave + 1, 60 * wave + 40, False) for wave in range(5)
    ]
    assert [one for one in told if one[0] == CLOSED] == [
        (CLOSED, 1, 40, False), (CLOSED, 2, 100, False), (CLOSED, 3, 120, True),
    ]  # fmt: skip
    public = Survey.objects.filter(results_public=True)
    assert list(public.values_list("slug", flat=True)) == [CLOSED]


def test_loading_it_again_changes_nothing(few: None) -> None:
    assert load().count("simulated people answer") == 2
    before = counts()
    assert load() == ""
    assert counts() == before


def test_an_interrupted_demo_is_completed(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    send, sent = simulation.send, 0

    def interrupted(*arguments: Any) -> Iterator[int]:
        nonlocal sent
        sent += 1
        if sent == 3:
            raise KeyboardInterrupt
        yield from send(*arguments)

    monkeypatch.setattr(simulation, "send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load()
    assert Report.objects.count() == 120
    assert "180 simulated people answer “Wellbeing at work”" in load()
    assert Report.objects.filter(survey__slug=OPEN).count() == 300
    assert Survey.objects.get(slug=OPEN).releases.count() == 5


def test_what_somebody_changed_is_left_alone(few: None) -> None:
    load()
    Survey.objects.get(slug=OPEN).close()
    Survey.objects.get(slug=CLOSED).publish_results(False)
    Survey.objects.filter(slug=DRAFT).update(title="Mine")
    load()
    assert Survey.objects.get(slug=OPEN).state == "closed"
    assert not Survey.objects.filter(results_public=True).exists()
    assert Survey.objects.get(slug=DRAFT).title == "Mine"


def test_a_removed_survey_does_not_come_back(few: None) -> None:
    load()
    removal.expire(Survey.objects.get(slug=CLOSED), lambda: None)
    load()
    assert set(Survey.objects.values_list("slug", flat=True)) == {OPEN, DRAFT}


# --- The surveys ----------------------------------------------------------------------------------


def survey_of(slug: str) -> Survey:
    return files.load((load_demo.FOLDER / f"{slug}.json").read_text(encoding="utf-8"))


def test_the_open_survey_uses_every_kind_and_asks_few_questions() -> None:
    design = survey_of(OPEN).draft_design()
    assert {question.kind for question in design.questions} == KINDS.keys()
    assert any(question.only_if for question in design.questions)
    assert len(design.background) == 2 and design.ask == 1
    assert max(len(block.questions) for block in design.sensitive_blocks) <= 3


def test_the_checklist_finds_nothing_in_the_answered_surveys(settings: Any) -> None:
    settings.CHECKLIST = True
    for demo in ANSWERED:
        found = checklist.of(survey_of(demo.slug))
        assert [one.what for one in found if one.level != "fine"] == []


def test_the_draft_is_half_finished() -> None:
    survey = survey_of(DRAFT)
    found = {one.place for one in checklist.of(survey) if one.level == "blocks"}
    assert found == {"asked_by", "contact", "language-es"}
    kinds = {question.kind for question in survey.draft_design().questions}
    assert {"yes_no", "choice", "scale", "number"} <= kinds


# --- What is true ---------------------------------------------------------------------------------


class Person(NamedTuple):
    wave: int
    groups: dict[str, int]
    answers: dict[str, Any]


class Truth:
    """The invented people of a demo survey, and how precisely it can tell about them."""

    def __init__(self, demo: DemoSurvey) -> None:
        self.demo, self.design = demo, survey_of(demo.slug).draft_design()
        self.people = list(self.answering(Random(2026)))

    def answering(self, random: Random) -> Iterator[Person]:
        for wave, people in enumerate(self.demo.waves):
            population = self.demo.population(wave, random)
            for _ in range(people):
                groups = {
                    one.key: pick(self.demo.background[one.key], random)
                    for one in self.design.background
                }
                shares = population(groups)
                yield Person(
                    wave, groups, simulation.sensitive_answers(self.design, shares, random)
                )

    def mean(self, key: str, among: Callable[[Person], bool]) -> float:
        return fmean(one.answers[key] for one in self.people if among(one))

    def between(self, key: str, by: str, one: int, other: int) -> float:
        """Return the difference between two groups, in margins of error in a group."""
        question = next(each for each in self.design.questions if each.key == key)
        block, _ = self.design.places[by][0]
        margin = precision.of_kind(kind_of(self.design, question), len(self.people), block)
        if isinstance(question, Number):
            margin *= question.most - question.least
        first, second = (
            self.mean(key, lambda person, group=group: person.groups[by] == group)
            for group in (one, other)
        )
        return (first - second) / margin


@pytest.fixture
def staff() -> Truth:
    return Truth(ANSWERED[0])


@pytest.fixture
def applicants() -> Truth:
    return Truth(ANSWERED[1])


def test_the_groups_of_the_staff_differ_by_more_than_the_margins_of_error(staff: Truth) -> None:
    nurse, doctor, other = range(3)
    assert staff.between("harassed", "role", nurse, other) > 2.5
    assert staff.between("leaving", "role", nurse, other) > 2.5
    assert staff.between("worked-ill", "role", doctor, other) > 2.5
    assert staff.between("overtime", "role", doctor, nurse) > 2.5
    assert staff.between("overtime", "role", doctor, other) > 2.5


def test_answers_of_the_staff_go_together(staff: Truth) -> None:
    often, rarely = (
        staff.mean("leaving", lambda person, some=some: person.answers["exhausted"] in some)
        for some in ((2, 3), (0, 1))
    )
    assert often - rarely > 0.3
    # Who is harassed by a superior hardly reports it.
    patient, superior = (
        staff.mean("told", lambda person, who=who: person.answers["who"] == who) for who in (0, 2)
    )
    assert patient > 0.6 and superior < 0.15


def test_the_releases_of_the_staff_survey_show_a_trend(staff: Truth) -> None:
    """Everybody so far thinks less of leaving, from each release to the next."""
    leaving = [
        staff.mean("leaving", lambda person, wave=wave: person.wave <= wave)
        for wave in range(len(staff.demo.waves))
    ]
    assert leaving == sorted(leaving, reverse=True)
    question = next(one for one in staff.design.questions if one.key == "leaving")
    first = precision.of_kind(kind_of(staff.design, question), staff.demo.waves[0])
    assert leaving[0] - leaving[-1] > first


def test_one_office_asks_applicants_to_pay_and_those_who_do_wait_less(applicants: Truth) -> None:
    old_town, harbour, hillside = range(3)
    assert applicants.between("asked", "office", harbour, hillside) > 2.5
    assert applicants.between("asked", "office", harbour, old_town) > 1.5
    paid, refused = (
        applicants.mean("wait", lambda person, paid=paid: person.answers["paid"] == paid)
        for paid in (1, 0)
    )
    assert refused - paid > 1
    assert applicants.mean("extra", lambda person: person.answers["asked"] == 0) == 0
