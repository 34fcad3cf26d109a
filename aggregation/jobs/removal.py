"""A survey that is over leaves the database; a tombstone remains, and an archive if one was made.

An operator removes one with its archive in hand. One whose time is over, as its respondents were
told, or that its owner deletes, goes without.
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
        gone = copy(survey)  # a deleted one has no number
        survey.delete()
        record(by, "draft removed", gone)


def remove(survey: Survey, path: Path, by: Actor = None) -> Removed:
    """Delete a survey and all that belongs to it, if the file at `path` is its whole archive.

    The ids go first, in many short transactions: there may be very many, and a closed survey does
    not need them. The rest goes in one.
    """
    before = extent(survey)
    sha256 = archive.check(survey, path)
    for _ in survey.forget_ids():
        pass
    return _bury(survey, before, sha256, by)


def expire(survey: Survey, alive: Callable[[], object]) -> None:
    """The same without an archive, for one that was kept for as long as it may be.

    Whoever is interrupted starts again; who comes second finds nothing. `alive` is called between.
    """
    before = extent(survey)
    for _ in survey.forget_ids():
        alive()
    with suppress(Survey.DoesNotExist):
        _bury(survey, before, "")


def _bury(survey: Survey, before: tuple[int, int], sha256: str, by: Actor = None) -> Removed:
    with transaction.atomic():
        survey = Survey.objects.select_for_update().get(pk=survey.pk)
        if unfinished(survey) or extent(survey) != before:
            raise ArchiveError("The survey has changed meanwhile. Make the archive again.")
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
    """What would differ if anything had been counted or published since."""
    return archive.counted(survey), survey.releases.count()


def vacuum() -> None:
    """Give the space of what was deleted back to the tables, and empty SQLite's log of it."""
    database().checkpoint()
    database().vacuum([table._meta.db_table for table in TABLES])
