"""manage.py export_survey SLUG: write a survey in the format that import_survey reads."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from survey import files
from survey.models import Survey


class Command(BaseCommand):
    help = "Write a survey as JSON to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        survey = Survey.objects.filter(slug=slug).first()
        if survey is None:
            raise CommandError(f"There is no survey {slug!r}.")
        self.stdout.write(json.dumps(files.dump(survey), ensure_ascii=False, indent=2))
