"""Deletion of surveys. A tombstone remains, and an archive if one was made.

Operators remove a survey by giving its archive. Surveys whose retention period is over, or that
their owner deletes, need none.
"""

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db import transaction

from aggregation.exports import archive
from aggregation.exports.archive import ArchiveError
from aggregation.models import Analysis, Batch, Copy, Estimate, Job, Part, Release
from aggregation.releases.due import unfinished
from survey.database import database
from survey.models import (
    Invitation,
    Membership,
    PassKey,
    Question,
    Removed,
    Report,
    Survey,
    today,
)
from survey.models.log import Actor, record

TABLES = (
    *(Report, Batch, Estimate, Release, Analysis, Part, Copy, Job),
    *(Membership, Question, PassKey, Invitation, Survey),
)


def remove_draft(survey: Survey, by: Actor = None) -> None:
    """Delete a draft. Nobody knows its address, so it may be used again."""
    with transaction.atomic():
        survey = Survey.objects.select_for_update().get(pk=survey.pk)
        if survey.state != Survey.State.DRAFT:
            raise ValidationError("The survey was opened in the meantime.")
        gone = copy(survey)  # `delete` removes the id
        survey.delete()
        record(by, "draft removed", gone)


def remove(survey: Survey, path: Path, by: Actor = None) -> Removed:
    """Delete a survey and all that belongs to it, if the file at `path` is its complete archive.

    The ids are deleted first, in many short transactions: there may be very many, and a closed
    survey does not need them. One transaction deletes the rest.
    """
    before = extent(survey)
    sha256 = archive.check(survey, path)
    for _ in survey.forget_ids():
        pass
    return _delete(survey, before, sha256, by)


def expire(survey: Survey, alive: Callable[[], object]) -> None:
    """Delete a survey without an archive, because its retention period is over.

    If this is interrupted, call it again; if somebody else was faster, it does nothing. `alive` is
    called after every transaction.
    """
    before = extent(survey)
    for _ in survey.forget_ids():
        alive()
    with suppress(Survey.DoesNotExist):
        _delete(survey, before, "")


def _delete(survey: Survey, before: tuple[int, int], sha256: str, by: Actor = None) -> Removed:
    with transaction.atomic():
        survey = Survey.objects.select_for_update().get(pk=survey.pk)
        if unfinished(survey) or extent(survey) != before:
            raise ArchiveError("The survey has changed in the meantime. Make the archive again.")
        removed = Removed.objects.create(
            id=survey.pk,
            slug=survey.slug,
            title=survey.title,
            design_hash=survey.design_hash,
            reports=archive.counted(survey),
            archive=sha256,
            removed_on=today(),
        )
        survey.pending().delete()  # fewer than a crowd, which never left the inbox
        survey.batches.all().delete()
        Estimate.objects.filter(release__survey=survey).delete()
        survey.releases.all().delete()  # with their analyses and copies
        survey.delete()  # with its questions, researchers and jobs
        record(by, "survey removed", removed, archive=sha256)
        transaction.on_commit(vacuum, robust=True)
    return removed


def extent(survey: Survey) -> tuple[int, int]:
    """Return numbers that change whenever anything is counted or published."""
    return archive.counted(survey), survey.releases.count()


def vacuum() -> None:
    """Free the space of deleted rows, and remove deleted data from SQLite's log."""
    database().checkpoint()
    database().vacuum([table._meta.db_table for table in TABLES])
