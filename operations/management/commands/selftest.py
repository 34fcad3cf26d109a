"""manage.py selftest [URL]: check a running installation, with one line per check."""

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from operations.selftest import checks
from operations.selftest.site import Site


class Command(BaseCommand):
    help = "Check the running installation. The exit status is 1 if anything is wrong."
    requires_system_checks = []  # one of the checks

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "url", nargs="?", default="", help="of the site; by default this machine, without proxy"
        )
        parser.add_argument(
            "--log",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="a log that must not contain visitors, such as the proxy's",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="for programs")

    def handle(self, *args: Any, url: str, log: list[Path], as_json: bool, **options: Any) -> None:
        if url and not url.startswith(("http://", "https://")):
            raise CommandError("The URL must begin with http:// or https://.")
        site = Site.at(url, int(os.environ.get("PORT", "8000")))
        outcomes = []
        for outcome in checks.run(site, log):
            outcomes.append(outcome)
            if not as_json:
                self.stdout.write(
                    f"FAILED  {outcome.name}: {outcome.problem}"
                    if outcome.problem
                    else f"ok      {outcome.name}"
                )
                self.stdout.flush()
        if as_json:
            found = [
                {"check": one.name, "ok": not one.problem, "say": one.problem} for one in outcomes
            ]
            self.stdout.write(json.dumps(found, indent=1, ensure_ascii=False))
        if any(outcome.problem for outcome in outcomes):
            sys.exit(1)
