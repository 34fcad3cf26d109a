"""manage.py archive_survey SLUG FILE: a finished survey as one zip file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from aggregation.exports import archive
from survey.management import survey_or_error
from survey.models.log import record


class Command(BaseCommand):
    help = "Write a closed survey, its releases and its reports into one zip file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, slug: str, file: Path, **options: Any) -> None:
        survey = survey_or_error(slug)
        try:
            sha256 = archive.write(survey, file)
        except archive.ArchiveError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error}") from None
        record(None, "archive written", survey, archive=sha256)
        self.stdout.write(
            f"{archive.counted(survey):,} reports and {survey.releases.count():,} releases. "
            "Guard the file as you guard the database."
        )
        self.stdout.write(f"{sha256}  {file}")
