"""manage.py export_survey SLUG: write a survey in the format that import_survey reads."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from survey import files
from survey.management import survey_or_error


class Command(BaseCommand):
    help = "Write a survey as JSON to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        survey = survey_or_error(slug)
        self.stdout.write(json.dumps(files.dump(survey), ensure_ascii=False, indent=2))
