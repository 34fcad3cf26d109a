"""Survey files: reading JSON into a draft and writing it back. See docs/operations.md."""

import json
from collections.abc import Iterator, Sequence, Set
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from survey.design import KINDS, MAX_OPTIONS, MAX_QUESTIONS, NO_TEXT, DesignError, languages
from survey.design.languages import DISCLOSURES
from survey.models import Question, Survey
from survey.models.log import Actor, record

NUMBERS = {"ask", "expected", "population", "retention_days"}  # may be left out or null
SWITCHES = {"shuffled", "fillers"}
SURVEY_KEYS = {
    "slug", "title", "introduction", *DISCLOSURES, "language", "translations", "epsilon", "crowd",
    "expected", "population", "retention_days", "access", "work", "blocks", *SWITCHES,
}  # fmt: skip
# Members with these values are left out of a file.
ABSENT: dict[str, Any] = {
    **dict.fromkeys(DISCLOSURES, ""), **dict.fromkeys(NUMBERS), **dict.fromkeys(SWITCHES, False),
    "access": "open", "work": 0, "blocks": [],
}  # fmt: skip
REQUIRED = {"slug", "title", "epsilon", "questions"}
LISTS = {"questions", "background", "blocks"}
QUESTION_KEYS = {"key", "text", "kind", "options", "prefer_not_to_say", "only_if", "shuffled"}
BACKGROUND_KEYS = {"key", "text", "options"}
MOST_DEPTH = 20  # of nested objects; a survey needs six

FIELDS = (
    ("key", str, "a text"),
    ("text", str, "a text"),
    ("kind", str, "a text"),
    ("options", list, "a list of texts"),
    ("prefer_not_to_say", bool, "true or false"),
    ("shuffled", bool, "true or false"),
    ("fillers", bool, "true or false"),
)


class FileError(ValueError):
    """An invalid survey file: where the problem is, and what is wrong."""


def load(text: str, by: Actor = None) -> Survey:
    """Create a draft from the text of a survey file, completely or not at all."""
    data = parse(text)
    _check_members(data, REQUIRED)
    with transaction.atomic():
        fields = {key: data[key] for key in (SURVEY_KEYS | {"ask"}) & data.keys()}
        survey = Survey(**fields)
        _save("the survey", survey)
        for where, question in _questions(survey, data):
            _save(where, question)
        try:
            survey.draft_design()
        except DesignError as error:
            raise FileError(str(error)) from None
        record(by, "survey imported", survey)
    return survey


def parse(text: str | bytes) -> Any:
    """Parse JSON whose texts contain only allowed characters."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
        _check_texts("the survey", data)
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileError(f"this is not JSON: {error}") from None
    return data


def store(survey: Survey, data: Any, required: frozenset[str] = frozenset()) -> None:
    """Replace the content of a draft with this document, completely or not at all.

    Missing texts and too few options are allowed, because opening the survey checks them. Anything
    that a draft cannot store is refused. The slug does not change.
    """
    _check_members(data, required)
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
    for where, question in _questions(survey, data):
        _check_unfinished(where, question, questions)
        questions.append(question)
    with transaction.atomic():
        survey.save()
        survey.questions.all().delete()
        Question.objects.bulk_create(questions)


def _questions(survey: Survey, data: Any) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a document with their places; the background questions come last."""
    for position, item in enumerate(data.get("questions", [])):
        where = f"questions[{position}]"
        kind = KINDS.get(item.get("kind", "")) if isinstance(item, dict) else None
        details = set(kind.fields) if kind else set()
        _check_keys(where, item, QUESTION_KEYS | details, {"key", "text", "kind"})
        common = {name: value for name, value in item.items() if name not in details}
        question = Question(survey=survey, position=position, **common)
        question.details = {name: item[name] for name in sorted(details & item.keys())}
        _check_only_if(f"{where}.only_if", question.only_if)
        yield where, question
    for position, item in enumerate(data.get("background", [])):
        where = f"background[{position}]"
        _check_keys(where, item, BACKGROUND_KEYS | {"epsilon"}, BACKGROUND_KEYS)
        always = {"background": True, "kind": "choice", "prefer_not_to_say": True}
        question = Question(survey=survey, position=position, **item, **always)
        if question.epsilon is not None:
            _check_epsilon(f"{where}.epsilon", question.epsilon, "3")
        yield where, question


