"""Surveys in several languages: errors, the frozen texts, and what is served."""

import json
from typing import Any

import pytest
from django.test import Client

from survey import files
from survey.design import Design, DesignError, languages
from survey.design.languages import ENGLISH, WORDS, Words, is_tag
from survey.models import Survey
from tests.support import builders
from tests.support.services import ROOT

pytestmark = pytest.mark.django_db

GERMAN: dict[str, Any] = {
    "title": "Eine kleine Umfrage",
    "introduction": "Zwei Fragen und ein Alter.",
    "questions": {
        "q1": {"text": "Haben Sie?"},
        "q2": {"text": "Welche?", "options": ["Rot", "Grün", "Blau"]},
        "age": {"text": "Wie alt sind Sie?", "options": ["Unter 30", "30 und älter"]},
    },
}
DUTCH: dict[str, Any] = {
    "questions": {
        "q1": {"text": "Hebt u?", "options": ["Nee", "Ja"]},
        "q2": {"options": ["Rood", "Groen", "Blauw", "Zeg ik liever niet"]},
    }
}


def frozen(**changes: Any) -> dict[str, Any]:
    return builders.draft(**changes).draft_design().translations


# --- What is frozen -------------------------------------------------------------------------------


def test_a_design_without_translations_does_not_mention_them() -> None:
    design = builders.draft().draft_design()
    assert "translations" not in json.loads(design.canonical)


def test_translated_options_are_frozen_with_the_built_in_ones() -> None:
    assert frozen(translations={"de": GERMAN}) == {
        "de": {
            "questions": {
                "q1": {"text": "Haben Sie?", "options": ["Nein", "Ja"]},
                "q2": {"text": "Welche?", "options": ["Rot", "Grün", "Blau", "Keine Angabe"]},
                "age": {
                    "text": "Wie alt sind Sie?",
                    "options": ["Unter 30", "30 und älter", "Keine Angabe"],
                },
            },
        }
    }


def test_a_translation_without_built_in_options_lists_every_option() -> None:
    assert frozen(translations={"nl": DUTCH}) == {"nl": DUTCH}
    untranslated = {"nl": {"questions": {"q1": {"text": "Hebt u?"}}}}
    assert frozen(slug="other", translations=untranslated) == untranslated


def test_missing_translations_and_titles_are_not_in_the_design() -> None:
    parts: dict[str, Any] = {
        "ar": {},
        "de": {"title": "Titel"},
        "es": {"questions": {"q1": {}}},
        "fr": {"questions": {"q2": {"text": "Lequel ?"}}},
    }
    assert frozen(translations=parts) == {"fr": {"questions": {"q2": {"text": "Lequel ?"}}}}
    without = builders.draft(slug="without").draft_design()
    assert builders.draft(slug="b", translations={"de": parts["de"]}).draft_design() == without


def test_the_design_with_translations_survives_its_canonical_form() -> None:
    design = builders.draft(translations={"de": GERMAN, "nl": DUTCH}).draft_design()
    again = Design.from_json(design.canonical)
    assert again == design and again.hash == design.hash
    turned = builders.draft(slug="turned", translations={"nl": DUTCH, "de": GERMAN}).draft_design()
    assert turned.hash == design.hash  # the order in a file does not matter


@pytest.mark.parametrize("key", ["q1", "q2", "age"])
def test_a_changed_word_changes_the_hash(key: str) -> None:
    changed = json.loads(json.dumps(GERMAN))
    changed["questions"][key]["text"] += "!"
    before = builders.draft(translations={"de": GERMAN}).draft_design()
    after = builders.draft(slug="other", translations={"de": changed}).draft_design()
    assert after.hash != before.hash
    assert after.blocks == before.blocks


# --- Our own words --------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["en", "de", "es", "fr", "ar", "de-AT", "nl"])
def test_option_keys_do_not_depend_on_the_language(tag: str) -> None:
    first = builders.FILE["questions"][0] | {"prefer_not_to_say": True}
    survey = builders.draft(language=tag, questions=[first, builders.FILE["questions"][1]])
    yes_no, choice, _ = survey.draft_design().questions
    assert [option.key for option in yes_no.options] == ["no", "yes", "prefer-not-to-say"]
    assert [option.key for option in choice.options][3] == "prefer-not-to-say"
    ours = WORDS.get(tag[:2], ENGLISH)
    assert [option.text for option in yes_no.options] == list(ours)
    assert choice.options[3].text == ours.declined


