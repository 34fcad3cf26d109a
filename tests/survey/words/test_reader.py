"""Which language a public page is in."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from survey.design import Design, build
from survey.words.reader import Content, menu, reader, reader_of, varies
from tests.vectors.generate import questions


def asked(accept: str = "", query: str = "") -> Any:
    headers = {"accept-language": accept} if accept else {}
    return RequestFactory().get(f"/results/x/{query}", headers=headers)


def texts(language: str, *translated: str) -> Any:
    translations = {tag: {"title": f"Title in {tag}"} for tag in translated}
    return SimpleNamespace(
        title="Own title", introduction="Own words", language=language, translations=translations
    )


READERS = [
    ("", "", "en"), ("de", "", "de"), ("de-CH,en;q=0.5", "", "de"), ("en;q=0.5,fr", "", "fr"),
    ("pt,ar;q=0.3", "", "ar"), ("pt", "", "en"), ("*", "", "en"), ("de;q=0", "", "en"),
    ("de", "?lang=es", "es"), ("de", "?lang=xx", "de"), ("de", "?lang=", "de"),
    ("nonsense;;q=,,", "", "en"), ("DE-de", "", "de"), ("x" * 5000, "", "en"),
]  # fmt: skip


@pytest.mark.parametrize(("accept", "query", "tag"), READERS)
def test_a_page_is_in_the_readers_language(accept: str, query: str, tag: str) -> None:
    assert reader(asked(accept, query)).tag == tag


SURVEYS = [
    (texts("de"), "fr", "de"), (texts("de", "fr"), "fr", "fr"), (texts("de", "fr"), "en", "de"),
    (texts("de-AT", "fr-CA"), "fr,de", "fr"), (texts("en", "it"), "it,de", "en"),
    # Where we do not know the survey's language, the frame is in the reader's.
    (texts("it"), "de", "de"), (texts("it"), "pt", "en"),
    # Without the survey's own language or the reader's, the one that the survey has.
    (texts("it", "ar"), "de", "ar"),
]  # fmt: skip


@pytest.mark.parametrize(("survey", "accept", "tag"), SURVEYS)
def test_the_page_of_a_survey_is_in_one_of_its_languages(
    survey: Any, accept: str, tag: str
) -> None:
    assert reader_of(asked(accept), survey).tag == tag


def test_the_menu_has_the_languages_of_survey_and_page_and_keeps_the_query() -> None:
    request = asked("fr", "?by=age&lang=de")
    survey = texts("de", "fr-CA", "pt")
    found = menu(request, survey, reader_of(request, survey))
    assert [(one.words.tag, one.href, one.current) for one in found] == [
        ("de", "?by=age&lang=de", True), ("fr", "?by=age&lang=fr", False),
    ]  # fmt: skip
    assert menu(request, texts("de"), reader(request)) == []


def test_caches_are_told_that_the_language_matters() -> None:
    response = HttpResponse(headers={"Vary": "Accept-Encoding"})
    varies(response)
    assert response["Vary"] == "Accept-Encoding, Accept-Language"


class TestContent:
    def design(self) -> Design:
        german = {"disclosures": {"asked_by": "Olgas Büro"}, "questions": {"q1": {"text": "Eins?"}}}
        french = {"questions": {"q2": {"text": "Deux ?", "options": ["a", "b", "c"]}}}
        who = {"asked_by": "Olga’s office", "contact": "olga@example.org"}
        translations = {"de-AT": german, "fr": french}
        return build(1, questions(2, 3), translations=translations, disclosures=who)

    def content(self, tag: str) -> Content:
        return Content(texts("en", "de-AT", "fr"), self.design(), tag)

    def test_a_translation_is_used_where_there_is_one(self) -> None:
        german = self.content("de")
        first, second = self.design().questions
        assert german.title == ("Title in de-AT", "de")
        assert german.introduction == ("Own words", "en")
        assert german.disclosure("asked_by") == ("Olgas Büro", "de")
        assert german.disclosure("contact") == ("olga@example.org", "en")
        assert german.question(first) == ("Eins?", "de")
        assert german.question(second) == (second.text, "en")
        assert [one.text for one in german.options(second).values()] == [
            one.text for one in second.options
        ]
        french = self.content("fr")
        assert [*french.options(second).values()] == [("a", "fr"), ("b", "fr"), ("c", "fr")]

    def test_the_surveys_own_texts_are_those_of_its_language(self) -> None:
        first = self.design().questions[0]
        assert self.content("en").question(first) == (first.text, "en")
        assert str(self.content("en").title) == "Own title"
