"""manage.py remove_survey SLUG --archive FILE [--yes]: delete a survey that has been archived."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from aggregation.exports import archive
from aggregation.jobs import removal
from survey.management import survey_or_error
from survey.models import Survey


class Command(BaseCommand):
    help = "Delete a survey and its reports if the archive is complete. A draft needs no archive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--archive", type=Path, metavar="FILE", help="made by archive_survey")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(
        self, *args: Any, slug: str, archive: Path | None, yes: bool, **options: Any
    ) -> None:
        survey = survey_or_error(slug)
        draft = survey.state == Survey.State.DRAFT
        if not draft and archive is None:
            raise CommandError(
                f"The survey is {survey.state}. Name its archive: --archive FILE, made by "
                f"manage.py archive_survey {slug} FILE."
            )
        if draft and archive is not None:
            raise CommandError("The survey is a draft, and has no archive. Leave --archive out.")
        if not yes:
            self._ask(survey)
        try:
            self.stdout.write(_remove(survey, archive))
        except ValidationError as error:
            raise CommandError(error.messages[0]) from None

    def _ask(self, survey: Survey) -> None:
        self.stdout.write(f"“{survey.title}” will be deleted permanently.")
        try:
            typed = input(f"Type {survey.slug} to confirm: ")
        except EOFError:
            raise CommandError(
                "Nobody can confirm this here. Use --yes to delete anyway."
            ) from None
        if typed.strip() != survey.slug:
            raise CommandError("Nothing was deleted.")


def _remove(survey: Survey, path: Path | None) -> str:
    if path is None:
        removal.remove_draft(survey)
        return f"The draft {survey.slug} is deleted."
    try:
        removed = removal.remove(survey, path)
    except archive.ArchiveError as error:
        raise CommandError(f"The survey stays. {error}") from None
    return (
        f"{removed.slug} is removed, with {removed.reports:,} reports. "
        f"Its archive with the SHA-256 {removed.archive} is all that is left."
    )
