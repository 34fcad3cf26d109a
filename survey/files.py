"""A survey as a JSON file, read into a draft and written back. See docs/operations.md."""

import json
from collections.abc import Iterator, Sequence, Set
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from survey.design import MAX_OPTIONS, MAX_QUESTIONS, NO_TEXT, DesignError, languages
from survey.design.languages import DISCLOSURES
from survey.models import Question, Survey
from survey.models.log import Actor, record

NUMBERS = {"ask", "expected", "retention_days"}  # that may be left out, or null
SURVEY_KEYS = {
    "slug", "title", "introduction", *DISCLOSURES, "language", "translations", "epsilon", "crowd",
    "expected", "retention_days", "access", "work",
}  # fmt: skip
# What is left out of a file where it is so.
ABSENT: dict[str, Any] = {
    **dict.fromkeys(DISCLOSURES, ""), **dict.fromkeys(NUMBERS), "access": "open", "work": 0
}  # fmt: skip
REQUIRED = {"slug", "title", "epsilon", "questions"}
LISTS = {"questions", "background", "blocks"}
QUESTION_KEYS = {"key", "text", "kind", "options", "prefer_not_to_say"}
BACKGROUND_KEYS = {"key", "text", "options"}


FIELDS = (
    ("key", str, "a text"),
    ("text", str, "a text"),
    ("kind", str, "a text"),
    ("options", list, "a list of texts"),
    ("prefer_not_to_say", bool, "true or false"),
)


class FileError(ValueError):
    """What is wrong with a survey file, and where."""


def load(text: str, by: Actor = None) -> Survey:
    """Return a new draft from the text of a survey file; all of it or nothing."""
    data = parse(text)
    _check_members(data, REQUIRED)
    blocks = _block_numbers(data.get("blocks", []))

    with transaction.atomic():
        fields = {key: data[key] for key in (SURVEY_KEYS | {"ask"}) & data.keys()}
        survey = Survey(**fields)
        _save("the survey", survey)
        for where, question in _questions(survey, data, blocks):
            _save(where, question)
        try:
            survey.draft_design()
        except DesignError as error:
            raise FileError(str(error)) from None
        record(by, "survey imported", survey)
    return survey


MOST_DEPTH = 20  # a survey has six


def parse(text: str | bytes) -> Any:
    """JSON whose texts are texts."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
        _check_texts("the survey", data)
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileError(f"this is not JSON: {error}") from None
    return data


def store(survey: Survey, data: Any, required: frozenset[str] = frozenset()) -> None:
    """Make a draft what this document says, finished or not; all of it or nothing.

    Texts may be missing and options too few: the design says so when the survey is to open. What no
    draft can hold is refused. The slug stays as it is.
    """
    _check_members(data, required)
    blocks = _block_numbers(data.get("blocks", []))
    for key in (SURVEY_KEYS - {"slug"} | {"ask"}) & data.keys():
        setattr(survey, key, data[key])
    for key in ABSENT.keys() - data.keys():
        setattr(survey, key, ABSENT[key])
    survey.translations = data.get("translations", {})
    try:
        languages.check(survey.language, _without_gaps(survey.translations))
    except DesignError as error:
        raise FileError(str(error)) from None
    _check_row("the survey", survey, set() if survey.title else {"title"})
    questions: list[Question] = []
    for where, question in _questions(survey, data, blocks):
        _check_asked(where, question, questions)
        questions.append(question)
    with transaction.atomic():
        survey.save()
        survey.questions.all().delete()
        Question.objects.bulk_create(questions)


def _questions(survey: Survey, data: Any, blocks: dict[str, int]) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a document, each with its place there, the background ones last."""
    for position, item in enumerate(data.get("questions", [])):
        where = f"questions[{position}]"
        _check_keys(where, item, QUESTION_KEYS, {"key", "text", "kind"})
        question = Question(survey=survey, position=position, **item)
        question.block = blocks.pop(str(question.key), None)
        yield where, question
    if blocks:
        raise FileError(f"blocks: there is no question {next(iter(blocks))!r}")
    for position, item in enumerate(data.get("background", [])):
        where = f"background[{position}]"
        _check_keys(where, item, BACKGROUND_KEYS | {"epsilon"}, BACKGROUND_KEYS)
        always = {"background": True, "kind": Question.Kind.CHOICE, "prefer_not_to_say": True}
        question = Question(survey=survey, position=position, **item, **always)
        if question.epsilon is not None:
            _check_epsilon(f"{where}.epsilon", question.epsilon, "3")
        yield where, question


def dump(survey: Survey) -> dict[str, Any]:
    """The survey in the format that `load` reads."""
    questions = survey.sensitive_questions()
    numbers = sorted({q.block for q in questions if q.block is not None})
    data: dict[str, Any] = {
        "slug": survey.slug,
        "title": survey.title,
        "introduction": survey.introduction,
        "language": survey.language,
        "epsilon": survey.epsilon,
        "crowd": survey.crowd,
        "questions": [
            {"key": question.key, "text": question.text, "kind": question.kind}
            | ({"options": question.options} if question.options else {})
            | {"prefer_not_to_say": question.prefer_not_to_say}
            for question in questions
        ],
        "background": [
            {"key": one.key, "text": one.text, "options": one.options}
            | ({} if one.epsilon is None else {"epsilon": one.epsilon})
            for one in survey.background_questions()
        ],
    }
    if numbers:
        data["blocks"] = [[q.key for q in questions if q.block == number] for number in numbers]
    for name, absent in sorted(ABSENT.items()):
        if getattr(survey, name) != absent:
            data[name] = getattr(survey, name)
    return data | {"translations": survey.translations}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number here")


