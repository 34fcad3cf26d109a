"""Which language a page is in, and the texts of a survey in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from survey.design import Design, Question
from survey.words import CATALOGUES, Catalogue, base


class Texts(Protocol):
    """What a survey says itself."""

    title: str
    introduction: str
    language: str
    translations: Mapping[str, Any]


def reader(request: HttpRequest, offered: Sequence[str] = (), own: str = "") -> Catalogue:
    """Return the texts in the reader's language: by ?lang=, or by what their browser asks for.

    `offered` limits the choice. A reader of none of these gets the survey's own language if it is
    among them, otherwise English or the first.
    """
    tags = offered or list(CATALOGUES)
    wanted = request.GET.get("lang", "")
    if wanted in tags:
        return CATALOGUES[wanted]
    accepted = request.headers.get("Accept-Language", "").lower()
    for tag, weight in parse_accept_lang_header(accepted):
        if base(tag) in tags and weight:
            return CATALOGUES[base(tag)]
    return CATALOGUES[next((tag for tag in (own, "en") if tag in tags), tags[0])]


def reader_of(request: HttpRequest, survey: Texts) -> Catalogue:
    return reader(request, languages(survey), base(survey.language))


def languages(survey: Texts) -> list[str]:
    """Return the languages that both a survey and its pages have, or else all of ours."""
    spoken = {base(tag) for tag in (survey.language, *survey.translations)}
    return [tag for tag in CATALOGUES if tag in spoken] or list(CATALOGUES)


def varies(response: HttpResponseBase) -> None:
    """Say to caches that the page depends on what the browser asks for."""
    patch_vary_headers(response, ["Accept-Language"])


class LanguageLink(NamedTuple):
    words: Catalogue
    href: str
    current: bool


def menu(request: HttpRequest, survey: Texts, current: Catalogue) -> list[LanguageLink]:
    """Return the links to a page in the survey's other languages; nothing if it has only one."""
    links = []
    for tag in languages(survey):
        query = request.GET.copy()
        query["lang"] = tag
        links.append(LanguageLink(CATALOGUES[tag], f"?{query.urlencode()}", tag == current.tag))
    return links if len(links) > 1 else []


class Text(NamedTuple):
    """A text of a survey with its language."""

    text: str
    lang: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Content:
    """The texts of a survey in a language, as far as it has them: contentIn in static/respond/."""

    survey: Texts
    design: Design
    tag: str

    @property
    def title(self) -> Text:
        return self._pick(self._translated.get("title"), self.survey.title)

    @property
    def introduction(self) -> Text:
        return self._pick(self._translated.get("introduction"), self.survey.introduction)

    def disclosure(self, name: str) -> Text:
        given = self._frozen.get("disclosures", {}).get(name)
        return self._pick(given, self.design.disclosures.get(name, ""))

    def question(self, question: Question) -> Text:
        return self._pick(self._asked(question).get("text"), question.text)

    def unit(self, question: Question) -> Text:
        return self._pick(self._asked(question).get("unit"), getattr(question, "unit", ""))

    def options(self, question: Question) -> dict[str, Text]:
        """Return the texts of a question's options by their keys."""
        given = self._asked(question).get("options") or [None] * len(question.options)
        return {
            option.key: self._pick(text, option.text)
            for option, text in zip(question.options, given, strict=True)
        }

    def _pick(self, translated: str | None, original: str) -> Text:
        if base(self.survey.language) == self.tag or translated is None:
            return Text(original, self.survey.language)
        return Text(translated, self.tag)

    @property
    def _translated(self) -> Mapping[str, Any]:
        return _near(self.survey.translations, self.tag)

    @property
    def _frozen(self) -> Mapping[str, Any]:
        return _near(self.design.translations, self.tag)

    def _asked(self, question: Question) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._frozen.get("questions", {}).get(question.key, {})
        return found


def _near(translations: Mapping[str, Any], tag: str) -> Mapping[str, Any]:
    """Return the translation into a language, or into a variant of it."""
    near = next((one for one in translations if base(one) == tag), tag)
    found: Mapping[str, Any] = translations.get(tag, translations.get(near, {}))
    return found
