"""Questions and their options: their checks and their JSON form."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, NamedTuple

from survey.design.mechanism import Answer, Shape

MAX_QUESTIONS = 100
MAX_OPTIONS = 20
DECLINED = "prefer-not-to-say"  # the key of the option that we add
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


class Field(NamedTuple):
    """A member of a question in a survey file."""

    type: type
    what: str  # for errors: "a whole number"
    required: bool = False


@dataclass(frozen=True)
class Option:
    key: str
    text: str
    score: float | None = None  # of a scale's option


class Measure(NamedTuple):
    """Something that is estimated: a weighted sum of the shares of a question's values.

    The weights are in the order of `Question.values`. With `among`, whose weights give a share of
    the people, the sum is divided by that share: it is about these people only.
    """

    name: str  # "share", "share_of_concerned", "mean" or "picks"
    weights: tuple[float, ...]
    option: str = ""
    among: tuple[float, ...] | None = None

    @property
    def scores(self) -> list[float | None] | None:
        """The score of every value, None for one that is left out.

        None if the people whom the measure is about are not simply those with certain values.
        """
        among = self.among or (1.0,) * len(self.weights)
        if not set(among) <= {0.0, 1.0}:
            return None
        pairs = zip(self.weights, among, strict=True)
        return [weight if counts else None for weight, counts in pairs]


@dataclass(frozen=True)
class Question:
    """One question, sensitive or background. Each kind is a subclass in survey/design/kinds/.

    `fields` are what the kind adds to a question in a survey file, and `members` what it adds to a
    question in the design.
    """

    kind: ClassVar[str]
    label: ClassVar[str]  # in the studio
    fields: ClassVar[Mapping[str, Field]] = {}
    members: ClassVar[tuple[str, ...]] = ()
    own_options: ClassVar[tuple[int, int]] = (2, MAX_OPTIONS)  # how many the author writes
    our_options: ClassVar[int] = 0  # how many are ours, besides “Prefer not to say”
    can_be_gate: ClassVar[bool] = True  # whether follow-ups can depend on its options

    key: str
    text: str
    options: tuple[Option, ...] = ()
    only_if: tuple[str, tuple[str, ...]] | None = None  # an earlier question, and its options
    shuffled: bool = False  # whether each device shows the options in an order of its own

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

    @classmethod
    def make(
        cls, key: str, text: str, options: tuple[Option, ...], details: Mapping[str, Any]
    ) -> "Question":
        """Return the question of a survey file; `details` are its fields, already checked."""
        return cls(key, text, options, **details)

    @classmethod
    def check_details(
        cls, options: Sequence[str], details: Mapping[str, Any], where: str = ""
    ) -> None:
        """Refuse fields that are unknown, missing, of another type or wrong together.

        `options` are the author's own.
        """
        for name in sorted(details.keys() - cls.fields.keys()):
            raise DesignError(where + name, f"a {cls.kind} question does not have this")
        for name, field in cls.fields.items():
            if details.get(name) is None:
                if field.required:
                    raise DesignError(where + name, "is missing")
            elif type(details[name]) is not field.type:
                raise DesignError(where + name, f"must be {field.what}")
        try:
            cls.check(options, details)
        except DesignError as error:
            raise DesignError(where + error.where, error.what) from None

    @classmethod
    def sample(cls, options: Sequence[str]) -> dict[str, Any]:
        """Return valid fields, for figures about a question that is not finished."""
        return {}

    @classmethod
    def check(cls, options: Sequence[str], details: Mapping[str, Any]) -> None:
        """Refuse fields that are wrong together, each of the right type."""

    def fitted(self, block: Sequence["Question"], epsilon: float) -> "Question":
        """Return the question with what depends on its block and on ε."""
        return self

    @property
    def size(self) -> int:
        """The number of values in a report, not counting None."""
        return len(self.options)

    @property
    def may_be_none(self) -> bool:
        """Return whether a report can have None: not asked, or nothing picked."""
        return self.only_if is not None

    @property
    def values(self) -> int:
        """The number of values in a report; None, if it is one, comes last."""
        return self.size + self.may_be_none

    def shape(self, earlier: Sequence["Question"]) -> Shape:
        """Return the question's shape, given the questions before it in the block."""
        return Shape(self.size, self.gate(earlier))

    def gate(self, earlier: Sequence["Question"]) -> tuple[int, frozenset[int]] | None:
        """Return the place of the question that decides whether this one is asked."""
        if self.only_if is None:
            return None
        key, wanted = self.only_if
        for place, question in enumerate(earlier):
            keys = [option.key for option in question.options]
            if question.key == key and question.can_be_gate and set(wanted) <= set(keys):
                return place, frozenset(keys.index(option) for option in wanted)
        raise DesignError(self.key, "must depend on options of an earlier question in its block")

    def measures(self) -> list[Measure]:
        """Return what is estimated from the reports, in the order in which pages show it."""
        shares = [
            Measure("share", self._only(i), option.key) for i, option in enumerate(self.options)
        ]
        return shares + (self._of_concerned(shares) if self.only_if else [])

    def _only(self, *places: int) -> tuple[float, ...]:
        return tuple(float(place in places) for place in range(self.values))

    def _of_concerned(self, shares: Sequence[Measure]) -> list[Measure]:
        asked = self._only(*range(self.size))
        return [one._replace(name="share_of_concerned", among=asked) for one in shares]

    def simulate(self, shares: Sequence[float], random: Random) -> Answer:
        """Return the answer of one invented person; `shares` are those of the options."""
        return pick(shares, random)

    def uniform(self) -> list[float]:
        """Return the shares with which all answers are equally likely."""
        return [1 / len(self.options)] * len(self.options)

    def as_json(self) -> dict[str, Any]:
        """Return the question as it is in the design. Members that say nothing are left out."""
        data: dict[str, Any] = {
            "key": self.key,
            "kind": self.kind,
            "text": self.text,
            "options": [
                {"key": option.key, "text": option.text}
                | ({} if option.score is None else {"score": option.score})
                for option in self.options
            ],
        }
        data |= {name: value for name in self.members if (value := getattr(self, name)) != ""}
        if self.only_if:
            key, options = self.only_if
            data["only_if"] = {"question": key, "options": list(options)}
        return data | ({"shuffled": True} if self.shuffled else {})


