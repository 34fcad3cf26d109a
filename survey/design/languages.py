"""The texts of a survey in other languages than its own, and the few texts that are ours.

Pure: no Django. Translations come in the form of a survey file (docs/operations.md). `check` looks
at their shape, which can be wrong before there are questions; `freeze` fits them to the questions
and gives what the design holds. Both raise a DesignError that says where.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from survey.design import KEY, DesignError, check_text

# Language, script, region and variants of BCP 47, in their usual case: one way to write each.
TAG = re.compile(
    r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
)
MAX_TAG = 35
MAX_TITLE = 200
DISCLOSURES = ("asked_by", "purpose", "contact")  # texts about who asks, part of the design


class Words(NamedTuple):
    """The options that no survey writes itself."""

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
    """Our words in a language, where we know it: those of `de` for `de-AT` as well."""
    return WORDS.get(tag.partition("-")[0])


def is_tag(text: str) -> bool:
    return len(text) <= MAX_TAG and TAG.fullmatch(text) is not None


class Asked(Protocol):
    """A question: its key, the options that it wrote itself, and all of them."""

    @property
    def key(self) -> str: ...
    @property
    def options(self) -> Sequence[str]: ...
    def option_texts(self, own: Sequence[str], words: Words) -> list[str]: ...


def check(language: str, translations: Any) -> None:
    """Refuse translations of the wrong shape, whatever is asked."""
    _check_object("translations", translations)
    for tag, translation in translations.items():
        if not is_tag(tag):
            raise DesignError(
                "translations", f"{tag!r} is no language tag, such as de, pt-BR or zh-Hant"
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
            raise DesignError(where, f"{key!r} is no key")
        _check_object(f"{where}.{key}", texts, "text", "options")
        _check_texts(f"{where}.{key}", texts, "text")
        if "options" in texts:
            _check_options(f"{where}.{key}.options", texts["options"])


def _check_options(where: str, options: Any) -> None:
    if not isinstance(options, list) or not options:
        raise DesignError(where, "a list of texts, please")
    for i, option in enumerate(options):
        _check_text(f"{where}[{i}]", option)


def _check_object(where: str, value: Any, *members: str) -> None:
    if not isinstance(value, dict):
        raise DesignError(where, "an object, please")
    for member in value:
        if members and member not in members:
            raise DesignError(where, f"{member!r} is not a known key")


def _check_texts(where: str, value: Mapping[str, Any], *members: str) -> None:
    for member in members:
        if member in value:
            _check_text(f"{where}.{member}", value[member])


def _check_text(where: str, text: Any) -> None:
    if not isinstance(text, str):
        raise DesignError(where, "a text, please")
    if not text.strip():
        raise DesignError(where, "the text is empty")
    check_text(where, text)


def freeze(
    language: str,
    translations: Any,
    questions: Iterable[Asked],
    told: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the design holds: by language, the texts and whole lists of options that there are."""
    check(language, translations)
    known = {question.key: question for question in questions}
    frozen: dict[str, Any] = {}
    for tag, translation in translations.items():
        if texts := {name: translation[name] for name in told or () if name in translation}:
            frozen.setdefault(tag, {})["told"] = texts
        for key, texts in translation.get("questions", {}).items():
            where = f"translations.{tag}.questions"
            if key not in known:
                raise DesignError(where, f"there is no question {key!r} in the survey")
            if fitted := _fit(f"{where}.{key}", texts, known[key], words(tag)):
                frozen.setdefault(tag, {}).setdefault("questions", {})[key] = fitted
    return frozen


def _fit(where: str, texts: dict[str, Any], asked: Asked, ours: Words | None) -> dict[str, Any]:
    """One question's texts with all of its options: in a language of ours, we add our words."""
    fitted = dict(texts)
    if ours and "text" in texts and not asked.options:
        fitted["options"] = asked.option_texts([], ours)
    if "options" in texts:
        _check_count(f"{where}.options", texts["options"], asked, ours)
        fitted["options"] = asked.option_texts(texts["options"], ours) if ours else texts["options"]
        if len(set(fitted["options"])) < len(fitted["options"]):
            raise DesignError(f"{where}.options", "the same option stands there twice")
    return fitted


def _check_count(where: str, options: list[str], asked: Asked, ours: Words | None) -> None:
    if ours and not asked.options:
        raise DesignError(where, "none, please: “No” and “Yes” are translated already")
    wanted = asked.options if ours else asked.option_texts(asked.options, ENGLISH)
    if len(options) != len(wanted):
        added = [f"“{text}”" for text in wanted if text not in asked.options]
        note = f", with {', '.join(added)}: we have no words of this language" if added else ""
        raise DesignError(where, f"{len(wanted)} options, not {len(options)}{note}")
