"""manage.py verify_log [--head HASH]: walk the chain of the log."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from survey.audit.verification import Broken, verified
from survey.models.log import FIRST


class Command(BaseCommand):
    help = "Check that no entry of the log was changed, taken out, put in or moved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head",
            default="",
            metavar="HASH",
            help="a head that was noted earlier; it must be in the chain",
        )

    def handle(self, *args: Any, head: str, **options: Any) -> None:
        number, last = 0, FIRST
        try:
            for entry in verified(head.strip().lower()):
                number, last = entry.number, entry.hash
        except Broken as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"OK, {number:,} entries. Note the head elsewhere, with the day:")
        self.stdout.write(last)
