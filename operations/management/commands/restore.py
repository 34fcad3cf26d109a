"""manage.py restore FILE [--replace]: replace the database with a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations import backup


class Command(BaseCommand):
    help = "Restore a backup. Stop the site first."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="delete existing surveys and accounts"
        )

    def handle(self, *args: Any, file: Path, replace: bool, **options: Any) -> None:
        try:
            manifest = backup.restore(file, replace)
        except backup.BackupError as error:
            raise CommandError(f"Nothing was changed. {error}") from None
        except OSError as error:
            raise CommandError(f"Cannot read {file}: {error.strerror}.") from None
        self.stdout.write(
            f"The database of {manifest['made']} is restored. Run manage.py migrate, start the "
            "site, and run manage.py selftest."
        )
