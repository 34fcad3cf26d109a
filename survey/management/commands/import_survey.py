"""manage.py import_survey FILE [--open]: a survey from a file; the slug is the last line."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from survey import files


class Command(BaseCommand):
    help = "Make a survey from a JSON file (- reads the standard input)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--open", action="store_true", help="open it at once")

    def handle(self, *args: Any, file: str, open: bool, **options: Any) -> None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        try:
            survey = files.load(text)
        except files.FileError as error:
            raise CommandError(f"{file}: {error}") from None
        design = survey.draft_design()
        if open:
            survey.open()
        self.stdout.write(
            f"{survey.title}: questions: {len(design.questions)}, blocks: {len(design.blocks)}, "
            f"of which each person is asked {design.ask}; ε = {design.epsilon:g} in all; "
            f"{survey.state}."
        )
        self.stdout.write(survey.slug)
