"""The draft of a survey as one document: saved, undone and done again, and what is wrong in it.

The rows of the survey are the truth, whoever changes them. The history holds documents beside them;
what a command changed is taken into it when it is seen.
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

HISTORY_LENGTH = 100  # places of a history
MAX_SLUG = 50
COPY = re.compile(r" \(copy(?: (\d{1,3}))?\)$")  # at the end of a title
COPIED = re.compile(r"-copy(-[0-9a-f]{6})?$")  # and of an address
NAMELESS = re.compile(r"survey-[0-9a-f]{6}")  # addresses of drafts without a title
TAKEN = {"new"}  # addresses of the studio that are no survey's


class Changed(Exception):
    """Somebody saved in between: the number is not the draft's any more."""


class Opened(Exception):
    """The survey is no draft any more."""


# --- Making one -----------------------------------------------------------------------------------


def make(
    document: Any, owner: User, what: str = "survey made", of: str = "", **changes: Any
) -> Survey:
    """A new draft from a document, at a free address like the one that it names."""
    if not isinstance(document, dict):
        raise files.FileError("the survey: an object, please")
    document = document | changes
    wanted = document.get("slug") or slugify(str(document.get("title", "")))
    survey = Survey(slug=free_slug(str(wanted)))
    try:
        with transaction.atomic():
            files.store(survey, document, frozenset(files.REQUIRED - {"slug"}))
            record(owner, what, survey, **({"of": of} if of else {}))
            Membership.objects.give(survey, owner, Role.OWNER, by=owner)
    except IntegrityError:
        raise files.FileError("slug: somebody took this address just now; try again") from None
    return survey


def copied(survey: Survey, owner: User) -> Survey:
    document = content(survey)
    before = COPY.search(document["title"])
    stem = document["title"][: before.start()] if before else document["title"]
    mark = f" (copy {int(before[1] or 1) + 1})" if before else " (copy)"
    title = f"{stem[: MAX_TITLE - len(mark)]}{mark}".strip()
    slug = f"{COPIED.sub('', survey.slug)[: MAX_SLUG - 5]}-copy"
    return make(document, owner, "survey copied", survey.slug, slug=slug, title=title)


def free_slug(wanted: str) -> str:
    """This address, or one like it that nobody has or had."""
    stem = wanted[:MAX_SLUG].strip("-") if slug_re.match(wanted[:MAX_SLUG]) else ""
    if stem and not taken(stem):
        return stem
    while True:
        slug = f"{stem[: MAX_SLUG - 7] or 'survey'}-{secrets.token_hex(3)}"
        if not taken(slug):
            return slug


def taken(slug: str) -> bool:
    there = Survey.objects.filter(slug=slug).exists() or Removed.objects.filter(slug=slug).exists()
    return slug in TAKEN or there


def move_to(survey: Survey, slug: str, by: Actor = None) -> None:
    """Give a draft another address; ValidationError says why not."""
    with transaction.atomic():
        survey = held(survey)[0]
        before, survey.slug = survey.slug, slug
        try:
            if slug in TAKEN:
                raise ValidationError("This address is the studio’s own. Choose another.")
            survey.clean_fields(exclude={"title"})
            survey.clean()
            survey.validate_unique()
            with transaction.atomic():
                survey.save()
        except IntegrityError:
            raise ValidationError("Survey with this Slug already exists.") from None
        if slug != before:
            record(by, "address changed", survey, before=before)


def unchosen(survey: Survey) -> bool:
    """Whether the address is one that was made, of the title or of nothing."""
    stem = slugify(survey.title)[:MAX_SLUG].strip("-")
    made = rf"{re.escape(stem[: MAX_SLUG - 7])}-[0-9a-f]{{6}}"
    named = survey.slug == stem or re.fullmatch(made, survey.slug)
    return bool(named or NAMELESS.fullmatch(survey.slug))


def follow(survey: Survey, by: Actor = None) -> None:
    """Give a draft the address that its title makes, if it is not announced for an hour."""
    wanted = slugify(survey.title)
    named = unchosen(survey) and not NAMELESS.fullmatch(survey.slug)
    if not wanted or named or survey.opens_at:
        return
    with contextlib.suppress(ValidationError):  # somebody was quicker
        slug = free_slug(wanted)
        move_to(survey, slug, by)
        survey.slug = slug


# --- Changing one ---------------------------------------------------------------------------------


def content(survey: Survey) -> dict[str, Any]:
    """The document of a survey; where it is, is not part of it."""
    return {key: value for key, value in files.dump(survey).items() if key != "slug"}