def dump(survey: Survey) -> dict[str, Any]:
    """Return the survey in the format that `load` reads."""
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
            | question.details
            | ({"only_if": question.only_if} if question.only_if else {})
            | ({"shuffled": True} if question.shuffled else {})
            | {"prefer_not_to_say": question.prefer_not_to_say}
            for question in survey.sensitive_questions()
        ],
        "background": [
            {"key": one.key, "text": one.text, "options": one.options}
            | ({} if one.epsilon is None else {"epsilon": one.epsilon})
            for one in survey.background_questions()
        ],
    }
    for name, absent in sorted(ABSENT.items()):
        if getattr(survey, name) != absent:
            data[name] = getattr(survey, name)
    return data | {"translations": survey.translations}


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _check_texts(where: str, value: Any, depth: int = 0) -> None:
    """Refuse characters that are not allowed in texts and names, and objects nested too deeply."""
    if depth > MOST_DEPTH:
        raise FileError(f"{where[:100]}…: objects are nested too deeply")
    if isinstance(value, str):
        if match := NO_TEXT.search(value):
            raise FileError(f"{where}: contains the character {match[0]!r}, which is not allowed")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check_texts(f"{where}[{i}]", item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(where, key)
            _check_texts(f"{where}.{key}", item, depth + 1)


def _check_members(data: Any, required: Set[str]) -> None:
    """Check the names and types of a document's top-level members."""
    _check_keys("the survey", data, SURVEY_KEYS | LISTS | {"ask"}, set(required))
    for key in LISTS & data.keys():
        if not isinstance(data[key], list):
            raise FileError(f"{key}: must be a list")
    for key in ("slug", "title", "introduction", "language", "access", *DISCLOSURES):
        if key in data and not isinstance(data[key], str):
            raise FileError(f"{key}: must be a text")
    if not isinstance(data.get("translations", {}), dict):
        raise FileError("translations: must be an object")
    _check_blocks(data.get("blocks", []))


def _without_gaps(value: Any) -> Any:
    """Return a copy with every empty text filled in, so that only the rest is checked."""
    if isinstance(value, dict):
        return {key: _without_gaps(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_gaps(item) for item in value]
    return "…" if isinstance(value, str) and not value.strip() else value


def _check_keys(where: str, item: Any, known: set[str], required: set[str]) -> None:
    if not isinstance(item, dict):
        raise FileError(f"{where}: must be an object")
    for key in sorted(required - item.keys()):
        raise FileError(f"{where}: {key} is missing")
    for key in sorted(item.keys() - known):
        raise FileError(f"{where}: {key!r} is not a known key")


def _check_only_if(where: str, only_if: Any) -> None:
    if only_if is None:
        return
    _check_keys(where, only_if, {"question", "options"}, {"question", "options"})
    if not isinstance(only_if["question"], str):
        raise FileError(f"{where}.question: must be the key of an earlier question")
    if not isinstance(only_if["options"], list) or not all(
        isinstance(option, str) for option in only_if["options"]
    ):
        raise FileError(f"{where}.options: must be a list of option keys")


def _check_blocks(blocks: Any) -> None:
    for number, block in enumerate(blocks):
        if not block or not isinstance(block, list) or any(type(key) is not str for key in block):
            raise FileError(f"blocks[{number}]: must be a list of question keys")


def _save(where: str, row: Survey | Question) -> None:
    _check_row(where, row)
    row.save()


def _check_row(where: str, row: Survey | Question, unfinished: Set[str] | None = None) -> None:
    """Check all fields of a row, or for a draft all but those that may be `unfinished`."""
    for name, kind, what in FIELDS:
        if hasattr(row, name) and not isinstance(getattr(row, name), kind):
            raise FileError(f"{where}.{name}: must be {what}")
    if isinstance(row, Survey):
        _check_numbers(row)
    if isinstance(row, Question) and row.kind not in KINDS:
        raise FileError(f"{where}.kind: must be one of {', '.join(KINDS)}, not {row.kind}")
    try:
        if unfinished is None:
            row.full_clean()
        else:
            row.clean_fields(exclude=unfinished)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        place = where if field in ("__all__", "details") else f"{where}.{field}"
        separator = "." if field == "details" else ": "
        raise FileError(f"{place}{separator}{messages[0]}") from None


def _check_unfinished(where: str, row: Question, before: Sequence[Question]) -> None:
    """Check the question of a draft, which may be unfinished."""
    _check_row(where, row, {"survey", "text", "options"})
    if any(row.key == other.key for other in before):
        raise FileError(f"{where}.key: the key {row.key!r} is used twice")
    if len(before) >= MAX_QUESTIONS:
        raise FileError(f"{where}: at most {MAX_QUESTIONS} questions in total")
    if not all(isinstance(text, str) for text in row.options):
        raise FileError(f"{where}.options: must be a list of texts")
    if len(row.options) > MAX_OPTIONS:
        raise FileError(f"{where}.options: at most {MAX_OPTIONS}, not {len(row.options)}")
    for name, field in row.design_kind.fields.items():
        if row.details.get(name) is not None and type(row.details[name]) is not field.type:
            raise FileError(f"{where}.{name}: must be {field.what}")


def _check_epsilon(where: str, epsilon: Any, such_as: str) -> None:
    if type(epsilon) not in (int, float) or abs(epsilon) > 1e6:
        raise FileError(f"{where}: must be a number, such as {such_as}")


def _check_numbers(survey: Survey) -> None:
    """Check the types of numbers, because Django would convert texts and `true` to numbers."""
    _check_epsilon("the survey.epsilon", survey.epsilon, "2")
    for name in ("crowd", "work", *sorted(NUMBERS)):
        value = getattr(survey, name)
        if type(value) is not int and not (name in NUMBERS and value is None):
            raise FileError(f"the survey.{name}: must be a whole number, not {value!r}")
    if survey.access == Survey.Access.INVITED and survey.work:
        raise FileError("the survey.work: only open surveys can require work")
