"""manage.py restore FILE [--replace]: a backup in the place of the database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations import backup


class Command(BaseCommand):
    help = "Put a backup back. Stop the site first."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="even if there are surveys or accounts here"
        )

    def handle(self, *args: Any, file: Path, replace: bool, **options: Any) -> None:
        try:
            manifest = backup.restore(file, replace)
        except backup.BackupError as error:
            raise CommandError(f"Nothing was changed. {error}") from None
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        self.stdout.write(
            f"The database is that of {manifest['made']}. Run manage.py migrate, then start the "
            "site, then run manage.py selftest."
        )
