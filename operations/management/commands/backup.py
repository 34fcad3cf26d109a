"""manage.py backup FILE: write the whole database to one file while the site runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations import backup


class Command(BaseCommand):
    help = "Write the whole database to one file that only you can read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            manifest = backup.write(file)
        except backup.BackupError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}.") from None
        self.stdout.write(
            f"{file}: Candor {manifest['version']}, {manifest['database']}, "
            f"{manifest['bytes']:,} bytes. It contains everything in the database: encrypt it "
            "before it leaves this machine. It does not contain CANDOR_SECRET_KEY."
        )
        self.stdout.write(f"Head of the log: {manifest['log_head']}")
