"""The draft of a survey as one document: saving, undo and redo, and finding problems.

The rows of the survey are the source of truth. The history stores documents next to them; changes
from elsewhere, such as a command, are added to it when they are noticed.
"""

import contextlib
import re
import secrets
from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import slug_re
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from survey import files
from survey.design import Design, DesignError
from survey.design.languages import MAX_TITLE
from survey.models import (
    Draft,
    DraftRevision,
    Membership,
    Question,
    Removed,
    Role,
    Survey,
    today,
)
from survey.models.log import Actor, record

HISTORY_LENGTH = 100  # places in a history
MAX_SLUG = 50
COPY = re.compile(r" \(copy(?: (\d{1,3}))?\)$")  # at the end of a title
COPIED = re.compile(r"-copy(-[0-9a-f]{6})?$")  # at the end of a slug
NAMELESS = re.compile(r"survey-[0-9a-f]{6}")  # slugs of drafts without a title
TAKEN = {"new"}  # slugs that would clash with the studio's own URLs


class Changed(Exception):
    """Somebody else saved in the meantime, so the draft has another number."""


class Opened(Exception):
    """The survey is no longer a draft."""


# --- Creating drafts ------------------------------------------------------------------------------


def make(
    document: Any, owner: User, what: str = "survey created", of: str = "", **changes: Any
) -> Survey:
    """Create a draft from a document, at a free slug similar to the document's."""
    if not isinstance(document, dict):
        raise files.FileError("the survey: must be an object")
    document = document | changes
    wanted = document.get("slug") or slugify(str(document.get("title", "")))
    survey = Survey(slug=free_slug(str(wanted)))
    try:
        with transaction.atomic():
            files.store(survey, document, frozenset(files.REQUIRED - {"slug"}))
            record(owner, what, survey, **({"of": of} if of else {}))
            Membership.objects.give(survey, owner, Role.OWNER, by=owner)
    except IntegrityError:
        raise files.FileError("slug: somebody else just took this address; try again") from None
    return survey


def copy(survey: Survey, owner: User) -> Survey:
    """Create a draft with the content of a survey."""
    document = content(survey)
    before = COPY.search(document["title"])
    stem = document["title"][: before.start()] if before else document["title"]
    mark = f" (copy {int(before[1] or 1) + 1})" if before else " (copy)"
    title = f"{stem[: MAX_TITLE - len(mark)]}{mark}".strip()
    slug = f"{COPIED.sub('', survey.slug)[: MAX_SLUG - 5]}-copy"
    return make(document, owner, "survey copied", survey.slug, slug=slug, title=title)


def free_slug(wanted: str) -> str:
    """Return this slug, or a similar one that has never been used."""
    stem = wanted[:MAX_SLUG].strip("-") if slug_re.match(wanted[:MAX_SLUG]) else ""
    if stem and not taken(stem):
        return stem
    while True:
        slug = f"{stem[: MAX_SLUG - 7] or 'survey'}-{secrets.token_hex(3)}"
        if not taken(slug):
            return slug


def taken(slug: str) -> bool:
    used = Survey.objects.filter(slug=slug).exists() or Removed.objects.filter(slug=slug).exists()
    return slug in TAKEN or used


def move_to(survey: Survey, slug: str, by: Actor = None) -> None:
    """Give a draft another slug; ValidationError if that is not possible."""
    with transaction.atomic():
        survey = lock(survey)[0]
        before, survey.slug = survey.slug, slug
        try:
            if slug in TAKEN:
                raise ValidationError("This address is reserved. Choose another.")
            survey.clean_fields(exclude={"title"})
            survey.clean()
            survey.validate_unique()
            with transaction.atomic():
                survey.save()
        except IntegrityError:
            raise ValidationError("Survey with this Slug already exists.") from None
        if slug != before:
            record(by, "address changed", survey, before=before)


def has_generated_slug(survey: Survey) -> bool:
    """Return whether the slug was generated, from the title or without one."""
    stem = slugify(survey.title)[:MAX_SLUG].strip("-")
    numbered = rf"{re.escape(stem[: MAX_SLUG - 7])}-[0-9a-f]{{6}}"
    from_title = survey.slug == stem or re.fullmatch(numbered, survey.slug)
    return bool(from_title or NAMELESS.fullmatch(survey.slug))