def _check_texts(where: str, value: Any, depth: int = 0) -> None:
    """Nothing that is no text in any text, names of members included; and no endless nesting."""
    if depth > MOST_DEPTH:
        raise FileError(f"{where[:100]}…: too many objects inside each other")
    if isinstance(value, str):
        if found := NO_TEXT.search(value):
            raise FileError(f"{where}: a character that is no text, {found[0]!r}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check_texts(f"{where}[{i}]", item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(where, key)
            _check_texts(f"{where}.{key}", item, depth + 1)


def _check_members(data: Any, required: Set[str]) -> None:
    """What a document has at its top, and of which type."""
    _check_keys("the survey", data, SURVEY_KEYS | LISTS | {"ask"}, set(required))
    for key in LISTS & data.keys():
        if not isinstance(data[key], list):
            raise FileError(f"{key}: a list, please")
    for key in ("slug", "title", "introduction", "language", "access", *DISCLOSURES):
        if key in data and not isinstance(data[key], str):
            raise FileError(f"{key}: a text, please")
    if not isinstance(data.get("translations", {}), dict):
        raise FileError("translations: an object, please")


def _without_gaps(value: Any) -> Any:
    """The same with something in every empty text: of a draft the rest is looked at."""
    if isinstance(value, dict):
        return {key: _without_gaps(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_gaps(item) for item in value]
    return "…" if isinstance(value, str) and not value.strip() else value


def _check_keys(where: str, item: Any, known: set[str], required: set[str]) -> None:
    if not isinstance(item, dict):
        raise FileError(f"{where}: an object, please")
    for key in sorted(required - item.keys()):
        raise FileError(f"{where}: {key} is missing")
    for key in sorted(item.keys() - known):
        raise FileError(f"{where}: {key!r} is not a known key")


def _block_numbers(blocks: list[Any]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, block in enumerate(blocks, 1):
        if not block or not isinstance(block, list) or any(type(key) is not str for key in block):
            raise FileError(f"blocks[{number - 1}]: a list of question keys, please")
        for key in block:
            if key in numbers:
                raise FileError(f"blocks[{number - 1}]: the question {key!r} is in two blocks")
            numbers[key] = number
    return numbers


def _save(where: str, row: Survey | Question) -> None:
    _check_row(where, row)
    row.save()


def _check_row(where: str, row: Survey | Question, unfinished: Set[str] | None = None) -> None:
    """All that a row must be; of a draft that is `unfinished` in these fields, the rest of them."""
    for name, kind, what in FIELDS:
        if hasattr(row, name) and not isinstance(getattr(row, name), kind):
            raise FileError(f"{where}.{name}: {what}, please")
    if isinstance(row, Survey):
        _check_numbers(row)
    if isinstance(row, Question) and row.kind not in Question.Kind.values:
        raise FileError(f"{where}.kind: must be yes_no or choice, not {row.kind}")
    try:
        if unfinished is None:
            row.full_clean()
        else:
            row.clean_fields(exclude=unfinished)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        place = where if field == "__all__" else f"{where}.{field}"
        raise FileError(f"{place}: {messages[0]}") from None


def _check_asked(where: str, row: Question, before: Sequence[Question]) -> None:
    """Check what a draft's question must be, however unfinished."""
    _check_row(where, row, {"survey", "text", "options", "block"})
    if any(row.key == other.key for other in before):
        raise FileError(f"{where}.key: the key {row.key!r} is used twice")
    if len(before) >= MAX_QUESTIONS:
        raise FileError(f"{where}: at most {MAX_QUESTIONS} questions in all")
    if not all(isinstance(text, str) for text in row.options):
        raise FileError(f"{where}.options: a list of texts, please")
    if len(row.options) > MAX_OPTIONS:
        raise FileError(f"{where}.options: at most {MAX_OPTIONS}, not {len(row.options)}")


def _check_epsilon(where: str, epsilon: Any, such_as: str) -> None:
    if type(epsilon) not in (int, float) or abs(epsilon) > 1e6:
        raise FileError(f"{where}: a number, such as {such_as}")


def _check_numbers(survey: Survey) -> None:
    """Before Django makes numbers of texts and of true: a file says what it means."""
    _check_epsilon("the survey.epsilon", survey.epsilon, "2")
    for name in ("crowd", "work", *sorted(NUMBERS)):
        value = getattr(survey, name)
        if type(value) is not int and not (name in NUMBERS and value is None):
            raise FileError(f"the survey.{name}: a whole number, not {value!r}")
    if survey.access == Survey.Access.INVITED and survey.work:
        raise FileError("the survey.work: only for open surveys, a pass is proof enough")
