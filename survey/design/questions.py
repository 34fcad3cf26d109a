"""Questions and their options: their checks and their JSON form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from survey.design.mechanism import Shape

MAX_QUESTIONS = 100
MAX_OPTIONS = 20
MAX_KEY = 50  # characters of an option's key, before a number is added to make it unique
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,49}")
# Control characters and lone surrogates, which no database stores, and characters that can disguise
# a text: zero-width characters and overrides of the writing direction. Plain direction marks and
# joiners, which Arabic and Persian need, are allowed.
NO_TEXT = re.compile(
    "[\0-\x08\x0b-\x1f\x80-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class DesignError(ValueError):
    """An invalid design: `where` the problem is and `what` is wrong."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


@dataclass(frozen=True)
class Option:
    key: str
    text: str


@dataclass(frozen=True)
class Question:
    """One question, sensitive or background."""

    key: str
    text: str
    options: tuple[Option, ...] = ()
    kind: str = "choice"
    least: int = 0  # for a number, like the next two
    most: int = 0
    levels: int = 0  # how many steps a number is rounded to
    picks: int = 0  # for multiple choice
    only_if: tuple[str, tuple[str, ...]] | None = None  # an earlier question, and its options

    def __post_init__(self) -> None:
        if not KEY.fullmatch(self.key):
            raise DesignError(
                self.key or "key", "a key is 1 to 50 letters, digits, hyphens or underscores"
            )
        for text in (self.text, *(option.text for option in self.options)):
            if not text.strip():
                raise DesignError(self.key, "a text is empty")
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise DesignError(self.key, "a text is not valid Unicode (lone surrogate)")

        if self.kind == "several" and not self.picks:
            raise DesignError(self.key, "multiple choice needs the number of picks")

    @property
    def size(self) -> int:
        """The number of values that the question can have in a report."""
        return self.levels + 1 if self.kind == "number" else len(self.options)

    def shape(self, earlier: Sequence["Question"]) -> Shape:
        """Return the question's shape, given the questions before it in the block."""
        return Shape(
            self.size,
            self._gate(earlier) if self.only_if else None,
            (self.least, self.most) if self.kind == "number" else None,
            self.picks if self.kind == "several" else 0,
        )

    def _gate(self, earlier: Sequence["Question"]) -> tuple[int, frozenset[int]]:
        assert self.only_if is not None  # noqa: S101  # for the type checker
        key, wanted = self.only_if
        for place, question in enumerate(earlier):
            keys = [option.key for option in question.options]
            if question.key == key and set(wanted) <= set(keys):
                return place, frozenset(keys.index(option) for option in wanted)
        raise DesignError(self.key, "must depend on options of an earlier question in its block")


def check_questions(where: str, questions: Sequence[Question], keys: Sequence[str]) -> None:
    """Refuse keys that occur twice in `keys`, too few or too many options, and invalid texts.

    One more option is allowed than a survey may write itself, for “Prefer not to say”.
    """
    for question in questions:
        if keys.count(question.key) > 1:
            raise DesignError(where, f"the key {question.key!r} is used twice")
        if not 2 <= question.size <= MAX_OPTIONS + 1:
            raise DesignError(
                f"{where} {question.key}", f"2 to {MAX_OPTIONS + 1} options, not {question.size}"
            )
        options = [option.key for option in question.options]
        if len(set(options)) < len(options):
            raise DesignError(f"{where} {question.key}", "two options have the same key")
        for text in (question.text, *(option.text for option in question.options)):
            check_text(f"{where} {question.key}", text)


def check_text(where: str, text: str) -> None:
    if match := NO_TEXT.search(text):
        raise DesignError(where, f"contains the character {match[0]!r}, which is not allowed")


def options_from_texts(texts: Sequence[str]) -> tuple[Option, ...]:
    """Return options with unique keys made from their texts, in lower case with hyphens."""
    options: list[Option] = []
    for text in texts:
        stem = re.sub(r"[\W_]+", "-", text.lower()).strip("-")[:MAX_KEY].strip("-") or "option"
        taken = {option.key for option in options}
        key, number = stem, 2
        while key in taken:
            key, number = f"{stem}-{number}", number + 1
        options.append(Option(key, text))
    return tuple(options)


def question_json(question: Question) -> dict[str, Any]:
    data: dict[str, Any] = {
        "key": question.key,
        "kind": question.kind,
        "text": question.text,
        "options": [{"key": option.key, "text": option.text} for option in question.options],
    }
    if question.kind == "number":
        data |= {"least": question.least, "most": question.most, "levels": question.levels}
    if question.kind == "several":
        data["picks"] = question.picks
    if question.only_if:
        key, options = question.only_if
        data["only_if"] = {"question": key, "options": list(options)}
    return data


def question_from_json(data: dict[str, Any]) -> Question:
    options = tuple(Option(option["key"], option["text"]) for option in data["options"])
    numbers = {name: data[name] for name in ("least", "most", "levels", "picks") if name in data}
    only = data.get("only_if")
    only_if = (only["question"], tuple(only["options"])) if only else None
    return Question(data["key"], data["text"], options, data["kind"], only_if=only_if, **numbers)