def follow_title(survey: Survey, by: Actor = None) -> None:
    """Give a draft the slug for its title, unless an opening is scheduled."""
    wanted = slugify(survey.title)
    from_title = has_generated_slug(survey) and not NAMELESS.fullmatch(survey.slug)
    if not wanted or from_title or survey.opens_at:
        return
    with contextlib.suppress(ValidationError):  # somebody else just took it
        slug = free_slug(wanted)
        move_to(survey, slug, by)
        survey.slug = slug


# --- Changing drafts ------------------------------------------------------------------------------


def content(survey: Survey) -> dict[str, Any]:
    """Return the document of a survey, without its slug."""
    return {key: value for key, value in files.dump(survey).items() if key != "slug"}


def lock(survey: Survey, number: int | None = None) -> tuple[Survey, Draft]:
    """Lock and return the draft, after adding changes from elsewhere to its history.

    Changed if the draft does not have this number.
    """
    survey = Survey.objects.select_for_update().get(pk=survey.pk)
    if survey.state != Survey.State.DRAFT:
        raise Opened
    draft, created = Draft.objects.get_or_create(survey=survey)
    document = content(survey)
    if created:
        add(draft, document, None)
    elif draft.revisions.get(place=draft.place).document != document:
        draft.place, draft.number = draft.place + 1, draft.number + 1
        add(draft, document, None)
        draft.save()
    if number not in (None, draft.number):
        raise Changed
    return survey, draft


def load(survey: Survey) -> tuple[Survey, Draft]:
    with transaction.atomic():
        return lock(survey)


def save(
    survey: Survey, number: int, document: Any, step: str, user: User | None
) -> tuple[Survey, Draft]:
    """Replace the draft with this document. Successive steps with the same name share one place.

    The page names a step after its window, the field and the time: see static/studio/save.js.
    """
    with transaction.atomic():
        survey, draft = lock(survey, number)
        files.store(survey, document)
        stored = content(survey)
        last = draft.revisions.get(place=draft.place)
        if last.document == stored:
            return survey, draft
        draft.number += 1
        if step and step == last.step and user and last.saved_by_id == user.pk and draft.place:
            draft.revisions.filter(place__gt=draft.place).delete()
            draft.revisions.filter(place=draft.place).update(document=stored, saved_on=today())
        else:
            draft.place += 1
            add(draft, stored, user, step)
        draft.save()
    return survey, draft


def add(draft: Draft, document: dict[str, Any], user: User | None, step: str = "") -> None:
    """Put a document at the draft's place; delete undone documents and the oldest one."""
    draft.revisions.filter(place__gte=draft.place).delete()
    draft.revisions.filter(place__lte=draft.place - HISTORY_LENGTH).delete()
    DraftRevision.objects.create(
        draft=draft, place=draft.place, document=document, step=step[:100], saved_by=user,
        saved_on=today(),
    )  # fmt: skip


def go(survey: Survey, number: int, by: int) -> tuple[Survey, Draft]:
    """Go back (-1) or forward (1) in the history, if possible."""
    with transaction.atomic():
        survey, draft = lock(survey, number)
        revision = draft.revisions.filter(place=draft.place + by).first()
        if revision:
            files.store(survey, revision.document)
            draft.place, draft.number = revision.place, draft.number + 1
            draft.save()
    return survey, draft


# --- Problems in drafts ---------------------------------------------------------------------------


def design_or_error(survey: Survey) -> Design | DesignError:
    """Return the design that opening would freeze on this site, or the error that prevents it."""
    try:
        return survey.design_to_open()
    except DesignError as error:
        return error


