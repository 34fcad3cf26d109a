"""The questions of a plan in a few words: “5 yes/no, 1 scale of 5, 1 of 10 pick 3”.

Items are separated by commas or line breaks. Each is a number (1 if it is left out) and a kind:

    yes/no    choice of 4    scale of 5    number 0 to 60    of 10 pick 3

Square brackets hold follow-ups, which are asked after one of the answers: “yes/no [choice of 4]”.
Pure: no Django.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from survey.design import KINDS, MAX_OPTIONS, MAX_QUESTIONS, DesignError, Option, Question
from survey.design.kinds.number import Number
from survey.design.kinds.several import Several

MOST = MAX_OPTIONS + 1  # with “Prefer not to say”
DEEPEST = 5  # follow-ups of follow-ups
ITEM = re.compile(
    r"(?:(?P<count>[0-9]{1,3})(?: ?[x×])? )?"
    r"(?:(?P<yes_no>yes/no)|(?P<number>number)s?(?: (?P<least>-?[0-9]{1,10}) to "
    r"(?P<most>-?[0-9]{1,10}))?|(?P<scale>scale)s? of (?P<steps>[0-9]{1,3})"
    r"|(?:choices? )?of (?P<options>[0-9]{1,3})(?: pick (?P<picks>[0-9]{1,3}))?)"
)
EXAMPLE = "2 yes/no, 1 scale of 5, 1 number 0 to 60, 1 of 10 pick 3"


class NotationError(ValueError):
    """Words that are not questions: what is wrong, and how to write it."""


class Item(NamedTuple):
    """Some equal questions, each with its follow-ups."""

    number: int
    kind: str
    size: int  # options; 0 for a number
    detail: tuple[int, ...]  # the picks of multiple choice, or the bounds of a number
    follow_ups: "tuple[Item, ...]" = ()


# --- Reading --------------------------------------------------------------------------------------


def read(text: str) -> tuple[Question, ...]:
    """Return the questions that a text describes."""
    items = _items(text)
    if not items:
        raise NotationError(f"Name at least one question, such as {EXAMPLE}.")
    questions: list[Question] = []
    for item in items:
        _add(questions, item, None)
    return tuple(questions)


def _items(text: str, depth: int = 0) -> tuple[Item, ...]:
    if depth > DEEPEST:
        raise NotationError(f"Follow-ups can be at most {DEEPEST} deep.")
    return tuple(_item(part, depth) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    """Split a text at the commas that are not inside brackets."""
    depth, part = 0, ""
    for character in f"{text},":
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
        if character in ",\n" and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += character
    if depth:
        raise NotationError("Close every square bracket that you open: yes/no [choice of 4].")


def _item(part: str, depth: int) -> Item:
    words, bracket, inside = part.partition("[")
    inside, _, rest = inside.rpartition("]")
    words = " ".join(words.lower().split())
    found = ITEM.fullmatch(words)
    if found is None or rest.strip():
        raise NotationError(f"“{part[:60]}” is not a question. Write, for example, {EXAMPLE}.")
    count = int(found["count"] or 1)
    if not 1 <= count <= MAX_QUESTIONS:
        raise NotationError(f"“{words}”: 1 to {MAX_QUESTIONS} questions.")
    follow_ups = _items(inside, depth + 1) if bracket else ()
    if bracket and not follow_ups:
        raise NotationError(f"“{words}”: name the follow-ups in its brackets.")
    item = _kind(count, words, found, follow_ups)
    if follow_ups and not KINDS[item.kind].can_be_gate:
        raise NotationError(f"“{words}” cannot have follow-ups; yes/no, choice and scale can.")
    if any(one.kind == "several" for one in follow_ups):
        raise NotationError("“of … pick …” cannot be a follow-up: it is alone in its block.")
    return item


def _kind(count: int, words: str, found: re.Match[str], follow_ups: tuple[Item, ...]) -> Item:
    if found["yes_no"]:
        return Item(count, "yes_no", 2, (), follow_ups)
    if found["number"]:
        bounds = int(found["least"] or 0), int(found["most"] or 100)
        try:
            Number.check_details([], {"least": bounds[0], "most": bounds[1]})
        except DesignError as error:
            raise NotationError(f"“{words}”: {error.where} {error.what}.") from None
        return Item(count, "number", 0, bounds, follow_ups)
    size = int(found["options"] or found["steps"])
    if not 2 <= size <= MOST:
        raise NotationError(f"“{words}”: a question has 2 to {MOST} options.")
    if found["picks"] is None:
        return Item(count, "scale" if found["scale"] else "choice", size, (), follow_ups)
    picks = int(found["picks"])
    if not 1 <= picks <= size:
        raise NotationError(f"“{words}”: pick 1 to {size}, the number of options.")
    return Item(count, "several", size, (picks,), follow_ups)


def _add(questions: list[Question], item: Item, gate: Question | None) -> None:
    """Add an item's questions, each followed by its follow-ups."""
    only_if = (gate.key, (gate.options[-1].key,)) if gate else None
    for _ in range(item.number):
        if len(questions) == MAX_QUESTIONS:
            raise NotationError(f"At most {MAX_QUESTIONS} questions, follow-ups included.")
        kind, key = KINDS[item.kind], f"q{len(questions) + 1}"
        options = tuple(Option(f"o{i}", "?") for i in range(1, item.size + 1))
        details: dict[str, Any] = dict(zip(kind.members, item.detail, strict=False))
        question = replace(kind.make(key, "?", options, details), only_if=only_if)
        questions.append(question)
        for each in item.follow_ups:
            _add(questions, each, question)


# --- Writing --------------------------------------------------------------------------------------


def describe(question: Question) -> str:
    """Return a question as one reads it, without its follow-ups."""
    if isinstance(question, Number):
        return f"number {question.least} to {question.most}"
    if isinstance(question, Several):
        return f"of {question.size} pick {question.picks}"
    if question.kind == "scale":
        return f"scale of {question.size}"
    return "yes/no" if question.size == 2 else f"choice of {question.size}"


def write(questions: Sequence[Question]) -> str:
    """Return the text that `read` turns into such questions."""

    def follow_ups_of(gate: Question | None) -> str:
        key = gate.key if gate else None
        texts = [
            describe(one) + (f" [{inside}]" if (inside := follow_ups_of(one)) else "")
            for one in questions
            if (one.only_if[0] if one.only_if else None) == key
        ]
        order = {text: place for place, text in reversed([*enumerate(texts)])}
        same = groupby(sorted(texts, key=order.__getitem__))
        return ", ".join(f"{len([*equal])} {text}" for text, equal in same)

    return follow_ups_of(None)
