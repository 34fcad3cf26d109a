"""manage.py verify_log [--head HASH]: verify the chain of the audit log."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from survey.audit.verification import BrokenChain, verified_entries
from survey.models.log import FIRST


class Command(BaseCommand):
    help = "Check that no entry of the audit log was changed, removed, inserted or moved."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head",
            default="",
            metavar="HASH",
            help="a head noted earlier, which must be in the chain",
        )

    def handle(self, *args: Any, head: str, **options: Any) -> None:
        number, last = 0, FIRST
        try:
            for entry in verified_entries(head.strip().lower()):
                number, last = entry.number, entry.hash
        except BrokenChain as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"OK, {number:,} entries. Note this head and today's date elsewhere:")
        self.stdout.write(last)
