"""The translations of a survey's texts, and the few texts that we translate ourselves.

Pure: no Django. Translations have the form of a survey file (docs/operations.md). `check` checks
their structure, which does not need questions; `freeze` matches them to the questions and returns
what the design contains. Both raise a DesignError that says where the problem is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from survey.design import KEY, DesignError, check_text

# A BCP 47 language, script, region and variants in their usual case: one spelling for each.
TAG = re.compile(
    r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
)
MAX_TAG = 35
MAX_TITLE = 200
DISCLOSURES = ("asked_by", "purpose", "contact")  # texts about who asks, part of the design


class Words(NamedTuple):
    """The options that Candor adds and translates itself."""

    no: str
    yes: str
    declined: str


ENGLISH = Words("No", "Yes", "Prefer not to say")
WORDS = {
    "en": ENGLISH,
    "de": Words("Nein", "Ja", "Keine Angabe"),
    "es": Words("No", "Sí", "Prefiero no decirlo"),
    "fr": Words("Non", "Oui", "Je préfère ne pas répondre"),
    "ar": Words("لا", "نعم", "أفضّل عدم الإجابة"),
}


def words(tag: str) -> Words | None:
    """Return our words in a language, if we know it; `de-AT` uses those of `de`."""
    return WORDS.get(tag.partition("-")[0])


def is_tag(text: str) -> bool:
    return len(text) <= MAX_TAG and TAG.fullmatch(text) is not None


class Asked(Protocol):
    """A question with its key, its own options, and all options including ours."""

    @property
    def key(self) -> str: ...
    @property
    def options(self) -> Sequence[str]: ...
    def option_texts(self, own: Sequence[str], words: Words) -> list[str]: ...


def check(language: str, translations: Any) -> None:
    """Refuse translations with the wrong structure, independently of the questions."""
    _check_object("translations", translations)
    for tag, translation in translations.items():
        if not is_tag(tag):
            raise DesignError(
                "translations", f"{tag!r} is not a language tag such as de, pt-BR or zh-Hant"
            )
        where = f"translations.{tag}"
        if tag == language:
            raise DesignError(where, "this is the survey's own language")
        _check_object(where, translation, "title", "introduction", *DISCLOSURES, "questions")
        _check_texts(where, translation, "title", "introduction", *DISCLOSURES)
        if len(translation.get("title", "")) > MAX_TITLE:
            raise DesignError(f"{where}.title", f"at most {MAX_TITLE} characters")
        _check_asked(f"{where}.questions", translation.get("questions", {}))


def _check_asked(where: str, translated: Any) -> None:
    _check_object(where, translated)
    for key, texts in translated.items():
        if not KEY.fullmatch(key):
            raise DesignError(where, f"{key!r} is not a valid key")
        _check_object(f"{where}.{key}", texts, "text", "options", "unit")
        _check_texts(f"{where}.{key}", texts, "text", "unit")
        if "options" in texts:
            _check_options(f"{where}.{key}.options", texts["options"])


def _check_options(where: str, options: Any) -> None:
    if not isinstance(options, list) or not options:
        raise DesignError(where, "must be a list of texts")
    for i, option in enumerate(options):
        _check_text(f"{where}[{i}]", option)


def _check_object(where: str, value: Any, *members: str) -> None:
    if not isinstance(value, dict):
        raise DesignError(where, "must be an object")
    for member in value:
        if members and member not in members:
            raise DesignError(where, f"{member!r} is not a known key")


def _check_texts(where: str, value: Mapping[str, Any], *members: str) -> None:
    for member in members:
        if member in value:
            _check_text(f"{where}.{member}", value[member])


def _check_text(where: str, text: Any) -> None:
    if not isinstance(text, str):
        raise DesignError(where, "must be a text")
    if not text.strip():
        raise DesignError(where, "the text is empty")
    check_text(where, text)


def freeze(
    language: str,
    translations: Any,
    questions: Iterable[Asked],
    disclosures: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the translations for the design: by language, texts and complete option lists."""
    check(language, translations)
    known = {question.key: question for question in questions}
    frozen: dict[str, Any] = {}
    for tag, translation in translations.items():
        if texts := {name: translation[name] for name in disclosures or () if name in translation}:
            frozen.setdefault(tag, {})["disclosures"] = texts
        for key, texts in translation.get("questions", {}).items():
            where = f"translations.{tag}.questions"
            if key not in known:
                raise DesignError(where, f"the survey has no question {key!r}")
            if fitted := _fit(f"{where}.{key}", texts, known[key], words(tag)):
                frozen.setdefault(tag, {}).setdefault("questions", {})[key] = fitted
    return frozen


def _fit(where: str, texts: dict[str, Any], asked: Asked, ours: Words | None) -> dict[str, Any]:
    """Return one question's texts with all of its options, adding our words if we know them."""
    fitted = dict(texts)
    if ours and "text" in texts and not asked.options and (added := asked.option_texts([], ours)):
        fitted["options"] = added
    if "options" in texts:
        _check_count(f"{where}.options", texts["options"], asked, ours)
        fitted["options"] = asked.option_texts(texts["options"], ours) if ours else texts["options"]
        if len(set(fitted["options"])) < len(fitted["options"]):
            raise DesignError(f"{where}.options", "two options are the same")
    return fitted


def _check_count(where: str, options: list[str], asked: Asked, ours: Words | None) -> None:
    if ours and not asked.options:
        raise DesignError(where, "leave out options: this question has none to translate")
    wanted = asked.options if ours else asked.option_texts(asked.options, ENGLISH)
    if len(options) != len(wanted):
        added = [f"“{text}”" for text in wanted if text not in asked.options]
        note = f", and include {', '.join(added)} in this language" if added else ""
        raise DesignError(where, f"must be {len(wanted)} options, not {len(options)}{note}")
