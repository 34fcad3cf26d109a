"""The findings of the checklist, and the view of a draft for its checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from studio import wording
from survey.design import Design, DesignError
from survey.models import Question, Survey
from survey.respondent.public_design import language_name

Level = Literal["blocks", "warns", "unchecked", "fine"]
ORDER: tuple[Level, ...] = ("blocks", "warns", "unchecked", "fine")


@dataclass(frozen=True)
class Finding:
    level: Level
    what: str
    why: str
    place: str  # the field in the editor


def blocks(what: str, why: str, place: str) -> Finding:
    return Finding("blocks", what, why, place)


def warns(what: str, why: str, place: str) -> Finding:
    return Finding("warns", what, why, place)


def unchecked(what: str, why: str) -> Finding:
    return Finding("unchecked", f"Not checked yet: {what[0].lower()}{what[1:]}", why, "")


@dataclass(frozen=True)
class Version:
    """A question as it is shown in one language."""

    tag: str
    text: str
    options: Sequence[str]
    name: str  # in a finding
    place: str


class Look:
    """A draft as the checks see it. `design` is None if the draft has no valid design."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.questions: list[Question] = list(survey.questions.all())
        try:
            self.design: Design | None = survey.draft_design()
        except DesignError:
            self.design = None

    def versions(self, question: Question) -> Iterator[Version]:
        """Yield the question in the survey's own language and in every translation."""
        own = f"“{question.text}”"
        yield Version(
            self.survey.language, question.text, question.options, own, place_of(question)
        )
        for tag, translation in self.survey.translations.items():
            texts = translation.get("questions", {}).get(question.key, {})
            text, options = texts.get("text") or "", [*filter(None, texts.get("options") or [])]
            name = f"“{text}” (in {language_name(tag)})" if text else f"{language_name(tag)}: {own}"
            yield Version(tag, text, options, name, f"language-{tag}")

    def nothing_asked(self, what: str) -> Iterator[Finding]:
        if not self.questions:
            yield unchecked(what, "There are no questions yet.")

    def unread(self, what: str) -> Iterator[Finding]:
        """Yield a finding for each language without a word list."""
        for tag in (self.survey.language, *self.survey.translations):
            if not wording.knows(tag):
                yield unchecked(what, f"Candor has no word list for {language_name(tag)}.")


def place_of(question: Question) -> str:
    return f"question-{question.key}"