def held(survey: Survey) -> tuple[Survey, Draft]:
    """The draft, held until the commit, with what was changed elsewhere in its history."""
    survey = Survey.objects.select_for_update().get(pk=survey.pk)
    if survey.state != Survey.State.DRAFT:
        raise Opened
    draft, fresh = Draft.objects.get_or_create(survey=survey)
    now = content(survey)
    if fresh:
        add(draft, now, None)
    elif draft.revisions.get(place=draft.place).document != now:
        draft.place, draft.number = draft.place + 1, draft.number + 1
        add(draft, now, None)
        draft.save()
    return survey, draft


def look(survey: Survey) -> tuple[Survey, Draft]:
    with transaction.atomic():
        return held(survey)


def save(
    survey: Survey, number: int, document: Any, step: str, user: User | None
) -> tuple[Survey, Draft]:
    """Make the draft this document. One step after the other of the same name is one place.

    The page names a step for its window, the field and a while: see static/studio/save.js.
    """
    with transaction.atomic():
        survey, draft = held(survey)
        if number != draft.number:
            raise Changed
        files.store(survey, document)
        now = content(survey)
        last = draft.revisions.get(place=draft.place)
        if last.document == now:
            return survey, draft
        draft.number += 1
        if step and step == last.step and user and last.saved_by_id == user.pk and draft.place:
            draft.revisions.filter(place__gt=draft.place).delete()
            draft.revisions.filter(place=draft.place).update(document=now, saved_on=today())
        else:
            draft.place += 1
            add(draft, now, user, step)
        draft.save()
    return survey, draft


def add(draft: Draft, document: dict[str, Any], user: User | None, step: str = "") -> None:
    """Put a document at the draft's place; what had been undone is gone, and so is the oldest."""
    draft.revisions.filter(place__gte=draft.place).delete()
    draft.revisions.filter(place__lte=draft.place - HISTORY_LENGTH).delete()
    DraftRevision.objects.create(
        draft=draft, place=draft.place, document=document, step=step[:100], saved_by=user,
        saved_on=today(),
    )  # fmt: skip


def go(survey: Survey, number: int, by: int) -> tuple[Survey, Draft]:
    """Back (-1) or forth (1) in the history, as far as there is one."""
    with transaction.atomic():
        survey, draft = held(survey)
        if number != draft.number:
            raise Changed
        there = draft.revisions.filter(place=draft.place + by).first()
        if there:
            files.store(survey, there.document)
            draft.place, draft.number = there.place, draft.number + 1
            draft.save()
    return survey, draft


# --- What is wrong in one -------------------------------------------------------------------------


def designed(survey: Survey) -> Design | DesignError:
    """What opening would freeze on this site, or what stands in the way."""
    try:
        return survey.design_to_open()
    except DesignError as error:
        return error


def wrong(survey: Survey, design: Design | DesignError | None = None) -> dict[str, str]:
    """Return what stands in the way of opening, by its place in the document."""
    found: dict[str, str] = {}
    if not survey.title.strip():
        found["title"] = "Give the survey a title."
    if not survey.sensitive_questions():
        found["questions"] = "Add a question."
    for where, question in placed(survey):
        found |= _wrong_asked(where, question)
    if found:
        return found
    design = design or designed(survey)
    if isinstance(design, DesignError):
        return {_place(survey, design.where): f"{design.what[0].upper()}{design.what[1:]}."}
    return {}


def placed(survey: Survey) -> Iterator[tuple[str, Question]]:
    """Yield every question with its place in the document."""
    for i, question in enumerate(survey.sensitive_questions()):
        yield f"questions[{i}]", question
    for i, question in enumerate(survey.background_questions()):
        yield f"background[{i}]", question


def _place(survey: Survey, where: str) -> str:
    """Return the place in the document of what a DesignError calls `background age.epsilon`."""
    for place, question in placed(survey):
        kind = place.partition("[")[0]
        if where.partition(".")[0] == f"{kind} {question.key}":
            return where.replace(f"{kind} {question.key}", place)
    return where


def _wrong_asked(where: str, asked: Question) -> dict[str, str]:
    found: dict[str, str] = {}
    if not asked.text.strip():
        found[f"{where}.text"] = "Write the question."
    if asked.kind == Question.Kind.YES_NO:
        return found
    for i, option in enumerate(asked.options):
        if not option.strip():
            found[f"{where}.options[{i}]"] = "Write this option, or remove it."
        elif option in asked.options[:i]:
            found[f"{where}.options[{i}]"] = "Change or remove this option: it is there twice."
    if len(asked.options) < 2:
        found[f"{where}.options"] = "Add options: at least two are needed."
    if not found:
        try:
            asked.clean()
        except ValidationError as error:
            found[f"{where}.options"] = error.messages[0]
    return found
