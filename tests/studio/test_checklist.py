"""The checklist: each finding fires only where it must, and blocked surveys do not open."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from aggregation.planner.notation import read
from aggregation.planner.terms import Terms
from studio import checklist, drafts, precision, wording
from studio.findings import ORDER, Finding
from survey import files, schedule
from survey.design import DesignError
from survey.models import NotReady, Question, Survey
from survey.respondent.public_design import language_name
from tests.support import builders

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def as_in_production(settings: Any) -> None:
    settings.CHECKLIST, settings.MAX_EPSILON, settings.MIN_CROWD = True, 4.0, 10
    settings.MAX_BACKGROUND_EPSILON = 5.0


def draft(**changes: Any) -> Survey:
    return builders.draft(**builders.READY | changes)


def found(survey: Survey, level: str) -> dict[str, Finding]:
    return {one.place: one for one in checklist.of(survey) if one.level == level}


def choice(*options: str, text: str = "Which?", **more: Any) -> list[dict[str, Any]]:
    return [{"key": "q1", "text": text, "kind": "choice", "options": list(options), **more}]


def yes_no(text: str, **more: Any) -> list[dict[str, Any]]:
    return [{"key": "q1", "text": text, "kind": "yes_no", **more}]


def by(*options: str, text: str = "Age?", **more: Any) -> dict[str, Any]:
    """Return a change that sets this as the only background question."""
    return {"background": [{"key": "age", "text": text, "options": list(options), **more}]}


def asked_of_everybody(number: int) -> dict[str, Any]:
    """Return a change that adds this many background questions with the default ε."""
    options = ["Early", "Late"]
    return {
        "background": [
            {"key": f"g{i}", "text": f"Shift {i}?", "options": options} for i in range(number)
        ]
    }


GERMAN = {
    "title": "Klein", "introduction": "Zwei.", "asked_by": "Olga", "purpose": "Darum",
    "contact": "olga@example.org",
    "questions": {"q1": {"text": "Haben Sie?"},
                  "q2": {"text": "Welche?", "options": ["Rot", "Grün", "Blau"]},
                  "age": {"text": "Alter?", "options": ["Unter 30", "Ab 30"]}},
}  # fmt: skip


def german(**changes: Any) -> dict[str, Any]:
    return {"translations": {"de": {k: v for k, v in (GERMAN | changes).items() if v is not None}}}


def german_question(key: str, text: str, *options: str) -> dict[str, Any]:
    """Return the German translation with this question changed."""
    given = {"text": text} | ({"options": list(options)} if options else {})
    return german(questions=GERMAN["questions"] | {key: given})


# Level, place, a change that triggers it, and a similar one that does not.
CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "ε over the limit": ("blocks", "epsilon", {"epsilon": 4.1}, {"epsilon": 4}),
    "weak": ("warns", "epsilon", {"epsilon": 2.3}, {"epsilon": 2.2}),
    "much background": ("warns", "background", asked_of_everybody(4), asked_of_everybody(3)),
    "nobody said how many": ("blocks", "expected", {"expected": None}, {"expected": 5000}),
    "too few people": ("blocks", "expected", {"expected": 200}, {"expected": 300}),
    "rough answers": ("warns", "expected", {"expected": 400}, {"expected": 500}),
    "crowd above all": ("blocks", "crowd", {"crowd": 5001}, {"crowd": 5000}),
    "people below a usual crowd": ("blocks", "expected", {"expected": 19}, {}),
    "crowd below the site's": ("blocks", "crowd", {"crowd": 9}, {"crowd": 10}),
    "few crowds": ("warns", "expected", {"crowd": 1251}, {"crowd": 1250}),
    "rough by group": (
        "warns", "question-age", by(*"abcdefghijklmnop"), by(*"abc"),
    ),
    "background ε over the limit": (
        "blocks", "question-age", by(*"ab", epsilon=5.1), by(*"ab", epsilon=5),
    ),
    "a background question that identifies": (
        "warns", "question-age",
        by("1000", "2000", text="What is your postcode?"),
        by("North", "South", text="Which part of the country?"),
    ),
    "a question that identifies": (
        "warns", "question-q1",
        {"questions": yes_no("Is Kim your first name?"), "blocks": []},
        {"questions": yes_no("Has anyone called you names?"), "blocks": []},
    ),
    "nobody asks": ("blocks", "asked_by", {"asked_by": " "}, {}),
    "no contact": ("blocks", "contact", {"contact": ""}, {}),
    "no reason": ("warns", "purpose", {"purpose": ""}, {}),
    "no introduction": ("warns", "introduction", {"introduction": ""}, {}),
    "kept for good": ("warns", "retention_days", {"retention_days": None}, {}),
    "title not translated": ("blocks", "language-de", german(title=None), german()),
    "question not translated": (
        "blocks", "language-de", german(questions={"q1": {"text": "Haben Sie?"}}), german(),
    ),
    "options not translated": (
        "blocks", "language-de", german_question("age", "Alter?"), german(),
    ),
    "why not translated": ("warns", "language-de", german(purpose=None), german(asked_by=None)),
    "a question that identifies in a translation": (
        "warns", "language-de", german_question("age", "Ihre Postleitzahl?", "1", "2"), german(),
    ),
    "two things in a translation": (
        "warns", "language-de",
        german_question("q1", "Rauchen und trinken Sie?"),
        german_question("q1", "Do you smoke and drink?"),
    ),
    "options that overlap in a translation": (
        "warns", "language-de",
        german_question("age", "Alter?", "0-30", "30-60"),
        german_question("age", "Alter?", "0-29", "30-60"),
    ),
    "a long title in a translation": (
        "warns", "language-de", german(title="x" * 101), german(title="x" * 100),
    ),
    "a long option in a translation": (
        "warns", "language-de",
        german_question("age", "Alter?", "x" * 81, "y"),
        german_question("age", "Alter?", "x" * 80, "y"),
    ),
    "two things": (
        "warns", "question-q1",
        {"questions": yes_no("Do you smoke and drink?"), "blocks": []},
        {"questions": yes_no("Do you smoke 10 or more a day?"), "blocks": []},
    ),
    "the same option twice": (
        "blocks", "question-q1",
        {"questions": choice("Often", "often.", "Never"), "blocks": []},
        {"questions": choice("<5", ">5", "5"), "blocks": []},
    ),
    "options that overlap": (
        "warns", "question-q1",
        {"questions": choice("18-25", "25–30", "31 to 40"), "blocks": []},
        {"questions": choice("18-25", "26–30", "31 to 40"), "blocks": []},
    ),
    "sensitive, no way out": (
        "warns", "question-q1",
        {"questions": yes_no("Do you take drugs?"), "blocks": []},
        {"questions": yes_no("Do you take drugs?", prefer_not_to_say=True), "blocks": []},
    ),
    "long title": ("warns", "title", {"title": "x" * 101}, {"title": "x" * 100}),
    "long reason": ("warns", "purpose", {"purpose": "x" * 801}, {"purpose": "x" * 800}),
    "long question": (
        "warns", "question-q1",
        {"questions": yes_no("x" * 201), "blocks": []},
        {"questions": yes_no("x" * 200), "blocks": []},
    ),
    "long option": (
        "warns", "question-q1",
        {"questions": choice("x" * 81, "y"), "blocks": []},
        {"questions": choice("x" * 80, "y"), "blocks": []},
    ),
}  # fmt: skip


@pytest.mark.once  # of a draft in memory, which the other tests read from every database
@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_each_check_fires_on_its_bad_draft_only(name: str) -> None:
    level, place, bad, good = CASES[name]
    assert place in found(draft(**bad), level)
    assert place not in found(draft(slug="good", **good), level)


def test_an_epsilon_over_the_limit_is_listed_once() -> None:
    survey = draft(epsilon=4.5, **by(*"ab", epsilon=6))
    stops = [one.place for one in checklist.of(survey) if one.level == "blocks"]
    assert stops == ["epsilon", "question-age"]
    with pytest.raises(DesignError):
        survey.open()


def test_small_groups_warn_and_block_nothing() -> None:
    survey = draft(**by(*"abcdefghijklmnop"))
    rough = found(survey, "warns")["question-age"]
    assert "one of 16 groups" in rough.why and not found(survey, "blocks")
    survey.open()
    assert survey.state == "open"


def test_the_checklist_never_suggests_a_crowd_below_the_default() -> None:
    for expected in (5, 19, 60, 79):
        said = checklist.of(draft(slug=f"of-{expected}", expected=expected))
        assert "crowd" not in {one.place for one in said}


def test_a_good_survey_is_fine_in_every_part() -> None:
    lines = checklist.of(draft())
    assert [one.level for one in lines] == ["fine"] * len(checklist.PARTS)


def test_blocking_problems_come_first() -> None:
    levels = [one.level for one in checklist.of(draft(contact="", purpose="", language="zh"))]
    assert levels == sorted(levels, key=ORDER.index) and set(levels) == {*ORDER}


UNCHECKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no design": ({"ask": 7}, ["Enough people for useful results"]),
    "no question": (
        {"questions": [], "blocks": [], "background": []},
        ["Enough people for useful results", "No question asks who somebody is",
         "Every question asks one thing", "All texts fit a phone"],
    ),
    "a language that we do not know": (
        {"language": "zh-Hant"},
        ["No question asks who somebody is", "Every question asks one thing"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCHECKED)
def test_unchecked_parts_are_not_called_fine(name: str) -> None:
    changes, parts = UNCHECKED[name]
    survey = draft()
    files.store(survey, builders.FILE | builders.READY | changes)
    lines = checklist.of(survey)
    late = [one for one in lines if one.level == "unchecked"]
    assert [one.what for one in late] == [
        f"Not checked yet: {part[0].lower()}{part[1:]}" for part in parts
    ]
    assert all(one.why for one in late)
    assert not {one.what for one in lines if one.level == "fine"} & set(parts)


def test_languages_are_named_in_english() -> None:
    tags = ["de", "de-AT", "pt-BR", "zh-Hant", "tlh"]
    assert [language_name(tag) for tag in tags] == [
        "German", "German (de-AT)", "Brazilian Portuguese", "Traditional Chinese",
        "the language tlh",
    ]  # fmt: skip
    warned = found(draft(**german(purpose=None)), "warns")["language-de"]
    assert warned.what.endswith("into German") and warned.why.endswith("see them in English.")


@pytest.mark.parametrize("epsilon", [0.5, 2, 4])
def test_the_checklist_says_how_many_people_would_be_enough(epsilon: float) -> None:
    survey = draft(epsilon=epsilon, expected=20)
    design = survey.draft_design()
    enough = precision.people_for(design, checklist.USELESS)
    assert enough and f"({enough:,} would do)" in found(survey, "blocks")["expected"].why
    fewer = enough - len(design.sensitive_blocks)
    (width, _), (wider, _) = (precision.least_precise(design, n) for n in (enough, fewer))
    assert width <= 0.15 < wider
    assert precision.people_for(draft(slug="tiny", epsilon=1e-7).draft_design(), 0.15) is None


def test_an_impossible_design_is_listed_with_the_other_problems() -> None:
    survey = draft(contact="")
    Question.objects.filter(key="q2").update(options=["Only one"], prefer_not_to_say=False)
    stops = found(survey, "blocks")
    assert "at least two" in stops["question-q2"].what and "Which?" in stops["question-q2"].why
    assert "contact" in stops


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no title": ({"title": " "}, "title"),
    "no questions": ({"questions": [], "blocks": []}, "questions"),
    "a question without a text": ({"questions": yes_no(""), "blocks": []}, "question-q1"),
    "an empty option": ({"questions": choice("a", ""), "blocks": []}, "question-q1"),
    "one option": (by("a"), "question-age"),
    "the same option": (by("a", "a"), "question-age"),
    "a character that is not allowed": ({"purpose": "a\u202eb"}, "purpose"),
    "a part of the blocks": ({"ask": 7}, "ask"),
    "options of a translation": (
        german_question("age", "Alter?", "Jung"), "language-de",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_errors_shown_in_the_editor_also_block_opening(name: str) -> None:
    changes, place = BROKEN[name]
    survey = draft()
    if changes.keys() <= {"title", "purpose"}:  # which no file can contain
        Survey.objects.update(**changes)
        survey.refresh_from_db()
    else:
        files.store(survey, builders.FILE | builders.READY | changes)
    said = set(drafts.problems(survey).values())
    stops = [one for one in checklist.of(survey) if one.level == "blocks"]
    assert said and said == {f"{one.what}." for one in stops if f"{one.what}." in said}
    assert [one.place for one in stops if f"{one.what}." in said] == [place]
    if place == "language-de":
        assert stops[0].why == "In German, at questions.age.options"
    with pytest.raises((DesignError, NotReady)):
        survey.open()


def test_a_survey_must_not_close_before_it_opens() -> None:
    survey = draft()
    now = timezone.now()
    for opens, closes, stopped in ((None, -1, True), (5, 4, True), (None, 1, False), (5, 6, False)):
        survey.opens_at = now + timedelta(hours=opens) if opens else None
        survey.closes_at = now + timedelta(hours=closes)
        survey.save()
        assert ("closes_at" in found(survey, "blocks")) is stopped


def test_half_widths_agree_with_the_planner() -> None:
    survey = draft(questions=choice(*"abcd"), blocks=[], background=[])
    terms = Terms(read("choice of 4"), epsilon=2.0, people=5000, half_width=0.1)
    design = survey.draft_design()
    assert precision.least_precise(design, 5000)[0] == pytest.approx(terms.reach(5000))
    assert precision.least_precise(design, 0)[0] == float("inf")


TWO: dict[str, tuple[list[str], list[str]]] = {
    "en": (["Do you drink or smoke?"], ["Were you ill between May and June?", "Is it sandy?"]),
    "de": (["Rauchen und trinken Sie?"], ["Waren Sie 5 Tage oder mehr krank?", "Stundenlang?"]),
    "es": (["¿Fuma o bebe?", "¿Fuma y bebe?"], ["¿Bebe 5 días o más?", "¿Ya no fuma?"]),
    "fr": (["Fumez-vous ou buvez-vous ?"], ["Est-ce 5 jours ou plus ?", "Êtes-vous outré ?"]),
    "ar": (["هل تدخن أو تشرب؟", "هل تدخن وتشرب؟"], ["هل تدخن 5 مرات أو أكثر؟"]),
    "de-AT": (["Rauchen oder trinken Sie?"], ["Rauchen Sie?"]),
    "zh": ([], ["你抽烟和喝酒吗?"]),  # an unknown language
}


@pytest.mark.parametrize("tag", TWO)
def test_double_questions_are_found_in_every_language(tag: str) -> None:
    two, one = TWO[tag]
    assert all(wording.asks_two(text, tag) for text in two)
    assert not any(wording.asks_two(text, tag) for text in one)


IDENTIFYING = {
    "a name": ["Your full name?", "Ihr Name?", "¿Su nombre?", "Votre nom ?", "ما اسمك؟"],
    "an e-mail address": ["E-mail?", "¿Correo electrónico?", "Courriel ?", "البريد الإلكتروني؟"],
    "a date of birth": ["Birth date?", "Geburtstag?", "¿Fecha de nacimiento?",
                        "Date de naissance ?", "تاريخ الميلاد؟"],
    "a postcode": ["Post code?", "Postleitzahl?", "¿Código postal?", "Code postal ?",
                   "الرمز البريدي؟"],
    "an address": ["Your IP address?", "Ihre Adresse?", "¿Su dirección?", "Votre adresse ?",
                   "عنوانك؟"],
    "a personal number": ["Employee number?", "Personalnummer?", "¿Número de empleado?",
                          "Votre matricule ?", "الرقم الوظيفي؟"],
    "a telephone number": ["Phone number?", "Telefonnummer?", "¿Número de teléfono?",
                           "Numéro de téléphone ?", "رقم الهاتف؟"],
}  # fmt: skip
HARMLESS = [
    "How old are you?", "Namhafte Orte?", "¿Cómo está?", "Êtes-vous content ?", "كم عمرك؟",
    "Did you name a price?", "What do you work as?", "Did you address it?",
]  # fmt: skip


def test_identifying_questions_are_found_in_every_language() -> None:
    for what, texts in IDENTIFYING.items():
        assert [wording.identifies(text) for text in texts] == [what] * len(texts)
    assert [wording.identifies(text) for text in HARMLESS] == [""] * len(HARMLESS)


# --- Whatever the way in --------------------------------------------------------------------------


def as_admin() -> Client:
    return builders.client(builders.root())


def by_page(survey: Survey) -> str:
    given = {"do": "open", "seen": survey.content_hash()}
    return as_admin().post(f"/studio/{survey.slug}/open/", given).content.decode()


def by_model(survey: Survey) -> str:
    with pytest.raises(NotReady) as refused:
        survey.open()
    return " ".join(refused.value.messages)


def by_schedule(survey: Survey) -> str:
    past = timezone.now() - timedelta(minutes=1)
    Survey.objects.update(opens_at=past, approved_hash=survey.content_hash())
    schedule.apply()
    survey.refresh_from_db()
    assert survey.opens_at is None  # once is enough
    return survey.opens_refused


def by_setting_a_time(survey: Survey) -> str:
    given = {"do": "open-at", "seen": survey.content_hash(), "at": "2029-01-01T09:00"}
    return as_admin().post(f"/studio/{survey.slug}/open/", given).content.decode()


@pytest.mark.parametrize("way", [by_page, by_model, by_schedule, by_setting_a_time])
def test_a_blocked_survey_does_not_open(way: Callable[[Survey], str]) -> None:
    survey = draft(contact="")
    assert "No contact is given" in way(survey)
    survey.refresh_from_db()
    assert survey.state == "draft" and not survey.design and survey.opens_at is None


def test_a_blocked_survey_does_not_open_by_command(tmp_path: Any) -> None:
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(builders.FILE | builders.READY | {"epsilon": 5}))
    with pytest.raises(CommandError, match="at most 4 on this site"):
        call_command("import_survey", str(file), "--open")
    assert not Survey.objects.exists()
    file.write_text(json.dumps(builders.FILE | builders.READY))
    call_command("import_survey", str(file), "--open")
    assert Survey.objects.get().state == "open"


def test_the_survey_is_judged_as_it_is_frozen() -> None:
    """A change by someone else since the object was read counts."""
    survey = draft()
    Survey.objects.update(asked_by="", contact="")
    with pytest.raises(ValidationError) as refused:
        survey.open()
    assert len(refused.value.messages) == 2


def test_a_site_can_turn_blocking_off(settings: Any) -> None:
    settings.CHECKLIST = False
    survey = draft(contact="")
    assert "contact" in found(survey, "blocks")
    survey.open()
    assert survey.state == "open"


# --- Every kind of question -----------------------------------------------------------------------

HARM: dict[str, Any] = {
    "key": "harm",
    "text": "Were you harassed?",
    "kind": "yes_no",
    "prefer_not_to_say": True,
}
DAYS: dict[str, Any] = {
    "key": "days",
    "text": "How many days?",
    "kind": "number",
    "least": 0,
    "most": 60,
    "unit": "days",
}
AFTER = {"only_if": {"question": "harm", "options": ["yes"]}}


def test_the_margin_of_a_number_is_given_in_its_unit() -> None:
    """The range is 60 days, so 0.15 of it are 9 days."""
    common = {"blocks": [], "expected": 60}
    survey = draft(questions=[DAYS], **by("A", "B", "C"), **common)
    width, _ = precision.least_precise(survey.draft_design(), 60)
    assert checklist.USELESS < width < 1
    assert f"would be {60 * width:.0f} days. Reach" in found(survey, "blocks")["expected"].why
    survey.expected = 150
    width, _ = precision.least_precise(survey.draft_design(), 150)
    assert checklist.WIDE < width < checklist.USELESS
    rough = found(survey, "warns")
    assert f"would be {60 * width:.1f} days (" in rough["expected"].why
    assert rough["expected"].why.endswith(" would do for 6.0 days).")
    (by_group,) = (one for place, one in rough.items() if place == "question-age")
    assert re.search(r"would be \d+ days\. Offer fewer groups", by_group.why)
    bare = {**DAYS, "unit": ""}
    why = found(draft(slug="bare", questions=[bare], **common), "blocks")["expected"].why
    assert re.search(r"would be \d\d\u202f% of its range\. Reach", why)


def test_every_kind_of_question_can_satisfy_the_checklist() -> None:
    options = ["Never", "Sometimes", "Often"]
    questions = [
        HARM, DAYS,
        {"key": "mood", "text": "How often?", "kind": "scale", "options": options, **AFTER},
        {"key": "who", "text": "Which?", "kind": "several", "options": options, "picks": 2},
    ]  # fmt: skip
    survey = draft(questions=questions, blocks=[], fillers=True, expected=50_000, background=[])
    assert not found(survey, "blocks") and not found(survey, "warns")
    survey.open()


def test_a_number_is_translated_with_its_unit() -> None:
    german: dict[str, Any] = {"title": "Klein", "introduction": "Zwei.", "purpose": "Darum."}
    texts = {"days": {"text": "Wie viele Tage?"}}
    survey = draft(questions=[DAYS], blocks=[], background=[],
                   translations={"de": german | {"questions": texts}})  # fmt: skip
    assert "Missing: the unit of “How many days?”." in found(survey, "blocks")["language-de"].why
    survey.translations["de"]["questions"]["days"]["unit"] = "Tage"
    survey.save()
    assert "language-de" not in found(survey, "blocks")


def test_a_number_has_options_to_translate_only_if_it_can_be_declined() -> None:
    polish: dict[str, Any] = {"title": "Mały", "introduction": "Dwa.", "purpose": "Bo."}
    texts = {"days": {"text": "Ile dni?", "unit": "dni"}}
    given = {"blocks": [], "background": [], "translations": {"pl": polish | {"questions": texts}}}
    survey = draft(questions=[DAYS], **given)
    assert "language-pl" not in found(survey, "blocks")
    survey.questions.update(prefer_not_to_say=True)
    assert "the options of" in found(Survey.objects.get(), "blocks")["language-pl"].why


def test_a_broken_condition_blocks_at_its_question() -> None:
    survey = draft(questions=[HARM, DAYS | AFTER], blocks=[], background=[])
    survey.questions.filter(key="harm").delete()
    finding = found(Survey.objects.get(), "blocks")["question-days"]
    assert finding.what.startswith("The question that this depends on was deleted")
    with pytest.raises((NotReady, DesignError)):
        Survey.objects.get().open()


def test_follow_ups_without_fillers_are_warned_about() -> None:
    questions = [HARM, DAYS | AFTER]
    survey = draft(questions=questions, blocks=[], background=[], expected=50_000)
    assert "take longer" in found(survey, "warns")["fillers"].what
    survey.fillers = True
    survey.save()
    assert "fillers" not in found(survey, "warns")
    survey.questions.all().delete()
    assert "fillers" not in found(Survey.objects.get(), "warns")


def test_nobody_reaches_more_people_than_there_are() -> None:
    assert "only 4,000 in all" in found(draft(population=4000), "blocks")["population"].what
    Survey.objects.all().delete()
    assert "population" not in found(draft(population=5000), "blocks")