def pick(shares: Sequence[float], random: Random) -> int:
    """Return a position, each with its share."""
    return random.choices(range(len(shares)), weights=shares)[0]


def shapes(questions: Sequence[Question]) -> tuple[Shape, ...]:
    """Return the shapes of a block's questions."""
    return tuple(question.shape(questions[:place]) for place, question in enumerate(questions))


def check_questions(where: str, questions: Sequence[Question], keys: Sequence[str]) -> None:
    """Refuse keys that occur twice in `keys`, too few or too many options, and invalid texts.

    One more option is allowed than a survey may write itself, for “Prefer not to say”.
    """
    for question in questions:
        if keys.count(question.key) > 1:
            raise DesignError(where, f"the key {question.key!r} is used twice")
        least, most = (bound + question.our_options for bound in question.own_options)
        if not least <= (count := len(question.options)) <= most + 1:
            raise DesignError(
                f"{where} {question.key}", f"{least} to {most + 1} options, not {count}"
            )
        options = [option.key for option in question.options]
        if len(set(options)) < len(options):
            raise DesignError(f"{where} {question.key}", "two options have the same key")
        for text in (question.text, *(option.text for option in question.options)):
            check_text(f"{where} {question.key}", text)
        _check_gate(f"{where} {question.key}.only_if", question, questions)


def _check_gate(where: str, question: Question, questions: Sequence[Question]) -> None:
    """Refuse a follow-up that does not depend on options of an earlier question."""
    if question.only_if is None:
        return
    key, wanted = question.only_if
    found = {one.key: place for place, one in enumerate(questions)}
    if key not in found:
        raise DesignError(where, f"there is no question {key!r} that it could depend on")
    if found[key] >= found[question.key]:
        raise DesignError(where, f"{key!r} must come before the question that depends on it")
    gate = questions[found[key]]
    if not gate.can_be_gate:
        raise DesignError(where, f"{key!r} is a {gate.kind} question, which decides nothing")
    options = [option.key for option in gate.options]
    if not wanted:
        raise DesignError(where, f"name at least one option of {key!r}")
    for option in wanted:
        if option not in options:
            raise DesignError(
                where, f"{key!r} has no option {option!r}; it has {', '.join(options)}"
            )


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
