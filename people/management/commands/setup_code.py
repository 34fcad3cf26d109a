"""manage.py setup_code: the code with which the first account is made, on the last line."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from people.models import Gone, SetUp


class Command(BaseCommand):
    help = "Make a new code for /setup/, where a site without an account gets its first one."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            code = SetUp.code()
        except Gone:
            raise CommandError("This site has been set up, or is a demo.") from None
        self.stdout.write(f"Open /setup/ and give this code. It works once.\n{code}")
