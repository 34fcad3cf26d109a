"""manage.py import_survey FILE [--open] [--owner NAME]: import a survey; print its slug last."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from survey import files
from survey.design import DesignError
from survey.models import Membership, Role


class Command(BaseCommand):
    help = "Create a survey from a JSON file (- reads standard input)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--open", action="store_true", help="open it immediately")
        parser.add_argument("--owner", metavar="NAME", help="the account that owns it")

    @transaction.atomic
    def handle(self, *args: Any, file: str, open: bool, owner: str | None, **options: Any) -> None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"Cannot read {file}: {error}") from None
        try:
            survey = files.load(text)
        except files.FileError as error:
            raise CommandError(f"{file}: {error}") from None
        if owner:
            user = User.objects.filter(username=owner).first()
            if user is None:
                raise CommandError(f"--owner: there is no account {owner!r}.")
            Membership.objects.give(survey, user, Role.OWNER)
        design = survey.draft_design()
        if open:
            try:
                survey.open()
            except (DesignError, ValidationError) as error:
                why = error.messages if isinstance(error, ValidationError) else [str(error)]
                raise CommandError(f"{file}: the survey cannot open. {' '.join(why)}") from None
        self.stdout.write(
            f"{survey.title}: questions: {len(design.questions)}, blocks: {len(design.blocks)}, "
            f"asked per person: {design.ask}, total ε: {design.epsilon:g}, "
            f"{survey.state}."
        )
        self.stdout.write(survey.slug)
