"""manage.py manifest: write the hashes of the files that a site with this source must serve."""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.staticfiles.finders import FileSystemFinder
from django.core.management.base import BaseCommand, CommandError

from config.static import HashedStaticFiles
from survey.respondent import manifest


class Command(BaseCommand):
    help = "Write the hash of every file of the respondent's page, as a site should publish them."
    requires_system_checks = ()  # works without a database or a site

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", metavar="FILE", type=Path, help="write to this file")

    def handle(self, *args: Any, output: Path | None, **options: Any) -> None:
        with TemporaryDirectory(prefix="candor-manifest-") as folder:
            try:
                content = manifest.manifest(manifest.files(collect(folder)))
            except ValueError as error:
                raise CommandError(str(error)) from None
        if output is None:
            self.stdout.write(content.decode(), ending="")
            return
        try:
            output.write_bytes(content)
        except OSError as error:
            raise CommandError(f"Cannot write {output}: {error.strerror}.") from None


def collect(folder: str) -> HashedStaticFiles:
    """Collect our own static files into this folder, like collectstatic."""
    storage = HashedStaticFiles(location=folder)
    paths = {}
    for name, source in FileSystemFinder().list([]):
        with source.open(name) as file:
            storage.save(name, file)
        paths[name] = (source, name)
    for name, _, outcome in storage.post_process(paths):
        if isinstance(outcome, Exception):
            raise CommandError(f"{name}: {outcome}")
    return storage