def problems(survey: Survey, design: Design | DesignError | None = None) -> dict[str, str]:
    """Return the problems that prevent opening, by their places in the document."""
    errors: dict[str, str] = {}
    if not survey.title.strip():
        errors["title"] = "Give the survey a title."
    if not survey.sensitive_questions():
        errors["questions"] = "Add a question."
    for where, question in placed(survey):
        errors |= _question_problems(where, question)
        if why := _condition_problem(survey, question):
            errors[f"{where}.only_if"] = why
    if errors:
        return errors
    design = design or design_or_error(survey)
    if isinstance(design, DesignError):
        return {_place(survey, design.where): sentence(design.what)}
    return {}


def sentence(what: str) -> str:
    """Return what a DesignError says as a sentence beside its field."""
    return f"{_capital(f'this {what}' if what.startswith('must ') else what)}."


def placed(survey: Survey) -> Iterator[tuple[str, Question]]:
    """Yield every question with its place in the document."""
    for i, question in enumerate(survey.sensitive_questions()):
        yield f"questions[{i}]", question
    for i, question in enumerate(survey.background_questions()):
        yield f"background[{i}]", question


def _place(survey: Survey, where: str) -> str:
    """Return the place in the document for a DesignError's place, like `background age.epsilon`."""
    for place, question in placed(survey):
        kind = place.partition("[")[0]
        if where.partition(".")[0] == f"{kind} {question.key}":
            return where.replace(f"{kind} {question.key}", place)
    return "blocks" if where.startswith("block ") else where


def _question_problems(where: str, question: Question) -> dict[str, str]:
    errors: dict[str, str] = {}
    if not question.text.strip():
        errors[f"{where}.text"] = "Write the question."
    if question.design_kind.own_options[1]:
        errors |= _option_problems(where, question)
    errors |= _detail_problems(where, question)
    if not errors:
        try:
            question.clean()
        except ValidationError as error:
            errors[f"{where}.options"] = error.messages[0]
    return errors


def _option_problems(where: str, question: Question) -> dict[str, str]:
    errors: dict[str, str] = {}
    for i, option in enumerate(question.options):
        if not option.strip():
            errors[f"{where}.options[{i}]"] = "Write this option, or remove it."
        elif option in question.options[:i]:
            errors[f"{where}.options[{i}]"] = "Change or remove this option: it appears twice."
    if len(question.options) < 2:
        errors[f"{where}.options"] = "Add options: at least two are needed."
    return errors


def _detail_problems(where: str, question: Question) -> dict[str, str]:
    """Return what is missing of the fields that the kind adds, or else what is wrong with them."""
    errors: dict[str, str] = {}
    kind, details = question.design_kind, question.details
    for name, field in kind.fields.items():
        value = details.get(name)
        if value is None and field.required:
            errors[f"{where}.{name}"] = f"Give {field.what}."
        for i, item in enumerate(value if isinstance(value, list) else []):
            if item is None:
                errors[f"{where}.{name}[{i}]"] = "Give a number."
    if not errors:
        try:
            kind.check_details(question.options, details)
        except DesignError as error:
            errors[f"{where}.{error.where}"] = sentence(error.what)
    return errors


def _condition_problem(survey: Survey, question: Question) -> str:
    """Return what is wrong with the condition of a follow-up, and how to fix it, or ""."""
    if not question.only_if:
        return ""
    asked = {one.key: one for one in survey.sensitive_questions()}
    gate = asked.get(question.only_if["question"])
    wanted = question.only_if["options"]
    if gate is None:
        return "The question that this depends on was deleted. Choose another, or ask everybody."
    named = f"“{gate.text}”" if gate.text.strip() else f"the question {gate.key}"
    if [*asked].index(gate.key) >= [*asked].index(question.key):
        return f"Move this below {named}, on which it depends, or choose another question."
    if not gate.design_kind.can_be_gate:
        return f"{_capital(named)} has no answers to choose from. Choose another question."
    try:
        question.without_texts()
    except DesignError as error:
        return f"{_capital(error.what)}. Ask everybody, or ask yes/no questions instead."
    if not wanted:
        return f"Choose at least one answer of {named}."
    known = [option.key for option in gate.without_texts().options]
    if lost := [key for key in wanted if key not in known]:
        gone = lost[0].rstrip("-")
        return f"{_capital(named)} no longer has the answer “{gone}”. Untick it here."
    return ""


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