def test_the_built_in_options_are_known_in_every_language() -> None:
    assert WORDS == {
        "en": ("No", "Yes", "Prefer not to say"),
        "de": ("Nein", "Ja", "Keine Angabe"),
        "es": ("No", "Sí", "Prefiero no decirlo"),
        "fr": ("Non", "Oui", "Je préfère ne pas répondre"),
        "ar": ("لا", "نعم", "أفضّل عدم الإجابة"),
    }
    assert languages.words("de-CH") == Words("Nein", "Ja", "Keine Angabe")
    assert languages.words("nl") is languages.words("deu") is None


@pytest.mark.parametrize(
    "tag", ["en", "gsw", "pt-BR", "zh-Hant", "zh-Hant-TW", "es-419", "ca-valencia", "de-CH-1901"]
)
def test_good_language_tags_are_accepted(tag: str) -> None:
    assert is_tag(tag)


@pytest.mark.parametrize(
    "tag",
    ["", "e", "english", "DE", "De", "de_DE", "de-de", "de-", "-de", "de DE", "de\n", "دي",
     "zh-hant", "de-DE-x", "x-klingon", "de" + "-abcde" * 6, "__proto__", "constructor"],
)  # fmt: skip
def test_bad_language_tags_are_refused(tag: str) -> None:
    assert not is_tag(tag)
    with pytest.raises(DesignError, match="^translations: .*not a language tag"):
        languages.check("en", {tag: {}})


# --- What is refused, and where -------------------------------------------------------------------


def asked(key: str, **texts: Any) -> dict[str, Any]:
    return {"de": {"questions": {key: texts}}}


WRONG: dict[str, tuple[Any, str]] = {
    "null": (None, "translations: "),
    "a list": ([], "translations: must be an object"),
    "a text": ("de", "translations: must be an object"),
    "no tag": ({"german": {}}, "translations: 'german' is not a language tag"),
    "the own language": ({"en": {}}, "translations.en: this is the survey's own language"),
    "a language no object": ({"de": "Titel"}, "translations.de: must be an object"),
    "an unknown member": ({"de": {"titel": "x"}}, "translations.de: 'titel' is not a known key"),
    "a title no text": ({"de": {"title": 5}}, "translations.de.title: must be a text"),
    "an empty title": ({"de": {"title": " "}}, "translations.de.title: the text is empty"),
    "a long title": ({"de": {"title": "x" * 201}}, "translations.de.title: at most 200"),
    "an empty introduction": ({"de": {"introduction": ""}}, "translations.de.introduction: "),
    "questions no object": ({"de": {"questions": []}}, "translations.de.questions: must be an"),
    "an unknown question": (asked("q9"), "translations.de.questions: the survey has no question"),
    "no key": (asked("a b"), "translations.de.questions: 'a b' is not a valid key"),
    "a question no object": (
        {"de": {"questions": {"q1": "Haben Sie?"}}},
        "translations.de.questions.q1: must be an object",
    ),
    "an unknown member of a question": (
        asked("q1", kind="choice"),
        "translations.de.questions.q1: 'kind' is not a known key",
    ),
    "an empty text": (asked("q1", text="\n"), "translations.de.questions.q1.text: the text is"),
    "options no list": (asked("q2", options="Rot"), "translations.de.questions.q2.options: must"),
    "no options": (asked("q2", options=[]), "translations.de.questions.q2.options: must"),
    "an empty option": (
        asked("q2", options=["Rot", "", "Blau"]),
        "translations.de.questions.q2.options[1]: the text is empty",
    ),
    "an option no text": (
        asked("q2", options=["Rot", None, "Blau"]),
        "translations.de.questions.q2.options[1]: must be a text",
    ),
    "options of yes/no": (
        asked("q1", text="?", options=["Nein", "Ja"]),
        "translations.de.questions.q1.options: leave out",
    ),
    "too few": (
        asked("q2", options=["Rot", "Grün"]),
        "translations.de.questions.q2.options: must be 3 options, not 2",
    ),
    "too many": (
        asked("q2", options=["Rot", "Grün", "Blau", "Keine Angabe"]),
        "translations.de.questions.q2.options: must be 3 options, not 4",
    ),
    "the same option twice": (
        asked("q2", options=["Rot", "Grün", "Rot"]),
        "translations.de.questions.q2.options: two options are the same",
    ),
    "an option that is ours": (
        asked("q2", options=["Rot", "Grün", "Keine Angabe"]),
        "translations.de.questions.q2.options: two options are the same",
    ),
    "too few groups": (
        asked("age", options=["Jung"]),
        "translations.de.questions.age.options: must be 2 options, not 1",
    ),
    "yes/no without our words": (
        {"nl": {"questions": {"q1": {"options": ["Nee"]}}}},
        "translations.nl.questions.q1.options: must be 2 options, not 1, and include “No”, “Yes”",
    ),
    "declining without our words": (
        {"nl": {"questions": {"q2": {"options": ["Rood", "Groen", "Blauw"]}}}},
        "translations.nl.questions.q2.options: must be 4 options, not 3, and include “Prefer",
    ),
    "half a character": ({"de": {"title": "\ud800"}}, "translations.de.title: contains"),
    "a NUL": (asked("q1", text="a\0b"), "translations.de.questions.q1.text: contains"),
    "an override": (asked("q1", text="a\u202eb"), "translations.de.questions.q1.text: contains"),
    "an isolate": (
        asked("q2", options=["\u2067Rot", "Grün", "Blau"]),
        "translations.de.questions.q2.options[0]: contains",
    ),
}


