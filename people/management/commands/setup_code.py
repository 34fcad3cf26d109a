"""manage.py setup_code: print a code for creating the first account on the last line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from people.models import Gone, SetUp


class Command(BaseCommand):
    help = "Create a new code for /setup/, the page for creating a site's first account."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            code = SetUp.code()
        except Gone:
            raise CommandError("This site is already set up, or it is a demo.") from None
        self.stdout.write(f"Open /setup/ and enter this code. It works once.\n{code}")