@pytest.mark.parametrize(("translations", "what"), WRONG.values(), ids=WRONG.keys())
def test_bad_translations_are_refused_with_the_place(translations: Any, what: str) -> None:
    with pytest.raises(files.FileError) as refused:
        builders.draft(translations=translations)
    assert what in str(refused.value)
    assert not Survey.objects.exists()


@pytest.mark.parametrize("translations", [w[0] for w in WRONG.values() if w[0]], ids=str)
def test_bad_translations_stored_directly_keep_a_draft_from_opening(translations: Any) -> None:
    survey = builders.draft()
    survey.translations = translations
    with pytest.raises(DesignError, match="^translations"):
        survey.draft_design()


def test_direction_marks_and_other_scripts_are_kept() -> None:
    text = "هل استخدمتم (PIN)\u200f؟\u200e \u061c\u202f?"
    translations = {"ar": {"questions": {"q1": {"text": text}}}}
    survey = builders.opened(translations=translations)
    again = Survey.objects.get(pk=survey.pk).frozen_design()
    assert again.translations["ar"]["questions"]["q1"]["text"] == text


# --- Files, definition, demo ----------------------------------------------------------------------


def test_importing_what_was_exported_gives_the_same_survey() -> None:
    survey = builders.draft(
        language="fr", translations={"de": GERMAN, "nl": DUTCH, "en": {}, "pt-BR": {"title": "T"}}
    )
    exported = files.dump(Survey.objects.get(pk=survey.pk))
    assert exported["language"] == "fr" and exported["translations"]["de"] == GERMAN
    again = files.load(json.dumps(exported | {"slug": "again"}))
    assert files.dump(again) == exported | {"slug": "again"}
    assert again.draft_design() == survey.draft_design()


def test_the_definition_has_every_language() -> None:
    survey = builders.opened(translations={"nl": DUTCH, "de": GERMAN})
    document = Client().get("/api/v1/surveys/small/").json()
    assert document["language"] == "en" and document["title"] == "A small survey"
    assert document["translations"] == {
        "de": {"title": GERMAN["title"], "introduction": GERMAN["introduction"]},
        "nl": {},
    }
    assert document["design"]["translations"] == survey.frozen_design().translations
    assert document["design"]["hash"] == survey.frozen_design().hash == survey.design_hash


def test_a_definition_without_translations_has_none() -> None:
    builders.opened(language="de-AT")
    document = Client().get("/api/v1/surveys/small/").json()
    assert document["language"] == "de-AT" and document["translations"] == {}
    assert "translations" not in document["design"]


def test_the_description_of_the_api_has_the_translations() -> None:
    document = json.loads(Client().get("/api/schema/?format=json").content)
    schemas = document["components"]["schemas"]
    assert {"language", "translations"} <= set(schemas["Definition"]["required"])
    assert "translations" in schemas["Design"]["properties"]
    assert "translations" not in schemas["Design"]["required"]


def test_the_demo_is_complete_in_every_known_language() -> None:
    survey = files.load((ROOT / "survey/demo/wellbeing-at-work.json").read_text(encoding="utf-8"))
    design = survey.draft_design()
    assert {survey.language, *survey.translations} == WORDS.keys()
    for tag, translation in survey.translations.items():
        assert translation["title"] and translation["introduction"]
        for one in design.questions:
            texts = design.translations[tag]["questions"][one.key]
            assert texts["text"] and len(texts.get("options", [])) == len(one.options)
            assert ("unit" in texts) == bool(one.as_json().get("unit"))
